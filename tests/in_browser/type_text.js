(field, text) => {
  const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set;
  set.call(field, text);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

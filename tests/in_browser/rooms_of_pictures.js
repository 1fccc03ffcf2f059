() => [...document.querySelectorAll('[class*=st-key-drawn_] svg.marks')].map((svg) => {
  const over = new PointerEvent('pointerover');
  svg.dispatchEvent(over);
  const view = over.dataflow, size = view.data('source').at(-1);
  const high = view.signal('narrow') ? size.yn : size.y;
  return [high * view.signal('grown') + 6, view.height()];
})

() => {
  const at = document.activeElement;
  const key = at?.closest('[class*=st-key-]');
  const names = key ? [...key.classList].filter((one) => one.startsWith('st-key-')) : [];
  const name = at?.getAttribute('aria-label') || '';
  return [names.join(' '), `${name} ${at?.innerText ?? ''} ${at?.closest('label')?.innerText ?? ''}`
    .trim(), at?.tagName ?? ''];
}

export default function () {
  let soon;
  const lookAt = (box) => {
    const isHigher = box.matches('pre') && box.scrollHeight > box.clientHeight;
    if (box.scrollWidth > box.clientWidth || isHigher) box.tabIndex = 0;
    else if (box.tabIndex === 0) box.removeAttribute('tabindex');
  };
  const sizes = new ResizeObserver((seen) => seen.forEach(({ target }) => lookAt(target)));
  const look = () => {
    for (const box of document.querySelectorAll('WIDER')) {
      sizes.observe(box);  // a fold that opens, a window that turns
      lookAt(box);
    }
  };
  const drawn = new MutationObserver(() => {
    clearTimeout(soon);
    soon = setTimeout(look, 100);
  });
  drawn.observe(document.body, { childList: true, subtree: true });
  document.fonts.addEventListener('loadingdone', look);
  look();
  return () => {
    clearTimeout(soon);
    sizes.disconnect();
    drawn.disconnect();
    document.fonts.removeEventListener('loadingdone', look);
  };
}

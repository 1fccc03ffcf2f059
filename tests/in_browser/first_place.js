new MutationObserver((_, watcher) => {
  const { x, y, width } = document.querySelector('h1')?.getBoundingClientRect() ?? {};
  if (!width) return;
  window.firstPlace = [x, y];
  watcher.disconnect();
}).observe(document, { childList: true, subtree: true })

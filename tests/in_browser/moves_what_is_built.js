() => {
  const place = document.querySelector('.st-key-moves_scores');
  const one = place.querySelector('input');
  new MutationObserver((_, watch) => {
    const next = place.querySelector('input');
    if (!next || next === one) return;
    watch.disconnect();
    next.value = window.last = 2;
    next.dispatchEvent(new Event('input', { bubbles: true }));
  }).observe(place, { childList: true, subtree: true });
  history.back();
}

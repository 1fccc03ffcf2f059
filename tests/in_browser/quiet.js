(quiet) => {
  const now = performance.now();
  window.testWaitBegan ??= now;
  const busy = (BUSY)();
  if (busy.length) window.testLastBusy = now;
  // Time alone says little where a long task held everything up: what it kept waiting comes first.
  window.testLooks = busy.length ? 0 : (window.testLooks ?? 0) + 1;
  const since = Math.max(window.testWaitBegan, window.testLastBusy ?? 0,
                         window.testRuns?.ended ?? 0);
  if (now - since < quiet || window.testLooks < 8) return false;
  delete window.testWaitBegan;
  return true;
}

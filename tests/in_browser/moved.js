(() => {
  window.testMoved = [];
  const around = (node, mark) => (node?.closest ? node : node?.parentElement)?.closest(mark);
  const named = (node) => around(node, '[class*=st-key-]')?.className.match(/st-key-[\w-]+/)[0]
    ?? around(node, '[data-testid]')?.dataset.testid ?? 'what is gone by now';
  const said = ({ node, previousRect: from, currentRect: to }) =>
    `${named(node)} (${node?.textContent.slice(0, 40)}) moved ${Math.round(to.x - from.x)} px ` +
    `right and ${Math.round(to.y - from.y)} px down, and its height from ` +
    `${Math.round(from.height)} to ${Math.round(to.height)} px`;
  new PerformanceObserver((list) => list.getEntries()
    .filter((one) => !one.hadRecentInput)
    .forEach((one) => window.testMoved.push([one.value, one.sources.map(said)])),
  ).observe({ type: 'layout-shift', buffered: true });
})()

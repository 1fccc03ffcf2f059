async ([card, script]) => {
  const { cellsOf, nearest } = await import(URL.createObjectURL(
    new Blob([script], { type: 'text/javascript' })));
  const drawn = document.querySelector(`.st-key-drawn_${card} :is(svg, canvas).marks`);
  const asked = new PointerEvent('pointerover');
  drawn.dispatchEvent(asked);
  const cells = cellsOf(asked.dataflow), met = new Set([cells[0]]);
  for (const one of met) for (const way of [[1, 0], [-1, 0], [0, 1], [0, -1]])
    met.add(nearest(cells, one, way) ?? one);
  return [drawn.tagName, met.size, cells.length];
}

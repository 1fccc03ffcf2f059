([card, colour]) => {
  const drawn = (name) => [...document.querySelectorAll(
    `.st-key-drawn_${card} svg g.${name}_marks path`)];
  const cells = drawn('cells');
  const edged = [...cells, ...drawn('lit')]
    .filter((one) => one.getAttribute('stroke') === colour);
  const ids = new Set(edged.map((one) => one.__data__.datum.id));
  return cells.flatMap((one, at) => ids.has(one.__data__.datum.id) ? [at] : []);
}

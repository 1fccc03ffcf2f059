([card, matrix]) => [...document.querySelectorAll(
    `.st-key-drawn_${card} svg g.numbers_marks text`)]
  .map((one) => [one.__data__.datum, one.textContent])
  .filter(([datum]) => matrix === null || datum.m === matrix)
  .sort(([a], [b]) => a.m - b.m || a.l - b.l || a.i - b.i || a.j - b.j)
  .map(([, written]) => written)

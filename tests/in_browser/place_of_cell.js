(cells, [m, l, i, j]) => cells.findIndex((one) => {
  const at = one.__data__.datum;
  return at.m === m && at.l === l && at.i === i && at.j === j;
})

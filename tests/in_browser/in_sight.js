(marks, wanted) => marks.map((one) => one.getBoundingClientRect())
  .filter(({ top, bottom, width, height }) => top > 80 && bottom < innerHeight - 20
    && width > 3 && height > 3 && width < 200)
  .map(({ left, top, width, height }) => [left + width / 2, top + height / 2])
  .filter((_, at, all) => at % Math.ceil(all.length / wanted) === 0)

(what) => [...document.querySelectorAll(what)]
  .filter((one) => Number(one.getAttribute('opacity') ?? getComputedStyle(one).opacity) > 0)
  .map((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    const line = parseFloat(getComputedStyle(one).strokeWidth);
    return { ...one.__data__?.datum, left, right, top, bottom, line, text: one.textContent };
  })

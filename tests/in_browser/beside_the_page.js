() => [...document.querySelectorAll(
  '[data-testid=stMain] :is(p, h1, h2, svg.marks, canvas.marks)')]
  .filter((each) => each.checkVisibility() && each.getBoundingClientRect().width)
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
  .map((each) => each.textContent.slice(0, 60))

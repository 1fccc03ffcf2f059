(what) => [...document.querySelectorAll(what)].map((each) => {
  const { x, y, width } = each.getBoundingClientRect();
  return [x, y, width].map(Math.round);
})

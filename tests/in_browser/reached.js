all => Object.fromEntries(all.filter((one) => one.checkVisibility()).map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect();
  return [one.innerText.split('\n').at(-1),
    one.contains(document.elementFromPoint(x + width / 2, y + height / 2))];
}))

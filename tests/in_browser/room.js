() => {
  const column = document.querySelector('[data-testid=stMainBlockContainer]');
  const { paddingLeft, paddingRight } = getComputedStyle(column);
  return column.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
}

() => [...document.querySelectorAll('[data-testid=stMain] *')]
  .filter((one) => one.scrollWidth > one.clientWidth + 2
    && getComputedStyle(one).overflowX === 'auto')
  .map((one) => one.className)

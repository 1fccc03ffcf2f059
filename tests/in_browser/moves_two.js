() => {
  for (const one of [...document.querySelectorAll('.vega-bind input')].slice(0, 2)) {
    one.value = Number(one.value) + Number(one.step);
    one.dispatchEvent(new Event('input', { bubbles: true }));
  }
  const end = performance.now() + 400;
  setTimeout(() => { while (performance.now() < end); }, 20);
}

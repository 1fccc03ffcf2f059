// Pictures that Vega has drawn a second time, since something stood out of them.
() => [...document.querySelectorAll('[class*=st-key-drawn_] :is(svg, canvas).marks')].map((drawn) => {
  const asked = new PointerEvent('pointerover');
  drawn.dispatchEvent(asked);
  const { width } = drawn.parentElement.getBoundingClientRect();
  return [drawn.closest('[class*=st-key-chart_]').className, width - asked.dataflow.width()];
}).filter(([, lost]) => lost >= 1)

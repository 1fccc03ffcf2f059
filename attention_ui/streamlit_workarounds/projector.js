const CARDS = '[data-testid=stMain] h2';
const STEPS = { ArrowRight: 1, ArrowLeft: -1 };
const NEAR = 24;
export default function () {
  const typed = (at) => at?.closest?.('input, textarea, select, [role], svg, [contenteditable], '
    + ':is(WIDER)[tabindex]');
  const turn = (event) => {
    const step = STEPS[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey || typed(event.target)) return;
    const seen = [...document.querySelectorAll(CARDS)].filter((each) => each.checkVisibility());
    const tops = seen.map((each) => each.getBoundingClientRect().top);
    const next = step > 0
      ? seen[tops.findIndex((top) => top > NEAR)]
      : seen[tops.findLastIndex((top) => top < -NEAR)];
    const top = document.querySelector('[data-testid=stMain] h1');
    const there = next ?? (step < 0 && top);
    if (!there) return;
    event.preventDefault();
    there.scrollIntoView({ block: next ? 'start' : 'center' });
  };
  addEventListener('keydown', turn);
  return () => removeEventListener('keydown', turn);
}

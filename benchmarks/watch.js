// Runs in a page before Streamlit does: the clock, and what counts as a change.
(() => {
  const bench = window.bench = { began: 0, changed: 0, changes: new Map() };
  bench.begin = () => {
    bench.began = bench.changed = performance.now();
    bench.changes.clear();
  };
  const note = (element) => {
    bench.changed = performance.now();
    bench.changes.set(element, bench.changed);
  };
  // What changed of the main area, where it stands in the window, and when.
  const inMain = () => [...bench.changes]
    .filter(([element]) => element.isConnected && element.closest('[data-testid=stMain]'))
    .map(([element, time]) => [element, time, element.getBoundingClientRect()])
    .filter(([, , { width, height }]) => width && height);
  // Milliseconds to the last change of the page, and of what a person sees without scrolling; 0
  // where nothing changed.
  bench.whole = () => Math.max(bench.began, ...bench.changes.values()) - bench.began;
  bench.seen = (within) => Math.max(bench.began, ...inMain()
    .filter(([element, , { top, bottom }]) =>
      bottom > 0 && top < innerHeight && (!within || element.closest(within)))
    .map(([, time]) => time)) - bench.began;
  // Bring the first of it into sight, or what waits until it is there.
  bench.show = () => (inMain().sort(([, , one], [, , other]) => one.top - other.top)[0]?.[0] ??
    document.querySelector('[data-waits]'))?.scrollIntoView({ block: 'center' });
  addEventListener('error', ({ message }) => { bench.error = message; });
  addEventListener('keydown', bench.begin, true);
  addEventListener('click', bench.begin, true);
  const first = (selector) =>
    document.querySelector(`[data-testid=stMain] ${selector}`) ? performance.now() : undefined;
  // What only says that something runs is no part of the picture, nor what shows when it is
  // pointed at, nor where a link goes, nor the class by which Streamlit marks elements as new, nor
  // what is set to what it was, as Vega does with a picture's size at every change.
  const talk = '[data-testid=stStatusWidget], [data-testid=stToolbar], [data-testid=stHeader], ' +
    '.vg-tooltip, [data-testid^=stElementToolbar], [data-testid=stSlider], [class*=st-key-moves_]';
  const unseen = (name, element, was) => name.startsWith('data-') || name === 'href' ||
    element.getAttribute(name) === was ||
    (name === 'class' && element.matches('.stElementContainer, .stVerticalBlock'));
  // Asked once of an element, not at each of its thousands of changes: the clock must not be what
  // takes the time.
  const known = new WeakMap();
  const counts = (element) => {
    if (!known.has(element))
      known.set(element, !!element.closest('[data-testid=stApp]') && !element.closest(talk));
    return known.get(element);
  };
  new MutationObserver((records) => {
    for (const { target, type, attributeName, oldValue, addedNodes } of records) {
      const element = target.nodeType === 1 ? target : target.parentElement;
      if (!element || !counts(element)) continue;
      if (type === 'attributes' && unseen(attributeName, element, oldValue)) continue;
      // Not the block that may be as tall as the page, but what is new in it.
      const added = [...addedNodes].filter((one) => one.nodeType === 1 && counts(one));
      for (const one of added.length ? added : [element]) note(one);
    }
    bench.heading ??= first('h1');
    bench.matrix ??= first('[data-testid=stVegaLiteChart] :is(svg .cells_marks path, canvas)');
  }).observe(document, { subtree: true, childList: true, attributeOldValue: true, characterData: true });
  const canvas = CanvasRenderingContext2D.prototype;
  for (const name of ['fill', 'fillRect', 'fillText', 'stroke', 'drawImage']) {
    const draw = canvas[name];
    canvas[name] = function (...given) {
      // Not what measures a text beside the page.
      if (this.canvas.isConnected) note(this.canvas);
      return draw.apply(this, given);
    };
  }
  // As a hand that drags it: the input moves on by three steps, and the next time comes before the
  // browser tells the server. What counts is the last change in the picture.
  bench.drag = async ([card, picture, times]) => {
    const input = document.querySelector(`.st-key-moves_${card} input`), took = [];
    const step = Number(input.step), n = Math.round((input.max - input.min) / step);
    let at = Math.round((input.value - input.min) / step), way = Math.min(3, n);
    for (let time = 0; time <= times; time++) {
      if (at + way < 0 || at + way > n) way = -way;
      if (at + way < 0 || at + way > n) way = Math.sign(way);
      at += way;
      bench.begin();
      input.value = Number(input.min) + at * step;
      input.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)));
      took.push(bench.seen(picture));
    }
    return took;
  };
})()

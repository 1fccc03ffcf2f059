// A picture is one stop of the Tab key, and within it the arrow keys go from cell to cell, as they
// lie. What has the focus is pointed at by the events of a pointer: the picture cannot tell which.
const PICTURE = '[role=application]', LEVEL = 12;  // pixels between two of one row, at most
const HOW = 'Arrow keys go from cell to cell, Home and End to the ends of a row. Enter opens a cell, Escape closes it or leaves.';
const WAYS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1],
  Home: [-1, 0], End: [1, 0] };
const OWN = ['m', 'l', 'i', 'j', 'id'];

// What is built anew in the browser, in another theme or where it was folded away, takes up all that
// was chosen in it, but its sliders stand where they started.
const views = new WeakMap();
const STORE = '_store';
const stand = (drawn) => {
  if (!views.has(drawn)) views.set(drawn, viewOf(drawn));
  const view = views.get(drawn);
  const chosen = view?.getState({ data: (name) => name.endsWith(STORE) }).data ?? {};
  for (const [name, [row]] of Object.entries(chosen)) row?.fields.forEach(({ field }, at) => {
    const moved = `${name.slice(0, -STORE.length)}_${field}`, value = row.values[at];
    try { if (view.signal(moved) !== value) view.signal(moved, value).runAsync(); } catch { /* no slider */ }
  });
};

// A slider is there before Streamlit listens to its view: what is moved so early is moved once more,
// to the next stop and back, since where it stands already is no news.
const SLIDER = '.vega-bind input', heard = new WeakSet(), unheard = new Set();
const moved = ({ target }) => {
  if (target.matches?.(SLIDER) && !heard.has(target)) unheard.add(target);
};
const hear = (main) => {
  main.querySelectorAll(SLIDER).forEach((one) => heard.add(one));
  const say = (one) => one.dispatchEvent(new Event('input', { bubbles: true }));
  for (const one of unheard) {
    const { value } = one;
    one.stepDown();
    if (one.value === value) one.stepUp();
    const beside = one.value;
    say(one);
    setTimeout(() => {
      if (one.value !== beside) return;  // a hand has moved it since
      one.value = value;
      say(one);
    }, 60);
  }
  unheard.clear();
};

/** The keys of an element and of all around it, the innermost first. */
const keysOf = (one) => one
  ? [...[...one.classList].filter((name) => name.startsWith('st-key-')), ...keysOf(one.parentElement)] : [];
const isPicture = (place) =>
  [...place.querySelectorAll('svg.marks path')].some((one) => one.__data__?.cursor === 'pointer');
const drawnIn = (place) => place.querySelector('svg.marks, canvas.marks');
// Vega tells whoever sends its picture an event which view it is.
const viewOf = (drawn) => {
  const asked = new PointerEvent('pointerover');
  drawn.dispatchEvent(asked);
  return asked.dataflow;
};
/** All that a click in a view means something to, with its middle and its size. */
export const cellsOf = (view) => {
  const within = (mark, x, y) => mark.items.flatMap((one) => {
    if (one.items) return one.items.flatMap((each) => within(each, x + one.x, y + one.y));
    if (one.cursor !== 'pointer') return [];
    const { width: w, height: h, datum: own } = one;
    return [{ item: one, own, x: x + one.x + w / 2, y: y + one.y + h / 2, w, h }];
  });
  return within(view.scenegraph().root, 0, 0);
};
const isSame = (one, other) => one && other && OWN.every((name) => one.own[name] === other.own[name]);
const isLevel = (one, other) => Math.abs(one.y - other.y) < 1 && one.own.m === other.own.m
  && one.own.l === other.own.l;
/** The nearest cell on one side: one that is level with it, else any. */
export const nearest = (cells, from, [dx, dy]) => {
  let best, least = Infinity;
  for (const one of cells) {
    const [x, y] = [one.x - from.x, one.y - from.y], [w, h] = [one.w + from.w, one.h + from.h];
    const along = dx * x + dy * y, aside = Math.abs(dx ? y : x);
    if (along < 0.3) continue;
    const gap = Math.max(0, along - (dx ? w : h) / 2), off = aside - (dx ? h : w) / 2;
    const far = off < 0 ? gap + aside : 1e5 + gap + 4 * off;
    if (far < least) [best, least] = [one, far];
  }
  return best;
};
/** The last of its row on one side, as far as the row goes without a gap. */
export const lastOf = (cells, from, way) => {
  const row = cells.filter((one) => isLevel(one, from));
  for (let one = from; ; from = one) {
    one = nearest(row, from, way);
    if (!one || Math.abs(one.x - from.x) > (one.w + from.w) / 2 + LEVEL) return from;
  }
};
// In the middle of a speck lies the edge of the one that is drawn after it.
const speck = (size) => size < 3 ? size / 2 : 0;
const wordsOf = ({ own, item: { tooltip } }, view) => {
  if (!tooltip || typeof tooltip !== 'object') return `${tooltip || own.where || own.tip || ''}`;
  const names = own.m >= 0 ? view.data('source').at(-1).text?.split('|') ?? [] : [];
  const told = Object.entries(tooltip).map(([name, each]) =>
    ['title', '=', 'so'].includes(name) ? each : `${name} ${each}`);
  return [names[own.m], ...told].filter(Boolean).join(', ');
};

export default function () {
  const main = document.querySelector('[data-testid=stMain]');
  if (!main) return;
  const last = new WeakMap();  // of each picture: what had the focus
  const told = document.createElement('div');
  told.setAttribute('role', 'status');
  told.style.cssText = 'position:fixed;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)';
  document.body.append(told);
  let here, soon;  // the picture that points by keyboard, as it is drawn
  let held;  // what the keyboard is at, and the keys of all that it stands in

  const send = (types, { drawn, view, cell: { item, x, y, w, h } }) => {
    const box = drawn.getBoundingClientRect(), [left, top] = view.origin(), edge = view.padding();
    const at = { bubbles: true, cancelable: true, view: window,
      clientX: box.left + left + edge.left + x - speck(w),
      clientY: box.top + top + edge.top + y - speck(h) };
    const target = item._svg ?? drawn;
    for (const type of types)
      target.dispatchEvent(new (type.startsWith('pointer') ? PointerEvent : MouseEvent)(type, at));
  };
  const leave = () => {
    if (here?.drawn.isConnected) send(['pointerout', 'mouseout'], here);
    here?.view.removeDataListener('source', again);
    here = undefined;
    told.textContent = '';
  };
  const look = (place) => {
    const drawn = drawnIn(place), view = drawn && viewOf(drawn);
    return view && { place, drawn, view, cells: cellsOf(view) };
  };
  const point = (seen, cell) => {
    if (here?.drawn !== seen.drawn) {
      leave();
      try { seen.view.addDataListener('source', again); } catch { /* a chart of other data */ }
    }
    here = { ...seen, cell };
    last.set(seen.place, cell);
    const box = seen.drawn.getBoundingClientRect(), around = main.getBoundingClientRect();
    const [top, below] = [box.top + cell.y - cell.h - 60, box.top + cell.y + cell.h + 60];
    if (top < around.top) main.scrollTop += top - around.top;
    else if (below > around.bottom) main.scrollTop += below - around.bottom;
    send(['pointerover', 'pointermove'], here);
    const words = wordsOf(cell, seen.view);
    if (told.textContent !== words) told.textContent = words;
  };
  const was = ({ place, cells }) => cells.find((one) => one.item === last.get(place)?.item)
    ?? cells.find((one) => isSame(one, last.get(place))) ?? cells.find((one) => one.own.open > 1) ?? cells[0];
  // Other rows, or another view: what is pointed at is another mark, or is said otherwise now.
  function again() {
    clearTimeout(soon);
    soon = setTimeout(() => {
      const seen = here?.place.isConnected && look(here.place), cell = seen && was(seen);
      cell ? point(seen, cell) : leave();
    }, 60);
  }

  const key = (event) => {
    const place = event.target;
    if (!place.matches?.(PICTURE) || event.altKey || event.ctrlKey || event.metaKey) return;
    const way = WAYS[event.key];
    if (!way && !['Enter', 'Escape'].includes(event.key)) return;
    event.preventDefault();
    if (event.key === 'Escape') {
      const name = keysOf(place)[0] ?? '', is = name.includes('drawn_');  // another chart has a button for its table
      const close = is && main.querySelector(`.${name.replace('drawn', 'close')} button`);
      return close ? close.click() : place.blur();
    }
    const seen = look(place), cell = seen && was(seen);
    if (!cell) return;
    if (!way) {
      point(seen, cell);
      return send(['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'], here);
    }
    if (!here) return point(seen, cell);
    const next = (/^Arrow/.test(event.key) ? nearest : lastOf)(seen.cells, cell, way);
    point(seen, next ?? cell);
  };
  const come = ({ target }) => {
    held = target.matches(':focus-visible') ? { one: target, keys: keysOf(target) } : undefined;
    if (!target.matches?.(PICTURE)) return;
    const seen = target.matches(':focus-visible') && look(target), cell = seen && was(seen);
    if (cell) point(seen, cell);
  };
  const go = ({ target }) => { if (target === here?.place) leave(); };
  const press = ({ target, item }) => {
    const place = item?.cursor && target.closest?.(PICTURE);
    if (place) last.set(place, { own: item.datum });
  };
  const name = (key, has) => {
    for (const place of main.querySelectorAll(`[class*="${key}"]`)) {
      if (!has(place)) continue;
      const words = place.querySelector('[role=graphics-document]')?.getAttribute('aria-label');
      const now = { tabindex: 0, role: 'application', 'aria-label': `${words ?? 'Picture'} ${HOW}` };
      for (const [name, value] of Object.entries(now))
        if (place.getAttribute(name) !== `${value}`) place.setAttribute(name, value);
    }
  };
  // A button that goes when it is pressed takes the focus with it: on with its question or picture.
  const goOn = () => {
    if (!held || held.one.isConnected || document.activeElement !== document.body) return;
    for (const key of held.keys) {
      const [, kind, of] = /^st-key-(question|cell|close|open)_(.+)$/.exec(key) ?? [];
      const place = kind && main.querySelector(`.${key}`);
      const next = kind && (place?.querySelector(':is(button, input):not([data-testid="stTooltipIcon"] *)')
        ?? main.querySelector(`.st-key-drawn_${of}`) ?? place);
      if (next === place) place?.setAttribute('tabindex', -1);  // an answer, whose "?" would open over it
      if (next) return next.focus({ preventScroll: true });
    }
  };
  const prepare = () => {
    goOn();
    main.querySelectorAll('svg.marks, canvas.marks').forEach(stand);
    hear(main);
    name('st-key-drawn_', drawnIn);
    name('st-key-chart_of_', isPicture);
    if (here && here.drawn !== drawnIn(here.place)) again();
  };
  let later;
  const drawn = new MutationObserver(() => {
    // A picture is a stop of the Tab key as soon as it is drawn, not when its page has come to rest.
    name('st-key-drawn_', drawnIn);
    clearTimeout(later);
    later = setTimeout(prepare, 100);
  });
  drawn.observe(main, { childList: true, subtree: true });
  prepare();
  const all = { keydown: key, focusin: come, focusout: go, click: press, input: moved };
  for (const [type, act] of Object.entries(all)) main.addEventListener(type, act);
  return () => {
    leave();
    clearTimeout(later);
    clearTimeout(soon);
    drawn.disconnect();
    told.remove();
    for (const [type, act] of Object.entries(all)) main.removeEventListener(type, act);
  };
}

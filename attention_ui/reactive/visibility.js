// Says which parts of the page are near what can be seen, which picture or control in a picture a
// hand comes to, and asks for what waits when nothing has come for a while. Keeps one's place.
const PART = /st-key-((?:card|row)_\w+|closing|ends)(?= |$)/;
const AHEAD = 500; // pixels: at a move is drawn what can be seen, and while one scrolls what is ahead
const FAINT = 1500; // milliseconds, after which a move that was answered by nothing is over
const PAST = 4000, AT_THE_END = 1000; // milliseconds above what can be seen, until one has gone on from a question
const AGAIN = 8000; // milliseconds, after which is asked again, should nothing have come of it

// A table's own letters, and how large they are in a page's.
const LETTERS = '--gdg-base-font-style', SMALL = 0.875;
const told = new WeakSet(); // tables
const opened = new WeakSet(), ENOUGH = 200; // cells that are taken apart; pixels to be seen of one

// Which questions were open, answered or gone on from, when a page was left: in this browser alone.
const LEFT = 'attention-explorer: left open';
const left = () => {
  try {
    const all = JSON.parse(localStorage.getItem(LEFT) ?? '{}');
    return typeof all === 'object' && all && !Array.isArray(all) ? all : {};
  } catch { return {}; }
};
const leave = (name, open) => {
  try { localStorage.setItem(LEFT, JSON.stringify({ ...left(), [name]: open })); } catch { /* not in this browser */ }
};

const nameOf = (element) => PART.exec(element.className)?.[1];

export default function ({ data, setTriggerValue }) {
  const main = document.querySelector('[data-testid=stMain]'); // it scrolls and clips, not the window
  if (!main) return;
  if (main.nearParts?.name !== data.page)
    main.nearParts = { name: data.page, near: new Set(), told: null, misread: main.nearParts?.misread ?? 0 };
  const page = main.nearParts;
  const waiting = new Set(data.waiting), hands = new Set(data.hands);
  let later, resting;
  const app = document.querySelector('[data-testid=stApp]');
  const isHeard = () => app?.dataset.testConnectionState === 'CONNECTED';

  const phone = matchMedia('(max-width: 640px)');
  // A table reads once how large letters are, when it is built, and style may come or go just then.
  // Each that has another size by now is built anew, once: what comes in its place is looked at too.
  const tables = main.getElementsByClassName('stDataFrame');
  const misread = () => [...tables].filter((table) => {
    const letters = table.querySelector(`[style*="${LETTERS}"]`)?.style.getPropertyValue(LETTERS);
    const size = SMALL * parseFloat(getComputedStyle(document.documentElement).fontSize);
    return letters && !told.has(table) && Math.abs(parseFloat(letters.split(' ').pop()) - size) > 0.1;
  });
  const tell = () => {
    if (!isHeard()) return;
    for (const table of misread()) {
      told.add(table);
      page.misread++;
    }
    const now = [...page.near, ...(phone.matches ? ['phone'] : []), `tables_${page.misread}`].sort().join();
    if (now === page.told) return;
    page.told = now;
    setTriggerValue('near', now);
  };
  // What waits and will be met soon. A hand at a control does not scroll, so it is not asked for then.
  // Where a page is after the last step of a scroll is known a moment later than the step.
  const ahead = new Set();
  let asked;
  const meet = (event) => {
    if (event) page.scrolled = performance.now();
    if (!(performance.now() - page.scrolled < 1000)) return;
    const coming = [...ahead].filter((name) => waiting.has(name)).join();
    if (!coming || coming === asked || !isHeard()) return;
    asked = coming;
    setTriggerValue('rest', coming);
  };
  const soon = () => {
    clearTimeout(later);
    later = setTimeout(tell, 60);
    past();
  };
  // Who has scrolled on from a question, and reads what comes after it, or is at the end of the page,
  // is not held up: what it covers is shown.
  const watched = new Set();
  let passing;
  // A page is found as it was left: what stood open then is shown at once, as to who has gone on.
  const find = () => {
    const before = [left()[data.page] ?? []].flat();
    if (page.isFound) {
      const open = [...new Set([...before.filter((name) => !data.asking.includes(name)), ...data.open])];
      if (open.join() !== before.join()) leave(data.page, open);
      return;
    }
    const again = data.asking.filter((name) => before.includes(name));
    if (again.length && !isHeard()) return;
    page.isFound = true;
    if (again.length) setTriggerValue('past', again.join());
  };
  const past = () => {
    clearTimeout(passing);
    if (!page.isFound) find();
    page.above ??= new Map();
    const top = main.getBoundingClientRect().top, now = performance.now();
    // Whose card is still in sight at the end of the page is read, and takes the longer time.
    const isAtEnd = main.scrollTop > 0 && page.near.has('ends');
    const isIn = (name, fits) => [...watched].some((each) => each.isConnected && nameOf(each) === name
      && fits(each.getBoundingClientRect()));
    const isAbove = (name) => isIn(name, (room) => room.bottom <= top);
    const isPast = (name) => isAbove(name) || (isAtEnd && isIn(name, () => true));
    for (const name of page.above.keys()) if (!data.asking.includes(name)) page.above.delete(name);
    for (const name of data.asking)
      if (!isPast(name)) page.above.delete(name);
      else if (!page.above.has(name)) page.above.set(name, now);
    if (!page.above.size) return;
    const enough = (name) => isAtEnd && isAbove(name) ? AT_THE_END : PAST;
    const left = [...page.above].map(([name, since]) => [name, since + enough(name) - now]);
    const gone = left.filter(([, more]) => more <= 0).map(([name]) => name);
    if (gone.length && isHeard() && !document.hidden) setTriggerValue('past', gone.join());
    passing = setTimeout(past, Math.min(PAST, ...left.map(([, more]) => more).filter((more) => more > 0)));
  };
  const within = (margin, names, then) => new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      const name = nameOf(target);
      if (name) isIntersecting ? names.add(name) : names.delete(name);
    }
    then();
  }, { root: main, rootMargin: `${margin}px 0px` });
  const seen = [within(0, page.near, soon), within(AHEAD, ahead, meet)];

  const look = () => {
    for (const element of watched) if (!element.isConnected) {
      watched.delete(element);
      for (const each of seen) each.unobserve(element);
    }
    for (const element of main.querySelectorAll('[class*="st-key-card_"], [class*="st-key-row_"], .st-key-closing, .st-key-ends')) {
      const name = nameOf(element);
      if (!name) continue;
      if (!watched.has(element)) {
        watched.add(element);
        for (const each of seen) each.observe(element);
      }
      // What waits is veiled: it never shows old numbers as if they were new.
      if (waiting.has(name) !== element.hasAttribute('data-waits')) {
        element.toggleAttribute('data-waits', waiting.has(name));
      }
    }
    if (misread().length) soon();
    for (const name of page.near) if (![...watched].some((each) => nameOf(each) === name)) page.near.delete(name);
  };
  // A cell that somebody takes apart may open below what can be seen.
  const bringInSight = (cell) => {
    const { top, bottom, height } = cell.getBoundingClientRect(), end = main.getBoundingClientRect().bottom;
    if (end - top < Math.min(ENOUGH, height) && bottom > end) cell.scrollIntoView({ block: 'nearest' });
  };
  const press = () => { page.pressed = performance.now(); };
  const open = () => {
    for (const cell of main.querySelectorAll('[class*="st-key-cell_"]')) {
      if (opened.has(cell)) continue;
      opened.add(cell);
      if (performance.now() - page.pressed < 5000) setTimeout(bringInSight, 100, cell); // once it has its height
    }
  };
  main.addEventListener('click', press, { capture: true, passive: true });
  const drawn = new MutationObserver(() => { look(); open(); });
  drawn.observe(main, { childList: true, subtree: true });
  look();
  open();

  // The card that is looked at stays in its place when one above it gets another height: the one
  // that the keyboard is in, else the one a third of the way down. By itself the browser keeps what
  // is uppermost, and that may be the end of the very card that changes.
  main.style.overflowAnchor = 'none';
  const placeOf = (card) => card.getBoundingClientRect().top + main.scrollTop;
  const lookAt = () => {
    const { top, height } = main.getBoundingClientRect();
    const meets = (card, from, to) => {
      const box = card.getBoundingClientRect();
      return box.top <= to && box.bottom >= from;
    };
    const cards = [...watched].filter((card) => card.isConnected);
    const card = cards.find((each) => each.contains(document.activeElement) && meets(each, top, top + height))
      ?? cards.find((each) => meets(each, top + height / 3, top + height / 3));
    page.lookedAt = card && { name: nameOf(card), place: placeOf(card) };
  };
  const keepPlace = () => {
    const { name, place } = page.lookedAt ?? {};
    const card = [...watched].find((each) => each.isConnected && nameOf(each) === name);
    if (card && main.scrollTop) main.scrollTop += placeOf(card) - place;
    lookAt();
    soon(); // letters have grown, maybe
  };
  const sized = new ResizeObserver(keepPlace);
  sized.observe(main.querySelector('[data-testid=stMainBlockContainer]') ?? main);
  for (const each of ['scroll', 'focusin']) main.addEventListener(each, lookAt, { passive: true });
  main.addEventListener('scroll', meet, { passive: true });
  find();
  past();

  // When a pointer or the keyboard comes to it, a control in a picture gets its positions, and a
  // picture says how each cell comes about.
  const hand = ({ target }) => {
    const place = target.closest?.('[class*="st-key-moves_"], [class*="st-key-picture_"]');
    const name = place && /st-key-((?:moves|picture)_\w+)/.exec(place.className)[1];
    if (!name || hands.has(name) || !isHeard()) return;
    hands.add(name);
    setTriggerValue('hand', [...hands].sort().join());
  };
  // A picture moves with the hand, and what is said below it once the server has answered: faint
  // until then. A run that is short begins and ends for the browser at once: what it has drawn anew
  // is told by the room of the control. A move that asks for nothing is over some moments later.
  const isRunning = () => app?.dataset.testScriptState === 'running';
  const isSaid = () => {
    if (isRunning()) return;
    for (const card of main.querySelectorAll('[data-moves]')) card.removeAttribute('data-moves');
  };
  let over = setTimeout(isSaid, FAINT); // what was faint before this was built anew
  const move = ({ target }) => {
    if (!target.closest?.('.vega-bind')) return;
    const card = target.closest('[class*="st-key-card_"]');
    if (card && !card.hasAttribute('data-moves')) card.setAttribute('data-moves', '');
    for (const room of card?.querySelectorAll('[class*="st-key-moves_"]') ?? []) ends.observe(room, { attributeFilter: ['class'] });
    clearTimeout(over);
    over = setTimeout(isSaid, FAINT);
  };
  const ends = new MutationObserver(isSaid);
  if (app) ends.observe(app, { attributeFilter: ['data-test-script-state'] });
  main.addEventListener('input', move);
  const moves = ['pointerover', 'focusin', 'touchstart'];
  for (const each of moves) main.addEventListener(each, hand, { passive: true });
  phone.addEventListener('change', tell);

  const ask = () => {
    if (isHeard()) setTriggerValue('rest', `${Date.now()}`);
    resting = setTimeout(ask, AGAIN);
  };
  if (data.rest) resting = setTimeout(ask, data.rest);
  return () => {
    for (const each of seen) each.disconnect();
    drawn.disconnect();
    sized.disconnect();
    for (const each of ['scroll', 'focusin']) main.removeEventListener(each, lookAt);
    main.removeEventListener('scroll', meet);
    main.removeEventListener('click', press, { capture: true });
    for (const each of moves) main.removeEventListener(each, hand);
    main.removeEventListener('input', move);
    ends.disconnect();
    clearTimeout(over);
    phone.removeEventListener('change', tell);
    clearTimeout(later);
    clearTimeout(passing);
    clearTimeout(resting);
  };
}

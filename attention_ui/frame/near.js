// Says which parts of the page are near what can be seen, which control in a picture a hand comes
// near, and asks for what waits when nothing has come for a while.
const PART = /st-key-((?:card|row)_\w+|closing|ends)(?= |$)/;
const MARGIN = 500; // pixels: what will be seen next
const REST = 1200; // milliseconds without anything, before the server is asked for what waits

const nameOf = (element) => PART.exec(element.className)?.[1];

export default function ({ data, setTriggerValue }) {
  const main = document.querySelector('[data-testid=stMain]'); // it scrolls and clips, not the window
  if (!main) return;
  if (main.nearParts?.name !== data.page)
    main.nearParts = { name: data.page, near: new Set(), hands: new Set(), told: null, pointed: '' };
  const page = main.nearParts;
  const waiting = new Set(data.waiting);
  let later, resting;

  const tell = () => {
    const now = [...page.near].sort().join();
    if (now === page.told) return;
    page.told = now;
    setTriggerValue('near', now);
  };
  const seen = new IntersectionObserver((changes) => {
    for (const { target, isIntersecting } of changes) {
      const name = nameOf(target);
      if (name) isIntersecting ? page.near.add(name) : page.near.delete(name);
    }
    clearTimeout(later);
    later = setTimeout(tell, 60);
  }, { root: main, rootMargin: `${MARGIN}px 0px` });

  const watched = new Set();
  const look = () => {
    for (const element of watched) if (!element.isConnected) {
      watched.delete(element);
      seen.unobserve(element);
    }
    for (const element of main.querySelectorAll('[class*="st-key-card_"], [class*="st-key-row_"], .st-key-closing, .st-key-ends')) {
      const name = nameOf(element);
      if (!name) continue;
      if (!watched.has(element)) {
        watched.add(element);
        seen.observe(element);
      }
      // What waits is veiled: it never shows old numbers as if they were new.
      if (waiting.has(name) !== element.hasAttribute('data-waits')) {
        element.toggleAttribute('data-waits', waiting.has(name));
      }
    }
    for (const name of page.near) if (![...watched].some((each) => nameOf(each) === name)) page.near.delete(name);
  };
  const drawn = new MutationObserver(look);
  drawn.observe(main, { childList: true, subtree: true });
  look();

  // A control in a picture gets its positions when a pointer or the keyboard comes near it.
  const within = (event, key) => {
    const place = event.target.closest?.(`[class*="st-key-${key}_"]`);
    return place && new RegExp(`st-key-${key}_(\\w+)`).exec(place.className)?.[1];
  };
  const hand = (event) => {
    const moved = within(event, 'moves'), pointed = within(event, 'picture');
    if (moved && !page.hands.has(moved)) {
      page.hands.add(moved);
      setTriggerValue('hand', [...page.hands].sort().join());
    }
    if (pointed && page.pointed !== pointed) {
      page.pointed = pointed;
      setTriggerValue('pointed', pointed);
    }
  };
  const moves = ['pointerover', 'focusin', 'touchstart'];
  for (const each of moves) main.addEventListener(each, hand, { passive: true });

  const ask = () => setTriggerValue('rest', Date.now());
  if (waiting.size) resting = setTimeout(ask, REST);
  return () => {
    seen.disconnect();
    drawn.disconnect();
    for (const each of moves) main.removeEventListener(each, hand);
    clearTimeout(later);
    clearTimeout(resting);
  };
}

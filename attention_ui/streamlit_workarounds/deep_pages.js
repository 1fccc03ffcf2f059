// Relative, as all addresses of Streamlit's index.html: a proxy may add a prefix.
window.__streamlit = { BACKEND_BASE_URL: new URL('.', location).href };
// How large the browser's own letters are, and the page's now, in the usual size: pictures, which
// are drawn in pixels, grow with them. To Vega, what a screen says is a number of the page's.
const sizeOf = (element) => parseFloat(getComputedStyle(element).fontSize) / 16;
const root = document.documentElement, letter = root.appendChild(document.createElement('i'));
letter.style.fontSize = 'medium';
screen.letters = sizeOf(letter);
letter.remove();
Object.defineProperty(screen, 'rem', { get: () => sizeOf(root) });
root.style.setProperty('--letters', screen.letters);
// A card is shorter on a phone, which the server has to know before it draws the first.
document.cookie = `phone=${+matchMedia('(max-width: 640px)').matches}; SameSite=Lax`;
// Streamlit asks for the code of a kind of element when the server names the first of it.
addEventListener('load', () => document.head.append(document.querySelector('template').content));
let hasCome = false;  // to another page by a link, and nothing was done there yet
// Streamlit says where a control in a picture rests 150 ms after Vega has drawn that. What is
// pressed meanwhile waits, a second at most, until the address has it: a page that is left would
// lose it.
let moved = -Infinity, pressed;
const press = () => {
  moved = -Infinity;
  pressed?.click();
  pressed = undefined;
};
addEventListener('input', ({ target }) => {
  if (target.closest('.vega-bind')) moved = performance.now();
});
addEventListener('click', (event) => {
  const rest = moved + 1000 - performance.now(), link = event.target.closest('a, button');
  if (!link || rest < 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (!pressed) later(press, rest);
  pressed = link;
}, true);
const { pushState } = history;
history.pushState = function (state, title, url) {
  const isSame = new URL(url, location).pathname === location.pathname;
  (isSame && hasCome ? history.replaceState : pushState).call(this, state, title, url);
  hasCome = !isSame;
  if (!isSame) document.getElementById('vg-tooltip-element')?.remove(); // of the page that is left
  if (isSame) press();
};
// What was touched goes to the server by itself, with the part that it stands in: with what others
// have to say by then, Streamlit would send it as the first one's, and say so on the console. And at
// once: what a view says as it goes would be forgotten when the page has changed.
const later = window.setTimeout;
window.setTimeout = function (todo, delay, ...given) {
  if (delay === 0 && /sendUpdateWidgetsMessage/.test(todo)) return todo();
  return later(todo, delay, ...given);
};
for (const hand of ['pointerdown', 'keydown', 'click', 'input'])
  addEventListener(hand, () => { hasCome = false; }, true);
new MutationObserver(() => {
  for (const home of document.querySelectorAll('.stPageLink :is(a[href=""], a[href^="?"])'))
    home.setAttribute('href', './' + home.getAttribute('href'));
}).observe(document, { childList: true, subtree: true, attributeFilter: ['href'] });

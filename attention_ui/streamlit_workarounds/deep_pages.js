// Relative, as all addresses of Streamlit's index.html: a proxy may add a prefix.
window.__streamlit = { BACKEND_BASE_URL: new URL('.', location).href };
let hasCome = false;  // to another page by a link, and nothing was done there yet
const { pushState } = history;
history.pushState = function (state, title, url) {
  const isSame = new URL(url, location).pathname === location.pathname;
  (isSame && hasCome ? history.replaceState : pushState).call(this, state, title, url);
  hasCome = !isSame;
};
for (const hand of ['pointerdown', 'keydown', 'click', 'input'])
  addEventListener(hand, () => { hasCome = false; }, true);
new MutationObserver(() => {
  for (const home of document.querySelectorAll('.stPageLink :is(a[href=""], a[href^="?"])'))
    home.setAttribute('href', './' + home.getAttribute('href'));
}).observe(document, { childList: true, subtree: true, attributeFilter: ['href'] });

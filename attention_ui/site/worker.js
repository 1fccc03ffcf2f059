// Keeps all of a site in the browser, so that it is there without the internet after the first visit.
const NAME = "attention-VERSION", FILES = FILES_OF_SITE;
self.addEventListener("install", (event) => event.waitUntil(
  caches.open(NAME).then((cache) => cache.addAll(FILES)).then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil(caches.keys().then((names) =>
  Promise.all(names.filter((each) => each.startsWith("attention-") && each !== NAME).map((each) => caches.delete(each))))
  .then(() => self.clients.claim())));
self.addEventListener("fetch", (event) => {
  if (event.request.method !== "GET" || new URL(event.request.url).origin !== location.origin) return;
  event.respondWith(caches.open(NAME).then((cache) => cache.match(event.request, { ignoreSearch: true })
    .then((kept) => kept ?? fetch(event.request))));
});

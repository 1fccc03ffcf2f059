// The home page of a site: search over all lessons, in the page.
(() => {
  const told = JSON.parse(document.getElementById("index").textContent);
  const input = document.getElementById("search"), found = document.getElementById("found");
  const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const entries = told.map((one) => ({ ...one, all: ` ${words(`${one.title} ${one.words}`).join(" ")} ` }));
  input.addEventListener("input", () => {
    const asked = words(input.value);
    const fitting = asked.length === 0 ? [] : entries.filter(({ all }) => asked.every((each) => all.includes(` ${each}`)));
    fitting.sort((one, other) => asked.filter((each) => words(other.title).includes(each)).length
      - asked.filter((each) => words(one.title).includes(each)).length);
    found.replaceChildren(...fitting.slice(0, 12).map(({ title, lesson, address, words }) => {
      const item = document.createElement("li"), link = document.createElement("a");
      Object.assign(link, { href: address, textContent: title });
      item.append(link, lesson ? ` · ${lesson}` : "", document.createElement("br"), words.slice(0, 160) + (words.length > 160 ? " …" : ""));
      return item;
    }));
    document.getElementById("none").hidden = !asked.length || fitting.length > 0;
  });
  if ("serviceWorker" in navigator) navigator.serviceWorker.register("worker.js").catch(() => {});
})();

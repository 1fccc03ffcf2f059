// What pictures on a canvas share. All words of a person are set as text.
const root = document.getElementById("ID"), drawn = root.querySelector(".drawn");
const unpacked = (letters) => {
  const text = atob(letters), bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
};
const data = await unpacked("DATA").json();
const weights = new Uint16Array(await unpacked("WEIGHTS").arrayBuffer()), [low, high] = data.range;
const [nLayers, nHeads, nQueries, nKeys] = data.sizes;
let [layer, head] = data.first, query = data.start, theme = "light";
const at = (key, row = query) =>
  low + weights[((layer * nHeads + head) * nQueries + row) * nKeys + key] * (high - low) / 65535;
const percent = (share) => share > 0 && share < 0.001 ? "< 0.1%" : `${(100 * share).toFixed(1)}%`;
drawn.replaceChildren();
const make = (name, into, text = "") => {
  const one = document.createElement(name);
  one.textContent = text;
  into.append(one);
  return one;
};
// Sliders.
const choose = make("div", drawn);
choose.className = "choose";
const slider = (name, names, at, change) => {
  if (names.length < 2) return () => {};
  const label = make("label", choose, `${name} `), input = make("input", label);
  Object.assign(input, { type: "range", min: 0, max: names.length - 1, step: 1 });
  input.value = at;
  const told = make("output", label, names[at]);
  input.addEventListener("input", () => {
    change(Number(input.value));
    told.textContent = names[input.value];
    input.setAttribute("aria-valuetext", names[input.value]);
    draw();
  });
  return (to) => { input.value = to; told.textContent = names[to]; };
};
// The theme is read from the ink that the viewer writes with, as in `picture.js`.
const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const own = "attention" in document.documentElement.dataset;
const inked = (own && window.frameElement) || root;
const follow = () => {
  probe.fillStyle = getComputedStyle(inked.parentElement).color;
  probe.fillRect(0, 0, 1, 1);
  const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
  theme = red + green + blue > 382 ? "dark" : "light";
  Object.assign(root.style, { colorScheme: theme, color: data.inks[theme],
    background: data.grounds[theme] });
  if (own) document.documentElement.style.colorScheme = theme;
  draw();
};
const start = () => {
  follow();
  const watch = new MutationObserver(() => {
    if (root.isConnected) { follow(); setTimeout(follow, 1000); } else watch.disconnect();
  });
  const { documentElement, body } = inked.ownerDocument;
  for (const each of [documentElement, body]) watch.observe(each, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
};

// What is pointed at asks; each patch is as clear as the weight that it gets, by its square root.
const [rows, columns] = data.grid;
slider("Layer", data.layers, layer, (to) => { layer = to; });
slider("Head", data.heads.map(String), head, (to) => { head = to; });

// The image, and what lies on it.
const both = make("div", drawn);
both.className = "both";
const sheet = make("div", both), image = make("img", sheet), canvas = make("canvas", sheet);
sheet.className = "sheet";
sheet.style.width = `${data.size[0]}px`;
image.src = data.image;
image.alt = "";
const scale = 2;
[canvas.width, canvas.height] = data.size.map((each) => scale * each);
const pen = canvas.getContext("2d");
if (data.asking.length) {
  sheet.tabIndex = 0;
  sheet.setAttribute("role", "application");
  sheet.setAttribute("aria-label", "Patches of the image: arrow keys go from patch to patch");
}
const beside = make("div", both);
beside.className = "beside";
const told = make("p", drawn);
told.className = "told";
told.setAttribute("aria-live", "polite");
const buttons = [];
const asks = new Map(data.askers);
// Keys beside the image; queries that are no key of it have a button too.
const isSame = data.asking.length || nQueries === nKeys;
const list = isSame ? data.beside.map(([at, name]) => ({ key: at, asker: at, name }))
  : [...data.askers.map(([at, name]) => ({ key: -1, asker: at, name: `from ${name}` })),
     ...data.beside.map(([at, name]) => ({ key: at, asker: -1, name }))];
for (const { key, asker, name } of list) {
  const button = make("button", beside), bar = make("span", button);
  bar.className = "bar";
  make("span", button, name);
  const share = make("span", button);
  const canAsk = asker >= 0 && asks.has(asker);
  if (canAsk) {
    const ask = () => { query = asker; draw(); };
    for (const event of ["pointerenter", "focus", "click"]) button.addEventListener(event, ask);
  } else button.setAttribute("aria-disabled", "true");
  buttons.push({ button, bar, share, key, asker });
}
const placeOf = new Map(data.asking.map((at, patch) => [at, patch]));
const nameOf = (key) => {
  const patch = data.patches.indexOf(key);
  if (patch >= 0) return `the patch in row ${Math.floor(patch / columns)}, column ${patch % columns}`;
  return data.beside.find(([at]) => at === key)?.[1] ?? `key ${key}`;
};

const draw = () => {
  const shares = data.patches.map((key) => at(key)), most = Math.max(...shares, 1e-9);
  const wide = canvas.width / columns, tall = canvas.height / rows;
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = data.grounds[theme];
  shares.forEach((share, patch) => {
    pen.globalAlpha = data.veiled * (1 - Math.sqrt(share / most));
    const left = Math.round(patch % columns * wide);
    const top = Math.round(Math.floor(patch / columns) * tall);
    pen.fillRect(left, top, Math.round((patch % columns + 1) * wide) - left,
      Math.round((Math.floor(patch / columns) + 1) * tall) - top);
  });
  pen.globalAlpha = 0.25;
  pen.strokeStyle = data.inks[theme];
  pen.lineWidth = 1;
  pen.beginPath();
  for (let line = 1; line < columns; line++) {
    pen.moveTo(line * wide, 0);
    pen.lineTo(line * wide, canvas.height);
  }
  for (let line = 1; line < rows; line++) {
    pen.moveTo(0, line * tall);
    pen.lineTo(canvas.width, line * tall);
  }
  pen.stroke();
  pen.globalAlpha = 1;
  const patch = placeOf.get(query);
  if (patch !== undefined) {
    pen.strokeStyle = data.chosen;
    pen.lineWidth = 3 * scale;
    pen.strokeRect(patch % columns * wide, Math.floor(patch / columns) * tall, wide, tall);
  }
  const sink = data.sinks[layer][head];
  for (const { button, bar, share, key, asker } of buttons) {
    const of = key >= 0 ? at(key) : 0;
    bar.style.width = key >= 0 ? `${100 * of}%` : "0";
    share.textContent = key < 0 ? "" : percent(of) + (sink?.key === key ? " · sink" : "");
    button.classList.toggle("asks", asker === query && asker >= 0);
  }
  let best = 0;
  for (let key = 1; key < nKeys; key++) if (at(key) > at(best)) best = key;
  const onImage = shares.reduce((sum, each) => sum + each, 0);
  const asker = isSame ? nameOf(query) : asks.get(query) ?? `query ${query}`;
  told.textContent = `From ${asker}: ${percent(at(best))} goes to ${nameOf(best)}, `
    + `${percent(onImage)} to all patches together.`
    + (sink ? ` An attention sink in this head: ${nameOf(sink.key)} gets ${percent(sink.share)} `
      + "of all queries’ weight, on average." : "");
  root.dataset.query = query;
};

// Pointing, and the arrow keys.
const ask = (patch) => { query = data.asking[patch]; draw(); };
const point = (event) => {
  if (!data.asking.length) return;
  const box = sheet.getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left) / box.width * columns);
  const row = Math.floor((event.clientY - box.top) / box.height * rows);
  if (column >= 0 && column < columns && row >= 0 && row < rows) ask(row * columns + column);
};
sheet.addEventListener("pointermove", point);
sheet.addEventListener("pointerdown", point);
sheet.addEventListener("keydown", (event) => {
  const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1],
    ArrowRight: [0, 1] }[event.key] ?? [0, 0];
  if (!data.asking.length || !(down || right)) return;
  event.preventDefault();
  const at = placeOf.get(query) ?? Math.floor(rows / 2) * columns + Math.floor(columns / 2);
  const row = Math.min(rows - 1, Math.max(0, Math.floor(at / columns) + down));
  const column = Math.min(columns - 1, Math.max(0, at % columns + right));
  ask(row * columns + column);
});
start();

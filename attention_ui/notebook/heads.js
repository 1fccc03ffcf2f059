// All heads in small, one of them in large: each row of it is a token that looks. Pointing draws two
// lines and shades the words; the weights themselves are drawn once a head.
const [red, green, blue] = data.colour;
const named = (names, at, what) => names[at] === undefined ? `${what} ${at}` : `“${names[at]}”`;

// Weights (query, key) of a head as an image of so many pixels, the largest of those in a pixel.
const painted = (ofLayer, ofHead, wide, tall) => {
  const image = new ImageData(wide, tall), first = (ofLayer * nHeads + ofHead) * nQueries * nKeys;
  const most = new Uint16Array(wide * tall);
  for (let row = 0; row < nQueries; row++) {
    const down = Math.floor(row * tall / nQueries) * wide;
    for (let key = 0; key < nKeys; key++) {
      const to = down + Math.floor(key * wide / nKeys), one = weights[first + row * nKeys + key];
      if (one > most[to]) most[to] = one;
    }
  }
  for (let to = 0; to < most.length; to++) {
    const share = Math.min(1, Math.max(0, low + most[to] * (high - low) / 65535));
    image.data.set([red, green, blue, 255 * Math.sqrt(share)], 4 * to);
  }
  const canvas = new OffscreenCanvas(wide, tall);
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
};

const toLayer = slider("Layer", data.layers, layer, (to) => { layer = to; });
const toHead = slider("Head", data.heads.map(String), head, (to) => { head = to; });
const both = make("div", drawn);
both.className = "both";
const sheet = make("div", both), canvas = make("canvas", sheet), pen = canvas.getContext("2d");
const side = 448, wide = Math.min(side, side * nKeys / Math.max(nKeys, nQueries));
const tall = Math.min(side, side * nQueries / Math.max(nKeys, nQueries));
[canvas.width, canvas.height] = [2 * wide, 2 * tall];
sheet.className = "sheet of_weights";
sheet.style.width = `${wide}px`;
sheet.tabIndex = 0;
sheet.setAttribute("role", "application");
sheet.setAttribute("aria-label", "Weights of one head, a row for each query: arrow keys go from "
  + "number to number");
const small = make("canvas", both);
small.className = "all_heads";
small.setAttribute("aria-hidden", "true");  // the sliders choose the same
const words = make("p", drawn), told = make("p", drawn);
words.className = "words";
told.className = "told";
told.setAttribute("aria-live", "polite");
const spans = [];
for (let key = 0; key < nKeys; key++) {
  spans.push(make("span", words, data.keys[key] ?? `${key}`));
  words.append(" ");
}

// All heads: a column for each layer.
const box = Math.max(6, Math.min(48, Math.floor(460 / Math.max(nLayers, nHeads)))), gap = 2;
const pixels = 2 * (box - gap);
small.width = 2 * box * nLayers;
small.height = 2 * box * nHeads;
small.style.width = `${box * nLayers}px`;
const smallPen = small.getContext("2d"), ofAll = new OffscreenCanvas(small.width, small.height);
if (nLayers * nHeads > 1) {
  const all = ofAll.getContext("2d");
  for (let l = 0; l < nLayers; l++) for (let h = 0; h < nHeads; h++)
    all.drawImage(painted(l, h, pixels, pixels), 2 * box * l, 2 * box * h);
} else small.hidden = true;

let key = 0, large, largeOf = "";
const draw = () => {
  if (largeOf !== `${layer}.${head}`) {
    large = painted(layer, head, nKeys, nQueries);
    largeOf = `${layer}.${head}`;
    smallPen.clearRect(0, 0, small.width, small.height);
    smallPen.globalAlpha = 0.08;
    smallPen.fillStyle = data.inks[theme];
    for (let l = 0; l < nLayers; l++) for (let h = 0; h < nHeads; h++)
      smallPen.fillRect(2 * box * l, 2 * box * h, pixels, pixels);
    smallPen.globalAlpha = 1;
    smallPen.drawImage(ofAll, 0, 0);
    smallPen.strokeStyle = data.chosen;
    smallPen.lineWidth = 4;
    smallPen.strokeRect(2 * box * layer + 1, 2 * box * head + 1, pixels - 2, pixels - 2);
  }
  const across = canvas.width / nKeys, down = canvas.height / nQueries;
  pen.imageSmoothingEnabled = false;
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.globalAlpha = 0.06;
  pen.fillStyle = data.inks[theme];
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.globalAlpha = 1;
  pen.drawImage(large, 0, 0, canvas.width, canvas.height);
  pen.strokeStyle = data.chosen;
  pen.lineWidth = 2;
  pen.strokeRect(0, query * down, canvas.width, Math.max(2, down));
  pen.strokeRect(key * across, query * down, Math.max(2, across), Math.max(2, down));
  const shares = spans.map((_, one) => at(one));
  spans.forEach((span, one) => {
    const share = 100 * Math.sqrt(Math.min(1, Math.max(0, shares[one])));
    span.style.background = `color-mix(in srgb, rgb(${red} ${green} ${blue}) ${share}%, transparent)`;
  });
  const best = shares.map((share, one) => [share, one]).sort((a, b) => b[0] - a[0]).slice(0, 4);
  const most = best.map(([share, one]) => `${named(data.keys, one, "key")} ${percent(share)}`);
  told.textContent = `${data.layers[layer]}, head ${data.heads[head]}. From `
    + `${named(data.queries, query, "query")}, token ${query}, to ${named(data.keys, key, "key")}, `
    + `token ${key}: ${percent(at(key))}. Most: ${most.join(", ")}.`;
  Object.assign(root.dataset, { layer, head, query, key });
};
const pointed = (event) => {
  const where = sheet.getBoundingClientRect();
  const row = Math.floor((event.clientY - where.top) / where.height * nQueries);
  const column = Math.floor((event.clientX - where.left) / where.width * nKeys);
  if (row < 0 || row >= nQueries || column < 0 || column >= nKeys) return;
  if (row === query && column === key) return;
  [query, key] = [row, column];
  draw();
};
sheet.addEventListener("pointermove", pointed);
sheet.addEventListener("pointerdown", pointed);
sheet.addEventListener("keydown", (event) => {
  const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1],
    ArrowRight: [0, 1] }[event.key] ?? [0, 0];
  if (!(down || right)) return;
  event.preventDefault();
  query = Math.min(nQueries - 1, Math.max(0, query + down));
  key = Math.min(nKeys - 1, Math.max(0, key + right));
  draw();
});
small.addEventListener("pointerdown", (event) => {
  const where = small.getBoundingClientRect();
  layer = Math.min(nLayers - 1, Math.floor((event.clientX - where.left) / where.width * nLayers));
  head = Math.min(nHeads - 1, Math.floor((event.clientY - where.top) / where.height * nHeads));
  toLayer(layer);
  toHead(head);
  draw();
});
start();

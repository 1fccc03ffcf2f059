// The theme is read from the ink that the viewer writes with: each has a switch of its own. Vega is
// loaded once for all pictures of a page, by whichever comes first.
(async () => {
  const root = document.getElementById("ID"), drawn = root.querySelector(".drawn");
  const read = (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };
  window.attentionVega ??= read("VEGA").then((code) => new Function(code)());
  await window.attentionVega;
  const { specs, columns, inks, grounds } = JSON.parse(await read("DATA"));
  const names = Object.keys(columns);
  // Made anew for each view: Vega writes its own marks into them.
  const rows = () => columns.kind.map((_, at) =>
    Object.fromEntries(names.map((name) => [name, columns[name][at]])));
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  // A page of ours in a frame (marimo) goes by what is around the frame.
  const own = "attention" in document.documentElement.dataset;
  const inked = (own && window.frameElement) || root;
  const isDark = () => {
    probe.fillStyle = getComputedStyle(inked.parentElement).color;
    probe.fillRect(0, 0, 1, 1);
    const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
    return red + green + blue > 382;
  };
  const renderer = specs.light.usermeta?.embedOptions?.renderer ?? "svg";
  let theme, result;
  const draw = async () => {
    const now = isDark() ? "dark" : "light";
    if (now === theme) return;
    theme = now;
    Object.assign(root.style, { colorScheme: now, color: inks[now], background: grounds[now] });
    if (own) document.documentElement.style.colorScheme = now;
    // Marks of an SVG take ink and ground from around them; a canvas is drawn anew.
    if (result && renderer === "svg") return;
    result?.finalize();
    drawn.replaceChildren();
    const spec = { ...specs[now], data: { name: "source", values: rows() } };
    result = await window.attentionDraw(drawn, spec, { actions: false, renderer,
      tooltip: { theme: now } });
    setTimeout(() => dispatchEvent(new Event("resize")), 300);  // where it had no width yet
  };
  // One after the other: a viewer that changes its theme changes it bit by bit.
  let last = draw();
  const again = () => { last = last.then(draw, draw); setTimeout(() => last.then(draw), 1000); };
  const watch = new MutationObserver(() => root.isConnected ? again() : watch.disconnect());
  const { documentElement, body } = inked.ownerDocument;
  for (const each of [documentElement, body]) watch.observe(each, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
})();

const NS = 'http://www.w3.org/2000/svg', ABOVE = 40, BESIDE = 12;
const family = (rule) => rule.style.getPropertyValue('font-family').replace(/["']/g, '');

async function letters() {  // those of the page, within the picture: else it has others elsewhere
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const ours = rules.find((rule) => rule instanceof CSSFontFaceRule
    && family(rule) === 'Source Sans' && rule.style.getPropertyValue('font-style') !== 'italic');
  const found = ours?.style.getPropertyValue('src').match(/url\("?([^")]+)"?\)/);
  if (!found) return '';
  const from = ours.parentStyleSheet.href ?? document.baseURI;
  const file = await (await fetch(new URL(found[1], from))).blob();
  const url = await new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(file);
  });
  return `@font-face { font-family: "Source Sans"; font-weight: 200 900; src: url(${url}); }`;
}

function framed(drawn, width, height, data) {
  const svg = document.createElementNS(NS, 'svg');
  const whole = [width + 2 * BESIDE, height + ABOVE + BESIDE];
  for (const [name, value] of Object.entries({ xmlns: NS, width: whole[0], height: whole[1],
    viewBox: `0 0 ${whole[0]} ${whole[1]}`, color: data.ink })) svg.setAttribute(name, value);
  const add = (tag, of) => {
    const made = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(of)) made.setAttribute(name, value);
    return svg.appendChild(made);
  };
  add('title', {}).textContent = data.title;
  add('style', {}).textContent = data.letters;
  add('rect', { width: '100%', height: '100%', fill: data.ground });
  add('text', { x: BESIDE, y: 26, fill: data.ink, 'font-weight': 600, 'font-size': 17,
    'font-family': '"Source Sans", sans-serif' }).textContent = data.title;
  if (drawn instanceof HTMLCanvasElement) {
    add('image', { x: BESIDE, y: ABOVE, width, height, href: drawn.toDataURL() });
  } else {
    const inner = drawn.cloneNode(true);
    inner.removeAttribute('style');
    for (const [name, value] of Object.entries({ x: BESIDE, y: ABOVE, width, height }))
      inner.setAttribute(name, value);
    svg.appendChild(inner);
  }
  return new XMLSerializer().serializeToString(svg)
    .replace(/light-dark\(([^,()]+),([^,()]+)\)/g, data.dark ? '$2' : '$1')
    .replaceAll('currentColor', data.ink);
}

async function pixels(text, twice = 2) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width * twice, image.height * twice];
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
}

export default async function ({ data }) {
  if (!data || window.lastSavedPicture === data.press) return;
  window.lastSavedPicture = data.press;  // once, however many runs come after it
  const drawn = data.drawn ?? document.querySelector(`.st-key-drawn_${data.picture} :is(svg, canvas).marks`);
  if (!drawn) return;
  const { width, height } = drawn.getBoundingClientRect();
  const text = framed(drawn, width, height, { ...data, letters: await letters() });
  const isSvg = data.kind === 'svg';
  const file = isSvg ? new Blob([text], { type: 'image/svg+xml' }) : await pixels(text);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = `${data.name}.${data.kind}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

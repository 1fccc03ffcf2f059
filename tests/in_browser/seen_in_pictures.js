// All that is written in pictures, and all that their marks tell who points at them, by the names of
// the pictures: in the app, or in a lesson that is a file.
() => {
  const found = {};
  const rooms = [...document.querySelectorAll("[class*='st-key-drawn_'], .picture")];
  for (const room of rooms) {
    const name = room.dataset.name ?? [...room.classList].join(" ").match(/st-key-drawn_(\w+)/)[1];
    const written = [...room.querySelectorAll("svg text")].map((one) => one.textContent);
    const told = [...room.querySelectorAll("svg.marks path, svg.marks text")].map((one) => one.__data__)
      .filter((one) => one && one.tooltip && one.tooltip.title)
      .map((one) => JSON.stringify(one.tooltip));
    if (written.length) found[name] = { written: written.sort(), told: [...new Set(told)].sort() };
  }
  return found;
}

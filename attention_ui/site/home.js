// The home page of a site: search over all lessons, in the page.
(() => {
  const told = JSON.parse(document.getElementById("index").textContent);
  const input = document.getElementById("search"), found = document.getElementById("found");
  const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}√∞]+/u).filter(Boolean);
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
  // What was done in each lesson, and which of them come back today.
  const answers = window.attentionAnswers, lessons = JSON.parse(document.getElementById("lessons").textContent);
  const show = () => {
    const back = answers.coming_back(), due = document.getElementById("due"), waits = [];
    for (const { name, title, key, questions } of lessons) {
      const there = document.querySelector(`[data-lesson="${name}"]`), n = Object.keys(answers.read(key)?.given ?? {}).length;
      there.textContent = n ? ` ${n >= questions ? "✓ " : ""}${Math.min(n, questions)} of ${questions} questions answered` : "";
      if (back[name]?.[1] <= answers.day) waits.push([back[name][1], name, title]);
    }
    waits.sort((one, other) => one[0] - other[0]);
    due.hidden = !waits.length;
    due.querySelector("span").replaceChildren(...waits.slice(0, 3).flatMap(([, name, title], at) => [at ? ", " : "",
      Object.assign(document.createElement("a"), { href: `${name}.html#again`, textContent: title })]));
  };
  const mine = () => Object.fromEntries(lessons.map(({ key }) => [key, answers.read(key)]).filter(([, each]) => each));
  document.getElementById("mine").append(...answers.buttons(mine, "attention", (found) => {
    let n = 0, others = 0;
    for (const [key, theirs] of Object.entries(found.answers)) {
      if (!lessons.some((each) => each.key === key)) { others += 1; continue; }
      answers.write(key, answers.joined(answers.read(key), theirs));
      n += 1;
    }
    const before = answers.coming_back();
    for (const [name, wait] of Object.entries(found.coming_back)) {
      if (!(name in before) && lessons.some((each) => each.name === name)) answers.come_back(name, ...wait);
    }
    show();
    const left = others ? ` ${others} left out: this site does not have their lesson or settings.` : "";
    return n ? `Answers to ${n} ${n === 1 ? "lesson" : "lessons"} loaded.${left}` : `This file has no answers to these lessons.${left}`;
  }));
  show();
  addEventListener("pageshow", show);
  if ("serviceWorker" in navigator) navigator.serviceWorker.register("worker.js").catch(() => {});
})();

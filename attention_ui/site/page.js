// What a page of a lesson does by itself: `told` has all that its cards come to, by the values of
// the controls that move and by the questions that are open. Nothing is sent anywhere.
(async () => {
  const all = (what, of = document) => [...of.querySelectorAll(what)];
  const make = (tag, looks = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), looks);
    made.append(...inside);
    return made;
  };
  const unpack = (text) => {
    const letters = atob(text), bytes = new Uint8Array(letters.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  const packed = (id) => unpack(document.getElementById(id).textContent);
  const kit = document.getElementById("vega") && !window.attentionVega ? packed("vega") : null;
  const told = window.attentionTold ?? JSON.parse(await packed("told"));
  // What only a move leads to comes once the first pictures stand, or as soon as something moves.
  let more, is_whole = false;
  const whole = () => more ??= packed("more").then((text) => {
    const { columns, ...tables } = JSON.parse(text);
    for (const [name, entries] of Object.entries(tables)) told[name] = told[name].concat(entries);
    for (const [name, parts] of Object.entries(columns)) told.columns[name] = (told.columns[name] ?? []).concat(parts);
    is_whole = true;
  });
  // As a script of the page's own: also where no text may become code (`new Function`).
  let vega;
  const beside = (src) => new Promise((onload, onerror) =>
    document.head.append(make("script", { src, onload, onerror })));
  const ready = () => vega ??= window.attentionVega ? Promise.resolve()
    : told.vega ? beside(told.vega) : kit.then((code) => { document.head.append(make("script", { textContent: code })); });

  // What was chosen and done here. It stays in this browser, if that keeps anything, or with a
  // course platform. What was guessed is judged anew.
  const answers = window.attentionAnswers, key = `${told.lesson}.${told.settings}`;
  const chosen = {}, done = { answered: {}, passed: [], first: {}, again: [] };
  let last = "";
  const keep = () => {
    answers.write(key, summary().brief);
    tell();
  };
  const tell = () => window.dispatchEvent(new CustomEvent("attention", { detail: summary() }));

  // --- states ------------------------------------------------------------------------------------
  const name_of = (move, asked) => Object.entries(move).map(([name, text]) => `${name}=${text}`).sort()
    .join("&") + "?" + [...asked].sort().join(",");
  const within = (names, of) => Object.fromEntries(names.filter((each) => each in of)
    .map((each) => [each, of[each]]));
  // The state of something at what is chosen now, and the controls that it cannot follow.
  const state_of = ({ axes, states, reached = [] }, asked = [], from = chosen) => {
    const move = within(axes, from), tries = [move];
    if (last in move) tries.push({ [last]: move[last] });
    tries.push(...Object.keys(move).reverse().map((each) => ({ [each]: move[each] })), {});
    const found = tries.find((each) => name_of(each, asked) in states) ?? {};
    const stays = [...Object.keys(move).filter((each) => !(each in found)),
      ...reached.filter((each) => each in chosen)];
    return [states[name_of(found, asked)], stays, found];
  };
  // What each piece stands at: of what was chosen, what it could follow.
  const stands = {};
  const is_asking = () => chosen.predict !== "off" && "predict" in (told.controls ?? {})
    || (chosen.predict !== "off" && Object.keys(told.asks).length > 0);
  // As its card stands: else it would ask about another row than the card covers.
  const question_of = (name) => told.asks[name] && is_asking()
    ? state_of(told.asks[name], [], stands[told.asks[name].card] ?? chosen)[0] : null;
  const is_open = (name) => {
    const asked = question_of(name), given = done.answered[name];
    if (!asked || (!asked.again && done.passed.includes(name))) return false;
    return !given || (asked.again && given.right === false);
  };
  // What another control takes along is so only where that one is followed.
  const value_of = (name, there) => {
    if (name in chosen) return chosen[name];
    for (const [other, text] of Object.entries(stands[there?.closest(".piece")?.id] ?? chosen)) {
      const along = told.controls[other]?.along?.[text];
      if (along && name in along) return along[name];
    }
    return told.controls[name]?.base;
  };

  // --- what is on the page -----------------------------------------------------------------------
  const alike = (one, other) => one.nodeType === other.nodeType && one.nodeName === other.nodeName
    && (one.nodeType !== 1 || ["name", "moves", "control", "ask", "of"].every((each) =>
      one.dataset[each] === other.dataset[each]));
  // Makes what stands there like what is to stand there, and keeps what is in a hand.
  const morph = (now, then) => {
    if (now.nodeType !== 1) { if (now.data !== then.data) now.data = then.data; return; }
    const { name, moves, ask, of } = now.dataset;
    if (moves || ask || of) return;
    for (const each of [...then.attributes]) {
      if (now.getAttribute(each.name) !== each.value) now.setAttribute(each.name, each.value);
    }
    for (const each of [...now.attributes]) {
      if (!then.hasAttribute(each.name) && !["data-drawn", "open"].includes(each.name)) now.removeAttribute(each.name);
    }
    if (name) return;
    if (now.dataset.control) return;
    if (now.classList.contains("control")) { now.replaceChildren(); return; }
    children(now, [...then.childNodes]);
  };
  const children = (now, wanted) => {
    let at = now.firstChild;
    for (const each of wanted) {
      let there = at;
      while (there && !alike(there, each)) there = there.nextSibling;
      if (!there) { now.insertBefore(each, at); continue; }
      while (at !== there) { const next = at.nextSibling; forget(at); at.remove(); at = next; }
      morph(there, each);
      at = there.nextSibling;
    }
    while (at) { const next = at.nextSibling; forget(at); at.remove(); at = next; }
  };
  const shown = {}, waiting = new Map();
  const show = (name, place, alone = true) => {
    waiting.delete(name);
    shown[name] = place;
    const there = document.getElementById(name), body = there.querySelector(":scope > .made") ?? there;
    const then = make("template", { innerHTML: told.html[place] });
    children(body, [...then.content.childNodes]);
    there.hidden = !told.html[place];
    for (const row of all(".unfold", body)) row.ariaExpanded = String(body.classList.contains("whole"));
    all(".picture[data-carries]", there).forEach(room_of);
    all("[data-picture]", there).forEach(watch);
    if (alone) dress(there);
  };
  // A question asks about what its card covers: both wait.
  const dress = (there) => {
    const each = (what, does) => all(what, there).forEach((one) => {
      if (!waiting.has(one.closest(".piece")?.id)) does(one);
    });
    each(".control", control);
    each(".sets", setter);
    each(".ask", ask);
    each(".moves", follow);
    each(".unfold[data-asks]", unfold);
  };
  // What is folded on a phone, in words: a question among it only while it is open.
  const unfold = (row) => {
    const words = row.dataset[is_open(row.dataset.asks) ? "asking" : "told"];
    if (row.dataset.now !== words) { row.innerHTML = words; row.dataset.now = words; }
  };
  // Cards in sight follow at once, the others when there is time, and in any case before they are seen.
  const put = () => {
    if (!is_whole && Object.keys(chosen).length) return void whole().then(put);
    const open = Object.keys(told.asks).filter(is_open), now = [];
    for (const [name, piece] of Object.entries(told.pieces)) {
      const there = document.getElementById(name);
      if (!there) continue;
      const asks = open.filter((each) => piece.asks.includes(each));
      const [place, stays, found] = state_of(piece, asks);
      const waits = stays.length && asks.length && state_of(piece)[1].length < stays.length ? asks : [];
      stands[name] = found;
      if (shown[name] === place) waiting.delete(name);
      else if (shown[name] === undefined || in_sight.has(there)) now.push([name, place]);
      else waiting.set(name, place);
      say_stays(there, stays, waits.map((each) => told.asks[each].card));
    }
    now.forEach(([name, place]) => show(name, place, false));
    dress(document);
    folds();
    tally();
    go_on();
  };
  const folds = () => all("details.fold").forEach((each) => {
    each.hidden = all(".piece", each).every((one) => one.hidden);
  });
  const idle = window.requestIdleCallback ?? ((what) => setTimeout(what, 30));
  let goes_on = false;
  // One card, or one picture, at a time: a hand that moves on does not wait for more.
  const go_on = () => {
    if (goes_on || !(waiting.size || late.size)) return;
    goes_on = true;
    idle(async () => {
      goes_on = false;
      const [card] = waiting, [picture] = late;
      if (card) { show(...card); folds(); } else if (picture) await draw(picture);
      go_on();
    }, { timeout: 500 });
  };
  const is_settled = () => !(waiting.size || late.size || awaited.size || drawing_now);
  const all_at_once = () => {
    [...waiting].forEach((each) => show(...each));
    folds();
    all("[data-picture]").forEach(draw);
  };
  // What these controls were when the page opened, in words.
  const bases_of = (names) => names.map((name) => {
    const { label, base, words } = told.controls[name];
    return `“${label || name}” at “${words[base] ?? base}”`;
  }).join(" and ");
  // `waits` are the cards whose open questions keep a part from following.
  const say_stays = (there, stays, waits) => {
    const cards = [...new Set(waits)].map((each) => `“${document.getElementById(each)?.querySelector("h2, h3")?.textContent ?? each}”`);
    const begins = cards.length ? `This part follows your change once you have answered at ${cards.join(" and ")}.` : "This part does not follow your change.";
    const text = stays.length ? `${begins} It still shows ${bases_of(stays)}.` : "";
    let note = there.querySelector(":scope > .stays");
    if (!text) { note?.remove(); return; }
    if (!note) there.append(note = make("p", { className: "stays" }));
    if (note.textContent !== text) note.textContent = text;
  };

  let n_controls = 0;
  const known = new Map();
  const read = (text) => known.get(text) ?? known.set(text, JSON.parse(text)).get(text);

  // --- controls ----------------------------------------------------------------------------------
  const move = (name, text) => {
    last = name;
    if (text === told.controls[name].base) delete chosen[name]; else chosen[name] = text;
    const along = told.controls[name].along?.[text] ?? {};
    for (const each of Object.keys(along)) delete chosen[each];
    put();
  };
  const control = (there) => {
    const { control: name, kind, label, value, words } = there.dataset;
    const moves = name && told.controls[name];
    if (!moves) {
      if (!there.firstChild) {
        there.classList.add("fixed");
        there.append(make("span", { textContent: label }), make("b", { textContent: words }));
      }
      return;
    }
    const choices = read(there.dataset.choices).filter(([text]) => moves.texts.includes(text));
    const signature = JSON.stringify([kind, label, choices]);
    if (there.dataset.built !== signature) {
      there.dataset.built = signature;
      there.replaceChildren(...built(name, kind, label, choices));
      there.classList.add(kind);
    }
    const now = value_of(name, there), at = choices.findIndex(([text]) => text === now);
    for (const each of all("input, select", there)) {
      if (each.type === "radio") each.checked = each.value === now;
      else if (each.type === "checkbox") each.checked = now === "on";
      else if (each.type === "range") {
        if (Number(each.value) !== at) each.value = at;
        each.ariaValueText = choices[at]?.[1] ?? now;
        there.querySelector("output").textContent = choices[at]?.[1] ?? now;
      } else if (each.value !== now) each.value = now;
    }
  };
  const built = (name, kind, label, choices) => {
    if (kind === "switch") {
      const input = make("input", { type: "checkbox", role: "switch" });
      input.onchange = () => move(name, input.checked ? "on" : "off");
      return [make("label", {}, input, make("span", { textContent: label }))];
    }
    if (kind === "buttons") {
      const group = `c${n_controls++}`;
      const each = choices.map(([value, words]) => {
        const input = make("input", { type: "radio", name: group, value });
        input.onchange = () => move(name, value);
        return make("label", {}, input, make("span", { textContent: words }));
      });
      return [make("fieldset", {}, make("legend", { textContent: label }), make("div", {}, ...each))];
    }
    if (kind === "slider") {
      const input = make("input", { type: "range", min: 0, max: choices.length - 1, step: 1 });
      input.oninput = () => move(name, choices[Number(input.value)][0]);
      return [make("label", {}, make("span", { textContent: label }), make("output"), input)];
    }
    const input = make("select", {}, ...choices.map(([value, words]) =>
      make("option", { value, textContent: words })));
    input.onchange = () => move(name, input.value);
    return [make("label", {}, make("span", { textContent: label }), input)];
  };
  const setter = (button) => {
    const texts = read(button.dataset.sets);
    const can = Object.entries(texts).every(([name, text]) => told.controls[name]?.texts.includes(text));
    button.hidden = !can;
    button.onclick = () => set(texts);
  };
  // As far as these controls can be so here.
  const set = (texts) => {
    for (const [name, text] of Object.entries(texts)) {
      if (!told.controls[name]?.texts.includes(text)) continue;
      last = name;
      if (text === told.controls[name].base) delete chosen[name]; else chosen[name] = text;
    }
    put();
  };
  // The control in a picture: its own picture has all of its positions, and follows at once.
  const turned = {};
  const stands_at = (picture) => {
    const { carries: name } = picture.dataset, texts = read(picture.dataset.texts);
    const now = told.controls[name] ? value_of(name, picture) : turned[name];
    return now === undefined ? told.pictures[picture.dataset.picture].at : texts.indexOf(now);
  };
  const follow = (there) => {
    const picture = document.querySelector(`.picture[data-name="${CSS.escape(there.dataset.moves)}"]`);
    if (!picture?.dataset.carries) return;
    const { carries: name, controlLabel: label, texts: written } = picture.dataset;
    const texts = read(written), signature = JSON.stringify([label, texts]);
    if (there.dataset.built !== signature) {
      there.dataset.built = signature;
      const input = make("input", { type: "range", min: 0, max: texts.length - 1, step: 1, ariaLabel: label });
      input.oninput = () => {
        const text = texts[Number(input.value)];
        if (told.controls[name]) move(name, text);
        else { turned[name] = text; all(".moves").forEach(follow); }
      };
      there.replaceChildren(make("label", {}, make("span", { textContent: label }), input, make("span")));
    }
    const at = stands_at(picture), input = there.querySelector("input"), text = texts[at] ?? told.controls[name]?.base ?? "";
    if (Number(input.value) !== at && at >= 0) input.value = at;
    input.ariaValueText = input.nextElementSibling.textContent = text;
    const view = views.get(picture)?.view;
    if (view && view.signal("step_at") !== at) view.signal("step_at", at).runAsync();
  };

  // --- pictures ----------------------------------------------------------------------------------
  const views = new Map();
  const theme = () => matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const in_sight = new Set(), late = new Set();
  // What is in sight follows a hand; what comes near is drawn, so that nothing old is ever seen.
  const watching = (rootMargin, does) => new IntersectionObserver((each) => each.forEach(does), { rootMargin });
  const sight = watching("0px", ({ target, isIntersecting: is_there }) => {
    if (is_there) in_sight.add(target); else in_sight.delete(target);
  });
  const near = watching("300px", ({ target, isIntersecting: is_there }) => {
    if (!is_there) return;
    if (waiting.has(target.id)) show(target.id, waiting.get(target.id));
    if (target.dataset.picture) draw(target);
  });
  const observe = (there) => { sight.observe(there); near.observe(there); };
  const forget = (there) => {
    if (there.nodeType !== 1) return;
    for (const each of [there, ...all(".picture, .chart", there)]) {
      sight.unobserve(each);
      near.unobserve(each);
      in_sight.delete(each);
      late.delete(each);
      views.get(each)?.view.finalize();
      views.delete(each);
    }
  };
  const watch = (there) => {
    observe(there);
    if (there.classList.contains("picture")) there.classList.toggle("is-brief", is_brief(there));
    if (!views.has(there)) return;
    if (in_sight.has(there)) draw(there); else late.add(there);
  };
  const columns_of = (one) => one.like === undefined ? one.columns
    : { ...told.pictures[one.like].columns, ...one.columns };
  const cuts_of = (one) => one.cuts ?? told.pictures[one.like].cuts;
  // Each part of a column, with the rows that it is for: a list of theirs, or what all of them have.
  const each_part = (parts, cuts, n, with_part) => {
    if (parts.length !== cuts.length) return with_part(parts[0], 0, n);
    let at = 0;
    parts.forEach((part, which) => { with_part(part, at, at + cuts[which]); at += cuts[which]; });
  };
  // On a phone, a picture leaves out the lines that only lead to its last ones, until somebody asks.
  const phone = matchMedia("(max-width: 590px)"), wholes = new Set();
  const is_brief = (there) => Boolean(phone.matches && there?.classList.contains("picture")
    && told.pictures[there.dataset.picture].cut && !wholes.has(there.dataset.name));
  const briefly = (made, [from, to, signs]) => {
    for (const [at, text, yn] of signs) Object.assign(made[at], { text, yn });
    const up = (row) => row.yn >= to ? { yn: row.yn - to + from } : row.yn >= from ? { when: 1 } : {};
    const last = made.pop();
    return [...made.filter((row) => row.when !== 2 || !(row.yn >= from && row.yn < to)).map((row) => Object.assign(row, up(row))),
      { ...last, yn: last.yn - to + from }];
  };
  const rows = (one, there) => {
    const made = Array.from({ length: one.n }, () => ({}));
    for (const [name, parts] of Object.entries(columns_of(one))) {
      if (parts) each_part(parts, cuts_of(one), one.n, (part, from, to) => {
        const told_so = told.columns[name][part], is_list = Array.isArray(told_so);
        for (let at = from; at < to; at++) made[at][name] = is_list ? told_so[at - from] : told_so;
      });
    }
    return is_brief(there) ? briefly(made, one.cut) : made;
  };
  // What differs between two pictures of as many rows, as changes of the rows that a view has; null
  // where they have to be replaced, such as the last row: Vega knows its size only by a new one.
  const changes = (view, before, one) => {
    const cuts = cuts_of(one);
    if (before.n !== one.n || !same(cuts_of(before), cuts)) return null;
    const was = columns_of(before), will = columns_of(one), made = view.data("source");
    const set = window.attentionVega.changeset();
    for (const name of new Set([...Object.keys(was), ...Object.keys(will)])) {
      const from = was[name], to = will[name];
      for (let which = 0, at = 0; which < cuts.length; which++) {
        const end = at + cuts[which], part = to && (to[which] ?? to[0]);
        if (part === (from && (from[which] ?? from[0])) || (!from && !to)) { at = end; continue; }
        const told_so = to ? told.columns[name][part] : null, is_list = Array.isArray(told_so);
        for (let place = 0; at < end; at++, place++) {
          const value = is_list ? told_so[place] : told_so;
          if (made[at][name] === value) continue;
          if (!one.chart && at === one.n - 1) return null;
          set.modify(made[at], name, value);
        }
      }
    }
    return set;
  };
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const drawing = new Map();
  let drawing_now = 0;
  const draw = (there) => {
    drawing_now++;
    const after = (drawing.get(there) ?? Promise.resolve()).then(() => drawn(there)).finally(() => { drawing_now--; });
    drawing.set(there, after);
    return after;
  };
  const drawn = async (there) => {
    late.delete(there);
    if (!there.isConnected) return;
    const place = Number(there.dataset.picture), one = told.pictures[place];
    const made = views.get(there), now = theme(), less = is_brief(there);
    if (made?.place === place && made.theme === now && made.less === less) return;
    if (!one.chart) there.classList.toggle("is-brief", less);
    await ready();
    if (!there.isConnected) return;
    if (made && made.theme === now && made.one[now] === one[now] && made.one.canvas === one.canvas) {
      // The view stands: it is given other rows.
      const set = less || made.less ? null : changes(made.view, made.one, one);
      if (set) made.view.change("source", set); else made.view.data("source", rows(one, there));
      if (made.less !== less) made.view.signal("height", there.querySelector(".drawn").clientHeight);
      Object.assign(made, { one, place, less });
      if (there.dataset.carries) made.view.signal("step_at", stands_at(there));
      await made.view.runAsync();
      close_cell(there);
      return;
    }
    const view = await in_turn(() => {
      made?.view.finalize();
      return view_in(there, one, rows(one, there));
    });
    views.set(there, { view, one, place, theme: now, less });
    there.dataset.drawn = "now";
    if (there.dataset.chooses) {
      const [of_head, of_token] = JSON.parse(there.dataset.chooses);
      view.addSignalListener("head", (_, head) => {
        if (head.id) set({ [of_head]: String(head.id[0]), ...(head.token ? { [of_token]: String(head.token[0]) } : {}) });
      });
    }
    if (one.chart) return;
    view.addSignalListener("cell", (_, cell) => cell.m && clicked(there, cell));
    way_in(there);
  };
  // Views are made one after the other, and the first is seen before the next begins.
  let turns = Promise.resolve(), is_printed = false;
  const in_turn = (what) => {
    if (is_printed) return what();
    const mine = turns.then(what);
    turns = mine.catch(() => {}).then(() => new Promise((done) => setTimeout(done)));
    return mine;
  };
  const tooltips = {};
  const view_in = async (there, one, values) => {
    const { View, parse, expressionInterpreter: expr, Handler } = window.attentionVega, now = theme();
    const spec = structuredClone(told.specs[one[now]]);
    for (const each of spec.signals ?? []) {
      if (each.bind?.element) each.bind.element = room_of(there, each.bind.element);
      if (each.name === "step_at" && there.dataset.carries) each.value = stands_at(there);
    }
    const room = one.chart ? there : there.querySelector(".drawn");
    room.classList.add("vega-embed");
    const strict = told.strict ? { expr } : {};
    const view = new View(parse(spec, {}, { ast: Boolean(told.strict) }), { renderer: one.canvas ? "canvas" : "svg", ...strict });
    view.tooltip((tooltips[now] ??= new Handler({ theme: now })).call);
    await view.data("source", values).initialize(room).runAsync();
    return view;
  };
  // Where the control of a picture is, or that of a chart, which Vega puts there.
  const room_of = (there, asked = "") => {
    const card = there.closest(".piece") ?? document;
    const name = there.dataset.carries ? there.dataset.name : String(asked).match(/moves_(\w+)/)?.[1] ?? "";
    let room = card.querySelector(`.moves[data-moves="${CSS.escape(name)}"]`);
    if (!room) {
      room = make("div", { className: "moves" });
      room.dataset.moves = name;
      let beside = there.previousElementSibling;
      if (!beside?.classList.contains("rooms")) there.before(beside = make("div", { className: "row rooms" }));
      beside.append(room);
    }
    if (asked) room.replaceChildren();
    room.id ||= `room_${n_controls++}`;
    return `#${room.id}`;
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    [...views.keys()].filter((each) => each.dataset.picture).forEach((each) => draw(each)));
  phone.addEventListener("change", () => [...views.keys()].filter((each) => each.dataset.picture).forEach(draw));
  addEventListener("beforeprint", () => { is_printed = true; all_at_once(); });
  addEventListener("afterprint", () => { is_printed = false; });

  // --- a cell, taken apart -----------------------------------------------------------------------
  const clicked = (there, cell) => {
    const [m, l, i, j] = ["m", "l", "i", "j"].map((each) => cell[each][0]);
    const { one } = views.get(there), sizes = rows(one).at(-1);
    const name = String(sizes.text).split("|")[m];
    if (name !== undefined) open_cell(there, [[name, [l, i, j]]]);
  };
  const box_of = (there) => there.nextElementSibling?.classList.contains("cell") ? there.nextElementSibling : null;
  const close_cell = (there) => box_of(there)?.replaceChildren();
  const way_in = (there) => {
    if (there.querySelector(":scope > .keys")) return;
    const keys = make("div", { className: "keys" });
    if (told.pictures[there.dataset.picture].cut) {
      const more = button("Show all", () => {
        if (!wholes.delete(there.dataset.name)) wholes.add(there.dataset.name);
        more.textContent = wholes.has(there.dataset.name) ? "Show less" : "Show all";
        draw(there);
      }, "plain all-of");
      keys.append(more);
    }
    if (there.dataset.first) {
      keys.append(button("Take a cell apart", () => {
        // After a move there is none: then it is said why.
        const [name, at] = there.dataset.first?.split("|") ?? ["", ""];
        open_cell(there, [[name, at.split(",").map(Number)]], true);
      }));
    }
    const save = button("Save picture", () => {
      save.replaceWith(...kinds);
      kinds[0].focus();
    });
    const kinds = ["png", "svg"].map((kind) => button(kind.toUpperCase(), async () => {
      const dark = theme() === "dark", heading = there.closest(".piece")?.querySelector("h2, h3")?.textContent;
      const title = [document.title.split(" · ")[0], heading].filter(Boolean).join(": ");
      const colours = { dark, ink: dark ? "#ffffff" : "#000000", ground: dark ? "#16191D" : "#FCFBF8" };
      await window.attentionSavePicture({ data: { press: {}, drawn: there.querySelector(".drawn .marks"), kind, title,
        name: `${told.lesson}_${there.dataset.name}`, ...colours } });
      kinds[0].replaceWith(save);
      kinds[1].remove();
      save.focus();
    }));
    keys.append(save);
    there.append(keys);
  };
  const at_base = (there) => {
    const name = there.dataset.carries;
    const { one } = views.get(there);
    return Object.keys(one.cells).length && !(name && name in chosen);
  };
  const open_cell = (there, trail, focus = false) => {
    const box = box_of(there), { one } = views.get(there);
    if (!box) return;
    let [name, index] = trail.at(-1);
    const place = one.cells[name], step = told.cells[place];
    const close = make("button", { type: "button", className: "plain", textContent: "Close" });
    close.onclick = () => box.replaceChildren();
    if (!step || !at_base(there)) {
      const names = Object.keys(chosen).filter((each) => each !== "predict");
      const why = names.length ? `A cell can be taken apart only where the page opened: with ${bases_of(names)}.`
        : `${name || "This picture"} has too many cells for a file to explain each of them.`;
      const back = names.length ? [button("Go back there", () => {
        for (const each of names) delete chosen[each];
        put();
      }, "boxed")] : [];
      box.replaceChildren(make("div", { className: "trail" }, make("p", { textContent: why }), ...back, close));
      if (focus) close.focus({ preventScroll: true });
      if (box.getBoundingClientRect().top > innerHeight - 120) box.scrollIntoView({ block: "nearest" });
      return;
    }
    index = index.slice(-step.shape.length);
    const at = index.reduce((so_far, each, axis) => so_far * step.shape[axis] + each, 0);
    const head = make("div", { className: "trail" });
    trail.forEach(([each, where], which) => {
      const label = `${each}[${where.slice(-told.cells[one.cells[each]].shape.length).join(", ")}]`;
      if (which === trail.length - 1) head.append(make("b", {}, make("code", { textContent: label })));
      else {
        const back = make("button", { type: "button", className: "plain", textContent: label });
        back.onclick = () => open_cell(there, trail.slice(0, which + 1), true);
        head.append(back, "›");
      }
    });
    head.append(close);
    const sliders = make("div", { className: "row" }, ...step.axes.flatMap((axis, which) => {
      if (step.shape[which] < 2) return [];
      const input = make("input", { type: "range", min: 0, max: step.shape[which] - 1, step: 1, value: index[which] });
      input.oninput = () => {
        open_cell(there, [[name, index.map((each, other) => other === which ? Number(input.value) : each)]]);
        all(".row input", box)[[...step.axes.keys()].filter((each) => step.shape[each] > 1).indexOf(which)]?.focus();
      };
      return [make("label", { className: "control slider" }, make("span", { textContent: axis }),
        make("output", { textContent: index[which] }), input)];
    }));
    const body = [];
    if (step.given !== undefined) {
      body.push(make("p", { innerHTML: `= ${step.given.split(" ")[at]}` }), make("p", { className: "caption", innerHTML: step.words }));
    } else {
      const line = step.cells.split("\n")[at];
      if (line === "-") body.push(make("p", { textContent: "Answer the question above first." }));
      else {
        const [which, said, ...rest] = line.split(" ");
        const numbers = rest.filter((each) => each[0] !== "@"), groups = rest.filter((each) => each[0] === "@");
        let n = 0;
        const equation = step.made[which].replace(/<mn>777[78]<\/mn>/g, () => {
          const number = numbers[n++];
          return number === "+" ? "<mo>+</mo>" : number === "-" ? "<mo>−</mo>" : `<mn>${number.replace("-", "−")}</mn>`;
        });
        body.push(make("div", { className: "formula", tabIndex: 0, innerHTML: equation }),
          make("div", { innerHTML: step.said[said] }), make("p", { className: "caption", innerHTML: step.words }));
        for (const each of groups) {
          const [from, where] = each.slice(1, -1).split("[");
          const go = make("button", { type: "button", className: "boxed" }, "From ", make("code", { textContent: each.slice(1).replaceAll(",", ", ") }));
          go.disabled = one.cells[from] === undefined;
          go.onclick = () => open_cell(there, [...trail, [from, where.split(",").map((one) => one === ":" ? 0 : Number(one))]], true);
          body.push(go, " ");
        }
      }
    }
    box.replaceChildren(head, sliders, ...body);
    box.onkeydown = (event) => {
      if (event.key !== "Escape") return;
      box.replaceChildren();
      there.querySelector(".keys button")?.focus();
    };
    if (focus) close.focus({ preventScroll: true });
    if (box.getBoundingClientRect().top > innerHeight - 120) box.scrollIntoView({ block: "nearest" });
  };

  // --- questions ---------------------------------------------------------------------------------
  const judged = (asked, guess) => {
    if (asked.verdicts) {
      const found = asked.verdicts[guess.join(",")];
      if (found === undefined) return { right: false, words: asked.answer };
      const [right, words] = asked.said[found];
      return { right, words };
    }
    if (asked.kind === "shape") {
      const sizes = asked.truth.map(([, size]) => size), shape = asked.truth.map((each) => each.join(" ")).join(" × ");
      if (same(guess, sizes)) return { right: true, words: `Right: ${shape}.` };
      const sorted = (each) => [...each].sort((one, other) => one - other);
      if (same(sorted(guess), sorted(sizes))) return { right: false, words: `It is ${shape}: the numbers are right, their order is not.` };
      const off = asked.sides.map((side, at) => [side, sizes[at], guess[at]]).filter(([, size, given]) => size !== given)
        .map(([side, size, given]) => `${side.toLowerCase()} ${size} instead of ${given}`);
      return { right: false, words: `It is ${shape}: ${off.join(" and ")}.` };
    }
    const far = (row) => row.reduce((sum, each, at) => sum + Math.abs(each - asked.truth[at]), 0) / 2;
    const off = far(guess), n = guess.length, percent = (share) => `${(100 * share).toFixed(0)}%`;
    const compared = new Set(guess).size > 1 ? `; with all bars equal it would be ${percent(far(Array(n).fill(1 / n)))}` : "";
    return { right: off <= asked.close, distance: off, words: `${percent(off)} of your weight would have to move to other keys${compared}.`
      + ` This share is called the total variation distance: ${off.toFixed(4)}.` };
  };
  const awaited = new Map();
  const bars = (there, place, guess) => {
    const one = told.pictures[place], values = rows(one), made = views.get(there);
    guess.forEach((each, at) => Object.assign(values[at], { value: each, text: each.toFixed(2) }));
    if (made && made.theme === theme() && made.one[made.theme] === one[made.theme]) {
      made.view.data("source", values).runAsync();
      return;
    }
    const is_awaited = awaited.has(there);
    awaited.set(there, [one, values]);
    if (is_awaited) return;
    new Promise(idle).then(ready).then(async () => {
      const [one, values] = awaited.get(there);
      awaited.delete(there);
      forget(there);
      if (there.isConnected) views.set(there, { view: await view_in(there, one, values), theme: theme(), one, place: -1 });
    });
  };
  const answer = (name, asked, guess) => {
    const verdict = guess === null ? null : judged(asked, guess);
    done.answered[name] = { fingerprint: asked.fingerprint, guess, right: verdict?.right ?? null, words: verdict?.words ?? "", distance: verdict?.distance };
    done.first[`${name} ${asked.fingerprint}`] ??= verdict === null ? "shown" : verdict.right ? "right" : "wrong";
    if (done.again.length && !done.again.some((each) => each.split(" ")[0] === name)) {
      done.again.push(`${name} ${verdict?.right ? "right" : "wrong"}`);
    }
    keep();
    come_back();
    put();
  };
  const first_open = () => Object.keys(told.asks).find(is_open);
  const button = (textContent, onclick, className = "plain") => make("button", { type: "button", textContent, onclick, className });
  const ask = (there) => {
    const name = there.dataset.ask, asked = question_of(name), given = done.answered[name];
    const passed = asked && !given && !asked.again && done.passed.includes(name);
    const signature = asked && JSON.stringify([asked.fingerprint, asked.words, asked.asked, given ?? null, passed, !given && first_open() === name]);
    if (there.dataset.built === String(signature)) return;
    there.dataset.built = String(signature);
    const stood = there.querySelector(".chart");  // of a question about other numbers
    const chart_of = ({ width }) => Object.assign(stood ?? make("div"), { className: "chart", style: `--width:${width}px` });
    there.replaceChildren();
    if (stood && (!asked || asked.kind !== "row")) forget(stood);
    there.hidden = !asked;
    if (!asked) return;
    if (given) {
      there.append(make("p", { className: "caption", innerHTML: asked.words }));
      if (asked.asked) there.append(make("p", { className: "text caption", textContent: asked.asked }));
      const said = make("div", { className: "said", role: "status" });
      if (given.right === null) said.innerHTML = `${asked.answer} ${asked.teaches}`;
      else if (given.fingerprint !== asked.fingerprint) said.textContent = "The numbers have changed since your guess.";
      else {
        const begins = !given.right && given.distance === undefined ? "Not quite. " : "";
        said.innerHTML = `<span class="${given.right ? "green" : "orange"}">${given.right ? "✓" : "→"}</span> ${begins}${given.words} ${asked.teaches}`;
      }
      there.append(said);
      if (asked.kind === "row" && given.guess && given.fingerprint === asked.fingerprint) {
        const chart = chart_of(asked);
        there.append(chart);
        bars(chart, asked.both, given.guess);
      }
      there.append(button(given.right === null ? "Guess after all" : "Guess again", () => {
        delete done.answered[name];
        done.passed = done.passed.filter((each) => each !== name);
        keep();
        put();
      }));
      return;
    }
    const before = passed ? "" : "<strong>Predict first.</strong> ";
    there.append(make("p", { className: "lead", innerHTML: before + asked.words }));
    if (asked.asked) there.append(make("p", { className: "text", textContent: asked.asked }));
    if (passed) {
      there.append(make("div", { className: "said", innerHTML: `${asked.answer} ${asked.teaches}` }), button("Guess after all", () => {
        done.passed = done.passed.filter((each) => each !== name);
        keep();
        put();
      }));
      return;
    }
    const missing = make("p", { className: "orange", role: "status" });
    const ways = make("div", { className: `ways ${asked.kind}` });
    const check = (guess) => button("Check", () => {
      const made = guess();
      if (made === null) missing.innerHTML = `ⓘ ${asked.missing}`; else answer(name, asked, made);
    }, "main");
    if (asked.kind === "buttons" || asked.kind === "lines") {
      ways.append(...asked.choices.map((words, at) => button(words, () => answer(name, asked, [at]), "boxed")));
    } else if (asked.kind === "list") {
      const pick = make("select", { ariaLabel: "Your guess" }, make("option", { value: "", textContent: "Choose one" }),
        ...asked.choices.map((words, value) => make("option", { value, textContent: words })));
      ways.append(pick, check(() => pick.value === "" ? null : [Number(pick.value)]));
    } else if (asked.kind === "several") {
      const boxes = asked.choices.map((words) => make("label", {}, make("input", { type: "checkbox" }), make("span", { textContent: words })));
      ways.append(make("div", { className: "boxes", role: "group", ariaLabel: "Your guess" }, ...boxes), check(() => {
        const picked = boxes.flatMap((each, at) => each.firstChild.checked ? [at] : []);
        const real = picked.filter((each) => each < asked.choices.length - 1);
        return !picked.length || (real.length && real.length < picked.length) ? null : real;
      }));
    } else if (asked.kind === "shape") {
      const sides = asked.sides.map((side) => make("label", {}, make("span", { textContent: side }),
        make("input", { type: "number", min: 1, max: 9999, step: 1 })));
      ways.append(...sides, check(() => {
        const sizes = sides.map((each) => each.querySelector("input").value);
        return sizes.some((each) => !/^[0-9]+$/.test(each)) ? null : sizes.map(Number);
      }));
    } else if (asked.kind === "row") {
      const sliders = asked.names.map((words, at) => make("label", {}, make("span", { textContent: words }),
        make("input", { type: "range", min: 0, max: 1, step: 0.05, value: 0.5, ariaLabel: asked.labels[at] })));
      const chart = chart_of(asked);
      const shares = () => {
        const each = sliders.map((one) => Number(one.querySelector("input").value));
        const total = each.reduce((one, other) => one + other, 0);
        return total ? each.map((one) => one / total) : null;
      };
      const again = () => bars(chart, asked.alone, shares() ?? asked.names.map(() => 0));
      sliders.forEach((each) => { each.querySelector("input").oninput = again; });
      ways.append(make("div", { className: "beside-each-other" }, make("div", { className: "sliders" }, ...sliders,
        make("p", { className: "caption", textContent: "Only the ratios count: each bar is its slider's share of the total." })), chart), check(shares));
      again();
    }
    ways.append(button("Show me", () => answer(name, asked, null)));
    if (first_open() === name && told.controls.predict) ways.append(button("Show everything from now on", () => move("predict", "off")));
    there.append(ways, missing);
  };
  // Who goes on is shown the numbers: a while after the question has gone out above the window, or
  // soon at the end of the page. In its place is the answer, and a way to guess after all.
  const away = new Map();
  const pass = () => {
    const now = performance.now(), end = innerHeight + scrollY >= document.documentElement.scrollHeight - 4;
    for (const there of all(".ask")) {
      const name = there.dataset.ask, asked = question_of(name), box = there.closest(".piece")?.getBoundingClientRect();
      if (!is_open(name) || asked.again || !box || !box.height) { away.delete(name); continue; }
      const gone = box.bottom < 0 ? 4000 : end && scrollY > 0 && box.top < innerHeight ? 1000 : 0;
      if (!gone) { away.delete(name); continue; }
      if (!away.has(name)) away.set(name, now);
      else if (now - away.get(name) >= gone) { done.passed.push(name); away.delete(name); keep(); put(); }
    }
  };
  if (told.passes) setInterval(pass, 500);

  // --- what was done -----------------------------------------------------------------------------
  const summary = () => {
    const each = Object.values(done.first);
    const answered = Object.keys(told.asks).filter((name) => done.answered[name]);
    const brief = { given: Object.fromEntries(answered.map((name) => {
      const { fingerprint, guess } = done.answered[name];
      return [name, [fingerprint, guess]];
    })), passed: done.passed, first: done.first, again: done.again };
    // The first verdict on each question, whatever its numbers were.
    const first_of = (name) => Object.entries(done.first).find(([each]) => each.split(" ")[0] === name)?.[1];
    const right_of_all = Object.keys(told.asks).filter((name) => first_of(name) === "right").length;
    return { brief, lesson: told.lesson, questions: Object.keys(told.asks).length, answered: answered.length, right_of_all,
      tried: Object.keys(told.asks).filter(first_of).length,
      right: each.filter((one) => one === "right").length, guessed: each.filter((one) => one !== "shown").length, done };
  };
  // Whether a question could be guessed so, whatever the numbers are.
  const fits = (asked, guess) => guess === null || asked.verdicts !== undefined
    || guess.length === (asked.kind === "shape" ? asked.sides : asked.truth).length;
  const restore = ({ given, passed, first, again }) => {
    const asks = Object.entries(told.asks), known = (each) => each.split(" ")[0] in told.asks;
    done.passed = passed.filter(known);
    done.again = again.filter((each) => each === "begun" || known(each));
    done.first = Object.fromEntries(Object.entries(first).filter(([each]) => known(each)));
    done.answered = {};
    for (const [name, { states }] of asks) {
      if (!(name in given)) continue;
      const [fingerprint, guess] = given[name], every = Object.values(states).filter(Boolean);
      const asked = every.find((each) => each.fingerprint === fingerprint);
      if (!every.length || !fits(asked ?? every[0], guess)) continue;
      const verdict = guess === null ? null : asked ? judged(asked, guess) : { right: first[`${name} ${fingerprint}`] === "right", words: "" };
      done.answered[name] = { fingerprint, guess, right: verdict?.right ?? null, words: verdict?.words ?? "", distance: verdict?.distance };
    }
  };
  // In a site, a lesson all of whose questions are answered comes back, as one marked done does in
  // the app. Then its questions are asked once more; where all are right, it waits longer.
  const come_back = () => {
    const names = Object.keys(told.asks);
    if (!told.worker || !names.length || !names.every((name) => done.answered[name])) return;
    const box = answers.coming_back()[told.lesson]?.[0];
    if (box === undefined) answers.come_back(told.lesson, 0);
    else if (done.again.length) {
      const is_known = names.every((name) => done.again.includes(`${name} right`));
      answers.come_back(told.lesson, is_known ? Math.min(box + 1, answers.last) : 0);
      done.again = [];
      keep();
    }
  };
  const begin_again = () => {
    const wait = answers.coming_back()[told.lesson];
    if (!told.worker || location.hash !== "#again" || !wait || wait[1] > answers.day || done.again.length) return;
    Object.assign(done, { answered: {}, passed: [], again: ["begun"] });
  };
  const own_answers = () => {
    const there = document.getElementById("mine");
    if (!there || window.attentionReports || !Object.keys(told.asks).length) return;
    there.append(...answers.buttons(() => ({ [key]: summary().brief }), told.lesson, (found) => {
      const theirs = found.answers[key], others = Object.keys(found.answers);
      if (!theirs) {
        return others.some((each) => each.startsWith(`${told.lesson}.`))
          ? "These answers are for this lesson at other settings, so for other numbers. Nothing was changed."
          : "This file has no answers to this lesson. Nothing was changed.";
      }
      const before = Object.keys(done.answered).length;
      restore(answers.joined(summary().brief, theirs));
      keep();
      put();
      const n = Object.keys(done.answered).length - before;
      if (n) return `${n} ${n === 1 ? "answer" : "answers"} loaded.`;
      return Object.keys(theirs.given).some((name) => done.answered[name])
        ? "You already had all of these answers here." : "This file has no answers that fit the questions here. Nothing was changed.";
    }));
  };
  const tally = () => {
    const there = document.getElementById("tally"), { right, guessed } = summary();
    if (there) there.textContent = guessed ? `${right} of ${guessed} ${guessed === 1 ? "guess" : "guesses"} right the first time, ${window.attentionReports ? "reported to the course" : "kept in this browser alone"}.` : "";
  };

  // The address may name settings: page.html#window=3. The page says which of them it cannot have.
  const listed = (each) => each.length < 2 ? each.join("") : each.length > 12
    ? `${each.slice(0, 3).join(", ")} and so on up to ${each.at(-1)}` : `${each.slice(0, -1).join(", ")} or ${each.at(-1)}`;
  const by_address = () => {
    const wrong = [], names = Object.keys(told.controls);
    for (const [name, text] of location.hash.includes("=") ? new URLSearchParams(location.hash.slice(1)) : []) {
      const one = told.controls[name];
      if (one?.texts.includes(text)) { if (text !== one.base) { chosen[name] = text; last = name; } }
      else if (one) {
        const each = one.texts.map((value) => value === (one.words[value] ?? value) ? value : `${value} (${one.words[value]})`);
        wrong.push(`${name}=${text}. “${one.label || name}” can be ${listed(each)} here.`);
      } else {
        const picture = all(".picture[data-carries]").find((there) => there.dataset.carries === name);
        if (picture && read(picture.dataset.texts).includes(text)) turned[name] = text;
        else if (picture) wrong.push(`${name}=${text}. “${picture.dataset.controlLabel}” can be ${listed(read(picture.dataset.texts))} here.`);
        else wrong.push(`${name}=${text}. ${names.length ? `This file can set only ${listed(names)}` : "This file has no control to set"}.`);
      }
    }
    document.getElementById("not_applied")?.remove();
    if (wrong.length) document.querySelector("header").append(make("p", { id: "not_applied", className: "stays", role: "status",
      textContent: `Not applied: ${wrong.join(" ")}` }));
  };
  const show_anchor = () => {
    const there = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let each = there; each; each = each.parentElement) if (each.tagName === "DETAILS") each.open = true;
    there?.scrollIntoView();
  };
  addEventListener("hashchange", () => {
    if (!location.hash.includes("=")) { show_anchor(); return; }
    for (const each of Object.keys(chosen)) delete chosen[each];
    by_address();
    put();
  });
  // What a phone folds of a card.
  addEventListener("click", ({ target }) => {
    const row = target.closest?.(".unfold");
    if (row) row.ariaExpanded = String(row.parentElement.classList.toggle("whole"));
  });
  all(".piece").forEach(observe);
  const kept = window.attentionReports ? window.attentionStored?.[told.lesson] : answers.read(key);
  if (kept) restore(answers.understood(kept));
  begin_again();
  put();
  tell();
  own_answers();
  if (location.hash.includes("=")) { by_address(); put(); }
  else if (location.hash === "#again") document.querySelector(".ask:not([hidden])")?.scrollIntoView({ block: "center" });
  else if (location.hash) show_anchor();
  const later = () => {
    whole();
    const next = all("[data-picture]").find((each) => !views.has(each) && !drawing.has(each) && each.offsetParent);
    if (next) draw(next).then(() => setTimeout(later, 50));
  };
  setTimeout(later, 1500);
  // Of a site: all of it is there without the internet after the first visit.
  if (told.worker && "serviceWorker" in navigator) navigator.serviceWorker.register(told.worker).catch(() => {});
  window.attention = { told, views, chosen, done, move, summary, put, judged, whole, is_settled };
})();

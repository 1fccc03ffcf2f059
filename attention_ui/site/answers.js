// What was done in lessons: how a browser keeps it, and how it becomes a file and comes back from one.
// For a lesson at some settings, under a key such as `causal_mask.0f3a…`, it keeps `given`, by question:
// the numbers that it was about and the guess (null for somebody who asked to be shown); `passed`, the
// questions that were read past; and `first`, the first verdict by question and numbers. Nothing is
// sent anywhere.
window.attentionAnswers = (() => {
  const MOST = 1_000_000, KIND = "attention-explorer answers", BACK = "attention-explorer: coming back";
  const DAYS = [1, 3, 7, 16, 35]; // as in spaced_repetition.py
  const is_object = (one) => typeof one === "object" && one !== null && !Array.isArray(one);
  const pairs = (one) => is_object(one) ? Object.entries(one) : [];
  // A file may hold anything: only what can be understood is taken from it.
  const is_given = (one) => Array.isArray(one) && one.length === 2 && typeof one[0] === "string" && one[0].length < 64
    && (one[1] === null || (Array.isArray(one[1]) && one[1].length <= 64 && one[1].every(Number.isFinite)));
  const understood = (one) => ({
    given: Object.fromEntries(pairs(one?.given).filter(([, each]) => is_given(each))),
    passed: Array.isArray(one?.passed) ? one.passed.filter((each) => typeof each === "string") : [],
    first: Object.fromEntries(pairs(one?.first).filter(([, each]) => ["right", "wrong", "shown"].includes(each))),
    again: Array.isArray(one?.again) ? one.again.filter((each) => typeof each === "string") : [],
  });
  const waiting = (one) => Object.fromEntries(pairs(one).filter(([, each]) => Array.isArray(each) && each.length === 2
    && each[0] in DAYS && Number.isInteger(each[1]) && each[1] > 0 && each[1] < 100_000));
  const stored = (place) => { try { return JSON.parse(localStorage.getItem(place)); } catch { return null; } };
  const store = (place, one) => { try { localStorage.setItem(place, JSON.stringify(one)); return true; } catch { return false; } };
  const now = new Date(), day = Math.floor((now.getTime() - now.getTimezoneOffset() * 60_000) / 86_400_000);
  const read = (key) => { const found = stored(`attention.${key}`); return found && understood(found); };
  const write = (key, brief) => store(`attention.${key}`, brief);
  // What this browser has stays; what it lacks is added.
  const joined = (mine, theirs) => ({
    given: { ...theirs.given, ...mine?.given },
    passed: [...new Set([...(mine?.passed ?? []), ...theirs.passed])],
    first: { ...theirs.first, ...mine?.first },
    again: mine?.again ?? [],
  });
  const coming_back = () => waiting(stored(BACK));
  const come_back = (lesson, box, on = day + DAYS[box]) => store(BACK, { ...coming_back(), [lesson]: [box, on] });
  const save = (answers, name) => {
    const told = { kind: KIND, version: 1, answers, coming_back: coming_back() };
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(told, null, 1)], { type: "application/json" }));
    link.download = `${name}-answers.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  // The answers in a file, by their lessons. Throws why there are none, in words.
  const load = async (file) => {
    if (file.size > MOST) throw Error("This file is too large to hold answers: it was not read.");
    let told = null;
    try { told = JSON.parse(await file.text()); } catch { /* said below */ }
    if (told?.kind !== KIND) throw Error("This file was not made by “Save my answers”. Nothing was changed.");
    if (told.version !== 1) throw Error("A newer version of this page saved this file, so it was not read. Nothing was changed.");
    const answers = Object.fromEntries(pairs(told.answers).map(([key, one]) => [key, understood(one)]));
    return { answers, coming_back: waiting(told.coming_back) };
  };
  // Two buttons: `given` is what is saved under a name, `taken` what becomes of a file, in words.
  const buttons = (given, name, taken) => {
    const said = Object.assign(document.createElement("span"), { role: "status" });
    const out = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: "Save my answers" });
    out.onclick = () => save(given(), name);
    const pick = Object.assign(document.createElement("input"), { type: "file", accept: ".json,application/json", hidden: true });
    const back = Object.assign(document.createElement("button"), { type: "button", className: "plain", textContent: "Load answers" });
    back.onclick = () => pick.click();
    pick.onchange = async () => {
      const [file] = pick.files;
      if (file) said.textContent = await load(file).then(taken, (error) => error.message);
      pick.value = "";
    };
    return [out, back, pick, " ", said];
  };
  return { read, write, joined, coming_back, come_back, understood, buttons, day, last: DAYS.length - 1 };
})();

// Keeps in this browser alone which lessons were finished, and when their questions come again.
// Where nothing may be stored, nothing is, and nothing is said.
const PLACE = 'attention-explorer: coming back';
const MOST = 4000; // characters of it that are told

const stored = () => {
  try { return localStorage.getItem(PLACE) ?? ''; } catch { return ''; }
};
const day = () => {
  const now = new Date();
  return Math.floor((now.getTime() - now.getTimezoneOffset() * 60_000) / 86_400_000);
};

const keep = (changes) => {
  let kept = {};
  try { kept = JSON.parse(stored()); } catch { /* then begin anew */ }
  if (typeof kept !== 'object' || kept === null || Array.isArray(kept)) kept = {};
  for (const [lesson, change] of Object.entries(changes)) {
    if (change === null) delete kept[lesson];
    else kept[lesson] = [change[0], day() + change[1]];
  }
  try { localStorage.setItem(PLACE, JSON.stringify(kept)); } catch { /* not in this browser */ }
};

export default function ({ data, setTriggerValue }) {
  // All changes of the visit are given whenever the page is drawn anew: each is made once.
  const made = (window.changesMade ??= {});
  for (const change of data.changes.slice(made[data.visit] ?? 0)) keep(change);
  made[data.visit] = data.changes.length;
  const text = stored();
  if (data.asks && text && text.length <= MOST && (text !== data.text || day() !== data.day))
    setTriggerValue('kept', { text, day: day() });
}

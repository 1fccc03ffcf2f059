// Asks once a second for a short text that changes whenever the class has gone on. Then it has the
// class's part of the page drawn anew, and leaves the rest of the page alone.
const EVERY = 1000; // milliseconds
const UNSEEN = 5000; // of a tab that nobody looks at
const AGAIN = 4000; // before the server is told once more of what it has not shown yet

export default function ({ data, setTriggerValue }) {
  if (data.leaves) {
    fetch('class/leave', { method: 'POST', credentials: 'same-origin' })
      .then(() => location.reload());
    return;
  }
  let region = document.getElementById('class_heard');
  if (!region) {
    region = Object.assign(document.createElement('div'), { id: 'class_heard', role: 'status' });
    region.style.cssText = 'position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)';
    document.body.append(region);
  }
  if (region.textContent !== data.heard) region.textContent = data.heard;
  let timer, told = '', since = 0, ended = false;
  const isConnected = () => document.querySelector('[data-testid=stApp]')
    ?.dataset.testConnectionState === 'CONNECTED';
  const look = async () => {
    try {
      const answer = await fetch('class/now', { cache: 'no-store', credentials: 'same-origin' });
      const { pulse } = answer.ok ? await answer.json() : { pulse: data.pulse };
      const isNew = pulse !== data.pulse && isConnected();
      if (!ended && isNew && (pulse !== told || Date.now() - since > AGAIN)) {
        [told, since] = [pulse, Date.now()];
        setTriggerValue('changed', pulse);
      }
    } catch { /* offline, or the server is away: later */ }
    if (!ended) timer = setTimeout(look, document.hidden ? UNSEEN : EVERY);
  };
  // While the class is out of sight, a line at the lower edge calls learners back to it.
  const part = document.querySelector('.st-key-class');
  const sight = new IntersectionObserver((seen) => {
    document.documentElement.toggleAttribute('data-class-seen', seen.at(-1).isIntersecting);
  });
  if (part) sight.observe(part);
  const back = () => { if (!document.hidden) { clearTimeout(timer); look(); } };
  document.addEventListener('visibilitychange', back);
  timer = setTimeout(look, EVERY);
  return () => {
    ended = true;
    clearTimeout(timer);
    sight.disconnect();
    document.removeEventListener('visibilitychange', back);
  };
}

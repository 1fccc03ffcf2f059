() => {
  const find = (name) => [...document.querySelectorAll(`[data-testid=${name}]`)];
  const app = find('stApp')[0], main = find('stMainBlockContainer')[0], busy = [];
  if (!app) return ['loading'];
  if (app.dataset.testConnectionState !== 'CONNECTED') busy.push('connecting');
  const state = app.dataset.testScriptState;
  if (state !== 'notRunning') busy.push(`the script is ${state}`);
  const runs = window.testRuns, now = performance.now();
  // A server that is slow to begin would look like one that has finished; what it never answers,
  // such as what is asked for a part that is gone, is given up.
  if (runs && runs.asked > runs.began && now - runs.asked < 4000)
    busy.push('waiting for the server to run the script');
  if (runs && runs.began > runs.ended) busy.push('a run has not ended');
  // Not its innerText: many times a second, that would lay out all of the page anew.
  if (!main || !main.querySelector('h1, h2, input')) busy.push('nothing on the page');
  for (const name of ['stStatusWidget', 'stSkeleton', 'stAppSkeleton'])
    if (find(name).length) busy.push(name);
  const moves = ({ playState, timeline, effect }) => playState === 'running'
    && timeline === document.timeline && effect.getComputedTiming().endTime < Infinity;
  if (document.getAnimations().some(moves)) busy.push('something still glides or fades');
  const blank = (chart) => chart.checkVisibility() && !chart.querySelector('svg, canvas');
  if (find('stVegaLiteChart').some(blank)) busy.push('a chart is not drawn');
  return busy;
}

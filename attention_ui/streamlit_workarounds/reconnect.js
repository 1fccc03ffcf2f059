export default function ({ parentElement, setTriggerValue }) {
  const app = document.querySelector('[data-testid=stApp]');
  if (!app || !setTriggerValue) return;
  // As Streamlit's own widgets: what is moved now would be lost.
  const hold = (isHeld) => {
    for (const one of document.querySelectorAll('.vega-bind input')) one.disabled = isHeld;
  };
  let was = app.dataset.testConnectionState;
  const watch = new MutationObserver(() => {
    const now = app.dataset.testConnectionState;
    if (now === was) return;
    was = now;
    hold(now !== 'CONNECTED');
    if (now === 'CONNECTED') setTriggerValue('back', Date.now());
  });
  watch.observe(app, { attributes: true, attributeFilter: ['data-test-connection-state'] });
  return () => watch.disconnect();
}

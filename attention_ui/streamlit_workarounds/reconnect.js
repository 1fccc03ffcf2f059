export default function ({ parentElement, setTriggerValue }) {
  const app = document.querySelector('[data-testid=stApp]');
  if (!app || !setTriggerValue) return;
  let was = app.dataset.testConnectionState;
  const watch = new MutationObserver(() => {
    const now = app.dataset.testConnectionState;
    if (now === was) return;
    was = now;
    if (now === 'CONNECTED') setTriggerValue('back', Date.now());
  });
  watch.observe(app, { attributes: true, attributeFilter: ['data-test-connection-state'] });
  return () => watch.disconnect();
}

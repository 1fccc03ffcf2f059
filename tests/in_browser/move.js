async ([shown, place, room]) => {
  const input = document.querySelector(`.st-key-moves_${room} input`);
  const drawn = () => {
    const picture = document.querySelector(shown);
    return picture.toDataURL?.() ?? picture.outerHTML;
  };
  const last = drawn(), asked = window.testRuns.byHand;
  input.value = place;
  input.dispatchEvent(new Event('input', { bubbles: true }));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return [drawn() !== last, window.testRuns.byHand === asked];
}

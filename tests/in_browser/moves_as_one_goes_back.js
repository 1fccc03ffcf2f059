() => {
  const find = () => document.querySelector('.st-key-moves_scores input'), one = find();
  history.back();
  let at = 0;
  const again = setInterval(() => {
    if (find() !== one) return clearInterval(again);
    one.value = window.last = (at++ % 32) / 4 - 4;
    one.dispatchEvent(new Event('input', { bubbles: true }));
  }, 60);
}

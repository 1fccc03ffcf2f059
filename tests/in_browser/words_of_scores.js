() => {
  const drawn = document.querySelector('.st-key-drawn_scores svg.marks');
  const words = [...drawn.querySelectorAll('g:not(.numbers_marks) > text')].filter(
    (one) => one.textContent && !/rotate.-?[1-9]/.test(one.getAttribute('transform')));
  const at = (one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    return [left, right, top + 3, bottom - 3];
  };
  return [words.map(at), at(drawn)];
}

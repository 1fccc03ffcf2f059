async (places) => {
  const asked = testRuns.byHand;
  for (const [name, place] of Object.entries(places)) {
    const input = document.querySelector(`.st-key-moves_${name} input`);
    input.value = place;
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
  const marks = [...document.querySelectorAll('.st-key-fills_chart_of_write svg.marks path')];
  const data = marks.map((each) => each.__data__?.datum).filter((each) => each?.kind);
  const of = (kind) => data.filter((each) => each.kind === kind);
  const byRank = new Map(of('token').map((each) => [each.rank, each]));
  const kept = [...byRank.values()].sort((a, b) => a.rank - b.rank).filter((each) => each.n_m);
  const [rest] = of('rest'), [number] = of('number');
  return {
    asked: testRuns.byHand === asked, drawn: number.drawn,
    kept: [number.all_n_k, number.all_n_p, number.all_n_m],
    rest: rest ? rest.s_m / rest.all_s_m : 0,
    shares: kept.map((each) => each.s_m / each.all_s_m),
  };
}

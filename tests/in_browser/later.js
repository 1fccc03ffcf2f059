(() => { const Real = Date, later = DAYS * 86_400_000;
window.Date = class extends Real {
  constructor(...given) { given.length ? super(...given) : super(Real.now() + later); }
  static now() { return Real.now() + later; }
}; })()

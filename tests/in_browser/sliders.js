() => [...document.querySelectorAll('[data-testid=stMain] [class*=st-key-moves_]')]
  .filter((one) => one.checkVisibility() && one.querySelector('.vega-bind input[type=range]'))
  .map((one) => [one, one.querySelector('input')])
  .map(([one, { value, min, max }]) => [
    [...one.classList].find((name) => name.startsWith('st-key-moves_')).slice(13),
    +min + (max - min) * (2 * value > +min + +max ? 0.25 : 0.75),
    one.closest('[class*=st-key-card_]')?.className.match(/st-key-card_([a-z_]+)/)[1]])
  .map(([room, place, card]) => [
    document.querySelector(`.st-key-drawn_${room}`) ? room : card, place, room])

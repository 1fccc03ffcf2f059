// The cards that show question marks of a question that nobody has answered or gone on from.
() => [...document.querySelectorAll('[data-testid=stMain] svg.marks text')]
  .filter((one) => one.textContent === '?')
  .map((one) => one.closest('[class*=st-key-card_]')?.className.match(/st-key-(card_\w+)/)?.[1] ?? 'no card')

() => {
  const cards = [...document.querySelectorAll('[class*=st-key-card_]')]
    .filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect());
  const pictures = [...document.querySelectorAll('.marks')].map((each) => {
    const [picture, card] = [each, each.closest('[class*=st-key-card_]')]
      .map((one) => one?.getBoundingClientRect());
    return card && (picture.bottom > card.bottom + 1 || picture.right > card.right + 1);
  });
  return [cards.length, pictures.filter(Boolean).length,
    cards.filter((card, at) => at && card.top < cards[at - 1].bottom - 1).length];
}

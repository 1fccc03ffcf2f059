() => {
  const main = document.querySelector('[data-testid=stMain]');
  window.testPlaces = [main.scrollTop];
  main.addEventListener('scroll', () => testPlaces.push(main.scrollTop));
}

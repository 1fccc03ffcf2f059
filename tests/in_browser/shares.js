() => [...document.querySelectorAll('.st-key-drawn_layer svg text')]
.map((one) => one.textContent).filter((text) => /^\d+%$/.test(text))

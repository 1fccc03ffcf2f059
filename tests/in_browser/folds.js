() => [...document.querySelectorAll('.st-key-contents details')]
.map((each) => [each.querySelector('summary').innerText.split('\n').at(-1), each.open])

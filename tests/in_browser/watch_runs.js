(() => {
  const runs = window.testRuns = { asked: 0, byHand: 0, began: 0, ended: 0 };
  const called = (one) => `<${one.tagName.toLowerCase()}> “${one.ariaLabel ?? one.id}”`;
  addEventListener('keydown', ({ key, target }) => {
    runs.pressed = `${key} on ${called(target)} at ${Math.round(performance.now())}`;
  }, true);
  runs.told = () => [
    `the keyboard is on ${called(document.activeElement ?? document.body)}`,
    `last pressed: ${runs.pressed}`,
    `last run asked by: ${runs.said}`,
    ...['asked', 'began', 'ended'].map((what) => `last run ${what} at ${Math.round(runs[what])}`),
    `now it is ${Math.round(performance.now())} ms after the page was opened`,
  ];
  const fields = (bytes) => {  // of a protobuf message: by their numbers, their values or lengths
    const found = new Map();
    let at = 0;
    const number = () => {
      let value = 0, shift = 1, byte;
      do { byte = bytes[at++]; value += (byte & 127) * shift; shift *= 128; } while (byte & 128);
      return value;
    };
    while (at < bytes.length) {
      const tag = number();
      const size = tag % 8 === 1 ? 8 : tag % 8 === 5 ? 4 : number();
      found.set(Math.floor(tag / 8), size);
      if (tag % 8 !== 0) at += size;
    }
    return found;
  };
  const heard = ({ data }) => {
    if (!(data instanceof ArrayBuffer)) return;
    const found = fields(new Uint8Array(data));
    if (found.has(NEW_SESSION)) runs.began = performance.now();
    // What ended early to run again has not ended: a busy server may take its time in between.
    if (found.has(SCRIPT_FINISHED) && found.get(SCRIPT_FINISHED) !== EARLY_FOR_RERUN)
      runs.ended = performance.now();
  };
  const send = WebSocket.prototype.send;
  WebSocket.prototype.send = function (message) {
    if (!this.isHeard) this.addEventListener('message', heard);
    this.isHeard = true;
    const bytes = message?.byteLength ? new Uint8Array(message.buffer ?? message, message.byteOffset ?? 0) : [];
    if (bytes[0] === 0x5a) {
      runs.asked = performance.now();
      // What waits, and what is near, the page tells by itself, at any time.
      runs.said = /"event":"(\w+)/.exec(new TextDecoder('latin1').decode(bytes))?.[1] ?? 'no event';
      if (!['rest', 'near'].includes(runs.said)) runs.byHand = runs.asked;
    }
    return send.call(this, message);
  };
})()

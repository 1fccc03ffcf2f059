for (const name of ['getItem', 'setItem']) { const own = Storage.prototype[name];
Storage.prototype[name] = function (key, ...more) {
  if (key.startsWith('attention')) throw new DOMException('no', 'SecurityError');
  return own.call(this, key, ...more); }; }

// replay.js - plays the pictures of the run so far again, after its end.
// SPDX-License-Identifier: MIT

export class Replay {
  // go(i): shows picture i of the past, and returns false after the last one. changed(): called at the start and at the end.
  constructor(go, changed) {
    Object.assign(this, { go, changed, timer: 0 });
  }

  get playing() {
    return this.timer !== 0;
  }

  toggle() {
    if (this.playing) this.stop();
    else this.start();
  }

  start() {
    let i = 0;
    this.timer = setInterval(() => this.go(i++) || this.stop(), 1000 / 30);
    this.changed();
  }

  stop() {
    if (!this.playing) return;
    clearInterval(this.timer);
    this.timer = 0;
    this.changed();
  }
}

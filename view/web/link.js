// link.js - the connection to a run: credits, what is wanted, how fast the way is, and coming back after it was lost.
// The server sends a frame only against a credit, so a slow page gets fewer frames and never old ones.
// SPDX-License-Identifier: MIT
import { FrameReader } from "./wire.js";

const CLOSED = {
  1000: "The run is over. This is its last picture.",
  4401: "This link is not, or no longer, valid. Open the one that the run printed.",
  4429: "Eight viewers look at this run already. Close one, then reload this page.",
};

// The secret of the link: from the address, out of which it is taken at once, or from before a reload.
export function takeToken() {
  const given = /^#t=([0-9a-f]{32})$/.exec(location.hash);
  try {
    if (given) sessionStorage.setItem("token", given[1]);
    if (location.hash) history.replaceState(null, "", location.pathname);
    return given ? given[1] : sessionStorage.getItem("token") || "";
  } catch {
    return given ? given[1] : "";
  }
}

// How many bodies to ask for: all, if their bytes come in less than a fifteenth of a second.
export function fairShare(speed, total) {
  const coding = speed < 1e7 ? 2 : speed < 5e7 ? 1 : 0;
  const bytes = coding === 2 ? 2.5 : coding === 1 ? 3.5 : 7;
  const count = Math.min(total, 4e6, Math.max(20000, speed / 15 / bytes));
  return { count: Math.round(count), coding };
}

// How many frames may be on their way.
export function creditsFor(rate, trip) {
  return Math.min(8, Math.max(2, Math.ceil(1 + rate * trip / 1000)));
}

export class Link {
  constructor(token, on) {
    this.token = token;
    this.on = on;
    this.wanted = "";
    this.tries = 0;
    this.trip = 0;        // ms of a ping
    this.speed = 0;       // bytes a second, measured when a picture came at once
    this.bytes = 0;       // of all frames
    this.open();
    setInterval(() => this.send({ type: "ping", id: Math.round(performance.now()) }), 5000);
  }

  open() {
    this.socket = new WebSocket("ws://" + location.host + "/live", ["stdcl-view.1", "token." + this.token]);
    this.socket.binaryType = "arraybuffer";
    this.reader = new FrameReader();
    this.queue = Promise.resolve();
    this.asked = 0;
    this.onWay = 0;
    this.socket.onmessage = ({ data }) => typeof data === "string" ? this.text(JSON.parse(data)) : this.binary(data);
    this.socket.onclose = ({ code }) => this.lost(code);
  }

  text(message) {
    if (message.type === "pong") this.trip = performance.now() - message.id;
    else if (message.type === "hello") {
      this.tries = 0;
      this.rate = message.rate || 30;
      this.on.trouble("");
      this.on.hello(message);
      if (this.wanted) this.send(JSON.parse(this.wanted));
      this.send({ type: "ping", id: Math.round(performance.now()) });
      this.asked = performance.now();
      this.grant(2);
    } else this.on.text(message);
  }

  binary(data) {
    this.onWay--;
    this.bytes += data.byteLength;
    const picture = new DataView(data).getUint8(0) < 5;
    if (this.asked && picture) { // what was just asked for came without waiting for a step
      const took = Math.max(0.5, performance.now() - this.asked - this.trip);
      if (data.byteLength > 20000 || took < 50) this.speed = Math.max(this.speed * 0.5, data.byteLength / took * 1000);
      this.asked = 0;
    }
    const { reader, socket } = this;
    this.queue = this.queue.then(() => reader.read(new Uint8Array(data))).then(
      (frame) => socket === this.socket && this.on.frame(frame),
      (error) => {
        this.on.text({ type: "say", level: "warning", text: "A frame could not be read: " + error.message + "." });
        this.drawn();
      });
  }

  // A frame was drawn: the next may come.
  drawn() {
    this.grant(creditsFor(this.rate, this.trip) - this.onWay);
  }

  grant(n) {
    if (n < 1 || !this.send({ type: "credit", n })) return;
    this.onWay += n;
  }

  // What to show from now on; the same again is not sent.
  want(what) {
    const text = JSON.stringify({ type: "want", ...what });
    if (text === this.wanted) return;
    this.wanted = text;
    if (this.send(JSON.parse(text)) && this.onWay > 0) this.asked = performance.now();
  }

  act(what, more = {}) {
    this.send({ type: "do", what, ...more });
  }

  send(message) {
    if (this.socket.readyState !== 1) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  lost(code) {
    const text = CLOSED[code] || [1009, 4400].includes(code) && "The run did not understand this page. Reload it.";
    if (text) {
      this.on.trouble(text, true);
      return;
    }
    const wait = [500, 1000, 2000, 4000, 5000][Math.min(4, this.tries++)];
    this.on.trouble("The connection was lost. Trying again …");
    setTimeout(() => this.open(), wait);
  }
}

// link.js - the connection to a run: credits, requests, bandwidth, reconnection. The server sends
// a frame only against a credit, so a slow page gets fewer frames and never old ones.
// SPDX-License-Identifier: MIT
import { openWay, sendOver } from "./connect.js";
import { FrameReader } from "./wire.js";

const CLOSED = {
  4401: "This link is not, or no longer, valid. Open the one that the run printed.",
  4429: "Eight look at this run already. Close one, and reload.",
};

// Number of bodies that fit into a number of bytes, and their encoding.
export function fairShare(bytes, total) {
  if (7 * total <= bytes) return { count: total, coding: 0 };
  const coding = bytes < 1.5e6 ? 2 : bytes < 6e6 ? 1 : 0;
  return { count: Math.min(total, Math.round(bytes / [7, 3.5, 2.5][coding])), coding };
}

// Adjust the size of a frame in bytes: smaller when pings were answered late, because they queued
// after frames; larger while they are not late and some frames of this size have arrived. 40,000
// bodies are worth some latency, because motion between frames hides it. most: a size that was too
// large a moment ago is not tried again at once.
export function nextBytes(bytes, late, frames, most = 3e7) {
  const least = late > 600 ? 6e4 : 1e5;
  if (late > 100 && bytes > least) return Math.max(least, bytes * 0.6);
  return late < (bytes < 1e5 ? 200 : 40) && frames > 3 ? Math.max(bytes, Math.min(most, bytes < 1e5 ? 1e5 : bytes * 2)) : bytes;
}

// Number of frames in flight.
export function creditsFor(rate, trip) {
  return Math.min(8, Math.floor(2 + rate * trip / 1000));
}

export class Link {
  constructor({ token, socket }, on) {
    this.token = token;
    this.on = on;
    this.tries = 0;
    this.bytes = 3e5; // size limit of a frame
    this.take(socket);
    setInterval(() => this.measure(), 500);
  }

  take(socket) {
    this.socket = socket;
    this.reader = new FrameReader();
    this.queue = Promise.resolve();
    this.onWay = 2;
    this.frames = this.late = this.pinged = 0;
    this.socket.onmessage = ({ data }) => typeof data === "string" ? this.text(JSON.parse(data)) : this.binary(data);
    this.socket.onclose = ({ code }) => this.lost(code);
  }

  text(message) {
    if (message.type === "pong") {
      const took = performance.now() - message.id;
      this.trip = Math.min(this.trip, took);
      this.late = Math.max(this.late, took - this.trip);
      this.pinged = 0;
    } else if (message.type === "hello") {
      this.tries = 0;
      this.trip = this.socket.trip; // round-trip time of the fastest answer, ms
      this.rate = message.rate || 30;
      this.on.trouble("");
      this.wanted = "";
      this.on.hello(message); // sends the request
      this.on.ready();
    } else this.on.text(message);
  }

  binary(data) {
    this.onWay--;
    this.frames++;
    const { reader, socket } = this;
    this.queue = this.queue.then(() => reader.read(new Uint8Array(data))).then(
      (frame) => socket === this.socket && this.on.frame(frame),
      (error) => {
        this.on.text({ type: "say", level: "warning", text: "A frame could not be read: " + error.message + "." });
        this.drawn();
      });
  }

  // Twice a second: keep one ping in flight and react to the last answers.
  measure() {
    const now = performance.now(), late = Math.max(this.late, this.pinged ? now - this.pinged - this.trip : 0);
    const bytes = nextBytes(this.bytes, late, this.frames, now < this.lessUntil ? this.most : 3e7);
    if (bytes < this.bytes) [this.most, this.lessUntil] = [Math.max(1e5, 0.7 * this.bytes), now + 15000];
    this.late = 0;
    this.full = late > 100; // more frames in flight would only add latency
    if (!this.pinged && this.send({ type: "ping", id: Math.floor(now) })) this.pinged = now;
    if (bytes === this.bytes) return;
    this.bytes = bytes;
    this.frames = 0;
    this.on.share();
  }

  // A frame was drawn: grant a credit.
  drawn() {
    this.grant((this.full ? 2 : creditsFor(this.rate, this.trip)) - this.onWay);
  }

  grant(n) {
    if (n > 0 && this.send({ type: "credit", n })) this.onWay += n;
  }

  // Request what to show from now on; an unchanged request is not sent.
  want(what) {
    const text = JSON.stringify(what);
    if (text === this.wanted) return;
    this.wanted = text;
    this.send({ type: "want", ...what });
  }

  act(what, more = {}) {
    this.send({ type: "do", what, ...more });
  }

  send(message) {
    return sendOver(this.socket, message);
  }

  lost(code) {
    if (code === 1000) {
      this.on.over();
      return;
    }
    const text = CLOSED[code] || [1009, 4400].includes(code) && "The run did not understand this page. Reload it.";
    if (text) {
      this.on.trouble(text, true);
      return;
    }
    this.on.trouble(code === 1012 ? "The run begins again …" : "The connection was lost. Trying again …");
    setTimeout(() => this.take(openWay(this.token)), Math.min(5000, 500 * 2 ** this.tries++));
  }
}

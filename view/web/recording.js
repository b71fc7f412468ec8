// recording.js - the pictures of a .view file, each by its number. Pure: runs in Node too.
// A picture may build on those before it, back to one that builds on none; a file that was cut ends where it was cut.
// SPDX-License-Identifier: MIT
import { FrameReader, readHead } from "./wire.js";

const MAGIC = "STDCLVW1";

// The bytes of text in base64, in pieces, as a page without a server holds them.
export function fromBase64(texts) {
  const parts = texts.map((text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)));
  const whole = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  parts.reduce((at, p) => (whole.set(p, at), at + p.length), 0);
  return whole;
}

export class Recording {
  constructor(bytes) {
    this.bytes = bytes;
    this.pictures = [];
    this.rows = [];
    this.said = [];
    this.profiles = []; // distributions, each with the number of pictures before it
    this.hello = null;
    this.reader = new FrameReader();
    this.next = 0; // the picture that the reader can read without going back
    if (bytes.length < 8 || String.fromCharCode(...bytes.subarray(0, 8)) !== MAGIC) throw new Error("this is not a recording of stdcl");
    this.findRecords();
    if (!this.hello) throw new Error("this recording ends before it begins: it has no description");
  }

  findRecords() {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length);
    for (let at = 8; at + 4 <= this.bytes.length;) {
      const from = at + 4, to = from + view.getUint32(at, true);
      if (to > this.bytes.length || to === from || this.bytes[from] === 0) break; // cut, or the index
      this.findRecord(from, to);
      at = to;
    }
  }

  findRecord(from, to) {
    const bytes = this.bytes.subarray(from, to);
    if (bytes[0] === 0x7b) {
      const text = JSON.parse(new TextDecoder().decode(bytes));
      if (text.type === "hello") this.hello ||= text;
      else if (text.type === "profiles") this.profiles.push({ after: this.pictures.length, text });
      else this.said.push(text);
      return;
    }
    const head = readHead(bytes);
    const packed = head.kind === "points" ? [1, 2] : head.kind === "cells" ? [2] : [];
    const place = { from, to, time: head.time, step: head.step, own: !packed.includes(head.coding) };
    (head.kind === "rows" ? this.rows : this.pictures).push(place);
  }

  // Picture i. It is read from a picture that builds on none, or from an earlier one if the first after it needs more.
  async picture(i) {
    for (let first = i + 1; ;) {
      if (this.next >= 0 && this.next <= i) first = this.next;
      else {
        do first--; while (first > 0 && !this.pictures[first].own);
        this.reader = new FrameReader();
      }
      try {
        let frame = null;
        for (this.next = first; this.next <= i; this.next++) {
          const { from, to } = this.pictures[this.next];
          frame = await this.reader.read(this.bytes.subarray(from, to));
        }
        return frame;
      } catch (error) {
        this.next = -1;
        if (first === 0) throw error;
      }
    }
  }

  // The distributions shown with picture i; undefined: none yet.
  profilesAt(i) {
    return this.profiles.findLast(({ after }) => after <= i + 1)?.text;
  }

  // All rows of the table.
  async allRows() {
    const reader = new FrameReader();
    return Promise.all(this.rows.map(({ from, to }) => reader.read(this.bytes.subarray(from, to))));
  }
}

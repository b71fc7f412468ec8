// wire.js - decodes frames of the protocol and of recordings into arrays. Pure: also runs in Node.
// view/WIRE.md describes the format.
// SPDX-License-Identifier: MIT

const HEADER = 24;
const SIZES = [0, 112, 64, 40, 32, 40]; // bytes of the headers by kind
const KINDS = ["", "points", "cells", "bars", "grid", "rows"];
const COLOURS = ["none", "speed", "mass", "acceleration", "group"];

function readU64(view, at) {
  return Number(view.getBigUint64(at, true));
}

// The head of every frame.
export function readHead(bytes) {
  if (bytes.length < HEADER) throw new Error(`a frame of ${bytes.length} bytes is shorter than its header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const kind = view.getUint8(0);
  if (!KINDS[kind]) throw new Error(`a frame of the unknown kind ${kind}`);
  if (bytes.length < SIZES[kind]) throw new Error(`a frame of ${KINDS[kind]} of ${bytes.length} bytes is shorter than its header`);
  return { kind: KINDS[kind], coding: view.getUint8(1), flags: view.getUint16(2, true), sequence: view.getUint32(4, true),
    time: view.getFloat64(8, true), step: readU64(view, 16) };
}

async function inflateRaw(bytes, expected) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const parts = [];
  let size = 0;
  for (const reader = stream.getReader(); ;) { // limited to the size of a frame, whatever was compressed
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
    if (size > expected) throw new Error("a frame unpacks to more than it says");
  }
  if (size !== expected) throw new Error(`a frame unpacks to ${size} bytes, not to ${expected}`);
  const whole = new Uint8Array(size);
  size = 0;
  for (const part of parts) {
    whole.set(part, size);
    size += part.length;
  }
  return whole;
}

function haveBytes(bytes, need, what) {
  if (bytes.length !== need) throw new Error(`${what} has ${bytes.length} bytes where ${need} belong`);
}

// Decode second differences (coding 1); base is the frame before, older the one before that.
export function undoDifferences(body, count, base, older, escapes, colour) {
  const n = 3 * count, shaded = colour !== "none";
  haveBytes(body, n + (shaded ? count : 0) + 2 * escapes, "a frame of points");
  const far = new DataView(body.buffer, body.byteOffset + body.length - 2 * escapes, 2 * escapes);
  const planes = new Uint16Array(n);
  const a = base.planes, b = older.planes;
  let taken = 0;
  for (let i = 0; i < n; i++) {
    const d = body[i] << 24 >> 24;
    if (d !== -128) planes[i] = 2 * a[i] - b[i] + d;
    else if (taken < escapes) planes[i] = far.getUint16(2 * taken++, true);
    else throw new Error("a frame of points has fewer far values than it says");
  }
  let shades = null;
  if (shaded) {
    shades = body.slice(n, n + count);
    if (base.shades && base.colour === colour) for (let i = 0; i < count; i++) shades[i] += base.shades[i];
  }
  return { planes, shades };
}

// Reads frames in order, and keeps those needed to decode the next.
export class FrameReader {
  constructor() {
    this.points = [];
    this.cells = null;
  }

  async read(bytes) {
    const head = readHead(bytes);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const body = bytes.subarray(SIZES[view.getUint8(0)]);
    if (head.kind === "points") return this.readPoints(head, view, body);
    if (head.kind === "cells") return this.readCells(head, view, body);
    return { bars: readBars, grid: readGrid, rows: readRows }[head.kind](head, view, body);
  }

  async readPoints(head, view, packed) {
    const total = view.getUint32(72, true), count = view.getUint32(76, true), escapes = view.getUint32(100, true);
    const colour = COLOURS[view.getUint8(80)];
    if (!colour) throw new Error(`a frame of points with the unknown colour ${view.getUint8(80)}`);
    const box = manyOf(6, (i) => view.getFloat64(24 + 8 * i, true));
    const shown = { ...head, box, total, count, colour, lo: view.getFloat32(84, true), hi: view.getFloat32(88, true) };
    const body = head.coding >= 2 ? await inflateRaw(packed, readU64(view, 104)) : packed;
    let arrays;
    if (head.coding === 1 || head.coding === 2) {
      const [base, older] = [92, 96].map((at) => this.points.find((p) => p.sequence === view.getUint32(at, true) && p.count === count));
      if (!base || !older) throw new Error("a frame of points builds on one that is not here");
      arrays = undoDifferences(body, count, base, older, escapes, colour);
    } else {
      haveBytes(body, (colour === "none" ? 6 : 7) * count, "a frame of points");
      const even = body.byteOffset % 2 === 0 ? body : body.slice();
      arrays = { planes: new Uint16Array(even.buffer, even.byteOffset, 3 * count), shades: colour === "none" ? null : even.subarray(6 * count) };
    }
    const points = { ...shown, ...arrays };
    this.points = [points, ...this.points].slice(0, 2);
    return points;
  }

  async readCells(head, view, packed) {
    const [x, y] = [24, 32].map((at) => Number(view.getBigInt64(at, true)));
    const width = view.getUint32(40, true), height = view.getUint32(44, true), zoom = view.getUint8(48), states = view.getUint8(49) + 1;
    const row = zoom || states > 2 ? width : Math.ceil(width / 8), size = row * height;
    const body = head.coding ? await inflateRaw(packed, size) : packed.slice();
    haveBytes(body, size, "a frame of cells");
    if (head.coding === 2) {
      const base = this.cells;
      if (!base || base.sequence !== view.getUint32(52, true) || base.body.length !== size)
        throw new Error("a frame of cells builds on one that is not here");
      for (let i = 0; i < size; i++) body[i] ^= base.body[i];
    }
    const known = view.getBigUint64(56, true);
    const population = known === 0xffffffffffffffffn ? NaN : Number(known);
    this.cells = { ...head, x, y, width, height, zoom, states, row, population, body };
    return this.cells;
  }
}

function readBars(head, view, body) {
  const bins = view.getUint32(24, true), n = bins + 1;
  haveBytes(body, 16 * n, "a frame of bars");
  return { ...head, bins, top: view.getFloat64(32, true), counts: manyOf(n, (i) => readU64(view, 40 + 8 * i)),
    expected: manyOf(n, (i) => view.getFloat64(40 + 8 * (n + i), true)) };
}

function readGrid(head, view, body) {
  const rows = view.getUint32(24, true), columns = view.getUint32(28, true), n = rows * columns;
  haveBytes(body, 4 * n, "a frame of a grid");
  return { ...head, rows, columns, values: manyOf(n, (i) => view.getFloat32(32 + 4 * i, true)) };
}

function readRows(head, view, body) {
  const [first, count, columns] = [24, 28, 32].map((at) => view.getUint32(at, true)), n = count * columns;
  haveBytes(body, 8 * n, "a frame of rows");
  return { ...head, first, count, columns, values: manyOf(n, (i) => view.getFloat64(40 + 8 * i, true)) };
}

function manyOf(n, at) {
  return Array.from({ length: n }, (_, i) => at(i));
}

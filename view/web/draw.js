// draw.js - changes of Life's cells by hand: a pen, a selection, and a clip that is copied, rotated and pasted as RLE.
// cellsOf, rotated, tilesOf and lineCells are pure.
// SPDX-License-Identifier: MIT
import { get } from "./elements.js";
import { rleText, stateAt } from "./rle.js";

const MOST_BYTES = 1536; // bytes of cells in a message
const MOST_TILES = 8; // messages for a change
const FRESH = 2000; // ms until the run's pictures surely have a change

// The cells on a line from a to b.
export function lineCells([ax, ay], [bx, by]) {
  const n = Math.max(Math.abs(bx - ax), Math.abs(by - ay));
  return Array.from({ length: n + 1 }, (_, i) => [Math.round(ax + (bx - ax) * (n && i / n)), Math.round(ay + (by - ay) * (n && i / n))]);
}

// The live cells of RLE text, or null if it has none: { width, height, cells: [[x, y], ...] }.
export function cellsOf(text) {
  const lines = text.split("\n").map((l) => l.trim()).filter((l) => l && l[0] !== "#"), cells = [];
  const body = lines.filter((l) => !/^x\s*=/.test(l)).join("").split("!")[0];
  if (!/^[\dbo$.A-X\s]+$/.test(body)) return null;
  let [x, y, width] = [0, 0, 0];
  for (const [, digits, sign] of body.matchAll(/(\d*)([bo$.A-X])/g)) {
    const n = Math.min(1e6, +digits || 1);
    if (sign === "$") [x, y] = [0, y + n];
    else {
      if (!"b.".includes(sign)) for (let i = 0; i < n && cells.length < 1e6; i++) cells.push([x + i, y]);
      x += n;
      width = Math.max(width, x);
    }
  }
  return cells.length ? { width, height: Math.max(...cells.map((c) => c[1])) + 1, cells } : null;
}

// A clip turned by a quarter, clockwise.
export function rotated({ width, height, cells }) {
  return { width: height, height: width, cells: cells.map(([x, y]) => [height - 1 - y, x]) };
}

// A rectangle as messages of at most MOST_BYTES bytes each: at(x, y) is the new state of a cell. Null: it is too large.
export function tilesOf([x0, y0, x1, y1], at) {
  const tiles = [], wide = Math.min(x1 - x0, 256), row = Math.ceil(wide / 8), high = Math.floor(MOST_BYTES / row);
  if (Math.ceil((x1 - x0) / wide) * Math.ceil((y1 - y0) / high) > MOST_TILES) return null;
  for (let y = y0; y < y1; y += high) for (let x = x0; x < x1; x += wide) {
    const width = Math.min(wide, x1 - x), height = Math.min(high, y1 - y), bytes = Math.ceil(width / 8);
    let cells = "";
    for (let j = 0; j < height; j++) for (let b = 0; b < bytes; b++) {
      let byte = 0;
      for (let i = 8 * b; i < Math.min(width, 8 * b + 8); i++) byte |= at(x + i, y + j) << i % 8;
      cells += byte.toString(16).padStart(2, "0");
    }
    tiles.push({ x, y, width, height, cells });
  }
  return tiles;
}

export class Drawing {
  // scene: the picture; act(what, more): asks the run; said(text): tells the user
  constructor(scene, act, said) {
    Object.assign(this, { scene, act, said, on: false, drawn: new Map(), chosen: null, clip: null, pointer: null });
    addEventListener("copy", (e) => this.give(e));
    addEventListener("paste", (e) => this.on && this.pointer && this.paste(...this.pointer, e.clipboardData.getData("text/plain")));
  }

  turn(on) {
    this.on = on;
    get("draw").setAttribute("aria-pressed", String(on));
    this.select(null);
  }

  // Ask for the run's state n changes before this one, or for its first.
  back(n, { hello, state }) {
    if (!hello.can.includes("back")) this.said("This run keeps no states to go back to.");
    else if (!state.paused || state.ended) this.said("Pause the run first.");
    else this.act("step", { n });
  }

  // Give the selection to the clipboard.
  give(e) {
    const text = this.on && this.copy();
    if (!text) return;
    e.clipboardData.setData("text/plain", text);
    e.preventDefault();
  }

  get world() {
    return this.scene.hello.cells;
  }

  // The cell under a pixel; null outside a bounded grid.
  cellAt(x, y) {
    const { width, height, bounds } = this.world, cell = this.scene.above.cell(x, y).map(Math.floor);
    if (!width) return cell;
    if (bounds === "torus") return [cell[0] - Math.floor(cell[0] / width) * width, cell[1] - Math.floor(cell[1] / height) * height];
    return cell[0] >= 0 && cell[1] >= 0 && cell[0] < width && cell[1] < height ? cell : null;
  }

  // The state of a cell as the user sees it: drawn just now, or in the picture.
  stateOf(x, y) {
    const { frame } = this.scene, mine = this.drawn.get(x + "," + y), i = x - frame.x, j = y - frame.y;
    if (mine && performance.now() - mine.at < FRESH) return mine.state;
    return !frame.zoom && i >= 0 && j >= 0 && i < frame.width && j < frame.height && stateAt(frame, i, j) ? 1 : 0;
  }

  // Begin a stroke or, with shift, a selection; false if the gesture is not for the pen.
  begin(x, y, selects) {
    const { frame } = this.scene, cell = this.on && frame && this.cellAt(x, y);
    if (!cell) return false;
    if (frame.zoom) {
      this.said("From here cells are only counted. Come nearer.");
      return true;
    }
    this.from = cell;
    this.selects = selects;
    if (selects) this.select(cell, cell);
    else {
      this.select(null);
      this.state = 1 - this.stateOf(...cell);
      this.stroke([cell]);
    }
    return true;
  }

  move(x, y) {
    const cell = this.from && this.cellAt(x, y);
    if (!cell) return;
    if (this.selects) this.select(this.from, cell);
    else {
      this.stroke(lineCells(this.from, cell));
      this.from = cell;
    }
  }

  end() {
    this.from = null;
  }

  stroke(cells) {
    this.put(cells.map(([x, y]) => [x, y, this.state]));
  }

  select(a, b) {
    this.scene.chosen = this.chosen = a && [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[0], b[0]) + 1, Math.max(a[1], b[1]) + 1];
    this.scene.marked = "";
    this.scene.changed();
  }

  // Set cells [x, y, state].
  put(cells) {
    const at = performance.now(), { width, height, bounds } = this.world;
    const inside = cells.map(([x, y, state]) => width && bounds === "torus" ? [(x % width + width) % width, (y % height + height) % height, state] : [x, y, state])
      .filter(([x, y]) => !width || x >= 0 && y >= 0 && x < width && y < height);
    if (!inside.length) return;
    const low = inside.reduce(([a, b], [x, y]) => [Math.min(a, x), Math.min(b, y)], [Infinity, Infinity]);
    const high = inside.reduce(([a, b], [x, y]) => [Math.max(a, x), Math.max(b, y)], [-Infinity, -Infinity]);
    for (const [key, { at: then }] of this.drawn) if (at - then > FRESH) this.drawn.delete(key);
    for (const [x, y, state] of inside) this.drawn.set(x + "," + y, { state, at });
    const tiles = tilesOf([...low, high[0] + 1, high[1] + 1], (x, y) => this.stateOf(x, y));
    if (!tiles) this.said("This is too large to be set at once.");
    else for (const tile of tiles) this.act("put", tile);
  }

  // The selected cells as RLE text, or "".
  copy() {
    const { frame, hello } = this.scene, box = this.chosen;
    if (!box || frame.zoom) return "";
    const text = rleText(frame, [box[0] - frame.x, box[1] - frame.y, box[2] - frame.x, box[3] - frame.y], hello.cells.rule);
    this.clip = cellsOf(text);
    this.pasted = text;
    return this.clip ? text : "";
  }

  erase() {
    const [x0, y0, x1, y1] = this.chosen || [0, 0, 0, 0], cells = [];
    for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) if (this.stateOf(x, y)) cells.push([x, y, 0]);
    this.put(cells);
  }

  rotate() {
    if (this.clip) this.clip = rotated(this.clip);
    this.said(this.clip ? `Turned: ${this.clip.width} × ${this.clip.height} cells to paste` : "Copy cells first.");
  }

  // Paste text, or the clip, with its middle at a pixel.
  paste(x, y, text) {
    const clip = text && cellsOf(text), fresh = clip && text !== this.pasted;
    this.pasted = text;
    if (fresh) this.clip = clip; // else the clip may have been rotated
    const cell = this.clip && this.cellAt(x, y);
    if (!cell) {
      this.said(this.clip ? "Point into the grid to paste." : "There are no cells to paste: copy some, or a pattern as RLE.");
      return;
    }
    const left = cell[0] - (this.clip.width >> 1), top = cell[1] - (this.clip.height >> 1);
    this.put(this.clip.cells.map(([i, j]) => [left + i, top + j, 1]));
  }
}

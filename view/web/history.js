// history.js - history of the run: earlier pictures, within a memory limit, and the rows of the
// table. Pure: also runs in Node.
// SPDX-License-Identifier: MIT

// Text as a field of CSV.
export function csvWord(text) {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const ROOM = 64 * 2 ** 20;

function sizeOf(frame) {
  return 200 + ["planes", "shades", "body", "values"].reduce((n, name) => n + (frame[name]?.byteLength || 0), 0) +
    8 * (frame.counts?.length || 0);
}

// Pictures of the run so far. When the limit is reached, every second older picture is dropped, so
// that the history always reaches back to the beginning.
export class Past {
  constructor(room = ROOM) {
    this.room = room;
    this.clear();
  }

  clear() {
    this.frames = [];
    this.bytes = 0;
  }

  get length() {
    return this.frames.length;
  }

  add(frame) {
    const last = this.frames.at(-1);
    if (last && frame.sequence === last.sequence) this.bytes -= sizeOf(this.frames.pop()); // the same state in another view
    this.frames.push(frame);
    this.bytes += sizeOf(frame);
    while (this.bytes > this.room && this.frames.length > 2) this.thin();
  }

  thin() {
    const last = this.frames.length - 1;
    const late = last < 16 ? last : last - 8; // the latest ones stay
    this.frames = this.frames.filter((_, i) => i % 2 === 0 || i >= late);
    this.bytes = this.frames.reduce((n, f) => n + sizeOf(f), 0);
  }
}

// The table of numbers: growing columns.
export class Table {
  constructor(columns, x = 0) {
    this.titles = columns;
    this.x = x;
    this.values = columns.map(() => []);
  }

  get length() {
    return this.values[0] ? this.values[0].length : 0;
  }

  add(rows) {
    if (rows.columns !== this.titles.length) return;
    if (rows.flags & 8 || rows.first === 0) this.values = this.titles.map(() => []);
    for (let i = 0; i < rows.count; i++) this.values.forEach((column, c) => column.push(rows.values[i * rows.columns + c]));
  }

  // Groups of columns for one plot each: columns with the same unit, energies, and every other
  // column alone.
  plots() {
    const plots = new Map();
    this.titles.forEach(({ name, unit }, c) => {
      if (c === this.x) return;
      const family = /energy$/.test(name) ? "energy" : "";
      const key = family || unit || name;
      const title = family ? "Energy" : name[0].toUpperCase() + name.slice(1);
      if (plots.has(key)) {
        plots.get(key).columns.push(c);
        if (!family && !this.titles.some((other, i) => i < c && other.name === name)) plots.get(key).title = "";
      } else plots.set(key, { title, unit, columns: [c] });
    });
    const totals = this.titles.flatMap(({ name }, c) => name === "total energy" ? [c] : []), list = [...plots.values()];
    if (totals.length) list.splice(1, 0, { title: "Energy error", unit: "", columns: totals, relative: true });
    return list;
  }

  // The numbers as CSV, all digits, with a head of names and units.
  csv() {
    const head = this.titles.map(({ name, unit, run }) => csvWord([unit && unit !== "1" ? `${name} (${unit})` : name, run].filter(Boolean).join(", ")));
    const rows = Array.from({ length: this.length }, (_, i) => this.values.map((column) => Number.isFinite(column[i]) ? String(column[i]) : ""));
    return [head, ...rows].map((row) => row.join(",") + "\n").join("");
  }

  // The numbers of one line of a plot.
  line(column, relative) {
    const values = this.values[column];
    if (!relative) return values;
    const first = values.find((v) => Number.isFinite(v) && v !== 0) || 1;
    return values.map((v) => (v - first) / Math.abs(first));
  }
}

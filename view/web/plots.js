// plots.js - the small plots below the picture: values over time, with axes, units, and the values
// under the pointer.
// SPDX-License-Identifier: MIT
import { LINES, axisTitle, drawAxes, flatContext, inkOf, label, stroke } from "./chart.js";
import { formatNumber } from "./numbers.js";

// Range of lines with a margin; never empty.
function rangeOf(lines) {
  let lo = Infinity, hi = -Infinity;
  for (const line of lines) for (const v of line) if (Number.isFinite(v)) [lo, hi] = [Math.min(lo, v), Math.max(hi, v)];
  if (lo > hi) return [0, 1];
  const air = (hi - lo) * 0.06 || Math.abs(hi) * 0.01 || 1e-12;
  return [lo - air, hi + air];
}

export class Plots {
  // Makes a canvas a plot in `place`.
  constructor(place, table, log, changed) {
    Object.assign(this, { table, log });
    this.over = -1; // the row under the pointer
    place.replaceChildren();
    this.plots = table.plots().map((plot) => {
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      canvas.className = "plot";
      place.append(canvas);
      canvas.addEventListener("pointermove", (e) => this.point(canvas, e.offsetX, changed));
      canvas.addEventListener("pointerleave", () => { this.over = -1; changed(); });
      return { ...plot, canvas };
    });
  }

  point(canvas, x, changed) {
    const xs = this.across();
    const [from, to] = this.span, wanted = from + (x - this.left) / (canvas.clientWidth - this.left - 12) * (to - from);
    this.over = xs.length ? xs.reduce((best, v, i) => Math.abs(v - wanted) < Math.abs(xs[best] - wanted) ? i : best, 0) : -1;
    changed();
  }

  // Positions of rows on the horizontal axis; quantities other than time, such as sizes, use
  // powers of two.
  across() {
    const xs = this.table.line(this.table.x);
    return this.log ? xs.map(Math.log2) : xs;
  }

  // now: the time of the picture
  draw(now, dark) {
    const wide = this.plots[0].canvas.clientWidth, state = [wide, now, dark, this.over, this.table.length].join();
    if (!wide || state === this.drawn) return; // bodies move between frames, plots do not
    this.drawn = state;
    for (const plot of this.plots) this.drawOne(plot, now, dark);
  }

  drawOne(plot, now, dark) {
    const { table } = this, { pen, width, height } = flatContext(plot.canvas), ink = inkOf(plot.canvas);
    const colours = LINES[dark ? "dark" : "light"];
    const xs = this.across(), lines = plot.columns.map((c) => table.line(c, plot.relative));
    const rect = { left: this.left = 52, top: 34, right: width - 12, bottom: height - 32 };
    const titles = table.titles, over = this.over < xs.length ? this.over : -1;
    const ats = lines.map((line) => over >= 0 ? over : line.findLastIndex(Number.isFinite)); // rows with displayed values
    const least = Math.min(...xs), most = Math.max(...xs), span = this.span = most > least ? [least, most] : [xs[0] || 0, (xs[0] || 0) + 1];
    const { px, py, power } = drawAxes(pen, rect, { x: span, y: rangeOf(lines), xTitle: axisTitle(titles[table.x]), small: true, size: 11, log: this.log, whole: xs.every(Number.isInteger) }, ink);
    const every = Math.max(1, Math.floor(xs.length / 2 / width)); // at most two points per pixel
    lines.forEach((line, l) => {
      const places = [];
      for (let i = 0; i < xs.length; i += every) places.push(Number.isFinite(line[i]) ? [px(xs[i]), py(line[i])] : null);
      stroke(pen, places, colours[l % 6], 1.6);
      const at = ats[l];
      if (!Number.isFinite(line[at])) return;
      pen.fillStyle = colours[l % 6];
      pen.beginPath();
      pen.arc(px(xs[at]), py(line[at]), 2.8, 0, 7);
      pen.fill();
    });
    this.drawHead(pen, plot, lines, ats, colours, ink, width, power);
    if (now > span[0] && now < span[1] || over >= 0) {
      pen.setLineDash([2, 3]);
      const place = Math.round(px(over >= 0 ? xs[over] : now)) + 0.5;
      stroke(pen, [[place, rect.top], [place, rect.bottom]], ink.soft, 1);
      pen.setLineDash([]);
    }
  }

  // The title, and each line's name and value in its colour.
  drawHead(pen, plot, lines, ats, colours, ink, width, power) {
    const titles = this.table.titles, unit = plot.unit && plot.unit !== "1" ? " " + plot.unit : "", after = plot.title ? unit : ""; // else the title says it
    const words = lines.map((line, l) => {
      const name = titles[plot.columns[l]].name.replace(/ energy$/, "");
      return (lines.length > 1 ? name + " " : "") + formatNumber(line[ats[l]] ?? NaN, 5) + after;
    });
    pen.font = ink.font(12, 600);
    const title = plot.title || unit.trim(), head = power ? `${title} ${power}` : title;
    label(pen, head, 12, 15, ink.ink);
    let left = 24 + pen.measureText(head).width;
    pen.font = ink.font(12);
    words.forEach((text, l) => {
      const w = pen.measureText(text).width;
      if (left + w > width - 6) return;
      label(pen, text, left, 15, colours[l % 6]);
      left += w + 12;
    });
    plot.canvas.setAttribute("aria-label", `${title || "Values"}: ` + (this.table.length ? words.join(", ") : "no values yet"));
  }
}

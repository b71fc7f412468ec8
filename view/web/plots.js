// plots.js - the small plots below the picture: values over time, with axes, units, and the values
// under the pointer.
// SPDX-License-Identifier: MIT
import { LINES, axisTitle, drawAxes, flatContext, inkOf, label, stroke } from "./chart.js";
import { csvWord } from "./history.js";
import { formatNumber, formatQuantity } from "./numbers.js";
import { SvgPen, svgText } from "./svg.js";

// The longest distance between samples that a line bridges: longer ones are gaps. Distances grow with a run that speeds up, so
// a distance is compared with those beside it. Pure.
export function isGap(xs, i) {
  const d = (k) => k > 0 && k < xs.length ? xs[k] - xs[k - 1] : 0, beside = Math.max(d(i - 1), d(i + 1));
  return d(i) > 5 * beside && d(i) > 0.1 * (xs.at(-1) - xs[0]) && xs.length > 3;
}

// The words of a head that fit into a width: all lines keep their names; values lose digits, then go. texts(n): the
// words with values of n digits (0: without values). Pure.
export function fittingWords(texts, measure, width) {
  for (const digits of [5, 4, 3, 2, 0]) {
    const words = texts(digits);
    if (!digits || words.reduce((sum, text) => sum + (text && measure(text) + 12), 0) <= width) return words;
  }
  return [];
}

// The lines of a plot: { name, colour, dashed }; and `note`, which names the dashed recording. Several quantities have a colour
// each. A single quantity of two recordings has a colour for each recording. Pure.
export function lineLooks(columns) {
  const one = columns.every(({ name }) => name === columns[0].name), [{ run: first }] = columns, second = columns.at(-1).run;
  const both = first !== second, quantities = both && !one ? columns.length / 2 : columns.length;
  const looks = columns.map(({ name, run }, l) => ({ name: both && one ? run : one || run !== first ? "" : name.replace(/ energy$/, ""), colour: l % quantities % 6,
    dashed: run !== first || l % quantities > 5 })); // there are six colours
  return { looks, note: both && !one ? `dashed: ${second}` : "" };
}

// The row of a line nearest to row `over`: recordings that are overlaid have rows of their own. Pure.
export function rowAt(line, xs, over) {
  if (Number.isFinite(line[over])) return over;
  const far = (i) => Number.isFinite(line[i]) ? Math.abs(xs[i] - xs[over]) : Infinity;
  return xs.reduce((best, _, i) => far(i) < far(best) ? i : best, over);
}

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
    this.profiles = new Profiles(place);
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

  // Powers of ten on the vertical axis, of lines above 0.
  setLog(on) {
    this.logY = on;
    this.drawn = "";
  }

  // now: the time of the picture
  draw(now, dark) {
    this.profiles.draw(dark, this.table.titles[this.table.x].unit);
    const wide = this.plots[0].canvas.clientWidth, state = [wide, now, dark, this.over, this.table.length].join();
    if (!wide || state === this.drawn) return; // bodies move between frames, plots do not
    this.drawn = state;
    for (const plot of this.plots) this.drawOne(plot, now, dark);
  }

  // Suffix and text of each file: the rows, and the distributions, which have different columns.
  csvFiles() {
    return [["csv", this.table.csv()], ["distributions.csv", this.profiles.csv()]].filter(([, text]) => text);
  }

  // All plots as SVG, as wide as they are here.
  svg(dark) {
    const { over } = this, shown = this.plots[0].canvas, width = shown.clientWidth || 480, height = shown.clientHeight || 151;
    const context = document.createElement("canvas").getContext("2d"), measure = (text, font) => (context.font = font, context.measureText(text).width);
    const sheets = this.plots.map((plot) => {
      const sheet = { pen: new SvgPen(measure), width, height };
      this.over = -1;
      this.drawOne(plot, NaN, dark, sheet);
      return sheet;
    });
    this.over = over;
    return svgText([...sheets, ...this.profiles.sheets(dark, this.table.titles[this.table.x].unit, width, height, measure)], inkOf(shown).paper);
  }

  drawOne(plot, now, dark, sheet = flatContext(plot.canvas)) {
    const { table } = this, { pen, width, height } = sheet, ink = inkOf(plot.canvas);
    const colours = LINES[dark ? "dark" : "light"];
    const xs = this.across(), values = plot.columns.map((c) => table.line(c, plot.relative));
    const logY = this.logY && values.every((line) => line.every((v) => !(v <= 0))), lines = logY ? values.map((line) => line.map(Math.log10)) : values;
    const rect = { left: this.left = 52, top: 34, right: width - 12, bottom: height - 32 };
    const titles = table.titles, over = this.over < xs.length ? this.over : -1, { looks } = lineLooks(plot.columns.map((c) => titles[c]));
    const ats = lines.map((line) => over >= 0 ? rowAt(line, xs, over) : line.findLastIndex(Number.isFinite)); // rows with displayed values
    const least = Math.min(...xs), most = Math.max(...xs, this.log || !(now >= least) ? -Infinity : now), span = this.span = most > least ? [least, most] : [xs[0] || 0, (xs[0] || 0) + 1];
    const { px, py } = drawAxes(pen, rect, { x: span, y: rangeOf(lines), xTitle: axisTitle(titles[table.x]), small: true, size: 11, logY, log: this.log, whole: xs.every(Number.isInteger) }, ink);
    const every = Math.max(1, Math.floor(xs.length / 2 / width)); // at most two points per pixel
    lines.forEach((line, l) => {
      const places = [];
      for (let i = 0; i < xs.length; i += every) {
        if (every === 1 && isGap(xs, i)) places.push(null);
        places.push(Number.isFinite(line[i]) ? [px(xs[i]), py(line[i])] : null);
      }
      const colour = colours[looks[l].colour];
      pen.setLineDash(looks[l].dashed ? [5, 3] : []);
      stroke(pen, places, colour, 1.6);
      pen.setLineDash([]);
      pen.fillStyle = colour;
      if (xs.length < width / 16) for (const place of places) if (place) pen.fillRect(place[0] - 1.5, place[1] - 1.5, 3, 3);
      const at = ats[l];
      if (!Number.isFinite(line[at])) return;
      pen.beginPath();
      pen.arc(px(xs[at]), py(line[at]), 2.8, 0, 7);
      pen.fill();
    });
    this.drawHead(pen, plot, values, ats, colours, ink, width, now);
    if (now > span[0] && now < span[1] || over >= 0) {
      pen.setLineDash([2, 3]);
      const place = Math.round(px(over >= 0 ? xs[over] : now)) + 0.5;
      stroke(pen, [[place, rect.top], [place, rect.bottom]], ink.soft, 1);
      pen.setLineDash([]);
    }
  }

  // The title; each line's name and value in its colour; and the time of the values, if the picture is later.
  drawHead(pen, plot, lines, ats, colours, ink, width, now) {
    const titles = this.table.titles, { looks, note } = lineLooks(plot.columns.map((c) => titles[c])), unit = plot.unit && plot.unit !== "1" ? " " + plot.unit : "", after = plot.title ? unit : ""; // else the title says it
    const texts = (digits) => [...lines.map((line, l) => {
      const { name } = looks[l], value = digits && !(note && looks[l].dashed) ? formatNumber(line[ats[l]] ?? NaN, digits) + after : "";
      return name && value ? `${name} ${value}` : name || value;
    }), note];
    const x = titles[this.table.x], at = this.table.line(this.table.x)[Math.max(...ats)];
    const when = this.over >= 0 || now > at ? `at ${x.name} ${formatQuantity(at, x.unit, 4)}` : "";
    pen.font = ink.font(12, 600);
    const title = plot.title || unit.trim();
    label(pen, title, 12, 15, ink.ink);
    let left = 24 + pen.measureText(title).width;
    pen.font = ink.font(12);
    const room = when ? pen.measureText(when).width + 12 : 0;
    const words = fittingWords(texts, (text) => pen.measureText(text).width, width - left - room);
    words.forEach((text, l) => {
      if (!text) return;
      label(pen, text, left, 15, looks[l] ? colours[looks[l].colour] : ink.soft);
      left += pen.measureText(text).width + 12;
    });
    if (when && left + room - 12 <= width) label(pen, when, left, 15, ink.soft);
    plot.canvas.setAttribute("aria-label", `${title || "Values"}: ` + (this.table.length ? [...texts(5), when].filter(Boolean).join(", ") : "no values yet"));
  }
}

// Distributions of one time, as small plots after the plots of rows: means over intervals, as steps.
export class Profiles {
  constructor(place) {
    Object.assign(this, { place, plots: [] });
  }

  take({ time, list }) {
    while (this.plots.length < list.length) {
      const canvas = document.createElement("canvas");
      canvas.setAttribute("role", "img");
      canvas.className = "plot";
      canvas.setAttribute("aria-label", list[this.plots.length].title);
      this.place.append(canvas);
      this.plots.push(canvas);
    }
    Object.assign(this, { time, list, drawn: "" });
  }

  draw(dark, unit) {
    const state = [this.plots[0]?.clientWidth, dark].join();
    if (!this.list || state === this.drawn) return;
    this.drawn = state;
    this.list.forEach((profile, i) => this.drawOne(this.plots[i], profile, dark, formatQuantity(this.time, unit, 4)));
  }

  // The plots as drawings for SVG.
  sheets(dark, unit, width, height, measure) {
    return (this.list || []).map((profile, i) => {
      const sheet = { pen: new SvgPen(measure), width, height };
      this.drawOne(this.plots[i], profile, dark, formatQuantity(this.time, unit, 4), sheet);
      return sheet;
    });
  }

  // The numbers as CSV, a line for each interval; "": none yet.
  csv() {
    return this.list ? profilesCsv(this) : "";
  }

  drawOne(canvas, profile, dark, time, sheet = flatContext(canvas)) {
    const { pen, width, height } = sheet, ink = inkOf(canvas), { log } = profile, [colour] = LINES[dark ? "dark" : "light"];
    const places = profileSteps(profile), xs = places.map(([x]) => x), span = [xs[0], xs.at(-1)];
    const rect = { left: 52, top: 34, right: width - 12, bottom: height - 32 };
    if (places.length) {
      const { px, py } = drawAxes(pen, rect, { x: span, y: rangeOf([places.map(([, y]) => y)]), xTitle: axisTitle({ name: profile.x, unit: profile.unit }), small: true, size: 11, logY: log, log: log && 10 }, ink);
      stroke(pen, places.map(([x, y]) => Number.isFinite(y) ? [px(x), py(y)] : null), colour, 1.6);
    }
    pen.font = ink.font(12, 600);
    label(pen, profile.title, 12, 15, ink.ink);
    const left = 24 + pen.measureText(profile.title).width, when = `at time ${time}`;
    pen.font = ink.font(12);
    if (left + pen.measureText(when).width < width) label(pen, when, left, 15, ink.soft);
    canvas.setAttribute("aria-label", `${profile.title} by ${profile.x}, ${when}`);
  }
}

// Distributions as CSV: time, quantity, the interval's variable and edges, and the value. Pure.
export function profilesCsv({ time, list }) {
  const lines = list.flatMap(({ title, x, unit, edge, value }) =>
    value.map((v, k) => [time, csvWord(title), csvWord(unit ? `${x} (${unit})` : x), edge[k], edge[k + 1], v].join(",") + "\n"));
  return ["time,quantity,variable,from,to,value\n", ...lines].join("");
}

// The corners of a distribution's steps, as logarithms if its axes are. An axis of logarithms begins
// at half the second edge, and empty intervals are gaps. Pure.
export function profileSteps({ edge, value, log }) {
  const x = (k) => log ? Math.log10(edge[k] || edge[k + 1] / 2) : edge[k];
  return value.flatMap((v, k) => [x(k), x(k + 1)].map((at) => [at, log ? Math.log10(v) : v]));
}

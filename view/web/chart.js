// chart.js - axes, lines, bars and heat maps on a flat canvas. All text is in the page's font and colours.
// SPDX-License-Identifier: MIT
import { formatNumber, formatQuantity, niceTicks, tickTexts } from "./numbers.js";
import { colourAt, cssColour } from "./colour_maps.js";

// Colours of lines that stay apart for all eyes, on dark and on light paper.
export const LINES = { dark: ["#7cc4f5", "#f2b134", "#5fd3a4", "#e58fc2", "#ff9b7a", "#c3c7d4"], light: ["#0b6aa8", "#9a5200", "#00734f", "#a3327c", "#b83a1b", "#565c69"] };

// A canvas as large as its place on the screen; returns its context, in CSS pixels.
export function flatContext(canvas) {
  const ratio = Math.min(3, devicePixelRatio || 1), width = canvas.clientWidth, height = canvas.clientHeight;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return { pen, width, height };
}

// So that these have the colours of the theme at hand when they are asked for.
for (const name of ["ink", "soft", "line", "paper"])
  globalThis.CSS?.registerProperty({ name: "--" + name, syntax: "<color>", inherits: true, initialValue: "gray" });

// The font and colours of the page, as a canvas takes them.
export function inkOf(element) {
  const style = getComputedStyle(element), get = (name) => style.getPropertyValue(name);
  return { ink: get("--ink"), soft: get("--soft"), line: get("--line"), paper: get("--paper"),
    font: (size, weight = 400) => `${weight} ${size}px ${style.fontFamily}` };
}

// Text at a place; align as canvases name it.
export function label(pen, text, x, y, colour, align = "left", base = "middle") {
  Object.assign(pen, { fillStyle: colour, textAlign: align, textBaseline: base });
  pen.fillText(text, x, y);
}

// A line through places; gaps where one is null.
export function stroke(pen, places, colour, wide) {
  Object.assign(pen, { strokeStyle: colour, lineWidth: wide, lineJoin: "round" });
  pen.beginPath();
  let down = false;
  for (const place of places) {
    if (place) pen[down ? "lineTo" : "moveTo"](...place);
    down = Boolean(place);
  }
  pen.stroke();
}

// Axes around a rectangle; returns how numbers become places. what: { x: [from, to], y: [from, to], xTitle, yTitle, size, small, whole }
export function drawAxes(pen, rect, what, ink) {
  const { left, top, right, bottom } = rect;
  const [x0, x1] = what.x, [y0, y1] = what.y;
  const px = (v) => left + (v - x0) / (x1 - x0 || 1) * (right - left), py = (v) => bottom - (v - y0) / (y1 - y0 || 1) * (bottom - top);
  const size = what.size || 11;
  pen.font = ink.font(size);
  let yTicks = niceTicks(y0, y1, Math.max(2, (bottom - top) / (what.small ? 24 : 44))), yTexts = tickTexts(yTicks);
  if (what.logY) {
    if (yTicks.filter(Number.isInteger).length > 1) yTicks = yTicks.filter(Number.isInteger);
    yTexts = { texts: yTicks.map((v) => formatNumber(10 ** v, 3)), power: "" };
  }
  const yLabels = yTexts.texts.map((text) => what.small && +text !== 0 ? text + yTexts.power : text); // a small plot has no title of this axis
  const shrink = Math.min(1, (left - 8) / Math.max(1, ...yLabels.map((text) => pen.measureText(text).width)));
  pen.font = ink.font(Math.max(9, size * shrink));
  yTicks.forEach((v, i) => {
    const y = Math.round(py(v)) + 0.5;
    stroke(pen, [[left, y], [right, y]], ink.line, 1);
    label(pen, yLabels[i], left - 6, y, ink.soft, "right");
  });
  pen.font = ink.font(size);
  const xTicks = niceTicks(x0, x1, Math.min(what.log ? x1 - x0 : 99, Math.max(2, (right - left) / 90))).filter((t) => !what.whole || Number.isInteger(t)), xTexts = what.log ? { texts: xTicks.map((t) => formatNumber((what.log === 10 ? 10 : 2) ** t)), power: "" } : tickTexts(xTicks);
  xTicks.forEach((v, i) => {
    const wide = pen.measureText(xTexts.texts[i]).width / 2;
    label(pen, xTexts.texts[i], px(v), bottom + 5, ink.soft, px(v) + wide > right + 4 ? "right" : "center", "top");
  });
  stroke(pen, [[left, bottom + 0.5], [right, bottom + 0.5]], ink.soft, 1);
  label(pen, withPower(what.xTitle, xTexts.power), right, bottom + 4 + size * 2, ink.soft, "right");
  if (!what.small) label(pen, withPower(what.yTitle, yTexts.power), left - 8, top - 12, ink.soft);
  return { px, py };
}

// The title of an axis and the power of ten of its marks.
function withPower(title, power) {
  return power ? `${title} (${power})` : title;
}

export function axisTitle({ name, unit }) {
  return unit && unit !== "1" ? `${name} (${unit})` : name;
}

function makeRoom(least, most, texts, pen) {
  return Math.max(least, Math.min(most, Math.max(...texts.map((t) => pen.measureText(t).width)) + 14));
}

// Bars of a distribution, and what is expected. hello: hello.bars
export function drawBars(canvas, frame, hello, look) {
  const { pen, width, height } = flatContext(canvas), ink = inkOf(canvas), lines = LINES[look.dark ? "dark" : "light"];
  const size = width < 560 ? 12 : 13;
  pen.font = ink.font(size);
  const most = 1.08 * Math.max(1, ...frame.counts.slice(0, frame.bins), ...frame.expected.slice(0, frame.bins));
  const rect = { left: makeRoom(44, 90, tickTexts(niceTicks(0, most, 8)).texts, pen) + 10, top: look.top + 26, right: width - 24, bottom: height - 56 };
  const { px, py } = drawAxes(pen, rect, { x: [0, frame.top], y: [0, most], xTitle: axisTitle({ ...hello, name: hello.quantity }),
    yTitle: hello.count + " a bar", size }, ink);
  const bar = frame.top / frame.bins;
  for (let i = 0; i < frame.bins; i++) {
    const x = px(i * bar), w = px((i + 1) * bar) - x, y = py(frame.counts[i]);
    pen.fillStyle = cssColour(colourAt(look.map, look.dark ? 0.3 + 0.5 * i / frame.bins : 0.25 + 0.45 * i / frame.bins));
    pen.fillRect(x + (w > 4 ? 0.5 : 0), y, w - (w > 4 ? 1 : 0), rect.bottom - y);
  }
  const curve = frame.expected.slice(0, frame.bins).map((v, i) => [px((i + 0.5) * bar), py(v)]);
  stroke(pen, curve, ink.paper, 5);
  stroke(pen, curve, lines[0], 2.5);
  const entries = [[cssColour(colourAt(look.map, 0.55)), hello.count + " counted", 10], [lines[0], (hello.model || "model") + "’s distribution", 3]];
  drawKey(pen, entries, rect.right, rect.top + 10, ink, size);
  const above = frame.counts[frame.bins];
  const total = frame.counts.reduce((n, c) => n + c, 0);
  const chi = frame.counts.reduce((n, c, i) => frame.expected[i] >= 5 ? n + (c - frame.expected[i]) ** 2 / frame.expected[i] : n, 0);
  const used = frame.expected.filter((e) => e >= 5).length;
  return { text: `${formatNumber(total)} ${hello.count} in ${frame.bins} bars` + (above ? `, ${formatNumber(above)} of them beyond ${formatQuantity(frame.top, hello.unit)}` : "") +
    `; χ² ${formatNumber(chi)} in ${used} bars` };
}

function drawKey(pen, entries, right, top, ink, size) {
  const wide = Math.max(...entries.map(([, text]) => pen.measureText(text).width));
  entries.forEach(([colour, text, high], i) => {
    const y = top + i * (size + 8), x = right - wide - 26;
    pen.fillStyle = colour;
    pen.fillRect(x, y - high / 2, 18, high);
    label(pen, text, x + 26, y, ink.ink);
  });
}

// The powers of ten around values above 0: exponents. Pure.
export function decadesAround(values) {
  const known = values.filter((v) => v > 0), lo = Math.min(...known), hi = Math.max(...known);
  return known.length ? [Math.floor(Math.log10(lo / 1.5)), Math.ceil(Math.log10(hi))] : [0, 1];
}

// A table of one column as bars on a logarithmic axis, as rates of engines differ by orders of magnitude.
export function drawRates(canvas, frame, hello, look) {
  const { pen, width, height } = flatContext(canvas), ink = inkOf(canvas), size = width < 560 ? 12 : 13, values = [...frame.values];
  pen.font = ink.font(size);
  const [d0, d1] = decadesAround(values), best = values.reduce((b, v, i) => v > (values[b] ?? -Infinity) ? i : b, -1);
  const rect = { left: makeRoom(40, width * 0.34, hello.rows, pen) + 12, top: look.top + 26, right: width - (width < 560 ? 72 : 150), bottom: height - 56 };
  const px = (v) => rect.left + (Math.log10(v) - d0) / (d1 - d0) * (rect.right - rect.left), h = Math.min(56, (rect.bottom - rect.top) / frame.rows);
  const bottom = rect.top + h * frame.rows;
  const ticks = Array.from({ length: d1 - d0 + 1 }, (_, i) => 10 ** (d0 + i)), every = Math.ceil(ticks.length * 56 / (rect.right - rect.left));
  ticks.forEach((v, i) => {
    const x = Math.round(px(v)) + 0.5;
    stroke(pen, [[x, rect.top], [x, bottom]], ink.line, 1);
    if (i % every === 0) label(pen, formatNumber(v), x, bottom + 8, ink.soft, "center", "top");
  });
  label(pen, axisTitle({ ...hello, name: hello.quantity }), rect.right, bottom + 14 + size * 1.8, ink.ink, "right");
  values.forEach((v, i) => {
    const y = rect.top + i * h;
    label(pen, hello.rows[i], rect.left - 10, y + h / 2, ink.soft, "right");
    if (!(v > 0)) {
      label(pen, "not measured", rect.left + 8, y + h / 2, ink.soft);
      return;
    }
    pen.fillStyle = LINES[look.dark ? "dark" : "light"][i === best ? 1 : 0];
    pen.fillRect(rect.left, y + h * 0.15, Math.max(2, px(v) - rect.left), h * 0.7);
    label(pen, formatQuantity(v, hello.unit, 3), px(v) + 8, y + h / 2, ink.ink);
  });
  const known = values.filter((v) => v > 0).length;
  return { text: `${known} of ${values.length} measured` + (best >= 0 ? `; highest: ${hello.rows[best]}, ${formatQuantity(values[best], hello.unit, 3)}` : ""), at: () => "" };
}

// A table of values as a heat map that fills. Returns words, and what lies under a pixel.
export function drawGrid(canvas, frame, hello, look) {
  const { pen, width, height } = flatContext(canvas), ink = inkOf(canvas), size = width < 560 ? 12 : 13;
  pen.font = ink.font(size);
  const known = [...frame.values].filter(Number.isFinite);
  const lo = Math.min(...known), hi = Math.max(...known), span = hi - lo || 1;
  const rect = { left: makeRoom(40, width * 0.34, hello.rows, pen) + 12, top: look.top + 34, right: width - (width < 560 ? 16 : 118), bottom: height - (width < 560 ? 120 : 64) };
  const w = (rect.right - rect.left) / frame.columns, h = Math.min(84, (rect.bottom - rect.top) / frame.rows);
  rect.top += Math.max(0, (rect.bottom - rect.top - h * frame.rows) * 0.4);
  rect.bottom = rect.top + h * frame.rows;
  const shade = (v) => colourAt(look.map, 0.08 + 0.9 * (v - lo) / span);
  let filled = 0, best = -1;
  for (let i = 0; i < frame.values.length; i++) {
    const x = rect.left + i % frame.columns * w, y = rect.top + Math.floor(i / frame.columns) * h, v = frame.values[i];
    if (!Number.isFinite(v)) {
      pen.strokeStyle = ink.line;
      pen.strokeRect(x + 2.5, y + 2.5, w - 5, h - 5);
      continue;
    }
    filled++;
    if (best < 0 || v > frame.values[best]) best = i;
    const colour = shade(v);
    pen.fillStyle = cssColour(colour);
    pen.fillRect(x + 1, y + 1, w - 2, h - 2);
    const text = formatNumber(v, 3);
    if (pen.measureText(text).width > w - 8 || h < 18) continue;
    label(pen, text, x + w / 2, y + h / 2, 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2] > 120 ? "#000" : "#fff", "center");
  }
  drawGridText(pen, rect, w, h, hello, ink, size);
  if (filled) drawScale(pen, width < 560 ? { x: rect.left, y: rect.bottom + 64, w: rect.right - rect.left, h: 12 } : { x: rect.right + 24, y: rect.top, w: 14, h: Math.max(120, rect.bottom - rect.top) },
    (t) => colourAt(look.map, 0.08 + 0.9 * t), lo, hi, axisTitle({ ...hello, name: hello.quantity }), ink, size);
  const name = (i) => [hello.rows[Math.floor(i / frame.columns)], `${hello.column} ${hello.columns[i % frame.columns]}`.trim()].filter(Boolean).join(", ");
  return { text: `${filled} of ${frame.values.length} measured` + (best >= 0 ? `; highest: ${name(best)}, ${formatQuantity(frame.values[best], hello.unit)}` : ""),
    at: (px, py) => { // pixels of the canvas
      const x = px * width / canvas.width, y = py * height / canvas.height;
      const c = Math.floor((x - rect.left) / w), r = Math.floor((y - rect.top) / h);
      if (c < 0 || r < 0 || c >= frame.columns || r >= frame.rows) return "";
      const v = frame.values[r * frame.columns + c];
      return `${name(r * frame.columns + c)}: ${Number.isFinite(v) ? formatQuantity(v, hello.unit) : "not measured yet"}`;
    } };
}

function drawGridText(pen, rect, w, h, hello, ink, size) {
  if (h >= size) hello.rows.forEach((name, r) => label(pen, name, rect.left - 10, rect.top + (r + 0.5) * h, ink.soft, "right"));
  const every = Math.ceil(Math.max(...hello.columns.map((t) => pen.measureText(t).width)) * 1.25 / w);
  hello.columns.forEach((name, c) => c % every === 0 && label(pen, name, rect.left + (c + 0.5) * w, rect.bottom + 8, ink.soft, "center", "top"));
  pen.font = ink.font(size, 600);
  label(pen, hello.column, rect.right, rect.bottom + 14 + size * 1.8, ink.ink, "right");
  label(pen, hello.row, rect.left, rect.top - 14, ink.ink);
}

// The ends of a scale, with enough digits to tell them apart. Pure.
export function endTexts(lo, hi) {
  let digits = 3;
  while (digits < 12 && formatNumber(lo, digits) === formatNumber(hi, digits)) digits++;
  return [formatNumber(lo, digits), formatNumber(hi, digits)];
}

// A colour scale with its ends and title; upright, or lying when it is wider than high. Equal values have their colour alone.
export function drawScale(pen, at, colour, lo, hi, title, ink, size) {
  const upright = at.h > at.w, n = Math.round(upright ? at.h : at.w);
  if (!(hi > lo)) {
    pen.fillStyle = cssColour(colour(0.5));
    pen.fillRect(at.x, at.y, at.h > at.w ? at.w : at.h, at.h > at.w ? at.w : at.h);
    pen.font = ink.font(size);
    label(pen, `${title}: ${formatNumber(lo, 3)}`, at.x + Math.min(at.w, at.h) + 8, at.y + Math.min(at.w, at.h) / 2, ink.ink);
    return;
  }
  for (let i = 0; i < n; i++) {
    pen.fillStyle = cssColour(colour((i + 0.5) / n));
    if (upright) pen.fillRect(at.x, at.y + at.h - i - 1, at.w, 1.5);
    else pen.fillRect(at.x + i, at.y, 1.5, at.h);
  }
  const [low, high] = endTexts(lo, hi), side = at.x + at.w, end = at.y + at.h;
  pen.font = ink.font(size);
  label(pen, title, upright ? at.x - 8 : at.x, at.y - 14, ink.ink);
  label(pen, low, upright ? side + 8 : at.x, upright ? end - 6 : end + 12, ink.soft);
  label(pen, high, upright ? side + 8 : side, upright ? at.y + 6 : end + 12, ink.soft, upright ? "left" : "right");
}

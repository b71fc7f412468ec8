// svg.js - a pen for plots that writes SVG: the part of a canvas's context that axes, lines and labels use. Pure.
// SPDX-License-Identifier: MIT

const ANCHORS = { right: "end", center: "middle" };

function round(v) {
  return +v.toFixed(2);
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

export class SvgPen {
  // measure(text, font): the width of a text
  constructor(measure) {
    Object.assign(this, { measure, parts: [], dash: [], font: "12px sans-serif", fillStyle: "", strokeStyle: "", lineWidth: 1, textAlign: "left", textBaseline: "middle" });
    this.beginPath();
  }

  setLineDash(dash) { this.dash = dash; }
  measureText(text) { return { width: this.measure(text, this.font) }; }
  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${round(x)} ${round(y)}`; }
  lineTo(x, y) { this.path += `L${round(x)} ${round(y)}`; }
  arc(x, y, r) { this.path += `M${round(x - r)} ${round(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`; }
  fill() { this.parts.push(`<path d="${this.path}" fill="${this.fillStyle}"/>`); }
  fillRect(x, y, w, h) { this.parts.push(`<rect x="${round(x)}" y="${round(y)}" width="${round(w)}" height="${round(h)}" fill="${this.fillStyle}"/>`); }

  stroke() {
    if (!this.path.includes("L")) return;
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join()}"` : "";
    this.parts.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}" stroke-linejoin="round"${dash}/>`);
  }

  // Baselines as shifts: not every program knows dominant-baseline.
  fillText(text, x, y) {
    const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font), down = { middle: 0.35, top: 0.8 }[this.textBaseline] || 0;
    this.parts.push(`<text x="${round(x)}" y="${round(y + down * size)}" font-family="${escaped(family)}" font-size="${size}" font-weight="${weight || 400}" ` +
      `fill="${this.fillStyle}" text-anchor="${ANCHORS[this.textAlign] || "start"}">${escaped(text)}</text>`);
  }
}

// Drawings below each other as one file: [{ pen, width, height }, ...].
export function svgText(sheets, paper) {
  const width = Math.max(...sheets.map((s) => s.width)), height = sheets.reduce((sum, s) => sum + s.height, 0);
  let top = 0;
  const groups = sheets.map(({ pen, height: high }) => {
    const group = `<g transform="translate(0 ${top})">\n${pen.parts.join("\n")}\n</g>\n`;
    top += high;
    return group;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n` +
    `<rect width="${width}" height="${height}" fill="${paper}"/>\n${groups.join("")}</svg>\n`;
}

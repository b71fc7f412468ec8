// numbers.js - numbers as people read them, and places for the marks of an axis.
// SPDX-License-Identifier: MIT

const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// The exponent as small raised digits.
function raised(power) {
  return (power < 0 ? "⁻" : "") + [...String(Math.abs(power))].map((d) => SUPERSCRIPT[+d]).join("");
}

// 1234.5 as 1,234.5 (by hand: what browsers have for it takes long to be there)
function grouped(text) {
  return text.replace(/\d+/, (whole) => whole.replace(/\d(?=(\d{3})+$)/g, "$&,")).replace("-", "−");
}

// A number with at most so many significant digits: 12,345, 0.25, 1.5×10⁻⁹.
export function formatNumber(value, digits = 4) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-3 || size >= 1e6 && !Number.isSafeInteger(value) || size >= 1e15) {
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    return String(+mantissa).replace("-", "−") + "×10" + raised(+power);
  }
  const rounded = Number.isInteger(value) ? value : +value.toPrecision(Math.max(digits, Math.ceil(Math.log10(size))));
  return grouped(String(rounded));
}

// A number and its unit.
export function formatQuantity(value, unit = "", digits = 4) {
  return formatNumber(value, digits) + (unit ? " " + (value === 1 ? unit.replace(/^([a-z]{3,})s$/, "$1") : unit) : "");
}

// 1, 2 or 5 times a power of ten, the next at or above.
export function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  const part = rough / power;
  return [1, 2, 5, 10].find((n) => part <= n * 1.000001) * power;
}

// About `count` round places between two numbers.
export function niceTicks(from, to, count) {
  if (!(to - from > 1e-10 * Math.abs(from)) || !Number.isFinite(to - from)) return [from]; // no more digits to tell them apart
  const step = niceStep((to - from) / Math.max(1, count));
  const ticks = [];
  for (let i = Math.ceil(from / step - 1e-6); i <= Math.floor(to / step + 1e-6); i++) ticks.push(+(i * step).toPrecision(14));
  return ticks.length < 2 && count < 20 ? niceTicks(from, to, count * 2) : ticks;
}

// The marks of an axis in words that have one form: all with the digits that their distance needs. They share one power of ten,
// which stands apart.
export function tickTexts(ticks) {
  const size = Math.max(...ticks.map(Math.abs), 0);
  const power = size > 0 && (size >= 1e5 || size < 1e-2) ? Math.floor(Math.log10(size) + 1e-9) : 0;
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : size || 1;
  const digits = Math.min(12, Math.max(0, -Math.floor(Math.log10(step / 10 ** power) + 1e-6)));
  const texts = ticks.map((t) => grouped((t / 10 ** power).toFixed(digits).replace(/^-(?=[0.]*$)/, "")));
  return { texts, power: power ? "×10" + raised(power) : "" };
}

// speeds.js - the speeds that the page offers: steps a second, time a second, or pictures a second. Pure.
// SPDX-License-Identifier: MIT
import { formatNumber, formatQuantity } from "./numbers.js";

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 0];

// The words for a speed as the run takes it; 0 is as fast as it can.
export function speedWords({ live, step_time: time, time: { unit = "" } = {} }, speed) {
  if (!speed) return live ? "as fast as it can" : "as recorded";
  if (!live) return `${formatNumber(speed, 3)} pictures a second`;
  return time > 0 ? `${formatQuantity(+(speed * time).toPrecision(3), unit || "time units")} a second` : `${formatNumber(speed, 4)} a second`;
}

// Choices of a run: [speed as the run takes it, words], slowest first.
export function speedsOf(hello) {
  const { live, step_time: time } = hello, named = (s) => [s, speedWords(hello, s)];
  if (!live || !(time > 0)) return STEPS.map(named);
  const middle = Math.floor(Math.log10(100 * time) + 1e-9), choices = [];
  for (let power = middle - 2; power <= middle + 2; power++)
    for (const part of [1, 2, 5]) choices.push(part * 10 ** power / time);
  return [...choices, 0].map(named);
}

// The choice nearest to a speed.
export function nearestSpeed(speeds, speed) {
  const far = ([s]) => speed > 0 && s > 0 ? Math.abs(Math.log(s / speed)) : s === speed || !s && !speed ? 0 : Infinity;
  return speeds.reduce((best, s, i) => far(s) < far(speeds[best]) ? i : best, speeds.length - 1);
}

// speeds.js - the speeds that the page offers: steps a second, time a second, or pictures a second. Pure.
// SPDX-License-Identifier: MIT
import { formatNumber, formatQuantity } from "./numbers.js";

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 0];

// Choices of a run: [speed as the run takes it, words], slowest first; 0 is as fast as it can.
export function speedsOf({ live, step_time: time, time: { unit = "" } = {} }) {
  if (!live) return STEPS.map((s) => [s, s ? `${formatNumber(s)} pictures a second` : "as recorded"]);
  if (!(time > 0)) return STEPS.map((s) => [s, s ? `${formatNumber(s)} a second` : "as fast as it can"]);
  const middle = Math.floor(Math.log10(100 * time) + 1e-9), choices = [];
  for (let power = middle - 2; power <= middle + 2; power++)
    for (const part of [1, 2, 5]) choices.push([part * 10 ** power / time, `${formatQuantity(+(part * 10 ** power).toPrecision(3), unit || "time units")} a second`]);
  return [...choices, [0, "as fast as it can"]];
}

// The choice nearest to a speed.
export function nearestSpeed(speeds, speed) {
  const far = ([s]) => speed > 0 && s > 0 ? Math.abs(Math.log(s / speed)) : s === speed || !s && !speed ? 0 : Infinity;
  return speeds.reduce((best, s, i) => far(s) < far(speeds[best]) ? i : best, speeds.length - 1);
}

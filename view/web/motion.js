// motion.js - places between frames: each body moves along a cubic through the last four frames, which is a sum of those frames
// with four weights that all bodies share. Pure: runs in Node too.
// SPDX-License-Identifier: MIT

// The slope at t2 of the parabola through three frames, as weights of the three.
function slopeAtLast(t0, t1, t2) {
  const a = t1 - t0, b = t2 - t1;
  return [b / (a * (a + b)), -(a + b) / (a * b), (a + 2 * b) / (b * (a + b))];
}

// Weights of the frames at `times` (1 to 4, growing) for the time `now`, which lies between two of them or is moved there.
// Place and velocity are continuous when a frame comes and the oldest goes; nearly so if the shown time had not reached the last frame.
export function frameWeights(times, now) {
  const n = times.length, weights = new Array(n).fill(0);
  if (n > 2 && now < times[n - 2]) return [...frameWeights(times.slice(0, -1), now), 0];
  if (n === 1 || now >= times[n - 1]) {
    weights[n - 1] = 1;
    return weights;
  }
  const c = times[n - 2], d = times[n - 1], h = d - c;
  const u = Math.max(0, (now - c) / h);
  if (n === 2) return [1 - u, u];
  const h00 = (1 + 2 * u) * (1 - u) ** 2, h10 = u * (1 - u) ** 2 * h, h01 = u * u * (3 - 2 * u), h11 = u * u * (u - 1) * h;
  weights[n - 2] += h00;
  weights[n - 1] += h01;
  const end = slopeAtLast(times[n - 3], c, d);
  end.forEach((w, i) => { weights[n - 3 + i] += h11 * w; });
  if (n === 3) { // the parabola's own slope at c
    const a = c - times[0];
    [-h / (a * (a + h)), (h - a) / (a * h), a / (h * (a + h))].forEach((w, i) => { weights[i] += h10 * w; });
  } else slopeAtLast(times[0], times[1], c).forEach((w, i) => { weights[i] += h10 * w; });
  return weights;
}

const SOFT = 0.25; // of the time between frames

// How the time that is shown follows the frames: evenly, a little more than a frame late, never backwards.
export class Pace {
  constructor() {
    this.shown = NaN;    // time of the picture
    this.newest = NaN;   // time of the newest frame
    this.arrived = NaN;  // when it came, in ms
    this.between = 100;  // ms between frames, lately
  }

  // A frame came.
  frame(time, now) {
    const wait = now - this.arrived;
    if (!this.moving) this.last = now; // it stood
    if (!(time > this.newest) || !(wait < 3000)) this.shown = time; // the first, one from before, or after a rest
    else this.between += (wait - this.between) * (wait > this.between ? 0.5 : 0.05); // long waits count, so that it rarely stands
    this.gap = time - this.shown;
    this.newest = time;
    this.rate = (time - this.shown) / (1.2 * this.between);
    this.arrived = now;
  }

  // The time to show now. Near the newest frame it goes slower and slower, so that bodies do not stand where the next one is late.
  at(now) {
    const ms = Math.max(0, now - this.last), left = this.newest - this.shown, soft = SOFT * this.between;
    const even = Math.min(ms, Math.max(0, left / this.rate - soft)), rest = (left - even * this.rate) * (1 - Math.exp((even - ms) / soft));
    this.shown = left > 0.002 * this.gap ? Math.min(this.newest, this.shown + even * this.rate + rest) : this.newest;
    this.last = now;
    return this.shown;
  }

  get moving() {
    return this.shown < this.newest;
  }
}

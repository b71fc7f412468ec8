// trails.js - where few bodies have been: their positions at the times of frames, and between frames as the run reports them.
// Pure: runs in Node too.
// SPDX-License-Identifier: MIT

const MOST_PLACES = 24576; // of all bodies
const SPACING = 5; // times the spacing of the instants beside it is a gap

export class Trails {
  constructor() {
    this.clear();
  }

  clear() {
    this.instants = []; // { time, places: x, y, z of every body }, by time
  }

  // Add positions; where there are too many, the older half is thinned. An instant that is not later than all before tells nothing new.
  add(time, places) {
    const { instants } = this, last = instants.at(-1);
    if (last && last.places.length !== places.length) this.clear();
    else if (last && !(time > last.time)) return;
    this.instants.push({ time, places });
    const { length } = this.instants;
    if (length * places.length > 3 * MOST_PLACES && length > 8) this.instants = this.instants.filter((_, i) => i % 2 === 0 || i > length / 2);
  }

  // placeOf(frame, k): the place of body k
  addFrame(frame, placeOf) {
    const places = new Float32Array(3 * frame.count);
    for (let k = 0; k < frame.count; k++) places.set(placeOf(frame, k), 3 * k);
    this.add(frame.time, places);
  }

  // path: [[time, x, y, z, x, y, z, ...], ...]
  addPath(path) {
    for (const [time, ...places] of path || []) this.add(time, Float32Array.from(places));
  }

  since(time) {
    return this.instants.filter((i) => i.time >= time);
  }
}

// True if instants are missing before instant i: its distance in time is far above those beside it. Pure.
export function isMissing(instants, i) {
  const wait = (k) => k > 0 && k < instants.length ? instants[k].time - instants[k - 1].time : 0;
  const beside = Math.max(wait(i - 1), wait(i + 1));
  return beside > 0 && wait(i) > SPACING * beside;
}

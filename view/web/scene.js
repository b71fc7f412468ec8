// scene.js - the picture: its kind, camera and colours; redrawn only after a change.
// SPDX-License-Identifier: MIT
import { Above, Orbit, ballAround } from "./camera.js";
import { CellsPicture, regionFor, squaresSeen } from "./cells.js";
import { drawBars, drawGrid, drawRates, drawScale, flatContext, inkOf, label, stroke } from "./chart.js";
import { FlatPicture } from "./flat.js";
import { cssColour, groupColour, shadeAt, stateColour } from "./colour_maps.js";
import { Pace } from "./motion.js";
import { formatNumber, formatQuantity, niceStep } from "./numbers.js";
import { PointsPicture, ballSizes, bodyPlace } from "./points.js";
import { liveBox, rleText } from "./rle.js";

const AXES = [["x", [1, 0, 0]], ["y", [0, 1, 0]], ["z", [0, 0, 1]]];

// "rgb(r, g, b)" as three numbers of 0 to 1
function toUnit(colour) {
  return colour.match(/[\d.]+/g).slice(0, 3).map((v) => v / 255);
}

export class Scene {
  // said: called with a message for people; changed: called when a redraw is needed
  constructor(canvas, marks, said, changed) {
    Object.assign(this, { canvas, marks, said, changed });
    this.look = { map: "inferno", colour: "none", bright: 1, trails: false };
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.orbit = new Orbit();
    this.above = new Above();
    this.pace = new Pace();
    this.most = Infinity; // bodies drawn while they move, on slow GPUs
    this.follow = -1;
    canvas.addEventListener("webglcontextlost", (e) => e.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => this.rebuild());
    new ResizeObserver(() => this.resize()).observe(canvas);
  }

  // What the run shows: points, cells, bars or grid.
  begin(hello) {
    this.hello = hello;
    this.kind = ["points", "cells", "bars", "grid"].find((kind) => hello[kind]);
    this.look.cells = hello.cells;
    this.frame = this.picture = null;
    this.fitted = false;
    this.chosen = null;
    this.above.least = hello.cells && !hello.cells.width ? 2 ** -54 : 1e-7; // pixels a cell; a plane is seen whole
    this.resize();
    if (this.kind === "cells") this.fit();
  }

  // Slow preparations, after the first picture was requested.
  prepare() {
    if (this.placed) this.makePicture();
    this.setLook({});
  }

  // True for pictures with a camera.
  get placed() {
    return this.kind === "points" || this.kind === "cells";
  }

  makePicture() {
    this.gl ||= this.canvas.getContext("webgl2", { antialias: false, alpha: false, depth: false, powerPreference: "high-performance" });
    const few = this.kind === "points" && this.hello.points.bodies;
    if (this.gl) this.picture = this.kind === "points" ? new PointsPicture(this.gl, few && ballSizes(few.masses)) : new CellsPicture(this.gl);
    else {
      this.picture = new FlatPicture(this.canvas);
      this.said("This browser has no WebGL2, so the picture is a simpler one" + (this.kind === "points" ? ", of 20,000 bodies at most." : "."), true);
    }
  }

  // After the graphics device was lost and is back.
  rebuild() {
    this.prepare();
    if (this.frame) this.picture.push(this.frame);
  }

  resize() {
    const { canvas } = this, ratio = Math.min(2, devicePixelRatio || 1);
    if (!this.placed) {
      this.changed();
      return;
    }
    const [w, h] = [Math.max(1, Math.round(canvas.clientWidth * ratio)), Math.max(1, Math.round(canvas.clientHeight * ratio))];
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    for (const camera of [this.orbit, this.above]) Object.assign(camera, { width: w, height: h, ratio });
    this.changed();
  }

  setLook(part) {
    Object.assign(this.look, part);
    const ink = inkOf(this.canvas);
    const { cells } = this.look, paper = cells && cells.colours ? stateColour(this.look, 0).map((v) => v / 255) : toUnit(ink.paper), line = toUnit(ink.line);
    Object.assign(this.look, { paper, beyond: paper.map((v, c) => 0.6 * v + 0.4 * line[c]), age: this.look.colour !== "none" });
    if (this.picture) this.picture.setLook(this.look);
    this.marked = "";
    this.changed();
  }

  // A picture arrived; alone: it does not continue the one before.
  show(frame, alone = false) {
    const now = performance.now();
    this.frame = frame;
    if (!this.picture) {
      this.changed();
      return;
    }
    if (frame.kind === "points") {
      this.picture.push(frame, alone);
      this.pace.frame(frame.time, now);
      if (alone || this.calm.matches || frame.flags & 4 || this.picture.leaps) this.pace.shown = frame.time;
    } else this.picture.push(frame);
    if (this.seeking) this.seek(frame);
    if (!this.fitted) this.fit();
    this.changed();
  }

  // Trails of a few bodies, through instants.
  setTrails(instants) {
    if (this.kind === "points" && this.picture && this.frame && (this.look.trails || this.trailed)) this.picture.setTrails(this.look.trails ? instants : []);
    this.trailed = this.look.trails;
  }

  // The box of a plane's live cells is known.
  setBox(box) {
    this.box = box;
    if (this.kind === "cells" && this.seeking && box) this.fit();
  }

  fit() {
    this.follow = -1;
    const { box } = this;
    const { frame, hello } = this;
    if (this.kind === "points" && frame) {
      const places = [];
      for (let k = 0; k < Math.min(3000, frame.count); k++) places.push(bodyPlace(frame, k));
      const { centre, radius } = ballAround(places);
      this.orbit.fit(centre, radius);
      this.fitted = true;
    }
    if (this.kind === "cells") {
      if (hello.cells.width) this.above.fit(hello.cells.width, hello.cells.height);
      else if (box) this.above.fitBox(box);
      else Object.assign(this.above, { x: 0, y: 0, scale: 1 });
      this.seeking = !hello.cells.width && !box;
      this.fitted = true;
    }
    this.touched();
  }

  // On an unbounded plane: zoom out, picture by picture, until all live cells are in view.
  seek(frame) {
    const { above } = this, region = regionFor(above, this.hello.cells), side = 2 ** frame.zoom;
    if (["x", "y", "width", "height", "zoom"].some((name) => frame[name] !== region[name])) return; // requested before
    const box = liveBox(frame), all = box && box[0] > 0 && box[1] > 0 && box[2] < frame.width && box[3] < frame.height;
    if (all) {
      above.fit((box[2] - box[0] + 2) * side, (box[3] - box[1] + 2) * side);
      above.x = frame.x + (box[0] + box[2]) / 2 * side;
      above.y = frame.y + (box[1] + box[3]) / 2 * side;
    } else above.zoom(1 / 16);
    this.seeking = !all && above.scale > above.least;
    this.changed();
  }

  // True if the picture has squares of many cells where cells would be seen, because nearer ones did not come.
  isCoarse() {
    return this.frame.zoom > 0 && this.above.scale * 2 ** this.frame.zoom > 4;
  }

  // The visible cells as RLE, or "" if they are too far away.
  rle() {
    const { frame, above, hello: { cells } } = this;
    return frame.zoom ? "" : rleText(frame, squaresSeen(frame, above, cells), cells.rule);
  }

  touched() {
    this.smear = false;
    this.touchedAt = performance.now();
    this.changed();
  }

  // Mouse and touch on the picture; pixels of the canvas.
  drag(dx, dy, move) {
    this.seeking = false;
    if (this.kind === "cells") this.above.pan(dx, dy);
    else if (move) this.orbit.pan(dx, dy);
    else this.orbit.orbit(dx, dy);
    if (move) this.follow = -1;
    this.touched();
  }

  zoom(factor, x, y) {
    this.seeking = false;
    (this.kind === "cells" ? this.above : this.orbit).zoom(factor, x, y);
    this.touched();
  }

  centre(x, y) {
    this.seeking = false;
    if (this.kind === "cells") [this.above.x, this.above.y] = this.above.cell(x, y);
    else if (this.kind === "points") {
      const k = this.nearest(x, y);
      if (k >= 0) this.orbit.target = bodyPlace(this.frame, k);
    }
    this.touched();
  }

  // The body that lies nearest to a pixel; -1: none is so near.
  nearest(x, y, near = Infinity) {
    let best = -1, least = near ** 2;
    const count = this.frame ? Math.min(this.frame.count, 200000) : 0;
    for (let k = 0; k < count; k++) {
      const at = this.orbit.project(bodyPlace(this.frame, k));
      const far = at ? (at[0] - x) ** 2 + (at[1] - y) ** 2 : Infinity;
      if (far < least) [best, least] = [k, far];
    }
    return best;
  }

  setFollow(on) {
    this.follow = on ? this.nearest(this.canvas.width / 2, this.canvas.height / 2) : -1;
    this.touched();
    return this.follow >= 0;
  }

  // The request to the run: the visible part, at a resolution that the bandwidth allows.
  wish(share) {
    if (this.kind === "cells") return { cells: { ...regionFor(this.above, this.hello.cells), coding: share.coding ? 2 : 0 } };
    if (this.kind !== "points") return null;
    const colour = this.look.colour, points = { count: share.count, colour, coding: share.coding };
    const { frame, orbit } = this, reach = orbit.perPixel * Math.max(orbit.width, orbit.height);
    const box = frame && !(frame.flags & 4) ? frame.box : this.wholeBox;
    if (!box) return { points };
    this.wholeBox = box;
    if ((box[3] - box[0]) / 65536 < orbit.perPixel) return { points };
    const grain = 2 ** Math.round(Math.log2(reach)); // so that small movements repeat the same request
    const middle = orbit.target.map((t) => Math.round(t / grain * 2) * grain / 2);
    return { points: { ...points, coding: 0, region: [...middle.map((m) => m - 3 * grain), ...middle.map((m) => m + 3 * grain)] } };
  }

  // Draw; return true if the picture keeps moving. bare: without overlays.
  draw(now, bare = false) {
    const { frame, kind } = this;
    if (kind === "bars" || kind === "grid") {
      const look = { ...this.look, top: this.canvas.parentElement.querySelector("header").offsetHeight + 24 };
      if (!frame || frame.kind !== kind) return false;
      const drawn = (kind === "bars" ? drawBars : frame.columns === 1 && frame.rows > 1 ? drawRates : drawGrid)(this.canvas, frame, this.hello[kind], look);
      [this.words, this.under] = [drawn.text, drawn.at];
      return false;
    }
    if (!frame || !this.picture || this.gl && this.gl.isContextLost()) return false;
    if (kind === "cells") {
      this.picture.draw(this.above, this.hello.cells);
      return !bare && this.drawMarks();
    }
    const time = this.pace.at(now), moving = this.pace.moving;
    const busy = moving || now - this.touchedAt < 300;
    this.mind(now, busy);
    const place = this.follow >= 0 && this.picture.placeAt(this.follow, time);
    if (place) this.orbit.target = place;
    const keep = this.look.trails && frame.count > 512 && this.smear && (moving || this.picture.leaps) ? 0.92 : 0;
    this.smear = true;
    this.picture.draw(this.orbit, time, keep, busy ? this.most : Infinity);
    if (!bare) this.drawMarks(time);
    return moving || busy && this.most < frame.count;
  }

  // While bodies or the camera move, a slow GPU draws fewer bodies; a still picture has all.
  mind(now, busy) {
    const took = now - this.drawn;
    this.drawn = now;
    if (!busy || !(took < 1000)) return;
    this.took = (this.took || took) * 0.8 + took * 0.2;
    const count = Math.min(this.most, this.frame.count);
    if (this.took > 45 && count > 20000) [this.most, this.took] = [Math.max(20000, count / 1.5), 30];
    else if (this.took < 20 && this.most < this.frame.count) [this.most, this.took] = [count * 1.3, 30];
  }

  // Overlays: scale, axes and colour legend.
  drawMarks(time) {
    const { marks, frame, look, kind, orbit } = this, perPixel = kind === "points" ? orbit.perPixel * orbit.ratio : this.above.ratio / this.above.scale;
    const state = [marks.clientWidth, marks.clientHeight, perPixel, this.chosen && [this.above.x, this.above.y], orbit.yaw, orbit.pitch, frame.colour, frame.lo, frame.hi,
      this.chosen, this.names || this.picked >= 0 ? [time, this.picked, ...orbit.target] : ""].join();
    if (state === this.marked) return false;
    this.marked = state;
    const { pen, width, height } = flatContext(marks), ink = inkOf(marks);
    const length = niceStep(perPixel * 56), wide = length / perPixel;
    const unit = kind === "points" ? (this.hello.points.units || {}).length || "" : "cells";
    pen.font = ink.font(12);
    const text = (words, x, y, align) => {
      Object.assign(pen, { lineWidth: 3, strokeStyle: ink.paper, textAlign: align, textBaseline: "middle" });
      pen.strokeText(words, x, y);
      label(pen, words, x, y, ink.ink, align);
    };
    text(formatQuantity(length, unit, 3), 16, height - 28, "left");
    const scale = [[16, height - 19], [16, height - 14], [16 + wide, height - 14], [16 + wide, height - 19]];
    stroke(pen, scale, ink.paper, 4);
    stroke(pen, scale, ink.ink, 1.5);
    if (this.chosen) this.drawChosen(pen, ink);
    if (kind !== "points") return false;
    this.drawTriad(pen, text, 42, height - 76, ink);
    if (this.names && frame.count === this.names.length) this.drawNames(pen, text, time, ink);
    if (frame.colour === "group" && look.colour === "group") (this.hello.points.groups || []).slice(0, 8).forEach((name, i, all) => {
      const y = height - 18 - 20 * (all.length - 1 - i);
      pen.fillStyle = cssColour(groupColour(i));
      pen.fillRect(width - 110, y - 8, 10, 10);
      text("group " + name, width - 94, y - 3, "left");
    });
    else if (frame.shades && look.colour !== "none") {
      const title = (this.hello.points.units || {})[frame.colour];
      drawScale(pen, { x: width - 196, y: height - 40, w: 180, h: 8 }, (t) => shadeAt(look, t), frame.lo, frame.hi,
        frame.colour + (title ? ` (${title})` : "") + ", log", ink, 12);
    }
  }

  // The frame of the selected cells.
  drawChosen(pen, ink) {
    const { above, chosen } = this, [left, top] = above.cell(0, 0), f = above.scale / above.ratio;
    const [x0, y0, x1, y1] = chosen.map((v, i) => (v - (i % 2 ? top : left)) * f);
    stroke(pen, [[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]], ink.paper, 4);
    stroke(pen, [[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]], ink.ink, 1.5);
  }

  // Names beside few bodies, where they do not overlap, and the orbit of the picked body.
  drawNames(pen, text, time, ink) {
    const { orbit, orbitOfPicked, picked, names } = this, placed = [], scale = 1 / orbit.ratio;
    const pixel = (place) => orbit.project(place)?.map((v) => v * scale);
    const centre = orbitOfPicked && this.picture.placeAt(orbitOfPicked.about, time);
    if (centre) stroke(pen, orbitOfPicked.points.map((p) => pixel(p.map((v, c) => v + centre[c]))), ink.soft, 1);
    for (const k of [picked, ...this.prominent]) {
      const place = k >= 0 && this.picture.placeAt(k, time), at = place && pixel(place);
      if (!at || !names[k] || placed.some((p) => Math.abs(p[0] - at[0]) < 48 && Math.abs(p[1] - at[1]) < 14)) continue;
      placed.push(at);
      text(names[k], at[0] + 9, at[1] - 9, "left");
    }
  }

  drawTriad(pen, text, x, y, ink) {
    const [right, up] = this.orbit.axes();
    for (const [name, axis] of AXES) {
      const dx = axis.reduce((n, v, c) => n + v * right[c], 0), dy = -axis.reduce((n, v, c) => n + v * up[c], 0);
      stroke(pen, [[x, y], [x + 20 * dx, y + 20 * dy]], ink.soft, 1.5);
      if (Math.hypot(dx, dy) > 0.2) text(name, x + 28 * dx, y + 28 * dy, "center");
    }
  }
}

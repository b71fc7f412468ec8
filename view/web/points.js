// points.js - bodies: summed into a texture of floats, then mapped logarithmically to colours; between frames they move on the GPU.
//
//   frames (4) --weights--> place --sum--> RGBA32F: colour x weight, weight --largest sum, 8 x 8 at a time--> one pixel
//                                             '---------------- log(1 + sum) / log(1 + largest) ----------------> window
// SPDX-License-Identifier: MIT
import { WHOLE, drawInto, drawWhole, fillTable, freeTarget, makeProgram, makeTarget, makeTexture, sumFormat, useProgram } from "./gl.js";
import { colourAt, colourTable, groupColour, shadeAt } from "./colour_maps.js";
import { frameWeights } from "./motion.js";
import { isMissing } from "./trails.js";

const HELD = 4; // frames on the GPU
const SMOOTH = 0.7; // least cosine of the angles of a trail: eight instants an orbit

// A body is a soft disc. `still`: only the last frame.
const BODY = (still) => `in float x0, y0, z0; ${still ? "" : "in float x1, y1, z1, x2, y2, z2, x3, y3, z3;"}
in float shade;
uniform vec3 base, scale0${still ? "" : ", scale1, scale2, scale3"};
uniform mat4 matrix;
uniform float size;
uniform sampler2D table;
out vec3 colour;
void main() {
  vec3 place = base + scale0 * vec3(x0, y0, z0)${still ? "" : " + scale1 * vec3(x1, y1, z1) + scale2 * vec3(x2, y2, z2) + scale3 * vec3(x3, y3, z3)"};
  gl_Position = matrix * vec4(place, 1.0);
  gl_PointSize = size;
  colour = texelFetch(table, ivec2(shade * 255.0 + 0.5, 0), 0).rgb;
}`;

const SPOT = `in vec3 colour;
uniform float weight, size;
out vec4 sum;
void main() {
  float r = length(gl_PointCoord - 0.5) * 2.0;
  float w = size < 1.5 ? weight : weight * max(0.0, exp(-min(3.0, size - 1.0) * r * r) - 0.05);
  sum = vec4(colour * w, w);
}`;

// A trail ends where its body is at the time `now`, and fades towards the time `then`.
const TRAIL = `in vec3 place; in float time;
uniform mat4 matrix; uniform vec3 base;
out float when;
void main() { gl_Position = matrix * vec4(place + base, 1.0); gl_PointSize = 3.0; when = time; }`;

const LINE = `in float when;
uniform float weight, now, then;
uniform bool many;
out vec4 sum;
void main() {
  if (when > now) discard;
  float part = clamp((when - then) / (now - then), 0.0, 1.0);
  sum = vec4(0.55, 0.62, 0.75, 1.0) * weight * (many ? 0.35 * part * part : 0.9 * part);
}`;

// Few bodies with masses: shaded discs.
const BALL = `in vec3 place, colour; in float size;
uniform mat4 matrix;
out vec3 own;
out float wide;
void main() { gl_Position = matrix * vec4(place, 1.0); gl_PointSize = wide = size; own = colour; }`;

const SHADED = `in vec3 own;
in float wide;
out vec4 pixel;
void main() {
  vec2 at = gl_PointCoord * 2.0 - 1.0;
  float r = length(at), cover = clamp((1.0 - r) * wide * 0.5, 0.0, 1.0);
  float light = max(0.0, dot(vec3(at, sqrt(max(0.0, 1.0 - r * r))), vec3(-0.45, -0.45, 0.77)));
  pixel = vec4(own * (0.45 + 0.55 * light), cover);
}`;

const LARGEST = `uniform sampler2D source; uniform vec2 extent;
out vec4 largest;
void main() {
  float most = 0.0;
  for (int y = 0; y < 8; y++) for (int x = 0; x < 8; x++) {
    ivec2 p = ivec2(gl_FragCoord.xy) * 8 + ivec2(x, y);
    if (all(lessThan(p, ivec2(extent)))) most = max(most, texelFetch(source, p, 0).a);
  }
  largest = vec4(most);
}`;

const FADE = `out vec4 nothing;
void main() { nothing = vec4(0.0); }`;

// All of the window; `scale` is what the logarithms of sums are related to.
const SCALED = `uniform sampler2D largest;
uniform float weight, bright;
flat out float scale;
void main() {
  float most = max(texelFetch(largest, ivec2(0), 0).a / weight, 1.0);
  scale = 1.0 / log(1.0 + max(most * bright, 1.2));
  gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0);
}`;

const TONE = `uniform sampler2D sums, table;
uniform float weight, bright;
uniform bool coloured;
uniform vec3 paper;
flat in float scale;
out vec4 pixel;
void main() {
  vec4 sum = texelFetch(sums, ivec2(gl_FragCoord.xy), 0);
  pixel = vec4(paper, 1.0);
  if (sum.a == 0.0) return; // most pixels
  float s = sum.a / weight * bright;
  float v = clamp(log(1.0 + s) * scale, 0.0, 1.0);
  vec3 own = coloured ? sum.rgb / sum.a : texelFetch(table, ivec2(255.5 * (0.2 + 0.8 * v), 0), 0).rgb;
  float cover = (1.0 - exp(-2.5 * s)) * (coloured ? 0.35 + 0.65 * sqrt(v) : 1.0);
  pixel.rgb = mix(paper, own, cover);
}`;

const PLACES = ["shade", ...[0, 1, 2, 3].flatMap((i) => ["x" + i, "y" + i, "z" + i])];
const PROGRAMS = { still: [BODY(true), SPOT, PLACES], moving: [BODY(false), SPOT, PLACES], line: [TRAIL, LINE, ["place", "time"]],
  ball: [BALL, SHADED, ["place", "size", "colour"]],
  largest: [WHOLE, LARGEST], fade: [WHOLE, FADE], tone: [SCALED, TONE] };

// Transform of a frame's normalised u16 to space: base + scale n.
function placesOf(frame) {
  const lo = frame.box.slice(0, 3), size = lo.map((l, c) => (frame.box[3 + c] - l) / 65536);
  return { base: lo.map((l, c) => l + 0.5 * size[c]), scale: size.map((s) => s * 65535) };
}

// The place of body k in a frame.
export function bodyPlace(frame, k) {
  return [0, 1, 2].map((c) => frame.box[c] + (frame.planes[c * frame.count + k] + 0.5) / 65536 * (frame.box[3 + c] - frame.box[c]));
}

// True if the path from a to b to c turns so sharply, by an angle with a cosine below `least`, that no
// curve through them is likely; distances below `far` are ignored. Pure.
export function turnsBack(a, b, c, far, least = 0.3) {
  let [along, one, two] = [0, 0, 0];
  for (let i = 0; i < 3; i++) {
    const d = b[i] - a[i], e = c[i] - b[i];
    [along, one, two] = [along + d * e, one + d * d, two + e * e];
  }
  return two > far * far && along < least * Math.sqrt(one * two);
}

// Smallest visible distance in a frame's box.
function hardly({ box }) {
  return 1e-3 * Math.max(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
}

// Diameters of few bodies in CSS pixels: the cube root of the mass, as of balls of one density, and a floor. Equal masses are
// equal. Pure.
export function ballSizes(masses) {
  const most = Math.max(...masses), largest = masses.length > 16 ? 12 : 18;
  return masses.map((m) => Math.max(6, most > 0 ? largest * Math.cbrt(m / most) : 0));
}

// True if most of a sample of bodies turn back within three frames. Pure.
export function leapsIn(frames) {
  const count = Math.min(256, ...frames.map((f) => f.count)), far = hardly(frames[2]);
  let turned = 0;
  for (let k = 0; k < count; k++) turned += turnsBack(...frames.map((f) => bodyPlace(f, k)), far);
  return turned > count / 2;
}

export class PointsPicture {
  // balls: diameters of few bodies, which are drawn as discs
  constructor(gl, balls = null) {
    this.gl = gl;
    this.balls = balls;
    this.sum = sumFormat(gl);
    this.made = {};
    for (const name of ["still", "largest", "tone"]) this.program(name);
    this.table = makeTexture(gl);
    this.shades = makeTexture(gl);
    this.lineBuffer = gl.createBuffer();
    this.ballBuffer = gl.createBuffer();
    this.held = [];
    this.levels = [];
  }

  // Compiled at first use: the first picture waits for its own program alone.
  program(name) {
    return this.made[name] ||= makeProgram(this.gl, ...PROGRAMS[name]);
  }

  // map, colour ("none", "speed" ...), dark, bright, paper
  setLook(look) {
    this.look = look;
    fillTable(this.gl, this.table, colourTable((t) => colourAt(look.map, look.dark ? t : 1 - t)));
    fillTable(this.gl, this.shades, colourTable((t) => look.colour === "group" ? groupColour(Math.round(255 * t)) : shadeAt(look, t)));
  }

  // Upload a frame; drop frames that bodies cannot have come from.
  push(frame, alone = false) {
    const { gl } = this, last = this.frame;
    if (last && (alone || frame.flags & 4 || last.flags & 4 || !(frame.time > last.time))) this.forget();
    const held = this.held.length === HELD ? this.held.shift() : { buffer: gl.createBuffer() };
    held.frame = frame;
    gl.bindBuffer(gl.ARRAY_BUFFER, held.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, 7 * frame.count, gl.DYNAMIC_DRAW);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, frame.planes);
    if (frame.shades) gl.bufferSubData(gl.ARRAY_BUFFER, 6 * frame.count, frame.shades);
    this.held.push(held);
    this.leaps = this.held.length > 2 && leapsIn(this.held.slice(-3).map((h) => h.frame)); // pictures are too far apart for curves
  }

  // Bind attribute `place` to a buffer: `parts` components of a type, normalised if it is an
  // integer.
  bind(place, buffer, parts, type, stride, from) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, parts, type, type !== gl.FLOAT, stride, from);
  }

  // Bind the last frame, or all frames on the GPU; missing ones have weight 0.
  bindFrames(used, still) {
    const { gl } = this;
    for (let i = 0; i < (still ? 1 : HELD); i++) {
      const { buffer, frame } = used[Math.min(i, used.length - 1)];
      for (let c = 0; c < 3; c++) this.bind(1 + 3 * i + c, buffer, 1, gl.UNSIGNED_SHORT, 2, 2 * c * frame.count);
      if (frame.shades) this.bind(0, buffer, 1, gl.UNSIGNED_BYTE, 1, 6 * frame.count);
      else gl.disableVertexAttribArray(0);
    }
  }

  unbind() {
    for (let i = 0; i < 1 + 3 * HELD; i++) this.gl.disableVertexAttribArray(i);
  }

  forget() {
    for (const { buffer } of this.held) this.gl.deleteBuffer(buffer);
    this.held = [];
    this.trailLines = this.trailDots = 0;
  }

  get frame() {
    return this.held.at(-1)?.frame ?? null;
  }

  // True if the frame has all bodies: a region has fewer, with different numbers.
  get drawsBalls() {
    return this.balls && this.frame.count === this.balls.length;
  }

  // The place of body k at a time.
  placeAt(k, time) {
    if (!this.held.length || this.held.some((h) => k >= h.frame.count)) return null;
    const weights = frameWeights(this.held.map((h) => h.frame.time), time);
    const sum = [0, 0, 0];
    this.held.forEach((h, i) => bodyPlace(h.frame, k).forEach((v, c) => { sum[c] += weights[i] * v; }));
    return sum;
  }

  // Trails through instants, { time, places } by time: a line; dots where a body turned too far between two of them; nothing
  // where instants are missing.
  setTrails(instants) {
    const { gl } = this, n = instants.length ? instants[0].places.length / 3 : 0, far = n && hardly(this.frame);
    const [from, then] = n ? [instants[0].places.slice(0, 3), instants[0].time] : [[0, 0, 0], 0];
    const lines = new Float32Array(8 * n * instants.length), dots = [], missing = instants.map((_, i) => isMissing(instants, i));
    const place = (i, k) => [0, 1, 2].map((c) => instants[i].places[3 * k + c] - from[c]);
    let used = 0;
    for (let k = 0; k < n; k++) {
      const path = instants.map((_, i) => place(i, k)), turned = path.map((to, i) => i > 1 && turnsBack(path[i - 2], path[i - 1], to, far, SMOOTH));
      const leaps = 4 * turned.filter(Boolean).length > path.length;
      for (let i = 1; i < path.length; i++) {
        if (missing[i] || leaps || turned[i]) dots.push(...path[i], instants[i].time - then);
        else {
          lines.set([...path[i - 1], instants[i - 1].time - then, ...path[i], instants[i].time - then], used);
          used += 8;
        }
      }
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, 4 * (used + dots.length), gl.DYNAMIC_DRAW);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, lines.subarray(0, used));
    gl.bufferSubData(gl.ARRAY_BUFFER, 4 * used, new Float32Array(dots));
    Object.assign(this, { trailFrom: from, trailThen: then, trailLines: used / 4, trailDots: dots.length / 4, trailMany: n > 64 });
  }

  resize() {
    const { gl } = this;
    for (const level of this.levels) freeTarget(gl, level);
    this.levels = [];
    let [w, h] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    for (let first = true; ; first = false) {
      this.levels.push(makeTarget(gl, this.sum.format, w, h));
      if (!first && w === 1 && h === 1) break;
      [w, h] = w <= 8 && h <= 8 ? [1, 1] : [Math.ceil(w / 8), Math.ceil(h / 8)];
    }
  }

  // Draws.
  draw(camera, time, keep = 0, most = Infinity) {
    const { gl } = this;
    if (!this.held.length || !this.look) return;
    if (!this.levels.length || this.levels[0].width !== gl.drawingBufferWidth || this.levels[0].height !== gl.drawingBufferHeight) this.resize();
    drawInto(gl, this.levels[0]);
    gl.enable(gl.BLEND);
    gl.blendEquation(gl.FUNC_ADD);
    if (keep > 0) this.fadeSums(keep);
    else {
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
    }
    gl.blendFunc(gl.ONE, gl.ONE);
    this.drawBodies(camera, time, keep > 0 ? 1 - keep : 1, most);
    gl.disable(gl.BLEND);
    this.findLargest();
    this.drawTone();
    if (this.drawsBalls) this.drawBalls(camera, time);
  }

  // Few bodies as discs, the farthest first.
  drawBalls(camera, time) {
    const { gl, frame } = this, away = camera.axes()[2], bodies = [];
    for (let k = 0; k < frame.count; k++) {
      const place = this.placeAt(k, time)?.map((v, c) => v - camera.target[c]);
      if (place) bodies.push({ near: place.reduce((sum, v, c) => sum + v * away[c], 0), data: [...place, camera.ratio * this.balls[k], ...this.colourOf(k)] });
    }
    bodies.sort((a, b) => a.near - b.near);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.ballBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(bodies.flatMap((b) => b.data)), gl.DYNAMIC_DRAW);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    useProgram(gl, this.program("ball"), { matrix: camera.matrix() });
    [[3, 0], [1, 12], [3, 16]].forEach(([parts, from], place) => this.bind(place, this.ballBuffer, parts, gl.FLOAT, 28, from));
    gl.drawArrays(gl.POINTS, 0, bodies.length);
    this.unbind();
    gl.disable(gl.BLEND);
  }

  // The colour of body k as a disc: red, green and blue of 0 to 1.
  colourOf(k) {
    const { look, frame } = this, shade = look.colour !== "none" && frame.shades ? frame.shades[k] : -1;
    const colour = shade < 0 ? colourAt(look.map, look.dark ? 0.85 : 0.4) : look.colour === "group" ? groupColour(shade) : shadeAt(look, shade / 255);
    return colour.map((v) => v / 255);
  }

  fadeSums(keep) {
    const { gl } = this;
    gl.blendColor(keep, keep, keep, keep);
    gl.blendFunc(gl.ZERO, gl.CONSTANT_COLOR);
    drawWhole(gl, this.program("fade"), {});
  }

  // part: fraction of a body's weight
  drawBodies(camera, time, part, most) {
    const { gl } = this, weights = frameWeights(this.held.map((h) => h.frame.time), time);
    const still = weights.at(-1) === 1, used = still ? this.held.slice(-1) : this.held;
    const base = camera.target.map((t) => -t), scales = {};
    for (let i = 0; i < (still ? 1 : HELD); i++) {
      const w = i < used.length ? still ? 1 : weights[i] : 0, places = placesOf(used[w ? i : 0].frame);
      for (let c = 0; c < 3; c++) base[c] += w * places.base[c];
      scales["scale" + i] = places.scale.map((s) => w * s);
    }
    const count = Math.min(most, ...used.map((h) => h.frame.count)), matrix = camera.matrix(), weight = this.sum.weight * part;
    if (!this.drawsBalls) {
      useProgram(gl, this.program(still ? "still" : "moving"), { ...scales, base, matrix, weight, size: this.sizeOf(count, camera), table: this.shades });
      this.bindFrames(used, still);
      gl.drawArrays(gl.POINTS, 0, count);
      this.unbind();
    }
    if (this.trailLines || this.trailDots) this.drawTrails(camera, time, matrix, weight);
  }

  drawTrails(camera, time, matrix, weight) {
    const { gl } = this, base = Array.from(this.trailFrom, (v, c) => v - camera.target[c]);
    useProgram(gl, this.program("line"), { matrix, weight, base, now: time - this.trailThen, then: 0, many: this.trailMany });
    this.bind(0, this.lineBuffer, 3, gl.FLOAT, 16, 0);
    this.bind(1, this.lineBuffer, 1, gl.FLOAT, 16, 12);
    gl.drawArrays(gl.LINES, 0, this.trailLines);
    gl.drawArrays(gl.POINTS, this.trailLines, this.trailDots);
    this.unbind();
  }

  // Few bodies are large, many are single pixels.
  sizeOf(count, camera) {
    const fair = 1 + 0.45 * Math.sqrt(camera.width * camera.height / Math.max(1, count));
    return fair < 1.5 ? 1 : Math.min(14 * camera.ratio, fair);
  }

  findLargest() {
    for (let i = 1; i < this.levels.length; i++) {
      const from = this.levels[i - 1];
      drawInto(this.gl, this.levels[i]);
      drawWhole(this.gl, this.program("largest"), { source: from.texture, extent: [from.width, from.height] });
    }
  }

  drawTone() {
    const { gl, look, levels } = this;
    drawInto(gl, null);
    drawWhole(gl, this.program("tone"), { sums: levels[0].texture, largest: levels.at(-1).texture, table: this.table, weight: this.sum.weight,
      bright: look.bright, paper: look.paper, coloured: look.colour !== "none" && Boolean(this.frame.shades) });
  }
}

// points.js - bodies: summed into a texture of floats, then mapped logarithmically to colours; between frames they move on the GPU.
//
//   frames (4) --weights--> place --sum--> RGBA32F: colour x weight, weight --largest sum, 8 x 8 at a time--> one pixel
//                                             '---------------- log(1 + sum) / log(1 + largest) ----------------> window
// SPDX-License-Identifier: MIT
import { WHOLE, drawInto, drawWhole, fillTable, freeTarget, makeProgram, makeTarget, makeTexture, sumFormat, useProgram } from "./gl.js";
import { colourAt, colourTable, groupColour, shadeAt } from "./colour_maps.js";
import { frameWeights } from "./motion.js";

const HELD = 4; // frames on the GPU

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

const TRAIL = `in vec3 place; in float fade;
uniform mat4 matrix; uniform vec3 base;
out float bright;
void main() { gl_Position = matrix * vec4(place + base, 1.0); gl_PointSize = 3.0; bright = fade; }`;

const LINE = `in float bright;
uniform float weight;
out vec4 sum;
void main() { sum = vec4(0.55, 0.62, 0.75, 1.0) * weight * bright; }`;

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
const PROGRAMS = { still: [BODY(true), SPOT, PLACES], moving: [BODY(false), SPOT, PLACES], line: [TRAIL, LINE, ["place", "fade"]],
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

// True if the path from a to b to c turns so sharply that no curve through them is likely;
// distances below `far` are ignored. Pure.
export function turnsBack(a, b, c, far) {
  let [along, one, two] = [0, 0, 0];
  for (let i = 0; i < 3; i++) {
    const d = b[i] - a[i], e = c[i] - b[i];
    [along, one, two] = [along + d * e, one + d * d, two + e * e];
  }
  return two > far * far && along < 0.3 * Math.sqrt(one * two);
}

// Smallest visible distance in a frame's box.
function hardly({ box }) {
  return 1e-3 * Math.max(box[3] - box[0], box[4] - box[1], box[5] - box[2]);
}

// True if most of a sample of bodies turn back within three frames. Pure.
export function leapsIn(frames) {
  const count = Math.min(256, ...frames.map((f) => f.count)), far = hardly(frames[2]);
  let turned = 0;
  for (let k = 0; k < count; k++) turned += turnsBack(...frames.map((f) => bodyPlace(f, k)), far);
  return turned > count / 2;
}

export class PointsPicture {
  constructor(gl) {
    this.gl = gl;
    this.sum = sumFormat(gl);
    this.made = {};
    for (const name of ["still", "largest", "tone"]) this.program(name);
    this.table = makeTexture(gl);
    this.shades = makeTexture(gl);
    this.lineBuffer = gl.createBuffer();
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

  // The place of body k at a time.
  placeAt(k, time) {
    if (!this.held.length || this.held.some((h) => k >= h.frame.count)) return null;
    const weights = frameWeights(this.held.map((h) => h.frame.time), time);
    const sum = [0, 0, 0];
    this.held.forEach((h, i) => bodyPlace(h.frame, k).forEach((v, c) => { sum[c] += weights[i] * v; }));
    return sum;
  }

  // Trails: positions of the last frames, oldest first; dots where a body turned too far between
  // two of them.
  setTrails(frames) {
    const { gl } = this, n = Math.min(512, ...frames.map((f) => f.count)), far = frames.length && hardly(frames[0]), lines = [], dots = [];
    this.trailFrom = frames.length ? frames[0].box.slice(0, 3) : [0, 0, 0];
    for (let k = 0; frames.length && k < n; k++) {
      let before = null, from = null;
      frames.forEach((frame, f) => {
        const to = bodyPlace(frame, k).map((v, c) => v - this.trailFrom[c]), fade = n > 64 ? 0.35 * (f / frames.length) ** 2 : 0.9 * f / frames.length;
        if (from && (this.leaps ? far < Math.hypot(...to.map((v, c) => v - from[c])) : turnsBack(before || from, from, to, far))) dots.push(...to, 2 * fade);
        else if (from) lines.push(...from, fade, ...to, fade);
        [before, from] = [from, to];
      });
    }
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([...lines, ...dots]), gl.DYNAMIC_DRAW);
    this.trailLines = lines.length / 4;
    this.trailDots = dots.length / 4;
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
    useProgram(gl, this.program(still ? "still" : "moving"), { ...scales, base, matrix, weight, size: this.sizeOf(count, camera), table: this.shades });
    this.bindFrames(used, still);
    gl.drawArrays(gl.POINTS, 0, count);
    this.unbind();
    if (!this.trailLines && !this.trailDots) return;
    useProgram(gl, this.program("line"), { matrix, weight, base: this.trailFrom.map((v, c) => v - camera.target[c]) });
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

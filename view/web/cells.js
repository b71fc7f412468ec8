// cells.js - Life: cells as bits with their age, or the number of live cells in squares of 2^zoom
// cells. The last region received is drawn at the present camera; missing parts are requested.
// SPDX-License-Identifier: MIT
import { WHOLE, drawInto, drawWhole, fillTable, freeTarget, makeProgram, makeTarget, makeTexture } from "./gl.js";
import { formatNumber } from "./numbers.js";
import { colourAt, colourTable, stateColour } from "./colour_maps.js";

// Brightness of cells: just born 255, down to 160 with age; just died 96, down to 0.
const AGE = `uniform usampler2D bits; uniform sampler2D old; uniform vec2 shift, extent; uniform float steps;
out vec4 bright;
void main() {
  ivec2 p = ivec2(gl_FragCoord.xy), q = p + ivec2(shift);
  bool lives = (texelFetch(bits, ivec2(p.x >> 3, p.y), 0).r >> uint(p.x & 7) & 1u) == 1u;
  bool known = all(greaterThanEqual(q, ivec2(0))) && all(lessThan(q, ivec2(extent)));
  float before = known ? floor(texelFetch(old, q, 0).r * 255.0 + 0.5) : lives ? 160.0 : 0.0;
  float now = lives ? (before >= 159.5 ? 160.0 + (before - 160.0) * pow(0.88, steps) : 255.0) : (before >= 159.5 ? 96.0 : before * pow(0.88, steps));
  bright = vec4(floor(now) / 255.0);
}`;

const PLANE = `uniform usampler2D body; uniform sampler2D ages, table, palette;
uniform vec2 origin, extent, edgeLow, edgeHigh; uniform float perPixel, height, gap, least; uniform bool squares, aged, many, lined;
uniform vec3 paper, beyond;
out vec4 pixel;
void main() {
  vec2 at = origin + vec2(gl_FragCoord.x, height - gl_FragCoord.y) * perPixel;
  if (any(lessThan(at, edgeLow)) || any(greaterThanEqual(at, edgeHigh))) { pixel = vec4(beyond, 1.0); return; }
  pixel = vec4(paper, 1.0);
  if (any(lessThan(at, vec2(0.0))) || any(greaterThanEqual(at, extent))) return;
  ivec2 p = ivec2(at);
  float v;
  uint state = texelFetch(body, p, 0).r;
  if (many) v = state > 0u ? 1.0 : 0.0;
  else if (squares) v = state > 0u ? 0.5 + 0.5 * pow(mix(least, 1.0, (float(state) - 1.0) / 254.0), 0.4) : 0.0;
  else if (aged) v = texelFetch(ages, p, 0).r;
  else v = float(texelFetch(body, ivec2(p.x >> 3, p.y), 0).r >> uint(p.x & 7) & 1u) * 0.85;
  vec2 inside = abs(fract(at) - 0.5);
  if (gap > 0.0 && max(inside.x, inside.y) > 0.5 - gap) v *= 0.12;
  vec3 own = many ? texelFetch(palette, ivec2(state, 0), 0).rgb : texture(table, vec2(v, 0.5)).rgb;
  pixel.rgb = mix(paper, own, smoothstep(0.0, 0.3, v));
  if (lined && max(inside.x, inside.y) > 0.5 - 0.5 * perPixel) pixel.rgb = mix(pixel.rgb, beyond, 0.7);
}`;

export class CellsPicture {
  constructor(gl) {
    this.gl = gl;
    this.age = makeProgram(gl, WHOLE, AGE);
    this.plane = makeProgram(gl, WHOLE, PLANE);
    this.table = makeTexture(gl, gl.LINEAR);
    this.palette = makeTexture(gl);
    this.body = makeTexture(gl);
    this.frame = null;
    this.ages = null;
  }

  setLook(look) {
    this.look = look;
    fillTable(this.gl, this.table, colourTable((t) => colourAt(look.map, look.dark ? t : 1 - t)));
    fillTable(this.gl, this.palette, colourTable((t) => stateColour(look, Math.round(255 * t))));
  }

  push(frame) {
    const { gl } = this;
    const before = this.frame;
    this.frame = frame;
    gl.bindTexture(gl.TEXTURE_2D, this.body);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8UI, frame.row, frame.height, 0, gl.RED_INTEGER, gl.UNSIGNED_BYTE, frame.body);
    const old = this.ages, aged = !frame.zoom && frame.states < 3, known = old && aged && frame.step >= before.step;
    const moved = !known || ["x", "y", "width", "height"].some((name) => frame[name] !== before[name]);
    if (!moved && frame.step === before.step) return;
    this.ages = !aged ? null : makeTarget(gl, gl.R8, frame.width, frame.height);
    if (this.ages) this.drawAges(frame, old, known ? before : { x: 0, y: 0, width: 0, height: 0, step: frame.step });
    freeTarget(gl, old);
  }

  // Update the ages of cells from those of the frame before.
  drawAges(frame, old, before) {
    drawInto(this.gl, this.ages);
    drawWhole(this.gl, this.age, { bits: this.body, old: old ? old.texture : this.table, shift: [frame.x - before.x, frame.y - before.y],
      extent: [before.width, before.height], steps: Math.min(64, frame.step - before.step) });
  }

  draw(camera, world) {
    const { gl, frame, look } = this;
    if (!frame || !look) return;
    const side = 2 ** frame.zoom, perPixel = 1 / camera.scale / side;
    const torus = world.width && world.bounds === "torus", origin = squareAt(frame, camera, world, 0, 0);
    const edge = [-1e30, -1e30, 1e30, 1e30]; // of the world, where it has one or all of it is here
    for (const [c, size, whole] of world.width ? [[0, world.width, frame.width], [1, world.height, frame.height]] : [])
      if (!torus || whole * side >= size) [edge[c], edge[c + 2]] = [-(c ? frame.y : frame.x) / side, (size - (c ? frame.y : frame.x)) / side];
    const many = !frame.zoom && frame.states > 2;
    drawInto(gl, null);
    drawWhole(gl, this.plane, { body: this.body, many, palette: this.palette, ages: this.ages ? this.ages.texture : this.table, table: this.table, origin, perPixel,
      extent: [frame.width, frame.height], edgeLow: edge.slice(0, 2), edgeHigh: edge.slice(2), height: gl.drawingBufferHeight,
      gap: perPixel < 1 / 7 ? 0.07 : 0, lined: perPixel * camera.ratio <= 1 / 8, squares: frame.zoom > 0, least: leastShare(frame), aged: Boolean(this.ages && look.age), paper: look.paper, beyond: look.beyond });
  }
}

// The population of the picture; or, as it is rarely counted during a run, the last count and its generation. Pure.
export function aliveWords(frame, counted) {
  if (frame.population >= 0) return [`${formatNumber(frame.population)} alive`];
  if (!counted || counted.step > frame.step) return [];
  return [`${formatNumber(counted.population)} alive` + (counted.step === frame.step ? "" : ` in generation ${formatNumber(counted.step)}`)];
}

// Names of the objects, of this generation or of another one. Pure.
export function objectWords(frame, objects, paused) {
  if (!objects || paused && objects.step !== frame.step) return [];
  return [objects.names + (objects.step === frame.step ? "" : ` in generation ${formatNumber(objects.step)}`)];
}

// Share of a square's cells that one cell is. Pure.
export function leastShare(frame) {
  return 0.25 ** frame.zoom;
}

// Brightness of a square with some live cells or none: a single cell stays visible, however large
// the square. PLANE has the same formula. Pure.
export function squareShade(frame, state) {
  const least = leastShare(frame);
  return state ? 0.5 + 0.5 * (least + (1 - least) * (state - 1) / 254) ** 0.4 : 0;
}

// The square of a frame under a pixel, and the position in it. On a torus the frame may be a whole
// world away from the camera. Pure.
export function squareAt(frame, camera, world, px, py) {
  const side = 2 ** frame.zoom, at = camera.cell(px, py);
  return ["x", "y"].map((c, i) => {
    const size = i ? world.height : world.width, middle = frame[c] + (i ? frame.height : frame.width) * side / 2;
    const turn = size && world.bounds === "torus" ? Math.round((camera[c] - middle) / size) * size : 0;
    return (at[i] - frame[c] - turn) / side;
  });
}

// The squares of a frame in the camera's view: left, top, right, bottom. Pure.
export function squaresSeen(frame, camera, world) {
  const low = squareAt(frame, camera, world, 0, 0), high = squareAt(frame, camera, world, camera.width, camera.height);
  return [Math.max(0, Math.floor(low[0])), Math.max(0, Math.floor(low[1])), Math.min(frame.width, Math.ceil(high[0])), Math.min(frame.height, Math.ceil(high[1]))];
}

// The region that a camera needs: the squares in view and a margin. Pure.
export function regionFor(camera, world) {
  const most = world.width ? 24 : 53, edge = 2 ** 62; // of a plane
  let zoom = Math.max(0, Math.min(most, Math.ceil(-Math.log2(camera.scale) - 1e-9)));
  for (; ; zoom++) {
    const side = 2 ** zoom, block = side * 8, margin = 0.1;
    const [left, top] = camera.cell(-camera.width * margin, -camera.height * margin);
    const [right, bottom] = camera.cell(camera.width * (1 + margin), camera.height * (1 + margin));
    let x = Math.floor(left / block) * block, y = Math.floor(top / block) * block;
    let width = Math.ceil((right - x) / side), height = Math.ceil((bottom - y) / side);
    if (world.width) {
      const columns = Math.ceil(world.width / side), rows = Math.ceil(world.height / side);
      if (world.bounds !== "torus") {
        [x, y] = [Math.max(0, x), Math.max(0, y)];
        [width, height] = [Math.ceil((Math.min(world.width, right) - x) / side), Math.ceil((Math.min(world.height, bottom) - y) / side)];
      } else {
        if (width >= columns) [x, width] = [0, columns];
        if (height >= rows) [y, height] = [0, rows];
      }
    } else {
      [x, y] = [x, y].map((v) => Math.max(-edge, Math.min(edge - 8 * side, v)));
      [width, height] = [Math.ceil((Math.min(edge, right) - x) / side), Math.ceil((Math.min(edge, bottom) - y) / side)];
    }
    [width, height] = [Math.max(8, width), Math.max(8, height)];
    if (width * height <= 4194304 || zoom >= most) return { x, y, width, height, zoom };
  }
}

// camera.js - cameras: an orbit around a point in space, and a view down on a plane. Pure: also
// runs in Node.
// SPDX-License-Identifier: MIT

const FIELD = 0.7; // radians from the lower to the upper edge

function addScaled(a, b, f) {
  return [a[0] + b[0] * f, a[1] + b[1] * f, a[2] + b[2] * f];
}

// A camera that orbits `target`; z is up.
export class Orbit {
  constructor() {
    this.width = this.height = 1;
    this.target = [0, 0, 0];
    this.yaw = -0.5;
    this.pitch = 0.95; // above the plane
    this.distance = 4;
  }

  // Unit vectors: right, up, towards the eye.
  axes() {
    const cy = Math.cos(this.yaw), sy = Math.sin(this.yaw), cp = Math.cos(this.pitch), sp = Math.sin(this.pitch);
    return [[cy, sy, 0], [-sy * sp, cy * sp, cp], [sy * cp, -cy * cp, sp]];
  }

  // From positions relative to the target to clip coordinates, column-major.
  matrix() {
    const [right, up, back] = this.axes();
    const f = 1 / Math.tan(FIELD / 2), aspect = this.width / this.height, near = this.distance / 1000, far = this.distance * 1000;
    const a = (far + near) / (near - far), b = 2 * far * near / (near - far);
    const m = new Float32Array(16);
    for (let i = 0; i < 3; i++) {
      m[4 * i] = right[i] * f / aspect;
      m[4 * i + 1] = up[i] * f;
      m[4 * i + 2] = back[i] * a;
      m[4 * i + 3] = -back[i];
    }
    m[14] = -this.distance * a + b;
    m[15] = this.distance;
    return m;
  }

  // Lengths a pixel has at the target.
  get perPixel() {
    return 2 * this.distance * Math.tan(FIELD / 2) / this.height;
  }

  // A position in pixels from the upper left, or null for points that the eye cannot see.
  project(place) {
    const d = addScaled(place, this.target, -1);
    const [x, y, z] = this.axes().map((v) => v[0] * d[0] + v[1] * d[1] + v[2] * d[2]);
    const depth = this.distance - z;
    if (depth <= 0) return null;
    const f = this.height / 2 / Math.tan(FIELD / 2) / depth;
    return [this.width / 2 + x * f, this.height / 2 - y * f];
  }

  // Turns as if the scene were held at a point.
  orbit(dx, dy) {
    const a = 2.6 / Math.min(this.width, this.height);
    this.yaw -= dx * a;
    this.pitch = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, this.pitch + dy * a));
  }

  pan(dx, dy) {
    const [right, up] = this.axes();
    this.target = addScaled(addScaled(this.target, right, -dx * this.perPixel), up, dy * this.perPixel);
  }

  // Nearer by a factor, the place under the pixel staying there.
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const f = Math.min(factor, this.distance / 1e-12);
    const dx = px - this.width / 2, dy = py - this.height / 2;
    this.pan(-dx * (1 - 1 / f), -dy * (1 - 1 / f));
    this.distance /= f;
  }

  // Looks at a ball.
  fit(centre, radius) {
    this.target = [...centre];
    this.distance = (radius || 1) / Math.sin(FIELD / 2) * Math.max(1, this.height / this.width);
  }

  // Looks along an axis.
  along(axis) {
    this.pitch = axis === "z" ? Math.PI / 2 : 0;
    this.yaw = axis === "x" ? Math.PI / 2 : 0;
  }
}

// A camera over a plane of cells: x, y lies in the middle, `scale` pixels a cell.
export class Above {
  constructor() {
    this.width = this.height = 1;
    this.x = this.y = 0;
    this.scale = 1;
    this.least = 1e-7;
  }

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
  }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const scale = Math.min(64, Math.max(this.least, this.scale * factor));
    const dx = px - this.width / 2, dy = py - this.height / 2;
    this.x += dx / this.scale - dx / scale;
    this.y += dy / this.scale - dy / scale;
    this.scale = scale;
  }

  fit(width, height) {
    this.x = width / 2;
    this.y = height / 2;
    this.scale = Math.min(64, this.width / width, this.height / height);
  }

  // All of a rectangle and a margin.
  fitBox([x0, y0, x1, y1]) {
    const wide = Math.max(8, x1 - x0), high = Math.max(8, y1 - y0);
    this.fit(1.1 * wide, 1.1 * high);
    [this.x, this.y] = [(x0 + x1) / 2, (y0 + y1) / 2];
    this.scale = Math.max(this.least, this.scale);
  }

  // The cell under a pixel.
  cell(px, py) {
    return [this.x + (px - this.width / 2) / this.scale, this.y + (py - this.height / 2) / this.scale];
  }
}

// Centre and radius of most of a sample of positions, ignoring a few far ones.
export function ballAround(places) {
  const centre = [0, 1, 2].map((c) => {
    const sorted = places.map((p) => p[c]).sort((a, b) => a - b);
    return sorted[sorted.length >> 1] || 0;
  });
  const far = places.map((p) => Math.hypot(p[0] - centre[0], p[1] - centre[1], p[2] - centre[2])).sort((a, b) => a - b);
  const radius = far.length < 64 ? far.at(-1) : far[Math.floor(far.length * 0.96)] * 1.1;
  return { centre, radius: radius || 1 };
}

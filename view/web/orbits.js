// orbits.js - few bodies one by one: osculating orbits, and the panel of the body that is picked. orbitOf is pure.
// SPDX-License-Identifier: MIT
import { get, make } from "./elements.js";
import { formatNumber, formatQuantity } from "./numbers.js";

const minus = (a, b) => a.map((v, c) => v - b[c]);
const dot = (a, b) => a.reduce((sum, v, c) => sum + v * b[c], 0);
const cross = ([a, b, c], [d, e, f]) => [b * f - c * e, c * d - a * f, a * e - b * d];

// The Keplerian ellipse of body k about body j from their positions and velocities (Murray & Dermott 1999, ch. 2), or null if they are not bound.
function ellipseAbout({ G, masses, pos, vel }, j, k) {
  const mu = G * (masses[j] + masses[k]), r = minus(pos[k], pos[j]), v = minus(vel[k], vel[j]), distance = Math.hypot(...r);
  const a = 1 / (2 / distance - dot(v, v) / mu), h = cross(r, v);
  if (!(a > 0) || !Number.isFinite(a)) return null;
  const towards = cross(v, h).map((x, c) => x / mu - r[c] / distance), e = Math.hypot(...towards); // to the pericentre
  const p = e > 1e-9 ? towards.map((x) => x / e) : r.map((x) => x / distance), q = cross(h, p).map((x) => x / Math.hypot(...h));
  return { about: j, a, e, p, q, distance, speed: Math.hypot(...v), period: 2 * Math.PI * Math.sqrt(a ** 3 / mu) };
}

// The osculating orbit of body k: the smallest bound one about a body that is not lighter, so that a moon orbits its planet.
export function orbitOf(bodies, k) {
  let best = null;
  for (let j = 0; j < bodies.pos.length; j++) {
    const orbit = j !== k && bodies.masses[j] >= bodies.masses[k] ? ellipseAbout(bodies, j, k) : null;
    if (orbit && (!best || orbit.a < best.a)) best = orbit;
  }
  return best;
}

// Points of an orbit's ellipse relative to the body that it is about. Pure.
export function ellipsePoints({ a, e, p, q }, n = 128) {
  const b = a * Math.sqrt(Math.max(0, 1 - e * e));
  return Array.from({ length: n + 1 }, (_, i) => {
    const t = 2 * Math.PI * i / n, x = a * (Math.cos(t) - e), y = b * Math.sin(t);
    return p.map((v, c) => v * x + q[c] * y);
  });
}

export class BodyPanel {
  // scene: the picture; changed: called when it must be drawn again
  constructor(scene, changed) {
    Object.assign(this, { scene, changed });
    get("body-close").onclick = () => this.pick(-1);
    get("body-follow").onclick = () => this.follow(scene.follow !== this.picked);
    get("find").onchange = ({ target }) => this.find(target.value);
  }

  begin(points) {
    this.known = points && points.bodies || null;
    this.now = null;
    get("find-row").hidden = !this.known;
    if (this.known) get("names").replaceChildren(...this.known.names.map((_, k) => new Option(this.nameOf(k))));
    this.scene.names = this.known && this.known.names;
    this.scene.prominent = this.known ? [...this.known.names.keys()].sort((a, b) => this.known.masses[b] - this.known.masses[a]) : [];
    this.pick(-1);
  }

  nameOf(k) {
    return this.known.names[k] || `body ${k + 1}`;
  }

  // Positions and velocities of a state.
  update(message) {
    if (!this.known) return;
    this.now = { ...this.known, ...message };
    this.show();
  }

  find(name) {
    const k = this.known.names.findIndex((_, i) => this.nameOf(i).toLowerCase() === name.trim().toLowerCase());
    if (k < 0) return;
    this.pick(k);
    this.follow(true);
  }

  pick(k) {
    this.picked = this.known ? k : -1;
    this.show();
    this.changed();
  }

  follow(on) {
    get("follow").checked = on;
    this.scene.follow = on ? this.picked : -1;
    this.show();
    this.changed();
  }

  // Write the facts of the picked body, and give its orbit to the picture.
  show() {
    const { now, picked: k, scene } = this, there = now && k >= 0 && now.pos[k];
    get("body").hidden = !there;
    scene.orbitOfPicked = null;
    scene.picked = there ? k : -1;
    if (!there) return;
    const orbit = orbitOf(now, k), units = scene.hello.points.units || {}, time = scene.hello.time.unit;
    const facts = [["mass", formatQuantity(now.masses[k], units.mass)]];
    if (orbit) {
      const about = this.nameOf(orbit.about);
      facts.push([`distance from ${about}`, formatQuantity(orbit.distance, units.length)], ["speed", formatQuantity(orbit.speed, units.speed)],
        ["semi-major axis", formatQuantity(orbit.a, units.length)], ["eccentricity", formatNumber(orbit.e)], ["period", formatQuantity(orbit.period, time)]);
      scene.orbitOfPicked = { about: orbit.about, points: ellipsePoints(orbit) };
    } else facts.push(["distance from the origin", formatQuantity(Math.hypot(...now.pos[k]), units.length)], ["speed", formatQuantity(Math.hypot(...now.vel[k]), units.speed)]);
    get("body-name").textContent = this.nameOf(k);
    get("body-follow").textContent = scene.follow === k ? "Leave" : "Follow";
    get("body-facts").replaceChildren(...facts.flatMap(([term, text]) => [make("dt", term), make("dd", text)]));
  }
}

// mock.mjs - a mock of the server of view/ with artificial runs, using the same wire format
// (view/WIRE.md). For tests of the page and its development: node tests/view/mock.mjs nbody 8080.
// Needs npm's ws in $STDCL_NPM.
// SPDX-License-Identifier: MIT
import http from "node:http";
import fs from "node:fs";
import path from "node:path";
import { deflateRawSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { packageOf } from "./npm.mjs";

export const WEB = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../view/web");
export const TOKEN = "0123456789abcdef0123456789abcdef";
const TYPES = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; media-src blob:; " +
  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

// ---- frames

export function head(kind, coding, flags, sequence, time, step, size) {
  const bytes = Buffer.alloc(size);
  bytes.writeUInt8(kind, 0);
  bytes.writeUInt8(coding, 1);
  bytes.writeUInt16LE(flags, 2);
  bytes.writeUInt32LE(sequence, 4);
  bytes.writeDoubleLE(time, 8);
  bytes.writeBigUInt64LE(BigInt(step), 16);
  return bytes;
}

// planes: Uint16Array of x, y, z; shades: Uint8Array or null
export function pointsFrame({ coding = 0, flags = 0, sequence, time, step, box, total, count, colour = 0, lo = 1, hi = 1, planes, shades = null, base = null, older = null }) {
  const bytes = head(1, coding, flags, sequence, time, step, 112);
  box.forEach((v, i) => bytes.writeDoubleLE(v, 24 + 8 * i));
  bytes.writeUInt32LE(total, 72);
  bytes.writeUInt32LE(count, 76);
  bytes.writeUInt8(colour, 80);
  bytes.writeFloatLE(lo, 84);
  bytes.writeFloatLE(hi, 88);
  let body = Buffer.concat([Buffer.from(planes.buffer, planes.byteOffset, 6 * count), shades ? Buffer.from(shades) : Buffer.alloc(0)]);
  if (coding === 1 || coding === 2) {
    const near = Buffer.alloc(3 * count), far = [];
    for (let i = 0; i < 3 * count; i++) {
      const d = (planes[i] - 2 * base.planes[i] + older.planes[i]) << 16 >> 16;
      near.writeInt8(d > -128 && d < 128 ? d : -128, i);
      if (!(d > -128 && d < 128)) far.push(planes[i]);
    }
    const differences = shades ? Buffer.from(shades.map((s, i) => s - (base.shades ? base.shades[i] : 0))) : Buffer.alloc(0);
    body = Buffer.concat([near, differences, Buffer.from(new Uint16Array(far).buffer)]);
    bytes.writeUInt32LE(base.sequence, 92);
    bytes.writeUInt32LE(older.sequence, 96);
    bytes.writeUInt32LE(far.length, 100);
  }
  bytes.writeBigUInt64LE(BigInt(body.length), 104);
  return Buffer.concat([bytes, coding >= 2 ? deflateRawSync(body, { level: 1 }) : body]);
}

export function cellsFrame({ coding = 0, flags = 0, sequence, step, x, y, width, height, zoom, states = 2, population, body, base = null }) {
  const bytes = head(2, coding, flags, sequence, step, step, 64);
  bytes.writeBigInt64LE(BigInt(x), 24);
  bytes.writeBigInt64LE(BigInt(y), 32);
  bytes.writeUInt32LE(width, 40);
  bytes.writeUInt32LE(height, 44);
  bytes.writeUInt8(zoom, 48);
  bytes.writeUInt8(states > 2 ? states - 1 : 0, 49);
  bytes.writeUInt32LE(coding === 2 ? base.sequence : 0, 52);
  bytes.writeBigUInt64LE(population === null ? 0xffffffffffffffffn : BigInt(population), 56);
  const sent = coding === 2 ? body.map((b, i) => b ^ base.body[i]) : body;
  return Buffer.concat([bytes, coding ? deflateRawSync(sent, { level: 1 }) : Buffer.from(sent)]);
}

export function barsFrame({ sequence, time, step, top, counts, expected }) {
  const bins = counts.length - 1, bytes = head(3, 0, 0, sequence, time, step, 40 + 16 * (bins + 1));
  bytes.writeUInt32LE(bins, 24);
  bytes.writeDoubleLE(top, 32);
  counts.forEach((n, i) => bytes.writeBigUInt64LE(BigInt(n), 40 + 8 * i));
  expected.forEach((v, i) => bytes.writeDoubleLE(v, 40 + 8 * (bins + 1 + i)));
  return bytes;
}

export function gridFrame({ sequence, time, step, rows, columns, values }) {
  const bytes = head(4, 0, 0, sequence, time, step, 32 + 4 * rows * columns);
  bytes.writeUInt32LE(rows, 24);
  bytes.writeUInt32LE(columns, 28);
  values.forEach((v, i) => bytes.writeFloatLE(v, 32 + 4 * i));
  return bytes;
}

export function rowsFrame({ sequence = 0, flags = 0, time = 0, step = 0, first, columns, values }) {
  const bytes = head(5, 0, flags, sequence, time, step, 40 + 8 * values.length);
  bytes.writeUInt32LE(first, 24);
  bytes.writeUInt32LE(values.length / columns, 28);
  bytes.writeUInt32LE(columns, 32);
  values.forEach((v, i) => bytes.writeDoubleLE(v, 40 + 8 * i));
  return bytes;
}

// A .view file of the messages on the wire.
export function viewFile(hello, frames, { index = true } = {}) {
  const record = (bytes) => Buffer.concat([Buffer.from(new Uint32Array([bytes.length]).buffer), bytes]);
  const parts = [Buffer.from("STDCLVW1"), record(Buffer.from(JSON.stringify({ ...hello, live: false })))];
  const places = [];
  let at = parts[0].length + parts[1].length;
  for (const bytes of frames) {
    if (bytes[0] < 5) places.push([at, bytes.readDoubleLE(8)]);
    parts.push(record(bytes));
    at += 4 + bytes.length;
  }
  if (!index) return Buffer.concat(parts);
  const list = Buffer.alloc(8 + 16 * places.length), end = Buffer.alloc(16);
  list.writeUInt32LE(places.length, 4);
  places.forEach(([from, time], i) => (list.writeBigUInt64LE(BigInt(from), 8 + 16 * i), list.writeDoubleLE(time, 16 + 16 * i)));
  end.writeBigUInt64LE(BigInt(at), 0);
  end.write("STDCLEND", 8);
  return Buffer.concat([...parts, record(list), end]);
}

// ---- artificial runs: { hello, advance(), frame(want), rows(from) }

function random(seed) {
  let a = seed;
  return () => {
    a = a + 0x6d2b79f5 | 0;
    let t = Math.imul(a ^ a >>> 15, 1 | a);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return ((t ^ t >>> 14) >>> 0) / 4294967296;
  };
}

// Two discs that rotate and orbit each other.
export function madeBodies(total) {
  const draw = random(7), bodies = [];
  for (let k = 0; k < total; k++) {
    const group = k % 3 === 2 ? 1 : 0, far = -Math.log(1 - 0.97 * draw()) * (group ? 0.5 : 0.8), angle = 2 * Math.PI * draw();
    bodies.push({ group, far, angle, z: (draw() + draw() + draw() - 1.5) * 0.08, turn: 1 / Math.sqrt(0.05 + far) / (0.3 + far), tilt: group ? 0.9 : 0.15 });
  }
  const size = 6, box = [-size, -size, -size, size, size, size];
  const run = {
    time: 0, step: 0, kind: 1,
    hello: { type: "hello", version: 1, stdcl: "1.0.0", run: "9f3a66b21c04d5e7", program: "nbody", title: `nbody: ${total.toLocaleString("en")} bodies, leapfrog`, live: true,
      rights: "all", can: ["pause", "step", "speed", "quit"], rate: 30, step: "step", time: { name: "time", unit: "" },
      facts: [["device", "a device made up"], ["method", "direct sums"], ["softening", "0.05"], ["step", "1/256"]],
      points: { total, colours: ["none", "speed", "mass", "group"], groups: ["1", "2"], units: { length: "", speed: "", mass: "" } },
      rows: { x: 0, columns: ["time", "kinetic energy", "potential energy", "total energy", "virial ratio"].map((name) => ({ name, unit: "" })) } },
    advance() {
      run.step += 8;
      run.time = run.step / 256;
    },
    frame(want, sequence) {
      const count = Math.min(total, want.count || 200000), planes = new Uint16Array(3 * count), colour = { none: 0, speed: 1, mass: 2, acceleration: 3, group: 4 }[want.colour || "none"];
      const shades = colour ? new Uint8Array(count) : null, region = want.region, b = region || box;
      const swing = run.time * 0.35;
      for (let k = 0; k < count; k++) {
        const body = bodies[k], a = body.angle + run.time * body.turn, side = body.group ? -1.1 : 0.7;
        const x = body.far * Math.cos(a), y = body.far * Math.sin(a);
        const place = [x * Math.cos(body.tilt) - body.z * Math.sin(body.tilt) + side * Math.cos(swing), y + side * Math.sin(swing), x * Math.sin(body.tilt) + body.z * Math.cos(body.tilt)];
        place.forEach((v, c) => { planes[c * count + k] = Math.max(0, Math.min(65535, Math.floor((v - b[c]) / (b[3 + c] - b[c]) * 65536))); });
        if (shades) shades[k] = colour === 4 ? body.group : Math.min(255, 255 * (body.far * body.turn) / 2.2);
      }
      return pointsFrame({ coding: want.coding === 2 ? 3 : 0, flags: (count < total ? 2 : 0) | (region ? 4 : 0), sequence, time: run.time, step: run.step, box: b, total, count, colour, lo: 0.02, hi: 2.2, planes, shades });
    },
    row() {
      const k = 0.25 + 0.04 * Math.sin(run.time), p = -0.5 - 0.08 * Math.sin(run.time + 0.02) + 1e-6 * Math.sin(run.time * 9);
      return [run.time, k, p, k + p, -2 * k / p];
    },
  };
  return run;
}

// A star and two planets on circles of radius 1 and 2, G = 1, with names. wait: time between pictures; path: instants between two of them.
export function madePlanets({ wait = 0.01, path = 0, masses = [1, 0, 0] } = {}) {
  const names = ["Star", "Alpha", "Beta"], box = [-4, -4, -4, 4, 4, 4];
  const place = (k, t = run.time) => k === 0 ? [0, 0, 0] : [k * Math.cos(t * k ** -1.5), k * Math.sin(t * k ** -1.5), 0];
  const velocity = (k) => k ? [-Math.sin(run.time * k ** -1.5) / Math.sqrt(k), Math.cos(run.time * k ** -1.5) / Math.sqrt(k), 0] : [0, 0, 0];
  const run = {
    time: 0, step: 0, kind: 1,
    hello: { type: "hello", version: 1, stdcl: "1.0.0", run: "14", program: "nbody", title: "planets: 3 bodies", live: true, rights: "all", can: ["pause", "step", "speed", "quit"], rate: 30,
      step_time: 0.01, step: "step", time: { name: "time", unit: "" }, facts: [], points: { total: 3, colours: ["none", "speed"], units: {}, bodies: { G: 1, names, masses } },
      rows: { x: 0, columns: ["time", "kinetic energy", "potential energy", "total energy"].map((name) => ({ name, unit: "" })) } },
    advance() { run.time = ++run.step * wait; },
    said: () => ({ type: "bodies", time: run.time, step: run.step, pos: [0, 1, 2].map((k) => place(k)), vel: [0, 1, 2].map(velocity),
      path: path ? Array.from({ length: path }, (_, i) => run.time + (i + 1 - path) / path * wait).map((t) => [t, ...[0, 1, 2].flatMap((k) => place(k, t))]) : undefined }),
    frame(want, sequence) {
      const planes = new Uint16Array(9);
      for (let k = 0; k < 3; k++) place(k).forEach((v, c) => { planes[3 * c + k] = (v + 4) / 8 * 65536; });
      return pointsFrame({ sequence, time: run.time, step: run.step, box, total: 3, count: 3, planes });
    },
    row: () => [run.time, 0.333333333, -0.666666666, -0.333333333],
  };
  return run;
}

// Life on a torus, one byte a cell; enough for tests. worldOf: a larger world, which repeats the computed cells.
export function madeLife(width, height, worldOf = null) {
  const draw = random(3);
  let cells = new Uint8Array(width * height).map(() => draw() < 0.3 ? 1 : 0);
  const world = worldOf || { width, height };
  const run = {
    time: 0, step: 0, kind: 2, population: 0,
    hello: { type: "hello", version: 1, stdcl: "1.0.0", run: "11", program: "life", title: `life: ${world.width.toLocaleString("en")} × ${world.height.toLocaleString("en")}, B3/S23`, live: true, rights: "all",
      can: ["pause", "step", "speed", "quit", "put", "back", "rule"], rate: 30, step: "generation", time: { name: "generation", unit: "" }, facts: [["engine", "bits"], ["rule", "B3/S23"]],
      cells: { ...world, bounds: "torus", rule: "B3/S23" }, rows: { x: 0, columns: [{ name: "generation", unit: "" }, { name: "population", unit: "cells" }] } },
    advance() {
      const next = new Uint8Array(cells.length);
      run.population = 0;
      for (let y = 0; y < height; y++) {
        const up = (y + height - 1) % height * width, here = y * width, down = (y + 1) % height * width;
        for (let x = 0; x < width; x++) {
          const l = (x + width - 1) % width, r = (x + 1) % width;
          const n = cells[up + l] + cells[up + x] + cells[up + r] + cells[here + l] + cells[here + r] + cells[down + l] + cells[down + x] + cells[down + r];
          run.population += next[here + x] = n === 3 || n === 2 && cells[here + x] ? 1 : 0;
        }
      }
      cells = next;
      run.time = ++run.step;
    },
    frame(want, sequence) {
      if (!want.width) return null;
      const side = 2 ** want.zoom, mod = (v, n) => (v % n + n) % n;
      const x0 = mod(want.x, world.width), y0 = mod(want.y, world.height);
      const row = want.zoom ? want.width : Math.ceil(want.width / 8), body = new Uint8Array(row * want.height);
      const few = Math.min(side, 2), across = width / few, down = height / few; // a square has as many live cells as four cells of the soup say, so that places differ at every zoom
      const squares = new Uint8Array(across * down).map((_, k) => {
        let live = 0;
        for (let j = 0; j < few; j++) for (let i = 0; i < few; i++) live += cells[(Math.floor(k / across) * few + j) * width + k % across * few + i];
        return want.zoom && live ? 1 + Math.floor((live / few / few * side * side - 1) * 254 / (4 ** want.zoom - 1)) : live;
      });
      const [left, top] = [x0, y0].map((v) => Math.floor(v / side));
      for (let y = 0; y < want.height; y++) for (let x = 0, from = (top + y) % down * across; x < want.width; x++) {
        const square = squares[from + (left + x) % across];
        if (want.zoom) body[y * row + x] = square;
        else body[y * row + (x >> 3)] |= square << (x & 7);
      }
      return cellsFrame({ sequence, step: run.step, x: x0, y: y0, width: want.width, height: want.height, zoom: want.zoom, population: run.population, body });
    },
    row: () => [run.step, run.population],
    clear() { cells.fill(0); },
    put({ x, y, width: w, height: h, cells: text }) {
      for (let j = 0; j < h; j++) for (let i = 0; i < w; i++)
        cells[(y + j) % height * width + (x + i) % width] = parseInt(text.substr(2 * (j * Math.ceil(w / 8) + (i >> 3)), 2), 16) >> i % 8 & 1;
    },
    alive: () => [...cells].flatMap((c, i) => c ? [[i % width, Math.floor(i / width)]] : []),
  };
  run.advance();
  return run;
}

export function madeGas() {
  const bins = 64, top = 2000, molecules = 1e6, draw = random(5), at = 0.0012;
  const density = (v) => 4 * Math.PI * (at * at / Math.PI * 0.55) ** 1.5 * v * v * Math.exp(-0.55 * at * at * v * v) * 1.0;
  const run = {
    time: 0, step: 0, kind: 3,
    hello: { type: "hello", version: 1, stdcl: "1.0.0", run: "12", program: "gas", title: "gas: 1,000,000 molecules of nitrogen at 300 K", live: true, rights: "all", can: ["pause", "step", "quit"], rate: 30,
      step: "measurement", time: { name: "measurement", unit: "" }, facts: [["device", "a device made up"]], bars: { quantity: "speed", unit: "m/s", count: "molecules", model: "Maxwell" },
      rows: { x: 0, columns: [["measurement", ""], ["mean energy", "J"], ["expected energy", "J"], ["standard deviations", ""]].map(([name, unit]) => ({ name, unit })) } },
    advance() { run.time = ++run.step; },
    frame(want, sequence) {
      const expected = [], counts = [];
      for (let i = 0; i < bins; i++) expected.push(molecules * density((i + 0.5) * top / bins) * top / bins);
      expected.push(120);
      for (const e of expected) counts.push(Math.max(0, Math.round(e + Math.sqrt(e) * (draw() + draw() + draw() - 1.5) * 2)));
      return barsFrame({ sequence, time: run.time, step: run.step, top, counts, expected });
    },
    row: () => [run.step, 6.2129e-21 * (1 + 1e-4 * (draw() - 0.5)), 6.2129e-21, 3 * (draw() - 0.5)],
  };
  return run;
}

export function madeSweep() {
  const rows = ["simple", "blocked", "tiled", "vector", "CLBlast"], columns = ["64", "128", "256", "512", "1024", "2048", "4096"];
  const values = new Float32Array(rows.length * columns.length).fill(NaN);
  const run = {
    time: 0, step: 0, kind: 4,
    hello: { type: "hello", version: 1, stdcl: "1.0.0", run: "13", program: "matmul", title: "matmul: sweep over sizes", live: true, rights: "all", can: ["pause", "quit"], rate: 30, step: "run", time: { name: "run", unit: "" },
      facts: [["device", "a device made up"]], grid: { row: "engine", rows, column: "size", columns, quantity: "rate", unit: "GFLOP/s" },
      rows: { x: 0, columns: [{ name: "size", unit: "" }, ...rows.map((name) => ({ name, unit: "GFLOP/s" }))] } },
    advance() {
      if (run.step >= values.length) return;
      const c = Math.floor(run.step / rows.length), r = run.step % rows.length;
      values[r * columns.length + c] = 40 * (r + 1) ** 1.5 * (1 - Math.exp(-(c + 1) / 2.5)) * (1 + 0.1 * Math.sin(run.step * 5));
      run.time = ++run.step;
    },
    frame: (want, sequence) => gridFrame({ sequence, time: run.time, step: run.step, rows: rows.length, columns: columns.length, values }),
    row() {
      const c = Math.floor((run.step - 1) / rows.length);
      return run.step % rows.length ? null : [+columns[c], ...rows.map((_, r) => values[r * columns.length + c])];
    },
  };
  return run;
}

export const MADE = { nbody: () => madeBodies(50000), many: () => madeBodies(1000000), few: () => madeBodies(9), planets: madePlanets, life: () => madeLife(128, 96, { width: 512, height: 384 }), gas: madeGas, matmul: madeSweep,
  large: () => madeLife(128, 128, { width: 65536, height: 65536 }) };

// ---- the server

// Serve a run; every frame costs a credit. Returns { url, run, port, seen (messages of viewers),
// close(), drop() }.
export async function serveMade(run, { port = 0, rate = 30, guest = false } = {}) {
  const { WebSocketServer } = packageOf("ws");
  const server = http.createServer((request, response) => {
    const name = request.url === "/" ? "index.html" : request.url.slice(1);
    const file = path.join(WEB, name);
    if (!/^[a-z_]+\.(html|js|css|svg)$/.test(name) || !fs.existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "Content-Type": TYPES[path.extname(name)], "Content-Security-Policy": CSP, "Cache-Control": "no-cache" }).end(fs.readFileSync(file));
  });
  const sockets = new Set(), seen = [], state = { type: "state", paused: false, speed: 0, ended: false, viewers: 1, recording: false, steps: 0, fraction: null };
  const made = { table: [], sequence: 1 };
  const wss = new WebSocketServer({ server, path: "/live", handleProtocols: () => "stdcl-view.1" });
  const tell = (message) => sockets.forEach((s) => s.send(JSON.stringify(message)));
  const send = (s) => {
    while (s.credits > 0 && (s.rows < made.table.length || s.sequence < made.sequence || s.fresh)) {
      let bytes;
      if (s.rows < made.table.length && (s.turn = !s.turn)) {
        bytes = rowsFrame({ sequence: made.sequence, first: s.rows, columns: run.hello.rows.columns.length, values: made.table.slice(s.rows).flat() });
        s.rows = made.table.length;
      } else if (s.sequence < made.sequence || s.fresh) {
        bytes = run.frame(s.want, made.sequence);
        [s.sequence, s.fresh] = [made.sequence, false];
        if (!bytes) continue;
      } else continue;
      s.credits--;
      s.send(bytes);
    }
  };
  const advance = () => {
    run.advance();
    made.sequence++;
    const row = run.row();
    if (row) made.table.push(row);
    if (run.said) tell(run.said());
    sockets.forEach(send);
  };
  wss.on("connection", (s, request) => {
    if (!String(request.headers["sec-websocket-protocol"]).includes("token." + TOKEN)) {
      s.close(4401);
      return;
    }
    Object.assign(s, { credits: 0, rows: 0, sequence: 0, want: {}, fresh: false });
    sockets.add(s);
    s.send(JSON.stringify(guest ? { ...run.hello, rights: "guest" } : run.hello));
    s.send(JSON.stringify(state));
    s.on("close", () => sockets.delete(s));
    s.on("message", (data) => {
      if (made.silent) return;
      const message = JSON.parse(data);
      seen.push(message);
      if (message.type === "credit") s.credits = Math.min(8, s.credits + message.n);
      if (message.type === "want") [s.want, s.fresh] = [message.points || message.cells, true];
      if (message.type === "ping") s.send(JSON.stringify({ type: "pong", id: message.id }));
      if (message.type === "do") {
        if (guest) s.send(JSON.stringify({ type: "refused", what: message.what, text: "this link may only look" }));
        else if (message.what === "pause" || message.what === "run") state.paused = message.what === "pause";
        else if (message.what === "speed") state.speed = message.value;
        else if (message.what === "put") {
          run.put(message);
          made.sequence++;
        } else if (message.what === "rule") {
          if (/^B\d*\/S\d*$/.test(message.rule)) state.rule = message.rule;
          else s.send(JSON.stringify({ type: "say", level: "info", text: `'${message.rule}' is no rule` }));
        } else if (message.what === "again") {
          run.hello.run = "again" + made.sequence;
          state.ended = state.paused = false;
          sockets.forEach((other) => other.close(1012));
        } else if (message.what === "step") {
          state.paused = true;
          if (message.n > 0) advance();
        } else if (message.what === "quit" && message.confirm) {
          tell({ type: "end", text: "the run was ended" });
          state.paused = state.ended = true;
        }
        tell(state);
      }
      send(s);
    });
  });
  const timer = setInterval(() => state.paused || advance(), 1000 / rate);
  await new Promise((done) => server.listen(port, "127.0.0.1", done));
  const at = `http://127.0.0.1:${server.address().port}/`;
  return { url: at + "#t=" + TOKEN, at, run, seen, state, advance, tell, port: server.address().port,
    stop: () => { made.silent = state.paused = true; }, // a run that is in a long step
    drop: () => sockets.forEach((s) => s.terminate()), // the way is lost; the run goes on
    close: () => { clearInterval(timer); sockets.forEach((s) => s.close(1000)); wss.close(); server.close(); } };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serveMade(MADE[process.argv[2] || "nbody"](), { port: +(process.argv[3] || 0) });
  console.log(url);
}

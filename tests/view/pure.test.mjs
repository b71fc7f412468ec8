// pure.test.mjs - the parts of the page that need no browser: frames, recordings, motion, numbers,
// colours, history.
// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { WEB, barsFrame, cellsFrame, gridFrame, pointsFrame, rowsFrame, viewFile } from "./mock.mjs";

const web = (name) => import(path.join(WEB, name));
const { FrameReader, readHead } = await web("wire.js");
const { Recording, fromBase64 } = await web("recording.js");
const { Pace, frameWeights } = await web("motion.js");
const { formatNumber, formatQuantity, niceTicks, tickTexts } = await web("numbers.js");
const { decadesAround, endTexts } = await web("chart.js");
const { fittingWords, isGap } = await web("plots.js");
const { MAPS, colourAt } = await web("colour_maps.js");
const { Past, Table } = await web("history.js");
const { Above, Orbit, ballAround } = await web("camera.js");
const { regionFor } = await web("cells.js");
const { liveBox, rleText } = await web("rle.js");
const { creditsFor, fairShare, nextBytes } = await web("link.js");
const { makeWebm } = await web("webm.js");
const BOX = [-1, -2, -3, 1, 2, 3];

// A path of bodies: x grows evenly, y jumps too far for a byte now and then, z wraps around 2^16.
function walk(count, at) {
  const planes = new Uint16Array(3 * count), shades = new Uint8Array(count);
  for (let k = 0; k < count; k++) {
    planes[k] = 1000 + 7 * k + 30 * at;
    planes[count + k] = k % 5 === 0 ? (k * 7919 + at * at * 4001) & 0xffff : 500 * k + 3 * at * at;
    planes[2 * count + k] = 65530 + k + 5 * at;
    shades[k] = (k + 40 * at) & 255;
  }
  return { planes, shades };
}

function points(coding, sequence, base, older, count = 101) {
  const { planes, shades } = walk(count, sequence);
  return pointsFrame({ coding, sequence, time: sequence / 4, step: 10 * sequence, box: BOX, total: 200, count, colour: 1, lo: 0.5, hi: 2, planes, shades,
    base: base && { sequence: base, ...walk(count, base) }, older: older && { sequence: older, ...walk(count, older) } });
}

test("points of every coding come out as they went in", async () => {
  for (const coding of [0, 1, 2, 3]) {
    const reader = new FrameReader();
    await reader.read(points(0, 1));
    await reader.read(points(3, 2));
    const bytes = coding === 1 || coding === 2 ? points(coding, 3, 2, 1) : points(coding, 3);
    const frame = await reader.read(bytes);
    assert.deepEqual([...frame.planes], [...walk(101, 3).planes], `places in coding ${coding}`);
    assert.deepEqual([...frame.shades], [...walk(101, 3).shades], `colours in coding ${coding}`);
    assert.deepEqual([frame.kind, frame.time, frame.step, frame.total, frame.count, frame.colour, frame.lo, frame.box[3]], ["points", 0.75, 30, 200, 101, "speed", 0.5, 1]);
    assert.ok(readHead(bytes).coding === coding);
  }
});

test("points at an odd place in memory are read", async () => {
  const bytes = points(0, 1), odd = new Uint8Array(bytes.length + 1).subarray(1);
  odd.set(bytes);
  assert.deepEqual([...(await new FrameReader().read(odd)).planes], [...walk(101, 1).planes]);
});

test("frames that are wrong are refused in a sentence", async () => {
  const good = points(0, 1), reader = new FrameReader();
  const broken = (change) => {
    const bytes = Buffer.from(good);
    change(bytes);
    return bytes;
  };
  const cases = [[good.subarray(0, 10), /shorter/], [good.subarray(0, 100), /shorter/], [good.subarray(0, good.length - 1), /bytes where/], [broken((b) => b.writeUInt8(9, 0)), /kind/],
    [broken((b) => b.writeUInt8(77, 80)), /colour/], [broken((b) => b.writeUInt32LE(4e9, 76)), /bytes where/], [points(1, 3, 2, 1), /builds on one/],
    [broken((b) => b.writeUInt8(3, 1)), /./]];
  for (const [bytes, reason] of cases) await assert.rejects(reader.read(bytes), reason);
  const packed = points(3, 1);
  packed.writeBigUInt64LE(20n, 104);
  await assert.rejects(reader.read(packed), /unpacks to more/);
});

test("cells: bits, squares, differences, unknown populations", async () => {
  const reader = new FrameReader(), body = new Uint8Array(3 * 5).map((_, i) => i * 37);
  const one = await reader.read(cellsFrame({ sequence: 1, step: 5, x: -8, y: 2 ** 40, width: 20, height: 5, zoom: 0, population: 77, body }));
  assert.deepEqual([one.x, one.y, one.population, [...one.body]], [-8, 2 ** 40, 77, [...body]]);
  const next = body.map((b) => b ^ 9);
  const two = await reader.read(cellsFrame({ coding: 2, sequence: 2, step: 6, x: -8, y: 2 ** 40, width: 20, height: 5, zoom: 0, population: null, body: next, base: { sequence: 1, body } }));
  assert.deepEqual([...two.body], [...next]);
  assert.ok(Number.isNaN(two.population));
  const three = await reader.read(cellsFrame({ coding: 3, sequence: 3, step: 7, x: 0, y: 0, width: 4, height: 4, zoom: 3, population: 1, body: new Uint8Array(16).fill(200) }));
  assert.equal(three.body.length, 16);
  const four = await reader.read(cellsFrame({ sequence: 4, step: 8, x: 0, y: 0, width: 9, height: 2, zoom: 0, states: 256, population: 1, body: new Uint8Array(18).fill(255) }));
  assert.deepEqual([four.states, four.row, four.body.length], [256, 9, 18]);
  await assert.rejects(reader.read(cellsFrame({ coding: 2, sequence: 9, step: 6, x: 0, y: 0, width: 20, height: 5, zoom: 0, population: 1, body, base: { sequence: 7, body } })), /builds on/);
});

test("bars, grids and rows", async () => {
  const reader = new FrameReader();
  const bars = await reader.read(barsFrame({ sequence: 1, time: 1, step: 1, top: 10, counts: [1, 2, 2 ** 40], expected: [1.5, 2.5, 3.5] }));
  assert.deepEqual([bars.bins, bars.counts, bars.expected], [2, [1, 2, 2 ** 40], [1.5, 2.5, 3.5]]);
  const grid = await reader.read(gridFrame({ sequence: 2, time: 1, step: 1, rows: 1, columns: 2, values: [NaN, 4] }));
  assert.deepEqual([...grid.values], [NaN, 4]);
  const rows = await reader.read(rowsFrame({ first: 0, columns: 2, values: [1, 2, 3, 4] }));
  assert.deepEqual([rows.count, [...rows.values]], [2, [1, 2, 3, 4]]);
});

test("a recording: a picture has the distributions that were shown with it or before", () => {
  const said = [0.5, 2].map((time) => ({ type: "profiles", time, list: [] })), [early, late] = said.map((text) => Buffer.from(JSON.stringify(text)));
  const recording = new Recording(viewFile({ type: "hello", version: 1, points: { total: 200 } }, [points(0, 1), points(0, 2), early, points(0, 3), late, points(0, 4)]));
  assert.deepEqual([0, 1, 2, 3].map((i) => recording.profilesAt(i)), [undefined, said[0], said[1], said[1]]);
});

test("a recording: any picture, in any order, and up to wherever it was cut", async () => {
  const hello = { type: "hello", version: 1, program: "nbody", title: "t", points: { total: 200 } };
  const frames = [points(0, 1), rowsFrame({ first: 0, columns: 1, values: [5] }), points(2, 2, 1, 1), points(1, 3, 2, 1), points(3, 4), points(2, 5, 4, 3)];
  const file = viewFile(hello, frames), recording = new Recording(file);
  assert.equal(recording.pictures.length, 5);
  assert.equal((await recording.allRows())[0].values[0], 5);
  for (const i of [4, 0, 2, 1, 3, 3, 4]) assert.deepEqual([...(await recording.picture(i)).planes], [...walk(101, i + 1).planes], `picture ${i}`);
  for (let cut = 0; cut < file.length; cut += 13) {
    let pictures = 0;
    try {
      const part = new Recording(file.subarray(0, cut));
      pictures = part.pictures.length;
      if (pictures) assert.deepEqual([...(await part.picture(pictures - 1)).planes], [...walk(101, pictures).planes]);
    } catch (error) {
      assert.match(error.message, /not a recording|no description/);
    }
    assert.ok(pictures <= 5);
  }
  assert.deepEqual([...fromBase64([file.toString("base64", 0, 300), file.toString("base64", 300)])], [...file]);
  assert.throws(() => new Recording(Buffer.from("something else")), /not a recording/);
});

test("motion follows a cubic through frames, and is smooth where one comes", () => {
  const path3 = (t) => 1 + 2 * t - 0.5 * t * t, times = [0, 1, 1.7, 3]; // a parabola is followed exactly
  for (let t = 1.7; t <= 3; t += 0.1) {
    const place = frameWeights(times, t).reduce((n, w, i) => n + w * path3(times[i]), 0);
    assert.ok(Math.abs(place - path3(t)) < 1e-12);
  }
  for (const n of [1, 2, 3, 4]) for (const t of [-1, 0.3, 2.5, 9]) {
    const sum = frameWeights(times.slice(0, n), t).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - 1) < 1e-12, "weights are parts of a whole");
  }
  const places = [0, 3, -1, 2, 5, 4], at = (from, t) => frameWeights([0, 1, 2, 3].map((i) => from + i), t).reduce((n, w, i) => n + w * places[from + i], 0);
  assert.ok(Math.abs(at(0, 3 - 1e-9) - at(1, 3 + 1e-9)) < 1e-6, "place");
  const slope = (from, t) => (at(from, t + 1e-6) - at(from, t - 1e-6)) / 2e-6;
  assert.ok(Math.abs(slope(0, 3 - 1e-5) - slope(1, 3 + 1e-5)) < 1e-3, "velocity");
});

test("between earlier frames motion follows a cubic too", () => {
  const path3 = (t) => 1 + 2 * t - 0.5 * t * t, times = [0, 1, 1.7, 3];
  for (let t = 1; t <= 3; t += 0.05) {
    const place = frameWeights(times, t).reduce((n, w, i) => n + w * path3(times[i]), 0);
    assert.ok(Math.abs(place - path3(t)) < 1e-12, String(t));
  }
});

test("frames that come unevenly are shown evenly: what is shown rarely stands, and is between the four that are held", () => {
  for (const [least, most] of [[100, 100], [60, 140], [30, 200]]) {
    const pace = new Pace(), steps = [];
    let next = 0, i = 0, stood = 0, last = 0;
    for (let ms = 0; ms < 20000; ms += 1000 / 60) {
      if (ms >= next) {
        pace.frame(i, ms);
        next += least + (most - least) * (0.5 + 0.5 * Math.sin(i++ * 12.9898)); // any order
      }
      const at = pace.at(ms);
      if (ms > 2000) {
        stood += at === last;
        steps.push(at - last);
        assert.ok(pace.newest - at < 4, `${pace.newest - at} frames behind`);
      }
      last = at;
    }
    assert.ok(stood < 0.005 * steps.length, `it stood for ${stood} of ${steps.length}`);
    assert.ok(Math.max(...steps) < 3 * steps.reduce((a, b) => a + b) / steps.length);
  }
});

test("squares are the brighter the more live in them, and one alone is seen", async () => {
  const { squareShade } = await web("cells.js");
  for (const zoom of [1, 4, 24, 53]) {
    const shades = [...Array(256).keys()].map((s) => squareShade({ zoom }, s));
    assert.equal(shades[0], 0);
    assert.ok(shades[1] >= 0.5 && shades[255] === 1 && shades.every((v, i) => i < 1 || v > shades[i - 1]), String(zoom));
  }
});

test("pictures too far apart for curves between them are known as such", async () => {
  const { leapsIn } = await web("points.js");
  const around = (turn, radius) => [0, 1, 2].map((t) => ({ box: [-1, -1, -1, 1, 1, 1], count: 9,
    planes: Uint16Array.from([0, 1, 2].flatMap((c) => Array.from({ length: 9 }, (_, k) => 32768 + (c < 2 ? Math.round(radius * [Math.cos, Math.sin][c](k + turn * t)) : 0)))) }));
  for (const [turn, radius, leaps] of [[0.2, 20000, false], [1, 20000, false], [1.6, 20000, true], [2.7, 20000, true], [2.7, 20, false], [0, 20000, false]])
    assert.equal(leapsIn(around(turn, radius)), leaps, `${turn} ${radius}`);
});

test("the time that is shown never goes back, and rests at the newest frame", () => {
  const pace = new Pace();
  let shown = -1;
  for (let ms = 0; ms < 2000; ms += 10) {
    if (ms % 100 === 0) pace.frame(ms / 1000, ms);
    const at = pace.at(ms);
    assert.ok(at >= shown && at <= Math.floor(ms / 100) / 10 + 1e-12);
    shown = at;
  }
  pace.at(8000);
  assert.equal(pace.at(9000), 1.9);
  assert.equal(pace.moving, false);
});

test("numbers as people read them", () => {
  for (const [value, text] of [[0, "0"], [1048576, "1,048,576"], [-3.14159265, "−3.142"], [1.5e-9, "1.5×10⁻⁹"], [6.02214e23, "6.022×10²³"], [NaN, "–"], [99999.51, "100,000"]])
    assert.equal(formatNumber(value), text);
  assert.deepEqual(niceTicks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(tickTexts([0, 2e6, 4e6]), { texts: ["0", "2", "4"], power: "×10⁶" });
  assert.deepEqual(tickTexts([-0.05, 0, 0.05]), { texts: ["−0.05", "0.00", "0.05"], power: "" });
  assert.deepEqual(tickTexts([6.2128e-21, 6.213e-21]).texts, ["6.2128", "6.2130"]);
  for (let i = 0; i < 200; i++) {
    const from = Math.sin(i * 77) * 10 ** (i % 20 - 10), to = from + Math.abs(Math.cos(i)) * 10 ** (i % 17 - 8);
    const ticks = niceTicks(from, to, 5);
    assert.ok(ticks.length <= 12 && ticks.every((t) => t >= from - (to - from) * 1e-6 && t <= to + (to - from) * 1e-6));
  }
});

test("maps begin and end with their published colours; inferno, magma and viridis are formats/colours.c's", () => {
  const source = fs.readFileSync(path.join(WEB, "../../formats/colours.c"), "utf8");
  const ENDS = { inferno: ["000004", "fcffa4"], magma: ["000004", "fcfdbf"], viridis: ["440154", "fde725"], cividis: ["00224e", "fee838"], grey: ["000000", "ffffff"] };
  const hex = (rgb) => rgb.map((v) => v.toString(16).padStart(2, "0")).join("");
  assert.deepEqual(MAPS, Object.keys(ENDS));
  for (const map of MAPS) {
    assert.deepEqual([hex(colourAt(map, 0)), hex(colourAt(map, 1))], ENDS[map]);
    const table = source.match(new RegExp(`\\[PICTURE_${map.toUpperCase()}\\] =\\s*\\{([^}]*)\\}`));
    const colours = table ? table[1].match(/0x[0-9a-f]{6}/g).map(Number) : [];
    colours.forEach((c, i) => colourAt(map, i / 255).forEach((v, k) => assert.ok(Math.abs(v - (c >> 16 - 8 * k & 255)) <= 3, `${map} ${i}`)));
    if (map !== "cividis" && map !== "grey") assert.equal(colours.length, 256);
    let before = -1; // brightness grows
    for (let i = 0; i <= 32; i++) {
      const [r, g, b] = colourAt(map, i / 32), light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
      assert.ok(light > before - 0.5);
      before = light;
    }
  }
});

test("the past has a bound, and reaches back to the beginning", () => {
  const past = new Past(100000);
  for (let i = 0; i < 1000; i++) past.add({ sequence: i, time: i, planes: new Uint16Array(500) });
  assert.ok(past.bytes <= 100000 && past.length > 20);
  assert.equal(past.frames[0].time, 0);
  assert.equal(past.frames.at(-1).time, 999);
  past.add({ sequence: 999, time: 999, planes: new Uint16Array(1) });
  assert.equal(past.frames.filter((f) => f.sequence === 999).length, 1);
  const large = new Past(1000);
  for (let i = 0; i < 9; i++) large.add({ sequence: i, planes: new Uint16Array(5000) });
  assert.ok(large.length <= 2);
});

test("a population that was counted earlier is given with its generation", async () => {
  const { aliveWords, objectWords } = await web("cells.js"), counted = { step: 64, population: 1200 };
  assert.deepEqual(aliveWords({ step: 64, population: 5 }, counted), ["5 alive"]);
  assert.deepEqual(aliveWords({ step: 2969, population: NaN }, counted), ["1,200 alive in generation 64"]);
  assert.deepEqual(aliveWords({ step: 2969, population: NaN }, null), []);
  const { profileSteps, profilesCsv } = await web("plots.js");
  assert.equal(profilesCsv({ time: 1.5, list: [{ title: "a, b", x: "r", unit: "pc", edge: [0, 2, 3], value: [5, 1] }] }),
    'time,quantity,variable,from,to,value\n1.5,"a, b",r (pc),0,2,5\n1.5,"a, b",r (pc),2,3,1\n');
  assert.deepEqual(profileSteps({ edge: [0, 2, 3], value: [5, 1] }), [[0, 5], [2, 5], [2, 1], [3, 1]]);
  assert.deepEqual(profileSteps({ edge: [0, 20, 100], value: [100, 0], log: true }), [[1, 2], [Math.log10(20), 2], [Math.log10(20), -Infinity], [2, -Infinity]]);
  const objects = { step: 64, names: "2 × block, glider" };
  assert.deepEqual(objectWords({ step: 64 }, objects, true), ["2 × block, glider"]);
  assert.deepEqual(objectWords({ step: 99 }, objects, false), ["2 × block, glider in generation 64"]);
  assert.deepEqual(objectWords({ step: 99 }, objects, true), [], "names of another generation would be wrong for long");
  assert.deepEqual(objectWords({ step: 99 }, undefined, false), []);
});

test("the table as CSV: heads with units, every digit, nothing for what is not known", () => {
  const table = new Table([{ name: "time", unit: "s" }, { name: "a, b", unit: "" }]);
  table.add({ first: 0, count: 2, columns: 2, flags: 0, values: [0.1, 1 / 3, 2e-9, NaN] });
  assert.equal(table.csv(), 'time (s),"a, b"\n0.1,0.3333333333333333\n2e-9,\n');
});

test("osculating orbits: a circle, an ellipse at its pericentre, a moon about its planet", async () => {
  const { ellipsePoints, orbitOf } = await web("orbits.js");
  const near = (a, b) => assert.ok(Math.abs(a - b) < 1e-12 * Math.max(1, Math.abs(b)), `${a} ${b}`);
  const circle = orbitOf({ G: 4, masses: [9, 0], pos: [[1, 1, 1], [3, 1, 1]], vel: [[0, 0, 1], [0, Math.sqrt(18), 1]] }, 1);
  near(circle.a, 2);
  assert.ok(circle.e < 1e-7);
  near(circle.period, 2 * Math.PI * Math.sqrt(8 / 36));
  const e = 0.6, ellipse = orbitOf({ G: 1, masses: [1, 0], pos: [[0, 0, 0], [0.4, 0, 0]], vel: [[0, 0, 0], [0, Math.sqrt((1 + e) / (1 - e)), 0]] }, 1);
  near(ellipse.a, 1);
  near(ellipse.e, e);
  const points = ellipsePoints(ellipse, 4); // pericentre, end of the minor axis, apocentre
  [[0.4, 0, 0], [-0.6, 0.8, 0], [-1.6, 0, 0]].forEach((want, i) => want.forEach((v, c) => near(points[i][c], v)));
  const v = Math.sqrt(1e-3 / 0.01), moon = { G: 1, masses: [1, 1e-3, 1e-6], pos: [[0, 0, 0], [1, 0, 0], [1.01, 0, 0]], vel: [[0, 0, 0], [0, 1, 0], [0, 1 + v, 0]] };
  assert.equal(orbitOf(moon, 2).about, 1);
  assert.equal(orbitOf(moon, 1).about, 0);
  assert.equal(orbitOf(moon, 0), null);
});

test("speeds: in steps, or in time; six slower than as fast as it can are 20 steps a second", async () => {
  const { nearestSpeed, speedWords, speedsOf } = await web("speeds.js");
  const steps = speedsOf({ live: true });
  assert.equal(steps[steps.length - 1 - 6][0], 20);
  assert.equal(nearestSpeed(steps, 0), steps.length - 1);
  assert.equal(nearestSpeed(steps, 21), steps.length - 1 - 6);
  assert.deepEqual([25, 1000, 0].map((s) => speedWords({ live: true }, s)), ["25 a second", "1,000 a second", "as fast as it can"]);
  assert.equal(speedWords({ live: false }, 25), "25 pictures a second");
  const time = speedsOf({ live: true, step_time: 0.004, time: { name: "time", unit: "days" } });
  assert.deepEqual(time.find(([, text]) => text === "0.2 days a second").map((v) => typeof v === "number" ? Math.round(v) : v), [50, "0.2 days a second"]);
  assert.ok(time.every(([s], i) => i === 0 || !s || s > time[i - 1][0]));
});

test("plots as SVG: lines, dashes, text in its place; signs are escaped", async () => {
  const { SvgPen, svgText } = await web("svg.js"), { drawAxes, stroke } = await import(path.join(WEB, "chart.js"));
  const pen = new SvgPen((text) => 6 * text.length), ink = { ink: "#000", soft: "#555", line: "#ddd", paper: "#fff", font: (size, weight = 400) => `${weight} ${size}px "A", serif` };
  drawAxes(pen, { left: 50, top: 10, right: 250, bottom: 110 }, { x: [0, 10], y: [0, 1], xTitle: "a < b", yTitle: "", small: true }, ink);
  pen.setLineDash([5, 3]);
  stroke(pen, [[50, 110], [150, 60], null, [200, 35], [250, 10]], "#0b6aa8", 1.6);
  const text = svgText([{ pen, width: 300, height: 150 }, { pen: new SvgPen(() => 0), width: 280, height: 150 }], "#fff");
  assert.match(text, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="300" height="300" viewBox="0 0 300 300">/);
  assert.match(text, /<path d="M50 110L150 60M200 35L250 10" fill="none" stroke="#0b6aa8" stroke-width="1.6" stroke-linejoin="round" stroke-dasharray="5,3"\/>/);
  assert.match(text, /font-family="&quot;A&quot;, serif" font-size="11"/);
  assert.match(text, />a &lt; b<\/text>/);
  assert.equal((text.match(/<(?!\/|path|rect)[a-z]+/g) || []).length, (text.match(/<\/[a-z]+>/g) || []).length);
});

test("two recordings overlaid: a plot has the lines of both, each with its own rows", async () => {
  const { lineLooks, rowAt } = await web("plots.js"), energies = ["kinetic energy", "total energy"];
  const table = new Table([{ name: "time", unit: "s" }, ...["a.view", "b.view"].flatMap((run) => [...energies.map((name) => ({ name, unit: "", run })), { name: "population", unit: "cells", run }])]);
  table.add({ flags: 0, first: 0, count: 3, columns: 7, values: [0, 1, 2, 30, NaN, NaN, NaN, 1, 3, 2, 31, NaN, NaN, NaN, 0, NaN, NaN, NaN, 5, 4, 40] });
  const plots = table.plots();
  assert.deepEqual(plots.map((p) => [p.title, p.columns]), [["Energy", [1, 2, 4, 5]], ["Energy error", [2, 5]], ["Population", [3, 6]]]);
  const looks = (plot) => lineLooks(plot.columns.map((c) => table.titles[c]));
  assert.deepEqual(looks(plots[0]), { note: "dashed: b.view", looks: [["kinetic", 0, false], ["total", 1, false], ["", 0, true], ["", 1, true]].map(([name, colour, dashed]) => ({ name, colour, dashed })) });
  assert.deepEqual(looks(plots[2]), { note: "", looks: [{ name: "a.view", colour: 0, dashed: false }, { name: "b.view", colour: 1, dashed: true }] });
  const engines = lineLooks([..."abcdefgh"].map((name) => ({ name })));
  assert.deepEqual([engines.looks.map((l) => l.colour).join(""), engines.looks.map((l) => +l.dashed).join("")], ["01234501", "00000011"]);
  assert.equal(lineLooks([{ name: "population" }]).looks[0].name, "");
  assert.deepEqual([[1, 1], [4, 1], [1, 2]].map(([c, over]) => rowAt(table.line(c), table.line(0), over)), [1, 2, 0]);
  assert.equal(table.csv().split("\n")[0], '"time (s)"'.replaceAll('"', "") + ',"kinetic energy, a.view","total energy, a.view","population (cells), a.view","kinetic energy, b.view","total energy, b.view","population (cells), b.view"');
});

test("heads of plots keep the name of each line, and lose digits first", () => {
  const texts = (digits) => [-0.5, 0.3333333, -0.1666667].map((v, i) => ["potential", "kinetic", "total"][i] + (digits ? " " + formatNumber(v, digits) : ""));
  assert.deepEqual(fittingWords(texts, (t) => 7 * t.length, 400), texts(5));
  assert.deepEqual(fittingWords(texts, (t) => 7 * t.length, 300), texts(2));
  assert.deepEqual(fittingWords(texts, (t) => 7 * t.length, 40), ["potential", "kinetic", "total"]);
});

test("samples far from their neighbours are not joined, but those of a run that speeds up are", () => {
  const gaps = (xs) => xs.map((_, i) => isGap(xs, i));
  assert.deepEqual(gaps([0, 1, 2, 3, 10, 11, 12]), [false, false, false, false, true, false, false]);
  assert.deepEqual(gaps([0, 1, 3, 7, 15, 31, 63]), Array(7).fill(false));
  assert.deepEqual(gaps([0, 1, 2]), [false, false, false]);
});

test("a scale says two numbers, or one; units follow their number", () => {
  assert.deepEqual(endTexts(1, 1.00004), ["1", "1.00004"]);
  assert.deepEqual(endTexts(0.5, 20), ["0.5", "20"]);
  assert.equal(formatQuantity(1, "cells"), "1 cell");
  assert.equal(formatQuantity(2, "cells"), "2 cells");
  assert.equal(formatQuantity(1, "s"), "1 s");
  assert.deepEqual(decadesAround([0.5, 207, NaN]), [-1, 3]);
  assert.deepEqual(decadesAround([]), [0, 1]);
});

test("tables: plots by unit and subject; rows that are forgotten", () => {
  const table = new Table(["time", "kinetic energy", "potential energy", "total energy", "virial ratio"].map((name) => ({ name, unit: "" })));
  assert.deepEqual(table.plots().map((p) => [p.title, p.columns]), [["Energy", [1, 2, 3]], ["Energy error", [3]], ["Virial ratio", [4]]]);
  table.add({ flags: 0, first: 0, count: 2, columns: 5, values: [0, 1, -3, -2, 1, 1, 1, -3, -2.02, 1] });
  assert.deepEqual(table.line(3, true).map((v) => +v.toFixed(9)), [0, -0.01]);
  table.add({ flags: 8, first: 0, count: 1, columns: 5, values: [5, 1, 1, 1, 1] });
  assert.equal(table.length, 1);
  assert.deepEqual(new Table([{ name: "block", unit: "" }, { name: "a", unit: "GFLOP/s" }, { name: "b", unit: "GFLOP/s" }]).plots().map((p) => p.columns), [[1, 2]]);
});

test("cameras: what is under the pointer stays there", () => {
  const above = Object.assign(new Above(), { width: 800, height: 600 });
  above.fit(65536, 65536);
  const before = above.cell(200, 100);
  above.zoom(7, 200, 100);
  above.cell(200, 100).forEach((v, c) => assert.ok(Math.abs(v - before[c]) < 1e-6));
  const orbit = Object.assign(new Orbit(), { width: 800, height: 600 });
  orbit.fit([1, 2, 3], 5);
  assert.deepEqual(orbit.project([1, 2, 3]).map(Math.round), [400, 300]);
  const [right, up] = orbit.axes(), place = [0, 1, 2].map((c) => orbit.target[c] + right[c] - 0.5 * up[c]);
  const [px, py] = orbit.project(place);
  orbit.zoom(3, px, py);
  orbit.project(place).forEach((v, c) => assert.ok(Math.abs(v - [px, py][c]) < 1e-6));
  orbit.along("z");
  const [x, y] = orbit.project([orbit.target[0] + 1, orbit.target[1], orbit.target[2]]);
  assert.ok(x > 400 && Math.abs(y - 300) < 1e-9);
  const m = orbit.matrix(), at = (p) => [0, 1, 2, 3].map((r) => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r]);
  for (const p of [[1, 0, 0], [0.3, -2, 0.4]]) {
    const clip = at(p), pixel = orbit.project(p.map((v, c) => v + orbit.target[c]));
    assert.ok(Math.abs((clip[0] / clip[3] + 1) * 400 - pixel[0]) < 0.01 && Math.abs((1 - clip[1] / clip[3]) * 300 - pixel[1]) < 0.01);
  }
  const far = ballAround([...Array(200)].map((_, k) => [Math.sin(k), Math.cos(k), 0]).concat([[1e6, 0, 0]]));
  assert.ok(far.radius < 2);
});

test("regions of cells: what one sees, never more than the server sends", () => {
  const above = Object.assign(new Above(), { width: 1280, height: 800 }), torus = { width: 65536, height: 65536, bounds: "torus" };
  for (let scale = 64; scale > 1e-4; scale /= 1.7) {
    Object.assign(above, { scale, x: 70000, y: -5 });
    const region = regionFor(above, torus), side = 2 ** region.zoom;
    assert.ok(region.width * region.height <= 4194304 && side * scale >= 0.999 && Number.isInteger(region.x));
    if (region.width < 65536 / side) assert.ok(region.x <= above.cell(0, 0)[0] && region.x + region.width * side >= above.cell(1280, 0)[0]);
    const plane = regionFor(Object.assign(above, { x: 10, y: 10 }), { width: 100, height: 50, bounds: "plane" });
    assert.ok(plane.x >= 0 && plane.y >= 0);
  }
});

test("a slow way gets fewer bodies and better packing, a fast one all", () => {
  assert.deepEqual(fairShare(3e7, 1000000), { count: 1000000, coding: 0 });
  assert.deepEqual(fairShare(1e5, 1000000), { count: 40000, coding: 2 });
  assert.equal(fairShare(1e4, 500).count, 500);
  let bytes = 3e5; // 10 Mbit/s, frames at 10 a second: replies queue after data in flight
  const late = () => Math.max(0, 1000 * (bytes * 10 / 1.25e6 - 1));
  for (let i = 0; i < 40; i++) bytes = nextBytes(bytes, late(), 4);
  assert.ok(bytes >= 6e4 && bytes * 10 <= 1.25e6 * 2);
  for (let i = 0; i < 10; i++) bytes = nextBytes(bytes, 2, 4);
  assert.equal(bytes, 3e7);
  assert.equal(nextBytes(3e5, 2, 3), 3e5, "too few came to tell");
  assert.equal(nextBytes(1.2e5, 240, 9), 1e5, "three pictures of 40,000 bodies on a way of 10 Mbit/s");
  assert.equal(nextBytes(7e4, 240, 9), 7e4);
  assert.equal(nextBytes(7e4, 150, 9), 1e5);
  assert.equal(nextBytes(2e5, 2, 9, 2.1e5), 2.1e5, "what was too much is not tried at once");
  assert.equal(nextBytes(3e5, 2, 9, 2.1e5), 3e5);
  assert.equal(nextBytes(8e4, 900, 9), 6e4);
  assert.equal(creditsFor(30, 0), 2);
  assert.equal(creditsFor(30, 5000), 8);
});

test("WebM files have the sizes they say", () => {
  const chunks = [0, 33, 66, 40000].map((time, i) => ({ time, key: i === 0, data: new Uint8Array(10 + i) }));
  const bytes = makeWebm(chunks, 64, 48, "vp8"), ids = [];
  const walkElements = (from, to, depth) => {
    while (from < to) {
      const length = Math.clz32(bytes[from]) - 23, id = Buffer.from(bytes.subarray(from, from + length)).toString("hex");
      let size = 0;
      for (let i = 1; i < 8; i++) size = size * 256 + bytes[from + length + i];
      const body = from + length + 8;
      assert.ok(bytes[from + length] === 1 && body + size <= to);
      ids.push(id);
      if (["18538067", "1f43b675", "1654ae6b", "ae", "e0"].includes(id)) walkElements(body, body + size, depth + 1);
      from = body + size;
    }
  };
  walkElements(0, bytes.length, 0);
  assert.equal(ids.filter((id) => id === "a3").length, 4);
  assert.equal(ids.filter((id) => id === "1f43b675").length, 2);
});

test("cells as RLE: without what is empty around them, in lines of 70, as they are written elsewhere", () => {
  const rows = ["........", "..x.....", "...x....", ".xxx....", "........", "........", ".x.x.x.x"];
  const frame = { width: 8, height: 7, row: 1, zoom: 0, states: 2, body: Uint8Array.from(rows, (row) => [...row].reduce((byte, c, i) => byte | (c === "x") << i, 0)) };
  assert.deepEqual(liveBox(frame), [1, 1, 8, 7]);
  assert.equal(rleText(frame, [0, 0, 8, 5], "B3/S23"), "x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n");
  assert.equal(rleText(frame, [0, 0, 8, 7], "B3/S23"), "x = 7, y = 6, rule = B3/S23\nbo$2bo$3o3$obobobo!\n");
  assert.equal(rleText(frame, [4, 0, 8, 2], "B3/S23"), "x = 0, y = 0, rule = B3/S23\n!\n");
  const wide = { width: 800, height: 1, row: 100, zoom: 0, states: 2, body: new Uint8Array(100).fill(0x55) };
  const lines = rleText(wide, [0, 0, 800, 1], "B3/S23").split("\n").slice(1);
  assert.ok(lines.every((line) => line.length <= 70));
  assert.equal(lines.join(""), "ob".repeat(399) + "o!");
  assert.deepEqual(liveBox({ width: 4, height: 2, row: 4, zoom: 3, body: Uint8Array.of(0, 0, 0, 0, 0, 9, 0, 0) }), [1, 1, 2, 2]);
  const many = { width: 4, height: 3, row: 4, zoom: 0, states: 256, body: Uint8Array.of(0, 0, 0, 0, 0, 1, 1, 24, 25, 0, 48, 255) };
  assert.equal(rleText(many, [0, 0, 4, 3], "x"), "x = 4, y = 2, rule = x\n.2AX$pA.pXyO!\n");
});

test("trails grow by later instants only, and know where instants are missing", async () => {
  const { Trails, isMissing } = await web("trails.js"), trails = new Trails();
  trails.addPath([[0, 1, 2, 3], [1, 1, 2, 4], [2, 1, 2, 5]]);
  trails.addFrame({ time: 2, count: 1 }, () => [9, 9, 9]); // known from the path
  trails.addFrame({ time: 3, count: 1 }, () => [1, 2, 6]);
  trails.addPath(undefined);
  trails.addPath([[20, 1, 2, 7], [21, 1, 2, 8]]);
  assert.deepEqual(trails.instants.map(({ time, places }) => [time, places[2]]), [[0, 3], [1, 4], [2, 5], [3, 6], [20, 7], [21, 8]]);
  assert.deepEqual(trails.instants.map((_, i) => isMissing(trails.instants, i)), [false, false, false, false, true, false]);
  assert.equal(trails.since(3).length, 3);
  trails.addFrame({ time: 22, count: 2 }, () => [0, 0, 0]); // a different number of bodies is a different run
  assert.equal(trails.instants.length, 1);
  for (let i = 0; i < 90000; i++) trails.add(30 + i, new Float32Array(6));
  assert.ok(trails.instants.length <= 12288 && trails.instants.length > 6000 && trails.instants.at(-1).time === 90029);
  assert.ok(!trails.instants.some((_, i) => i > 1 && isMissing(trails.instants, i)), "thinned instants are no gaps");
});

test("RLE is read, turned and cut into messages of at most 1,536 bytes", async () => {
  const { cellsOf, lineCells, rotated, tilesOf } = await web("draw.js");
  const glider = cellsOf("#N Glider\nx = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n");
  assert.deepEqual(glider, { width: 3, height: 3, cells: [[1, 0], [2, 1], [0, 2], [1, 2], [2, 2]] });
  assert.deepEqual(cellsOf("..A$pA!"), null, "states beyond X are not read");
  assert.deepEqual(cellsOf("2.A$3$B!").cells, [[2, 0], [0, 4]]);
  for (const text of ["", "hello", "x = 3", "9b!", "<b>"]) assert.equal(cellsOf(text), null, text);
  let turned = glider;
  for (let i = 0; i < 4; i++) turned = rotated(turned);
  assert.deepEqual(turned, glider);
  assert.deepEqual(rotated({ width: 2, height: 1, cells: [[0, 0]] }), { width: 1, height: 2, cells: [[0, 0]] });
  assert.deepEqual(tilesOf([5, 6, 14, 7], (x) => x === 5 || x === 13 ? 1 : 0), [{ x: 5, y: 6, width: 9, height: 1, cells: "0101" }]);
  const large = tilesOf([0, 0, 300, 90], () => 1);
  assert.ok(large.every((t) => t.cells.length <= 3072 && t.cells.length === 2 * Math.ceil(t.width / 8) * t.height));
  assert.equal(large.reduce((n, t) => n + t.width * t.height, 0), 27000);
  assert.equal(tilesOf([0, 0, 5000, 5000], () => 0), null);
  assert.equal(lineCells([0, 0], [3, -1]).join(" "), "0,0 1,0 2,-1 3,-1");
});

test("discs have the cube root of the mass, equal masses equal sizes, and a floor", async () => {
  const { ballSizes } = await web("points.js");
  const [one, eighth, none] = ballSizes([1, 1 / 8, 0]);
  assert.ok(Math.abs(one / eighth - 2) < 1e-9 && none > 0 && none < eighth);
  assert.equal(new Set(ballSizes(new Array(64).fill(3))).size, 1);
  assert.ok(ballSizes([0, 0]).every((size) => size > 0));
});

// browser.test.mjs - the page in headless Chromium: all programs, keyboard only, touch, screen
// readers, lost devices, films. Pictures are checked by sums and regions of pixels. WebGL2 is
// SwiftShader's, so pictures are small.
// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { SHOTS, drawn, openPage, pixelsOf, readPng, axeFindings, shot, startBrowser, until, words } from "./browser.mjs";
import { MADE, cellsFrame, madeBodies, madeGas, madeLife, madePlanets, madeSweep, serveMade, viewFile, rowsFrame, WEB } from "./mock.mjs";

let browser;
before(async () => { browser = await startBrowser(); });
after(async () => { await browser.close(); });

// A test with a run and its page; at the end the page must have no error and no request to another
// host.
function watched(title, make, options, body) {
  test(title, { timeout: 600000 }, async () => {
    const server = await serveMade(make(), options.server);
    const page = await openPage(browser, server.url, options);
    try {
      await until(page, () => /running|paused/.test(document.querySelector("#words").textContent));
      await body(page, server);
      assert.deepEqual(page.mistakes, []);
      assert.ok(page.asked.every((u) => u.startsWith(server.at) || u.startsWith("blob:")), page.asked.join());
    } finally {
      await page.context().close();
      server.close();
    }
  });
}

const picture = (page, what, arg) => until(page, what, arg);
const settle = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

async function pause(page, server) {
  if (!server.state.paused) await page.keyboard.press(" ");
  await until(page, () => document.querySelector("#words").textContent.startsWith("paused"));
  await page.waitForTimeout(300);
  await settle(page);
}

watched("bodies are where they are, in every colour map, and the secret leaves the address", () => madeBodies(20000), {}, async (page, server) => {
  await until(page, () => /time [^0]/.test(document.querySelector("#words").textContent));
  assert.equal(await page.evaluate(() => location.href), server.at);
  await pause(page, server);
  const colours = new Set();
  for (let map = 0; map < 5; map++) {
    const pixels = await pixelsOf(page);
    assert.ok(drawn(pixels, 0.3, 0.2, 0.7, 0.9) > 0.05 * pixels.width * pixels.height * 0.28, "bodies in the middle");
    colours.add(pixels.at(pixels.width >> 1, pixels.height >> 1).join());
    await page.keyboard.press("m");
    await settle(page);
  }
  for (const what of ["speed", "mass", "group", "none"]) {
    await page.keyboard.press("c");
    await until(page, (w) => document.querySelector("#by").value === w, what);
    await page.waitForTimeout(200);
  }
  assert.ok(server.seen.some((m) => m.type === "want" && m.points.colour === "group"));
  assert.ok(server.seen.filter((m) => m.type === "credit").length > 3);
});

test("sums of bodies are exact: every body is in the texture once", { timeout: 600000 }, async () => {
  const server = await serveMade(madeBodies(9));
  const page = await openPage(browser, server.url);
  const sums = await page.evaluate(async () => {
    const { PointsPicture } = await import("/points.js"), { Orbit } = await import("/camera.js");
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [320, 200];
    const gl = canvas.getContext("webgl2"), picture = new PointsPicture(gl), camera = Object.assign(new Orbit(), { width: 320, height: 200, ratio: 1 });
    const count = 300000, planes = new Uint16Array(3 * count);
    for (let k = 0; k < 3 * count; k++) planes[k] = 32768 + 9000 * Math.sin(k * k * 0.7) * Math.sin(k * 12.9898);
    planes.fill(32768, 0, 6000);
    planes.fill(32768, count, count + 6000);
    planes.fill(32768, 2 * count, 2 * count + 6000);
    camera.fit([0, 0, 0], 1);
    picture.setLook({ map: "inferno", colour: "none", dark: true, bright: 1, paper: [0, 0, 0] });
    const sum = (time) => {
      picture.draw(camera, time);
      gl.bindFramebuffer(gl.FRAMEBUFFER, picture.levels[0].frame);
      const all = new Float32Array(4 * 320 * 200);
      gl.readPixels(0, 0, 320, 200, gl.RGBA, gl.FLOAT, all);
      let total = 0, most = 0;
      for (let i = 3; i < all.length; i += 4) [total, most] = [total + all[i], Math.max(most, all[i])];
      return [total, most];
    };
    const still = [];
    for (let f = 0; f < 4; f++) picture.push({ kind: "points", time: f, flags: 0, box: [-1, -1, -1, 1, 1, 1], count, planes, shades: null });
    still.push(sum(3), sum(2.4));
    gl.bindFramebuffer(gl.FRAMEBUFFER, picture.levels.at(-1).frame);
    const largest = new Float32Array(4);
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.FLOAT, largest);
    return { still, largest: largest[3] };
  });
  await page.context().close();
  server.close();
  for (const [total, most] of sums.still) {
    assert.equal(total, 300000);
    assert.ok(most >= 6000, "half floats could not count so far");
  }
  assert.equal(sums.largest, sums.still[1][1]);
});

test("sums without blending of floats: halves, and bytes at the last", { timeout: 600000 }, async () => {
  const server = await serveMade(madeBodies(9)), page = await openPage(browser, server.url);
  const drawn = await page.evaluate(async () => {
    const { PointsPicture } = await import("/points.js"), { Orbit } = await import("/camera.js"), results = [];
    for (const without of [["EXT_float_blend"], ["EXT_color_buffer_float", "EXT_color_buffer_half_float"]]) {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [64, 64];
      const gl = canvas.getContext("webgl2"), has = gl.getExtension.bind(gl);
      gl.getExtension = (name) => without.includes(name) ? null : has(name);
      const picture = new PointsPicture(gl), camera = Object.assign(new Orbit(), { width: 64, height: 64, ratio: 1 });
      camera.fit([0, 0, 0], 1);
      picture.setLook({ map: "grey", colour: "none", dark: true, bright: 1, paper: [0, 0, 0] });
      picture.push({ kind: "points", time: 0, flags: 0, box: [-1, -1, -1, 1, 1, 1], count: 3000, planes: new Uint16Array(9000).fill(32768), shades: null });
      picture.draw(camera, 0);
      const pixels = new Uint8Array(4 * 64 * 64);
      gl.readPixels(0, 0, 64, 64, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
      results.push([picture.sum.weight, Math.max(...pixels.filter((_, i) => i % 4 === 0)), pixels[0], gl.getError()]);
    }
    return results;
  });
  await page.context().close();
  server.close();
  assert.deepEqual(drawn, [[1 / 16, 255, 0, 0], [1 / 32, 255, 0, 0]]);
});

const light = (rgb) => rgb[0] + rgb[1] + rgb[2];

// The brightest pixel within a few pixels of a point.
function lightAround(pixels, x, y, far = 6) {
  let most = 0;
  for (let j = -far; j <= far; j++) for (let i = -far; i <= far; i++) most = Math.max(most, light(pixels.at(Math.round(x) + i, Math.round(y) + j)));
  return most;
}

watched("a double click goes to a body, which can be followed; trails show where few have been", () => madeBodies(9), {}, async (page, server) => {
  await pause(page, server);
  const pixels = await pixelsOf(page), [w, h] = [pixels.width, pixels.height];
  let [x, y, most] = [0, 0, 0]; // a body far from the middle and from words
  for (let j = Math.round(0.25 * h); j < 0.75 * h; j++) for (let i = Math.round(0.2 * w); i < 0.8 * w; i++)
    if (Math.hypot(i - w / 2, j - h / 2) > 40 && light(pixels.at(i, j)) > most) [x, y, most] = [i, j, light(pixels.at(i, j))];
  assert.ok(most > 150, "there is a body to click at");
  const box = await page.locator("#picture").boundingBox();
  await page.mouse.dblclick(box.x + x, box.y + y);
  await settle(page);
  assert.ok(lightAround(await pixelsOf(page), w / 2, h / 2) > 150, "it is in the middle");
  await page.keyboard.press("g");
  await page.keyboard.press(" ");
  const from = server.state.steps || 0;
  for (let turn = 0; turn < 3; turn++) {
    const words = await page.locator("#words").textContent();
    await until(page, (before) => document.querySelector("#words").textContent !== before, words);
    assert.ok(lightAround(await pixelsOf(page), w / 2, h / 2, 12) > 150, `it stays there, ${turn} ${from}`);
  }
  assert.equal(await page.locator("#follow").isChecked(), true);
  await until(page, () => +document.querySelector("#history").max > 80); // so long are trails
  await pause(page, server);
  const without = drawn(await pixelsOf(page), 0, 0.2, 1, 0.8);
  await page.keyboard.press("t");
  await settle(page);
  assert.ok(drawn(await pixelsOf(page), 0, 0.2, 1, 0.8) > 1.2 * without, "lines behind bodies");
});

watched("cells: bits near by, density from afar, over 65,536 squared; what is wanted follows the camera", MADE.large, { theme: "light", server: { rate: 5 } }, async (page, server) => {
  await pause(page, server);
  const first = server.seen.find((m) => m.cells).cells;
  assert.ok(first.zoom >= 6 && first.width * first.height <= 4194304);
  const far = await pixelsOf(page);
  assert.ok(drawn(far) > 1000);
  for (let i = 0; i < 36; i++) await page.keyboard.press("PageUp");
  await page.waitForTimeout(600);
  const last = server.seen.filter((m) => m.type === "want").at(-1).cells;
  assert.equal(last.zoom, 0);
  assert.ok(last.width < 2000);
  const near = await pixelsOf(page);
  assert.ok(drawn(near) > 1000);
  await page.mouse.move(300, 200);
  await page.mouse.down();
  await page.mouse.move(100, 120, { steps: 4 });
  await page.mouse.up();
  await page.waitForTimeout(400);
  assert.notEqual(server.seen.filter((m) => m.type === "want").at(-1).cells.x, last.x);
  assert.match(await words(page), /alive/);
});

// Number of screen frames from a key until a picture is drawn.
function framesUntilDrawn(page, key) {
  return page.evaluate((k) => new Promise((done) => {
    const proto = WebGL2RenderingContext.prototype, draw = proto.drawArrays;
    let frames = 0;
    const count = () => ++frames < 100 ? requestAnimationFrame(count) : done(frames);
    proto.drawArrays = function (...args) {
      draw.apply(this, args);
      proto.drawArrays = draw;
      done(frames);
    };
    requestAnimationFrame(count);
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
  }), key);
}

for (const [name, made] of [["bodies", () => madeBodies(500)], ["cells", MADE.large]])
  watched(`${name}: a key moves the picture within two frames while the run says nothing, however long its step takes`, made, { server: { rate: 5 } }, async (page, server) => {
    await pause(page, server);
    server.stop();
    for (const key of ["ArrowLeft", "PageUp", "ArrowDown"]) {
      const before = await pixelsOf(page);
      assert.ok(await framesUntilDrawn(page, key) <= 2, key);
      await settle(page);
      const after = await pixelsOf(page);
      const places = [...Array(3600).keys()].map((i) => [20 + 10 * (i % 60), 20 + 5 * Math.floor(i / 60)]);
      assert.ok(places.some(([x, y]) => y < after.height && String(after.at(x, y)) !== String(before.at(x, y))), key);
    }
  });

watched("a cell of Life is drawn where it is", () => {
  const run = madeLife(64, 48);
  const frame = run.frame;
  run.frame = (want, sequence) => { // one square alone, at 8, 8
    const made = frame(want, sequence);
    if (!made) return null;
    const bytes = Buffer.from(made);
    const x = Number(bytes.readBigInt64LE(24)), y = Number(bytes.readBigInt64LE(32)), row = Math.ceil(bytes.readUInt32LE(40) / 8);
    bytes.fill(0, 64);
    if (bytes[48] === 0) bytes[64 + (8 - y) * row + (8 - x >> 3)] = 1 << (8 - x & 7);
    return bytes;
  };
  return run;
}, { width: 640, height: 640 }, async (page, server) => {
  await pause(page, server);
  const pixels = await pixelsOf(page), scale = Math.min(pixels.width / 64, pixels.height / 48);
  const place = (x, y) => pixels.at(Math.round(pixels.width / 2 + (x - 32) * scale), Math.round(pixels.height / 2 + (y - 24) * scale));
  assert.ok(light(place(8.5, 8.5)) > 300);
  for (const [x, y] of [[7.5, 8.5], [9.5, 8.5], [8.5, 7.5], [8.5, 9.5]]) assert.ok(light(place(x, y)) < 100, `${x} ${y}`);
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("o")]);
  assert.equal(fs.readFileSync(await download.path(), "utf8"), "x = 1, y = 1, rule = B3/S23\no!\n");
});

for (const theme of ["dark", "light"])
  watched(`a cell that is alone in its square is seen from afar, ${theme}`, () => {
    const run = madeLife(64, 64, { width: 8192, height: 8192 }), body = new Uint8Array(512 * 512);
    [body[128 * 512 + 128], body[128 * 512 + 256]] = [1, 2];
    run.frame = (want, sequence) => want.width && cellsFrame({ sequence, step: run.step, x: 0, y: 0, width: 512, height: 512, zoom: 4, population: 2, body });
    return run;
  }, { width: 640, height: 640, theme }, async (page, server) => {
    await pause(page, server);
    const pixels = await pixelsOf(page), side = Math.min(pixels.width, pixels.height) / 512;
    const far = (column) => {
      const [x, y] = [Math.floor(pixels.width / 2 + (column + 0.5 - 256) * side), Math.floor(pixels.height / 2 + (128.5 - 256) * side)], paper = pixels.at(x, y - 9);
      return Math.max(...[-1, 0, 1].flatMap((j) => [-1, 0, 1].map((i) => pixels.at(x + i, y + j).reduce((n, v, c) => n + Math.abs(v - paper[c]), 0))));
    };
    assert.ok(far(128) > 80 && far(256) > 80, `${far(128)} ${far(256)}`);
    assert.ok(far(200) < 8);
  });

// Columns of one state each: 0, 1, 2, 3, and so on.
function madeStates(colours) {
  const run = madeLife(16, 16);
  Object.assign(run.hello.cells, { states: 4, colours, rule: "345/2/4" });
  run.frame = (want, sequence) => want.width && cellsFrame({ sequence, step: run.step, x: 0, y: 0, width: 16, height: 16, zoom: 0, states: 4, population: 192,
    body: new Uint8Array(256).map((_, i) => i % 4) });
  return run;
}

for (const [of, colours] of [["the rule's file", ["102030", "ff0000", "00ff00", "4040ff"]], ["the map", undefined]])
  watched(`cells of several states have the colours of ${of}`, () => madeStates(colours), { width: 640, height: 640 }, async (page, server) => {
    await pause(page, server);
    const pixels = await pixelsOf(page), side = Math.min(pixels.width, pixels.height) / 16;
    const column = (x) => pixels.at(Math.round(pixels.width / 2 + (x + 0.5 - 8) * side), Math.round(pixels.height / 2 + 0.5 * side));
    for (let x = 4; x < 12; x++) {
      const wanted = colours && colours[x % 4].match(/../g).map((h) => parseInt(h, 16));
      if (wanted) assert.ok(column(x).every((v, c) => Math.abs(v - wanted[c]) < 6), `${x}: ${column(x)} where ${wanted} belongs`);
      else assert.deepEqual(column(x), column(x % 4 + 4));
    }
    if (!colours) assert.ok(light(column(5)) > light(column(6)) && light(column(6)) > light(column(7)) && light(column(7)) > light(column(4)), "from bright to dark");
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("o")]);
    assert.match(fs.readFileSync(await download.path(), "utf8"), /rule = 345\/2\/4\n[^]*A(BC|BC\.A)/);
  });

watched("the gas: bars against Maxwell's curve", madeGas, { theme: "light", height: 600 }, async (page) => {
  await until(page, () => /molecules in 64 bars/.test(document.querySelector("#words").textContent));
  assert.match(await words(page), /χ²/);
  const pixels = await pixelsOf(page);
  assert.ok(drawn(pixels, 0.1, 0.3, 1, 0.9) > 0.2 * pixels.width * pixels.height * 0.5);
  assert.ok(await page.locator("#plots canvas").count() >= 2);
  assert.match(await page.locator("#plots canvas").first().getAttribute("aria-label"), /Energy.*mean.*expected/);
});

watched("a sweep: a heat map that fills, with what lies under the pointer", madeSweep, {}, async (page) => {
  await until(page, () => /35 of 35 measured; highest: CLBlast, size 4096/.test(document.querySelector("#words").textContent));
  const box = await page.locator("#picture").boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height * 0.5);
  await until(page, () => /: [\d.]+ GFLOP\/s/.test(document.querySelector("#tip").textContent));
});

watched("keys alone: every control is reached, and does what it says", () => madeBodies(2000), {}, async (page, server) => {
  const reached = [];
  for (let i = 0; i < 14; i++) {
    await page.keyboard.press("Tab");
    reached.push(await page.evaluate(() => document.activeElement.id || document.activeElement.tagName));
    const ring = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.notEqual(ring, "none", reached.at(-1));
    if (reached.at(-1) === "helps") break;
  }
  for (const id of ["picture", "pause", "step", "history", "fit", "looks", "png", "film", "helps"]) assert.ok(reached.includes(id), `${id} in ${reached}`);
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector("#help").open && document.querySelectorAll("#keys tr").length > 15);
  await page.keyboard.press("Escape");
  await page.locator("#picture").focus();
  await pause(page, server);
  const step = server.run.step;
  await page.keyboard.press(".");
  await until(page, (n) => document.querySelector("#words").textContent.includes("step " + n), (step + 8).toLocaleString("en"));
  const turned = async (key) => {
    const one = await page.locator("#picture").screenshot();
    await page.keyboard.press(key);
    await settle(page);
    return !one.equals(await page.locator("#picture").screenshot());
  };
  for (const key of ["ArrowLeft", "ArrowUp", "Shift+ArrowRight", "PageUp", "f", "x", "y", "z", "m"]) assert.ok(await turned(key), key);
  await page.keyboard.press("+");
  await page.keyboard.press("-");
  await until(page, () => document.querySelector("#speed").getAttribute("aria-valuetext") === "1,000 a second");
  await page.keyboard.press("[");
  await until(page, () => document.querySelector("#words").textContent.startsWith("looking back"));
  await page.keyboard.press("End");
  await until(page, () => document.querySelector("#words").textContent.startsWith("paused"));
  await page.keyboard.press("d");
  await until(page, () => !document.querySelector("#panel").hidden && document.activeElement.id === "by");
  await page.keyboard.press("Escape");
  await page.keyboard.press("h");
  await until(page, () => getComputedStyle(document.querySelector("footer")).display === "none");
  await page.keyboard.press("h");
  await page.keyboard.press("g");
  await until(page, () => document.querySelector("#follow").checked);
  await page.keyboard.press("t");
  await until(page, () => document.querySelector("#trails").checked);
});

watched("quitting asks first; a guest may only look", () => madeBodies(50), {}, async (page, server) => {
  await page.keyboard.press("d");
  await page.locator("#quit").click();
  await page.locator("#sure button").first().click();
  assert.ok(!server.seen.some((m) => m.what === "quit"));
  await page.keyboard.press("d");
  await page.locator("#quit").click();
  await page.locator("#sure .danger").click();
  await until(page, () => /ended/.test(document.querySelector("#words").textContent));
  assert.ok(server.seen.some((m) => m.what === "quit" && m.confirm === true));
});

watched("few bodies: names, the orbit of a body that is found or clicked, speeds in time", madePlanets, { width: 900, height: 640 }, async (page, server) => {
  await page.keyboard.press("d");
  await until(page, () => !document.querySelector("#find-row").hidden);
  assert.deepEqual(await page.locator("#names option").evaluateAll((all) => all.map((o) => o.textContent)), ["Star", "Alpha", "Beta"]);
  await page.locator("#find").fill("beta");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  const facts = () => page.locator("#body-facts").textContent();
  await until(page, () => /semi-major axis2eccentricity/.test(document.querySelector("#body-facts").textContent));
  assert.match(await facts(), /distance from Star2speed0.7071.*period17.77/);
  assert.equal(await page.locator("#body-follow").textContent(), "Leave");
  await shot(page, "planets");
  await page.locator("#body-close").click();
  assert.ok(await page.locator("#body").isHidden());
  const box = await page.locator("#picture").boundingBox();
  await page.keyboard.press(" ");
  await page.waitForTimeout(500);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2); // Beta was followed
  await until(page, () => document.querySelector("#body-name").textContent === "Beta" && !document.querySelector("#body").hidden);
  for (let i = 0; i < 3; i++) await page.keyboard.press("-"); // faster than the run answers
  await until(page, () => /^Speed: 100 time units a second/.test(document.querySelector("#notice").textContent));
  assert.deepEqual(server.seen.filter((m) => m.what === "speed").map((m) => Math.round(m.value)), [50000, 20000, 10000]);
});

// Follow a body by its name.
async function find(page, name) {
  await page.keyboard.press("d");
  await page.locator("#find").fill(name);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.locator("#body-close").click(); // without its orbit
  await settle(page);
}

// The light at a distance and an angle from the middle of a picture.
function ringLight(pixels, radius, angle) {
  const x = pixels.width / 2 + radius * Math.cos(angle), y = pixels.height / 2 - radius * Math.sin(angle);
  return lightAround(pixels, x, y, 3);
}

watched("trails are the run's own curves: between pictures a quarter of an orbit apart they are round", () => madePlanets({ wait: Math.PI / 2, path: 16 }),
  { width: 640, height: 640, server: { rate: 5 } }, async (page, server) => {
    await until(page, () => +document.querySelector("#history").max > 6);
    await pause(page, server);
    for (const key of ["f", "z"]) await page.keyboard.press(key);
    await find(page, "Star");
    const pixels = await pixelsOf(page), middle = pixels.at(pixels.width >> 1, pixels.height >> 1);
    assert.ok(light(middle) > 150, "the star is in the middle");
    let one = 0; // pixels of the radius of Alpha's orbit, found at an angle at which no picture shows it
    for (let r = 60; r < pixels.width / 2 - 8 && !one; r++) if (ringLight(pixels, r, 0.35) > 60) one = r;
    for (let i = 0; i < 24; i++) assert.ok(ringLight(pixels, one + 2, 0.35 + i * Math.PI / 12) > 60, `a circle of ${one} pixels at ${i * 15 + 20} degrees`);
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("s")]);
    const png = readPng(fs.readFileSync(await download.path()));
    assert.ok(ringLight(png, one + 2, Math.PI / 4) > 60, "in a saved picture, too");
  });

// Pixels of the column through a point that differ from the paper: the height of a disc.
function discHeight(pixels, x, y) {
  const paper = pixels.at(4, pixels.height >> 1), there = (j) => Math.abs(light(pixels.at(x, j)) - light(paper)) > 60;
  let [top, bottom] = [y, y];
  while (there(top - 1)) top--;
  while (there(bottom + 1)) bottom++;
  return there(y) ? bottom - top + 1 : 0;
}

test("few bodies are discs as large as the cube root of their masses, with a floor", { timeout: 600000 }, async () => {
  const heights = async (masses) => {
    const server = await serveMade(madePlanets({ masses, wait: 1e-6 }), { rate: 5 }), page = await openPage(browser, server.url, { width: 640, height: 640 });
    await until(page, () => /running/.test(document.querySelector("#words").textContent));
    await pause(page, server);
    for (const key of ["t", "z", "f"]) await page.keyboard.press(key);
    await find(page, "Star");
    const pixels = await pixelsOf(page), [cx, cy] = [pixels.width >> 1, pixels.height >> 1], sizes = [];
    for (let x = cx - 20; x < pixels.width - 20; x++) {
      const high = discHeight(pixels, x, cy);
      if (!high) continue;
      let most = 0;
      for (; discHeight(pixels, x, cy); x++) most = Math.max(most, discHeight(pixels, x, cy));
      sizes.push(most);
    }
    await shot(page, "discs-" + masses.join("-"));
    assert.deepEqual(page.mistakes, []);
    await page.context().close();
    server.close();
    return sizes;
  };
  const [star, alpha] = await heights([1, 0.125, 0]), equal = await heights([1, 1, 1]);
  assert.ok(Math.abs(star / alpha - 2) < 0.35, `${star} ${alpha}`);
  assert.ok(Math.abs(equal[0] - equal[1]) <= 1, String(equal));
});

watched("after the end pictures are played again, other cells can be seen, and nothing is offered that does nothing", () => madeLife(64, 48), {}, async (page, server) => {
  await until(page, () => /generation [1-9]\d/.test(document.querySelector("#words").textContent));
  await page.keyboard.press("d");
  await page.locator("#quit").click();
  await page.locator("#sure .danger").click();
  await until(page, () => document.querySelector("#words").textContent.startsWith("ended"));
  assert.ok(await page.locator("#step").isDisabled() && await page.locator("#speed").isDisabled());
  assert.match(await page.locator("#pause").getAttribute("aria-label"), /Replay/);
  assert.match(await page.locator("#quit").textContent(), /Close the view/);
  const last = (await words(page)).match(/generation ([\d,]+)/)[1], asked = server.seen.length;
  await page.keyboard.press("Escape");
  await page.keyboard.press(".");
  await page.keyboard.press(" ");
  await until(page, () => document.querySelector("#words").textContent.startsWith("replaying"));
  await until(page, (g) => document.querySelector("#words").textContent.startsWith("ended · generation " + g), last);
  for (let i = 0; i < 8; i++) await page.keyboard.press("PageUp");
  await settle(page);
  await page.waitForTimeout(300);
  assert.deepEqual(server.seen.slice(asked).filter((m) => m.type === "do"), []);
  assert.ok(server.seen.slice(asked).some((m) => m.type === "want"));
  await page.keyboard.press("d");
  await page.locator("#quit").click(); // nothing can be lost, so nothing is asked
  await page.waitForTimeout(200);
  assert.deepEqual(server.seen.filter((m) => m.type === "do").at(-1), { type: "do", what: "quit", confirm: true });
  assert.ok(!await page.locator("#sure").isVisible());
});

watched("cells are drawn and erased, selected, copied, turned, pasted and erased again in a paused window", () => {
  const run = madeLife(32, 32);
  run.clear();
  return run;
}, { width: 640, height: 760 }, async (page, server) => {
  const box = await page.locator("#picture").boundingBox(), side = Math.min(box.width, box.height) / 32;
  const at = (x, y) => [box.x + box.width / 2 + (x + 0.5 - 16) * side, box.y + box.height / 2 + (y + 0.5 - 16) * side];
  const alive = async (...cells) => {
    await page.waitForTimeout(300);
    assert.deepEqual(server.run.alive(), cells);
  };
  const drag = async (from, to) => {
    await page.mouse.move(...at(...from));
    await page.mouse.down();
    await page.mouse.move(...at(...to), { steps: 3 });
    await page.mouse.up();
  };
  await page.keyboard.press("w");
  await until(page, () => document.querySelector("#words").textContent.startsWith("paused") && document.querySelector("#draw").getAttribute("aria-pressed") === "true");
  await drag([20, 20], [22, 20]);
  await alive([20, 20], [21, 20], [22, 20]);
  await page.mouse.click(...at(21, 20)); // erases a live cell
  await alive([20, 20], [22, 20]);
  await page.keyboard.down("Shift");
  await drag([19, 19], [23, 21]);
  await page.keyboard.up("Shift");
  await shot(page, "draw");
  const copied = await page.evaluate(() => {
    const data = new DataTransfer();
    document.body.dispatchEvent(new ClipboardEvent("copy", { clipboardData: data, bubbles: true, cancelable: true }));
    return data.getData("text/plain");
  });
  assert.equal(copied, "x = 3, y = 1, rule = B3/S23\nobo!\n");
  await page.keyboard.press("Delete");
  await alive();
  const paste = (text) => page.evaluate((t) => {
    const data = new DataTransfer();
    data.setData("text/plain", t);
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }, text);
  await page.keyboard.press("q");
  await page.mouse.move(...at(10, 24));
  await paste(copied);
  await alive([10, 23], [10, 25]);
  await paste("#C a glider\nx = 3, y = 3\nbo$2bo$3o!");
  await alive([10, 23], [11, 24], [9, 25], [10, 25], [11, 25]);
  await page.keyboard.press("b");
  await page.keyboard.press("Home");
  await page.waitForTimeout(300);
  assert.deepEqual(server.seen.filter((m) => m.what === "step").map((m) => m.n), [-1, -1e6]);
  assert.deepEqual(server.seen.filter((m) => m.type === "do" && !["pause", "put", "step"].includes(m.what)), []);
  await page.keyboard.press("w"); // without the pen the mouse moves the picture again
  const asked = server.seen.filter((m) => m.what === "put").length;
  await drag([16, 16], [18, 18]);
  await page.waitForTimeout(200);
  assert.equal(server.seen.filter((m) => m.what === "put").length, asked);
});

watched("a slider sets the speed, a box the rule: what the run answers is shown, and letters typed there are no keys", () => madeLife(64, 48), { width: 640, height: 760 }, async (page, server) => {
  await page.keyboard.press("d");
  await until(page, () => !document.querySelector("#panel").hidden && !document.querySelector("#rule-row").hidden);
  const slider = page.locator("#speed"), pace = () => page.locator("#pace").textContent();
  assert.equal(await pace(), "as fast as it can");
  await slider.focus();
  await page.keyboard.press("Home");
  await until(page, () => document.querySelector("#pace").textContent === "1 a second");
  await page.keyboard.press("ArrowRight");
  await until(page, () => document.querySelector("#speed").getAttribute("aria-valuetext") === "2 a second");
  const box = await slider.boundingBox();
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await until(page, () => document.querySelector("#pace").textContent === "50 a second");
  await page.waitForTimeout(200);
  assert.deepEqual(server.seen.filter((m) => m.what === "speed").map((m) => m.value), [1, 2, 50]);
  await shot(page, "rule-box");
  const rule = page.locator("#rule");
  assert.equal(await rule.inputValue(), "B3/S23");
  await rule.fill("");
  await rule.pressSequentially("bread w");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector("#notice").textContent === "'bread w' is no rule");
  await rule.fill("Grün");
  await page.keyboard.press("Enter");
  await until(page, () => /^A rule has letters/.test(document.querySelector("#notice").textContent));
  await rule.fill(" B36/S23 ");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector("#title").textContent.endsWith("B36/S23") && /rule *B36\/S23/.test(document.querySelector("#facts").textContent));
  assert.equal(await rule.inputValue(), "B36/S23");
  assert.deepEqual(server.seen.filter((m) => m.type === "do" && m.what !== "speed").map((m) => [m.what, m.rule]), [["rule", "bread w"], ["rule", "B36/S23"]]);
  await page.keyboard.press("Escape");
  await page.locator("#picture").focus();
  await pause(page, server);
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("o")]);
  assert.match(fs.readFileSync(await download.path(), "utf8"), /rule = B36\/S23/);
});

watched("plots are saved as SVG that a browser draws as they are", () => madeBodies(50), { width: 900, height: 640, theme: "light" }, async (page, server) => {
  await until(page, () => +document.querySelector("#history").max > 4);
  await pause(page, server);
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("v")]);
  assert.match(download.suggestedFilename(), /^nbody-\d+\.svg$/);
  const text = fs.readFileSync(await download.path(), "utf8");
  if (SHOTS) fs.writeFileSync(SHOTS + "/plots.svg", text);
  const seen = await page.evaluate(async (svg) => {
    const parsed = new DOMParser().parseFromString(svg, "image/svg+xml"), image = new Image();
    const texts = [...parsed.querySelectorAll("text")].map((t) => t.textContent);
    image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const { data } = pen.getImageData(0, 0, canvas.width, canvas.height), wanted = [0x0b, 0x6a, 0xa8];
    let blue = 0;
    for (let i = 0; i < data.length; i += 4) blue += wanted.every((v, c) => Math.abs(data[i + c] - v) < 40);
    return { texts, size: [canvas.width, canvas.height], blue, errors: parsed.querySelectorAll("parsererror").length };
  }, text);
  assert.equal(seen.errors, 0);
  assert.equal(seen.size[1], 3 * 151);
  for (const word of ["Energy", "Energy error", "Virial ratio", "time"]) assert.ok(seen.texts.includes(word), `${word} in ${seen.texts}`);
  assert.ok(seen.blue > 200, String(seen.blue));
});

watched("cells of 8 pixels have lines between them, smaller ones none", () => {
  const run = madeLife(32, 32);
  run.clear();
  return run;
}, { width: 640, height: 760 }, async (page, server) => {
  await pause(page, server);
  const row = async () => {
    const pixels = await pixelsOf(page), y = Math.round(pixels.height * 0.75) - 3;
    return [...Array(120).keys()].map((i) => pixels.at(Math.round(pixels.width / 2) - 60 + i, y).join());
  };
  const lines = (all) => all.filter((c, i) => i && c !== all[i - 1]).length;
  assert.ok(lines(await row()) > 10, "lines");
  for (let i = 0; i < 8; i++) await page.keyboard.press("PageDown");
  await settle(page);
  assert.ok(lines(await row()) <= 2, "no lines");
});

watched("run again: after the end, at the same address, from the beginning", () => {
  const run = madeBodies(50);
  run.hello.can.push("again");
  return run;
}, {}, async (page, server) => {
  assert.ok(await page.locator("#again").isHidden(), "it is offered after the end only");
  await page.keyboard.press("d");
  await page.locator("#quit").click();
  await page.locator("#sure .danger").click();
  await until(page, () => document.querySelector("#words").textContent.startsWith("ended"));
  await page.keyboard.press("Escape");
  server.run.step = 0;
  await page.locator("#again").click();
  await until(page, () => document.querySelector("#words").textContent.startsWith("running"));
  assert.ok(server.seen.some((m) => m.what === "again"));
  assert.ok(await page.locator("#again").isHidden() && !await page.locator("#step").isDisabled());
});

watched("a view that closes before the last picture came says so", () => madeLife(64, 48), {}, async (page, server) => {
  server.close();
  await until(page, () => /last picture did not arrive/.test(document.querySelector("#notice").textContent));
  assert.ok(await page.locator("#step").isDisabled() && !await page.locator("#quit").isVisible());
});

watched("a guest has no controls that change the run", () => madeBodies(50), { server: { guest: true } }, async (page) => {
  assert.ok(await page.locator("#pause").isDisabled() && await page.locator("#step").isDisabled());
  assert.ok(!await page.locator("#quit").isVisible());
});

for (const theme of ["light", "dark"]) for (const [name, make] of Object.entries({ nbody: () => madeBodies(500), life: () => madeLife(64, 48), gas: madeGas, matmul: madeSweep }))
  watched(`axe-core finds nothing: ${name}, ${theme}`, make, { theme, phone: theme === "dark" }, async (page) => {
    assert.deepEqual(await axeFindings(page), []);
    if (name === "life") await page.keyboard.press("w");
    await page.keyboard.press("d");
    assert.deepEqual(await axeFindings(page), []);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    assert.deepEqual(await axeFindings(page), []);
    await shot(page, `axe-${name}-${theme}`);
  });

watched("fingers: one turns, two zoom; nothing lies beyond the edge of a phone", () => madeBodies(2000), { phone: true }, async (page, server) => {
  await pause(page, server);
  const touch = await page.context().newCDPSession(page);
  const fingers = async (type, ...points) => touch.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
  const shotOf = () => page.locator("#picture").screenshot();
  const one = await shotOf();
  await fingers("touchStart", [200, 300]);
  await fingers("touchMove", [260, 330]);
  await fingers("touchEnd");
  await settle(page);
  const two = await shotOf();
  assert.ok(!one.equals(two), "one finger turns");
  const before = drawn(readPng(two));
  await fingers("touchStart", [180, 300], [220, 300]);
  await fingers("touchMove", [120, 300], [280, 300]);
  await fingers("touchMove", [60, 300], [340, 300]);
  await fingers("touchEnd");
  await settle(page);
  const three = await shotOf();
  assert.ok(!two.equals(three) && drawn(readPng(three)) !== before, "two zoom");
  const wide = await page.evaluate(() => [document.documentElement.scrollWidth, ...[...document.querySelectorAll("footer button")].map((b) => b.getBoundingClientRect().right)]);
  assert.ok(Math.max(...wide) <= 390, String(wide));
  const small = await page.evaluate(() => [...document.querySelectorAll("footer button")].filter((b) => b.offsetParent && Math.min(b.offsetWidth, b.offsetHeight) < 40).map((b) => b.id));
  assert.deepEqual(small, []);
});

watched("a lost graphics device comes back with the picture", () => madeBodies(5000), {}, async (page, server) => {
  await pause(page, server);
  const before = drawn(await pixelsOf(page));
  await page.evaluate(() => {
    const gl = document.querySelector("#picture").getContext("webgl2");
    window.lose = gl.getExtension("WEBGL_lose_context");
    window.lose.loseContext();
  });
  await page.waitForTimeout(200);
  await page.evaluate(() => window.lose.restoreContext());
  await page.waitForTimeout(500);
  const after = drawn(await pixelsOf(page));
  assert.ok(Math.abs(after - before) < 0.02 * before + 20, `${before} ${after}`);
});

watched("a lost way comes back, and so do the plots", () => madeBodies(300), {}, async (page, server) => {
  await page.evaluate(() => { // the notice stands for half a second only
    const notice = document.querySelector("#notice");
    new MutationObserver(() => { window.wasLost ||= notice.textContent.includes("connection was lost"); }).observe(notice, { childList: true });
  });
  server.drop();
  await until(page, () => window.wasLost && document.querySelector("#notice").hidden && /running/.test(document.querySelector("#words").textContent));
});

test("a wrong link is told in a sentence", { timeout: 600000 }, async () => {
  const server = await serveMade(madeBodies(9)), page = await openPage(browser, server.at + "#t=" + "f".repeat(32));
  await until(page, () => /not, or no longer, valid/.test(document.querySelector("#notice").textContent));
  await page.context().close();
  server.close();
});

test("without WebGL2: a sentence, and simpler pictures", { timeout: 600000 }, async () => {
  const plain = await startBrowser("--disable-3d-apis");
  for (const make of [() => madeBodies(3000), () => madeLife(64, 48), () => madeStates()]) {
    const server = await serveMade(make()), page = await openPage(plain, server.url);
    await until(page, () => /no WebGL2/.test(document.querySelector("#notice").textContent));
    await page.waitForTimeout(400);
    assert.ok(drawn(await pixelsOf(page)) > 500);
    assert.deepEqual(page.mistakes.filter((m) => !/webgl/i.test(m)), []);
    server.close();
  }
  await plain.close();
});

watched("less motion where people ask for less: every picture is a frame as it came", () => madeBodies(500), { calm: true }, async (page) => {
  const times = await page.evaluate(async () => {
    const seen = new Set();
    for (let i = 0; i < 40; i++) {
      await new Promise(requestAnimationFrame);
      seen.add(document.querySelector("#clock").textContent);
    }
    return [...seen];
  });
  assert.ok(times.length >= 2);
});

watched("pictures and films are files that others can read", () => madeBodies(2000), { width: 400, height: 300 }, async (page) => {
  const file = async (key) => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press(key)]);
    return { name: download.suggestedFilename(), bytes: fs.readFileSync(await download.path()) };
  };
  const png = await file("s");
  assert.match(png.name, /^nbody-\d+\.png$/);
  assert.ok(drawn(readPng(png.bytes)) > 500);
  await page.keyboard.press("r");
  await until(page, () => document.querySelector("#film").getAttribute("aria-pressed") === "true");
  await page.waitForTimeout(1500);
  const film = await file("r");
  assert.match(film.name, /\.webm$/);
  const seconds = await page.evaluate(async (base64) => {
    const video = document.createElement("video");
    video.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))]));
    await new Promise((done, fail) => { video.onloadeddata = done; video.onerror = () => fail(new Error(video.error.message)); });
    return [video.duration, video.videoWidth, video.videoHeight];
  }, film.bytes.toString("base64"));
  assert.ok(seconds[0] > 0.5 && seconds[0] < 30 && seconds[1] === 400, String(seconds));
});

// The times in ms of the blocks in our WebM files: all sizes have eight bytes.
function blockTimes(bytes, from = 0, to = bytes.length) {
  const times = [];
  while (from < to) {
    const length = Math.clz32(bytes[from]) - 23, id = bytes.toString("hex", from, from + length), body = from + length + 8, end = body + bytes.readUIntBE(body - 6, 6);
    if (id === "a3") times.push(bytes.readUInt16BE(body + 1));
    if (id === "18538067" || id === "1f43b675") times.push(...blockTimes(bytes, body, end));
    from = end;
  }
  return times;
}

// Assembled as by `stdcl view FILE -o page.html`.
export function onePage(recording) {
  const strip = (name) => fs.readFileSync(path.join(WEB, name), "utf8").replace(/^ +/gm, "").replace(/^\/\/.*/gm, "").replace(/^import .*/gm, "").replace(/^export /gm, "");
  const modules = fs.readFileSync(path.join(WEB, "order.txt"), "utf8").trim().split("\n").map(strip).join("\n");
  const nonce = "c3RkY2w";
  return fs.readFileSync(path.join(WEB, "index.html"), "utf8")
    .replace("<!--csp-->", () => `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-${nonce}'; style-src 'nonce-${nonce}'; img-src blob: data:; base-uri 'none'; form-action 'none'">`)
    .replace('<link rel="stylesheet" href="view.css">', () => `<style nonce="${nonce}">${fs.readFileSync(path.join(WEB, "view.css"), "utf8")}</style>`)
    .replace('<link rel="icon" href="icon.svg">', "")
    .replace("<!--recording-->", () => `<script type="application/octet-stream" class="recording">${recording.toString("base64")}</script>`)
    .replace('<script type="module" src="main.js"></script>', () => `<script type="module" nonce="${nonce}">${modules}</script>`);
}

test("a page that needs no server plays, seeks and films its recording, from a file", { timeout: 600000 }, async () => {
  const run = madeBodies(400), frames = [];
  for (let i = 0; i < 40; i++) {
    frames.push(run.frame({}, i + 1), rowsFrame({ first: i, columns: 5, values: run.row() }));
    run.advance();
  }
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "stdcl-page-")), file = path.join(folder, "page.html");
  fs.writeFileSync(file, onePage(viewFile(run.hello, frames)));
  const page = await openPage(browser, "file://" + file, { width: 480, height: 400 });
  await until(page, () => /paused/.test(document.querySelector("#words").textContent) && /step 312/.test(document.querySelector("#words").textContent));
  await page.keyboard.press("[");
  await until(page, () => /step 304/.test(document.querySelector("#words").textContent));
  await page.locator("#history").fill("0");
  await until(page, () => /step 0/.test(document.querySelector("#words").textContent));
  assert.ok(drawn(await pixelsOf(page)) > 200);
  const [download] = await Promise.all([page.waitForEvent("download", { timeout: 600000 }), page.keyboard.press("r")]);
  const film = fs.readFileSync(await download.path());
  if (SHOTS) fs.writeFileSync(SHOTS + "/film.webm", film);
  assert.deepEqual(blockTimes(film).map((t) => Math.round(t * 30 / 1000)), [...Array(40).keys()], "every picture once, a thirtieth of a second each");
  assert.deepEqual(page.mistakes, []);
  assert.deepEqual(page.asked.filter((u) => !u.startsWith("file:") && !u.startsWith("blob:")), []);
  await page.context().close();
  fs.rmSync(folder, { recursive: true });
});

test("one picture has nothing to play", { timeout: 600000 }, async () => {
  const run = madeSweep(), folder = fs.mkdtempSync(path.join(os.tmpdir(), "stdcl-page-")), file = path.join(folder, "page.html");
  run.advance();
  fs.writeFileSync(file, onePage(viewFile({ ...run.hello, frames: 1, rows: undefined }, [run.frame({}, 1)])));
  const page = await openPage(browser, "file://" + file, { width: 480, height: 400 });
  await until(page, () => /1 of 35 measured/.test(document.querySelector("#words").textContent));
  assert.doesNotMatch(await words(page), /paused|playing|time|run/);
  for (const id of ["pause", "step", "history", "clock"]) assert.ok(await page.locator("#" + id).isHidden(), id);
  assert.deepEqual(page.mistakes, []);
  await page.context().close();
  fs.rmSync(folder, { recursive: true });
});

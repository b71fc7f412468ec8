// view_page.mjs - measure the page of a run in headless Chromium with SwiftShader's WebGL2 (the CPU
// draws): the time to draw n bodies, the time from the first byte of the page to the first picture,
// and the bytes per body on the wire of a real run. Prints JSON. Needs `make deps-view`.
//   node bench/view_page.mjs build/bin/stdcl [pictures] [first] [wire]
// SPDX-License-Identifier: MIT
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import { openPage, startBrowser } from "../tests/view/browser.mjs";
import { madeBodies, serveMade } from "../tests/view/mock.mjs";
import { packageOf } from "../tests/view/npm.mjs";

const command = process.argv[2] || "build/bin/stdcl";
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

// Milliseconds to draw a picture until its pixels exist, by number of bodies; moving: between four
// frames.
async function pictureTimes(browser) {
  const server = await serveMade(madeBodies(9)), page = await openPage(browser, server.url, { width: 320, height: 240 });
  const times = await page.evaluate(async () => {
    const { PointsPicture } = await import("/points.js"), { Orbit } = await import("/camera.js");
    const canvas = document.createElement("canvas"), results = [];
    [canvas.width, canvas.height] = [1280, 800];
    const gl = canvas.getContext("webgl2"), camera = Object.assign(new Orbit(), { width: 1280, height: 800, ratio: 1 }), pixel = new Uint8Array(4);
    for (const count of [50000, 1000000, 4000000]) {
      const picture = new PointsPicture(gl), planes = new Uint16Array(3 * count);
      for (let k = 0; k < 3 * count; k++) planes[k] = 65535 * (Math.random() + Math.random() + Math.random()) / 3;
      picture.setLook({ map: "inferno", colour: "none", dark: true, bright: 1, paper: [0, 0, 0] });
      for (let f = 0; f < 4; f++) picture.push({ kind: "points", time: f, flags: 0, box: [-1, -1, -1, 1, 1, 1], count, planes, shades: null });
      camera.fit([0, 0, 0], 1);
      for (const [motion, time] of [["at rest", 3], ["moving", 2.5]]) {
        const ms = [];
        for (let i = 0; i < (count > 2e6 ? 2 : 4); i++) {
          const begun = performance.now();
          picture.draw(camera, time);
          gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
          ms.push(performance.now() - begun);
        }
        results.push({ bodies: count, motion, width: 1280, height: 800, ms: Math.round(ms.slice(1).sort((a, b) => a - b)[ms.length - 1 >> 1]) });
      }
      picture.forget();
    }
    return results;
  });
  await page.context().close();
  server.close();
  return times;
}

async function startRun(...options) {
  const run = spawn(command, ["nbody", "--ic", "plummer", "--steps", "100000000", "--view", ...options], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  const url = await new Promise((done, fail) => {
    run.stderr.on("data", (text) => {
      const found = /http:\/\/127\.0\.0\.1:\d+\/#t=[0-9a-f]{32}/.exec(said += text);
      if (found) done(found[0]);
    });
    run.on("exit", () => fail(new Error(said)));
  });
  return { run, url };
}

// Milliseconds so far that some program has waited for a processor (Linux).
function pressure() {
  const text = fs.readFileSync("/proc/pressure/cpu", "latin1");
  return { waited: /some.*total=(\d+)/.exec(text)[1] / 1000, lately: +/avg10=([\d.]+)/.exec(text)[1] };
}

// CPU milliseconds of the browser so far, by kind of process.
async function processorTimes(session) {
  const times = {};
  for (const { type, id, cpuTime } of (await session.send("SystemInfo.getProcessInfo")).processInfo) times[id] = { type, ms: 1000 * cpuTime };
  return times;
}

// In the page: the time of the first picture, and the time spent waiting for WebGL2, which draws.
function watchFirst() {
  window.glWaits = 0;
  const timed = (owner, name) => {
    const own = owner[name];
    owner[name] = function (...words) {
      const begun = performance.now(), result = own.apply(this, words);
      if (!window.first) window.glWaits += performance.now() - begun;
      return result;
    };
  };
  timed(HTMLCanvasElement.prototype, "getContext");
  for (const name of ["getExtension", "getProgramParameter"]) timed(WebGL2RenderingContext.prototype, name);
  const look = () => /step/.test(document.querySelector("#words")?.textContent || "") ? (window.first = performance.now()) : requestAnimationFrame(look);
  look();
}

// Milliseconds from the request of the page to its first picture, while the run is paused. Each
// begins on an idle machine: the script waits for one, up to $STDCL_REST minutes in all. busy: the
// fraction of the time when some program, the browser included, waited for a processor.
async function firstPictures(browser, url) {
  const all = [], session = await browser.newBrowserCDPSession(), patient = Date.now() + 6e4 * (process.env.STDCL_REST || 0);
  for (let i = 0; i <= 20; i++) {
    const page = await openPage(browser, "about:blank", { width: 1280, height: 800 });
    await page.addInitScript(watchFirst);
    await page.waitForTimeout(1000);
    while (i && pressure().lately > 5 && Date.now() < patient) await page.waitForTimeout(500);
    const before = await processorTimes(session), { waited } = pressure(), begun = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    await page.waitForFunction(() => window.first, null, { polling: 20 });
    const busy = (pressure().waited - waited) / (performance.now() - begun), after = await processorTimes(session), took = {};
    for (const id in after) took[after[id].type] = (took[after[id].type] || 0) + after[id].ms - (before[id]?.ms || 0);
    if (!i) { // once, to let it stand
      await page.keyboard.press(" ");
      await page.waitForFunction(() => document.querySelector("#words").textContent.startsWith("paused"));
    } else all.push({ ...await page.evaluate(() => ({ ms: window.first, waits_ms: window.glWaits })), busy, browser_ms: took.browser, page_ms: took.renderer, draws_ms: took.GPU });
    await page.context().close();
  }
  const middle = Object.fromEntries(Object.keys(all[0]).map((name) => [name, median(all.map((a) => a[name]))]));
  return { ...middle, all: all.map(({ ms, waits_ms, busy }) => [ms, waits_ms, busy].map((v) => +v.toFixed(2))) };
}

// Bytes per body of the frames that a run sends with a coding allowed, without headers and colours.
async function bytesOf(url, coding) {
  const WebSocket = packageOf("ws"), at = new URL(url), sizes = [];
  const socket = new WebSocket(`ws://${at.host}/live`, ["stdcl-view.1", "token." + at.hash.slice(3)], { origin: "http://" + at.host });
  const tell = (message) => socket.send(JSON.stringify(message));
  await new Promise((done, fail) => {
    socket.on("error", fail);
    socket.on("open", () => {
      tell({ type: "want", points: { count: 4000000, colour: "none", coding } });
      tell({ type: "credit", n: 2 });
    });
    socket.on("message", (data, binary) => {
      if (!binary) return;
      if (data[0] === 1) sizes.push([data[1], (data.length - 112) / data.readUInt32LE(76)]);
      if (sizes.length === 12) done();
      else tell({ type: "credit", n: 1 });
    });
  });
  socket.close();
  const last = sizes.slice(4);
  return { allowed: coding, sent: [...new Set(last.map(([c]) => c))], bytes_a_body: median(last.map(([, b]) => b)) };
}

const browser = await startBrowser();
const parts = process.argv.slice(3), wanted = (part) => !parts.length || parts.includes(part);
const result = {
  what: "the page of a run in headless Chromium; bench/view_page.mjs", browser: browser.version(), drawn_by: "SwiftShader, on the processor",
  processor: os.cpus()[0].model, processors: os.cpus().length, load: os.loadavg()[0], when: new Date().toISOString().slice(0, 10),
};
if (wanted("pictures")) result.picture = await pictureTimes(browser);
const { run, url } = await startRun("-n", "16384", "--dt", "0.00390625");
if (wanted("first")) result.first_picture = { bodies: 16384, ...await firstPictures(browser, url) };
if (wanted("wire")) {
  result.wire = [];
  for (const coding of [0, 1, 2]) result.wire.push({ run: "nbody, Plummer sphere, 16,384 bodies, dt 1/256", ...await bytesOf(url, coding) });
}
run.kill("SIGTERM");
await browser.close();
console.log(JSON.stringify(result, null, 1));

// view_tunnel.mjs - the page of a run with a million bodies, over a connection of 10 Mbit/s and 20
// ms each way: bodies per picture, bytes per body, pictures received and drawn per second, latency
// of a reply. In headless Chromium with SwiftShader's WebGL2 (the CPU draws). With the argument
// "page" bodies are not drawn but counted as drawn: the limit of connection and page if a GPU draws
// (bench/view_draw.py has its drawing time). Prints JSON. Needs `make deps-view`.
//   node bench/view_tunnel.mjs build/tests/view_child [WIDTH HEIGHT [page]]
// SPDX-License-Identifier: MIT
import { spawn } from "node:child_process";
import net from "node:net";
import os from "node:os";
import { createInterface } from "node:readline";
import { openPage, startBrowser, until } from "../tests/view/browser.mjs";

const [child, width = 320, height = 240, part] = process.argv.slice(2);
const RATE = 1.25e6, DELAY = 20, QUEUE = 128 * 1024; // bytes a second, ms, and what waits in the way before it pushes back

// Forward bytes at the connection's rate, after its delay; excess bytes wait at the sender.
function slowly(from, to) {
  let free = 0, queued = 0;
  from.on("data", (bytes) => {
    const now = performance.now();
    free = Math.max(free, now) + 1000 * bytes.length / RATE;
    queued += bytes.length;
    if (queued > QUEUE) from.pause();
    setTimeout(() => {
      to.write(bytes);
      queued -= bytes.length;
      if (queued <= QUEUE) from.resume();
    }, free - now + DELAY);
  });
  from.on("end", () => setTimeout(() => to.end(), DELAY));
  from.on("error", () => to.destroy());
}

function slowWay(port) {
  const server = net.createServer((near) => {
    const far = net.connect(port, "127.0.0.1");
    slowly(near, far);
    slowly(far, near);
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

const run = spawn(child, ["many"], { stdio: ["pipe", "pipe", "inherit"] });
const url = new URL((await createInterface({ input: run.stdout })[Symbol.asyncIterator]().next()).value);
const way = await slowWay(+url.port);
url.port = String(way.address().port);
const browser = await startBrowser();
const page = await openPage(browser, "about:blank", { width: +width, height: +height });
await page.addInitScript((drawn) => {
  const seen = window.seen = { frames: [], draws: 0, pings: [], shown: 0 }, Own = WebSocket;
  const count = () => {
    seen.shown++; // so often the browser shows anything
    requestAnimationFrame(count);
  };
  count();
  window.WebSocket = class extends Own {
    constructor(...words) {
      super(...words);
      this.addEventListener("message", ({ data }) => {
        const now = performance.now();
        if (typeof data === "string") {
          const said = JSON.parse(data);
          if (said.type === "pong") seen.pings.push([now, now - said.id]);
        } else if (new Uint8Array(data, 0, 1)[0] === 1) {
          const view = new DataView(data);
          seen.frames.push([now, data.byteLength, view.getUint32(76, true), view.getUint8(1)]);
        }
      });
    }
  };
  const draw = WebGL2RenderingContext.prototype.drawArrays;
  WebGL2RenderingContext.prototype.drawArrays = function (mode, ...more) {
    if (mode === this.POINTS) seen.draws++;
    if (drawn) draw.call(this, mode, ...more);
  };
}, part !== "page");
const opened = Date.now();
await page.goto(String(url));
await until(page, () => /of 1,000,000 bodies/.test(document.querySelector("#words").textContent));
const first = Date.now() - opened;
await page.waitForTimeout(20000); // it finds out what the way can carry
const before = await page.evaluate(() => ({ now: performance.now(), draws: window.seen.draws, shown: window.seen.shown }));
await page.waitForTimeout(10000);
const seen = await page.evaluate(() => ({ now: performance.now(), ...window.seen }));
const seconds = (seen.now - before.now) / 1000, late = (list) => list.filter(([at]) => at > before.now);
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const frames = late(seen.frames), bytes = frames.reduce((n, f) => n + f[1], 0);
console.log(JSON.stringify({
  what: "a run of 1,000,000 bodies through 10 Mbit/s and 20 ms each way; bench/view_tunnel.mjs", browser: browser.version(), drawn: part !== "page", width: +width, height: +height,
  processor: os.cpus()[0].model, processors: os.cpus().length, load: os.loadavg()[0], when: new Date().toISOString().slice(0, 10),
  first_picture_ms: first, bodies_a_picture: median(frames.map((f) => f[2])), codings: [...new Set(frames.map((f) => f[3]))], bytes_a_body: median(frames.map((f) => (f[1] - 112) / f[2])),
  pictures_come_a_second: frames.length / seconds, megabits_a_second: 8 * bytes / 1e6 / seconds, pictures_drawn_a_second: (seen.draws - before.draws) / seconds,
  browser_shows_a_second: (seen.shown - before.shown) / seconds,
  answer_ms: median(late(seen.pings).map(([, ms]) => ms)),
}, null, 1));
await browser.close();
run.stdin.end();
way.close();

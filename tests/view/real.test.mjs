// real.test.mjs - the command's own viewer in headless Chromium: four programs, through a tunnel
// with another port; recordings and pages.
// $STDCL_COMMAND is the command.
// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import { drawn, openPage, pixelsOf, shot, startBrowser, until, words } from "./browser.mjs";

const command = process.env.STDCL_COMMAND, folder = fs.mkdtempSync(path.join(os.tmpdir(), "stdcl-view-"));
let browser;
before(async () => { browser = await startBrowser(); });
after(async () => {
  await browser.close();
  fs.rmSync(folder, { recursive: true });
});

// Start a run and resolve to its link.
async function begin(options) {
  const run = spawn(command, options, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  run.ended = new Promise((done) => run.on("exit", (status, signal) => done(status ?? signal)));
  run.url = await new Promise((done, fail) => {
    run.stderr.on("data", (text) => {
      const found = /http:\/\/127\.0\.0\.1:\d+\/#t=[0-9a-f]{32}/.exec(said += text);
      if (found) done(found[0]);
    });
    run.on("exit", () => fail(new Error(said)));
  });
  return run;
}

// As `ssh -L`: forward bytes from one port to another.
function tunnelTo(port) {
  const server = net.createServer((near) => {
    const far = net.connect(port, "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const end of [near, far]) end.on("error", () => { near.destroy(); far.destroy(); });
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

const RUNS = [
  ["nbody", ["nbody", "--ic", "plummer", "-n", "4000", "--steps", "100000000", "--view"], /step [1-9]/],
  ["life", ["life", "--size", "512", "-n", "1000000000", "--view"], /generation [1-9].*alive/],
  ["life of three states", ["life", "--rule", "brain", "--size", "256", "-n", "1000000000", "--view"], /generation [1-9].*alive/],
  ["gas", ["gas", "-n", "100000", "--repeat", "1000000", "--view"], /molecules in \d+ bars/],
  ["matmul", ["matmul", "--sweep", "-n", "64", "--view", "--view-wait"], /[2-9] of \d+ measured/],
];

for (const [name, options, state] of RUNS)
  test(`${name} is seen through a tunnel with another port`, { timeout: 900000 }, async () => {
    const run = await begin(options), tunnel = await tunnelTo(+new URL(run.url).port);
    const url = new URL(run.url);
    url.port = String(tunnel.address().port);
    const page = await openPage(browser, String(url), { width: 640, height: 600 });
    await until(page, (pattern) => new RegExp(pattern).test(document.querySelector("#words").textContent), state.source);
    await page.waitForTimeout(500);
    assert.ok(drawn(await pixelsOf(page)) > 200);
    await shot(page, "real-" + name);
    if (name === "nbody") // energies, and distributions
      await until(page, () => ["Energy error", "Mass density", "Distribution of speeds"].every((title) =>
        [...document.querySelectorAll(".plot")].some((plot) => plot.ariaLabel.startsWith(title))));
    if (name !== "matmul") {
      await page.keyboard.press(" ");
      await until(page, () => document.querySelector("#words").textContent.startsWith("paused"));
      const before = await words(page);
      await page.keyboard.press(".");
      await until(page, (text) => document.querySelector("#words").textContent !== text, before);
      if (await page.locator("#history").isEnabled()) { // pictures from before, and back to the present
        await page.locator("#history").fill("0");
        await until(page, () => document.querySelector("#words").textContent.startsWith("looking back"));
        await page.locator("#now").click();
        await until(page, () => document.querySelector("#words").textContent.startsWith("paused"));
      }
      await page.keyboard.press(" ");
      await until(page, () => document.querySelector("#words").textContent.startsWith("running"));
    }
    await page.keyboard.press("d");
    await page.locator("#quit").click();
    await page.locator("#sure .danger").click();
    assert.equal(await run.ended, 130, "the run ends as Ctrl-C ends it");
    await until(page, () => /ended|not connected/.test(document.querySelector("#words").textContent));
    assert.deepEqual(page.mistakes.filter((m) => !/ERR_CONNECTION|WebSocket/.test(m)), []);
    assert.ok(page.asked.every((u) => new URL(u).host === url.host));
    await page.context().close();
    tunnel.close();
  });

test("cells are drawn in a paused run, which goes on from them and steps back, to the start at last", { timeout: 900000 }, async () => {
  const pattern = path.join(folder, "block.rle");
  fs.writeFileSync(pattern, "x = 2, y = 2, rule = B3/S23:T32,32\n2o$2o!\n");
  const run = await begin(["life", "--pattern", pattern, "-n", "1000000000", "--view"]);
  const page = await openPage(browser, run.url, { width: 640, height: 760 });
  const says = (text) => until(page, (t) => document.querySelector("#words").textContent.includes(t), text);
  await says("4 alive");
  await page.keyboard.press("w");
  await until(page, () => document.querySelector("#words").textContent.startsWith("paused"));
  const box = await page.locator("#picture").boundingBox(), side = Math.min(box.width, box.height) / 32;
  const at = (x, y) => [box.x + box.width / 2 + (x + 0.5 - 16) * side, box.y + box.height / 2 + (y + 0.5 - 16) * side];
  const generation = async () => +(await words(page)).match(/generation ([\d,]+)/)[1].replaceAll(",", ""), first = await generation();
  await page.mouse.move(...at(4, 25));
  await page.mouse.down();
  await page.mouse.move(...at(6, 25), { steps: 4 });
  await page.mouse.up();
  await says("7 alive"); // the block, and a blinker
  await says("blinker, block");
  await page.keyboard.press(".");
  await until(page, (g) => document.querySelector("#words").textContent.includes("generation " + g.toLocaleString("en")), first + 1);
  await says("7 alive");
  await page.mouse.click(...at(5, 25)); // erases the middle of the blinker, which is upright now
  await says("6 alive");
  await page.keyboard.press("b");
  await says("7 alive");
  await page.keyboard.press("Home");
  await says("generation 0");
  await says("4 alive");
  await page.keyboard.press(".");
  await says("generation 1");
  assert.deepEqual(page.mistakes, []);
  run.kill("SIGINT");
  await run.ended;
  await page.context().close();
});

test("a page has the distributions of its bodies, which are saved as SVG and as CSV", { timeout: 900000 }, async () => {
  const recording = path.join(folder, "plummer.view"), file = path.join(folder, "plummer.html"), saved = [];
  execFileSync(command, ["nbody", "--ic", "plummer", "-n", "600", "--steps", "0", "--record", recording, "--quiet"]);
  execFileSync(command, ["view", recording, "-o", file, "--quiet"]);
  const page = await openPage(browser, "file://" + file, { width: 900, height: 640 });
  await until(page, () => [...document.querySelectorAll(".plot")].some((plot) => plot.ariaLabel.startsWith("Distribution of speeds")));
  page.on("download", (download) => saved.push(download));
  for (const key of ["v", "e"]) await page.keyboard.press(key);
  while (saved.length < 3) await page.waitForTimeout(50);
  const texts = await Promise.all(saved.map(async (download) => [download.suggestedFilename(), fs.readFileSync(await download.path(), "utf8")]));
  assert.deepEqual(texts.map(([name]) => name), ["nbody-0.svg", "nbody-0.csv", "nbody-0.distributions.csv"]);
  assert.match(texts[0][1], /Energy error[^]*Mass density[^]*Distribution of speeds/);
  const lines = texts[2][1].trim().split("\n").map((line) => line.split(","));
  const speeds = lines.filter(([, quantity]) => quantity === "Distribution of speeds");
  assert.equal(speeds.length, 32);
  assert.ok(Math.abs(speeds.reduce((sum, [, , , from, to, value]) => sum + (to - from) * value, 0) - 1) < 0.02);
  await shot(page, "distributions");
  assert.deepEqual(page.mistakes, []);
  await page.context().close();
});

test("a run at a terminal is run again from its page, with the same link", { timeout: 900000 }, async () => {
  const line = `'${command}' nbody --ic figure8 --until 0.5 --dt 0.001 --view --no-browser`;
  const run = spawn("script", ["-qec", line, "/dev/null"], { stdio: ["pipe", "pipe", "ignore"] });
  let said = "";
  run.stdout.on("data", (text) => { said += text; });
  while (!/#t=[0-9a-f]{32}/.test(said)) await new Promise((done) => setTimeout(done, 100));
  const page = await openPage(browser, /http:\/\/127\.0\.0\.1:\d+\/#t=[0-9a-f]{32}/.exec(said)[0]);
  for (let turn = 0; turn < 2; turn++) {
    await until(page, () => document.querySelector("#words").textContent.startsWith("ended"));
    assert.match(await words(page), /time 0\.5 · step 500/);
    await page.locator("#again").click();
    await until(page, () => /running/.test(document.querySelector("#words").textContent));
  }
  assert.equal(said.match(/view at/g).length, 1, "the link is printed once");
  await page.context().close();
  run.stdin.write("\x03");
  await new Promise((done) => run.on("exit", done));
});

test("a recording is shown by the command, and as a page from a file", { timeout: 900000 }, async () => {
  const file = path.join(folder, "run.view"), html = path.join(folder, "run.html");
  execFileSync(command, ["nbody", "--ic", "plummer", "-n", "2000", "--steps", "400", "--record", file, "--view-budget", "100", "-q"]);
  const replay = await begin(["view", file]);
  const page = await openPage(browser, replay.url);
  await until(page, () => /step 400/.test(document.querySelector("#words").textContent));
  replay.kill("SIGTERM");
  await page.context().close();
  execFileSync(command, ["view", file, "-o", html]);
  const alone = await openPage(browser, "file://" + html);
  await until(alone, () => /step 400/.test(document.querySelector("#words").textContent));
  assert.ok(drawn(await pixelsOf(alone)) > 200);
  assert.deepEqual(alone.mistakes, []);
  await alone.context().close();
});

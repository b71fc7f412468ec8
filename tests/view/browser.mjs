// browser.mjs - headless Chromium for the tests: started once; pages of given sizes, their pixels
// and their errors.
// SPDX-License-Identifier: MIT
import fs from "node:fs";
import { inflateSync } from "node:zlib";
import { fileOf, packageOf } from "./npm.mjs";

export const SHOTS = process.env.STDCL_SHOTS; // a folder for pictures to look at
const PATIENCE = 300000; // ms; machines may be busy

export async function startBrowser(...more) {
  const { chromium } = packageOf("playwright-core");
  return chromium.launch({ executablePath: process.env.STDCL_CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", ...more] });
}

// A page connected to a run. Any console message counts as an error.
export async function openPage(browser, url, { width = 640, height = 480, phone = false, theme = "dark", calm = false, ...more } = {}) {
  const context = await browser.newContext({ viewport: phone ? { width: 390, height: 844 } : { width, height }, hasTouch: phone, isMobile: phone, colorScheme: theme,
    reducedMotion: calm ? "reduce" : "no-preference", acceptDownloads: true, ...more });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.mistakes = [];
  page.asked = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && !/GPU stall|software rendering|WebGL.*(lost|restored)/i.test(m.text()) && page.mistakes.push(m.text()));
  page.on("pageerror", (e) => page.mistakes.push(e.stack));
  page.on("request", (r) => page.asked.push(r.url()));
  await page.goto(url);
  return page;
}

// Wait until a function in the page returns true.
export function until(page, what, arg) {
  return page.waitForFunction(what, arg, { timeout: PATIENCE, polling: 100 });
}

export function words(page) {
  return page.locator("#words").textContent();
}

// The pixels of an element: { width, height, at(x, y): [r, g, b] }.
export async function pixelsOf(page, selector = "#picture") {
  return readPng(await page.locator(selector).screenshot());
}

// PNG of 8 bits a channel, not interlaced, as screenshots and canvases are.
export function readPng(bytes) {
  const width = bytes.readUInt32BE(16), height = bytes.readUInt32BE(20), channels = { 2: 3, 6: 4 }[bytes[25]], parts = [];
  for (let at = 8; at < bytes.length; at += 12 + bytes.readUInt32BE(at))
    if (bytes.toString("latin1", at + 4, at + 8) === "IDAT") parts.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)));
  const raw = inflateSync(Buffer.concat(parts)), row = width * channels, out = Buffer.alloc(row * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (row + 1)];
    for (let i = 0; i < row; i++) {
      const left = i < channels ? 0 : out[y * row + i - channels], up = y ? out[(y - 1) * row + i] : 0, corner = y && i >= channels ? out[(y - 1) * row + i - channels] : 0;
      const p = left + up - corner, [a, b, c] = [left, up, corner].map((v) => Math.abs(p - v));
      const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      out[y * row + i] = raw[y * (row + 1) + 1 + i] + [0, left, up, left + up >> 1, paeth][filter];
    }
  }
  return { width, height, at: (x, y) => [...out.subarray(y * row + x * channels, y * row + x * channels + 3)] };
}

// Number of pixels of a region that differ from its most frequent colour.
export function drawn(pixels, x0 = 0, y0 = 0, x1 = 1, y1 = 1) {
  const counts = new Map();
  let all = 0;
  for (let y = Math.floor(y0 * pixels.height); y < Math.floor(y1 * pixels.height); y++) for (let x = Math.floor(x0 * pixels.width); x < Math.floor(x1 * pixels.width); x++, all++) {
    const key = pixels.at(x, y).join();
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  return all - Math.max(...counts.values());
}

export async function shot(page, name) {
  if (SHOTS) await page.screenshot({ path: `${SHOTS}/${name}.png` });
}

// Findings of axe-core.
export async function axeFindings(page) {
  await page.evaluate(fs.readFileSync(fileOf("axe-core/axe.min.js"), "utf8"));
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.target.join(" ")).join(", ")}`);
}

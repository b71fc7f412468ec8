// page.test.mjs - rules that the page's files keep: no other hosts, modules that can be put together, contrast of text.
// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { WEB } from "./mock.mjs";

const order = fs.readFileSync(path.join(WEB, "order.txt"), "utf8").trim().split("\n");
const read = (name) => fs.readFileSync(path.join(WEB, name), "utf8");
const shipped = [...order, "view.css", "index.html", "icon.svg"];

test("every module is in the page", () => {
  assert.deepEqual(fs.readdirSync(WEB).filter((f) => f.endsWith(".js")).sort(), [...order].sort());
});

test("nothing names another host, and the policy of contents is kept", () => {
  for (const name of shipped) {
    const text = read(name).replaceAll("http://www.w3.org/2000/svg", "");
    assert.doesNotMatch(text, /https?:\/\/|\beval\(|new Function|importScripts|document\.write|innerHTML/, name);
    if (name.endsWith(".html")) assert.doesNotMatch(text, /\sstyle=|\son[a-z]+=|<script(?! type="module" src=")/, name);
  }
});

test("modules can be put together by a server that knows four rules", () => {
  const seen = new Set(), names = new Map();
  for (const name of order) {
    const lines = read(name).split("\n");
    assert.ok(lines.length < 480, `${name} has ${lines.length} lines`);
    for (const line of lines) {
      const from = /^import \{ [\w, ]+ \} from "\.\/([a-z_]+\.js)";$/.exec(line);
      if (/^\s*import\b/.test(line)) assert.ok(from && seen.has(from[1]), `${name}: ${line}`);
      if (/\bexport\b/.test(line) && !/^export (function|const|let|class|async function) \w/.test(line)) assert.doesNotMatch(line, /^\s*export/, `${name}: ${line}`);
      assert.doesNotMatch(line, /import\.meta|export default|import\(/, name);
      const top = /^(?:export )?(?:async )?(?:function|const|let|class) (\w+)/.exec(line);
      if (!top) continue;
      assert.ok(!names.has(top[1]), `${top[1]} is in ${names.get(top[1])} and ${name}`);
      names.set(top[1], name);
    }
    seen.add(name);
  }
  const page = read("index.html");
  for (const line of ['<link rel="stylesheet" href="view.css">', '<script type="module" src="main.js"></script>', "<!--csp-->", "<!--recording-->"])
    assert.equal(page.split("\n").filter((l) => l === line).length, 1, line);
});

// WCAG 2.2: contrast of two colours.
function contrast(a, b) {
  const light = (hex) => {
    const [r, g, bl] = hex.match(/[0-9a-f]{2}/gi).map((h) => parseInt(h, 16) / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * bl;
  };
  const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05);
}

test("text has a contrast of 4.5 in both themes, lines of plots 3", async () => {
  const css = read("view.css");
  const token = (name) => css.match(new RegExp(`--${name}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`)).slice(1);
  const { LINES } = await import(path.join(WEB, "chart.js"));
  for (const [i, theme] of ["light", "dark"].entries()) {
    for (const text of ["ink", "soft", "accent", "danger"]) for (const under of ["paper", "panel"])
      assert.ok(contrast(token(text)[i], token(under)[i]) >= 4.5, `${theme}: ${text} on ${under}`);
    for (const line of LINES[theme]) assert.ok(contrast(line, token("panel")[i]) >= 4.5, `${theme}: ${line}, which is text too`);
  }
});

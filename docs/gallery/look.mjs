// look.mjs - opens the page of a run or of a file and makes a picture of it.
//   node look.mjs OUT.png dark|light|phone WORDS KEYS [FRAME] -- COMMAND... | FILE.html
// WORDS: what must stand in the line of state first, a regular expression. KEYS: pressed then, apart by commas. FRAME: of a recording.
// SPDX-License-Identifier: MIT
import { spawn } from "node:child_process";
import path from "node:path";
import { openPage, startBrowser, until } from "../../tests/view/browser.mjs";

const cut = process.argv.indexOf("--"), [out, looks, state, keys, frame] = process.argv.slice(2, cut), [command, ...options] = process.argv.slice(cut + 1);
let run = null;

function linkOf(process) {
  let said = "";
  return new Promise((done, fail) => {
    process.stderr.on("data", (text) => {
      const found = /http:\/\/127\.0\.0\.1:\d+\/#t=[0-9a-f]{32}/.exec(said += text);
      if (found) done(found[0]);
    });
    process.on("exit", () => fail(new Error(said)));
  });
}

let url;
if (/\.html$/.test(command)) url = "file://" + path.resolve(command);
else url = await linkOf(run = spawn(command, options, { stdio: ["ignore", "ignore", "pipe"] }));
const browser = await startBrowser();
const page = await openPage(browser, url, { width: 1280, height: 800, theme: looks === "light" ? "light" : "dark", phone: looks === "phone" });
await until(page, (words) => new RegExp(words).test(document.querySelector("#words").textContent), state);
if (frame) await page.locator("#history").fill(frame);
for (const key of keys.split(",").filter(Boolean)) await page.keyboard.press(key);
await page.evaluate(() => document.activeElement.blur());
await page.mouse.move(2, 2);
await page.waitForTimeout(2500);
await page.screenshot({ path: out });
await browser.close();
if (run) run.kill("SIGTERM");
process.exit(page.mistakes.length ? 1 : 0);

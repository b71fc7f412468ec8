#!/usr/bin/env python3
"""axe.py - tests each page of a site with axe-core, the rules of accessibility of Deque Systems, in light and in dark.

usage: tools/site/axe.py SITE AXE.MIN.JS [PAGE...]     (default: all pages)

AXE.MIN.JS is of the npm package axe-core, which Debian does not have: npm pack axe-core. Chromium fetches the pages from this program
on the loopback interface and sends back what axe found.
SPDX-License-Identifier: MIT
"""
import functools
import glob
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

SITE, AXE = sys.argv[1:3]
PAGES = sys.argv[3:] or sorted(os.path.relpath(p, SITE) for p in glob.glob(SITE + "/**/*.html", recursive=True)
                               if not p.endswith(("/404.html", "/collision.html")))
missing = [page for page in PAGES if not os.path.exists(os.path.join(SITE, page))]
if missing or not PAGES:
    sys.exit("%s has no page %s; build the site first" % (SITE, ", ".join(missing) or "at all"))
SECONDS = 60 + 20 * len(PAGES)  # for all pages

RUNNER = r"""<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>axe</title><iframe id="f" width="1200" height="900"></iframe><script>
const pages = %s, found = [];
function load(page) { return new Promise(done => { const f = document.getElementById("f"); f.onload = () => done(f); f.src = "/" + page; }); }
function darken(view) {
  for (const sheet of view.document.styleSheets)
    for (const rule of sheet.cssRules)
      if (rule.media && rule.media.mediaText.includes("prefers-color-scheme: dark")) rule.media.mediaText = "all";
}
async function check(page, view, mode) {
  const said = await view.axe.run(view.document, {resultTypes: ["violations"]});
  for (const v of said.violations)
    found.push(page + " (" + mode + "): " + v.id + ", " + v.help + ": " + v.nodes.length + ", " + v.nodes[0].html.slice(0, 120));
}
async function main() {
  const source = await (await fetch("/axe.js")).text();
  for (const page of pages) {
    const view = (await load(page)).contentWindow;
    view.eval(source);
    await check(page, view, "light");
    darken(view);
    await check(page, view, "dark");
  }
}
main().catch(e => found.push(String(e))).then(() => fetch("/found", {method: "POST", body: JSON.stringify(found)}));
</script></html>"""

answer = []
ready = threading.Event()


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path not in ("/axe.html", "/axe.js"):
            return super().do_GET()
        text = (RUNNER % json.dumps(PAGES)).encode() if self.path == "/axe.html" else open(AXE, "rb").read()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8" if self.path == "/axe.html" else "text/javascript")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        answer.extend(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()
        ready.set()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """The browser leaves a page before all of it has come."""


server = Server(("127.0.0.1", 0), functools.partial(Handler, directory=SITE))
threading.Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory() as profile:
    browser = subprocess.Popen(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,1000",
                                "--user-data-dir=" + profile, "--remote-debugging-port=0",
                                "http://127.0.0.1:%d/axe.html" % server.server_port],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    done = ready.wait(SECONDS)
    browser.terminate()
    browser.wait()
server.shutdown()
if not done:
    sys.exit("the browser gave no answer in %d s for %d pages" % (SECONDS, len(PAGES)))
if answer:
    sys.exit("\n".join(answer))
print("%d pages: axe-core finds nothing, in light and in dark" % len(PAGES))

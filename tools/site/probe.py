#!/usr/bin/env python3
"""probe.py - tests a site in a browser: at 375 pixels no page scrolls sideways, and in light and in dark all text has the contrast
of WCAG 2, level AA, to its background. The browser, Chromium, fetches pages from this program on the loopback interface.

usage: tools/site/probe.py SITE [PAGE...]     (default: all pages)
SPDX-License-Identifier: MIT
"""
import functools
import glob
import html
import http.server
import json
import os
import re
import subprocess
import sys
import threading

SITE = sys.argv[1]
PAGES = sys.argv[2:] or sorted(os.path.relpath(p, SITE) for p in glob.glob(SITE + "/**/*.html", recursive=True)
                               if not p.endswith("/collision.html"))
missing = [page for page in PAGES if not os.path.exists(os.path.join(SITE, page))]
if missing or not PAGES:
    sys.exit("%s has no page %s; build the site first" % (SITE, ", ".join(missing) or "at all"))
AT_ONCE = 20  # pages in one document of the browser
WIDTH = 375

FRAME = '<iframe style="border:0;height:800px;width:%dpx" data-page="%s" src="%s"></iframe>'
PROBE = r"""<!DOCTYPE html><meta charset="utf-8"><script>
const width = %d;
function channel(c) { c /= 255; return c <= 0.04045 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4); }
function luminance(c) { return 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]); }
function colour(text) { const n = text.match(/[\d.]+/g).map(Number); return [n[0], n[1], n[2], n.length > 3 ? n[3] : 1]; }
function over(a, b) { return [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1); }
function background(view, node) {
  if (!node || node.nodeType !== 1) return [255, 255, 255, 1];
  const c = colour(view.getComputedStyle(node).backgroundColor);
  return c[3] === 1 ? c : over(c, background(view, node.parentElement));
}
function texts(frame, mode) {
  const view = frame.contentWindow, found = new Set();
  const walk = view.document.createTreeWalker(view.document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, parent = node.parentElement;
    if (!node.textContent.trim() || !parent.getClientRects().length || /^(SCRIPT|STYLE|NOSCRIPT)$/.test(parent.tagName)) continue;
    const style = view.getComputedStyle(parent), back = background(view, parent), front = over(colour(style.color), back);
    const a = luminance(front), b = luminance(back), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (large ? 3 : 4.5))
      found.add(mode + ": contrast " + ratio.toFixed(2) + " of <" + parent.tagName.toLowerCase() + " class='" + parent.className + "'>, '" +
                node.textContent.trim().slice(0, 30) + "'");
  }
  return [...found];
}
function darken(view) {
  for (const sheet of view.document.styleSheets)
    for (const rule of sheet.cssRules)
      if (rule.media && rule.media.mediaText.includes("prefers-color-scheme: dark")) rule.media.mediaText = "all";
}
function probe(frame) {
  const view = frame.contentWindow, body = view.document.body, root = view.document.scrollingElement, wrong = [];
  if (view.innerWidth !== width) wrong.push("has a window of " + view.innerWidth + " pixels");
  if (root.scrollWidth > width) {
    const wide = [...body.querySelectorAll("*")].filter(e => e.getBoundingClientRect().right > width + 1).slice(0, 3);
    wrong.push("is " + root.scrollWidth + " pixels wide: " + wide.map(e => e.tagName.toLowerCase() + "." + e.className).join(", "));
  }
  wrong.push(...texts(frame, "light"));
  darken(view);
  if (view.getComputedStyle(body).backgroundColor === "rgb(255, 255, 255)") wrong.push("has no dark mode");
  wrong.push(...texts(frame, "dark"));
  return wrong.map(text => frame.dataset.page + " " + text);
}
window.onload = () => { // after all frames; what is printed is the page after this event
  const found = [...document.querySelectorAll("iframe")].flatMap(probe);
  document.body.innerHTML = "<pre id='found'></pre>";
  document.getElementById("found").textContent = JSON.stringify({pages: %d, found: found});
};
</script>
<body>%s</body>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if not self.path.startswith("/probe.html?"):
            return super().do_GET()
        some = PAGES[int(self.path.split("?")[1]):][:AT_ONCE]
        text = (PROBE % (WIDTH, len(some), "".join(FRAME % (WIDTH, page, page) for page in some))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=SITE))
threading.Thread(target=server.serve_forever, daemon=True).start()


def probe(first):
    """Return the findings on the pages from number `first`."""
    said = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900", "--dump-dom",
                           "http://127.0.0.1:%d/probe.html?%d" % (server.server_port, first)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=280).stdout
    answer = re.search(r'<pre id="found">(.*?)</pre>', said, re.S)
    if not answer:
        sys.exit("the browser gave no answer for the pages from %s" % PAGES[first])
    result = json.loads(html.unescape(answer.group(1)))
    assert result["pages"] == len(PAGES[first:first + AT_ONCE])
    return result["found"]


found = [one for first in range(0, len(PAGES), AT_ONCE) for one in probe(first)]
server.shutdown()
if found:
    sys.exit("\n".join(found))
print("%d pages: none wider than %d pixels, contrast as in WCAG 2 AA in light and dark" % (len(PAGES), WIDTH))

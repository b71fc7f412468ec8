#!/usr/bin/env python3
"""check.py - tests a site: every link and picture leads to a file and an anchor that are there, nothing is fetched from elsewhere,
no text has raw backquotes, no link is called by a file of Markdown, and the search has an index.

usage: tools/site/check.py SITE
SPDX-License-Identifier: MIT
"""
import html.parser
import json
import os
import re
import sys
import urllib.parse

SITE = os.path.abspath(sys.argv[1])


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.fetched, self.anchors, self.raw = [], [], {""}, []
        self.inside = []  # elements that are open
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_data(self, data):
        verbatim = {"pre", "code", "script", "style", "title"} & set(self.inside)
        if not verbatim and (re.search(r"`\w[^`]*`", data) or ("a" in self.inside and re.fullmatch(r"[\w./-]+\.md", data.strip()))):
            self.raw.append(data.strip()[:60])

    def handle_endtag(self, tag):
        if tag in self.inside:
            del self.inside[len(self.inside) - 1 - self.inside[::-1].index(tag):]

    def handle_starttag(self, tag, attributes):
        self.inside.append(tag)
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            if name in ("href", "src") and value:
                (self.links if tag == "a" else self.fetched).append(value)


pages = {}
for folder, _, files in os.walk(SITE):
    for file in files:
        if file.endswith(".html"):
            pages[os.path.join(folder, file)] = Page(os.path.join(folder, file))
wrong = []
for path, page in pages.items():
    where = os.path.relpath(path, SITE)
    wrong += ["%s: '%s' is Markdown or the name of a file" % (where, text) for text in page.raw]
    for link in page.links + page.fetched:
        url = urllib.parse.urlsplit(link)
        if url.scheme or url.netloc:
            if link in page.fetched:
                wrong.append("%s fetches %s" % (where, link))
            continue
        target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(url.path))) if url.path else path
        if url.path.startswith("/"):
            continue  # of the page for errors, which the server shows anywhere
        if os.path.isdir(target):
            target += "/index.html"
        if not os.path.exists(target):
            wrong.append("%s: %s is not there" % (where, link))
        elif target in pages and urllib.parse.unquote(url.fragment) not in pages[target].anchors:
            wrong.append("%s: %s has no such anchor" % (where, link))
with open(SITE + "/search/search_index.json", encoding="utf-8") as file:
    indexed = {entry["location"].split("#")[0] for entry in json.load(file)["docs"]}
for name in ("docs/nbody.html", "man/clmalloc.3.html", "docs/python.html"):
    if name not in indexed:
        wrong.append("the search does not know %s" % name)
for path, parts in {"index.html": ("<video ", "prefers-reduced-motion", "clexec("), "docs/nbody.html": ("<math ", "<mfrac>"),
                    "docs/tree.html": ("<math ",), "docs/gas.html": ("<msqrt>",)}.items():
    with open(os.path.join(SITE, path), encoding="utf-8") as file:
        text = file.read()
    wrong += ["%s has no %s" % (path, part) for part in parts if part not in text.replace("</span>", "").replace('<span class="n">', "").replace('<span class="p">', "")]
    wrong += ["%s shows LaTeX: \\frac" % path] if "\\frac" in text else []
if len(pages) < 100:
    wrong.append("only %d pages" % len(pages))
if wrong:
    sys.exit("\n".join(wrong))
print("%d pages, %d links, none broken" % (len(pages), sum(len(p.links) + len(p.fetched) for p in pages.values())))

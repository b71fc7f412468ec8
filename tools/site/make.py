#!/usr/bin/env python3
"""make.py - the documentation as a web site, without a network: the manual, a page of each function and command, a gallery, and
the benchmarks as plots.

usage: tools/site/make.py SOURCE BUILD OUT          (make site)

mkdocs (a Debian package, with its own theme, fonts and search) makes the pages, mandoc those of the manual. The folders are as in the
repository, so that the documents' links hold; of other files, those that a document names are there.
SPDX-License-Identifier: MIT
"""
import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys

import plots

SOURCE, BUILD, OUT = (os.path.abspath(path) for path in sys.argv[1:4])
WORK = OUT + ".work"


def write(path, text):
    os.makedirs(os.path.dirname(os.path.join(WORK, path)), exist_ok=True)
    with open(os.path.join(WORK, path), "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def documents():
    """Copy the documents and the files that they link to."""
    wanted = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/gallery/README.md"]
    wanted += ["docs/" + f for f in os.listdir(SOURCE + "/docs") if os.path.isfile(SOURCE + "/docs/" + f)]
    done = set()
    while wanted:
        path = wanted.pop()
        if path in done:
            continue
        done.add(path)
        text = read(os.path.join(SOURCE, path)) if path.endswith(".md") else None
        if text is None:
            os.makedirs(os.path.dirname(os.path.join(WORK, path)), exist_ok=True)
            shutil.copy(os.path.join(SOURCE, path), os.path.join(WORK, path))
            continue

        def link(found):
            target, anchor = (found.group(2).split("#") + [""])[:2]
            file = os.path.normpath(os.path.join(os.path.dirname(path), target))
            full = os.path.join(SOURCE, file)
            if not target or "://" in target:
                return found.group(0)
            if os.path.isdir(full):  # a folder: its README, or a list of its files
                if os.path.exists(full + "/README.md"):
                    target, file = target.rstrip("/") + "/README.md", file + "/README.md"
                else:
                    names = sorted(f for f in os.listdir(full) if os.path.isfile(os.path.join(full, f)))
                    write(file + "/README.md", "# %s\n\n%s" % (file, "".join("- [%s](%s)\n" % (n, n) for n in names)))
                    wanted.extend(file + "/" + n for n in names)
                    return "[%s](%s)" % (found.group(1), target.rstrip("/") + "/README.md")
            if file == "docs/gallery/page.sh" and recording():
                return "[%s](collision.html)" % found.group(1)
            if os.path.exists(os.path.join(SOURCE, file)):
                wanted.append(file)
            return "[%s](%s%s)" % (found.group(1), target, "#" + anchor if anchor else "")
        write(path, re.sub(r"\[((?:[^]\[`]|`[^`]*`)*)\]\(([^)\s]+)\)", link, indented(text)))
    return done


def recording():
    """Makes the gallery's page with the command. False where the command is not built, or finds no device: the link is then to the script."""
    stdcl = BUILD + "/bin/stdcl"
    if not os.path.exists(stdcl):
        return False
    page = os.path.join(WORK, "docs/gallery/collision.html")
    os.makedirs(os.path.dirname(page), exist_ok=True)
    return subprocess.run(["sh", SOURCE + "/docs/gallery/page.sh", stdcl, page]).returncode == 0


def indented(text):
    """Insert the blank line that mkdocs needs before lists and tables."""
    return re.sub(r"^((?![-|#> ]).*[^\n])\n(?=(?:- |\| ))", r"\1\n\n", text, flags=re.M)


def manual():
    """Convert the manual pages of sections 1, 3 and 7 to HTML pages; further names link to their page."""
    pages, links = {}, {}
    folder = os.path.join(BUILD, "pages")
    for section in "173":
        pages[section] = sorted(f[:-2] for f in os.listdir("%s/man%s" % (folder, section)) if f.endswith("." + section))
    for line in read(folder + "/man3/links").splitlines():
        page, name = line.split()
        links[name] = page
    for section, names in pages.items():
        for name in names:
            text = subprocess.run(["mandoc", "-T", "html", "-O", "fragment,man=%N.%S.html", "%s/man%s/%s.%s" % (folder, section, name, section)],
                                  check=True, stdout=subprocess.PIPE, text=True).stdout
            text = re.sub(r'<table class="(?:head|foot)">.*?</table>', "", text, flags=re.S)
            for level in "21":  # below the page's own title
                text = re.sub(r"(</?h)%s(?=[ >])" % level, r"\g<1>%d" % (int(level) + 1), text)
            text = re.sub(r'href="([\w-]+)\.(\d)\.html"', lambda m: page_of(m.group(1), m.group(2), pages, links), text)
            write("man/%s.%s.md" % (name, section), "# %s(%s)\n\n%s\n" % (name.replace("_", "\\_"), section, re.sub(r"\n\s*\n", "\n", text)))
    rows = sorted([(n, n) for n in pages["3"]] + list(links.items()))
    listed = lambda items: "".join("- [%s](%s.md)\n" % (n.replace("_", "\\_"), to) for n, to in items)  # noqa: E731
    write("man/index.md", "# Manual pages\n\n## Commands\n\n%s\n## Files and environment\n\n%s\n## Functions\n\n%s" % (
        listed((n, n + ".1") for n in pages["1"]), listed((n, n + ".7") for n in pages["7"]), listed((n, p + ".3") for n, p in rows)))
    return sum(map(len, pages.values()))


def page_of(name, section, pages, links):
    name = links.get(name, name)
    return 'href="%s.%s.html"' % (name, section) if name in pages.get(section, ()) else 'class="elsewhere"'


def benchmarks():
    text = "# Benchmarks\n\nWhat `bench/run.sh` and `bench/devices.sh` measured, from the files that the repository keeps. Longer is faster; peers are grey.\n"
    for file in sorted(os.listdir(SOURCE + "/bench/results")):
        data = json.loads(read(SOURCE + "/bench/results/" + file))
        shutil.copy(SOURCE + "/bench/results/" + file, WORK + "/bench-" + file)
        text += "\n## %s\n\n%s, commit %s: [data](../bench-%s).\n" % (data["device"], data["date"], data["commit"], file)
        for title, svg in plots.of(data["rows"]):
            name = "%s-%s.svg" % (file[:-5], re.sub(r"\W+", "-", title.rsplit(", ", 1)[0].lower()))
            write("benchmarks/" + name, svg)
            text += "\n### %s\n\n![%s](%s)\n" % (title, html.escape(title), name)
    write("benchmarks/index.md", text)


def main():
    for folder in (OUT, WORK):
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(WORK)
    version = re.search(r'#define STDCL_VERSION "([^"]+)"', read(SOURCE + "/include/stdcl.h")).group(1)
    done = documents()
    shutil.copy(os.path.join(os.path.dirname(__file__), "offline.js"), WORK)
    benchmarks()
    count = manual()
    titles = {path: re.search(r"^# (.*)$", read(WORK + "/" + path), re.M).group(1).replace("`", "") for path in done if path.endswith(".md")}
    manual_pages = sorted((p for p in titles if p.startswith("docs/") and p not in ("docs/README.md", "docs/gallery/README.md")), key=titles.get)
    nav = ["  - Start: README.md", "  - Contents: docs/README.md", "  - Manual:"]
    nav += ["    - %s: %s" % (json.dumps(titles[p]), p) for p in manual_pages]
    nav += ["  - Gallery: docs/gallery/README.md", "  - Benchmarks: benchmarks/index.md", "  - Functions and commands: man/index.md",
            "  - Changes: CHANGELOG.md"]
    with open(OUT + ".yml", "w", encoding="utf-8") as file:
        file.write("site_name: stdcl %s\ndocs_dir: %s\nsite_dir: %s\ntheme:\n  name: mkdocs\n  highlightjs: false\n  nav_style: dark\n"
                   "use_directory_urls: false\nplugins: [search]\nextra_javascript: [offline.js]\nmarkdown_extensions: [tables, fenced_code, toc]\nnav:\n%s\n"
                   % (version, WORK, OUT, "\n".join(nav)))
    said = subprocess.run(["mkdocs", "build", "--quiet", "-f", OUT + ".yml"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    shutil.rmtree(WORK)
    os.remove(OUT + ".yml")
    wrong = [line for line in said.stdout.splitlines() if "not in the nav" not in line and line.strip()]
    if said.returncode or wrong:
        sys.exit("\n".join(wrong) or "mkdocs failed")
    asked = re.search(r'src="js/(jquery[\w.-]*)"', read(OUT + "/index.html"))
    if asked and not os.path.exists(OUT + "/js/" + asked.group(1)):  # Ubuntu 24.04's mkdocs names the file differently from its pages
        os.rename(glob.glob(OUT + "/js/jquery*.js")[0], OUT + "/js/" + asked.group(1))
    with open(OUT + "/search/index.js", "w", encoding="utf-8") as file:
        file.write("searchIndex(%s);\n" % read(OUT + "/search/search_index.json"))
    print("%s: %d documents, %d pages of the manual" % (os.path.relpath(OUT), len(titles), count))


main()

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

try:
    import markdown
except ImportError:
    sys.exit("tools/site/make.py: %s has no module 'markdown'; install Debian's mkdocs or python3-markdown, and run make PYTHON=/usr/bin/python3 site" % sys.executable)

import mathml
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
            return "[%s](%s%s)" % (named(found.group(1), full), target, "#" + anchor if anchor else "")
        write(path, re.sub(r"\[((?:[^]\[`]|`[^`]*`)*)\]\(([^)\s]+)\)", link, indented(mathml.converted(text))))
    return done


def named(text, path):
    """The text of a link: the title of a document, in the place of its file's name."""
    if not re.fullmatch(r"`?[\w./-]+\.md`?", text) or not os.path.isfile(path):
        return text
    title = re.search(r"^# (.*)$", read(path), re.M)
    return title.group(1) if title else text


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
    write("man/index.md", "# Manual pages\n\n## Commands\n\n%s\n## Files and environment\n\n%s\n%s" % (
        listed(pages["1"], "1"), listed(pages["7"], "7"), functions(pages["3"], links)))
    return sum(map(len, pages.values()))


def header_and_summary(name, section):
    """The header that declares a function, and its summary, from the manual page."""
    text = read("%s/pages/man%s/%s.%s" % (BUILD, section, name, section))
    header = re.search(r"^\.In (\S+)", text, re.M)
    summary = re.search(r"^\.Nd (.*)$", text, re.M)
    plain = re.sub(r"\\f[BIRP]|\\&", "", summary.group(1) if summary else "").replace("\\-", "-").replace("\\e", "\\")
    return header.group(1) if header else "", html.escape(plain).replace("_", "\\_").replace("*", "\\*")


def reference(name, page):
    return "[%s](%s.md)" % (name.replace("_", "\\_"), page)


def listed(names, section):
    """A line for each page, with its summary."""
    return "".join("- %s: %s\n" % (reference(n, n + "." + section), header_and_summary(n, section)[1]) for n in names)


def functions(names, links):
    """The functions of each header: a line for each page, with its summary and the other functions on it."""
    groups, others = {}, {}
    for name, page in sorted(links.items()):
        others.setdefault(page, []).append(name)
    for name in names:
        header, summary = header_and_summary(name, "3")
        more = ", ".join(reference(n, name + ".3") for n in others.get(name, ()))
        groups.setdefault(header, []).append("- %s: %s%s\n" % (reference(name, name + ".3"), summary, " (with " + more + ")" if more else ""))
    return "".join("## Functions of %s\n\n%s\n" % (header, "".join(lines)) for header, lines in sorted(groups.items()))


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


def unbroken(page):
    """Keep options such as --input on one line: browsers break after hyphens. Outside of blocks of code only."""
    def option(code):
        return re.sub(r"(?<![\w&-])(--?[A-Za-z][\w-]*)", r'<span class="option">\1</span>', code.group(0))
    parts = re.split(r"(<pre.*?</pre>)", page, flags=re.S)
    return "".join(part if part.startswith("<pre") else re.sub(r"(?<=<code>)[^<]*(?=</code>)", option, part) for part in parts)


LANDMARKS = (  # what mkdocs' theme lacks for screen readers
    ('<div class="navbar fixed-top', '<div role="navigation" aria-label="Site" class="navbar fixed-top'),
    ('<button type="button" class="navbar-toggler"', '<button type="button" aria-label="Menu" class="navbar-toggler"'),
)


def accessible(page):
    for plain, named_part in LANDMARKS:
        page = page.replace(plain, named_part)
    page = re.sub(r"<th([^>]*)></th>", r"<td\1></td>", page)  # a header without a word is none
    return re.sub(r"<(table|pre)(?=[ >])", r'<\1 tabindex="0"', page)  # so that the keyboard scrolls it


HERO = """<div class="hero">
<figure><video controls muted loop autoplay playsinline width="400" height="400" poster="docs/gallery/hero.png" aria-label="%(title)s">
<source media="(prefers-reduced-motion: no-preference)" src="docs/gallery/hero.mp4" type="video/mp4"></video>
<figcaption>%(title)s: <code>%(command)s</code></figcaption></figure>
%(code)s
</div>
"""
FILM = "stdcl nbody --ic collision -n 2^14 --method tree --until 30 --dt 0.1 --extent 44 --size 400x400 --frames 150 -o hero.mp4"


def hero():
    """The film and the six lines of docs/layer.md for the first page. A reader who prefers no motion sees a still."""
    lines = re.search(r"<!-- hero.*?-->\n\n(```c\n.*?```)", read(SOURCE + "/docs/layer.md"), re.S).group(1)
    for name in ("hero.mp4", "hero.png"):
        os.makedirs(WORK + "/docs/gallery", exist_ok=True)
        shutil.copy(SOURCE + "/docs/gallery/" + name, WORK + "/docs/gallery")
    code = markdown.markdown(lines, extensions=["fenced_code", "codehilite"], extension_configs={"codehilite": {"guess_lang": False}})
    block = HERO % {"title": "Two disk galaxies collide", "command": FILM, "code": code}
    text = read(WORK + "/README.md")
    text = re.sub(r"!\[[^]]*\]\(docs/collision\.png\)\n\n\*.*?commands\.\n", "", text, count=1, flags=re.S)  # the film has its place
    write("README.md", re.sub(r"(^# .*\n)", lambda m: m.group(1) + "\n" + block + "\n", text, count=1, flags=re.M))


def main():
    for folder in (OUT, WORK):
        shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(WORK)
    version = re.search(r'#define STDCL_VERSION "([^"]+)"', read(SOURCE + "/include/stdcl.h")).group(1)
    done = documents()
    hero()
    for name in ("offline.js", "site.css"):
        shutil.copy(os.path.join(os.path.dirname(__file__), name), WORK)
    benchmarks()
    count = manual()
    titles = {path: re.search(r"^# (.*)$", read(WORK + "/" + path), re.M).group(1).replace("`", "") for path in done if path.endswith(".md")}
    manual_pages = sorted((p for p in titles if p.startswith("docs/") and p not in ("docs/README.md", "docs/gallery/README.md")), key=titles.get)
    nav = ["  - Start: README.md", "  - Contents: docs/README.md", "  - Manual:"]
    nav += ["    - %s: %s" % (json.dumps(titles[p]), p) for p in manual_pages]
    nav += ["  - Gallery: docs/gallery/README.md", "  - Benchmarks: benchmarks/index.md", "  - Functions and commands: man/index.md",
            "  - Changes: CHANGELOG.md"]
    with open(OUT + ".yml", "w", encoding="utf-8") as file:
        file.write("site_name: stdcl %s\nsite_description: OpenCL for C programmers, in the style of UNIX\ndocs_dir: %s\nsite_dir: %s\ntheme:\n  name: mkdocs\n  highlightjs: false\n  nav_style: dark\n"
                   "use_directory_urls: false\nplugins: [search]\nextra_javascript: [offline.js]\nextra_css: [site.css]\n"
                   "markdown_extensions: [tables, fenced_code, toc, codehilite: {guess_lang: false}]\nnav:\n%s\n"
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
    for path in glob.glob(OUT + "/**/*.html", recursive=True):
        page = read(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(accessible(unbroken(page)))
    print("%s: %d documents, %d pages of the manual" % (os.path.relpath(OUT), len(titles), count))


main()

#!/usr/bin/env python3
"""unity.py - the files of each library compile as one, as the unity build of `make run` needs.

   usage: unity.py SOURCE_FOLDER BUILD_FOLDER

For each library, lets the compiler check one file that includes all C files of the library. CMake
may group the files in any way, so a check of all of them covers every group. CMake compiles alone
the files listed in cmake/StdclUnity.cmake and files with their own compiler options: the check omits
them. It also omits files written during the build, which define one array each. Exit status 77:
CMake wrote no compile_commands.json.
SPDX-License-Identifier: MIT
"""
import collections
import json
import os
import re
import shlex
import subprocess
import sys

ROOMS = "core profile template tune formats arrays gas life matmul nbody view world lua cli".split()


def options(command):
    """The compiler and its options, without the names of the files read and written."""
    kept = []
    words = iter(shlex.split(command))
    for word in words:
        if word in ("-o", "-c", "-MT", "-MF"):
            next(words)
        elif word not in ("-MD", "-g") and not word.endswith("ccache"):
            kept.append(word)
    return tuple(kept)


def sources(file):
    """The files that CMake compiles as `file`: several in a unity build, which that file includes."""
    if not re.search(r"/Unity/unity_\d+_c\.c$", file):
        return [file]
    with open(file, encoding="utf-8") as batch:
        return re.findall(r'^#include "(.+)"$', batch.read(), re.MULTILINE)


def libraries(source, build, alone):
    """The C files of each target, by the options that most of its files have."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(build + "/compile_commands.json", encoding="utf-8") as file:
        entries = json.load(file)
    for entry in entries:
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", entry["command"]).group(1)
        for file in sources(entry["file"]):
            path = os.path.relpath(file, source)
            if path.endswith(".c") and path.split("/")[0] in ROOMS and path not in alone:
                found[target][options(entry["command"])].append(file)
    return {target: max(sets.items(), key=lambda item: len(item[1]))
            for target, sets in found.items()}


def main():
    source, build = sys.argv[1:]
    if not os.path.exists(build + "/compile_commands.json"):
        print("CMake wrote no compile_commands.json")
        return 77
    with open(source + "/cmake/StdclUnity.cmake", encoding="utf-8") as file:
        alone = set(re.findall(r"[\w/]+\.c\b", file.read()))
    missing = [path for path in sorted(alone) if not os.path.exists(source + "/" + path)]
    for path in missing:
        print(f"{path} does not exist: remove it from cmake/StdclUnity.cmake")
    failed = bool(missing)
    for target, (command, files) in libraries(source, build, alone).items():
        text = "".join(f'#include "{path}"\n' for path in files)
        check = command + ("-Wno-shadow", "-Werror", "-fsyntax-only", "-x", "c", "-")
        run = subprocess.run(check, cwd=build, input=text, stderr=subprocess.PIPE, text=True,
                             check=False)
        if run.returncode:
            failed = True
            print(f"{target}: two files define one name. Rename it in one of the files, or add the "
                  f"file to cmake/StdclUnity.cmake.\n{run.stderr}")
    return int(failed)


sys.exit(main())

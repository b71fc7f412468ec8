#!/usr/bin/env python3
"""generate.py - generate declarations of the C interface for other languages from the public headers.

usage: tools/bindings/generate.py SOURCE CC LANGUAGE=FILE...          (make bindings)

LANGUAGE is python, python-documentation, fortran, lua, or fortran-layout, a program that prints where Fortran has each member of a struct.
SPDX-License-Identifier: MIT
"""
import contextlib
import sys

import to_fortran
import to_lua
import to_python

WRITE = {"python": to_python.write, "python-documentation": to_python.write_documentation,
         "fortran": to_fortran.write, "fortran-layout": to_fortran.write_layout, "lua": to_lua.write}

wanted = [word.partition("=")[::2] for word in sys.argv[3:]]
if not wanted or any(language not in WRITE for language, _ in wanted):
    sys.exit("usage: generate.py SOURCE CC %s=FILE..." % "|".join(WRITE))
for language, file in wanted:
    with open(file, "w", encoding="utf-8") as out, contextlib.redirect_stdout(out):
        WRITE[language](sys.argv[1], sys.argv[2])

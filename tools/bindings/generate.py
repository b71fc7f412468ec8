#!/usr/bin/env python3
"""generate.py - declares the C interface for another language, from the public headers.

usage: tools/bindings/generate.py LANGUAGE SOURCE [CC]          (make bindings)

LANGUAGE is python, python-documentation, fortran, lua, or fortran-layout, a program that prints where Fortran has each member of a struct.
SPDX-License-Identifier: MIT
"""
import sys

import to_fortran
import to_lua
import to_python

WRITE = {"python": to_python.write, "python-documentation": to_python.write_documentation,
         "fortran": to_fortran.write, "fortran-layout": to_fortran.write_layout, "lua": to_lua.write}

if len(sys.argv) < 3 or sys.argv[1] not in WRITE:
    sys.exit("usage: generate.py %s SOURCE [CC]" % "|".join(WRITE))
WRITE[sys.argv[1]](sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "cc")

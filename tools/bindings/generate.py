#!/usr/bin/env python3
"""generate.py - declares the C interface for Python, from the public headers.

usage: tools/bindings/generate.py SOURCE [CC] > python/stdcl/_declarations.py          (make bindings)

The preprocessor expands the headers, pycparser (package python3-pycparser) reads them, and the version maps say which
functions there are. Pointers to numbers are addresses (c_void_p), pointers to our structs are typed; docstrings are the
headers' comments. Functions with a va_list are left out: each has a sibling with an array.
SPDX-License-Identifier: MIT
"""
import glob
import os
import re
import subprocess
import sys

from pycparser import c_ast, c_generator, c_parser

NUMBERS = {
    "char": "c_char", "signed char": "c_byte", "unsigned char": "c_ubyte", "short": "c_short",
    "unsigned short": "c_ushort", "int": "c_int", "unsigned": "c_uint", "unsigned int": "c_uint", "long": "c_long",
    "unsigned long": "c_ulong", "long int": "c_long", "long unsigned int": "c_ulong", "long long": "c_longlong",
    "unsigned long long": "c_ulonglong", "float": "c_float", "double": "c_double", "_Bool": "c_bool",
    "size_t": "c_size_t", "int8_t": "c_int8", "uint8_t": "c_uint8", "int16_t": "c_int16", "uint16_t": "c_uint16",
    "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64", "uintptr_t": "c_size_t",
    "intptr_t": "c_ssize_t",
}


def expanded(source, cc):
    """The headers as one text without preprocessor or GNU extensions."""
    headers = "".join(f"#include <stdcl/{os.path.basename(h)}>\n" for h in sorted(glob.glob(source + "/include/stdcl/*.h")))
    plain = ["-D__attribute__(x)=", "-D__extension__=", "-D__restrict=", "-D__inline=", "-D__asm__(x)=",
             "-D__builtin_va_list=int", "-D__signed__=signed", "-U__SSE__", "-U__SSE2__", "-U__MMX__", "-U__AVX__"]
    plain += [f"-D_Float{bits}=double" for bits in ("32", "64", "128", "32x", "64x")]
    return subprocess.run([cc, "-E", "-P", "-std=c11", "-I" + source + "/include", *plain, "-"], check=True, text=True,
                          input="#include <stdcl.h>\n" + headers, stdout=subprocess.PIPE).stdout


class Interface:
    def __init__(self, source, cc):
        self.types, self.structs, self.enums, self.functions, self.used = {}, {}, {}, {}, []
        for node in c_parser.CParser().parse(expanded(source, cc)).ext:
            if isinstance(node, c_ast.FuncDef):
                continue  # inline: behind the macros
            if isinstance(node, c_ast.Typedef):
                self.types[node.name] = node.type
            self.note(node.type)
            if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
                self.functions[node.name] = node.type
        self.rooms = {}
        for path in sorted(glob.glob(source + "/*/*.map")):
            room = os.path.basename(path)[:-4]
            with open(path, encoding="utf-8") as text:
                for name in re.findall(r"^ +([a-z][a-z0-9_]*);", text.read(), re.M):
                    self.rooms[name] = room
        self.texts = [open(h, encoding="utf-8").read() for h in
                      [source + "/include/stdcl.h"] + sorted(glob.glob(source + "/include/stdcl/*.h"))]

    def note(self, node):
        """Keeps the structs and enums that a declaration defines."""
        while isinstance(node, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl)):
            name = getattr(node, "declname", None)
            node = node.type
            if isinstance(node, (c_ast.Struct, c_ast.Union)) and node.decls and not node.name:
                node.name = name
        if isinstance(node, (c_ast.Struct, c_ast.Union)) and node.decls:
            self.structs[node.name] = node
        if isinstance(node, c_ast.Enum) and node.values:
            value = -1
            for item in node.values.enumerators:
                value = value + 1 if item.value is None else int(eval(c_generator.CGenerator().visit(item.value), {}, self.enums))
                self.enums[item.name] = value

    def base(self, node):
        """The type behind typedefs."""
        while isinstance(node, c_ast.TypeDecl):
            inner = node.type
            if isinstance(inner, c_ast.IdentifierType):
                name = " ".join(inner.names)
                if name in NUMBERS or name not in self.types:
                    return name
                node = self.types[name]
            else:
                return inner
        return node

    def ctype(self, node, callback=False):
        if isinstance(getattr(node, "type", None), c_ast.IdentifierType) and node.type.names == ["cl_event"]:
            return "c_size_t"  # a number: 0 is success, not NULL
        base = self.base(node)
        if isinstance(base, str):
            return NUMBERS.get(base) if base != "void" else None
        if isinstance(base, c_ast.Enum):
            return "c_int"
        if isinstance(base, (c_ast.Struct, c_ast.Union)):
            return self.struct(base.name)
        if isinstance(base, c_ast.FuncDecl):
            args = [t if t[:7] != "POINTER" else "c_void_p" for t in self.arguments(base, True)]
            return "CFUNCTYPE(%s)" % ", ".join([str(self.ctype(base.type))] + args)
        if isinstance(base, c_ast.ArrayDecl) and base.dim is not None:
            return "%s * %s" % (self.ctype(base.type), c_generator.CGenerator().visit(base.dim))
        inner = self.base(base.type)  # a pointer
        if isinstance(inner, c_ast.FuncDecl):
            return self.ctype(base.type)
        if inner == "char":
            return "c_char_p"
        if isinstance(inner, c_ast.Struct) and inner.name in self.structs and not inner.name.startswith("_"):
            return "POINTER(%s)" % (inner.name if callback else self.struct(inner.name))
        return "c_void_p"

    def struct(self, name):
        if name not in self.used:
            for field in self.structs[name].decls:  # what it needs comes first
                if not self.points_to(field.type, name) and not isinstance(field.type.type, c_ast.Union):
                    self.ctype(field.type)
            self.used.append(name)
        return name

    def points_to(self, node, name):
        inner = self.base(node.type) if isinstance(node, c_ast.PtrDecl) else None
        return isinstance(inner, c_ast.Struct) and inner.name == name

    def fields(self, name):
        for field in self.structs[name].decls:
            if self.points_to(field.type, name):
                yield field.name, "c_void_p"
            elif isinstance(field.type.type, c_ast.Union):
                yield field.name, name + "_" + field.name
            else:
                yield field.name, self.ctype(field.type)

    def arguments(self, function, callback=False):
        params = function.args.params if function.args else []
        return [re.sub(r"^\w+ \* .*", "c_void_p", str(self.ctype(p.type, callback))) for p in params
                if not isinstance(p, c_ast.EllipsisParam) and self.base(p.type) != "void"]

    def documentation(self, name):
        """The comment above a function in its header, without stars."""
        for text in self.texts:
            found = re.search(r"^/\*((?:(?!\*/).)*)\*/\n(?:(?!\n\n)(?!^/\*).)*?\b%s\(" % name, text, re.S | re.M)
            if found and not found.group(1).startswith(" ----"):
                return re.sub(r"\n \* ?", "\n", found.group(1)).strip()
        return ""


def constants(texts):
    """The #defines that are whole numbers."""
    for text in texts:
        for name, value in re.findall(r"^#define ([A-Z][A-Z0-9_]+) (0x[0-9A-Fa-f]+|[0-9]+)\b *(?:/\*.*)?$", text, re.M):
            if not name.startswith("CL_TARGET"):
                yield name, value


def main():
    source = sys.argv[1]
    api = Interface(source, sys.argv[2] if len(sys.argv) > 2 else "cc")
    version = re.search(r'#define STDCL_VERSION "([^"]+)"', api.texts[0]).group(1)
    print('"""The C interface of stdcl. Made by tools/bindings/generate.py from the headers: do not edit."""')
    print("# SPDX-License-Identifier: MIT")
    print("from ctypes import *  # noqa: F403\n\nVERSION = %r\n" % version)
    rows = []
    for name in sorted(api.rooms):
        function = api.functions.get(name)
        if function is None:
            continue  # stdgpu and its like are variables
        params = function.args.params if function.args else []
        if any(getattr(p, "type", None) is not None and c_generator.CGenerator().visit(p.type).startswith("va_list")
               for p in params):
            continue
        rows.append((name, api.rooms[name], api.ctype(function.type), api.arguments(function)))
    for name in list(api.used):
        unions = [f for f in api.structs[name].decls if isinstance(f.type.type, c_ast.Union)]
        for union in unions:
            print("class %s_%s(Union):  # noqa: F405" % (name, union.name))
            print("    _fields_ = [%s]\n" % ", ".join(
                '("%s", %s)' % (f.name, "c_void_p" if isinstance(f.type, c_ast.PtrDecl) and api.ctype(f.type) != "c_char_p"
                                else api.ctype(f.type)) for f in union.type.type.decls))
        print("class %s(Structure):  # noqa: F405" % name)
        print("    _fields_ = [\n%s    ]\n" % "".join('        ("%s", %s),\n' % f for f in api.fields(name)))
    print("# name: (library, result, arguments)\nFUNCTIONS = {")
    for name, room, result, args in rows:
        print('    "%s": ("%s", %s, [%s]),' % (name, room, result, ", ".join(args)))
    print("}\n\nCONSTANTS = {")
    ours = re.compile("|".join(sorted({r.upper() for r in api.rooms.values()})) + "|STDCL")
    for name, value in api.enums.items():
        if ours.match(name):
            print('    "%s": %d,' % (name, value))
    for name, value in constants(api.texts):
        print('    "%s": %s,' % (name, value))
    print("}\n\nDOCUMENTATION = {")
    for name, *_ in rows:
        print('    "%s": %r,' % (name, api.documentation(name)))
    print("}")


main()

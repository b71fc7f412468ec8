"""headers.py - the C interface as data, read from the public headers.

The preprocessor expands them, pycparser (package python3-pycparser) reads them, and the version maps say which functions
there are. What makes declarations of it is to_LANGUAGE.py beside this file.
SPDX-License-Identifier: MIT
"""
import functools
import glob
import os
import re
import subprocess

from pycparser import c_ast, c_generator, c_parser

# Types with names in every language, which are not resolved further.
PLAIN = {
    "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "unsigned int", "long",
    "unsigned long", "long int", "long unsigned int", "long long", "unsigned long long", "float", "double", "_Bool", "size_t",
    "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", "uintptr_t", "intptr_t",
}


@functools.lru_cache(None)
def parsed(source, cc):
    """Return the headers for pycparser, without preprocessor lines and GNU extensions."""
    headers = "".join(f"#include <stdcl/{os.path.basename(h)}>\n" for h in sorted(glob.glob(source + "/include/stdcl/*.h")))
    plain = ["-D__attribute__(x)=", "-D__extension__=", "-D__restrict=", "-D__inline=", "-D__asm__(x)=",
             "-D__builtin_va_list=int", "-D__signed__=signed", "-U__SSE__", "-U__SSE2__", "-U__MMX__", "-U__AVX__"]
    plain += [f"-D_Float{bits}=double" for bits in ("32", "64", "128", "32x", "64x")]
    text = subprocess.run([cc, "-E", "-P", "-std=c11", "-I" + source + "/include", *plain, "-"], check=True, text=True,
                          input="#include <stdcl.h>\n" + headers, stdout=subprocess.PIPE).stdout
    return c_parser.CParser().parse(text).ext


class Interface:
    """Types, structs, constants and functions of the headers."""

    def __init__(self, source, cc):
        self.types, self.structs, self.enums, self.choices, self.functions, self.used = {}, {}, {}, {}, {}, []
        for node in parsed(source, cc):
            if isinstance(node, (c_ast.FuncDef, c_ast.Pragma)):
                continue  # inline functions of macros; pragmas of system headers, in newer pycparsers
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

    def exported(self):
        """Yield (name, library, function) for all functions in the maps, except those with a va_list."""
        for name in sorted(self.rooms):
            function = self.functions.get(name)  # stdgpu and similar names are variables
            if function and not any(self.written(p).startswith("va_list") for p in self.parameters(function)):
                yield name, self.rooms[name], function

    def parameters(self, function):
        """Return the parameters with names and types: neither (void) nor `...`."""
        return [p for p in (function.args.params if function.args else [])
                if not isinstance(p, c_ast.EllipsisParam) and self.base(p.type) != "void"]

    @staticmethod
    def variadic(function):
        return bool(function.args) and isinstance(function.args.params[-1], c_ast.EllipsisParam)

    @staticmethod
    def written(node):
        """Return the type in C syntax."""
        return c_generator.CGenerator().visit(node.type)

    def constants(self):
        """Return our libraries' enumerators and integer #defines."""
        ours = {"stdcl"} | set(self.rooms.values()) | {name.split("_")[0] for name in self.rooms}
        found = {name: str(value) for name, value in self.enums.items() if name.split("_")[0].lower() in ours}
        for text in self.texts:
            for name, value in re.findall(r"^#define ((?:CL|STDCL)[A-Z0-9_]+) (0x[0-9A-Fa-f]+|[0-9]+)\b *(?:/\*.*)?$", text, re.M):
                if not name.startswith("CL_TARGET"):
                    found[name] = value
        return found

    def room_of(self, constant):
        """Return the library of a constant, by its first word or by the functions with that prefix."""
        word = constant.split("_")[0].lower()
        of_functions = [room for name, room in self.rooms.items() if name.split("_")[0] == word]
        return word if word in self.rooms.values() else of_functions[0] if of_functions else "stdcl"

    def note(self, node):
        """Record the structs and enums that a declaration defines."""
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
                if node.name and item.name != node.name.upper() + "S":  # a count of enumerators
                    self.choices.setdefault(node.name, {})[item.name.split("_", 1)[1].lower()] = value

    def base(self, node):
        """Return the type with typedefs resolved."""
        while isinstance(node, c_ast.TypeDecl):
            inner = node.type
            if isinstance(inner, c_ast.IdentifierType):
                name = " ".join(inner.names)
                if name in PLAIN or name not in self.types:
                    return name
                node = self.types[name]
            else:
                return inner
        return node

    def points_to(self, node, name):
        inner = self.base(node.type) if isinstance(node, c_ast.PtrDecl) else None
        return isinstance(inner, c_ast.Struct) and inner.name == name

    def documentation(self, name):
        """Return the comment above a function in its header, without stars."""
        for text in (text for text in self.texts if name + "(" in text):
            found = re.search(r"^/\*((?:(?!\*/).)*)\*/\n(?:(?!\n\n)(?!^/\*).)*?\b%s\(" % name, text, re.S | re.M)
            if found and not found.group(1).startswith(" ----"):
                return re.sub(r"\n \* ?", "\n", found.group(1)).strip()
        return ""

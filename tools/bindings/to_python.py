"""to_python.py - the interface for Python's ctypes. Pointers to numbers are addresses (c_void_p), pointers to our structs are
typed; docstrings are the headers' comments. Functions with a va_list are left out: each has a sibling with an array.
SPDX-License-Identifier: MIT
"""
import re

from pycparser import c_ast, c_generator

from headers import Interface

NUMBERS = {
    "char": "c_char", "signed char": "c_byte", "unsigned char": "c_ubyte", "short": "c_short",
    "unsigned short": "c_ushort", "int": "c_int", "unsigned": "c_uint", "unsigned int": "c_uint", "long": "c_long",
    "unsigned long": "c_ulong", "long int": "c_long", "long unsigned int": "c_ulong", "long long": "c_longlong",
    "unsigned long long": "c_ulonglong", "float": "c_float", "double": "c_double", "_Bool": "c_bool",
    "size_t": "c_size_t", "int8_t": "c_int8", "uint8_t": "c_uint8", "int16_t": "c_int16", "uint16_t": "c_uint16",
    "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64", "uintptr_t": "c_size_t",
    "intptr_t": "c_ssize_t",
}


class Python(Interface):
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
            length = eval(c_generator.CGenerator().visit(base.dim), {}, self.enums)
            return "%s * %d" % (self.ctype(base.type), length)
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
            for field in self.structs[name].decls:  # dependencies first
                if not self.points_to(field.type, name) and not isinstance(field.type.type, c_ast.Union):
                    self.ctype(field.type)
            self.used.append(name)
        return name

    def fields(self, name):
        for field in self.structs[name].decls:
            if self.points_to(field.type, name):
                yield field.name, "c_void_p"
            elif isinstance(field.type.type, c_ast.Union):
                yield field.name, name + "_" + field.name
            else:
                yield field.name, self.ctype(field.type)

    def arguments(self, function, callback=False):
        return [re.sub(r"^\w+ \* .*", "c_void_p", str(self.ctype(p.type, callback))) for p in self.parameters(function)]


def write(source, cc):
    api = Python(source, cc)
    version = re.search(r'#define STDCL_VERSION "([^"]+)"', api.texts[0]).group(1)
    print('"""The C interface of stdcl. Made by tools/bindings/generate.py from the headers: do not edit."""')
    print("# SPDX-License-" "Identifier: MIT")
    print("from ctypes import *  # noqa: F403\n\nVERSION = %r\n" % version)
    rows = [(name, room, api.ctype(function.type), api.arguments(function)) for name, room, function in api.exported()]
    for name in list(api.used):
        unions = [f for f in api.structs[name].decls if isinstance(f.type.type, c_ast.Union)]
        for union in unions:
            print("class %s_%s(Union):  # noqa: F405" % (name, union.name))
            print("    _fields_ = [%s]\n" % ", ".join(
                '("%s", %s)' % (f.name, "c_void_p" if isinstance(f.type, c_ast.PtrDecl) and api.ctype(f.type) != "c_char_p"
                                else api.ctype(f.type)) for f in union.type.type.decls))
        print("class %s(Structure):  # noqa: F405" % name)
        print("    _fields_ = [\n%s    ]\n" % "".join('        ("%s", %s),\n' % f for f in api.fields(name)))
    print("# name: (library, its result's type and the list of its arguments' types), which are looked at on first use\nFUNCTIONS = {")
    for name, room, result, args in rows:
        print('    "%s": ("%s", "%s, [%s]"),' % (name, room, result, ", ".join(args)))
    print("}\n\n# what words mean as options\nCHOICES = {")
    for name in sorted(n for n in api.used if n.endswith("_options")):
        bases = [(field.name, api.base(field.type)) for field in api.structs[name].decls]
        print('    "%s": %s,' % (name, {field: api.choices[base.name] for field, base in bases if isinstance(base, c_ast.Enum)}))
    print("}\n\nCONSTANTS = {")
    for name, value in api.constants().items():
        print('    "%s": %s,' % (name, value))
    print("}")


def write_documentation(source, cc):
    api = Python(source, cc)
    print('"""Comments of the headers on each function. Made by tools/bindings/generate.py from the headers: do not edit."""')
    print("# SPDX-License-" "Identifier: MIT\nDOCUMENTATION = {")
    for name, *_ in api.exported():
        print('    "%s": %r,' % (name, api.documentation(name)))
    print("}")

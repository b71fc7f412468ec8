"""to_lua.py - the interface for LuaJIT's ffi: a table of C declarations, the layer as `stdcl` and each engine by its name.

lua/opencl/C.lua declares OpenCL's own types. Enums are int, and constants `static const int`, which the ffi gives out like
functions: C.CL_MEM_HOST.
SPDX-License-Identifier: MIT
"""
import re

from pycparser import c_ast, c_generator

from headers import PLAIN, Interface


class Writer(c_generator.CGenerator):
    def visit_Enum(self, node):
        return "int"

    def visit_Struct(self, node):
        return "struct " + node.name if node.name else super().visit_Struct(node)

    def visit_IdentifierType(self, node):
        return "struct _IO_FILE" if node.names == ["FILE"] else super().visit_IdentifierType(node)


class Lua(Interface):
    def __init__(self, source, cc):
        super().__init__(source, cc)
        with open(source + "/lua/opencl/C.lua", encoding="utf-8") as file:
            text = file.read()
        self.known = PLAIN | {"void", "va_list", "FILE"} | set(re.findall(r"^typedef .*\b(cl_\w+);", text, re.M))
        self.known |= {"cl_" + name for name in re.findall(r'\{"(\w+)", "\w+", \d\}', text)}

    def needs(self, node, found):
        """Add the types that a declaration uses to `found`, dependencies first; return it."""
        if isinstance(node, c_ast.IdentifierType):
            name = " ".join(node.names)
            if name not in self.known and name not in found:
                self.needs(self.types[name], found)
                found[name] = "typedef %s;" % Writer().visit(c_ast.Decl(name, [], [], [], [], self.types[name], None, None))
        elif isinstance(node, c_ast.Struct) and node.name in self.structs and "struct " + node.name not in found:
            found["struct " + node.name] = None  # it may point to itself
            for field in self.structs[node.name].decls:
                self.needs(field, found)
            del found["struct " + node.name]
            fields = "".join("  %s;\n" % Writer().visit(field).replace("\n", "\n  ") for field in self.structs[node.name].decls)
            found["struct " + node.name] = "struct %s {\n%s};" % (node.name, fields)
        elif node is not None and not isinstance(node, c_ast.Enum):
            for _, child in node.children():
                self.needs(child, found)
        return found


def write(source, cc):
    api = Lua(source, cc)
    rooms = sorted(set(api.rooms.values()), key=lambda room: (room != "stdcl", room))
    needed, functions = {room: {} for room in rooms}, {room: [] for room in rooms}
    for name, room, function in api.exported():
        for param in api.parameters(function):
            if isinstance(param.type, c_ast.PtrDecl) and isinstance(param.type.type, c_ast.ArrayDecl):
                param.type.type.type.quals = []  # the ffi, as C, takes no double[n][3] for a const double (*)[3]
        api.needs(function, needed[room])
        functions[room].append(Writer().visit(c_ast.Decl(name, [], [], [], [], function, None, None)) + ";")
    for room in rooms[1:]:  # types used by several engines belong to the layer
        for name, text in needed[room].items():
            if sum(name in needed[other] for other in rooms) > 1:
                needed["stdcl"].setdefault(name, text)
    print("-- declarations.lua - the C interface of stdcl. Made by tools/bindings/generate.py from the headers: do not edit.")
    print("-- SPDX-License-" "Identifier: MIT\nreturn {")
    constants = api.constants()
    for room in rooms:
        print("\n%s = [[" % room)
        for name, value in constants.items():  # first, since they are lengths of arrays in structs
            if api.room_of(name) == room:
                print("static const int %s = %s;" % (name, value))
        for name, text in needed[room].items():
            if room == "stdcl" or name not in needed["stdcl"]:
                print(text)
        print("\n".join(functions[room]) + "\n]],")
    print("}")

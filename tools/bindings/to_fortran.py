"""to_fortran.py - the interface as a Fortran module, Fortran 2018 with iso_c_binding.

Structs are types with the members of C, all 0 at first. A pointer to a struct or to a number is a dummy argument by
reference, optional: absent is NULL. C does not tell whether a pointer points to one or many: structs are one and numbers
many, except for the names in ONE and MANY. Handles and memory are type(c_ptr). Functions with `...` are omitted, and so are those a
Fortran program writes itself; stdcl.f90.in has the hand-written part.
SPDX-License-Identifier: MIT
"""
import os
import sys

from pycparser import c_ast, c_generator

from headers import Interface

KINDS = {
    "char": "c_char", "signed char": "c_signed_char", "unsigned char": "c_signed_char", "short": "c_short",
    "unsigned short": "c_short", "int": "c_int", "unsigned": "c_int", "unsigned int": "c_int", "long": "c_long",
    "unsigned long": "c_long", "long long": "c_long_long", "float": "c_float", "double": "c_double", "_Bool": "c_bool",
    "size_t": "c_size_t", "int8_t": "c_int8_t", "uint8_t": "c_int8_t", "int16_t": "c_int16_t", "uint16_t": "c_int16_t",
    "int32_t": "c_int32_t", "uint32_t": "c_int32_t", "int64_t": "c_int64_t", "uint64_t": "c_int64_t",
    "uintptr_t": "c_intptr_t", "intptr_t": "c_intptr_t",
}
ONE = {  # pointers to a single number
    "arrays_dot.dot", "arrays_max.max", "arrays_mean.mean", "arrays_min.min", "arrays_partition.first", "arrays_partition.count",
    "arrays_sum_squares.squares", "arrays_sum.sum", "arrays_sum_integer.sum", "arrays_tune_kernels.count", "arrays_variance.mean",
    "arrays_variance.variance", "cltune_search.rate", "cltune_time.seconds", "gas_tune_kernels.count", "life_bounds_split.bounds",
    "life_bounds_split.height", "life_bounds_split.width", "life_population.population", "life_tune_kernels.count",
    "life_until_stable.generation", "life_until_stable.period", "matmul_tune_kernels.count", "nbody_time_forces.seconds",
    "nbody_tune_kernels.count",
}
MANY = {  # pointers to an array of structs
    "clforkv.args", "clexecv.args", "stdcl_forka.args", "clgetdevinfo.info", "clfreport_devinfo.info", "clprofile_rows.rows", "clopentv.values",
    "clopen_templatev.values", "cltemplatev.values", "life_trace.sample", "nbody_find_structure.shell",
}


def folded(text, indent):
    """Wrap a statement at 120 characters."""
    lines, line = [], indent
    for word in text.split(" "):
        if len(line) + len(word) > 116:
            lines.append(line + "&")
            line = indent + "  "
        line += word + " "
    return "\n".join(lines + [line.rstrip()])


class Fortran(Interface):
    seen = set()  # FUNCTION.ARGUMENT of all pointers

    def name_of(self, tag):
        """Return a struct's name, or its typedef's."""
        for name, node in self.types.items():
            if isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.Struct) and node.type.name == tag:
                return name if name not in self.rooms else tag
        return tag

    def is_ours(self, node):
        return isinstance(node, c_ast.Struct) and node.name in self.structs and not node.name.startswith("_")

    def need(self, name):
        if name not in self.used:
            for field in self.structs[name].decls:
                inner = field.type
                while isinstance(inner, c_ast.ArrayDecl):
                    inner = inner.type
                if self.is_ours(self.base(inner)):
                    self.need(self.base(inner).name)
            self.used.append(name)
        return "type(%s)" % self.name_of(name)

    def number(self, base):
        """Return the Fortran type of a number, an enum or one of our structs passed by value; else None."""
        if isinstance(base, c_ast.Enum):
            return "integer(c_int)"
        if self.is_ours(base):
            return self.need(base.name)
        kind = KINDS.get(base) if isinstance(base, str) else None
        if kind is None:
            return None
        family = {"c_char": "character(kind=%s)", "c_float": "real(%s)", "c_double": "real(%s)", "c_bool": "logical(%s)"}
        return family.get(kind, "integer(%s)") % kind

    def field(self, field):
        """Return (declaration, default value) of a member."""
        shape, node = [], field.type
        while isinstance(node, c_ast.ArrayDecl):
            shape.insert(0, c_generator.CGenerator().visit(node.dim))
            node = node.type
        base = self.base(node)
        if isinstance(base, c_ast.Union):
            kind, first = "integer(c_int64_t)", "0"  # members of our unions have 64 bits; set them with transfer()
        elif isinstance(base, c_ast.PtrDecl):
            called = isinstance(self.base(base.type), c_ast.FuncDecl)
            kind, first = ("type(c_funptr)", "c_null_funptr") if called else ("type(c_ptr)", "c_null_ptr")
        else:
            kind = self.number(base)
            first = {"t": None, "c": "c_null_char", "l": ".false."}.get(kind[0], "0")
        shaped = field.name + ("(%s)" % ", ".join(shape) if shape else "")
        return "%s :: %s%s" % (kind, shaped, "" if first is None else " = " + first)

    def dummy(self, function, p):
        if isinstance(getattr(p.type, "type", None), c_ast.IdentifierType) and p.type.type.names == ["cl_event"]:
            return "integer(c_intptr_t), value :: " + p.name
        base = self.base(p.type)
        if not isinstance(base, (c_ast.PtrDecl, c_ast.ArrayDecl)):
            return "%s, value :: %s" % (self.number(base), p.name)
        inner, constant = base.type, "const" in getattr(base.type, "quals", [])
        target, shape = self.base(inner), ""
        if isinstance(target, c_ast.FuncDecl):
            return "type(c_funptr), value :: " + p.name
        if isinstance(target, c_ast.ArrayDecl):  # double (*pos)[3]
            constant = "const" in target.type.quals
            shape, target = c_generator.CGenerator().visit(target.dim) + ", ", self.base(target.type)
        kind = "type(c_ptr)" if isinstance(target, c_ast.PtrDecl) else self.number(target)
        if kind is None:
            return "type(c_ptr), value :: " + p.name
        name = function + "." + p.name
        self.seen.add(name)
        one = name not in MANY if self.is_ours(target) else name in ONE
        return "%s%s, optional :: %s%s" % (kind, ", intent(in)" if constant else "", p.name, "" if one else "(%s*)" % shape)

    def result(self, node):
        if isinstance(getattr(node, "type", None), c_ast.IdentifierType) and node.type.names == ["cl_event"]:
            return "integer(c_intptr_t)"
        base = self.base(node)
        if isinstance(base, c_ast.PtrDecl):
            return "type(c_ptr)"
        return None if base == "void" else self.number(base)

    def interface(self, name, function):
        params = self.parameters(function)
        result = self.result(function.type)
        called = "%s(%s) bind(C)" % (name, ", ".join(p.name for p in params))
        lines = [folded(("function " if result else "subroutine ") + called, "    "), "      import"]
        if result:
            lines.append("      %s :: %s" % (result, name))
        lines += ["      " + self.dummy(name, p) for p in params]
        return lines + ["    end " + ("function" if result else "subroutine")]


def constants(api):
    """Rename constants that equal a function up to case, such as MATMUL_DOUBLE and matmul_double: append _TYPE."""
    for name, value in api.constants().items():
        number = "int(z'%s', c_int)" % value[2:] if value.startswith("0x") else value
        yield name + ("_TYPE" if name.lower() in api.rooms else ""), number


def write(source, cc):
    api = Fortran(source, cc)
    functions = [(n, api.interface(n, f)) for n, _, f in api.exported() if not api.variadic(f)]
    names = [n.lower() for n, _ in constants(api)] + [n for n, _ in functions] + [api.name_of(n).lower() for n in api.used]
    twice = {n for n in names if names.count(n) > 1}
    if (ONE | MANY) - api.seen:
        sys.exit("to_fortran.py: there are no such arguments: " + ", ".join(sorted((ONE | MANY) - api.seen)))
    if twice:
        sys.exit("to_fortran.py: names that Fortran cannot tell apart: " + ", ".join(sorted(twice)))
    with open(os.path.join(os.path.dirname(__file__), "stdcl.f90.in"), encoding="utf-8") as text:
        head, tail = text.read().split("@DECLARATIONS@\n")
    print(head, end="")
    for name, value in constants(api):
        print("  integer(c_int), parameter :: %s = %s" % (name, value))
    for name in api.used:
        fields = [api.field(f) for f in api.structs[name].decls]
        print("\n  type, bind(C) :: %s\n%s\n  end type" % (api.name_of(name), "\n".join("    " + f for f in fields)))
    print("\n  interface")
    for _, lines in functions:
        print("\n".join(lines))
    print("  end interface\n" + tail, end="")


def write_layout(source, cc):
    """Generate a program that prints a line STRUCT MEMBER OFFSET for each member, and the struct's size as member -."""
    api = Fortran(source, cc)
    for name, _, function in api.exported():
        api.interface(name, function)
    print("program layout\n  use, intrinsic :: iso_c_binding\n  use stdcl\n  implicit none")
    for i, name in enumerate(api.used):
        print("  type(%s), target :: v%d" % (api.name_of(name), i))
    for i, name in enumerate(api.used):
        print("  print '(a, 1x, i0)', '%s -', c_sizeof(v%d)" % (name, i))
        for field in api.structs[name].decls:
            first = "(1)" if isinstance(field.type, c_ast.ArrayDecl) else ""
            print("  print '(a, 1x, i0)', '%s %s', at(c_loc(v%d%%%s%s)) - at(c_loc(v%d))" % (name, field.name, i, field.name, first, i))
    print("contains\n  integer(c_intptr_t) function at(p)\n    type(c_ptr), intent(in) :: p\n    at = transfer(p, at)\n"
          "  end function\nend program")

"""Patterns of Life as values, and their identification; cells may be anywhere on an unbounded plane.

    glider = stdcl.Pattern("bo$2bo$3o!")
    both = glider | glider.shift(10, 0).turn("rotate_90")
    both.step(100).count(glider)
    stdcl.identify(glider).kind

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, field
from typing import Any, Iterator

import numpy as np
import numpy.typing as npt

from . import _declarations as c
from ._library import Owner, check, error, letters, lib, whole
from .arrays import unmasked
from .engines import Engine

_RULE = re.compile(r"^x[ \t]*=.*?,[ \t]*rule[ \t]*=[ \t]*(\S+)", re.MULTILINE)  # in the header of RLE
_APGCODE = re.compile(r"\s*x([spq])([0-9]+)_([0-9a-z]+)\s*\Z")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_TURNS = ("rotate_0", "rotate_90", "rotate_180", "rotate_270", "flip_x", "flip_y", "transpose", "antitranspose")


class _Plane(Engine):
    """An unbounded plane of the engine hashlife, with the cells of a pattern; without a rule it has the pattern's, else B3/S23."""

    _name = "life"

    def __init__(self, pattern: Pattern, rule: str | None) -> None:
        self.rule = pattern.rule or "B3/S23" if rule is None else rule
        if isinstance(self.rule, str) and ":" in self.rule:
            raise ValueError("the rule %r has a bounded grid, but patterns live on an unbounded plane; give rule= without a grid" % self.rule)
        self._make(None, (), bounds="unbounded", engine="hashlife", rule=self.rule)
        self._call(lib.life_put_list, pattern._use())


def _apgcode_cells(code: re.Match[str]) -> list[tuple[int, int]]:
    """The cells of an apgcode: strips of five rows, a character for each column (conwaylife.com/wiki/Apgcode)."""
    x, y, cells, signs = 0, 0, [], iter(code[3])
    for sign in signs:
        if sign == "z":
            x, y = 0, y + 5
        elif sign == "y":
            more = next(signs, "")
            if not more:
                raise ValueError("%r: after y there should be one of 0 to 9 and a to z" % code[0])
            x += 4 + _DIGITS.index(more)
        elif sign in "wx":
            x += 2 if sign == "w" else 3
        else:
            cells += [(x, y + i) for i in range(5) if _DIGITS.index(sign) >> i & 1]
            x += 1
    if code[1] == "s" and int(code[2]) != len(cells):
        raise ValueError("%r stands for a still life of %s cells, but the code has %d" % (code[0], code[2], len(cells)))
    return cells


class Pattern(Owner):
    """A set of live cells, from RLE text, an apgcode or (x, y) pairs; it never changes. x counts columns to the right, y rows downwards.

    a & b, a | b, a ^ b and a - b are sets; len() is the population; iteration gives the cells row by row. `rule` is the rule of
    the RLE header or of the last step, or None; a set operation takes the rule of the first pattern that has one.
    """

    _closed = "the pattern is closed"
    rule: str | None = None

    def __init__(self, cells: Any = ()) -> None:
        code = _APGCODE.match(cells) if isinstance(cells, str) else None
        if code:
            cells = _apgcode_cells(code)
        elif isinstance(cells, str):
            self._handle = check(lib.life_list_read_rle(letters(cells, "cells")))
            header = _RULE.search(cells)
            self.rule = header[1] if header else None
            return
        values = np.asarray(unmasked(cells) if hasattr(cells, "__array__") else list(cells))
        if values.size and (values.ndim != 2 or values.shape[1] != 2 or values.dtype.kind not in "iu"):
            raise TypeError("cells must be RLE text or pairs (x, y) of whole numbers, not %r" % (cells,))
        if values.size and values.dtype.kind == "u" and values.max() >= 2**63:
            raise OverflowError("cells must be within 2**62 columns and rows of (0, 0), not at %d" % values.max())
        pairs = np.ascontiguousarray(values, np.int64)
        self._handle = check(lib.life_list_create(pairs.ctypes.data_as(ctypes.POINTER(c.life_cell)), pairs.size // 2))

    @staticmethod
    def _of(handle: Any, rule: str | None) -> Pattern:
        pattern = Pattern.__new__(Pattern)
        pattern._handle = check(handle)
        pattern.rule = rule
        return pattern

    def _free(self, handle: int) -> None:
        lib.life_list_free(handle)

    def _combined(self, other: object, operation: str) -> Pattern:
        if not isinstance(other, Pattern):
            raise TypeError("a pattern is combined with another pattern, not with %r" % (other,))
        return self._of(lib.life_list_combine(self._use(), other._use(), c.CONSTANTS[operation]), self.rule or other.rule)

    def __and__(self, other: object) -> Pattern:
        return self._combined(other, "LIFE_AND")

    def __or__(self, other: object) -> Pattern:
        return self._combined(other, "LIFE_OR")

    def __xor__(self, other: object) -> Pattern:
        return self._combined(other, "LIFE_XOR")

    def __sub__(self, other: object) -> Pattern:
        return self._combined(other, "LIFE_DIFFERENCE")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and bool(check(lib.life_list_equal(self._use(), other._use())))

    def __hash__(self) -> int:
        return hash(self.cells.tobytes())

    def __len__(self) -> int:
        return int(lib.life_list_count(self._use()))

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((int(x), int(y)) for x, y in self.cells)

    def __repr__(self) -> str:
        return "<Pattern of %d cells>" % len(self)

    @property
    def cells(self) -> npt.NDArray[np.int64]:
        """The cells as an array (n, 2) of x and y."""
        n = len(self)
        if not n:
            return np.empty((0, 2), np.int64)
        at = ctypes.cast(lib.life_list_cells(self._use()), ctypes.POINTER(ctypes.c_int64))
        return np.ctypeslib.as_array(at, (n, 2)).copy()

    @property
    def box(self) -> tuple[int, int, int, int] | None:
        """The bounding box: x, y, width and height; None for no cells."""
        corner, sides = c.life_cell(), (ctypes.c_uint64 * 2)()
        if not check(lib.life_list_box(self._use(), ctypes.byref(corner), ctypes.byref(sides), ctypes.byref(sides, 8))):
            return None
        return corner.x, corner.y, sides[0], sides[1]

    def shift(self, dx: int, dy: int) -> Pattern:
        """Move by dx columns and dy rows."""
        return self._of(lib.life_list_shift(self._use(), _signed(dx, "dx"), _signed(dy, "dy")), self.rule)

    def turn(self, how: str) -> Pattern:
        """Rotate or reflect about cell (0, 0): rotate_90 (anticlockwise), rotate_180, rotate_270, flip_x, flip_y, transpose, antitranspose."""
        if how not in _TURNS:
            raise ValueError("how must be one of %s, not %r" % (", ".join(_TURNS), how))
        return self._of(lib.life_list_turn(self._use(), _TURNS.index(how)), self.rule)

    def clip(self, x: int, y: int, width: int, height: int) -> Pattern:
        """Return the cells inside a rectangle."""
        sides = whole(width, "width"), whole(height, "height")
        return self._of(lib.life_list_clip(self._use(), _signed(x, "x"), _signed(y, "y"), *sides), self.rule)

    def halo(self) -> Pattern:
        """Return the dead cells that have a live one among their eight neighbours."""
        return self._of(lib.life_list_halo(self._use()), self.rule)

    def match(self, live: Pattern, dead: Pattern | None = None) -> Pattern:
        """Return each shift (x, y) that moves all cells of `live` onto live cells and all of `dead` onto dead cells."""
        return self._of(lib.life_list_match(self._use(), live._use(), dead._use() if dead else None), None)

    def count(self, pattern: Pattern) -> int:
        """Count copies of a pattern, in this orientation, with dead cells around."""
        return len(self.match(pattern, pattern.halo()))

    def rle(self, rule: str | None = None) -> str:
        """Return run-length encoded text with the position and a rule (default: the pattern's, else B3/S23)."""
        handle, name = self._use(), letters(self.rule or "B3/S23" if rule is None else rule, "rule")
        size = int(lib.life_list_rle(handle, name, None, 0)) + 1
        text = ctypes.create_string_buffer(size)
        lib.life_list_rle(handle, name, text, size)
        return text.value.decode()

    def step(self, generations: int = 1, rule: str | None = None) -> Pattern:
        """Return the pattern after some generations of a rule of two states (default: the pattern's, else B3/S23) on an unbounded plane."""
        with _Plane(self, rule) as plane:
            if lib.life_states(plane._use()) > 2:
                raise ValueError("a pattern has cells of two states; the rule %r has %d: use stdcl.Life" % (plane.rule, lib.life_states(plane._use())))
            plane._call(lib.life_step, whole(generations, "generations"))
            return self._of(plane._call(lib.life_get_list), plane.rule)


def _signed(value: Any, what: str) -> int:
    number = int(np.int64(value)) if isinstance(value, (int, np.integer)) and abs(int(value)) < 2**63 else None
    if number is None:
        raise TypeError("%s must be a whole number below 2**63, not %r" % (what, value))
    return number


@dataclass(frozen=True)
class Object:
    """A separate object of a settled pattern: apgcode, period, displacement in a period, and count."""

    code: str
    period: int
    dx: int
    dy: int
    count: int


@dataclass(frozen=True)
class Identity:
    """The kind of a pattern as a word, such as "oscillator", and the other members of struct life_identity."""

    kind: str
    generation: int
    period: int
    dx: int
    dy: int
    growth: int
    least: int
    most: int
    mean: float
    heat: float
    symmetry: str
    code: str | None
    objects: list[Object] = field(default_factory=list)


def identify(pattern: Pattern | str, *, rule: str | None = None, limit: int = 0) -> Identity:
    """Say what a pattern is after at most `limit` generations (0: 100,000): still life, oscillator, spaceship, gun and so on.

    The default rule is the pattern's, else B3/S23.
    """
    given = Pattern(pattern) if isinstance(pattern, str) else pattern
    with _Plane(given, rule) as plane:
        found = plane._call(lib.life_identify, whole(limit, "limit"))
        if not found:
            raise error()
        try:
            return _identity(found.contents)
        finally:
            lib.life_identity_free(found)


def _identity(found: Any) -> Identity:
    objects = [Object(o.code.decode(), o.period, o.dx, o.dy, o.count) for o in found.object[:found.objects]]
    return Identity(lib.life_kind_name(found.kind).decode(), found.generation, found.period, found.dx, found.dy, found.growth, found.least,
                    found.most, found.mean, found.heat, found.symmetry.decode(), found.code.decode() if found.code else None, objects)


__all__ = ["Identity", "Object", "Pattern", "identify"]

"""Patterns of Life as values, and their identification; cells may be anywhere on an unbounded plane.

    glider = stdcl.Pattern("bo$2bo$3o!")
    both = glider | glider.shift(10, 0).turn("rotate_90")
    both.step(100).count(glider)
    stdcl.identify(glider).kind

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any, Iterator

import numpy as np
import numpy.typing as npt

from . import _declarations as c
from ._library import Owner, check, error, letters, lib, whole
from .engines import Engine

_TURNS = ("rotate_0", "rotate_90", "rotate_180", "rotate_270", "flip_x", "flip_y", "transpose", "antitranspose")


class _Plane(Engine):
    """An unbounded plane of the engine hashlife, with the cells of a pattern."""

    _name = "life"

    def __init__(self, pattern: Pattern, rule: str) -> None:
        self._make(None, (), bounds="unbounded", engine="hashlife", rule=rule)
        self._call(lib.life_put_list, pattern._use())


class Pattern(Owner):
    """A set of live cells, from RLE text or (x, y) pairs; it never changes. x counts columns to the right, y rows downwards.

    a & b, a | b, a ^ b and a - b are sets; len() is the population; iteration gives the cells row by row.
    """

    _closed = "the pattern is closed"

    def __init__(self, cells: Any = ()) -> None:
        if isinstance(cells, str):
            self._handle = check(lib.life_list_read_rle(letters(cells, "cells")))
            return
        values = np.asarray(cells if hasattr(cells, "__array__") else list(cells))
        if values.size and (values.ndim != 2 or values.shape[1] != 2 or values.dtype.kind not in "iu"):
            raise TypeError("cells must be RLE text or pairs (x, y) of whole numbers, not %r" % (cells,))
        if values.size and values.dtype.kind == "u" and values.max() >= 2**63:
            raise OverflowError("cells must be within 2**62 columns and rows of (0, 0), not at %d" % values.max())
        pairs = np.ascontiguousarray(values, np.int64)
        self._handle = check(lib.life_list_create(pairs.ctypes.data_as(ctypes.POINTER(c.life_cell)), pairs.size // 2))

    @staticmethod
    def _of(handle: Any) -> Pattern:
        pattern = Pattern.__new__(Pattern)
        pattern._handle = check(handle)
        return pattern

    def _free(self, handle: int) -> None:
        lib.life_list_free(handle)

    def _combined(self, other: object, operation: str) -> Pattern:
        if not isinstance(other, Pattern):
            raise TypeError("a pattern is combined with another pattern, not with %r" % (other,))
        return self._of(lib.life_list_combine(self._use(), other._use(), c.CONSTANTS[operation]))

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
        return self._of(lib.life_list_shift(self._use(), _signed(dx, "dx"), _signed(dy, "dy")))

    def turn(self, how: str) -> Pattern:
        """Rotate or reflect about cell (0, 0): rotate_90 (anticlockwise), rotate_180, rotate_270, flip_x, flip_y, transpose, antitranspose."""
        if how not in _TURNS:
            raise ValueError("how must be one of %s, not %r" % (", ".join(_TURNS), how))
        return self._of(lib.life_list_turn(self._use(), _TURNS.index(how)))

    def clip(self, x: int, y: int, width: int, height: int) -> Pattern:
        """Return the cells inside a rectangle."""
        return self._of(lib.life_list_clip(self._use(), _signed(x, "x"), _signed(y, "y"), whole(width, "width"), whole(height, "height")))

    def halo(self) -> Pattern:
        """Return the dead cells that have a live one among their eight neighbours."""
        return self._of(lib.life_list_halo(self._use()))

    def match(self, live: Pattern, dead: Pattern | None = None) -> Pattern:
        """Return each shift (x, y) that moves all cells of `live` onto live cells and all of `dead` onto dead cells."""
        return self._of(lib.life_list_match(self._use(), live._use(), dead._use() if dead else None))

    def count(self, pattern: Pattern) -> int:
        """Count copies of a pattern, in this orientation, with dead cells around."""
        return len(self.match(pattern, pattern.halo()))

    def rle(self, rule: str = "B3/S23") -> str:
        """Return run-length encoded text with the position."""
        handle, name = self._use(), letters(rule, "rule")
        size = int(lib.life_list_rle(handle, name, None, 0)) + 1
        text = ctypes.create_string_buffer(size)
        lib.life_list_rle(handle, name, text, size)
        return text.value.decode()

    def step(self, generations: int = 1, rule: str = "B3/S23") -> Pattern:
        """Return the pattern after some generations of a rule of two states on an unbounded plane."""
        with _Plane(self, rule) as plane:
            if lib.life_states(plane._use()) > 2:
                raise ValueError("a pattern has cells of two states; the rule %r has %d: use stdcl.Life" % (rule, lib.life_states(plane._use())))
            plane._call(lib.life_step, whole(generations, "generations"))
            return self._of(plane._call(lib.life_get_list))


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


def identify(pattern: Pattern | str, *, rule: str = "B3/S23", limit: int = 0) -> Identity:
    """Say what a pattern is after at most `limit` generations (0: 100,000): still life, oscillator, spaceship, gun and so on."""
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

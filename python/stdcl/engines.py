"""The programs as classes Life, Gas and Matmul, and the function matmul, with numpy arrays; gravity: bodies.py.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import ctypes
import signal
import threading
from typing import TYPE_CHECKING, Any, Callable

import numpy as np
import numpy.typing as npt

from . import _declarations as c
from ._library import Owner, check, html_table, letters, lib, nonzero, png_file, whole
from .arrays import Array, allocate, allocate_flagged, allocate_image, unmasked  # noqa: F401

if TYPE_CHECKING:
    from . import Context

Floats = npt.NDArray[np.float64]


class Engine(Owner):
    """Keeps the C object, its options and the context alive; Ctrl-C cancels a call between batches."""

    _closed, _name = "the engine is closed", ""

    def _make(self, context: Context | None, args: tuple[Any, ...], **options: Any) -> None:
        """Call NAME_create with these members of struct NAME_options; enumerators are given by name."""
        from . import Context as Wanted  # circular import
        if context is not None and not isinstance(context, Wanted):
            raise TypeError("context must be a stdcl.Context, not %r" % (context,))
        self._context, self._options = context, getattr(c, self._name + "_options")()
        texts = [name for name, kind in self._options._fields_ if kind is ctypes.c_char_p]
        self._interrupt: BaseException | None = None
        choices: Any = c.CHOICES[self._name + "_options"]
        for name, value in options.items():
            if name in choices and str(value).lower() not in choices[name]:
                raise ValueError("%s must be one of %s, not %r" % (name, ", ".join(choices[name]), value))
            value = choices[name][value.lower()] if name in choices else letters(value, name) if name in texts and value is not None else value
            try:
                setattr(self._options, name, value)
                if isinstance(value, int) and getattr(self._options, name) != value:
                    raise TypeError  # does not fit
            except TypeError:
                raise TypeError("%s cannot be %r" % (name, options[name])) from None
        self._options.ctx = context._use() if context else None
        self._options.progress = self._guarded(type(self._options.progress))
        self._handle = check(getattr(lib, self._name + "_create")(ctypes.byref(self._options), *args))
        if context:
            context._held += 1

    def _guarded(self, function: Callable[..., Any]) -> Any:
        """Return the library's progress callback, which cancels the call after an interrupt."""
        return function(lambda _arg, _done: 1 if self._interrupt else 0)

    def _call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function; an exception raised by the SIGINT handler cancels the call and is raised after it."""
        handle, self._interrupt = self._use(), None
        old: Any = signal.getsignal(signal.SIGINT)

        def note(number: int, frame: Any) -> None:
            try:
                old(number, frame)
            except BaseException as interrupt:  # noqa: BLE001
                self._interrupt = interrupt
        catches = callable(old) and threading.current_thread() is threading.main_thread()
        if catches:
            signal.signal(signal.SIGINT, note)
        try:
            result = function(handle, *args)
        finally:
            if catches:
                signal.signal(signal.SIGINT, old)
        if self._interrupt:
            raise self._interrupt
        return check(result)

    def _free(self, handle: int) -> None:
        getattr(lib, self._name + "_free")(handle)
        if self._context:
            self._context._held -= 1


class Life(Engine):
    """Conway's Life and related rules. `cells` is a (height, width) array of booleans.

    life = stdcl.Life(1024, 1024, rule="B36/S23"); life.soup(seed=1); life.step(1000); life.population
    """

    _name = "life"

    def __init__(self, width: int, height: int, *, rule: str = "B3/S23", bounds: str = "torus", engine: str = "packed",
                 context: Context | None = None) -> None:
        self.width, self.height = width, height
        self._make(context, (), width=width, height=height, rule=rule, bounds=bounds, engine=engine)

    def step(self, generations: int = 1) -> None:
        """Advance by `generations` generations."""
        self._call(lib.life_step, whole(generations, "generations"))

    def soup(self, density: float = 0.5, seed: int = 1) -> None:
        """Fill the grid at random with a fraction of live cells, above 0 and at most 1, and reset the generation to 0."""
        nonzero(density, "density")
        self._call(lib.life_soup, density, whole(seed, "seed"))

    @property
    def generation(self) -> int:
        return int(lib.life_generation(self._use()))

    @property
    def population(self) -> int:
        count = ctypes.c_uint64()
        self._call(lib.life_population, ctypes.byref(count))
        return count.value

    @property
    def cells(self) -> npt.NDArray[np.bool_]:
        words = np.zeros((self.height, (self.width + 63) // 64), np.uint64)
        self._call(lib.life_get, 0, 0, self._rectangle(words, self.width, self.height))
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        return bits[:, :self.width].astype(bool)

    @cells.setter
    def cells(self, cells: npt.ArrayLike) -> None:
        self.put(cells, 0, 0)

    def put(self, cells: npt.ArrayLike, x: int = 0, y: int = 0) -> None:
        """Copy a rectangle of booleans into the grid, its top left corner at column x of row y."""
        values = np.asarray(unmasked(cells))
        if values.dtype.kind not in "biuf":
            raise TypeError("cells must be booleans or numbers, not %r" % (cells,))
        given = np.atleast_2d(values.astype(bool))
        if given.ndim != 2:
            raise ValueError("cells have %d dimensions, not two" % given.ndim)
        height, width = given.shape
        padded = np.zeros((height, (width + 63) // 64 * 64), bool)
        padded[:, :width] = given
        words = np.ascontiguousarray(np.packbits(padded, axis=1, bitorder="little"))
        self._call(lib.life_put, whole(x, "x"), whole(y, "y"), self._rectangle(words.view(np.uint64), width, height))

    @staticmethod
    def _rectangle(words: npt.NDArray[np.uint64], width: int, height: int) -> Any:
        cells = c.life_cells(width=width, height=height, stride=words.shape[1], word=words.ctypes.data)
        cells.kept = words
        return cells

    def _repr_png_(self) -> bytes:
        return png_file((row.tobytes() for row in np.packbits(~self.cells, axis=1)), self.width, self.height)


class Gas(Engine):
    """A gas of n molecules in equilibrium. gas = stdcl.Gas(10**9); gas.measure().mean_energy"""

    _name = "gas"

    def __init__(self, n: int, *, temperature: float = 1.0, mass: float = 1.0, boltzmann: float = 1.0, seed: int = 0,
                 storage: str = "fused", context: Context | None = None) -> None:
        self.n = whole(n, "n")
        for value, name in ((temperature, "temperature"), (mass, "mass"), (boltzmann, "boltzmann")):
            nonzero(value, name)
        self._make(context, (), n=self.n, temperature=temperature, mass=mass, boltzmann=boltzmann, seed=seed, storage=storage)

    def measure(self) -> Any:
        """Return the energy, with the names of struct gas_energy."""
        energy = c.gas_energy()
        self._call(lib.gas_measure, energy)
        return energy

    def _repr_html_(self) -> str:
        e = self.measure()
        return html_table([("molecules", self.n), *((name, "%.10g" % getattr(e, name)) for name in ("mean_energy", "expected", "sigmas"))])

    def velocities(self, first: int = 0, count: int | None = None) -> Floats:
        """Return velocities of molecules, (count, 3)."""
        first = whole(first, "first")
        count = whole(self.n - first if count is None else count, "count")
        velocity = np.empty((count, 3))
        self._call(lib.gas_velocities, first, count, velocity.ctypes.data)
        return velocity


class Matmul(Engine):
    """Products of matrices of one precision, on all devices of a context. Matmul("double").multiply(a, b)"""

    _name = "matmul"

    def __init__(self, precision: str = "single", *, kind: str = "tuned", context: Context | None = None) -> None:
        self._make(context, (), precision=precision, kind=kind)
        self.dtype = np.dtype(np.float64 if precision.lower() == "double" else np.float32)

    def multiply(self, a: npt.ArrayLike, b: npt.ArrayLike, *, alpha: float = 1.0, beta: float = 0.0,
                 c: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Return alpha a b + beta c."""
        a, b = np.asarray(unmasked(a)), np.asarray(unmasked(b))
        if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0]:
            raise ValueError("matrices of shapes %s and %s cannot be multiplied" % (a.shape, b.shape))
        if a.dtype != self.dtype or b.dtype != self.dtype:
            raise TypeError("matrices of %s and %s; both must be %s" % (a.dtype, b.dtype, self.dtype))
        (m, k), n = a.shape, b.shape[1]
        result = np.zeros((m, n), self.dtype) if c is None else np.array(unmasked(c), dtype=self.dtype, order="C")
        if result.shape != (m, n):
            raise ValueError("c has the shape %s, not (%d, %d)" % (result.shape, m, n))
        a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
        if m and n:
            self._call(lib.matmul_multiply, 0, m, n, k, alpha, a.ctypes.data, k, b.ctypes.data, n, 0.0 if c is None else beta,
                       result.ctypes.data, n)
        return result


def matmul(a: npt.ArrayLike, b: npt.ArrayLike, *, alpha: float = 1.0, beta: float = 0.0,
           c: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
    """Return alpha a b + beta c for matrices of float32 or float64, on the GPUs, or the CPU if there is none."""
    a, b = np.asarray(unmasked(a)), np.asarray(unmasked(b))
    if a.dtype != b.dtype or a.dtype not in (np.float32, np.float64):
        raise TypeError("matrices of %s and %s; both must be float32 or both float64" % (a.dtype, b.dtype))
    with Matmul("single" if a.dtype == np.float32 else "double") as engine:
        return engine.multiply(a, b, alpha=alpha, beta=beta, c=c)

"""OpenCL in the style of UNIX: numpy arrays that devices share, kernels as functions, and four programs.

    import stdcl, numpy as np
    ctx = stdcl.gpu() or stdcl.cpu()
    x = ctx.array(np.ones(1000, np.float32))
    ctx.source("__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }").twice(x.size, x).wait()

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import contextlib
import ctypes
import operator
import os
import weakref
from typing import TYPE_CHECKING, Any, Iterator, List, Sequence, Union

from . import _declarations as c
from ._library import Error, check, html_table, lib

if TYPE_CHECKING:
    import numpy.typing as npt

    from .arrays import Array
    from .engines import Gas, Life, Nbody, initial, matmul

__version__ = c.VERSION
__all__ = ["Array", "Context", "Error", "Event", "Gas", "Kernel", "Life", "Nbody", "Program", "cpu", "devices", "documentation", "gpu",
           "initial", "local", "matmul", "open"]

Sizes = Union[int, Sequence[int]]  # of an index space or an array: one number, or one for each dimension

_HOST, _DEVICE, _ALL = (c.CONSTANTS[k] for k in ("CL_MEM_HOST", "CL_MEM_DEVICE", "CL_ALL_EVENT"))
_NOWAIT = c.CONSTANTS["CL_EVENT_NOWAIT"] | c.CONSTANTS["CL_EVENT_CHECKED"]  # a call that fails raises by itself


def _sizes(value: Any, what: str) -> tuple[int, ...]:
    """A number or several, as a tuple."""
    try:
        sizes = tuple(map(operator.index, value if hasattr(value, "__iter__") else (value,)))
    except TypeError:
        sizes = (-1,)
    if any(size < 0 for size in sizes):
        raise TypeError("%s is a whole number or several, none below 0, and not %r" % (what, value))
    return sizes


def _numpy() -> Any:
    try:
        import numpy
    except ImportError:
        raise Error("arrays of stdcl are numpy's: install numpy (python3-numpy)") from None
    return numpy


# ---- Contexts: lists of devices. -------------------------------------------------------------------


class Context:
    """A list of devices. Made by gpu(), cpu(), devices() or open(); standard contexts are never closed."""

    def __init__(self, handle: int, owned: bool) -> None:
        self._handle: int | None = handle
        self._owned, self._held = owned, 0  # arrays and engines that are alive

    def __len__(self) -> int:
        return int(lib.clgetndev(self._use()))

    def _use(self) -> int:
        if self._handle is None:
            raise Error("the context is closed; make another with stdcl.open()")
        return self._handle

    @property
    def names(self) -> list[str]:
        """The devices' names."""
        info = (c.cldev_info * len(self))()
        check(lib.clgetdevinfo(self._use(), info))
        return [one.dev_name.decode(errors="replace") for one in info]

    def close(self) -> None:
        """Ends the context. An Error while arrays or engines of it are alive; a standard context stays as it is."""
        if self._held and self._owned:
            raise Error("the context has %d array%s or engine%s alive; delete or close %s first" % (
                self._held, *(("s", "s", "them") if self._held > 1 else ("", "", "it"))))
        if self._handle is not None and self._owned:
            check(lib.clcontext_destroy(self._handle))
            self._handle = None

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    # -- Memory.

    def empty(self, shape: Sizes, dtype: npt.DTypeLike = "float32") -> Array:
        """An array of zeros that the host and the devices share; freed with its last view."""
        np = _numpy()
        kind: Any = np.dtype(dtype)
        if kind.hasobject:
            raise TypeError("an array of Python objects cannot be shared with a device; give a dtype of numbers")
        shape = _sizes(shape, "a shape")
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        address = check(lib.clmalloc(self._use(), max(size, 1), 0))
        buffer: Any = (ctypes.c_char * max(size, 1)).from_address(address)
        weakref.finalize(buffer, _free, address, self).atexit = False
        self._held += 1
        buffer.context = self  # which lives as long as the memory
        array: Any = np.frombuffer(buffer, dtype=kind, count=size // kind.itemsize if kind.itemsize else 0)
        return array.reshape(shape).view(_arrays().Array)  # type: ignore[no-any-return]

    zeros = empty

    def array(self, values: npt.ArrayLike, dtype: npt.DTypeLike = None) -> Array:
        """A copy of `values` that the devices share."""
        np = _numpy()
        given = np.asarray(values, dtype=dtype)
        array = self.empty(given.shape, given.dtype)
        array[...] = given
        return array

    # -- Programs.

    def source(self, text: str, options: str | None = None) -> Program:
        """Builds kernels from OpenCL C. The Error of one that does not build has the compiler's log."""
        return self._program(lib.clopen_named(self._use(), b"<source>", text.encode(), len(text.encode()),
                                              options and options.encode(), 0))

    def file(self, path: str | os.PathLike[str]) -> Program:
        """Builds kernels from a file, OpenCL C or a binary of clsave."""
        return self._program(lib.clopen(self._use(), os.fsencode(path), 0))

    def template(self, text: str, **values: bool | int | float | str) -> Program:
        """Builds kernels from a template, with numbers, truths and strings as its values."""
        items = (c.clvalue * (len(values) + 1))()
        for item, (name, value) in zip(items, values.items()):
            item.name = name.encode()
            _set_value(item, value)
        items[len(values)].kind = c.CONSTANTS["STDCL_V_END"]
        return self._program(lib.clopen_templatev(self._use(), b"<template>", text.encode(), len(text.encode()), None, 0,
                                                  items))

    def _program(self, handle: int | None) -> Program:
        return Program(self, check(handle))

    # -- Waiting and measuring.

    def wait(self, device: int | None = None) -> None:
        """Waits for all that was started, on one device or all. Raises what failed."""
        for dev in range(len(self)) if device is None else [device]:
            check(lib.clwait(self._use(), dev, _ALL))

    @contextlib.contextmanager
    def profile(self) -> Iterator[Profile]:
        """Measures what runs inside the with block; str() of what it gives is a table."""
        check(lib.clprofile(self._use(), c.CONSTANTS["CLPROF_EVERY"]))
        report = Profile(self)
        try:
            yield report
        finally:
            self.wait()
            report.read()
            lib.clprofile(self._use(), 0)

    def __repr__(self) -> str:
        return "<stdcl.Context closed>" if self._handle is None else "<stdcl.Context of %s>" % ", ".join(self.names)

    def _repr_html_(self) -> str:
        return html_table([("device", n) for n in self.names])


def _free(address: int, context: Context) -> None:
    context._held -= 1
    if not lib._forked and context._handle is not None:
        lib.clfree(address)


def _set_value(item: Any, value: object) -> None:
    for kind, name, member in ((bool, "BOOL", "integer"), (int, "INTEGER", "integer"), (float, "NUMBER", "number"),
                               (str, "STRING", "string")):
        if isinstance(value, kind):
            item.kind = c.CONSTANTS["STDCL_V_" + name]
            setattr(getattr(item, "as"), member, value.encode() if isinstance(value, str) else value)
            return
    raise TypeError("a template takes numbers, truths and strings, not %s" % type(value).__name__)


class Profile(List[Any]):
    """Rows (name, count, seconds, bytes) of a profile, the longest first."""

    def __init__(self, context: Context) -> None:
        super().__init__()
        self._context = context

    def read(self) -> None:
        n = lib.clprofile_rows(self._context._use(), None, 0)
        rows = (c.clprofile_row * max(n, 1))()
        lib.clprofile_rows(self._context._use(), rows, n)
        self[:] = [(row.name.decode(), row.count, row.total, row.bytes) for row in rows[:n]]

    def __str__(self) -> str:
        return "\n".join(["%-24s %8s %12s" % ("kernel or transfer", "count", "total ms")] +
                         ["%-24s %8d %12.3f" % (name, count, 1e3 * seconds) for name, count, seconds, _ in self])

    def _repr_html_(self) -> str:
        return html_table([("kernel or transfer", "count", "total ms"), *((name, count, "%.3f" % (1e3 * s)) for name, count, s, _ in self)])


def documentation(function: str) -> str:
    """What the C headers say of a function, such as "clmsync" or "nbody_create"."""
    from ._documentation import DOCUMENTATION
    return DOCUMENTATION[function]


def gpu() -> Context | None:
    """All GPUs, or None."""
    return _standard(2)


def cpu() -> Context | None:
    """The CPUs, or None."""
    return _standard(1)


def devices() -> Context | None:
    """All devices, or None."""
    return _standard(0)


_standard_contexts: dict[int, Context] = {}


def _standard(which: int) -> Context | None:
    if which not in _standard_contexts:
        handle = lib.stdcl_standard_context(which)
        if not handle:
            return None
        _standard_contexts[which] = Context(handle, False)
    return _standard_contexts[which]


def open(pattern: str = "", most: int = 0) -> Context:  # noqa: A001
    """A context of the devices whose name, vendor or platform has `pattern` in it; at most `most` of them (0: all)."""
    return Context(check(lib.clcontext_create(pattern.encode(), -1 & 0x7FFFFFFF, most, None, 0)), True)


# ---- Arrays and engines, which need numpy. ---------------------------------------------------------------


def _arrays() -> Any:
    from . import arrays
    return arrays


def __getattr__(name: str) -> Any:
    if name == "Array":
        return _arrays().Array
    if name in ("Nbody", "Life", "Gas", "initial", "matmul"):
        from . import engines
        return getattr(engines, name)
    raise AttributeError("module 'stdcl' has no attribute %r" % name)


# ---- Programs and kernels. ----------------------------------------------------------------------------


class local:  # noqa: N801
    """So many bytes of local memory, as a kernel's argument."""

    def __init__(self, nbytes: int) -> None:
        self.nbytes = int(nbytes)


class Program:
    """Kernels by name, as attributes or items."""

    def __init__(self, context: Context, handle: int) -> None:
        self._context = context
        self._handle: int | None = handle

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            kernel = self[name]
        except Error as failed:
            raise AttributeError(str(failed)) from None
        setattr(self, name, kernel)
        return kernel

    def __getitem__(self, name: str) -> Kernel:
        if self._handle is None:
            raise Error("the program is closed")
        return Kernel(self, name, check(lib.clsym(self._context._use(), self._handle, name.encode(), 0)))

    def close(self) -> None:
        """Releases the program and its kernels."""
        if self._handle is not None:
            check(lib.clclose(self._context._use(), self._handle))
            self._handle = None

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # the context may be closed
            self.close()


# OpenCL's name: ctypes' type and numpy's kind
_SCALARS: dict[str, tuple[Any, str]] = {
    "char": (ctypes.c_int8, "i1"), "uchar": (ctypes.c_uint8, "u1"), "short": (ctypes.c_int16, "i2"),
    "ushort": (ctypes.c_uint16, "u2"), "int": (ctypes.c_int32, "i4"), "uint": (ctypes.c_uint32, "u4"),
    "long": (ctypes.c_int64, "i8"), "ulong": (ctypes.c_uint64, "u8"), "float": (ctypes.c_float, "f4"),
    "double": (ctypes.c_double, "f8"),
}


def _scalar(declared: str) -> tuple[str, int] | None:
    """'float4' -> ('float', 4); None when it is no number."""
    name = declared.rstrip("0123456789")
    width = declared[len(name):]
    return (name, int(width or 1)) if name in _SCALARS else None


class Kernel:
    """A kernel as a function: k(range, arguments...) copies arrays to the device, runs, and gives an Event whose wait()
    copies them back. k.start(...) only runs. range is a number or a tuple; local= the size of a work-group."""

    def __init__(self, program: Program, name: str, handle: int) -> None:
        self._program, self._context, self.__name__, self._handle = program, program._context, name, handle
        self._declared: list[tuple[str, str]] = []
        info = c.clarg_info_t()
        while lib.clarg_info(handle, len(self._declared), info) == 0:
            self._declared.append((info.type.decode(), info.name.decode()))

    def _argument(self, i: int, value: Any, kept: list[Any]) -> Any:
        """One argument as the library takes it; `kept` holds what must live until the call is made."""
        declared, name = self._declared[i] if i < len(self._declared) else ("", "")
        what = "argument %d%s of %s" % (i, " (%s)" % name if name else "", self.__name__)
        arg, holder = c.stdcl_arg(), None  # type: Any, Any
        if isinstance(value, local):
            holder = ctypes.c_size_t(value.nbytes)
            arg.kind, arg.size = c.CONSTANTS["STDCL_LOCAL"], ctypes.sizeof(holder)
        elif hasattr(value, "__array_interface__") and getattr(value, "ndim", 0) > 0 and not _scalar(declared):
            if getattr(value, "context", None) is None:
                raise TypeError("%s is an array outside the memory that devices share; make it with context.array()" % what)
            if value.context is not self._context:
                raise TypeError("%s is an array of another context" % what)
            if not value.flags.c_contiguous:
                raise TypeError("%s is not contiguous; pass context.array() of it" % what)
            wanted = _scalar(declared[:-1]) if declared.endswith("*") else None
            if wanted and value.dtype.kind + str(value.dtype.itemsize) != _SCALARS[wanted[0]][1]:
                raise TypeError("%s is an array of %s, and the kernel declares %s" % (what, value.dtype, declared))
            holder = ctypes.c_void_p(value.ctypes.data)
            arg.kind, arg.size = c.CONSTANTS["STDCL_GLOBAL"], ctypes.sizeof(holder)
        else:
            wanted = _scalar(declared) or (("long" if isinstance(value, int) else "double"), 1)
            try:
                numbers = list(value) if wanted[1] > 1 else [value]
                width = 4 if wanted[1] == 3 else wanted[1]
                holder = (_SCALARS[wanted[0]][0] * width)(*numbers)
                if _SCALARS[wanted[0]][1][0] != "f" and holder[:len(numbers)] != numbers:
                    raise ValueError  # it does not fit
            except (TypeError, ValueError, IndexError):
                raise TypeError("%s is %r, and the kernel declares %s" % (what, value, declared or "a number")) from None
            arg.kind, arg.size = c.CONSTANTS["STDCL_VALUE"], ctypes.sizeof(holder)
        kept.append(holder)
        arg.value = ctypes.addressof(holder)
        return arg

    def start(self, work_items: Sizes, *args: Any, local: Sizes | None = None, offset: Sizes | None = None,
              device: int = 0) -> Event:
        """Starts the kernel on what the device has; returns an Event."""
        kept: list[Any] = []
        if self._declared and len(args) != len(self._declared):
            raise TypeError("%s takes %d argument%s, not %d" % (
                self.__name__, len(self._declared), "s" if len(self._declared) > 1 else "", len(args)))
        given = (c.stdcl_arg * max(len(args), 1))(*(self._argument(i, v, kept) for i, v in enumerate(args)))
        work = c.clndrange_struct()
        for field, value in (("gtid", work_items), ("ltid", local), ("gtid_offset", offset)):
            sizes = () if value is None else _sizes(value, "a size of an index space")
            if len(sizes) > 3:
                raise TypeError("devices have up to three dimensions, and %r has %d" % (value, len(sizes)))
            if field == "gtid":
                work.dim = len(sizes)
            for d, size in enumerate(sizes):
                getattr(work, field)[d] = size
        if self._program._handle is None:
            raise Error("the program of the kernel %s is closed" % self.__name__)
        check(lib.clforkv(self._context._use(), device, self._handle, work, _NOWAIT, len(args), given))
        return Event(self._context, device, [a for a in args if getattr(a, "context", None) is not None])

    def __call__(self, work_items: Sizes, *args: Any, local: Sizes | None = None, offset: Sizes | None = None,
                 device: int = 0) -> Event:
        for array in args:
            if getattr(array, "context", None) is self._context:
                check(lib.clmsync(self._context._use(), device, array.ctypes.data, _DEVICE | _NOWAIT))
        return self.start(work_items, *args, local=local, offset=offset, device=device)


class Event:
    """A kernel that was started. wait() copies its arrays back to the host, and raises what failed."""

    def __init__(self, context: Context, device: int, arrays: list[Array]) -> None:
        self._context, self._device, self._arrays = context, device, arrays

    def wait(self) -> None:
        handle = self._context._use()
        for array in self._arrays:
            check(lib.clmsync(handle, self._device, array.ctypes.data, _HOST | _NOWAIT))
        check(lib.clwait(handle, self._device, _ALL))
        self._arrays = []

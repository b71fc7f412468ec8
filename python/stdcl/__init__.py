"""OpenCL in the style of UNIX: numpy arrays that devices share, kernels as functions, and four programs.

    import stdcl, numpy as np
    ctx = stdcl.gpu() or stdcl.open()
    x = ctx.array(np.ones(1000, np.float32))
    ctx.source("__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }").twice(x.size, x).wait()

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import threading
from typing import TYPE_CHECKING, Any, Iterator, List, NamedTuple, Sequence, Union

from . import _declarations as c
from ._library import Error, Owner, check, html_table, letters, lib, sizes, whole

if TYPE_CHECKING:
    import numpy.typing as npt

    from .arrays import Array
    from .bodies import NBody, Orbit, initial
    from .engines import Gas, Life, Matmul, matmul
    from .patterns import Pattern, identify
    from .sweeps import sweep

__version__ = c.VERSION
__all__ = ["Array", "Context", "Error", "Event", "Gas", "Kernel", "Life", "Matmul", "NBody", "Orbit", "Pattern", "Program", "Recording", "Sampler", "cpu", "devices", "documentation", "gpu",
           "identify", "initial", "local", "matmul", "open", "sweep"]

# Functions of algorithms.py. Some have names of built-in functions, so that only users import them by name.
_ALGORITHMS = ("argmax", "argmin", "argsort", "cumsum", "dot", "histogram", "max", "mean", "min", "reduce_by_key", "segmented_sum", "select",
               "sort", "sum", "unique", "variance")

Sizes = Union[int, Sequence[int]]  # of an index space or an array: one number, or one for each dimension

_HOST, _DEVICE, _ALL = (c.CONSTANTS[k] for k in ("CL_MEM_HOST", "CL_MEM_DEVICE", "CL_ALL_EVENT"))
_NOWAIT = c.CONSTANTS["CL_EVENT_NOWAIT"] | c.CONSTANTS["CL_EVENT_CHECKED"]  # failures raise at the call


def _with_numpy() -> Any:
    """Import the parts that need numpy, which takes longer to import than this package."""
    try:
        from . import bodies
    except ImportError as missing:
        raise Error("arrays and engines of stdcl need numpy: install it (python3-numpy); %s" % missing) from None
    return bodies


def __getattr__(name: str) -> Any:
    if name in ("Array", "Gas", "Life", "Matmul", "NBody", "Orbit", "initial", "matmul"):
        bodies = _with_numpy()
        return getattr(bodies if name in ("NBody", "Orbit", "initial") else bodies.engines, name)
    if name in ("Pattern", "identify"):
        _with_numpy()
        from . import patterns
        return getattr(patterns, name)
    if name == "sweep":
        from .sweeps import sweep
        return sweep
    if name in _ALGORITHMS:
        _with_numpy()
        from . import algorithms
        return getattr(algorithms, name)
    raise AttributeError("module 'stdcl' has no attribute %r" % name)


class Context(Owner):
    """A list of devices, from gpu(), cpu(), devices() or open(). Standard contexts are never closed."""

    _closed = "the context is closed; make another with stdcl.open()"

    def __init__(self, handle: int, owned: bool) -> None:
        self._handle, self._owned = handle, owned
        self._held = 0  # number of live arrays and engines
        self._recordings: dict[tuple[int, int], Recording] = {}  # under way, by thread and device

    def __len__(self) -> int:
        return int(lib.clgetndev(self._use()))

    @property
    def names(self) -> list[str]:
        """The devices' names."""
        info = (c.cldev_info * len(self))()
        check(lib.clgetdevinfo(self._use(), info))
        return [one.dev_name.decode(errors="replace") for one in info]

    def close(self) -> None:
        """Close the context. Raises Error while its arrays or engines are alive; has no effect on a standard context."""
        if self._owned:
            super().close()

    def _free(self, handle: int) -> None:
        if self._held:
            raise Error("the context has %d live arrays or engines; delete or close them first" % self._held)
        check(lib.clcontext_destroy(handle))

    def empty(self, shape: Sizes, dtype: npt.DTypeLike = "float32", flag: str | None = None) -> Array:
        """Return an array of zeros shared by the host and the devices; freed with its last view. `flag` as in clmalloc:
        "svm" for shared virtual memory, where kernels take views at any offset and may follow addresses stored in the
        array (x.svm tells whether there is any); "zerocopy" for one image on the host and a CPU."""
        return _with_numpy().engines.allocate_flagged(self, shape, dtype, flag)  # type: ignore[no-any-return]

    zeros = empty

    def image(self, shape: Sequence[int], dtype: npt.DTypeLike = "float32", array: bool = False, normalized: bool = False) -> Array:
        """Return an image of zeros as an array, for kernels' image arguments. `shape` ends with the number of channels,
        1, 2 or 4 (R, RG, RGBA): (width, channels) is 1-D, (height, width, channels) 2-D, (depth, height, width, channels)
        3-D. With `array` the first number counts the images of an array of 1-D or 2-D images. Kernels read integers with
        read_imagei or read_imageui, or with `normalized` (8 and 16 bits) as floats from -1 or 0 to 1."""
        return _with_numpy().engines.allocate_image(self, shape, dtype, array, normalized)  # type: ignore[no-any-return]

    def sampler(self, normalized: bool = False, addressing: str = "clamp_to_edge", filter: str = "nearest") -> Sampler:  # noqa: A002
        """Return a sampler, for kernels' sampler_t arguments: `normalized` coordinates from 0 to 1; "none", "clamp_to_edge",
        "clamp", "repeat" or "mirrored_repeat"; "nearest" or "linear"."""
        return Sampler(self, normalized, addressing, filter)

    @contextlib.contextmanager
    def record(self, device: int = 0) -> Iterator[Recording]:
        """Record this thread's commands on a device in the with block instead of starting them: kernels, to_device, to_host
        and Event.wait, which do not wait. Recording.replay starts them, as often as needed."""
        key = (threading.get_ident(), whole(device, "a device"))
        check(lib.clrecord_begin(self._use(), device))
        recording = self._recordings[key] = Recording(self, device)
        try:
            yield recording
        except BaseException:
            lib.clrecord_free(self._use(), lib.clrecord_end(self._use(), device))
            raise
        finally:
            del self._recordings[key]
        recording._handle = check(lib.clrecord_end(self._use(), device))

    def _recording(self, device: int) -> Recording | None:
        """The recording that this thread has begun on a device."""
        return self._recordings.get((threading.get_ident(), device)) if self._recordings else None

    def array(self, values: npt.ArrayLike, dtype: npt.DTypeLike = None, flag: str | None = None) -> Array:
        """Return a copy of `values` shared with the devices; `flag` as in empty()."""
        given = _with_numpy().np.asarray(_with_numpy().unmasked(values), dtype=dtype)
        array = self.empty(given.shape, given.dtype, flag)
        array[...] = given
        return array

    def source(self, text: str, options: str | None = None) -> Program:
        """Build kernels from OpenCL C. Raises Error with the compiler's log."""
        code, words = letters(text, "the source"), None if options is None else letters(options, "options")
        return Program(self, lib.clopen_named(self._use(), b"<source>", code, len(code), words, 0))

    def file(self, path: str | os.PathLike[str]) -> Program:
        """Build kernels from a file: OpenCL C or a binary of clsave."""
        return Program(self, lib.clopen(self._use(), os.fsencode(path), 0))

    def template(self, text: str, **values: bool | int | float | str) -> Program:
        """Build kernels from a template, with numbers, booleans and strings as values."""
        code, items = letters(text, "the template"), (c.clvalue * (len(values) + 1))()
        for item, (name, value) in zip(items, values.items()):
            item.name = name.encode()
            _set_value(item, value)
        items[len(values)].kind = c.CONSTANTS["STDCL_V_END"]
        return Program(self, lib.clopen_templatev(self._use(), b"<template>", code, len(code), None, 0, items))

    def wait(self, device: int | None = None) -> None:
        """Block until all commands on one device or all devices are complete. Raises Error if one failed."""
        for dev in range(len(self)) if device is None else [device]:
            check(lib.clwait(self._use(), whole(dev, "a device"), _ALL))

    @contextlib.contextmanager
    def profile(self) -> Iterator[Profile]:
        """Profile the with block; str() of the Profile is a table."""
        check(lib.clprofile(self._use(), c.CONSTANTS["CLPROF_EVERY"]))
        profile = Profile()
        try:
            yield profile
        finally:
            self.wait()
            rows = (c.clprofile_row * lib.clprofile_rows(self._use(), None, 0))()
            lib.clprofile_rows(self._use(), rows, len(rows))
            profile[:] = [(row.name.decode(), row.count, row.total, row.bytes) for row in rows]
            lib.clprofile(self._use(), 0)

    def __repr__(self) -> str:
        return "<stdcl.Context closed>" if self._handle is None else "<stdcl.Context of %s>" % ", ".join(self.names)

    def _repr_html_(self) -> str:
        return html_table([("device", n) for n in self.names])


def _set_value(item: Any, value: object) -> None:
    for kind, name, member in ((bool, "BOOL", "integer"), (int, "INTEGER", "integer"), (float, "NUMBER", "number"),
                               (str, "STRING", "string")):
        if isinstance(value, kind):
            item.kind = c.CONSTANTS["STDCL_V_" + name]
            setattr(getattr(item, "as"), member, letters(value, "a template's value") if isinstance(value, str) else value)
            if kind is int and getattr(item, "as").integer != value:
                raise TypeError("a template takes whole numbers of 64 bits, not %r" % value)
            return
    raise TypeError("a template takes numbers, booleans and strings, not %s" % type(value).__name__)


class Profile(List[Any]):
    """Rows (name, count, seconds, bytes) of a profile, the longest first."""

    def __str__(self) -> str:
        return "\n".join(["%-24s %8s %12s" % ("kernel or transfer", "count", "total ms")] +
                         ["%-24s %8d %12.3f" % (name, count, 1e3 * seconds) for name, count, seconds, _ in self])

    def _repr_html_(self) -> str:
        return html_table([("kernel or transfer", "count", "total ms"), *((name, count, "%.3f" % (1e3 * s)) for name, count, s, _ in self)])


def documentation(function: str) -> str:
    """Return the C headers' comment on a function, such as "clmsync" or "nbody_create".""" 
    from ._documentation import DOCUMENTATION
    return DOCUMENTATION[function]


def gpu() -> Context | None:
    """Return the context of all GPUs, or None."""
    return _standard(2)


def cpu() -> Context | None:
    """Return the context of the CPUs, or None."""
    return _standard(1)


def devices() -> Context | None:
    """Return the context of all devices, or None."""
    return _standard(0)


@functools.lru_cache(None)
def _standard(which: int) -> Context | None:
    handle = lib.stdcl_standard_context(which)
    return Context(handle, False) if handle else None


def open(pattern: str = "", most: int = 0) -> Context:  # noqa: A001
    """Return a new context of the devices with `pattern` in their name, vendor or platform; at most `most` (0: all)."""
    return Context(check(lib.clcontext_create(letters(pattern, "the pattern"), 0x7FFFFFFF, whole(most, "most"), None, 0)), True)


class local(NamedTuple):  # noqa: N801
    """`nbytes` of local memory, as a kernel argument."""

    nbytes: int


class Sampler(Owner):
    """How kernels read images, from Context.sampler()."""

    _closed = "the sampler is closed"

    def __init__(self, context: Context, normalized: bool, addressing: str, filter: str) -> None:  # noqa: A002
        modes = {"none": 0x1130, "clamp_to_edge": 0x1131, "clamp": 0x1132, "repeat": 0x1133, "mirrored_repeat": 0x1134}
        filters = {"nearest": 0x1140, "linear": 0x1141}  # OpenCL's numbers
        for given, known in ((addressing, modes), (filter, filters)):
            if given not in known:
                raise ValueError("%r is none of %s" % (given, ", ".join(known)))
        self._context = context
        self._handle = check(lib.clmalloc(context._use(), 0, c.CONSTANTS["CL_MEM_SAMPLER"]))
        check(lib.clmctl(ctypes.c_void_p(self._handle), c.CONSTANTS["CL_MCTL_SET_SAMPLER"], int(bool(normalized)), modes[addressing],
                         filters[filter]))

    def _free(self, handle: int) -> None:
        if not lib._forked:
            lib.clfree(handle)


class Recording(Owner):
    """Commands recorded by Context.record(). It keeps their arrays alive until it is closed."""

    _closed = "the recording is closed, or its with block has not ended"

    def __init__(self, context: Context, device: int) -> None:
        self._context, self._device = context, device
        self._kernels: dict[int, Kernel] = {}  # by number of the command
        self._arrays: list[Any] = []

    def _free(self, handle: int) -> None:
        check(lib.clrecord_free(self._context._use(), handle))
        self._kernels, self._arrays = {}, []

    def next(self) -> int:
        """Return the number of the next command, in the with block: 0, 1, ..."""
        return int(check(lib.clrecord_next(self._context._use(), self._device)))

    def start(self) -> None:
        """Start the commands without waiting; Context.wait() waits."""
        check(lib.clrecord_replay(self._context._use(), self._use(), _NOWAIT))

    def replay(self) -> None:
        """Start the commands and wait for them. Raises Error, and starts none, if an array of them was freed."""
        check(lib.clrecord_replay(self._context._use(), self._use(), c.CONSTANTS["CL_EVENT_WAIT"]))

    def set(self, command: int, argument: int, value: Any) -> None:
        """Set an argument of a recorded kernel, by its number and the command's, for later replays."""
        handle, kernel, kept = self._use(), self._kernels.get(command), [value]
        if kernel is None:
            raise Error("command %r of the recording is no kernel; kernels are %s" % (command, sorted(self._kernels)))
        check(lib.clrecord_setv(self._context._use(), handle, command, whole(argument, "an argument"), kernel._argument(argument, value, kept)))
        self._arrays.append(value)


class Program(Owner):
    """A program; its kernels are attributes or items."""

    _closed = "the program and its kernels are closed"

    def __init__(self, context: Context, handle: int | None) -> None:
        self._context, self._handle = context, check(handle)

    def _free(self, handle: int) -> None:
        check(lib.clclose(self._context._use(), handle))

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            kernel = self[name]
        except Error as failed:
            if failed.opencl:  # the kernel exists, but cannot be created
                raise
            raise AttributeError(str(failed)) from None
        setattr(self, name, kernel)
        return kernel

    def __getitem__(self, name: str) -> Kernel:
        return Kernel(self, name, check(lib.clsym(self._context._use(), self._use(), letters(name, "a kernel's name"), 0)))


_SCALARS: dict[str, Any] = {"char": ctypes.c_int8, "short": ctypes.c_int16, "int": ctypes.c_int32, "long": ctypes.c_int64,
                            "uchar": ctypes.c_uint8, "ushort": ctypes.c_uint16, "uint": ctypes.c_uint32, "ulong": ctypes.c_uint64,
                            "float": ctypes.c_float, "double": ctypes.c_double}  # by OpenCL's names


def _scalar(declared: str) -> tuple[str, int]:
    """'float4' -> ('float', 4); ('', 0) if it is not a number type."""
    name = declared.rstrip("0123456789")
    return (name, int(declared[len(name):] or 1)) if name in _SCALARS else ("", 0)


class Kernel:
    """A kernel as a function. k(range, arguments...) copies arrays to the device, starts the kernel and returns an Event;
    Event.wait() copies the arrays back. k.start(...) starts without copying. range is a number or a tuple; local= is
    the work-group size."""

    def __init__(self, program: Program, name: str, handle: int) -> None:
        self._program, self._context, self.__name__, self._handle = program, program._context, name, handle
        self._declared: list[tuple[str, str]] = []
        info = c.clarg_info_t()
        while lib.clarg_info(handle, len(self._declared), info) == 0:
            self._declared.append((info.type.decode(), info.name.decode()))
        self._reads = [lib.clarg_is_read_only(handle, i) == 1 for i in range(len(self._declared))]

    def _argument(self, i: int, value: Any, kept: list[Any]) -> Any:
        """Return one argument for the library; `kept` keeps its memory alive until the call."""
        declared, name = self._declared[i] if i < len(self._declared) else ("", "")
        what = "argument %d%s of %s" % (i, " (%s)" % name if name else "", self.__name__)
        holder: Any
        if isinstance(value, local):
            kind, holder = "STDCL_LOCAL", ctypes.c_size_t(whole(value.nbytes, "the size of local memory"))
        elif isinstance(value, Sampler):
            if value._context is not self._context:
                raise TypeError("%s is a sampler of a different context" % what)
            kind, holder = "STDCL_GLOBAL", ctypes.c_void_p(value._use())
        elif hasattr(value, "__array_interface__") and getattr(value, "ndim", 0) > 0 and not _scalar(declared)[0]:
            if getattr(value, "context", None) is None:
                raise TypeError("%s is an array outside the memory shared with devices; create it with context.array()" % what)
            if value.context is not self._context:
                raise TypeError("%s is an array of a different context" % what)
            if not value.flags.c_contiguous:
                raise TypeError("%s is not contiguous; pass context.array() of it" % what)
            if not value.flags.writeable and not (i < len(self._reads) and self._reads[i]):
                raise TypeError("%s is a read-only array, but the kernel does not declare it const; pass context.array() of it" % what)
            number, dtype = _SCALARS.get(_scalar(declared[:-1])[0]), value.dtype
            if number and not (dtype.char == number._type_ and dtype.isnative) and dtype != number:  # the last comparison takes 6 µs
                raise TypeError("%s is an array of %s, but the kernel declares %s" % (what, dtype, declared))
            kind, holder = "STDCL_GLOBAL", ctypes.c_void_p(value.ctypes.data)
        else:
            wanted, width = _scalar(declared)
            if wanted == "float" and width == 1 and getattr(getattr(value, "dtype", None), "char", "") == "d":
                raise TypeError("%s is a float64, but the kernel declares float; pass numpy.float32(%r) or float(%r)" % (
                    what, float(value), float(value)))
            try:
                numbers = list(value) if width > 1 else [value]
                number = _SCALARS[wanted or ("long" if isinstance(value, int) else "double")]
                kind, holder = "STDCL_VALUE", (number * (4 if width == 3 else max(width, 1)))(*numbers)
                if declared and len(numbers) != width or wanted not in ("float", "double", "") and holder[:len(numbers)] != numbers:
                    raise ValueError  # does not fit, or is not a number
            except (TypeError, ValueError, IndexError):
                raise TypeError("%s is %r, but the kernel declares %s" % (what, value, declared or "a number")) from None
        kept.append(holder)
        return c.stdcl_arg(size=ctypes.sizeof(holder), kind=c.CONSTANTS[kind], value=ctypes.addressof(holder))

    def start(self, work_items: Sizes, *args: Any, local: Sizes | None = None, offset: Sizes | None = None,
              device: int = 0) -> Event:
        """Start the kernel on the device's current data; return an Event."""
        kept: list[Any] = []
        if self._declared and len(args) != len(self._declared):
            raise TypeError("%s takes %d argument%s, not %d" % (
                self.__name__, len(self._declared), "s" if len(self._declared) > 1 else "", len(args)))
        given = (c.stdcl_arg * max(len(args), 1))(*(self._argument(i, v, kept) for i, v in enumerate(args)))
        work = c.clndrange_struct()
        for field, value in (("gtid", work_items), ("ltid", local), ("gtid_offset", offset)):
            if value is not None:
                numbers = sizes(value, "the size of an index space")
                if len(numbers) > 3:
                    raise TypeError("an index space has up to three dimensions, but %r has %d" % (value, len(numbers)))
                work.dim = work.dim or len(numbers)  # the dimensions of work_items, which comes first
                getattr(work, field)[:len(numbers)] = numbers
        self._program._use()
        recording = self._context._recording(device)
        if recording is not None:
            recording._kernels[recording.next()] = self
            recording._arrays += args
        check(lib.clforkv(self._context._use(), whole(device, "a device"), self._handle, work, _NOWAIT, len(args), given))
        return Event(self._context, device, [a for a in args if getattr(a, "context", None) is not None and a.flags.writeable])

    def __call__(self, work_items: Sizes, *args: Any, local: Sizes | None = None, offset: Sizes | None = None,
                 device: int = 0) -> Event:
        for array in args:
            if getattr(array, "context", None) is self._context:
                check(lib.clmsync(self._context._use(), whole(device, "a device"), array.ctypes.data, _DEVICE | _NOWAIT))
        return self.start(work_items, *args, local=local, offset=offset, device=device)


class Event:
    """A started kernel. wait() copies its arrays back to the host, and raises Error if a command failed. In a recording
    wait() records the copies."""

    def __init__(self, context: Context, device: int, arrays: list[Array]) -> None:
        self._context, self._device, self._arrays = context, device, arrays

    def wait(self) -> None:
        handle = self._context._use()
        for array in self._arrays:
            check(lib.clmsync(handle, self._device, array.ctypes.data, _HOST | _NOWAIT))
        if self._context._recording(self._device) is None:
            check(lib.clwait(handle, self._device, _ALL))
        self._arrays = []

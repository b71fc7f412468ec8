"""OpenCL in the style of UNIX: numpy arrays that devices share, kernels as functions, and four programs.

    import stdcl, numpy as np
    ctx = stdcl.gpu() or stdcl.cpu()
    x = ctx.array(np.ones(1000, np.float32))
    ctx.source("__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }").twice(x.size, x).wait()

SPDX-License-Identifier: MIT
"""
import contextlib
import ctypes
import os
import tempfile
import weakref

from . import _declarations as c
from ._library import Error, check, error, lib

__version__ = c.VERSION
__all__ = ["Array", "Context", "Error", "Event", "Gas", "Kernel", "Life", "Nbody", "Program", "cpu", "devices", "gpu",
           "initial", "local", "matmul", "open"]

_HOST, _DEVICE, _NOWAIT, _ALL = (c.CONSTANTS[k] for k in ("CL_MEM_HOST", "CL_MEM_DEVICE", "CL_EVENT_NOWAIT", "CL_ALL_EVENT"))


def _numpy():
    try:
        import numpy
    except ImportError:
        raise Error("arrays of stdcl are numpy's: install numpy (python3-numpy)") from None
    return numpy


# ---- Contexts: lists of devices. -------------------------------------------------------------------


class Context:
    """A list of devices. Made by gpu(), cpu(), devices() or open(); standard contexts are never closed."""

    def __init__(self, handle, owned):
        self._handle, self._owned, self._arrays = handle, owned, 0

    def __len__(self):
        return lib.clgetndev(self._use())

    def _use(self):
        if self._handle is None:
            raise Error("the context is closed; make another with stdcl.open()")
        return self._handle

    @property
    def names(self):
        """The devices' names."""
        info, names = c.cldev_info(), []
        for dev in range(len(self)):
            check(lib.clgetdevinfo(self._use(), dev, info))
            names.append(info.dev_name.decode(errors="replace"))
        return names

    def close(self):
        """Ends the context. An Error while arrays of it are alive; a standard context stays as it is."""
        if self._arrays:
            raise Error("the context has %d array%s alive; delete %s first" % (
                self._arrays, *(("s", "them") if self._arrays > 1 else ("", "it"))))
        if self._handle is not None and self._owned:
            check(lib.clcontext_destroy(self._handle))
            self._handle = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        with contextlib.suppress(Exception):
            self.close()

    # -- Memory.

    def empty(self, shape, dtype="float32"):
        """An array of zeros that the host and the devices share; freed with its last view."""
        np = _numpy()
        dtype = np.dtype(dtype)
        if dtype.hasobject:
            raise TypeError("an array of Python objects cannot be shared with a device; give a dtype of numbers")
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        address = check(lib.clmalloc(self._use(), max(size, 1), 0))
        buffer = (ctypes.c_char * max(size, 1)).from_address(address)
        weakref.finalize(buffer, _free, address, self).atexit = False
        self._arrays += 1
        buffer.context = self  # which lives as long as the memory
        array = np.frombuffer(buffer, dtype=dtype, count=size // dtype.itemsize if dtype.itemsize else 0)
        return array.reshape(shape).view(_array_class())

    zeros = empty

    def array(self, values, dtype=None):
        """A copy of `values` that the devices share."""
        np = _numpy()
        values = np.asarray(values, dtype=dtype)
        array = self.empty(values.shape, values.dtype)
        array[...] = values
        return array

    # -- Programs.

    def source(self, text, options=None):
        """Builds kernels from OpenCL C. The Error of one that does not build has the compiler's log."""
        return self._program(lib.clopen_named(self._use(), b"<source>", text.encode(), len(text.encode()),
                                              options and options.encode(), 0))

    def file(self, path):
        """Builds kernels from a file, OpenCL C or a binary of clsave."""
        return self._program(lib.clopen(self._use(), os.fsencode(path), 0))

    def template(self, text, **values):
        """Builds kernels from a template, with numbers, truths and strings as its values."""
        items = (c.clvalue * (len(values) + 1))()
        for item, (name, value) in zip(items, values.items()):
            item.name = name.encode()
            _set_value(item, value)
        items[len(values)].kind = c.CONSTANTS["STDCL_V_END"]
        return self._program(lib.clopen_templatev(self._use(), b"<template>", text.encode(), len(text.encode()), None, 0,
                                                  items))

    def _program(self, handle):
        return Program(self, check(handle))

    # -- Waiting and measuring.

    def wait(self, device=None):
        """Waits for all that was started, on one device or all. Raises what failed."""
        for dev in range(len(self)) if device is None else [device]:
            check(lib.clwait(self._use(), dev, _ALL))

    @contextlib.contextmanager
    def profile(self):
        """Measures what runs inside the with block; str() of what it gives is a table."""
        check(lib.clprofile(self._use(), c.CONSTANTS["CLPROF_EVERY"]))
        report = Profile(self)
        try:
            yield report
        finally:
            self.wait()
            report.read()
            lib.clprofile(self._use(), 0)

    def __repr__(self):
        return "<stdcl.Context closed>" if self._handle is None else "<stdcl.Context of %s>" % ", ".join(self.names)

    def _repr_html_(self):
        return "<table><tr><th>device</th></tr>%s</table>" % "".join("<tr><td>%s</td></tr>" % n for n in self.names)


def _free(address, context):
    context._arrays -= 1
    if not lib._forked and context._handle is not None:
        lib.clfree(address)


def _set_value(item, value):
    kinds = c.CONSTANTS
    if isinstance(value, bool):
        item.kind, setattr_ = kinds["STDCL_V_BOOL"], ("integer", int(value))
    elif isinstance(value, int):
        item.kind, setattr_ = kinds["STDCL_V_INTEGER"], ("integer", value)
    elif isinstance(value, float):
        item.kind, setattr_ = kinds["STDCL_V_NUMBER"], ("number", value)
    elif isinstance(value, str):
        item.kind, setattr_ = kinds["STDCL_V_STRING"], ("string", value.encode())
    else:
        raise TypeError("a template takes numbers, truths and strings, not %s" % type(value).__name__)
    setattr(getattr(item, "as"), *setattr_)


class Profile(list):
    """Rows (name, count, seconds, bytes) of a profile, the longest first."""

    def __init__(self, context):
        super().__init__()
        self._context = context

    def read(self):
        n = lib.clprofile_rows(self._context._use(), None, 0)
        rows = (c.clprofile_row * max(n, 1))()
        lib.clprofile_rows(self._context._use(), rows, n)
        self[:] = [(row.name.decode(), row.count, row.total, row.bytes) for row in rows[:n]]

    def __str__(self):
        return "\n".join(["%-24s %8s %12s" % ("kernel or transfer", "count", "total ms")] +
                         ["%-24s %8d %12.3f" % (name, count, 1e3 * seconds) for name, count, seconds, _ in self])


def gpu():
    """All GPUs, or None."""
    return _standard(2)


def cpu():
    """The CPUs, or None."""
    return _standard(1)


def devices():
    """All devices, or None."""
    return _standard(0)


_standard_contexts = {}


def _standard(which):
    if which not in _standard_contexts:
        handle = lib.stdcl_standard_context(which)
        if not handle:
            return None
        _standard_contexts[which] = Context(handle, False)
    return _standard_contexts[which]


def open(pattern="", most=0):  # noqa: A001
    """A context of the devices whose name, vendor or platform has `pattern` in it; at most `most` of them (0: all)."""
    return Context(check(lib.clcontext_create(pattern.encode(), -1 & 0x7FFFFFFF, most, None, 0)), True)


# ---- Arrays. ------------------------------------------------------------------------------------------

_Array = None


def _array_class():
    global _Array
    if _Array is None:
        np = _numpy()

        class Array(np.ndarray):
            """A numpy array in memory that devices share. Views share it too, and keep it alive."""

            @property
            def context(self):
                """The context whose devices share the memory, or None of an array that numpy made itself."""
                base = self
                while isinstance(base, np.ndarray):
                    base = base.base
                return getattr(base.obj if isinstance(base, memoryview) else base, "context", None)

            def to_device(self, device=0):
                """Copies the whole allocation to a device; returns the array."""
                check(lib.clmsync(self.context._use(), device, self.ctypes.data, _DEVICE))
                return self

            def to_host(self, device=0):
                """Copies the whole allocation back; returns the array."""
                check(lib.clmsync(self.context._use(), device, self.ctypes.data, _HOST))
                return self

            @property
            def cl_mem(self):
                """The first device's cl_mem, as a number: pyopencl.Buffer.from_int_ptr(x.cl_mem)."""
                return check(lib.clgetbuffer(self.context._use(), 0, self.ctypes.data))

        _Array = Array
    return _Array


def __getattr__(name):
    if name == "Array":
        return _array_class()
    if name in ("Nbody", "Life", "Gas", "initial", "matmul"):
        from . import engines
        return getattr(engines, name)
    raise AttributeError("module 'stdcl' has no attribute %r" % name)


# ---- Programs and kernels. ----------------------------------------------------------------------------


class local:  # noqa: N801
    """So many bytes of local memory, as a kernel's argument."""

    def __init__(self, nbytes):
        self.nbytes = int(nbytes)


class Program:
    """Kernels by name, as attributes or items."""

    def __init__(self, context, handle):
        self._context, self._handle = context, handle

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            kernel = self[name]
        except Error as failed:
            raise AttributeError(str(failed)) from None
        setattr(self, name, kernel)
        return kernel

    def __getitem__(self, name):
        if self._handle is None:
            raise Error("the program is closed")
        return Kernel(self, name, check(lib.clsym(self._context._use(), self._handle, name.encode(), 0)))

    def close(self):
        """Releases the program and its kernels."""
        if self._handle is not None:
            check(lib.clclose(self._context._use(), self._handle))
            self._handle = None


_SCALARS = {"char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "q", "ulong": "Q",
            "float": "f", "double": "d"}
_CTYPES = {"b": ctypes.c_int8, "B": ctypes.c_uint8, "h": ctypes.c_int16, "H": ctypes.c_uint16, "i": ctypes.c_int32,
           "I": ctypes.c_uint32, "q": ctypes.c_int64, "Q": ctypes.c_uint64, "f": ctypes.c_float, "d": ctypes.c_double}


def _scalar(declared):
    """'float4' -> ('f', 4); None when it is no number."""
    name = declared.rstrip("0123456789")
    width = declared[len(name):]
    return (_SCALARS[name], int(width or 1)) if name in _SCALARS else None


class Kernel:
    """A kernel as a function: k(range, arguments...) copies arrays to the device, runs, and gives an Event whose wait()
    copies them back. k.start(...) only runs. range is a number or a tuple; local= the size of a work-group."""

    def __init__(self, program, name, handle):
        self._program, self._context, self.__name__, self._handle = program, program._context, name, handle
        self._declared, info = [], c.clarg_info_t()
        while lib.clarg_info(handle, len(self._declared), info) == 0:
            self._declared.append((info.type.decode(), info.name.decode()))

    def _argument(self, i, value, kept):
        """One argument as the library takes it; `kept` holds what must live until the call is made."""
        declared, name = self._declared[i] if i < len(self._declared) else ("", "")
        what = "argument %d%s of %s" % (i, " (%s)" % name if name else "", self.__name__)
        arg = c.stdcl_arg()
        if isinstance(value, local):
            holder = ctypes.c_size_t(value.nbytes)
            arg.kind, arg.size = c.CONSTANTS["STDCL_LOCAL"], ctypes.sizeof(holder)
        elif hasattr(value, "__array_interface__") and getattr(value, "ndim", 0) > 0:
            if getattr(value, "context", None) is None:
                raise TypeError("%s is an array outside the memory that devices share; make it with context.array()" % what)
            if value.context is not self._context:
                raise TypeError("%s is an array of another context" % what)
            if not value.flags.c_contiguous:
                raise TypeError("%s is not contiguous; pass context.array() of it" % what)
            wanted = _scalar(declared[:-1]) if declared.endswith("*") else None
            if wanted and value.dtype.kind + str(value.dtype.itemsize) != _kind(wanted[0]):
                raise TypeError("%s is an array of %s, and the kernel declares %s" % (what, value.dtype, declared))
            holder = ctypes.c_void_p(value.ctypes.data)
            arg.kind, arg.size = c.CONSTANTS["STDCL_GLOBAL"], ctypes.sizeof(holder)
        else:
            wanted = _scalar(declared) or (("q" if isinstance(value, int) else "d"), 1)
            try:
                numbers = list(value) if wanted[1] > 1 else [value]
                width = 4 if wanted[1] == 3 else wanted[1]
                holder = (_CTYPES[wanted[0]] * width)(*numbers)
            except (TypeError, ValueError, IndexError):
                raise TypeError("%s is %r, and the kernel declares %s" % (what, value, declared or "a number")) from None
            arg.kind, arg.size = c.CONSTANTS["STDCL_VALUE"], ctypes.sizeof(holder)
        kept.append(holder)
        arg.value = ctypes.addressof(holder)
        return arg

    def start(self, work_items, *args, local=None, offset=None, device=0):
        """Starts the kernel on what the device has; returns an Event."""
        kept = []
        given = (c.stdcl_arg * max(len(args), 1))(*(self._argument(i, v, kept) for i, v in enumerate(args)))
        work = c.clndrange_struct()
        for field, value in (("gtid", work_items), ("ltid", local), ("gtid_offset", offset)):
            sizes = () if value is None else (value,) if isinstance(value, int) else tuple(value)
            if field == "gtid":
                work.dim = len(sizes)
            for d, size in enumerate(sizes):
                getattr(work, field)[d] = size
        check(lib.clforkv(self._context._use(), device, self._handle, work, _NOWAIT, len(args), given))
        return Event(self._context, device, [a for a in args if getattr(a, "context", None) is not None])

    def __call__(self, work_items, *args, local=None, offset=None, device=0):
        for array in args:
            if getattr(array, "context", None) is self._context:
                check(lib.clmsync(self._context._use(), device, array.ctypes.data, _DEVICE | _NOWAIT))
        return self.start(work_items, *args, local=local, offset=offset, device=device)


def _kind(code):
    return {"b": "i1", "B": "u1", "h": "i2", "H": "u2", "i": "i4", "I": "u4", "q": "i8", "Q": "u8", "f": "f4", "d": "f8"}[code]


class Event:
    """A kernel that was started. wait() copies its arrays back to the host, and raises what failed."""

    def __init__(self, context, device, arrays):
        self._context, self._device, self._arrays = context, device, arrays

    def wait(self):
        handle = self._context._use()
        for array in self._arrays:
            check(lib.clmsync(handle, self._device, array.ctypes.data, _HOST | _NOWAIT))
        check(lib.clwait(handle, self._device, _ALL))
        self._arrays = []

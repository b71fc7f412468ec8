"""Arrays shared with devices.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import ctypes
import math
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _declarations as c
from ._library import Error, check, lib, sizes, whole

if TYPE_CHECKING:
    from . import Context


def unmasked(values: Any) -> Any:
    """Return `values`; raise ValueError if it is a masked array with masked entries, which numpy.asarray would take for numbers."""
    if isinstance(values, np.ma.MaskedArray) and np.any(values.mask):
        raise ValueError("an array has masked entries; remove them with x.compressed(), or give them a value with x.filled(value)")
    return values


class Array(np.ndarray[Any, Any]):
    """A numpy array in memory shared with devices. Views share the memory and keep it alive."""

    @property
    def context(self) -> Context | None:
        """The context of the shared memory; None for an array that numpy allocated."""
        base: Any = self
        while isinstance(base, np.ndarray):
            base = base.base
        return getattr(base.obj if isinstance(base, memoryview) else base, "context", None)

    def _shared(self) -> int:
        """The context's handle."""
        if self.context is None:
            raise Error("numpy allocated this array outside the memory shared with devices; create it with context.array()")
        return self.context._use()

    def to_device(self, device: int = 0) -> Array:
        """Copy the whole allocation to a device; return the array."""
        return self._sync(device, "CL_MEM_DEVICE")

    def to_host(self, device: int = 0) -> Array:
        """Copy the whole allocation back to the host; return the array. Raises ValueError for a read-only array."""
        if not self.flags.writeable:
            raise ValueError("to_host() would change a read-only array; make it writable, or call it on a writable array of this memory")
        return self._sync(device, "CL_MEM_HOST")

    def _sync(self, device: int, to: str) -> Array:
        """Copy and wait; in a recording only record the copy."""
        context, handle = self.context, self._shared()
        recording = context._recording(device) if context is not None else None
        if recording is not None:
            recording._arrays.append(self)
        wait = c.CONSTANTS["CL_EVENT_WAIT" if recording is None else "CL_EVENT_NOWAIT"]
        check(lib.clmsync(handle, whole(device, "a device"), self.ctypes.data, c.CONSTANTS[to] | wait))
        return self

    @property
    def cl_mem(self) -> int:
        """The first device's cl_mem, as a number: pyopencl.Buffer.from_int_ptr(x.cl_mem)."""
        return int(check(lib.clgetbuffer(self._shared(), 0, self.ctypes.data)))

    @property
    def svm(self) -> int:
        """2: shared virtual memory of fine grain, 1: of coarse grain, 0: none (stdcl.h, CL_MEM_SVM)."""
        self._shared()
        return int(check(lib.clmctl(ctypes.c_void_p(self.ctypes.data), c.CONSTANTS["CL_MCTL_GET_SVM"])))


_FLAGS = {None: 0, "svm": c.CONSTANTS["CL_MEM_SVM"], "zerocopy": c.CONSTANTS["CL_MEM_ZEROCOPY"]}


def allocate_flagged(context: Context, shape: Any, dtype: Any, flag: str | None) -> Array:
    """See Context.empty."""
    if flag not in _FLAGS:
        raise ValueError('the flag of an array is "svm", "zerocopy" or None, not %r' % (flag,))
    return allocate(context, shape, dtype, _FLAGS[flag])


def allocate(context: Context, shape: Any, dtype: Any, flags: int = 0) -> Array:
    """See Context.empty. flags: of clmalloc."""
    kind: Any = np.dtype(dtype)
    if kind.hasobject:
        raise TypeError("an array of Python objects cannot be shared with a device; give a dtype of numbers")
    shape = sizes(shape, "a shape")
    size = whole(math.prod(shape) * kind.itemsize, "the number of bytes of an array")
    address = check(lib.clmalloc(context._use(), max(size, 1), flags))
    buffer: Any = (ctypes.c_char * max(size, 1)).from_address(address)
    weakref.finalize(buffer, _free, address, context).atexit = False
    context._held += 1
    buffer.context = context  # keeps the context alive
    array: Any = np.frombuffer(buffer, dtype=kind, count=math.prod(shape))
    return array.reshape(shape).view(Array)  # type: ignore[no-any-return]


class _Format(ctypes.Structure):
    """cl_image_format."""

    _fields_ = [("order", ctypes.c_uint32), ("type", ctypes.c_uint32)]


class _Description(ctypes.Structure):
    """cl_image_desc."""

    _fields_ = [("type", ctypes.c_uint32), ("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t),
                ("elements", ctypes.c_size_t), ("row", ctypes.c_size_t), ("slice", ctypes.c_size_t), ("levels", ctypes.c_uint32),
                ("samples", ctypes.c_uint32), ("buffer", ctypes.c_void_p)]


# OpenCL's numbers: channel orders by count; channel types by dtype; image types by dimensions and whether it is an array.
_ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}
_CHANNELS = {"b": 0x10D7, "h": 0x10D8, "i": 0x10D9, "B": 0x10DA, "H": 0x10DB, "I": 0x10DC, "e": 0x10DD, "f": 0x10DE}
_NORMALIZED = {"b": 0x10D0, "h": 0x10D1, "B": 0x10D2, "H": 0x10D3}
_IMAGES = {(1, False): 0x10F4, (1, True): 0x10F5, (2, False): 0x10F1, (2, True): 0x10F3, (3, False): 0x10F2}


def allocate_image(context: Context, shape: Any, dtype: Any, array: bool, normalized: bool) -> Array:
    """See Context.image."""
    *extent, channels = sizes(shape, "a shape")
    kind = np.dtype(dtype)
    dimensions = len(extent) - bool(array)
    types = _NORMALIZED if normalized else _CHANNELS
    if (dimensions, bool(array)) not in _IMAGES or channels not in _ORDERS:
        raise ValueError("an image has 1 to 3 extents, in an array 2 or 3, and then 1, 2 or 4 channels; the shape is %r" % (shape,))
    if kind.char not in types or not kind.isnative:
        raise TypeError("an image of %s is not possible; %s are" % (kind, ", ".join(np.dtype(one).name for one in types)))
    pixels = allocate(context, shape, kind, c.CONSTANTS["CL_MEM_IMAGE"])
    inner = extent[:0:-1] if array else extent[::-1]  # width, height, depth
    width, height, depth = (inner + [0, 0])[:3]
    description = _Description(_IMAGES[dimensions, bool(array)], width, height, depth, extent[0] if array else 0)
    check(lib.clmctl(ctypes.c_void_p(pixels.ctypes.data), c.CONSTANTS["CL_MCTL_SET_IMAGE"], ctypes.byref(description),
                     ctypes.byref(_Format(_ORDERS[channels], types[kind.char]))))
    return pixels


def _free(address: int, context: Context) -> None:
    context._held -= 1
    if not lib._forked:
        lib.clfree(address)

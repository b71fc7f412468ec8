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
        check(lib.clmsync(self._shared(), whole(device, "a device"), self.ctypes.data, c.CONSTANTS["CL_MEM_DEVICE"]))
        return self

    def to_host(self, device: int = 0) -> Array:
        """Copy the whole allocation back to the host; return the array."""
        check(lib.clmsync(self._shared(), whole(device, "a device"), self.ctypes.data, c.CONSTANTS["CL_MEM_HOST"]))
        return self

    @property
    def cl_mem(self) -> int:
        """The first device's cl_mem, as a number: pyopencl.Buffer.from_int_ptr(x.cl_mem)."""
        return int(check(lib.clgetbuffer(self._shared(), 0, self.ctypes.data)))


def allocate(context: Context, shape: Any, dtype: Any) -> Array:
    """See Context.empty."""
    kind: Any = np.dtype(dtype)
    if kind.hasobject:
        raise TypeError("an array of Python objects cannot be shared with a device; give a dtype of numbers")
    shape = sizes(shape, "a shape")
    size = whole(math.prod(shape) * kind.itemsize, "the number of bytes of an array")
    address = check(lib.clmalloc(context._use(), max(size, 1), 0))
    buffer: Any = (ctypes.c_char * max(size, 1)).from_address(address)
    weakref.finalize(buffer, _free, address, context).atexit = False
    context._held += 1
    buffer.context = context  # keeps the context alive
    array: Any = np.frombuffer(buffer, dtype=kind, count=math.prod(shape))
    return array.reshape(shape).view(Array)  # type: ignore[no-any-return]


def _free(address: int, context: Context) -> None:
    context._held -= 1
    if not lib._forked:
        lib.clfree(address)

"""Sums, extremes, prefix sums, sorting and grouping on a device, by the library of stdcl/arrays.h.

Arguments are arrays of a context, or anything that numpy makes an array of, which is copied to the first GPU, or the CPUs. The
host's image is read: call x.to_host() first if a kernel has written x. Results are new numpy arrays or numbers. Reductions use all
devices of the context; prefix sums, sorts, selections and histograms use its first device.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import contextlib
import ctypes
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from . import _declarations as c
from ._library import check, lib, whole
from .arrays import unmasked

if TYPE_CHECKING:
    from . import Context
    from .arrays import Array

_TYPES = {"float32": "ARRAYS_FLOAT", "float64": "ARRAYS_DOUBLE", "int32": "ARRAYS_INT", "int64": "ARRAYS_LONG"}
_DEVICE, _HOST, _NOWAIT = (c.CONSTANTS[k] for k in ("CL_MEM_DEVICE", "CL_MEM_HOST", "CL_EVENT_NOWAIT"))


def _default() -> Context:
    from . import cpu, devices, gpu, open
    return gpu() or cpu() or devices() or open()  # open() raises an Error that names the remedy


def _shared(x: Any, context: Context | None = None) -> Array:
    """Return x, contiguous and of one dimension, in the memory of its own context, or of the given one."""
    own = getattr(x, "context", None)
    if own is not None and (context is None or own is context) and x.flags.c_contiguous and x.dtype.isnative:
        return x.reshape(-1)  # type: ignore[no-any-return]
    values = np.ravel(np.asarray(unmasked(x)))
    return (own or context or _default()).array(values.astype(values.dtype.newbyteorder("=")))


def _type(x: Any, what: str) -> int:
    """Return the constant of x's type."""
    if x.dtype.name not in _TYPES:
        raise TypeError("%s takes arrays of float32, float64, int32 or int64, not of %s; convert with x.astype" % (what, x.dtype))
    return int(c.CONSTANTS[_TYPES[x.dtype.name]])


# ---- Reductions. ----


@contextlib.contextmanager
def _reductions(x: Any, what: str, compensated: bool, *others: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Yield the C object for x's type, and the arrays, of one length, on the devices."""
    first = _shared(x)
    arrays = [first, *(_shared(o, first.context) for o in others)]
    for array in arrays[1:]:
        if array.size != first.size or array.dtype != first.dtype:
            raise ValueError("%s takes arrays of one size and type, not %d of %s and %d of %s" % (
                what, first.size, first.dtype, array.size, array.dtype))
    options = c.arrays_options(ctx=first._shared(), type=_type(first, what),
                               accumulator=c.CONSTANTS["ARRAYS_COMPENSATED" if compensated else "ARRAYS_WIDE"])
    handle = check(lib.arrays_create(options))
    try:
        for array in arrays:
            check(lib.arrays_upload(handle, array.ctypes.data, array.size))
        yield handle, arrays
    finally:
        lib.arrays_free(handle)


def sum(x: Any, compensated: bool = False) -> Any:  # noqa: A001
    """Return the sum of all elements: exact for integers, in doubles for floats; bits do not depend on the device."""
    with _reductions(x, "sum", compensated) as (handle, (a,)):
        total: Any = ctypes.c_int64() if a.dtype.kind == "i" else ctypes.c_double()
        function = lib.arrays_sum_integer if a.dtype.kind == "i" else lib.arrays_sum
        check(function(handle, a.ctypes.data, a.size, ctypes.byref(total)))
        return total.value


def dot(x: Any, y: Any, compensated: bool = False) -> float:
    """Return the sum of x[i] y[i] of floats or doubles."""
    with _reductions(x, "dot", compensated, y) as (handle, (a, b)):
        total = ctypes.c_double()
        check(lib.arrays_dot(handle, a.ctypes.data, b.ctypes.data, a.size, ctypes.byref(total)))
        return total.value


def mean(x: Any, compensated: bool = False) -> float:
    """Return the mean of all elements."""
    with _reductions(x, "mean", compensated) as (handle, (a,)):
        result = ctypes.c_double()
        check(lib.arrays_mean(handle, a.ctypes.data, a.size, ctypes.byref(result)))
        return result.value


def variance(x: Any, compensated: bool = False) -> float:
    """Return the sample variance, sum (x - mean)^2 / (n - 1)."""
    with _reductions(x, "variance", compensated) as (handle, (a,)):
        result = ctypes.c_double()
        check(lib.arrays_variance(handle, a.ctypes.data, a.size, None, ctypes.byref(result)))
        return result.value


def _place(x: Any, what: str) -> tuple[int, Any]:
    with _reductions(x, what, False) as (handle, (a,)):
        index = ctypes.c_size_t()
        check(getattr(lib, "arrays_arg" + what[-3:])(handle, a.ctypes.data, a.size, ctypes.byref(index)))
        return index.value, a[index.value].item()


def argmin(x: Any) -> int:
    """Return the index of the first smallest element in the flattened array, or of the first NaN."""
    return _place(x, "argmin")[0]


def argmax(x: Any) -> int:
    """Return the index of the first largest element in the flattened array, or of the first NaN."""
    return _place(x, "argmax")[0]


def min(x: Any) -> Any:  # noqa: A001
    """Return the smallest element; NaN if there is one."""
    return _place(x, "min")[1]


def max(x: Any) -> Any:  # noqa: A001
    """Return the largest element; NaN if there is one."""
    return _place(x, "max")[1]


# ---- Prefix sums, sorting, grouping. ----


@contextlib.contextmanager
def _sorter(context: Context, *inputs: Any) -> Iterator[Any]:
    """Yield the C object for the context's first device, on which the inputs are."""
    handle = check(lib.arrays_sorter_create(c.arrays_sorter_options(ctx=context._use())))
    try:
        for x in inputs:
            if x.size:
                check(lib.clmsync(context._use(), 0, x.ctypes.data, _DEVICE))
        yield handle
    finally:
        lib.arrays_sorter_free(handle)


def _address(x: Any) -> Any:
    return x.ctypes.data if x.size else None


def _result(x: Array, n: int | None = None) -> Any:
    """Copy the first n elements from the device to a new numpy array."""
    if x.size:
        x.to_host()
    return np.array(x if n is None else x[:n])


def _words(x: Any, what: str) -> Any:
    """Return x as unsigned integers of 4 or 8 bytes."""
    if x.dtype.itemsize not in (4, 8) or x.dtype.kind not in "uif":
        raise TypeError("%s takes arrays of numbers of 4 or 8 bytes, not of %s; convert with x.astype" % (what, x.dtype))
    return x.view("u%d" % x.dtype.itemsize)


def cumsum(x: Any) -> Any:
    """Return the inclusive prefix sums of numbers of 4 or 8 bytes in their own type; integers wrap around.

    Floats are added in an order that depends on the device and the number of elements. The sum of
    elements that are all -0 is 0, where numpy gives -0.
    """
    given = _shared(x)
    words, sums = _words(given, "cumsum"), given.context.empty(given.size, given.dtype)  # type: ignore[union-attr]
    job = c.arrays_scan_job(x=_address(words), sums=_address(sums), bytes=words.dtype.itemsize, most=words.size,
                            floating=given.dtype.kind == "f", inclusive=1)
    with _sorter(given.context, given) as handle:  # type: ignore[arg-type]
        check(lib.arrays_scan(handle, job))
    return _result(sums)


_ORDERS = {"u": ("u", "ARRAYS_UNSIGNED"), "b": ("u", "ARRAYS_UNSIGNED"), "i": ("i", "ARRAYS_SIGNED"), "f": ("f", "ARRAYS_FLOATING")}


def _sorted(x: Any, indices: bool, descending: bool) -> tuple[Any, Any, Any]:
    """Return x flattened, its elements sorted on the device, and the sorted indices."""
    given = np.ravel(np.asarray(unmasked(x)))
    if given.dtype.kind not in _ORDERS or given.dtype.itemsize > 8:
        raise TypeError("sorting takes integers and floats of up to 8 bytes, not %s" % given.dtype)
    kind, order = _ORDERS[given.dtype.kind]
    context: Context = getattr(x, "context", None) or _default()
    keys = context.array(given.astype(kind + ("8" if given.dtype.itemsize == 8 else "4")))
    values = context.array(np.arange(given.size if indices else 0, dtype=np.uint32))
    job = c.arrays_sort_job(keys=_address(keys), values=_address(values), bytes=keys.dtype.itemsize, order=c.CONSTANTS[order],
                            descending=bool(descending), most=keys.size)
    with _sorter(context, keys, values) as handle:
        check(lib.arrays_sort(handle, job))
    return given, keys, values


def sort(x: Any, descending: bool = False) -> Any:
    """Return the elements of the flattened array in order: a stable radix sort of integers and floats; -0 before 0, and NaN last
    in both directions."""
    given, keys, _ = _sorted(x, False, descending)
    return _result(keys).astype(given.dtype)


def argsort(x: Any, descending: bool = False) -> Any:
    """Return the indices that sort the flattened array, equal ones in their order, also in a descending sort."""
    return _result(_sorted(x, True, descending)[2]).astype(np.int64)


def unique(x: Any) -> Any:
    """Return the different elements of the flattened array in ascending order; -0 is 0, and all NaN are one."""
    values = np.ravel(np.asarray(unmasked(x)))
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.array(np.nan, values.dtype), values + 0)  # -0 + 0 is 0
    shared = (getattr(x, "context", None) or _default()).array(values)
    given, keys, _ = _sorted(shared, False, False)
    return _selection(keys, None).astype(given.dtype)


def _selection(x: Any, flags: Any) -> Any:
    """Return what arrays_select or arrays_unique select of x, whose device image is current."""
    context = x.context
    out, number = context.empty(x.size, x.dtype), context.empty(1, np.uint32)
    job = c.arrays_select_job(x=_address(x), out=_address(out), selected=_address(number), bytes=x.dtype.itemsize, most=x.size,
                              flags=None if flags is None else _address(flags))
    with _sorter(context, *([] if flags is None else [flags])) as handle:
        check((lib.arrays_unique if flags is None else lib.arrays_select)(handle, job))
    return _result(out, int(_result(number)[0]))


def select(x: Any, flags: Any) -> Any:
    """Return the elements of x, of 4 or 8 bytes, whose flag is true, in order: x[flags]."""
    given = _shared(x)
    words = _words(given, "select")
    marks = given.context.array(np.ravel(np.asarray(unmasked(flags))).astype(bool).view(np.uint8))  # type: ignore[union-attr]
    if marks.size != words.size:
        raise ValueError("select takes as many flags as elements, not %d for %d" % (marks.size, words.size))
    if words.size:
        given.to_device()
    return _selection(words, marks).view(given.dtype)


def _range_of(x: Any) -> tuple[Any, Any]:
    """Return the smallest element and the number that follows the largest, for a histogram."""
    if x.size == 0:
        raise ValueError("histogram: the array is empty, so it has no range; give range=")
    first, last = min(x), max(x)
    if x.dtype.kind == "i":
        if first < -2**53 or last >= 2**53:
            raise ValueError("histogram: the elements reach from %d to %d, beyond 2^53; give range=" % (first, last))
        return first, last + 1
    if np.isnan(last):
        raise ValueError("histogram: an element is NaN, so there is no largest; give range=")
    with np.errstate(over="ignore"):
        end = np.nextafter(x.dtype.type(last), x.dtype.type(np.inf)).item()
    if not np.isfinite(end):
        raise ValueError("histogram: the largest element, %r, has no next number; give range=" % last)
    if not np.isfinite(end - first):
        raise ValueError("histogram: from the smallest element, %r, to the largest, %r, is no finite range; give range=" % (first, last))
    return first, end


def histogram(x: Any, bins: int = 10, range: tuple[float, float] | None = None) -> tuple[Any, Any]:  # noqa: A002
    """Return the number of elements in each of `bins` bins of equal width in range = (lower, upper), and the bins' edges.

    Elements outside lower <= x < upper and NaN are not counted. The bin of a float is computed with rounding, so an element within
    rounding of an edge may be in the neighbouring bin. range None: 0 to 256 for bytes, and for other types from the
    smallest element to the number that follows the largest.
    """
    given = _shared(x)
    nbins, of_bytes = whole(bins, "bins", 1), given.dtype == np.uint8
    kind = 0 if of_bytes else _type(given, "histogram")
    if range is None and of_bytes:
        range = (0, 256)  # noqa: A001
    elif range is None:
        range = _range_of(given)  # noqa: A001
    counts = given.context.empty(nbins, np.uint32)  # type: ignore[union-attr]
    job = c.arrays_histogram_job(x=_address(given), bins=_address(counts), type=kind, of_bytes=of_bytes, lower=range[0], upper=range[1],
                                 nbins=nbins, most=given.size)
    with _sorter(given.context, given) as handle:  # type: ignore[arg-type]
        check(lib.arrays_histogram(handle, job))
    edges = np.linspace(range[0] / 4, range[1] / 4, nbins + 1) * 4 if np.isinf(float(range[1]) - float(range[0])) else \
        np.linspace(range[0], range[1], nbins + 1)
    return _result(counts).astype(np.int64), edges


def segmented_sum(x: Any, offsets: Any) -> Any:
    """Return the sum of each segment x[offsets[i]:offsets[i + 1]] in x's type; 0 for an empty one.

    Offsets are not negative; one beyond the end of x counts as the end.
    """
    given = _shared(x)
    context: Any = given.context
    bounds = np.ravel(np.asarray(unmasked(offsets)))
    if bounds.size == 0:
        raise ValueError("segmented_sum takes one offset more than there are segments, at least one")
    if bounds.dtype.kind not in "ui" or (bounds < 0).any():
        raise ValueError("the offsets of segments are whole numbers from 0, not %r" % (offsets,))
    ends = context.array(np.minimum(bounds, given.size).astype(np.uint32))
    sums = context.empty(ends.size - 1, given.dtype)
    job = c.arrays_segments_job(x=_address(given), sums=_address(sums), type=_type(given, "segmented_sum"), most=given.size,
                                offsets=_address(ends), segments=ends.size - 1)
    with _sorter(context, given, ends) as handle:
        check(lib.arrays_segmented_sum(handle, job))
    return _result(sums)


def reduce_by_key(keys: Any, values: Any) -> tuple[Any, Any]:
    """Return the key of each run of equal keys, of 4 or 8 bytes, and the sum of its values; sort by key first for one run a key.

    Keys are compared as bits: -0.0 differs from 0.0, and a NaN equals itself.
    """
    given = _shared(keys)
    context: Any = given.context
    words, terms = _words(given, "reduce_by_key"), _shared(values, context)
    if terms.context is not context or terms.size != words.size:
        raise ValueError("reduce_by_key takes as many values as keys, in one context, not %d for %d" % (terms.size, words.size))
    first, sums, runs = context.empty(words.size, words.dtype), context.empty(words.size, terms.dtype), context.empty(1, np.uint32)
    job = c.arrays_by_key_job(keys=_address(words), values=_address(terms), unique=_address(first), sums=_address(sums),
                              runs=_address(runs), bytes=words.dtype.itemsize, type=_type(terms, "reduce_by_key"), most=words.size)
    with _sorter(context, given, terms) as handle:
        check(lib.arrays_reduce_by_key(handle, job))
    n = int(_result(runs)[0])
    return _result(first, n).view(given.dtype), _result(sums, n)

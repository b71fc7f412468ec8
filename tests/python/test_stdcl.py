"""Tests of the Python package, with numpy and pytest or alone (python3 test_stdcl.py).

SPDX-License-Identifier: MIT
"""
import base64
import ctypes
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
import warnings
import zlib

import numpy as np

import stdcl
from stdcl import _declarations as c
from stdcl._library import lib

SOURCE = """
__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }
__kernel void saxpy(float a, __global const float *x, __global float *y)
{
    y[get_global_id(0)] = fma(a, x[get_global_id(0)], y[get_global_id(0)]);
}
__kernel void reverse(__global int *x, __local int *tile)
{
    tile[get_local_id(0)] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = tile[get_local_size(0) - 1 - get_local_id(0)];
}
"""


def context():
    return stdcl.gpu() or stdcl.cpu()


def refused(kind, words, call):
    """Expect an exception of this kind with the words in its one-line message."""
    try:
        call()
    except kind as failed:
        assert words in str(failed), str(failed)
        return failed
    raise AssertionError("not refused: " + words)


def test_kernels_are_functions():
    ctx = context()
    x = ctx.array(np.arange(1000, dtype=np.float32))
    y = ctx.array(np.ones(1000, np.float32))
    program = ctx.source(SOURCE)
    program.twice(x.size, x).wait()
    assert (x == 2 * np.arange(1000)).all()
    program.saxpy(1000, 0.5, x, y).wait()
    assert (y == np.arange(1000) + 1).all()
    z = ctx.array(np.arange(64, dtype=np.int32))
    program.reverse(64, z, stdcl.local(16 * 4), local=16).wait()
    assert (z[:16] == np.arange(15, -1, -1)).all()


def test_recordings_cannot_wait():
    ctx = context()
    x = ctx.array(np.arange(100, dtype=np.float32))

    def record(call):
        with ctx.record():
            x.to_device()
            call()

    refused(stdcl.Error, "nothing to wait for", lambda: record(ctx.wait))
    refused(ZeroDivisionError, "", lambda: record(lambda: 1 // 0))
    record(lambda: None)
    ctx.source(SOURCE).twice(100, x).wait()
    assert x[1] == 2  # started at once


def test_recordings_replay_with_new_arguments():
    ctx = context()
    x, y = ctx.array(np.arange(100, dtype=np.float32)), ctx.empty(100)
    program = ctx.source(SOURCE)
    with ctx.record() as recording:
        x.to_device()
        y.to_device()
        command = recording.next()
        program.saxpy.start(100, 2.0, x, y).wait()  # copies back
    refused(stdcl.Error, "with block", stdcl.Recording(ctx, 0).replay)
    assert (y == 0).all()
    for a in (2.0, 3.0, 4.0):
        recording.set(command, 0, a)
        y[:] = 1
        recording.replay()
        assert (y == a * x + 1).all()
    recording.start()
    ctx.wait()
    assert (y == 8 * x + 1).all()
    refused(TypeError, "float", lambda: recording.set(command, 0, "no number"))
    refused(stdcl.Error, "no kernel; kernels are [2]", lambda: recording.set(0, 0, 1.0))
    del x, y
    gc.collect()
    recording.replay()  # it keeps its arrays alive
    recording.close()
    refused(stdcl.Error, "recording is closed", recording.replay)
    with ctx.record() as empty:
        refused(stdcl.Error, "this thread", lambda: ctx.record().__enter__())
        ctx.empty(3).to_device()
    empty.close()


def test_images():
    ctx = context()
    image = ctx.image((3, 4, 4))
    image[...] = np.arange(48).reshape(3, 4, 4)
    out = ctx.empty(4)
    program = ctx.source("""
        kernel void mean(read_only image2d_t image, sampler_t s, global float4 *out) { *out = read_imagef(image, s, (float2)(1, 1)); }
        kernel void first(read_only image1d_array_t image, sampler_t s, global float4 *out)
        { *out = read_imagef(image, s, (float2)(4, 1)); }
        kernel void third(read_only image3d_t image, sampler_t s, global uint4 *out)
        { *out = read_imageui(image, s, (int4)(2, 1, 0, 0)); }""")
    program.mean(1, image, ctx.sampler(filter="linear"), out).wait()
    assert (out == image[:2, :2].reshape(4, 4).mean(axis=0)).all()
    lines = ctx.image((2, 5, 1), "uint8", array=True, normalized=True)
    lines[1, 4] = 51
    program.first(1, lines, ctx.sampler(), out).wait()
    assert abs(out[0] - 0.2) < 1e-6
    volume, numbers = ctx.image((1, 2, 3, 4), "uint16"), ctx.empty(4, "uint32")
    volume[0, 1, 2] = 7, 60000, 1, 2
    program.third(1, volume, ctx.sampler(), numbers).wait()
    assert list(numbers) == [7, 60000, 1, 2]
    refused(ValueError, "channels", lambda: ctx.image((4, 4, 3)))
    refused(ValueError, "extents", lambda: ctx.image((4,)))
    refused(TypeError, "image of float64", lambda: ctx.image((4, 4, 1), "float64"))
    refused(ValueError, "nearest", lambda: ctx.sampler(filter="cubic"))
    refused(stdcl.Error, "normalized", lambda: ctx.sampler(addressing="repeat"))
    refused(stdcl.Error, "sampler_t", lambda: program.mean.start(1, image, image, out))


def test_reductions_agree_with_numpy():
    rng = np.random.default_rng(5)
    for dtype in (np.float32, np.float64, np.int32, np.int64):
        x = (rng.normal(size=100001) * 1000).astype(dtype)
        for given in (x, context().array(x), context().array(x)[7:]):
            exact = int(np.sum(given, dtype=np.int64)) if given.dtype.kind == "i" else float(np.sum(given, dtype=np.longdouble))
            assert stdcl.sum(given) == exact or given.dtype.kind == "f" and abs(stdcl.sum(given) - exact) < 1e-9 * len(given)
            assert stdcl.argmin(given) == np.argmin(given) and stdcl.argmax(given) == np.argmax(given)
            assert stdcl.min(given) == given.min() and stdcl.max(given) == given.max()
            assert abs(stdcl.mean(given) - np.mean(given, dtype=np.float64)) < 1e-9 * 1000
            assert abs(stdcl.variance(given) / np.var(given, ddof=1, dtype=np.float64) - 1) < 1e-12
    y = rng.normal(size=100001)
    assert abs(stdcl.dot(y, y) / np.dot(y, y) - 1) < 1e-12
    assert stdcl.sum([1, 1e100, 1, -1e100], compensated=True) == 2
    assert stdcl.sum(np.zeros(0)) == 0
    assert stdcl.argmax(np.array([1, np.nan, 3])) == 1
    refused(TypeError, "sum takes arrays of float32", lambda: stdcl.sum(np.ones(3, np.uint8)))
    refused(ValueError, "dot takes arrays of one size and type", lambda: stdcl.dot(np.ones(3), np.ones(4)))
    refused(stdcl.Error, "too few", lambda: stdcl.min(np.ones(0)))


def test_sorts_agree_with_numpy():
    rng = np.random.default_rng(6)
    for dtype in (np.uint8, np.int16, np.uint32, np.int32, np.uint64, np.int64, np.float32, np.float64):
        x = (rng.normal(size=5001) * 100).astype(dtype)
        assert (stdcl.sort(x) == np.sort(x)).all() and stdcl.sort(x).dtype == x.dtype
        assert (stdcl.argsort(context().array(x)) == np.argsort(x, kind="stable")).all()
        assert (stdcl.sort(x, descending=True) == np.sort(x)[::-1]).all()
        last = len(x) - 1
        assert (stdcl.argsort(x, descending=True) == last - np.argsort(x[::-1], kind="stable")[::-1]).all()
        assert (stdcl.unique(x) == np.unique(x)).all()
        assert stdcl.sort(x[:0]).size == 0 and stdcl.unique(x[:0]).size == 0
    x = np.array([np.nan, 3, -0.0, 0.0, -np.inf, -np.nan, np.inf, -2], np.float32)
    ordered = stdcl.sort(x)
    assert np.isnan(ordered[6:]).all() and (ordered[:6] == np.sort(x)[:6]).all() and np.signbit(ordered[2]) and not np.signbit(ordered[3])
    assert np.isnan(stdcl.sort(x, descending=True)[6:]).all() and stdcl.sort(x, descending=True)[0] == np.inf
    assert (stdcl.unique(x)[:5] == [-np.inf, -2, 0, 3, np.inf]).all() and len(stdcl.unique(x)) == 6
    refused(TypeError, "not complex128", lambda: stdcl.sort(np.ones(3, complex)))


def test_groups_agree_with_numpy():
    rng = np.random.default_rng(7)
    for dtype in (np.uint32, np.int32, np.uint64, np.int64):
        x = rng.integers(0, 2**31, 70001).astype(dtype)
        assert (stdcl.cumsum(x) == np.cumsum(x, dtype=dtype)).all()
    for dtype in (np.float32, np.float64):
        x = rng.integers(0, 9, 70001).astype(dtype)
        assert (stdcl.cumsum(x) == np.cumsum(x, dtype=dtype)).all()
    for dtype in (np.int32, np.float32, np.float64, np.int64):
        x = np.floor(rng.normal(size=50001) * 100).astype(dtype)
        assert (stdcl.select(x, x > 5) == x[x > 5]).all()
        counts, edges = stdcl.histogram(x, 40, (-200, 200))
        assert (counts == np.histogram(x[x < 200], 40, (-200, 200))[0]).all() and len(edges) == 41
        assert stdcl.histogram(x, 7)[0].sum() == len(x)
        offsets = np.sort(rng.integers(0, len(x), 100))
        assert (stdcl.segmented_sum(x, offsets) == [x[a:b].sum() for a, b in zip(offsets, offsets[1:])]).all()
        keys = np.sort(rng.integers(0, 300, len(x)).astype(np.int64))
        first, sums = stdcl.reduce_by_key(keys, x)
        assert (first == np.unique(keys)).all() and (sums == [x[keys == k].sum() for k in first]).all()
    words = rng.integers(0, 256, 10000).astype(np.uint8)
    assert (stdcl.histogram(words, 256)[0] == np.bincount(words, minlength=256)).all()
    assert stdcl.cumsum(np.ones(0, np.int32)).size == 0 and stdcl.select(np.ones(0), np.ones(0, bool)).size == 0
    refused(TypeError, "cumsum takes arrays of numbers", lambda: stdcl.cumsum(np.ones(3, np.uint8)))
    refused(ValueError, "as many flags as elements", lambda: stdcl.select(np.ones(3), np.ones(4, bool)))
    refused(ValueError, "as many values as keys", lambda: stdcl.reduce_by_key(np.ones(3), np.ones(4)))
    for wrong in ([-1, 2], [0.5, 2], [np.nan]):
        refused(ValueError, "whole numbers from 0", lambda wrong=wrong: stdcl.segmented_sum(np.ones(3), wrong))
    assert stdcl.segmented_sum(np.ones(3), [1, 2**32 + 1, 2]).tolist() == [2, 0]  # as x[1:2**32 + 1] and x[2**32 + 1:2]
    assert np.diff(stdcl.histogram([0.5, 1.5, 1.5, 2.5], 3, (0, 3))[0]).tolist() == [1, -1]
    for wrong in (-1, 0, 2.5):
        refused(TypeError, "bins must be a whole number from 1", lambda wrong=wrong: stdcl.histogram(np.ones(3), wrong, (0, 2)))
    refused(stdcl.Error, "the range from 1 to 1", lambda: stdcl.histogram(np.ones(3), 5, (1, 1)))
    largest = float(np.finfo("f8").max)
    for given, text in (([largest, 0], "has no next number"), ([1, np.inf], "has no next number"), ([1, np.nan], "is NaN"),
                        ([0, -np.inf], "no finite range"), ([-1e308, 1e308], "no finite range"),
                        ([0, 2**53], "beyond 2^53"), ([-2**53 - 1, 0], "beyond 2^53")):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            said = refused(ValueError, text, lambda given=given: stdcl.histogram(np.array(given), 2))
            assert "give range=" in str(said)
    assert stdcl.histogram(np.array([-1e308, 1, 2, np.inf, np.nan]), 2, (0, 4))[0].tolist() == [1, 1]
    counts, edges = stdcl.histogram(np.array([-1.5e308, -0.5e308, 0.5e308, 1.5e308]), 4, (-1.6e308, 1.6e308))
    assert counts.tolist() == [1, 1, 1, 1] and np.isfinite(edges).all() and edges[0] == -1.6e308 and edges[-1] == 1.6e308
    refused(ValueError, "histogram: the array is empty", lambda: stdcl.histogram(np.array([]), 3))
    assert stdcl.histogram(np.array([]), 3, (0, 1))[0].tolist() == [0, 0, 0]


LIST = """
struct node { global struct node *next; long value; };
kernel void walk(global struct node *first, global long *sum)
{
    *sum = 0;
    for (global struct node *p = first; p; p = p->next) *sum += p->value;
}
kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }
"""


def test_shared_virtual_memory():
    ctx = context()
    program = ctx.source(LIST)
    x = ctx.array(np.arange(100, dtype=np.float32), flag="svm")
    program.twice(100, x).wait()
    assert (x == 2 * np.arange(100)).all() and ctx.empty(1).svm == 0
    y = ctx.array(np.arange(10, dtype=np.float32), flag="zerocopy")
    program.twice(10, y).wait()
    assert (y == 2 * np.arange(10)).all()
    refused(ValueError, "'fast'", lambda: ctx.empty(3, flag="fast"))
    if x.svm == 0:
        return
    node = np.dtype([("next", np.uint64), ("value", np.int64)])
    a, b, total = ctx.empty(10, node, "svm"), ctx.empty(10, node, "svm"), ctx.empty(1, np.int64, "svm")
    size = node.itemsize
    a["next"], a["value"] = b.ctypes.data + size * np.arange(10), 1 << np.arange(10)
    b["next"], b["value"] = a.ctypes.data + size * np.arange(1, 11), 1 << np.arange(10, 20)
    b["next"][9] = 0
    program.walk(1, a, total).wait()
    assert total[0] == (1 << 20) - 1
    program.walk(1, a[3:], total).wait()  # views begin anywhere
    assert total[0] == (1 << 20) - 1 - 0b111 - (0b111 << 10)


def test_start_does_not_copy():
    ctx = context()
    x = ctx.array(np.ones(100, np.float32)).to_device()
    twice = ctx.source(SOURCE).twice
    for _ in range(3):
        event = twice.start(100, x)
    event.wait()
    assert (x == 8).all()


def test_memory_lives_as_long_as_its_last_view():
    ctx = stdcl.open()
    held = ctx.empty((100, 10))
    address, part = held.ctypes.data, held[50:]
    assert address % 4096 == 0
    del held
    gc.collect()
    part[:] = 7
    assert lib.clsizeofmem(address) == 4000
    refused(stdcl.Error, "1 live arrays or engines", ctx.close)
    del part
    gc.collect()
    assert lib.clsizeofmem(address) == 0
    ctx.close()
    refused(stdcl.Error, "closed", lambda: ctx.empty(10))


def test_wrong_arguments_are_sentences():
    ctx = context()
    program = ctx.source(SOURCE)
    x = ctx.empty(100)
    refused(TypeError, "outside the memory", lambda: program.twice(100, np.ones(100, np.float32)))
    refused(TypeError, "array of float64, but the kernel declares float*", lambda: program.twice(100, ctx.empty(100, "f8")))
    refused(TypeError, "array of >f4, but", lambda: program.twice(100, ctx.empty(100, ">f4")))
    refused(TypeError, "not contiguous", lambda: program.twice(50, x[::2]))
    refused(TypeError, "the kernel declares float", lambda: program.saxpy(100, "two", x, x))
    refused(TypeError, "is a float64, but the kernel declares float", lambda: program.saxpy(100, np.float64(2), x, x))
    refused(AttributeError, "there are: ", lambda: program.thrice)
    refused(stdcl.Error, "not a multiple", lambda: program.twice(100, x, local=64))
    assert refused(stdcl.Error, "error", lambda: ctx.source("__kernel void broken( {")).errno != 0
    refused(TypeError, "Python objects", lambda: ctx.empty(3, object))
    refused(TypeError, "the source must be a string, not 5", lambda: ctx.source(5))
    refused(TypeError, "options must be a string, not 0", lambda: ctx.source(SOURCE, 0))
    refused(TypeError, "a kernel's name must be a string", lambda: program[1])
    refused(ValueError, "the pattern contains a null character", lambda: stdcl.open("cpu\0gpu"))
    refused(TypeError, "must be one or several whole numbers, not 'x'", lambda: program.twice("x", x))


def test_read_only_arrays_are_not_changed():
    ctx = context()
    program, x, y = ctx.source(SOURCE), ctx.array(np.ones(100, np.float32)), ctx.array(np.ones(100, np.float32))
    fixed = x[:]
    fixed.flags.writeable = False
    refused(TypeError, "argument 0 (x) of twice is a read-only array, but the kernel does not declare it const",
            lambda: program.twice(100, fixed))
    refused(TypeError, "read-only", lambda: program.twice.start(100, fixed))
    program.saxpy(100, 2.0, fixed, y).wait()  # const
    assert (x == 1).all() and (y == 3).all()
    program.twice(100, x)
    ctx.wait()
    program.saxpy.start(100, 1.0, fixed, y).wait()  # reads the device's image, and leaves the host's
    assert (x == 1).all() and (y == 5).all()
    refused(ValueError, "to_host() would change a read-only array; make it writable", fixed.to_host)
    assert (x.to_host() == 2).all()


def test_types_behind_typedefs_are_known():
    ctx = context()
    program = ctx.source("typedef float real; kernel void fill(global real *x, real a) { x[get_global_id(0)] = a; }")
    x = ctx.empty(10)
    program.fill(10, x, 2.5).wait()
    assert (x == 2.5).all()
    refused(TypeError, "is a float64, but the kernel declares float", lambda: program.fill(10, x, np.float64(2)))
    refused(TypeError, "array of float64, but the kernel declares float*", lambda: program.fill(10, ctx.empty(10, "f8"), 1))


def test_engines_check_their_input():
    refused(ValueError, "(3, 3)", lambda: stdcl.NBody([1, 1, 1], np.zeros((2, 3)), np.zeros((3, 3)), dt=1))
    refused(ValueError, "hermite4", lambda: stdcl.NBody([1], [[0, 0, 0]], [[0, 0, 0]], dt=1, integrator="euler"))
    refused(ValueError, "integrator must be one of leapfrog, ", lambda: stdcl.NBody([1], [[0, 0, 0]], [[0, 0, 0]], dt=1, integrator="double"))
    refused(TypeError, "dt cannot be 'soon'", lambda: stdcl.NBody([1], [[0, 0, 0]], [[0, 0, 0]], dt="soon"))
    refused(ValueError, "torus, plane", lambda: stdcl.Life(10, 10, bounds="engines"))
    refused(TypeError, "n must be a whole number", lambda: stdcl.Gas(1.5))
    refused(TypeError, "width cannot be -1", lambda: stdcl.Life(-1, 10))
    refused(TypeError, "steps must be a whole number", lambda: stdcl.NBody([1], [[0, 0, 0]], [[0, 0, 0]], dt=1).step(-1))
    refused(stdcl.Error, "B9", lambda: stdcl.Life(10, 10, rule="B9"))
    refused(TypeError, "rule must be a string, not 1", lambda: stdcl.Life(10, 10, rule=1))  # would be taken for an address
    refused(ValueError, "rule contains a null character", lambda: stdcl.Life(10, 10, rule="B3\0"))
    refused(TypeError, "context must be a stdcl.Context, not []", lambda: stdcl.Gas(10, context=[]))
    refused(TypeError, "context must be a stdcl.Context", lambda: stdcl.Gas(10, context=context().source(SOURCE)))  # has a handle, too
    refused(TypeError, "cells must be booleans or numbers", lambda: stdcl.Life(10, 10).put("x"))
    refused(TypeError, "the model must be a string", lambda: stdcl.initial(5, 10))
    refused(TypeError, "float32 or both float64", lambda: stdcl.matmul(np.ones((2, 2), int), np.ones((2, 2), int)))
    refused(ValueError, "cannot be multiplied", lambda: stdcl.matmul(np.ones((2, 3)), np.ones((2, 3))))


# Engine functions with a first pointer that is not a handle: a world, a context, a file.
NO_HANDLE = ("gas_partition", "matmul_partition", "matmul_block_limit", "matmul_peak", "nbody_find_structure_device", "nbody_initial_slice", "view_write_page")
NO_CHECK_YET = ["arrays_" + name for name in "dot max mean min sum_squares sum sum_integer variance".split()]


def called_with_nothing(name):
    """Return the result of a function with NULL as first argument, buffers for all other
    pointers, and 1 for numbers."""
    function = getattr(lib, name)
    room = [ctypes.create_string_buffer(4096) for _ in function.argtypes]
    given = [None]
    for kind, bytes in list(zip(function.argtypes, room))[1:]:
        if kind is ctypes.c_void_p or kind is ctypes.c_char_p or hasattr(kind, "contents"):
            given.append(ctypes.cast(bytes, kind))
        else:
            given.append(kind() if issubclass(kind, (ctypes.Structure, ctypes._CFuncPtr)) else kind(1))
    lib.clerror()
    return function(*given)


def test_null_handles_are_refused():
    refusals = 0
    for name, (room, types) in sorted(c.FUNCTIONS.items()):
        if room not in ("arrays", "gas", "life", "matmul", "nbody", "view") or name in NO_HANDLE or name in NO_CHECK_YET:
            continue
        if name.endswith("_tune_kernels") or getattr(lib, name).argtypes[:1] != [ctypes.c_void_p]:
            continue
        result = called_with_nothing(name)
        said = (lib.clerror() or b"").decode()
        if name.endswith(("_free", "_close")) or room == "view" and not name.startswith("view_recording"):
            assert not said, (name, said)
            continue
        assert said.startswith(name + ": the handle is NULL"), (name, said)
        assert result == -1 or not result or not any(bytes(result)), (name, result)
        refusals += 1
    assert refusals > 110, refusals


def test_two_bodies_go_round():
    pos, vel = [[0.5, 0, 0], [-0.5, 0, 0]], [[0, 0.5, 0], [0, -0.5, 0]]
    with stdcl.NBody([0.5, 0.5], pos, vel, dt=2 * np.pi / 4096, precision="double") as run:
        start = run.diagnose().total
        run.step(4096)
        assert abs(run.time - 2 * np.pi) < 1e-9
        assert np.abs(run.pos - pos).max() < 1e-4
        assert abs(run.diagnose().total - start) < 1e-6
        acceleration, potential = run.forces()
        assert np.allclose(np.linalg.norm(acceleration, axis=1), 0.5, atol=1e-4) and np.allclose(potential, -0.5, atol=1e-4)
    refused(stdcl.Error, "closed", run.step)


def planets():
    sim = stdcl.NBody()
    sim.add(mass=1, name="Sun")
    sim.add(mass=1e-3, a=1, e=0.1, name="Jupiter")
    sim.add(a=2, e=0.3, inc=0.2, Omega=0.3, pomega=0.7, f=1.0)
    return sim


def test_orbits_go_in_and_out():
    sim = planets()
    found = sim.orbit(2)
    assert np.allclose(found, (2, 0.3, 0.2, 0.3, 0.4, found.M, 1.0, 2 * np.pi * np.sqrt(8 / 1.001)), rtol=1e-13)
    centre = sim.mass[:2] @ sim.pos[:2] / 1.001
    assert np.isclose(np.linalg.norm(sim.pos[2] - centre), 2 * (1 - 0.09) / (1 + 0.3 * np.cos(1)), rtol=1e-14)
    sim.add(a=-1, e=2, f=-1.5, primary="Sun")
    assert np.isclose(sim.orbit(3, "Sun").f, -1.5) and sim.orbit(3, "Sun").P == np.inf
    before = sim.energy
    sim.integrate(100)
    assert abs(sim.energy / before - 1) < 1e-14 and np.isclose(sim.orbit("Jupiter").a, 1, rtol=1e-12)
    for wrong, words in (({"e": 0.1}, "semi-major axis"), ({"a": 1, "pos": [1, 0, 0]}, "not both"), ({"a": 1, "M": 0, "f": 0}, "exclude"),
                         ({"a": -1, "e": 2, "f": 3}, "asymptotes"), ({"name": "Sun"}, "already"), ({"pos": [1, 2]}, "shape")):
        refused(ValueError, words, lambda: sim.add(**wrong))
    refused(stdcl.Error, "eccentricity 2", lambda: sim.add(a=1, e=2))
    refused(KeyError, "Pluto", lambda: sim.orbit("Pluto"))
    refused(IndexError, "no body 4 among 4", lambda: sim.remove(4))
    refused(ValueError, "add the star first", lambda: stdcl.NBody().add(a=1))
    refused(stdcl.Error, "no bodies", lambda: stdcl.NBody().integrate(1))
    assert sim.n == 4


def test_integrate_reaches_times():
    for options in ({}, {"dt": 0.03, "integrator": "whfast"}, {"dt": 0.001}):
        sim, seen = planets(), []
        for name, value in options.items():
            setattr(sim, name, value)
        start = sim.pos
        sim.integrate(1, every=0.3, call=lambda s: seen.append(s.time))
        assert np.allclose(seen, [0.3, 0.6, 0.9, 1], rtol=1e-15) and sim.time == 1
        sim.integrate(0)
        assert sim.time == 0 and np.abs(sim.pos - start).max() < (1e-5 if options else 1e-13)
    sim.integrate(0.0105, exact=False)
    assert np.isclose(sim.time, 0.011)
    sim.integrate(2, call=lambda s: s.time > 1)
    assert 1 < sim.time < 1.0021
    refused(ValueError, "finite time", lambda: sim.integrate(np.nan))
    refused(ValueError, "every", lambda: sim.integrate(3, every=0))
    sim.dt = None
    refused(ValueError, "set dt", sim.step)
    refused(ValueError, "give `every`", lambda: sim.integrate(3, call=print))
    sim.integrator = "whfast"
    refused(ValueError, "needs a time step", lambda: sim.integrate(3))


def test_bodies_meet_and_go():
    sim = stdcl.NBody()
    sim.add(1, radius=0.1, name="heavy")
    sim.add(0.1, pos=[1, 0, 0], vel=[-0.1, 0, 0], radius=0.1, name="light")
    sim.add(1e-9, pos=[0, 50, 0], name="far")
    sim.integrate(10)
    assert sim.contacts == [(0, 1)] and sim.time < 2 and np.isclose(sim.pos[1, 0] - sim.pos[0, 0], 0.2)
    sim.merge("heavy", "light")
    assert sim.names == {"heavy": 0, "far": 1} and np.isclose(sim.mass[0], 1.1) and np.isclose(sim.vel[0, 0], -0.01 / 1.1)
    assert np.isclose(sim.radius[0], 0.002 ** (1 / 3))
    sim.integrate(10)
    assert sim.time == 10 and not sim.contacts
    sim.pos = sim.pos + [0, 0, 1]
    sim.move_to_centre()
    assert np.abs(sim.mass @ sim.pos).max() < 1e-15
    refused(ValueError, "read-only", lambda: sim.pos.__setitem__(0, 1))
    refused(ValueError, "itself", lambda: sim.merge(0, "heavy"))


def test_forces_of_python():
    """A body at rest in the middle of drag -k v: v = exp(-k t), x = (1 - exp(-k t)) / k."""
    sim = stdcl.NBody([1e-12], [[0, 0, 0]], [[1, 0, 0]])

    def drag(time, pos, vel, mass, acc):
        acc -= 0.5 * vel
    sim.set_force(drag, of_velocity=True)
    sim.integrate(3)
    assert np.isclose(sim.vel[0, 0], np.exp(-1.5), rtol=1e-12) and np.isclose(sim.pos[0, 0], 2 * (1 - np.exp(-1.5)), rtol=1e-12)

    def fail(*_):
        raise LookupError("no force")
    sim.set_force(fail)
    refused(LookupError, "no force", lambda: sim.integrate(4))
    assert sim.time == 3
    for use in (lambda: sim.add(1), lambda: sim.pos, sim.close, lambda: setattr(sim, "dt", 1), lambda: sim.integrate(9), lambda: sim.remove(0),
                lambda: sim.set_force(None), lambda: setattr(sim, "G", 2), sim.diagnose):
        sim.set_force(lambda *_, use=use: use())
        refused(stdcl.Error, "must not use its simulation", lambda: sim.integrate(4))
        assert sim.time == 3 and sim.n == 1
    sim.set_force(None)
    sim.integrate(4)
    assert np.isclose(sim.vel[0, 0], np.exp(-1.5), rtol=1e-12)


def test_events_have_times():
    """Kepler: the pericentre is passed after whole periods, the apocentre between."""
    sim = stdcl.NBody()
    sim.add(1, name="star")
    sim.add(a=1, e=0.3, M=-1, name="planet")
    for kind in ("pericentre", "apocentre"):
        sim.watch(kind, "planet", "star")
    sim.integrate(19)
    assert [one.kind for one in sim.events] == ["pericentre", "apocentre"] * 3 and sim.events[0].other == 0
    assert np.allclose([one.time for one in sim.events], 1 + np.pi * np.arange(6), rtol=1e-12)
    assert np.isclose(np.linalg.norm(sim.events[1].pos), 1.3, rtol=1e-12)
    sim.watch("transit", "planet", "star", stop=True)
    sim.integrate(100)
    assert sim.events[-1].kind == "transit" and sim.time == sim.events[-1].time < 30
    assert sim.orbit(1).f % (2 * np.pi) < 1e-9 or sim.orbit(1).f % (2 * np.pi) > 2 * np.pi - 1e-9
    refused(ValueError, "kind must be one of encounter", lambda: sim.watch("eclipse"))
    refused(ValueError, "needs the other body", lambda: sim.watch("transit", 1))
    refused(ValueError, "both bodies", lambda: sim.watch("escape", 1, limit=3))


def test_calls_after_a_stop_go_on_from_there():
    def kepler():
        sim = stdcl.NBody()
        sim.add(1, name="star")
        sim.add(name="far", a=300)
        sim.add(a=1, e=0.3, M=0.5, name="planet", primary="star")
        return sim
    sim = kepler()
    sim.watch("apocentre", "planet", "star", stop=True)
    sim.integrate(100)
    assert np.isclose(sim.time, np.pi - 0.5, rtol=1e-12)
    for time in (4, 7):
        sim.integrate(time)
        assert np.isclose(sim.orbit("planet", "star").M, (0.5 + time) % (2 * np.pi), rtol=1e-12)
    sim = kepler()
    sim.watch("apocentre", "planet", "star")
    sim.integrate(2)
    sim.integrate(1)  # back: no apocentre is between
    assert not sim.events
    sim.remove("far")
    sim.integrate(3)
    assert [one.body for one in sim.events] == [1]
    sim = stdcl.NBody(integrator="whfast", dt=0.1)
    sim.add(1)
    sim.add(a=1)
    sim.radius = 0.01
    for _ in range(2):
        refused(stdcl.Error, "nbody_watch_contacts", lambda: sim.integrate(1))
    refused(ValueError, "two different bodies", lambda: sim.watch("encounter", 1, 1, limit=1))


def test_bodies_of_external_forces_stay():
    sim = stdcl.NBody(external="radiation:beta=0.3,body=0,first=2,last=2")
    sim.add(mass=1, name="Sun")
    for a in (1, 2, 3):
        sim.add(mass=0, a=a)
    refused(ValueError, "the numbers in external", lambda: sim.remove(1))
    refused(ValueError, "the numbers in external", lambda: sim.merge("Sun", 1))
    assert sim.n == 4
    sim.external = None
    sim.remove(1)
    assert sim.n == 3


def test_external_forces_have_names():
    ends = []
    for force in ("radiation:beta=0.3,body=Sun,first=dust,last=dust", 'radiation:beta=0.3,body="Sun",first="dust",last=2',
                  "radiation:beta=0.3,body=0,first=2,last=2"):
        sim = stdcl.NBody(external=force)
        sim.add(mass=1, name="Sun")
        sim.add(mass=0, a=1)
        sim.add(mass=0, a=2, name="dust")
        sim.integrate(3)
        ends.append(sim.pos.copy())
    assert (ends[0] == ends[2]).all() and (ends[1] == ends[2]).all()
    sim.external = "radiation:beta=0.3,body=Sun,first=dust,last=dust"
    refused(ValueError, "would change the numbers", lambda: sim.remove("dust"))
    sim.remove(1)  # "dust" has the number 1 now
    before = sim.vel[1].copy()
    sim.integrate(4)
    assert sim.n == 2 and (sim.vel[1] != before).any()
    sim.external = "radiation:beta=0.3,body=Sol"
    refused(ValueError, "there is no body called 'Sol'", lambda: sim.integrate(5))
    sim = stdcl.NBody(integrator="trace", dt=0.1)
    sim.add(1)
    sim.add(a=1)
    sim.set_force(lambda *_: None)
    refused(stdcl.Error, "trace supports no forces beside gravity", lambda: sim.integrate(1))


def test_callback_passes_the_end():
    sim, calls = stdcl.NBody(dt=0.5), []
    sim.add(mass=1, name="Sun")
    sim.add(mass=0, a=1)

    def call(sim):
        calls.append(sim.time)
        if sim.time == 5:
            sim.integrate(10.5)

    sim.integrate(10, every=1, call=call)
    assert sim.time == 10.5 and len(calls) == 10


def test_options_of_dynamicists():
    sim = stdcl.NBody(integrator="whfast", dt=0.1, megno=True)
    sim.add(1)
    sim.add(1e-3, a=1, e=0.1)
    sim.add(1e-6, a=3, e=0.1, inc=0.1)
    sim.integrate(2000)
    assert abs(sim.chaos().megno - 2) < 0.01 and 0 < sim.chaos().lyapunov < 0.01
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        sim.remove(2)
        sim.add(1e-6, a=3, e=0.1, inc=0.1)
        assert len(found) == 1 and "chaos() begins again at time 2000" in str(found[0].message)
        sim.integrate(2010)
        assert np.isclose(sim.chaos().time, 10)
        sim.megno = False
        assert len(found) == 1
    sim.integrator, sim.hill = "trace", 4
    before = sim.energy
    sim.integrate(2100)
    assert abs(sim.energy / before - 1) < 1e-6
    sim = stdcl.NBody(external="nfw:M=100,a=2")  # a circle where the halo's mass inside is 100 (ln 2 - 1/2)
    sim.add(1e-30, pos=[2, 0, 0], vel=[0, np.sqrt(100 * (np.log(2) - 0.5) / 2), 0])
    sim.integrate(5)
    assert np.isclose(np.linalg.norm(sim.pos[0]), 2, rtol=1e-12)
    refused(stdcl.Error, "tangent vector", sim.chaos)
    refused(stdcl.Error, "MEGNO needs at least 2 bodies", lambda: stdcl.NBody([1], [[0, 0, 0]], [[0, 0, 0]], megno=True))


def test_few_bodies_need_no_device():
    program = "import stdcl; sim = stdcl.NBody(); sim.add(1); sim.add(a=1); sim.integrate(10); sim.diagnose(); print(sim.orbit(1).a)"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, text=True,
                          env={**os.environ, "OCL_ICD_VENDORS": "/proc/self/task", "OCL_ICD_FILENAMES": ""})
    assert abs(float(done.stdout) - 1) < 1e-12


def test_missing_driver_is_named():
    program = """
import numpy as np, stdcl
assert stdcl.gpu() is None and stdcl.devices() is None
many = np.random.default_rng(1).normal(size=(3000, 3))
for call in (stdcl.open, lambda: stdcl.sum(many[0]), lambda: stdcl.sort(many[0]), lambda: stdcl.Gas(1000),
             lambda: stdcl.Life(64, 64), lambda: stdcl.NBody(np.ones(3000), many, many, dt=0.1).step()):
    try:
        call()
    except stdcl.Error as error:
        assert "apt-get install pocl-opencl-icd" in str(error), error
    else:
        raise AssertionError("no error")
"""
    subprocess.run([sys.executable, "-c", program], check=True,
                   env={**os.environ, "OCL_ICD_VENDORS": "/proc/self/task", "OCL_ICD_FILENAMES": ""})


def test_view_of_bodies_opens():
    with planets() as sim:
        try:
            link = sim.view()
        except (stdcl.Error, ImportError) as missing:  # built without libwebsockets
            assert "libwebsockets" in str(missing) or "libstdcl_view" in str(missing), missing
            return
        assert link.startswith("http://127.0.0.1:") and sim.view() == link
        assert '<object data="%s"' % link in link._repr_html_() and link.tunnel.startswith("ssh -N -L ")
        png = link._repr_png_()
        assert png[:4] == b"\x89PNG" and base64.b64encode(png).decode() in link._repr_html_()
        shades = zlib.decompress(png[png.index(b"IDAT") + 4:-16])  # 3 dots of 5 x 5 pixels on black
        assert len(shades) == 480 * 481 and len(shades) - shades.count(0) == 75
        with urllib.request.urlopen(link.split("#")[0]) as page:  # a notebook's server is on this machine
            assert "frame-ancestors http://localhost:* http://127.0.0.1:*;" in page.headers["content-security-policy"]
        sim.integrate(1)
        sim.dt = 0.01
        sim.step(100)
        sim.remove(2)
        refused(stdcl.Error, "the view shows 3 bodies", sim.step)
        sim.pos = np.full((sim.n, 3), np.nan)
        assert link._repr_png_()[:4] == b"\x89PNG"


def test_glider_flies():
    life = stdcl.Life(100, 70)
    glider = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]], bool)
    life.put(glider, 10, 20)
    life.step(40)
    expected = np.zeros((70, 100), bool)
    expected[30:33, 20:23] = glider
    assert (life.cells == expected).all() and life.population == 5 and life.generation == 40
    assert life._repr_png_()[:4] == b"\x89PNG"


def test_patterns_are_sets():
    rng = np.random.default_rng(4)
    a, b = ({(int(x), int(y)) for x, y in rng.integers(-9, 9, (60, 2))} for _ in range(2))
    first, second = stdcl.Pattern(a), stdcl.Pattern(sorted(b))
    for result, expected in ((first & second, a & b), (first | second, a | b), (first ^ second, a ^ b), (first - second, a - b),
                             (first.shift(-3, 2**40), {(x - 3, y + 2**40) for x, y in a}), (first.turn("rotate_90"), {(y, -x) for x, y in a}),
                             (first.clip(-2, 0, 5, 3), {(x, y) for x, y in a if -2 <= x < 3 and 0 <= y < 3}),
                             (first.match(stdcl.Pattern([(0, 0), (1, 2)])), {(x, y) for x, y in a if (x + 1, y + 2) in a})):
        assert set(result) == expected and len(result) == len(expected) and result == stdcl.Pattern(expected)
    assert stdcl.Pattern(first.rle("B36/S23")) == first and "B36/S23" in first.rle("B36/S23")
    xs, ys = zip(*a)
    assert first.box == (min(xs), min(ys), max(xs) - min(xs) + 1, max(ys) - min(ys) + 1)
    assert stdcl.Pattern().box is None and not stdcl.Pattern() and stdcl.Pattern().cells.shape == (0, 2)
    assert first != second and first != a and len({first, stdcl.Pattern(first)}) == 1
    refused(TypeError, "pairs", lambda: stdcl.Pattern([1, 2]))
    refused(TypeError, "pairs", lambda: stdcl.Pattern([(0.5, 2)]))
    refused(OverflowError, "2**62", lambda: stdcl.Pattern(np.array([[2**64 - 1, 0]], np.uint64)))
    assert stdcl.Pattern(np.array([[2**40, 0]], np.uint64)) == stdcl.Pattern([(2**40, 0)])
    refused(TypeError, "combined with another pattern", lambda: first | a)
    refused(ValueError, "rotate_180", lambda: first.turn("left"))
    refused(TypeError, "dx must be", lambda: first.shift(0.5, 1))
    refused(stdcl.Error, "line 1", lambda: stdcl.Pattern("3oz!"))


def test_patterns_fly_and_are_identified():
    glider = stdcl.Pattern("bo$2bo$3o!")
    pair = glider | glider.shift(0, -2**50)
    assert pair.step(40) == pair.shift(10, 10) and pair.step(40).count(glider) == 2
    assert len(stdcl.Pattern("3o!").step(3, rule="B2/S")) == 8  # by bgolly
    refused(ValueError, "the rule 'brain' has 3", lambda: glider.step(2, "brain"))
    found = stdcl.identify(glider)
    assert (found.kind, found.period, found.dx, found.dy, found.code) == ("spaceship", 4, 1, 1, "xq4_153")
    blocks = stdcl.identify("2o10b3o$2o!")
    assert blocks.kind == "oscillator" and {(o.code, o.count) for o in blocks.objects} == {("xs4_33", 1), ("xp2_7", 1)}
    apart = stdcl.identify(glider | stdcl.Pattern("2o$2o!").shift(-30, -30))
    assert (apart.kind, apart.period) == ("separate objects", 0) and {o.code for o in apart.objects} == {"xq4_153", "xs4_33"}
    eight = stdcl.Pattern("3o$3o$3o$3b3o$3b3o$3b3o!")
    many = stdcl.identify(eight | stdcl.Pattern("xp14_j9d0d9j").shift(30, 0) | stdcl.Pattern("xp15_4r4z4r4").shift(60, 0), limit=1000)
    assert (many.kind, many.period) == ("separate objects", 840) and sorted(o.period for o in many.objects) == [8, 14, 15]
    assert stdcl.identify("bo$3o$o!", limit=200).kind == "not settled"
    refused(stdcl.Error, "B9", lambda: stdcl.identify(glider, rule="B9"))


def test_patterns_keep_the_rule_of_their_text():
    three = stdcl.Pattern("x = 3, y = 1, rule = B2/S\n3o!")
    assert three.rule == "B2/S" and "rule = B2/S\n" in three.rle() and "rule = B3/S23\n" in three.rle("B3/S23")
    assert len(three.step(3)) == 8 and stdcl.identify("x = 3, y = 1\n3o!").code == "xp2_7"
    assert stdcl.identify("x = 3, y = 1, rule = B2/S\n3o!", limit=50) == stdcl.identify("3o!", rule="B2/S", limit=50)
    assert "rule = B2/S\n" in stdcl.Pattern("3o!").step(3, "B2/S").shift(1, 1).rle() and stdcl.Pattern("3o!").rule is None
    for code in ("xq4_153", "xs12_g8o653z11", "xp15_4r4z4r4"):
        assert stdcl.identify(code).code == code
    refused(ValueError, "has a bounded grid", lambda: stdcl.identify("x = 3, y = 1, rule = B3/S23:T30,30\n3o!"))
    refused(stdcl.Error, "begins no header", lambda: stdcl.Pattern("xyz"))
    refused(ValueError, "still life of 5 cells", lambda: stdcl.Pattern("xs5_33"))


def test_sweep_runs_rules_as_life_does():
    rules = ["B3/S23", "B36/S23", "B/S", "B2/S", "B2-a/S12", "345/2/4"]
    for found in stdcl.sweep(rules, soups=1, seed=5, generations=40):
        with stdcl.Life(64, 64, rule=found.rule) as life:
            life.soup(0.5, 5)
            life.step(40)
            assert found.density == life.population / 4096
    assert stdcl.sweep(["B/S"])[0].kind == "extinct" and stdcl.sweep([]) == []
    refused(stdcl.Error, "B9", lambda: stdcl.sweep(["B9/S"]))
    refused(ValueError, "65536", lambda: stdcl.sweep(rules, soups=0))
    refused(ValueError, "above 0", lambda: stdcl.sweep(rules, density=0))
    refused(ValueError, "above 0", lambda: stdcl.Life(64, 64).soup(0.0))


def test_gas_has_its_energy():
    energy = stdcl.Gas(10**5, seed=3).measure()
    assert abs(energy.sigmas) < 5 and abs(energy.mean_energy - 1.5) < 0.02
    assert stdcl.Gas(1000).velocities(10, 5).shape == (5, 3)


def test_zero_is_not_the_default():
    """In C a member of 0 means its default."""
    for name in ("temperature", "mass", "boltzmann"):
        refused(ValueError, name + " must be above 0, not 0", lambda: stdcl.Gas(1000, **{name: 0}))
        refused(stdcl.Error, "-1 must be a number > 0", lambda: stdcl.Gas(1000, **{name: -1}))
    refused(ValueError, "G must be above 0, not 0.0", lambda: stdcl.NBody([1, 1], np.zeros((2, 3)), np.zeros((2, 3)), G=0.0))
    bodies = stdcl.NBody(G=2)
    refused(ValueError, "G must be above 0", lambda: setattr(bodies, "G", 0))
    assert bodies.G == 2


def test_masked_entries_are_refused():
    x, pairs = (np.ma.array(values, mask=values == 2) for values in (np.array([1.0, 2.0]), np.array([[1, 2], [3, 4]])))
    rows, zeros = np.ma.array(np.eye(3)[:2], mask=np.eye(3)[:2]), np.zeros((2, 3))
    for function in (stdcl.sum, stdcl.mean, stdcl.variance, stdcl.min, stdcl.argmax, stdcl.cumsum, stdcl.sort, stdcl.argsort, stdcl.unique,
                     context().array, lambda v: stdcl.dot([1.0, 1.0], v), lambda v: stdcl.select(v, [1, 1]), lambda v: stdcl.select([1.0, 2.0], v),
                     lambda v: stdcl.histogram(v, 2, (0, 4)), lambda v: stdcl.segmented_sum(v, [0, 2]), lambda v: stdcl.NBody(v, zeros, zeros),
                     lambda v: stdcl.NBody([1, 1], zeros, zeros, eps=v).acc):
        refused(ValueError, "has masked entries", lambda: function(x))
    for call in (lambda: stdcl.matmul(pairs * 1.0, np.eye(2)), lambda: stdcl.matmul(np.eye(2), pairs * 1.0), lambda: stdcl.Pattern(pairs),
                 lambda: stdcl.Life(64, 64).put(pairs), lambda: stdcl.NBody([1, 1], rows, zeros), lambda: stdcl.NBody([1, 1], zeros, rows)):
        refused(ValueError, "has masked entries", call)
    assert stdcl.sum(np.ma.array([1.0, 2.0])) == 3 and stdcl.sum(x.compressed()) == 1


def test_products_are_numpys():
    rng = np.random.default_rng(1)
    for dtype, tolerance in ((np.float32, 1e-4), (np.float64, 1e-12)):
        a, b = rng.random((70, 33)).astype(dtype), rng.random((33, 50)).astype(dtype)
        assert np.allclose(stdcl.matmul(a, b), a @ b, rtol=tolerance)
    assert np.allclose(stdcl.matmul(a.T, a.copy()), a.T @ a)
    with stdcl.Matmul("double", context=context()) as engine:
        assert np.allclose(engine.multiply(a, b), a @ b)
        refused(TypeError, "both must be float64", lambda: engine.multiply(a, b.astype("f4")))
    refused(stdcl.Error, "closed", lambda: engine.multiply(a, b))
    refused(ValueError, "single, double, not 'half'", lambda: stdcl.Matmul("half"))
    assert np.allclose(stdcl.matmul(a, b, alpha=2, beta=3, c=np.ones((70, 50))), 2 * (a @ b) + 3)


def test_templates_and_profiles():
    ctx = context()
    x = ctx.empty(8, "i4")
    program = ctx.template("__kernel void fill(__global int *x) { x[get_global_id(0)] = ${N}; }", N=42)
    with ctx.profile() as profile:
        program.fill(8, x).wait()
    assert (x == 42).all() and "fill" in str(profile) and any(row[0] == "fill" and row[1] == 1 for row in profile)


def test_interrupt_ends_between_bursts():
    class Interrupted(stdcl.NBody):
        def _guarded(self, function):
            looked = super()._guarded(function)  # called by the library between batches: the signal comes shortly before
            return function(lambda *args: os.kill(os.getpid(), signal.SIGINT) or looked(*args))
    run = Interrupted(*stdcl.initial("plummer", 100), dt=1e-6, eps=0.05)
    refused(KeyboardInterrupt, "", lambda: run.step(10**9))
    assert run.time < 500 and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_sizes_and_counts_are_sentences():
    ctx = context()
    x = ctx.empty(np.int64(64))
    twice = ctx.source(SOURCE).twice
    twice(np.int64(64), x).wait()
    for wrong in (1.5, -1, "many", (8, -8), 2**64 + 64):
        refused(TypeError, "index space", lambda: twice(wrong, x))
    refused(TypeError, "three dimensions", lambda: twice((1, 1, 1, 1), x))
    refused(TypeError, "a shape", lambda: ctx.empty((2, -1)))
    refused(TypeError, "takes 1 argument, not 2", lambda: twice(64, x, x))
    refused(TypeError, "takes 1 argument, not 0", lambda: twice(64))
    refused(stdcl.Error, "no device 7", lambda: twice(64, x, device=7))
    twice(64, x).wait()  # what failed before is told once
    refused(TypeError, "a different context", lambda: stdcl.open().source(SOURCE).twice(64, x))
    refused(stdcl.Error, "numpy allocated this array", lambda: (x + 1).to_device())
    refused(stdcl.Error, "bytes", lambda: ctx.empty(2**58))
    refused(TypeError, "bytes of an array", lambda: ctx.empty((2**40, 2**40)))
    refused(TypeError, "a device must be", lambda: twice(64, x, device=-1))
    refused(TypeError, "64 bits", lambda: ctx.template("", N=2**64))
    refused(stdcl.Error, "nonesuch", lambda: stdcl.open("nonesuch"))
    refused(stdcl.Error, "plummer", lambda: stdcl.initial("venus", 3))
    refused(stdcl.Error, "finite", lambda: stdcl.NBody([1], [[0, 0, 0]], [[0, 0, np.nan]], dt=1))


def test_numbers_fit_what_the_kernel_declares():
    ctx = context()
    x = ctx.empty(4)
    kernel = ctx.source("__kernel void f(__global float *x, int i, float f, uchar c, float4 v)"
                        "{ x[get_global_id(0)] = i + f + c + v.y; }").f
    kernel(4, x, np.int32(3), np.float32(0.5), np.uint8(200), np.array([1, 2, 3, 4])).wait()
    assert (x == 205.5).all()
    kernel(4, x, True, 1, 2, [1, 2, 3, 4]).wait()
    assert (x == 6).all()
    refused(TypeError, "argument 3 (c) of f is 300, but the kernel declares uchar", lambda: kernel(4, x, 3, 1, 300, (1, 2, 3, 4)))
    refused(TypeError, "declares int", lambda: kernel(4, x, 2**40, 1, 2, (1, 2, 3, 4)))
    refused(TypeError, "declares int", lambda: kernel(4, x, 3.5, 1, 2, (1, 2, 3, 4)))
    refused(TypeError, "declares uchar", lambda: kernel(4, x, 3, 1, -1, (1, 2, 3, 4)))
    refused(TypeError, "declares float4", lambda: kernel(4, x, 3, 1, 2, (1, 2, 3, 4, 5)))
    refused(TypeError, "declares float4", lambda: kernel(4, x, 3, 1, 2, (1, 2)))
    refused(TypeError, "declares float*", lambda: kernel(4, 12345, 3, 1, 2, (1, 2, 3, 4)))


def test_order_of_rows_is_numpys():
    pos = np.asfortranarray(np.random.default_rng(1).random((10, 3)))
    run = stdcl.NBody(np.ones(10), pos, np.zeros((10, 3), "f4"), dt=1, eps=0.1)
    assert np.allclose(run.pos, pos)
    a = np.asfortranarray(np.random.default_rng(2).random((4, 5)))
    assert np.allclose(stdcl.matmul(a, a.T), a @ a.T)
    refused(TypeError, "not contiguous", lambda: context().source(SOURCE).twice(10, context().empty((4, 5)).T))


def test_use_after_close_is_an_error():
    ctx = stdcl.open()
    x = ctx.empty(64)
    program = ctx.source(SOURCE)
    twice, event = program.twice, program.twice(64, x)
    program.close()
    program.close()
    refused(stdcl.Error, "the program and its kernels are closed", lambda: twice(64, x))
    refused(AttributeError, "closed", lambda: program.saxpy)
    event.wait()
    run = stdcl.NBody([1], [[0, 0, 0]], [[0, 0, 0]], dt=1, context=ctx)
    refused(stdcl.Error, "2 live arrays or engines", ctx.close)
    event = x = None
    gc.collect()
    refused(stdcl.Error, "1 live arrays or engines", ctx.close)
    run.close()
    refused(stdcl.Error, "the simulation is closed", run.diagnose)
    ctx.close()
    ctx.close()
    assert repr(ctx) == "<stdcl.Context closed>"
    for call in (lambda: ctx.empty(1), lambda: ctx.source(SOURCE), ctx.wait, lambda: len(ctx), lambda: twice(64, None)):
        refused((stdcl.Error, TypeError), "", call)


def test_programs_go_with_their_last_kernel():
    ctx = stdcl.open()
    stat = c.clstat_info()
    kernel = ctx.source(SOURCE).twice
    lib.clstat(ctx._use(), stat)
    assert stat.nprg == 1
    del kernel
    gc.collect()
    lib.clstat(ctx._use(), stat)
    assert stat.nprg == 0


def test_names_and_notebooks():
    ctx = context()
    assert len(ctx.names) == len(ctx) >= 1 and ctx.names[0] in repr(ctx) and "<td>" in ctx._repr_html_()
    run = stdcl.NBody(*stdcl.initial("plummer", 100, seed=3), dt=1 / 64, eps=0.05)
    assert "<th>total</th>" in run._repr_html_()
    assert "<th>mean_energy</th>" in stdcl.Gas(1000)._repr_html_()
    with ctx.profile() as profile:
        ctx.source(SOURCE).twice(4, ctx.zeros(4, np.float32)).wait()
    assert "<tr><th>twice</th><td>1</td>" in profile._repr_html_(), profile._repr_html_()
    png = stdcl.Life(30, 20)._repr_png_()
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and png[16:24] == (30).to_bytes(4, "big") + (20).to_bytes(4, "big")


def test_headers_are_the_documentation():
    assert stdcl.documentation("clmalloc").startswith("Allocate")
    assert all(name in c.FUNCTIONS for name in ("nbody_create", "life_step")) and "n >= 1" in stdcl.documentation("nbody_create")


def test_others_see_the_memory():
    x = context().array(np.arange(8, dtype=np.float32))
    if hasattr(np, "from_dlpack"):
        y = np.from_dlpack(x)
        assert y.ctypes.data == x.ctypes.data and x.__dlpack_device__() == (1, 0)
    assert memoryview(x).nbytes == 32 and np.asarray(x).ctypes.data == x.ctypes.data
    try:
        import pyopencl
    except ImportError:
        return
    buffer = pyopencl.Buffer.from_int_ptr(x.to_device().cl_mem)
    assert buffer.size == 32
    queue = pyopencl.CommandQueue.from_int_ptr(lib.clgetqueue(x.context._use(), 0))
    back = np.empty(8, np.float32)
    pyopencl.enqueue_copy(queue, back, buffer)
    assert (back == np.arange(8)).all()


def test_library_of_another_version_is_refused():
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        return
    with tempfile.TemporaryDirectory() as folder:
        for version in ("0.9.9", "2.0.0"):
            library = folder + "/libstdcl.so.1"
            subprocess.run([compiler, "-shared", "-x", "c", "-o", library, "-"], check=True, text=True,
                           env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"},
                           input='const char *stdcl_version(void) { return "%s"; }' % version)
            said = imported(library)
            assert version in said and stdcl.__version__ in said and "install equal versions of both" in said, said
        subprocess.run([compiler, "-shared", "-x", "c", "-o", library, "-"], check=True, text=True, input="int nothing;",
                       env={k: v for k, v in os.environ.items() if k != "LD_PRELOAD"})
        assert "has no function stdcl_version" in imported(library)
        with open(library, "w") as text:
            text.write("no library")
        assert "cannot load" in imported(library)


def test_layout_is_that_of_c():
    path = os.environ.get("STDCL_LAYOUT")
    import ctypes
    checked = 0
    for line in open(path) if path else []:
        name, field, offset, size, _ = line.rstrip("\n").split("\t")
        struct = getattr(c, name, None)
        if struct is None or "." in field:
            continue
        found = (0, ctypes.sizeof(struct)) if field == "-" else (getattr(struct, field).offset, getattr(struct, field).size)
        assert found == (int(offset), int(size)), (name, field, found)
        checked += 1
    assert checked > 100 or not path


def test_fork_after_use_is_refused():
    context()
    child = os.fork()
    if child == 0:
        try:
            refused(stdcl.Error, "forked", lambda: stdcl.open())
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def imported(library):
    """Return the output of an import with this library, in a process of its own."""
    done = subprocess.run([sys.executable, "-c", "import stdcl"], stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, STDCL_LIBRARY=library))
    assert done.returncode == 1
    return done.stderr


def test_missing_library_is_a_sentence():
    said = imported("/nowhere/libstdcl.so.1")
    assert "install the package libstdcl1" in said and "ImportError" in said


def main():
    tests = [(n, f) for n, f in sorted(globals().items()) if n.startswith("test_")]
    for name, function in tests:
        print("[ RUN      ]", name, flush=True)
        function()
        print("[       OK ]", name, flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""registers.py - how many registers the kernels of products take on an NVIDIA GPU, and what they spill, told without one.

    bench/studies/registers.py [TREE] [--arch sm_90] [--family family:hopper]

For each row of tuning/matmul.json: registers of a work-item, and bytes of stores that spill, with tiles that no groups share
(split 0), with parts that groups add up (1), and that a kernel behind them adds up (2). clang makes PTX of last_group.cl and tile.cl with fma.cl or mma.cl,
and ptxas of the CUDA toolkit assembles it. NVIDIA's OpenCL compiler is another front of the same kind, so the numbers are near
its own, not equal. TREE: another checkout, to compare with.
SPDX-License-Identifier: MIT
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

# The OpenCL C built-ins used by these kernels.
BUILT_IN = """
typedef unsigned int uint; typedef unsigned long ulong, size_t; typedef unsigned char uchar; typedef unsigned short ushort;
#define VECTOR(type, n) typedef type type##n __attribute__((ext_vector_type(n)))
VECTOR(float, 2); VECTOR(float, 4); VECTOR(double, 2); VECTOR(double, 4); VECTOR(int, 2); VECTOR(int, 4); VECTOR(uint, 2);
#define INLINED static inline __attribute__((overloadable, always_inline))
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define get_local_id(d) ((size_t)((d) ? __nvvm_read_ptx_sreg_tid_y() : __nvvm_read_ptx_sreg_tid_x()))
#define get_group_id(d) ((size_t)((d) ? __nvvm_read_ptx_sreg_ctaid_y() : __nvvm_read_ptx_sreg_ctaid_x()))
#define get_num_groups(d) ((size_t)__nvvm_read_ptx_sreg_nctaid_x())
#define get_local_size(d) ((size_t)__nvvm_read_ptx_sreg_ntid_x())
#define get_global_id(d) (get_group_id(d) * get_local_size(d) + get_local_id(d))
#define barrier(fences) __asm volatile("bar.sync 0;" ::: "memory")
#define mem_fence(fences) __asm volatile("membar.gl;" ::: "memory")
INLINED uint atomic_inc(__global volatile uint *p)
{
    uint before;
    __asm volatile("atom.global.inc.u32 %0, [%1], -1;" : "=r"(before) : "l"(p) : "memory");
    return before;
}
INLINED float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINED double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
INLINED double2 fma(double2 a, double2 b, double2 c) { return (double2)(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y)); }
INLINED float4 fma(float4 a, float4 b, float4 c)
{
    return (float4)(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z), fma(a.w, b.w, c.w));
}
INLINED int min(int a, int b) { return a < b ? a : b; }
INLINED int max(int a, int b) { return a > b ? a : b; }
INLINED int clamp(int a, int least, int most) { return min(max(a, least), most); }
"""
MACROS = dict(BM="bm", BN="bn", BK="bk", WM="wm", WN="wn", K_GROUPS="k_groups", K_LANES_MIN="k_lanes", ORDER="order",
              COPY_FIRST="copy_first", STAGES="stages", PREFETCH="prefetch", LANE_LAYOUT="lane_layout", SWIZZLE="swizzle",
              ASYNC="async")
OLD_MACROS = dict(SETS="sets", K_LEAST="along", EARLY="early", AHEAD="ahead", LANES="lanes", RASTER="raster")  # of older trees


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr.splitlines()[0] if done.stderr else done.returncode}")
    return done.stderr


def registers(tree, shape, double, split, arch, folder):
    """[(registers, bytes spilled), ...] of the kernels of a shape."""
    knob = dict(word.split("=") for word in shape.split())
    mma = knob.get("mma") == "1"
    options = [f"-D{macro}={knob[name]}" for macro, name in (MACROS | OLD_MACROS).items() if name in knob]
    options += ["-DPTX=90", "-DWIDE_A=1", "-DWIDE_B=1", "-DWIDE_C=1", "-DTAIL=1", "-DTRANS_A=0", "-DTRANS_B=0", f"-DSPLIT_K={split}", f"-DSPLIT={split}"]
    options += ["-DRUN=2"] * mma + ["-DDOUBLES"] * double
    source, ptx = folder / "kernel.cl", folder / "kernel.ptx"
    parts = ["last_group.cl", "meet.cl", "tile.cl", "mma.cl" if mma else "fma.cl"]
    source.write_text(BUILT_IN + "".join((tree / "matmul" / part).read_text() for part in parts if (tree / "matmul" / part).exists()))  # older trees have meet.cl, or neither
    run("clang", "-x", "cl", "-cl-std=CL1.2", "-target", "nvptx64-nvidia-nvcl", "-Xclang", "-cl-ext=+cl_khr_fp64", "-O3", "-S", "-w",
        "-Xclang", "-target-cpu", "-Xclang", "sm_80", *options, "-o", str(ptx), str(source))
    text = re.sub(r"\.version \d\.\d", ".version 8.0", ptx.read_text())
    ptx.write_text(re.sub(r"\.target sm_\d+", f".target {arch}", text))
    told = run("ptxas", f"-arch={arch}", "-v", str(ptx), "-o", str(folder / "kernel.cubin"))
    return re.findall(r"(\d+) bytes spill stores.*\n.*Used (\d+) registers", told)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tree", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--family", default="family:hopper")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for row in json.loads((asked.tree / "tuning" / "matmul.json").read_text())["rows"]:
            if row["device"] != asked.family or ".tiles." not in row["kernel"]:
                continue
            for split in range(3):
                found = registers(asked.tree, row["shape"], "double" in row["kernel"], split, asked.arch, pathlib.Path(folder))
                print(row["kernel"], row["size"], " ".join(row["shape"].split()[:6]), f"split={split}",
                      *(f"registers={used} spilled={spilled}" for spilled, used in found))


main()

/* stdcl/profile.h - where the time went.
 *
 * Part of <stdcl.h>, which includes it.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_PROFILE_H
#define STDCL_PROFILE_H

#include "../stdcl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* STDCL_PROFILE=1 (or table, csv, json) in the environment profiles every context from its making
 * and prints to stderr when the context is destroyed or the program ends; STDCL_TRACE=FILE writes
 * the timeline of all of them to FILE at the end. For programs that decide themselves: */

/* Turns profiling of a context on or off, after waiting for its work. What was gathered stays until
 * clprofile_reset. Queues change: clgetqueue gives another one afterwards. No other thread may be
 * using the context meanwhile. Off costs nothing.
 *   1             counts all commands. On a CPU, on several devices, and when the environment asks
 *                 for a timeline,
 *                 all are timed too. On one GPU, where a time stamp takes some microseconds, these
 *                 are timed: of each size the first 64 commands, all that take longer than 1 ms,
 *                 and of the others one in N, from which the rest is estimated. N is 256, or
 *                 STDCL_PROFILE_SAMPLE=N in the environment (1 times all; EINVAL for what is not a
 *                 whole number from 1 to 1,000,000).
 *   CLPROF_EVERY  counts and times all, as a timeline needs.
 *   0             off */
#define CLPROF_EVERY 2
int clprofile(CLCONTEXT *cp, int on);

/* Forgets what was gathered. */
int clprofile_reset(CLCONTEXT *cp);

/* Says how much work one launch of a kernel is, from its next launch on: floating-point operations,
 * and bytes of device memory read and written; 0 = not known. CLPROF_DOUBLE: the operations are
 * double; CLPROF_TENSOR: and tensor cores do them. EINVAL: not a kernel, or a number that is
 * negative or infinite. */
#define CLPROF_SINGLE 0
#define CLPROF_DOUBLE 1
#define CLPROF_TENSOR 2
int clprofile_work(cl_kernel krn, double flops, double bytes, int precision);

/* A line of a profile: one kernel, or one direction of transfers, on one device. Times in
 * seconds. */
struct clprofile_row {
    cl_uint device;
    const char *name;    /* of the kernel; "host to device", "device to host", "copy on device" */
    int kind;            /* CL_KERNEL_EVENT or CL_MEM_EVENT */
    size_t count, timed; /* commands, and how many of them were timed */
    double total, minimum,
        maximum;         /* total: of all; one that was not timed counts as the mean of its size */
    double bytes;        /* transferred; of kernels, as clprofile_work was given them */
    double flops;        /* likewise */
    double peak_percent; /* of the device's peak, if clpeak measured it before: of flops or bytes,
                          * whichever is more; or 0. 100 at most: what only reads may be faster than
                          * the copy that is the peak */
};

/* Copies at most `room` lines to rows[], the longest total of each device first, after waiting for
 * the work in flight; returns how many there are. Names stay valid until the context is destroyed.
 * This, a report and a trace fail with ENOMEM (0 or -1) once there was no memory on the host to
 * note a command. */
size_t clprofile_rows(CLCONTEXT *cp, struct clprofile_row *rows, size_t room);

/* Prints the profile: CLPROF_TABLE, CLPROF_CSV (a header line, then a line per row) or CLPROF_JSON
 * (one object). Waits for the work in flight, and measures the peaks (clpeak) that the lines are
 * compared with. */
#define CLPROF_TABLE 0
#define CLPROF_CSV 1
#define CLPROF_JSON 2
int clprofile_report(CLCONTEXT *cp, FILE *fp, int format);

/* Marks a phase of the host's work, for the timeline: begin opens one on the calling thread, end
 * closes the innermost; 16 may be open at once, deeper ones are not kept. `name` is copied. Nothing
 * happens while profiling is off. */
void clprofile_begin(CLCONTEXT *cp, const char *name);
void clprofile_end(CLCONTEXT *cp);

/* Writes the timeline in the Chrome trace format (chrome://tracing, ui.perfetto.dev): a track per
 * device for kernels and one for transfers, a track per host thread for phases. Of a context the
 * first 262,144 timed commands and the first 65,536 phases are kept; the file says how many there
 * were beyond. The file appears whole or not at all. */
int clprofile_trace(CLCONTEXT *cp, const char *file);

/* What a device can do at best, measured by small kernels at the first call (some tenths of a
 * second, and building them) and remembered for the process: fused multiply-adds count two
 * operations; a copy counts the bytes read and the bytes written. Blocks; -1 when the device runs
 * none of them. ENOTSUP: Oclgrind, which takes minutes for what a device does in milliseconds. */
struct clpeak_info {
    double flops_single,
        flops_double;    /* operations per second; double 0 when the device has none */
    double bytes_per_s;  /* of device memory */
    double flops_tensor; /* double precision by tensor cores: twice flops_double on NVIDIA GPUs of
                            compute capability 9.0, whose data sheets have 67 and 34 TFLOP/s; 0 on
                            other devices */
};
int clpeak(CLCONTEXT *cp, cl_uint dev, struct clpeak_info *peak);

/* The operations per second of one precision alone (CLPROF_SINGLE, ...), which is measured in less
 * time. CLPROF_TENSOR: of double precision, by tensor cores where the device has them. 0 on
 * failure, and where it has no such numbers. */
double clpeak_flops(CLCONTEXT *cp, cl_uint dev, int precision);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif

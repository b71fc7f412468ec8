/* stdcl/profile.h - profiles and timelines of kernels and transfers; peak rates of devices.
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

/* STDCL_PROFILE=1 (or table, csv, json) in the environment profiles every context from its
 * creation, and prints the profile to stderr when the context is destroyed or the program exits.
 * STDCL_TRACE=FILE writes the timeline of all contexts to FILE at exit. The functions below do this
 * under a program's own control. */

/* Turn profiling of a context on or off, after waiting for its commands. Records are kept until
 * clprofile_reset. The context's queues are replaced: clgetqueue returns different ones afterwards.
 * No other thread may use the context meanwhile. Profiling costs nothing while off.
 *   1             count all commands. On CPUs, on several devices and if the environment requests a
 *                 timeline, time all commands, too. On one GPU, where a time stamp costs some
 *                 microseconds, time a sample: of each size the first 64 commands, all commands
 *                 longer than 1 ms, and one in N of the remainder, from which the total is
 *                 estimated. N is 256, or STDCL_PROFILE_SAMPLE=N in the environment (1 times all;
 *                 EINVAL unless a whole number from 1 to 1,000,000)
 *   CLPROF_EVERY  count and time all commands, as a timeline needs
 *   0             off
 *
 * ENOTSUP for a context of clcontext_adopt.
 */
#define CLPROF_EVERY 2
int clprofile(CLCONTEXT *cp, int on);

/* Discard the records. */
int clprofile_reset(CLCONTEXT *cp);

/* Declare the work of one launch of a kernel, from its next launch on: floating-point operations,
 * and bytes of device memory read and written; 0 = unknown. CLPROF_DOUBLE: the operations are in
 * double precision. CLPROF_TENSOR: in double precision on tensor cores. EINVAL: not a kernel, or a
 * number that is negative or infinite. */
#define CLPROF_SINGLE 0
#define CLPROF_DOUBLE 1
#define CLPROF_TENSOR 2
int clprofile_work(cl_kernel krn, double flops, double bytes, int precision);

/* A row of a profile: one kernel, or one direction of transfers, on one device. Times in
 * seconds. */
struct clprofile_row {
    cl_uint device;
    /* Name of the kernel; "host to device", "device to host" or "copy on device". */
    const char *name;
    int kind;            /* CL_KERNEL_EVENT or CL_MEM_EVENT */
    size_t count, timed; /* commands; commands that were timed */
    /* Seconds; `total` counts an untimed command as the mean of its size. */
    double total, minimum, maximum;
    double bytes; /* transferred, or declared by clprofile_work */
    double flops; /* declared by clprofile_work */
    /* Percent of the device's peak in flops or bytes, the larger of both; 0 if clpeak has not
     * measured the peak. At most 100: a kernel that only reads may exceed the copy that defines the
     * peak. */
    double peak_percent;
};

/* Copy at most `room` rows to rows[], sorted by device and then by decreasing total, after waiting
 * for work in flight. Returns the number of rows available. Names are valid until the context is
 * destroyed. Rows, reports and traces fail with ENOMEM (0 or -1) once a command could not be
 * recorded for lack of host memory. */
size_t clprofile_rows(CLCONTEXT *cp, struct clprofile_row *rows, size_t room);

/* Print the profile as CLPROF_TABLE, CLPROF_CSV (a header line, then one line per row) or
 * CLPROF_JSON (one object). Waits for work in flight, and measures the peaks (clpeak) for
 * comparison. */
#define CLPROF_TABLE 0
#define CLPROF_CSV 1
#define CLPROF_JSON 2
int clprofile_report(CLCONTEXT *cp, FILE *fp, int format);

/* Mark a phase of host work for the timeline: begin opens a phase on the calling thread, end closes
 * the innermost. At most 16 may be open at once; deeper ones are dropped. `name` is copied. No
 * effect while profiling is off. */
void clprofile_begin(CLCONTEXT *cp, const char *name);
void clprofile_end(CLCONTEXT *cp);

/* Write the timeline in the Chrome trace format (chrome://tracing, ui.perfetto.dev): a track per
 * device for kernels and one for transfers, a track per host thread for phases. The first 262,144
 * timed commands and the first 65,536 phases of a context are kept; the file gives the number of
 * dropped ones. The file is written atomically. */
int clprofile_trace(CLCONTEXT *cp, const char *file);

/* Peak rates of a device, measured by small kernels at the first call (some tenths of a second,
 * plus builds) and cached for the process. A fused multiply-add counts as two operations; a copy
 * counts bytes read and bytes written. Blocks. -1 if the device runs none of the kernels. ENOTSUP
 * under Oclgrind, which would take minutes. */
struct clpeak_info {
    double flops_single, flops_double; /* operations/s; double: 0 if unsupported */
    double bytes_per_s;                /* of device memory */
    /* Double precision on tensor cores: twice flops_double on NVIDIA GPUs of compute capability 9.0
     * (67 and 34 TFLOP/s in the data sheets); 0 on other devices. */
    double flops_tensor;
};
int clpeak(CLCONTEXT *cp, cl_uint dev, struct clpeak_info *peak);

/* Measure the operations per second of one precision only (CLPROF_SINGLE, ...), which is faster
 * than clpeak. CLPROF_TENSOR: double precision, on tensor cores if available. 0 on failure or if
 * the device lacks the precision. */
double clpeak_flops(CLCONTEXT *cp, cl_uint dev, int precision);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif

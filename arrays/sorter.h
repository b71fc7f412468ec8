/* sorter.h - the object for prefix sums and sorting.
 *
 *   sorter.c        the object; shapes, kernels, workspace; the common part of all jobs
 *   scan.c          prefix sums
 *   scan_host_threads.h  prefix sums on the host, for CPUs
 *   sort.c          sorting
 *   sort_host.h     sorting on the host, for CPUs
 *   select.c        compaction by flags and of runs, sums of runs
 *   segments.h      sums of segments, histograms
 *   select_host.h, segments_host.h  these on the host, for CPUs
 *   sorter_tune.c   kernels for the search of tuning entries
 *   tiles.h         how work-groups divide an array
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_SORTER_H
#define STDCL_ARRAYS_SORTER_H

#include "core/args.h"
#include "core/embedded.h"
#include "stdcl/arrays.h"

#include <stdbool.h>

/* The tuning keys, like ARRAYS_SHAPE_KEYS of reductions. */
#define SORTER_SHAPE_KEYS(X)                                                                       \
    X(group, 1, 1024, 256, "work-items of a group, a power of two from 32 on; 1 on CPUs")          \
    X(items, 1, 1 << 16, 8, "elements of a tile that an item has")                                 \
    X(groups_per_unit, 1, 64, 8,                                                                   \
      "work-groups for each compute unit, where there are elements enough")                        \
    X(match, 0, 2, 0,                                                                              \
      "how equal digits of 32 items are found: 0 in local memory; NVIDIA: 1 by ballots, 2 in "     \
      "local memory of a warp")                                                                    \
    X(stream, 0, 31, 21,                                                                           \
      "on CPUs: log2 of the elements from which on a sort writes past the caches")                 \
    X(depth, 1, 8, 4, "look-back of a sort: words that an item reads at once")                     \
    X(look_back, 0, 1, 0, "on GPUs: 1: groups wait for the sums of earlier groups (lookback.h)")   \
    X(polls, 0, 1 << 24, 1 << 16, "look-back: reads of a sum before a group computes it itself")

struct sorter_shape {
#define X(key, least, most, value, text) int key;
    SORTER_SHAPE_KEYS(X)
#undef X
};

/* Kernels of programs without look-back, and with it. */
enum { SCAN_SUMS, SCAN_CARRY, SCAN_WRITE, SCAN_FEW };
enum { SORT_COUNT, SORT_SCAN, SORT_COPY, SORT_SCATTER };
enum { LOOKBACK_CLEAR, LOOKBACK_TEST, SCAN_ONCE, SELECT_ONCE = SCAN_ONCE };
enum { SORT_ALL_DIGITS = SORT_COPY + 1, SORT_SWEEP };
enum { SORT_DIGITS = 256, SORT_DIGIT_BITS = 8, MOST_KERNELS = 5 };

/* A kind of program, its tuning entry and its source. */
enum sorter_kind {
    SCAN_32,
    SCAN_64,
    SCAN_FLOAT,
    SCAN_DOUBLE,
    SORT_32, /* sort.c has these five in this order */
    SORT_64,
    SORT_32_WIDE,
    SORT_32_KEYS,
    SORT_64_KEYS,
    SELECT_32, /* select.c has these four in this order */
    SELECT_64,
    UNIQUE_32,
    UNIQUE_64,
    VALUES_FLOAT,
    VALUES_DOUBLE,
    VALUES_INT,
    VALUES_LONG,
    VALUES_BYTE,
    SORTER_KINDS
};
struct sorter_source {
    enum sorter_kind kind;
    const char *row;
    const char *options; /* -D words: NUMBER is the type of an element */
    int bytes;           /* of an element in local memory */
    bool sorts;
    const struct embedded *file;
    const char *const *names; /* of kernels */
    int nnames;
    const char *const *look_back_names; /* of kernels with look-back; NULL: has none */
};

/* Variants of a program, a bit each. */
enum {
    SORT_PAIRED = 1, /* keys have values; without look-back all variants can move values */
    SORT_WIDE_VALUES = 2,
    SORT_SIGNED = 4,
    SORT_FLOATING = 8,
    SORT_DESCENDING = 16,
    SCAN_INCLUSIVE = 32,
};

/* A program of one kind and variant in one shape. */
struct sorter_program {
    const struct sorter_source *source;
    unsigned variant;
    struct sorter_shape shape;
    struct cltune_row row;
    bool look_back; /* false also where the device has failed the test */
    void *program;  /* NULL until needed */
    cl_kernel kernel[MOST_KERNELS];
    struct sorter_program *next;
};

enum { SIZES = 33 }; /* shapes are chosen by log2 of the size */

struct arrays_sorter {
    CLCONTEXT *ctx;
    cl_uint dev;
    /* CL_EVENT flag for untracked launches (core/untracked.h), or 0. */
    int untracked;
    struct cldev_info info;
    char *caller_shape;                                 /* words, or NULL */
    struct sorter_program *programs;                    /* list of all programs */
    struct sorter_program *chosen[SORTER_KINDS][SIZES]; /* last used, NULL until looked up */
    const struct sorter_program *last;                  /* last used */
    void *workspace;                                    /* owned, or NULL */
    /* Do groups that have started go on while others wait for them? */
    enum { PROGRESS_UNTRIED, PROGRESS_YES, PROGRESS_NO } progress;
    /* Words of sums with look-back for up to `tiles` tiles, NULL until needed; the number of the
     * last launch. */
    void *words;
    size_t tiles;
    cl_uint epoch;
    void *totals;             /* of histograms in one launch (segments.c), or NULL */
    struct thread_pool *team; /* of jobs on the host; NULL until needed */
    void *host_workspace;     /* of sorts on the host, of host_bytes bytes, or NULL */
    size_t host_bytes;
};

enum { WORKSPACE_ALIGN = 4096 }; /* alignment of the parts of a workspace */
static inline size_t sorter_align(size_t bytes)
{
    return (bytes + (WORKSPACE_ALIGN - 1)) / WORKSPACE_ALIGN * WORKSPACE_ALIGN;
}

/* Return the program for `most` elements, with its shape chosen, NULL on failure. sorter_open
 * builds it. */
struct sorter_program *sorter_choose(arrays_sorter *s, const struct sorter_source *source,
                                     size_t most, unsigned variant);
int sorter_open(arrays_sorter *s, struct sorter_program *p);

/* Return the tiles of `most` elements, and the number of groups for them, at most one a tile. */
cl_uint sorter_tiles(const struct sorter_program *p, size_t most);
cl_uint sorter_groups(const arrays_sorter *s, const struct sorter_program *p, size_t most);

/* True, with the error set, if a caller gives no job. */
static inline bool no_job(const void *job, const char *caller)
{
    return !job && clerror_set(EINVAL, "%s: the job is NULL", caller) != 0;
}

/* Check that the device has double precision. -1 with ENOTSUP. */
int sorter_check_doubles(const arrays_sorter *s, const char *caller);

/* Check the numbers that all jobs have. */
int sorter_check(const char *caller, int bytes, size_t most, const uintptr_t reserved[8]);

/* Check that a block has `size` bytes from `ptr` on, and that its offset there is a multiple of
 * `align`: the size of an element. `what` names it: "keys". */
int sorter_check_block(const arrays_sorter *s, const char *caller, const char *what,
                       const void *ptr, size_t size, size_t align);

/* As sorter_check_block, and check that the device's image holds data, or copy the image of the
 * only other device that has one. */
int sorter_check_input(const arrays_sorter *s, const char *caller, const char *what,
                       const void *ptr, size_t size, size_t align);

/* Memory of a job: its name for messages, NULL and 0 if there is none. */
struct sorter_range {
    const char *name;
    const void *ptr;
    size_t size;
};

/* Check that no two of n ranges overlap. */
int sorter_check_apart(const char *caller, const struct sorter_range *r, size_t n);

/* Return a workspace of `size` bytes: the caller's if it is given and large enough, else the
 * sorter's own. NULL on failure. */
char *sorter_workspace(arrays_sorter *s, const char *caller, void *work, size_t size);

/* Launch kernel number `kernel` of a program. */
int sorter_launch(arrays_sorter *s, const struct sorter_program *p, int kernel, cl_uint groups,
                  cl_uint nargs, const struct stdcl_arg *args);

/* Before a launch whose groups look back at sums of `tiles` tiles: make room for the words, and
 * give the launch the next number, s->epoch. Pass the status of the launch to sorter_lookback_end,
 * which returns it. */
int sorter_lookback_begin(arrays_sorter *s, const struct sorter_program *p, cl_uint tiles);
int sorter_lookback_end(arrays_sorter *s, int status);

/* True if the host should do a job itself: on a CPU that shares these n arrays (NULL: none), unless
 * the caller chose the shape of the kernels. */
bool sorter_is_for_host(const arrays_sorter *s, const void *const memory[], size_t n);

/* Wait for all commands in the device's queue. */
int sorter_host_begin(arrays_sorter *s, const char *caller);

/* Number of elements of a job on the host. */
size_t sorter_host_count(size_t most, const cl_uint *count);

/* Block until all launches are complete, also after a failure, and return `status`, or -1 if one
 * of them failed. */
int sorter_finish(arrays_sorter *s, int status);

/* ---- sorter_tune.c --------------------------------------------------------------------------- */

/* Variant of a tuned kernel; its `arg`. */
struct sorter_variant {
    bool sorts, values;
    int bytes;
};
enum { SORTER_KNOBS = 6, SORTER_SIZES = 2 };
extern const struct cltune_knob sorter_knobs[SORTER_KNOBS];
extern const size_t sorter_sizes[SORTER_SIZES];
void *sorter_problem_open(const struct cltune_kernel *kernel, CLCONTEXT *cp, size_t n);
void sorter_problem_close(void *problem);
int sorter_allowed(void *problem, const char *shape);
int sorter_verify(void *problem, const char *shape);
int sorter_measure(void *problem, const char *shape, double *seconds, double *work);

#endif

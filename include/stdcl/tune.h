/* stdcl/tune.h - measured kernel shapes: the store of them, and the search for them.
 *
 * Part of <stdcl.h>, which includes it.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_TUNE_H
#define STDCL_TUNE_H

#include "../stdcl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A shape is a line of words KEY=NUMBER (work-group size, bodies an item, unroll, ...): the same
 * line sets a kernel's -D options, the host's launch sizes and a benchmark's label. Rows of shapes
 * come with the library, for families of devices, and are measured on the user's own by `stdcl
 * tune`, which keeps them in $XDG_CACHE_HOME/stdcl/tune.json (by default
 * ~/.cache/stdcl/tune.json). */
struct cltune_row {
    char shape[512];  /* "" when there is no row: the kernel's own defaults are used */
    char source[256]; /* which row was taken and why, a sentence for --explain */
};

/* The row of `kernel` ("nbody.direct.single") for a problem of `size` (a kernel's own measure, such
 * as the number of bodies) on device `dev`. Looks for, in this order: the user's rows of this
 * device and driver; of this device with another driver; shipped rows that name the device; its
 * family (AVX-512 and AVX2 CPUs, NVIDIA's Hopper GPUs, NVIDIA and AMD GPUs); any GPU, any CPU; and
 * among those takes the size nearest by powers of two. Fails only with EINVAL; a user's file that
 * cannot be read counts as empty (see cltune_warning). */
int cltune_find(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size,
                struct cltune_row *row);

/* For a kernel that chooses its row by more than a size: the shipped rows of which cltune_find
 * would take one, the first `most` of them in rows[], in the order of their file, and for what
 * sizes they are in sizes[]. Returns how many these are; 0 when there are none, or where the user
 * has measured this kernel on this device, whose rows come first. -1 with EINVAL, as
 * cltune_find. */
int cltune_rows(CLCONTEXT *cp, cl_uint dev, const char *kernel, struct cltune_row *rows,
                size_t *sizes, size_t most);

/* The number after KEY= in a shape, the last one if KEY stands there several times; or
 * `missing`. */
long cltune_value(const char *shape, const char *key, long missing);

/* A number of a kernel's shape: a member, of type int, of the kernel's own struct. A list of keys
 * ends with one without a name.
 *
 *     struct shape { int group, width; };
 *     static const struct cltune_key keys[] = {{"group", offsetof(struct shape, group), 1, 1024,
 *     64, 0},
 *                                              {"width", offsetof(struct shape, width), 1, 16, 1,
 *                                              0}, {0}}; */
struct cltune_key {
    const char *name;
    size_t offset;
    int least, most; /* the range that words may give */
    int value;       /* the default; may lie outside the range */
    unsigned kinds;  /* bits: the kinds of kernel that have this key; 0: all */
};

/* How the shape of a kernel is chosen. */
struct cltune_rules {
    const char *name; /* of the kernel's library, which begins its messages: "nbody" */
    const struct cltune_key *keys;
    unsigned kind; /* of the kernel, a bit: keys of other kinds are left out when a shape is
                      printed; 0: none are */
    /* Changes defaults for the device; may be NULL. */
    void (*defaults)(void *shape, void *arg);
    /* Checks a shape: 0 when its numbers fit together and the device can run it, else -1 after
     * clerror_set. It may replace numbers. `stored`: they come from a row and not from the user, so
     * that too large ones may be reduced. May be NULL. */
    int (*fit)(void *shape, int stored, void *arg);
    void *arg;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Chooses the shape of `kernel` on a device for a problem of `size`: the defaults; then the row of
 * cltune_find, unless `fit` refuses it; then the caller's words (may be NULL). Fills *shape, and
 * *row with the shape as a line of words and a sentence on where it comes from. EINVAL: a word that
 * is not KEY=NUMBER, a number out of range; else what `fit` says. */
int cltune_choose(const struct cltune_rules *rules, CLCONTEXT *cp, cl_uint dev, const char *kernel,
                  size_t size, const char *words, void *shape, struct cltune_row *row);

/* Writes a shape as a line of words. */
void cltune_print(const struct cltune_rules *rules, const void *shape, char *text, size_t size);

/* Adds a row for this device, driver and power of two of the size to the user's file, in place of
 * an older one; `rate` is what it reached, in `unit`. The file is replaced as a whole, under a
 * lock, so that several processes may write. */
int cltune_store(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size, const char *shape,
                 double rate, const char *unit);

/* 0 if a device takes shipped rows of that name, part of its own or a family; else -1 with EINVAL,
 * and the sentence says which names there are. */
int cltune_fits(CLCONTEXT *cp, cl_uint dev, const char *device);

/* Why the user's file was ignored (one sentence that names it), or NULL; and where that file is, or
 * NULL when the environment names no place for it. Static memory. */
const char *cltune_warning(void);
const char *cltune_file(void);

/* What a kernel's author declares, so that its shape can be searched. Callbacks return 0, or -1
 * after clerror_set. `shape` is a full line of all knobs. */
struct cltune_knob {
    const char *key;
    const int *values; /* to try, ascending */
    size_t count;
};
struct cltune_kernel {
    const char *name;
    const char *unit; /* of rates, "interactions/s" */
    const struct cltune_knob *knob;
    size_t nknobs;
    const size_t *sizes; /* problem sizes worth a row, ascending */
    size_t nsizes;
    /* Prepares a problem of this kernel with its right answer, computed in plain C; NULL after
     * clerror_set. The context has the one device that is tuned, as device 0, and stays until
     * `close` has returned. */
    void *(*open)(const struct cltune_kernel *kernel, CLCONTEXT *cp, size_t size);
    void (*close)(void *problem);
    /* 0 when the device can run this shape at all (local memory, divisibility, ...). Quick. */
    int (*allowed)(void *problem, const char *shape);
    /* Builds the shape and compares its answer with the right one. */
    int (*verify)(void *problem, const char *shape);
    /* Runs it once or a few times: how long one run takes, and the work of a run in the unit. */
    int (*measure)(void *problem, const char *shape, double *seconds, double *work);
    const void *arg;  /* the author's own: what `open` needs to know of this kernel */
    const char *like; /* another kernel, whose row stands in on devices that have none of this one;
                         or NULL */
    uintptr_t reserved[7]; /* must be 0 */
};

/* For `measure`: calls run(problem, n), which does n runs and waits for their end: once to warm up,
 * then with n doubled each time until the runs take 50 ms. *seconds: of one run of the last call.
 * -1 when a call fails. */
int cltune_time(int (*run)(void *problem, size_t n), void *problem, double *seconds);

/* A row of a list of knobs: CLTUNE_KNOB("group", 32, 64, 128). C only; a static list stands outside
 * of functions. */
#define CLTUNE_KNOB(key, ...)                                                                      \
    {                                                                                              \
        key, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int)          \
    }

/* The state of a search, as `progress` gets it after every candidate. A rate is 0 while there is
 * none. */
struct cltune_progress {
    size_t tried, refused,
        wrong; /* so far: all; of them not possible on the device; with a wrong answer */
    double elapsed, budget;       /* seconds */
    double first_rate, best_rate; /* of the shape that it began with; of the best */
    const char *first_shape, *best_shape;
};

/* Searches the shapes of a kernel on a device for `budget` seconds at most (give or take one
 * candidate), starting from the row that cltune_find gives; words of that row that are not knobs
 * stay as they are. Candidates are random at first, then neighbours of the best, and the search
 * ends early when no neighbour is better. A candidate that is twice as slow as the best is dropped
 * after one run. A candidate becomes the best only when its answer was verified and it was faster
 * twice. At the end the best must beat the first row once more, else the first row is the result.
 * `progress` (may be NULL) is called after each candidate; if it returns something other than 0,
 * the search ends with what it has. The same seed tries the same candidates as long as measurements
 * agree. Fills *row with the best and *rate; stores nothing. EINVAL: a kernel without knobs or
 * callbacks; ENOENT: not one shape gives the right answer. */
int cltune_search(const struct cltune_kernel *kernel, CLCONTEXT *cp, cl_uint dev, size_t size,
                  double budget, unsigned long seed,
                  int (*progress)(void *arg, const struct cltune_progress *now), void *arg,
                  struct cltune_row *row, double *rate);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif

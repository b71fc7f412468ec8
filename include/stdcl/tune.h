/* stdcl/tune.h - measured launch shapes of kernels: their database and the search for them.
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

/* A shape is a line of KEY=NUMBER words (work-group size, bodies per item, unroll, ...). One line
 * sets a kernel's -D options, the host's launch sizes and a benchmark's label. The library ships
 * rows of shapes for families of devices. `stdcl tune` measures rows on the user's devices and
 * stores them in $XDG_CACHE_HOME/stdcl/tune.json (by default ~/.cache/stdcl/tune.json). */
struct cltune_row {
    char shape[512];  /* "": no row found; kernel defaults apply */
    char source[256]; /* Which row was chosen and why, a sentence for --explain. */
};

/* Find the row of `kernel` ("nbody.direct.single") for a problem of `size` (the kernel's own
 * measure, such as the number of bodies) on device `dev`. Search order:
 *   1. the user's rows of this device and driver
 *   2. the user's rows of this device with another driver
 *   3. shipped rows that name the device
 *   4. shipped rows of its family (AVX-512 and AVX2 CPUs; NVIDIA Hopper, NVIDIA and AMD GPUs)
 *   5. shipped rows for any GPU or any CPU
 *
 * Among rows of one rank the nearest size in powers of two wins. Fails only with EINVAL; an
 * unreadable user file counts as empty (see cltune_warning). */
int cltune_find(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size,
                struct cltune_row *row);

/* List the shipped rows among which cltune_find would choose, for kernels that choose by more than
 * a size: the first `most` rows in file order in rows[], and their sizes in sizes[]. Returns their
 * number; 0 if there are none, or if the user has measured the kernel on this device, since user
 * rows take precedence. -1 with EINVAL, as cltune_find. */
int cltune_rows(CLCONTEXT *cp, cl_uint dev, const char *kernel, struct cltune_row *rows,
                size_t *sizes, size_t most);

/* Return the number after KEY= in a shape, the last one if KEY occurs several times; `missing` if
 * KEY is absent. */
long cltune_value(const char *shape, const char *key, long missing);

/* A key of a kernel's shape: an int member of the kernel's own struct. A list of keys ends with an
 * entry without a name.
 *
 *     struct shape { int group, width; };
 *     static const struct cltune_key keys[] = {
 *         {"group", offsetof(struct shape, group), 1, 1024, 64, 0},
 *         {"width", offsetof(struct shape, width), 1, 16, 1, 0},
 *         {0}};
 */
struct cltune_key {
    const char *name;
    size_t offset;
    int least, most; /* range accepted from words */
    int value;       /* default; may lie outside the range */
    unsigned kinds;  /* bit mask of kernel kinds with this key; 0: all */
};

/* Rules by which cltune_choose chooses a shape. */
struct cltune_rules {
    const char *name; /* library name, prefix of messages: "nbody" */
    const struct cltune_key *keys;
    /* Kind of the kernel, one bit: keys of other kinds are omitted when a shape is printed; 0: omit
     * none. */
    unsigned kind;
    /* Adapt the defaults to the device; may be NULL. */
    void (*defaults)(void *shape, void *arg);
    /* Check a shape, and correct it where possible: 0 if its numbers are consistent and the device
     * can run it, else -1 after clerror_set. `stored` is nonzero if the numbers come from a row
     * rather than the user; numbers that are too large may then be reduced. May be NULL. */
    int (*fit)(void *shape, int stored, void *arg);
    void *arg;
    uintptr_t reserved[8]; /* must be 0 */
};

/* Choose the shape of `kernel` on a device for a problem of `size`: the defaults, overridden by the
 * row of cltune_find unless `fit` refuses it, overridden by the caller's words (may be NULL). Fills
 * *shape, and *row with the shape as words and the reason for its choice. EINVAL: a word that is
 * not KEY=NUMBER, or a number out of range; otherwise the error of `fit`. */
int cltune_choose(const struct cltune_rules *rules, CLCONTEXT *cp, cl_uint dev, const char *kernel,
                  size_t size, const char *words, void *shape, struct cltune_row *row);

/* Print a shape as a line of words into text[size]. */
void cltune_print(const struct cltune_rules *rules, const void *shape, char *text, size_t size);

/* Store a row in the user's file, replacing an older row of this device, driver and power of two of
 * the size. `rate` is the measured rate, in `unit`. The file is replaced atomically under a lock,
 * so several processes may write. */
int cltune_store(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size, const char *shape,
                 double rate, const char *unit);

/* Check whether a device uses shipped rows named `device`, a part of a device's name or a family.
 * 0, or -1 with EINVAL and a message that lists the valid names. */
int cltune_fits(CLCONTEXT *cp, cl_uint dev, const char *device);

/* cltune_warning: return why the user's file was ignored (one sentence that names it), or NULL.
 * cltune_file: return the file's path, or NULL if the environment defines no place for it.
 * Static. */
const char *cltune_warning(void);
const char *cltune_file(void);

/* Description of a tunable kernel by its author. Callbacks return 0, or -1 after clerror_set.
 * `shape` is a full line of all knobs. */
struct cltune_knob {
    const char *key;
    const int *values; /* candidate values, ascending */
    size_t count;
};
struct cltune_kernel {
    const char *name;
    const char *unit; /* unit of rates, "interactions/s" */
    const struct cltune_knob *knob;
    size_t nknobs;
    const size_t *sizes; /* problem sizes to tune, ascending */
    size_t nsizes;
    /* Prepare a problem of this kernel and its correct result, computed in plain C. NULL after
     * clerror_set. The context has only the device being tuned, as device 0, and is valid until
     * `close` returns. */
    void *(*open)(const struct cltune_kernel *kernel, CLCONTEXT *cp, size_t size);
    void (*close)(void *problem);
    /* Return 0 if the device can run the shape (local memory, divisibility, ...). Fast. */
    int (*allowed)(void *problem, const char *shape);
    /* Build the shape and compare its result with the correct one. */
    int (*verify)(void *problem, const char *shape);
    /* Run the shape once or a few times. Return the seconds of one run, and the work of one run in
     * `unit`. */
    int (*measure)(void *problem, const char *shape, double *seconds, double *work);
    const void *arg; /* user data for `open` */
    /* Another kernel: its row is used on devices without a row of this kernel; or NULL. */
    const char *like;
    uintptr_t reserved[7]; /* must be 0 */
};

/* Time a run, for `measure`. Calls run(problem, n), which performs n runs and waits for completion:
 * once to warm up, then with n doubled until the runs take 50 ms. *seconds: one run's time in the
 * last call. -1 if a call fails. */
int cltune_time(int (*run)(void *problem, size_t n), void *problem, double *seconds);

/* An entry of a list of knobs: CLTUNE_KNOB("group", 32, 64, 128). C only; at file scope for a
 * static list. */
#define CLTUNE_KNOB(key, ...)                                                                      \
    {                                                                                              \
        key, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int)          \
    }

/* State of a search, passed to `progress` after every candidate. A rate is 0 until measured. */
struct cltune_progress {
    /* Candidates so far: all; not runnable on the device; with a wrong result. */
    size_t tried, refused, wrong;
    double elapsed, budget;       /* seconds */
    double first_rate, best_rate; /* of the initial shape; of the best shape */
    const char *first_shape, *best_shape;
};

/* Search the shapes of a kernel on a device for at most `budget` seconds (plus or minus one
 * candidate), starting from the row of cltune_find. Words of the row that are not knobs are kept.
 * Stores nothing.
 *
 * Candidates are random at first, then neighbours of the best; the search ends early if no
 * neighbour is better. A candidate twice as slow as the best is dropped after one run. A candidate
 * becomes the best only if its result is verified and it is faster twice. At the end the best must
 * beat the initial row once more, else the initial row is the result.
 *
 * `progress` (may be NULL) is called after each candidate; a nonzero return value ends the search
 * with the best so far. One seed gives one sequence of candidates as long as the measurements
 * agree. Fills *row with the best shape and *rate with its rate. EINVAL: a kernel without knobs or
 * callbacks. ENOENT: no shape gives the correct result. */
int cltune_search(const struct cltune_kernel *kernel, CLCONTEXT *cp, cl_uint dev, size_t size,
                  double budget, unsigned long seed,
                  int (*progress)(void *arg, const struct cltune_progress *now), void *arg,
                  struct cltune_row *row, double *rate);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif

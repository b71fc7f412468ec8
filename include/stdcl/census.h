/* stdcl/census.h - what random soups leave behind: a census, on any OpenCL device, or several.
 *
 *   life_census *c = life_census_create(&(struct life_census_options){.seed = 1});
 *   life_census_run(c, 1000000);                     a million soups of 16 x 16 cells
 *   const struct life_object *object = life_census_objects(c, &n);
 *   printf("%s %llu\n", object[0].code, object[0].count);      the commonest first
 *   life_census_free(c);
 *
 * A soup lies in the middle of a plane without edges. It runs until nothing changes but by
 * repeating itself; then still lifes and oscillators are told apart and counted by their apgcodes,
 * as Catagolue does, with the spaceships that have left. Soup number i of a seed is the same, and
 * leaves the same, on every device.
 * int functions return 0, or -1 with clerrno set and a sentence in clerror(). Only one thread at a
 * time may use a census; it uses threads of its own. A handle of NULL, which is what a call that
 * failed returns, is EINVAL: what is given back is -1, NULL, 0 or, of a text, "". It may be freed.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CENSUS_H
#define STDCL_CENSUS_H

#include <stdcl/life.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct life_census life_census;

/* Zero means the default. */
struct life_census_options {
    CLCONTEXT *ctx; /* all its devices are used; NULL: stdgpu, else stdcpu. Not owned; must outlive
                       the census */
    const char *rule;     /* as life_rule_normal, without B0; NULL = "B3/S23" */
    size_t width, height; /* of a soup, 1 to 64; 0: 16 */
    double density;       /* the part of its cells that live at the start; 0: half */
    uint64_t seed,
        first; /* soups are numbered from `first` on. Cell (x, y) of soup n is cell (x, y') of the
                  soup of life_soup, y' = y, in column 64 n, with that density and seed */
    uint64_t generations; /* a soup that lives longer is undecided; 0: 100,000 */
    /* Told now and then, in the calling thread, what fraction of a call of life_census_run is done,
     * 0 to 1. It returns 0, or something else to end the call soon, with ECANCELED; soups that were
     * done count, and so do those under way that end within half a second: the others, which live
     * longer, are forgotten. May be NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    uintptr_t reserved[8]; /* must be 0 */
};

/* An object, up to turning, mirroring and its phase. */
struct life_object {
    const char *code; /* xs4_33 is the block, xp2_7 the blinker, xq4_153 the glider
                         (conwaylife.com/wiki/Apgcode) */
    unsigned period;
    int dx, dy; /* cells that it moves in a period, up to turning; 0, 0: none */
    uint64_t count;
    double error; /* the count's standard error, from its scatter among soups: more than by Poisson,
                     as objects come in groups */
    double share, share_error; /* the part of all objects, and its standard error */
    uint64_t soup;             /* the first soup that leaves it */
};

/* Soups that were run, and their objects. Undecided are soups that did not come to rest within so
 * many generations, or grow beyond the largest box, of 2,048 x 2,048 cells, or have an object
 * larger than 58 x 58; they are not among `soups`. */
struct life_census_totals {
    uint64_t soups, objects, generations, undecided;
    uint64_t undecided_soup[8]; /* the numbers of some of them */
    double objects_error; /* the standard error of `objects`, from their scatter among soups */
};

/* Makes an empty census. Builds kernels, which takes a second or so the first time. The caller
 * frees it with life_census_free, NULL is fine there. EINVAL: a wrong rule or option (the sentence
 * names it); ENODEV: no device; ENOMEM; ENOEXEC: a kernel does not build (with the log). */
life_census *life_census_create(const struct life_census_options *options);
void life_census_free(life_census *census);

/* Runs the next so many soups, and blocks until they are done. */
int life_census_run(life_census *census, uint64_t soups);

/* All that was counted so far, the commonest objects first; *n of them. They belong to the census
 * until it runs again. NULL: ENOMEM. */
const struct life_object *life_census_objects(life_census *census, size_t *n);
void life_census_total(const life_census *census, struct life_census_totals *sums);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_CENSUS_H */

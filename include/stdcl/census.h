/* stdcl/census.h - a census of random soups: the objects in their ash, on one or several OpenCL
 * devices.
 *
 *   life_census *c = life_census_create(&(struct life_census_options){.seed = 1});
 *   life_census_run(c, 1000000);                     a million soups of 16 x 16 cells
 *   const struct life_object *object = life_census_objects(c, &n);
 *   printf("%s %llu\n", object[0].code, object[0].count);      most common first
 *   life_census_free(c);
 *
 * Each soup starts in the middle of an unbounded plane and runs until it is periodic. Then its
 * still lifes and oscillators are separated and counted by apgcode, as Catagolue does, together
 * with the spaceships that have left. Soup i of a seed has equal cells and results on every device.
 *
 * int functions return 0, or -1 with clerrno set and a message in clerror(); pointer functions
 * return NULL likewise. One census is used by one thread at a time; it has its own worker threads.
 * A NULL handle gives EINVAL, and the function returns -1, NULL, 0 or "". NULL may be freed.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CENSUS_H
#define STDCL_CENSUS_H

#include <stdcl/life.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct life_census life_census;

/* Options of life_census_create. Zero means the default. */
struct life_census_options {
    /* All devices of the context are used. If all are CPUs, or under Generations, the host computes
     * the soups itself, without kernels. NULL: stdgpu, else stdcpu. Not owned; must outlive the
     * census. */
    CLCONTEXT *ctx;
    /* Rule of the nearest neighbours or of Generations, as for life_rule_normal, without B0. NULL:
     * B3/S23. */
    const char *rule;
    size_t width, height; /* of a soup, 1 to 64; 0 = 16 */
    double density;       /* fraction of live cells at the start; 0 = 1/2 */
    /* Seed, and number of the first soup. Soup n is the column of life_soup's cells (x, y) that
     * starts at x = 64 n, with this density and seed. */
    uint64_t seed, first;
    uint64_t generations; /* limit of a soup's generations; 0 = 100,000 */
    /* Progress callback of life_census_run, in the calling thread, with the fraction done, 0 to 1.
     * A nonzero return value cancels the call soon, with ECANCELED: completed soups count, as do
     * soups that end within half a second; soups that live longer are discarded. May be NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    /* Symmetry as in Catagolue: C1, C2_1, C2_2, C2_4, C4_1, C4_4, D2_+1, D2_+2, D2_x, D4_+1, D4_+2,
     * D4_+4, D4_x1, D4_x4, D8_1 or D8_4. The soup is the union of width x height random cells and
     * their images, at most 64 x 64 in all. NULL: C1, no symmetry. */
    const char *symmetry;
    /* Root of apgsearch's soups, 1 to 64 printable ASCII characters: the cells of soup n
     * are the SHA-256 digest of the root followed by n in decimal. Excludes width, height and
     * density. NULL: random. */
    const char *root;
    uintptr_t reserved[8]; /* must be 0 */
};

/* An object, up to phase and up to rotations and reflections under which the rule is symmetric. */
struct life_object {
    /* apgcode: xs4_33 is the block, xp2_7 the blinker, xq4_153 the glider
     * (conwaylife.com/wiki/Apgcode). Under Generations it has bit planes, as in lifelib: live
     * cells, dying cells, digits of the generations left. */
    const char *code;
    unsigned period;
    int dx, dy; /* displacement per period, up to rotation; 0, 0: none */
    uint64_t count;
    /* Standard error of the count from its scatter among soups; larger than Poisson's, as objects
     * cluster. */
    double error;
    double share, share_error; /* fraction of all objects, and its standard error */
    uint64_t soup;             /* first soup that leaves the object */
};

/* Totals of a census. `generations` counts each soup until it was found periodic, which kernels
 * notice later than the host. Undecided soups are not periodic within the limit of generations,
 * grow beyond the largest box (2,048 x 2,048 cells), or contain an object larger than 58 x 58;
 * `soups` excludes them. */
struct life_census_totals {
    uint64_t soups, objects, generations, undecided;
    uint64_t undecided_soup[8]; /* numbers of some undecided soups */
    double objects_error;       /* standard error of `objects` from its scatter among soups */
};

/* Create an empty census; the caller frees it with life_census_free (NULL is allowed). May build
 * kernels, which takes about a second the first time. EINVAL: an invalid rule or option (named);
 * ENODEV: no device; ENOMEM; ENOEXEC: a kernel does not build (with the log). */
life_census *life_census_create(const struct life_census_options *options);
void life_census_free(life_census *census);

/* Run the next `soups` soups and block until done. */
int life_census_run(life_census *census, uint64_t soups);

/* Return the objects counted so far, the most common first, *n of them (NULL: ENOMEM); and the
 * totals. The objects are owned by the census and valid until its next run. */
const struct life_object *life_census_objects(life_census *census, size_t *n);
void life_census_total(const life_census *census, struct life_census_totals *sums);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_CENSUS_H */

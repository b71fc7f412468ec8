/* census.c - runs soups on devices, box by box, until they are periodic.
 *
 * If all devices are CPUs, or under Generations, the host runs the soups itself, one a thread
 * (census_host.c, census_states.c). Otherwise:
 *
 * A deck is a set of boxes of one size on one device; a launch advances all of them by some
 * generations. Host threads take out periodic boxes, sort and count their ash, and refill the
 * boxes with further soups. A soup that reaches the edge continues in the next larger box:
 *
 *      soups -->  64 x 64  -->  128 x 128  --> ... -->  2,048 x 2,048  -->  undecided
 *
 * A device has two decks of the smallest boxes: one runs while the host processes the other. Decks
 * of larger boxes run when enough boxes are waiting, or when no other work is left. Timing decides
 * which box a soup gets, but not the soup's result.
 * SPDX-License-Identifier: MIT
 */
#include "life/census.h"
#include "life/cells.h"
#include "life/logic.h"
#include "life/grid.h"
#include "life/backend.h"

#include "core/clock.h"
#include "core/parallel_for.h"
#include "core/embedded.h"
#include "core/handle.h"
#include "core/no_device.h"
#include "core/progress.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

EMBEDDED(ternary_text, "life/ternary.h", life_ternary_h);
EMBEDDED(mix_text, "life/mix.h", life_mix_h);
EMBEDDED(census_file, "life/census.cl", life_census_cl);

/* As in census.cl. */
enum { IDLE, RUNNING, SETTLED, TOUCHED };
enum { STATE, GENERATION, MARK, LEFT, LAP, FOUND, GLIDER, HEAD = 16 };
enum {
    PERIOD = 120,
    ROUNDS = 2,
    LAST_ROUNDS = 10,
    LEVELS = 6,
    DECKS = LEVELS + 1,
    SORTERS = 64,
    LONGEST_LIFE = 100000,
    LONGEST_PERIOD = 100000,
    MOST_WAITING = 1 << 16
};
static const double STOP_TIMEOUT = 0.5; /* seconds that running soups get after a cancel */

static size_t box_words(int level)
{
    return (size_t)1 << level;
}
static size_t box_words_total(int level)
{
    return 64 * box_words(level) * box_words(level);
}
/* Words of a box with its dead rows. */
static size_t padded_words(int level)
{
    return box_words_total(level) + 2 * box_words(level);
}

/* A running soup, and the ships that have left it. */
struct soup {
    uint64_t number, generation; /* at the start of its box */
    struct census_ships ships;
    bool restart;    /* waiting soups: restart from generation 0 */
    uint64_t *cells; /* otherwise the cells of its previous, smaller box */
    struct soup *next;
};

struct deck {
    cl_uint dev;
    int level;
    size_t slots, live, used; /* used: leading slots that are copied */
    uint64_t *boxes, *spare, *heads;
    cl_uint *list;     /* slots to run, `live` of them */
    struct soup *soup; /* of each slot */
    cl_event ready;    /* download of the heads of a launch in flight */
};

struct life_census {
    struct census_rule rule;
    CLCONTEXT *ctx;
    struct census_soups soups;
    uint64_t most; /* limit of generations */
    int (*progress)(void *arg, double fraction);
    void *arg;
    int start, far; /* level of new soups; first level in global memory */
    int most_items; /* group size there, where a multiprocessor has a single box */
    void *program[LEVELS];
    cl_kernel kernel[LEVELS];
    struct deck *deck;
    size_t decks;
    struct census_sorter sorter[SORTERS];
    size_t sorters;
    /* Memory of the sorters' threads, if the host runs soups: of two states, or Generations. */
    struct census_host *host[SORTERS];
    struct census_states *states[SORTERS];
    pthread_t caller;     /* of life_census_run */
    size_t running;       /* soups that the host is running */
    pthread_mutex_t lock; /* protects the members below while threads work */
    uint64_t next, end;   /* range of soups to start */
    uint64_t asked, done; /* soups of this call */
    struct soup *waiting[LEVELS];
    size_t waits[LEVELS];
    struct life_census_totals sums;
    bool on_host, failed, stop;
    double stopped;             /* time of the cancel */
    struct life_object *object; /* the result of life_census_objects */
};

/* ---- Create and free. ------------------------------------------------------------------------ */

static void soup_free(struct soup *s)
{
    free(s->ships.ship);
    free(s->cells);
    *s = (struct soup){.number = 0};
}

static void soup_free_waiting(struct soup *s)
{
    for (struct soup *next; s; s = next) {
        next = s->next;
        soup_free(s);
        free(s);
    }
}

void life_census_free(life_census *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->decks; i++) {
        struct deck *d = &c->deck[i];
        clfree(d->boxes);
        clfree(d->spare);
        clfree(d->heads);
        clfree(d->list);
        for (size_t slot = 0; slot < d->slots && d->soup; slot++)
            soup_free(&d->soup[slot]);
        free(d->soup);
    }
    for (int level = 0; level < LEVELS; level++) {
        soup_free_waiting(c->waiting[level]);
        if (c->program[level])
            clclose(c->ctx, c->program[level]);
    }
    for (size_t i = 0; i < c->sorters; i++)
        census_sorter_free(&c->sorter[i]);
    for (size_t i = 0; i < SORTERS; i++) {
        census_host_free(c->host[i]);
        census_states_free(c->states[i]);
    }
    pthread_mutex_destroy(&c->lock);
    free(c->deck);
    free(c->object);
    free(c);
}

/* Work-items of a group. */
static int group_items(const life_census *c, int level)
{
    static const int items[LEVELS] = {32, 64, 128, 256, 256, 256};
    return level < c->far || level < 4 ? items[level] : c->most_items;
}

/* Build the kernel of a level with its options and the rule as text. */
static int census_open_kernel(life_census *c, int level)
{
    enum { OPTIONS = 128 };
    const struct embedded *const front[] = {&ternary_text, &mix_text};
    char text[OPTIONS + LIFE_CIRCUIT_TEXT];
    snprintf(text, OPTIONS, "-D WORDS=%zu -D ITEMS=%d -D GLIDERS=%d -D FAR=%d\n", box_words(level),
             group_items(c, level), c->rule.gliders && level < c->far, level >= c->far);
    if (c->rule.family.counts) {
        life_rule_macros(&c->rule.family.rule, true, text + strlen(text));
    } else {
        life_circuit_text(&c->rule.circuit, text + strlen(text));
    }
    c->program[level] = embedded_open(c->ctx, text, &census_file, 2, front);
    c->kernel[level] = c->program[level] ? clsym(c->ctx, c->program[level], "census", 0) : NULL;
    return c->kernel[level] ? 0 : -1;
}

/* Choose the number of boxes: many on a GPU, few on a CPU, so that the last soups do not wait
 * long. */
static void plan_deck(struct deck *d, cl_uint dev, int level, const struct cldev_info *info)
{
    enum { MOST = 1 << 26, PART = 64 }; /* bytes; fraction of device memory */
    const bool cpu = info->dev_type & CL_DEVICE_TYPE_CPU;
    const size_t units = info->dev_max_core ? info->dev_max_core : 1,
                 bytes = padded_words(level) * sizeof(uint64_t);
    const size_t part = (size_t)(info->dev_global_mem_sz / PART),
                 most = (part < MOST ? part : MOST) / bytes,
                 slots = (cpu ? 32 : 512) * units >> level;
    *d = (struct deck){.dev = dev, .level = level, .slots = slots > most ? most : slots};
    d->slots += !d->slots;
}

/* Create a deck's kernel and memory on first use. */
static int make_deck(life_census *c, struct deck *d)
{
    const size_t bytes = d->slots * padded_words(d->level) * sizeof(uint64_t);
    if (d->list)
        return 0;
    if (!c->kernel[d->level] && census_open_kernel(c, d->level) < 0)
        return -1;
    d->soup = calloc(d->slots, sizeof *d->soup);
    if (!d->soup)
        return clerror_set(ENOMEM, "life: out of memory for a census of %zu soups at once",
                           d->slots);
    d->boxes = clmalloc(c->ctx, bytes, CL_MEM_ZEROCOPY);
    d->spare = clmalloc(c->ctx, d->level < c->far ? sizeof(uint64_t) : bytes, CL_MEM_DEVONLY);
    d->heads = clmalloc(c->ctx, d->slots * HEAD * sizeof(uint64_t), CL_MEM_ZEROCOPY);
    d->list = d->boxes && d->spare && d->heads
                  ? clmalloc(c->ctx, d->slots * sizeof *d->list, CL_MEM_ZEROCOPY)
                  : NULL;
    return d->list ? 0 : -1;
}

/* Return the first level that does not fit every device's local memory, together with a kernel's
 * other local data. */
static int first_far(const struct cldev_info *info, cl_uint n)
{
    enum { ELSE = 4096 };
    int far = 0;
    for (bool fits = true; fits && far < 4; far += fits)
        for (cl_uint dev = 0; dev < n; dev++)
            fits &= padded_words(far) * sizeof(uint64_t) + ELSE <= info[dev].dev_local_mem_sz;
    return far;
}

static int make_decks(life_census *c)
{
    const cl_uint n = clgetndev(c->ctx);
    struct cldev_info *info = calloc(n, sizeof *info);
    c->deck = calloc((size_t)n * DECKS, sizeof *c->deck);
    const int status = info && c->deck
                           ? clgetdevinfo(c->ctx, info)
                           : clerror_set(ENOMEM, "life: out of memory for the list of devices");
    c->far = status == 0 ? first_far(info, n) : 0;
    c->most_items = 1024;
    for (cl_uint dev = 0; dev < n && status == 0; dev++)
        c->most_items = info[dev].dev_max_wg_sz < 1024 ? 256 : c->most_items;
    for (cl_uint dev = 0; dev < n && status == 0; dev++)
        for (int i = c->start; i < DECKS; i++)
            plan_deck(&c->deck[c->decks++], dev, i < LEVELS ? i : c->start, &info[dev]);
    free(info);
    return status < 0 ? -1 : make_deck(c, &c->deck[0]);
}

/* True if the host runs the soups: of Generations, which have no kernel; or if all devices are
 * CPUs, where it is faster than the kernels, which compute all cells of a box. */
static bool host_runs(const life_census *c)
{
    if (c->rule.planes > 1)
        return true;
    const cl_uint n = clgetndev(c->ctx);
    struct cldev_info *info = calloc(n ? n : 1, sizeof *info);
    bool host = info && clgetdevinfo(c->ctx, info) == 0;
    for (cl_uint dev = 0; dev < n && host; dev++)
        host &= (info[dev].dev_type & CL_DEVICE_TYPE_CPU) != 0;
    free(info);
    return host;
}

static int make_hosts(life_census *c)
{
    bool made = true;
    c->on_host = true;
    for (size_t i = 0; i < c->sorters && made; i++)
        made = c->rule.planes > 1 ? (c->states[i] = census_states_create(&c->rule)) != NULL
                                  : (c->host[i] = census_host_create(&c->rule)) != NULL;
    return made ? 0 : clerror_set(ENOMEM, "life: out of memory for the soups of a census");
}

static int census_create_parts(life_census *c, const struct life_census_options *o)
{
    if (census_rule_make(&c->rule, o->rule ? o->rule : "B3/S23") < 0)
        return -1;
    if (census_soups_make(&c->soups, o) < 0)
        return -1;
    for (size_t i = 0; i < sizeof o->reserved / sizeof *o->reserved; i++)
        if (o->reserved[i])
            return clerror_set(EINVAL,
                               "life: reserved[%zu] of the options is not 0; clear the struct", i);
    c->next = c->end = o->first;
    c->most = o->generations ? o->generations : LONGEST_LIFE;
    c->progress = o->progress;
    c->arg = o->arg;
    c->ctx = o->ctx ? o->ctx : stdgpu ? stdgpu : stdcpu;
    if (!c->ctx)
        return clerror_set(ENODEV,
                           "life: there is no OpenCL device for the census; " NO_DEVICE_REMEDY);
    const size_t side = c->soups.width > c->soups.height ? c->soups.width : c->soups.height;
    c->start = side <= 24 ? 0 : 1;
    for (c->sorters = 0; c->sorters < parallel_for_threads(SORTERS); c->sorters++)
        if (census_sorter_make(&c->sorter[c->sorters], &c->rule) < 0)
            return clerror_set(ENOMEM, "life: out of memory for the objects of a census");
    return host_runs(c) ? make_hosts(c) : make_decks(c);
}

life_census *life_census_create(const struct life_census_options *options)
{
    life_census *c = calloc(1, sizeof *c);
    if (!c) {
        clerror_set(ENOMEM, "life: out of memory for a census");
        return NULL;
    }
    pthread_mutex_init(&c->lock, NULL);
    if (census_create_parts(c, options ? options
                                       : &(const struct life_census_options){.ctx = NULL}) == 0)
        return c;
    life_census_free(c);
    return NULL;
}

/* ---- Soups in and out; by many threads. ------------------------------------------------------ */

static uint64_t *slot_box(const struct deck *d, size_t slot)
{
    return d->boxes + slot * padded_words(d->level) + box_words(d->level);
}

static void put_soup(const life_census *c, int level, uint64_t number, uint64_t *box)
{
    const size_t words = box_words(level), x = 32 * words - c->soups.width / 2,
                 y = 32 * words - c->soups.height / 2;
    uint64_t row[CENSUS_PATCH];
    census_soup_rows(&c->soups, number, row);
    memset(box, 0, box_words_total(level) * sizeof *box);
    for (size_t j = 0; j < c->soups.height; j++)
        life_bits_copy(box, (y + j) * words * 64 + x, &row[j], 0, c->soups.width);
}

/* Copy a box into the middle of one of twice its size. */
static void put_box(int level, const uint64_t *from, uint64_t *to)
{
    const size_t words = box_words(level), before = words / 2, rows = 64 * before;
    memset(to, 0, box_words_total(level) * sizeof *to);
    for (size_t y = 0; y < rows; y++)
        life_bits_copy(to, (rows / 2 + y) * words * 64 + rows / 2, from + y * before, 0,
                       64 * before);
}

static void start_slot(struct deck *d, size_t slot)
{
    uint64_t *head = d->heads + slot * HEAD;
    memset(head, 0, HEAD * sizeof *head);
    head[STATE] = RUNNING;
    head[LEFT] = head[LAP] = 1;
}

/* Fill an idle slot with a soup that waits for this level, else with the next soup. */
static void fill_slot(life_census *c, struct deck *d, size_t slot)
{
    struct soup *s = &d->soup[slot], *from = NULL;
    uint64_t *box = slot_box(d, slot);
    bool fresh = false;
    pthread_mutex_lock(&c->lock);
    if (c->waiting[d->level]) {
        from = c->waiting[d->level];
        c->waiting[d->level] = from->next;
        c->waits[d->level]--;
    } else if (d->level == c->start && c->next < c->end && !c->stop &&
               c->waits[c->start + 1] < MOST_WAITING) {
        fresh = true;
        s->number = c->next++;
    }
    pthread_mutex_unlock(&c->lock);
    if (!from && !fresh)
        return;
    if (from) {
        *s = *from;
        free(from);
    }
    if (fresh || s->restart) {
        s->generation = 0;
        s->ships.n = 0;
        put_soup(c, d->level, s->number, box);
    } else {
        put_box(d->level, s->cells, box);
        census_ships_return(&c->rule, &s->ships, box_words(d->level), box, s->generation);
    }
    free(s->cells);
    s->cells = NULL;
    s->restart = false;
    start_slot(d, slot);
}

static void census_set_failed(life_census *c)
{
    pthread_mutex_lock(&c->lock);
    c->failed = true;
    pthread_mutex_unlock(&c->lock);
}

/* Count a soup in the totals. */
static void count_soup(life_census *c, uint64_t number, uint64_t generations, bool decided)
{
    pthread_mutex_lock(&c->lock);
    c->done++;
    c->sums.generations += generations;
    if (decided)
        c->sums.soups++;
    else if (c->sums.undecided++ < sizeof c->sums.undecided_soup / sizeof *c->sums.undecided_soup)
        c->sums.undecided_soup[c->sums.undecided - 1] = number;
    pthread_mutex_unlock(&c->lock);
}

/* Count a finished soup and free its slot. */
static void soup_finish(life_census *c, struct deck *d, size_t slot, bool decided)
{
    struct soup *s = &d->soup[slot];
    count_soup(c, s->number, s->generation, decided);
    soup_free(s);
    d->heads[slot * HEAD + STATE] = IDLE;
}

/* Move a soup to the next larger box: with its cells, or `restart` from generation 0. */
static void soup_enlarge(life_census *c, struct deck *d, size_t slot, bool restart)
{
    if (d->level + 1 == LEVELS) {
        soup_finish(c, d, slot, false);
        return;
    }
    struct soup *s = malloc(sizeof *s);
    const size_t bytes = box_words_total(d->level) * sizeof(uint64_t);
    uint64_t *cells = restart ? NULL : malloc(bytes);
    if (!s || (!cells && !restart)) {
        free(s);
        census_set_failed(c);
        return;
    }
    if (cells)
        memcpy(cells, slot_box(d, slot), bytes);
    *s = d->soup[slot];
    s->restart = restart;
    s->cells = cells;
    d->soup[slot] = (struct soup){.number = 0};
    d->heads[slot * HEAD + STATE] = IDLE;
    pthread_mutex_lock(&c->lock);
    s->next = c->waiting[d->level + 1];
    c->waiting[d->level + 1] = s;
    c->waits[d->level + 1]++;
    pthread_mutex_unlock(&c->lock);
}

/* Add the objects of a soup's ash and its ships. */
static bool sort_soup(struct census_sorter *sorter, const struct soup *s, const struct deck *d,
                      size_t slot)
{
    if (!census_sort(sorter, box_words(d->level), slot_box(d, slot), LONGEST_PERIOD))
        return false;
    for (size_t i = 0; i < s->ships.n; i++)
        if (!census_add_ship(sorter, &s->ships.ship[i]))
            return false;
    return true;
}

static void soup_settle(life_census *c, struct census_sorter *sorter, struct deck *d, size_t slot)
{
    struct soup *s = &d->soup[slot];
    if (census_ships_meet(&s->ships)) {
        soup_enlarge(c, d, slot, true);
        return;
    }
    const bool decided = sort_soup(sorter, s, d, slot);
    if (sorter->no_memory)
        census_set_failed(c);
    if (decided)
        census_soup_counts(sorter, s->number);
    else
        census_soup_forgotten(sorter);
    soup_finish(c, d, slot, decided);
}

/* Remove ships at the edge. If the edge is clear then, the box continues; else it is too small. */
static void soup_touch(life_census *c, struct deck *d, size_t slot)
{
    struct soup *s = &d->soup[slot];
    uint64_t *box = slot_box(d, slot);
    struct census_ship ship;
    int x, y;
    while (census_take_ship(&c->rule, box_words(d->level), box, s->generation, &ship))
        if (!census_ships_add(&s->ships, &ship)) {
            census_set_failed(c);
            return;
        }
    /* Ships may have met outside before they are put back into the larger box. */
    if (census_touches(1, box_words(d->level), box, &x, &y))
        soup_enlarge(c, d, slot, census_ships_meet(&s->ships));
    else
        start_slot(d, slot);
}

/* Process a box that the device has returned. */
static void look_at_slot(life_census *c, struct census_sorter *sorter, struct deck *d, size_t slot)
{
    uint64_t *head = d->heads + slot * HEAD;
    struct soup *s = &d->soup[slot];
    for (uint64_t i = 0; i < head[FOUND]; i++) {
        const struct census_ship ship =
            census_glider(box_words(d->level), head[GLIDER + i], s->generation);
        if (!census_ships_add(&s->ships, &ship)) {
            census_set_failed(c);
            return;
        }
    }
    s->generation += head[GENERATION];
    head[GENERATION] = head[FOUND] = 0;
    if (head[STATE] == SETTLED)
        soup_settle(c, sorter, d, slot);
    else if (s->generation > c->most)
        soup_finish(c, d, slot, false);
    else if (head[STATE] == TOUCHED)
        soup_touch(c, d, slot);
}

struct visit {
    life_census *c;
    struct deck *d;
};

/* Process one thread's part of a deck's slots. */
static void deck_visit_part(void *visit, size_t part)
{
    life_census *c = ((struct visit *)visit)->c;
    struct deck *d = ((struct visit *)visit)->d;
    for (size_t slot = d->slots * part / c->sorters; slot < d->slots * (part + 1) / c->sorters;
         slot++) {
        if (d->heads[slot * HEAD + STATE] != IDLE)
            look_at_slot(c, &c->sorter[part], d, slot);
        if (d->heads[slot * HEAD + STATE] == IDLE && d->level == c->start)
            fill_slot(c, d, slot);
    }
}

/* ---- Launches. ------------------------------------------------------------------------------- */

/* Enqueue a launch. `rounds` grows at the end of a run, when few boxes are left. */
static int deck_launch(life_census *c, struct deck *d, cl_uint rounds)
{
    const size_t items = (size_t)group_items(c, d->level),
                 boxes = d->used * padded_words(d->level) * sizeof(uint64_t),
                 heads = d->used * HEAD * sizeof(uint64_t);
    const cl_event none = (cl_event)-1;
    clndrange_t ndr = clndrange_init1d(0, d->live * items, items);
    if (clmsyncn(c->ctx, d->dev, d->list, d->live * sizeof *d->list, CL_MEM_DEVICE | UNWAITED) ==
            none ||
        clmsyncn(c->ctx, d->dev, d->boxes, boxes, CL_MEM_DEVICE | UNWAITED) == none ||
        clmsyncn(c->ctx, d->dev, d->heads, heads, CL_MEM_DEVICE | UNWAITED) == none ||
        clforka(c->ctx, d->dev, c->kernel[d->level], &ndr, UNWAITED, d->boxes, d->spare, d->heads,
                d->list, rounds) == none ||
        clmsyncn(c->ctx, d->dev, d->boxes, boxes, CL_MEM_HOST | UNWAITED) == none)
        return -1;
    d->ready = clmsyncn(c->ctx, d->dev, d->heads, heads, CL_MEM_HOST | UNWAITED | CL_EVENT_OWN);
    if (d->ready == none) {
        d->ready = NULL;
        return -1;
    }
    return clflush(c->ctx, d->dev, 0);
}

static int deck_wait(life_census *c, struct deck *d)
{
    if (!d->ready)
        return 0;
    const cl_event waited = clwaitev(c->ctx, d->dev, d->ready, CL_EVENT_RELEASE);
    d->ready = NULL;
    return waited == (cl_event)-1 ? -1 : 0;
}

/* True if a deck of larger boxes has enough work, or if no other work is left. */
static bool deck_is_worth_running(const life_census *c, const struct deck *d, bool idle)
{
    return d->live + c->waits[d->level] >= d->slots / 2 ||
           (idle && (d->live || c->waits[d->level]));
}

/* Process a deck's results, refill it and launch it again. `idle`: all soups have been started. */
static int deck_run(life_census *c, struct deck *d, bool idle)
{
    struct visit visit = {c, d};
    if (make_deck(c, d) < 0 || deck_wait(c, d) < 0)
        return -1;
    parallel_for(c->sorters, deck_visit_part, &visit);
    d->live = d->used = 0;
    for (size_t slot = 0; slot < d->slots; slot++) {
        if (d->heads[slot * HEAD + STATE] == IDLE &&
            d->level > c->start) /* fill leading slots first: fewer bytes are copied */
            fill_slot(c, d, slot);
        if (d->heads[slot * HEAD + STATE] == IDLE)
            continue;
        d->list[d->live++] = (cl_uint)slot;
        d->used = slot + 1;
    }
    if (c->failed)
        return clerror_set(ENOMEM, "life: out of memory for the soups of the census");
    return d->live ? deck_launch(c, d, idle && d->level < c->far ? LAST_ROUNDS : ROUNDS) : 0;
}

static int census_tell(life_census *c)
{
    if (c->stop || !progress_cancels(c->progress, c->arg, (double)c->done, (double)c->asked))
        return 0;
    c->stop = true;
    c->stopped = seconds_now();
    return 0;
}

/* True if running soups have exceeded their time after a cancel. */
static bool census_stop_timed_out(const life_census *c)
{
    return c->stop && seconds_now() - c->stopped > STOP_TIMEOUT;
}

/* After an error or at the end of a call: block until the devices are idle, and discard unfinished
 * soups. */
static void census_abandon(life_census *c)
{
    for (int level = 0; level < LEVELS; level++) {
        soup_free_waiting(c->waiting[level]);
        c->waiting[level] = NULL;
        c->waits[level] = 0;
    }
    for (size_t i = 0; i < c->decks; i++) {
        struct deck *d = &c->deck[i];
        d->live = 0;
        if (d->ready) {
            clwaitev(c->ctx, d->dev, d->ready, CL_EVENT_RELEASE);
            d->ready = NULL;
        }
        for (size_t slot = 0; slot < d->slots && d->list; slot++) {
            soup_free(&d->soup[slot]);
            d->heads[slot * HEAD + STATE] = IDLE;
        }
    }
}

/* ---- On the host. ---------------------------------------------------------------------------- */

/* True if the soup is to be discarded. The calling thread reports progress. */
static bool host_poll(void *census)
{
    life_census *c = census;
    pthread_mutex_lock(&c->lock);
    const bool caller = pthread_equal(c->caller, pthread_self());
    const double done = (double)c->done;
    const bool stop = c->failed || census_stop_timed_out(c);
    pthread_mutex_unlock(&c->lock);
    if (!caller || c->stop || !progress_cancels(c->progress, c->arg, done, (double)c->asked))
        return stop;
    pthread_mutex_lock(&c->lock);
    c->stop = true;
    c->stopped = seconds_now();
    pthread_mutex_unlock(&c->lock);
    return stop;
}

/* Take the next soup. False if all are taken. */
static bool host_take(life_census *c, uint64_t *number)
{
    pthread_mutex_lock(&c->lock);
    const bool taken = c->next < c->end && !c->stop && !c->failed;
    if (taken) {
        *number = c->next++;
        c->running++;
    }
    pthread_mutex_unlock(&c->lock);
    return taken;
}

/* Run a soup and count it. */
static void host_soup(life_census *c, size_t thread, uint64_t number)
{
    struct census_sorter *sorter = &c->sorter[thread];
    uint64_t row[CENSUS_PATCH], generations;
    census_soup_rows(&c->soups, number, row);
    const struct census_soup soup = {c->soups.width, c->soups.height, row, c->most, host_poll, c};
    const enum census_end end =
        c->states[thread] ? census_states_soup(c->states[thread], sorter, &soup, &generations)
                          : census_host_soup(c->host[thread], sorter, &soup, &generations);
    if (end == CENSUS_DECIDED)
        census_soup_counts(sorter, number);
    else
        census_soup_forgotten(sorter);
    if (end != CENSUS_STOPPED)
        count_soup(c, number, generations, end == CENSUS_DECIDED);
    pthread_mutex_lock(&c->lock);
    c->failed |= sorter->no_memory;
    c->running--;
    pthread_mutex_unlock(&c->lock);
}

/* A thread's part of a run. All threads stay until the end: none takes the part of the caller,
 * which reports progress. */
static void host_part(void *census, size_t thread)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    life_census *c = census;
    uint64_t number;
    while (host_take(c, &number)) {
        host_soup(c, thread, number);
        host_poll(c);
    }
    for (bool busy = true; busy;) {
        host_poll(c);
        pthread_mutex_lock(&c->lock);
        busy = c->running > 0;
        pthread_mutex_unlock(&c->lock);
        if (busy)
            nanosleep(&moment, NULL);
    }
}

static int host_run(life_census *c)
{
    c->caller = pthread_self();
    parallel_for(c->sorters, host_part, c);
    return c->failed ? clerror_set(ENOMEM, "life: out of memory for the soups of the census") : 0;
}

/* ---- A run. ---------------------------------------------------------------------------------- */

/* Run soups on the devices until all are done. */
static int decks_run(life_census *c)
{
    int status = 0;
    for (bool busy = true; busy && status == 0 && !census_stop_timed_out(c);) {
        busy = c->next < c->end && !c->stop;
        for (size_t i = 0; i < c->decks && status == 0 && !census_stop_timed_out(c); i++) {
            struct deck *d = &c->deck[i];
            bool idle = c->next == c->end ||
                        c->stop; /* all soups were started, and the smallest boxes are empty */
            for (size_t j = 0; j < c->decks; j++)
                idle &= c->deck[j].level != c->start || !c->deck[j].live;
            if (d->ready || (d->level == c->start ? c->next < c->end && !c->stop
                                                  : deck_is_worth_running(c, d, idle)))
                status = deck_run(c, d, idle);
            busy |= d->live > 0 || c->waits[d->level] > 0;
            if (status == 0)
                status = census_tell(c);
        }
    }
    census_abandon(c);
    return status;
}

int life_census_run(life_census *c, uint64_t soups)
{
    if (no_handle(c, __func__))
        return -1;
    c->asked = soups;
    c->done = 0;
    c->stop = false;
    c->end = soups > UINT64_MAX - c->next ? UINT64_MAX : c->next + soups;
    const int status = c->on_host ? host_run(c) : decks_run(c);
    c->next = c->end < c->next ? c->end : c->next;
    c->end = c->next;
    if (status == 0 && c->stop)
        return clerror_set(ECANCELED, "life: the census was stopped after %llu soups",
                           (unsigned long long)c->done);
    return status;
}

/* ---- Results. -------------------------------------------------------------------------------- */

static int object_by_code(const void *a, const void *b)
{
    return strcmp(((const struct life_object *)a)->code, ((const struct life_object *)b)->code);
}

static int object_by_count(const void *a, const void *b)
{
    const struct life_object *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
                                : object_by_code(a, b);
}

/* Add another thread's counts of the same object. Until find_errors, the error members hold sums
 * over soups: of squares, and of products. */
static void add_object(struct life_object *to, const struct life_object *o)
{
    to->count += o->count;
    to->error += o->error;
    to->share_error += o->share_error;
    to->soup = o->soup < to->soup ? o->soup : to->soup;
}

/* Standard errors of an object's count x and of its share x / y among all objects y: the sum over
 * soups of the squared deviations of x from its mean, and of x - (x / y) y. */
static void find_errors(struct life_object *o, double soups, double all, double squares)
{
    const double count = (double)o->count, share = count / all;
    o->share = share;
    o->share_error =
        sqrt(fmax(o->error - 2 * share * o->share_error + share * share * squares, 0)) / all;
    o->error = sqrt(fmax(o->error - count * count / soups, 0));
}

/* The displacements of a ship, up to rotation: the longer one is dx. */
static int longer(int x, int y)
{
    return abs(x) > abs(y) ? abs(x) : abs(y);
}
static int shorter(int x, int y)
{
    return abs(x) > abs(y) ? abs(y) : abs(x);
}

const struct life_object *life_census_objects(life_census *c, size_t *n)
{
    if (no_handle(c, __func__))
        return NULL;
    size_t most = 1, found = 0;
    double all = 0, squares = 0;
    for (size_t i = 0; i < c->sorters; i++)
        most += c->sorter[i].objects;
    struct life_object *object = realloc(c->object, most * sizeof *object);
    *n = 0;
    if (!object) {
        clerror_set(ENOMEM, "life: out of memory for a list of %zu objects", most);
        return NULL;
    }
    c->object = object;
    for (size_t i = 0; i < c->sorters; i++) {
        squares += c->sorter[i].squares;
        for (size_t j = 0; j < c->sorter[i].objects; j++) {
            const struct census_object *o = &c->sorter[i].object[j];
            all += (double)o->count;
            if (o->count)
                object[found++] = (struct life_object){.code = o->name,
                                                       .period = o->motion.period,
                                                       .dx = longer(o->motion.dx, o->motion.dy),
                                                       .dy = shorter(o->motion.dx, o->motion.dy),
                                                       .count = o->count,
                                                       .error = o->squares,
                                                       .share_error = o->products,
                                                       .soup = o->first};
        }
    }
    qsort(object, found, sizeof *object, object_by_code);
    for (size_t i = 0; i < found; i++)
        if (*n && strcmp(object[*n - 1].code, object[i].code) == 0)
            add_object(&object[*n - 1], &object[i]);
        else
            object[(*n)++] = object[i];
    for (size_t i = 0; i < *n; i++)
        find_errors(&object[i], (double)c->sums.soups, all, squares);
    qsort(object, *n, sizeof *object, object_by_count);
    return object;
}

void life_census_total(const life_census *c, struct life_census_totals *sums)
{
    double squares = 0;
    *sums = (struct life_census_totals){0};
    if (no_handle(c, __func__))
        return;
    *sums = c->sums;
    for (size_t i = 0; i < c->sorters; i++) {
        squares += c->sorter[i].squares;
        for (size_t j = 0; j < c->sorter[i].objects; j++)
            sums->objects += c->sorter[i].object[j].count;
    }
    const double all = (double)sums->objects;
    sums->objects_error =
        sums->soups ? sqrt(fmax(squares - all * all / (double)sums->soups, 0)) : 0;
}

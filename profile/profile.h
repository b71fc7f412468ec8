/* profile.h - what the files of the profile share.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "core/observer.h"

/* ---- timeline.c ---- */

/* The most that a context keeps. Phases have room of their own, as the longest of them end last. */
enum { MAX_SPANS = 1 << 18, MAX_PHASES = 1 << 16, MAX_NAMES = 4096 };

/* An interval on a track, ns of the host's monotonic clock. */
struct span {
    uint64_t start, end;
    uint32_t name;  /* of the timeline's names */
    uint32_t track; /* 2 * device + (0 kernels, 1 transfers); of phases, the thread */
};

struct spans {
    struct span *item;
    size_t count, room;
    size_t beyond; /* that were not kept */
};

struct timeline {
    struct timeline *next; /* of those whose context is gone */
    cl_uint ndev;
    char (*device)[128]; /* their names */
    struct spans commands, phases;
    char **name;    /* names[0] stands for all beyond MAX_NAMES */
    uint16_t *slot; /* where a name is, by its hash: 1 + its number */
    uint32_t names;
};

/* Of devices whose names are still to be filled in. NULL when there is no memory. The timelines are
 * not locked: their owner is. */
struct timeline *timeline_new(cl_uint ndev);
void timeline_free(struct timeline *t);

/* Gives the number of a name, which is copied; false when there is no memory. */
bool timeline_name(struct timeline *t, const char *name, uint32_t *number);

/* Keeps a span, up to `most` of them. */
void timeline_add(struct spans *spans, size_t most, struct span span);

/* Nanoseconds during which kernels of at least one device ran, and of two or more; false when there
 * is no memory. */
bool timeline_busy(const struct timeline *t, uint64_t *one, uint64_t *two);

/* Gives back what was set aside for further names and spans: there will be none. */
void timeline_shrink(struct timeline *t);

/* Writes a list of timelines as one file, whole or not at all; times count from `zero`. */
int timeline_write(const struct timeline *list, uint64_t zero, const char *file);

/* ---- profile.c ---- */

/* The commands of a line that are about the same size: work from 2^(size - 1) to 2^size. */
struct stratum {
    struct stratum *next;
    int size;
    size_t started, turn; /* the one to be timed next */
    size_t timed, untimed;
    uint64_t total, early; /* ns, of the timed ones and of the first of them */
};

struct profile_row {
    struct profile_row *next;
    struct profile *profile;
    cl_uint dev;
    int kind;      /* CL_KERNEL_EVENT or CL_MEM_EVENT */
    int precision; /* of the flops */
    uint32_t name; /* of the timeline's names; rows beyond MAX_NAMES share one */
    size_t count, timed;
    uint64_t total, minimum, maximum; /* ns, of the timed ones */
    double flops, bytes;
    struct stratum *strata;
};

enum { DIRECTIONS = 3 }; /* of transfers: HOST_TO_DEVICE and the kinds of commands behind it */

struct profile {
    struct profile *next; /* of all profiles of the process, oldest first */
    uint64_t serial;      /* no two profiles of a process share it */
    CLCONTEXT *cp;
    bool on;
    bool print_at_end;             /* the environment asked */
    int period;                    /* of how many commands one is timed */
    int64_t *offset;               /* host clock minus device clock, ns, per device */
    cl_command_queue *timed_queue; /* per device, the queue that takes time stamps while its own
                                      does not; or NULL */
    pthread_mutex_t lock;          /* guards what follows */
    uint32_t random;
    size_t lost; /* commands and phases that there was no memory to note: a report without them
                    would be wrong */
    struct profile_row *rows;
    struct profile_row **transfer; /* [device * DIRECTIONS + direction] */
    struct timeline *timeline;
};

/* Whether the environment asks for profiles. */
bool profile_wanted(void);

/* Work was told: measures those peaks of a context's devices that a report at the end will ask for,
 * if there will be one, while that can still be done. */
void profile_told(CLCONTEXT *cp, double flops, double bytes, int precision);

/* Prints what the environment asked for, and forgets all. */
void profile_free(CLCONTEXT *cp);

/* ---- lost.c ---- */

/* Counts a command or a phase that there is no memory to note; -1 after fail() when there was one,
 * for a report. */
void profile_lose(struct profile *p);
int profile_lacks(struct profile *p, const char *call);

/* ---- sample.c ---- */

/* 1: every command is timed. -1 after fail(): the environment asks for what makes no sense. */
int sample_period(CLCONTEXT *cp, bool every);

/* From here on a device, whose queue is new and takes time stamps, times single commands only; or,
 * as before, every one or none. */
int timing_sample(struct profile *p, cl_uint dev);
void timing_sample_end(struct profile *p, cl_uint dev);

/* Decides whether a command that is about to be started is timed; `work` says how large it is. */
void timing_choose(struct note *note, double work);

/* Around the start of a command: the queue that it goes to, and its event. */
cl_command_queue timing_begin(const struct profile *p, const struct command *c, struct note *note);
void timing_end(const struct profile *p, const struct command *c, const struct note *note,
                cl_event ev);

/* ns: a command of this size, on average; all commands of a line. */
double stratum_mean(const struct stratum *s);
double sample_total(const struct profile_row *r);
void stratum_add(struct stratum *s, uint64_t ns);

/* ---- profile_report.c ---- */

/* clprofile_report; with `measure` false, percentages are told of devices already measured only. */
int profile_report(CLCONTEXT *cp, FILE *fp, int format, bool measure);

/* ---- peak.c ---- */

/* What clpeak measures, each in its turn. */
enum peak_part { PEAK_SINGLE = 1, PEAK_DOUBLE = 2, PEAK_COPY = 4 };

/* What a share of the peak needs: of so many operations (CLPROF_SINGLE, ...) and bytes. */
unsigned peak_parts(double flops, double bytes, int precision);

/* The rate of operations; tensor cores that a device does not have are as fast as the rest of
 * it. */
double peak_flops(const struct clpeak_info *peak, int precision);

/* clpeak of some parts alone: those that were not measured before are; others may be 0. */
int peak_measure(CLCONTEXT *cp, cl_uint dev, unsigned parts, struct clpeak_info *peak);

/* What was measured of a device before; false when one of the parts was not. */
bool peak_known(CLCONTEXT *cp, cl_uint dev, unsigned parts, struct clpeak_info *peak);

#endif

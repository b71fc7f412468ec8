/* profile.h - types and calls shared by the files of the profile.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "core/observer.h"

/* ---- timeline.c ---- */

/* Limits per context. Phases have a limit of their own, because the longest end last. */
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
    size_t beyond; /* number of spans dropped at the limit */
};

struct timeline {
    struct timeline *next; /* of destroyed contexts */
    cl_uint ndev;
    char (*device)[128]; /* their names */
    struct spans commands, phases;
    char **name;    /* names[0] stands for all names beyond MAX_NAMES */
    uint16_t *slot; /* hash table: 1 + number of the name */
    uint32_t names;
};

/* Create a timeline; the caller fills in the devices' names. NULL if out of memory. A timeline has
 * no lock: its owner locks. */
struct timeline *timeline_new(cl_uint ndev);
void timeline_free(struct timeline *t);

/* Set *number to the number of a name, which is copied; false if out of memory. */
bool timeline_name(struct timeline *t, const char *name, uint32_t *number);

/* Keep a span, up to `most` spans. */
void timeline_add(struct spans *spans, size_t most, struct span span);

/* Nanoseconds during which kernels ran on at least one device, and on at least two; false if out
 * of memory. */
bool timeline_busy(const struct timeline *t, uint64_t *one, uint64_t *two);

/* Free the capacity reserved for further names and spans. */
void timeline_shrink(struct timeline *t);

/* Write a list of timelines as one file, whole or not at all. Times count from `zero`. */
int timeline_write(const struct timeline *list, uint64_t zero, const char *file);

/* ---- profile.c ---- */

/* Commands of a row with about the same size: work from 2^(size - 1) to 2^size. */
struct stratum {
    struct stratum *next;
    int size;
    size_t started, turn; /* turn: the next command to be timed */
    size_t timed, untimed;
    uint64_t total, early; /* ns, of all timed commands and of the first ones */
};

struct profile_row {
    struct profile_row *next;
    struct profile *profile;
    cl_uint dev;
    int kind;      /* CL_KERNEL_EVENT or CL_MEM_EVENT */
    int precision; /* of the flops */
    uint32_t name; /* number in the timeline's names; rows beyond MAX_NAMES share one */
    size_t count, timed;
    uint64_t total, minimum, maximum; /* ns, of the timed ones */
    double flops, bytes;
    struct stratum *strata;
};

enum { DIRECTIONS = 3 }; /* of transfers: HOST_TO_DEVICE and the two kinds after it */

struct profile {
    struct profile *next; /* of all profiles of the process, oldest first */
    uint64_t serial;      /* unique in the process */
    CLCONTEXT *cp;
    bool on;
    bool print_at_end;             /* requested by the environment */
    int period;                    /* one of this many commands is timed */
    int64_t *offset;               /* host clock minus device clock, ns, per device */
    cl_command_queue *timed_queue; /* per device, a queue with time stamps, used while the device's
                                      queue has none; or NULL */
    pthread_mutex_t lock;          /* guards the members below */
    uint32_t random;
    size_t dropped; /* records dropped because the host was out of memory */
    struct profile_row *rows;
    struct profile_row **transfer; /* [device * DIRECTIONS + direction] */
    struct timeline *timeline;
};

/* True if the environment requests profiles. */
bool profile_wanted(void);

/* The work of a kernel was set: measure the peaks that the report at exit will need, while the
 * driver still works. */
void profile_told(CLCONTEXT *cp, double flops, double bytes, int precision);

/* Print what the environment requests, then free the profile. */
void profile_free(CLCONTEXT *cp);

/* ---- dropped.c ---- */

/* Count a dropped record. profile_check_complete: -1 after fail() if a report would miss records.
 */
void profile_drop(struct profile *p);
int profile_check_complete(struct profile *p, const char *call);

/* ---- sample.c ---- */

/* Return the sampling period; 1: every command is timed. -1 after fail(): the environment's value
 * is invalid. */
int sample_period(CLCONTEXT *cp, bool every);

/* Switch a device, whose new queue takes time stamps, to sampling; or restore the timing of every
 * command or none. */
int timing_sample(struct profile *p, cl_uint dev);
void timing_sample_end(struct profile *p, cl_uint dev);

/* Decide whether the command about to be started is timed; `work` is its size. */
void timing_choose(struct command_record *note, double work);

/* Called before and after the start of a command: return its queue; take its event. */
cl_command_queue timing_begin(const struct profile *p, const struct command *c,
                              struct command_record *note);
void timing_end(const struct profile *p, const struct command *c, const struct command_record *note,
                cl_event ev);

/* Mean duration in ns of a command of this size; total of all commands of a row. */
double stratum_mean(const struct stratum *s);
double sample_total(const struct profile_row *r);
void stratum_add(struct stratum *s, uint64_t ns);

/* ---- profile_report.c ---- */

/* clprofile_report. measure false: percentages only for devices that were measured before. */
int profile_report(CLCONTEXT *cp, FILE *fp, int format, bool measure);

/* ---- peak.c ---- */

/* Parts of clpeak, measured separately. */
enum peak_part { PEAK_SINGLE = 1, PEAK_DOUBLE = 2, PEAK_COPY = 4 };

/* Parts needed for the share of the peak, given a launch's operations (CLPROF_SINGLE, ...) and
 * bytes. */
unsigned peak_parts(double flops, double bytes, int precision);

/* Peak rate of operations; a device without tensor cores counts its ordinary rate. */
double peak_flops(const struct clpeak_info *peak, int precision);

/* clpeak of some parts: measures those not known yet; the others may be 0. */
int peak_measure(CLCONTEXT *cp, cl_uint dev, unsigned parts, struct clpeak_info *peak);

/* Known rates of a device; false if one of the parts was not measured. */
bool peak_known(CLCONTEXT *cp, cl_uint dev, unsigned parts, struct clpeak_info *peak);

#endif

/* stepping.h - what the kinds of time steps share: batches of steps, updates, rollback.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_STEPPING_H
#define STDCL_NBODY_STEPPING_H

#include "nbody/engine.h"

/* Maximum level of steps of dt / 2^level. A step of the engine has TICKS ticks. */
enum { DEEPEST = 40 };
#define TICKS ((cl_ulong)1 << DEEPEST)

/* Enqueue leapfrog's update between a step of length closing_dt and one of opening_dt, in engine
 * units. */
int nbody_leapfrog_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                          const struct update *u, double closing_dt, double opening_dt);

/* Return the level of the adaptive step that begins at tick `now`, where w2 is the square of the
 * greatest frequency; above DEEPEST if its length vanishes. nb->integration.dt is the longest step.
 */
int nbody_adaptive_level(const struct nbody *nb, double w2, cl_ulong now);

/* Return the lowest level from `level` on at which a step may begin at tick `now`. */
int nbody_adaptive_align(int level, cl_ulong now);

/* Fail with EDOM in the current step. vanished: name the closest pair of the positions x, 3 numbers
 * per body; _between: name both bodies; _at: name `body`, which needs the step, if fields or forces
 * may be the cause, else the closest pair. not_finite: `smaller` names what to reduce. */
int nbody_step_vanished(const struct nbody *nb, const double *x);
int nbody_step_vanished_between(const struct nbody *nb, size_t a, size_t b);
int nbody_step_vanished_at(const struct nbody *nb, size_t body, const double *x);
int nbody_step_not_finite(const struct nbody *nb, const char *smaller);

/* Run a batch of steps. Return the number (from 1) of the first bad one, more than `steps` + 1 if
 * all are good, or -1 on error. */
int nbody_integrate_batch(struct nbody *nb, size_t steps);

struct contact_paths;

/* Look for contacts along the paths of an inner step, in engine units. 0 if there is none; -1 with
 * ENOMEM. 1 if the call ends: contacts are recorded, and *h is the fraction of the path where it
 * ends, at the first contact or with `to_first` false at 1. */
int nbody_watch_paths(struct nbody *nb, const struct contact_paths *paths, bool to_first,
                      double *h);

/* Contacts in a step that parts of the bodies make on their own. part: record those along the paths
 * of the bodies with these numbers, which end `left` before the step does. add: record contacts, in
 * engine units. settle: after the step, whose end is the end of `paths`, keep the first contact of
 * each pair, in the order of time. 0; -1 with ENOMEM. */
int nbody_watch_part(struct nbody *nb, const struct contact_paths *paths, const size_t *body,
                     double left);
int nbody_watch_add(struct nbody *nb, const struct nbody_contact *contact, size_t n);
int nbody_watch_settle(struct nbody *nb, const struct contact_paths *paths);

/* Look for events along the paths of all bodies, from the caller's time `time` on, up to the
 * fraction *end of the paths. 0; -1 with ENOMEM; 1 if an event ends the call: with `to_first` *end
 * is set to its place. */
int nbody_events_search(struct nbody *nb, const struct contact_paths *paths, double time,
                        bool to_first, double *end);

/* As nbody_events_search, along the cubics of a step that began with the velocities v; times are
 * those of ias15 (events_repeat.c). */
int nbody_events_cubic(struct nbody *nb, const struct contact_paths *paths, const double *v,
                       double time);

/* Append an event; -1 with ENOMEM. Sort the events from number `from` on, in the direction of the
 * run. */
int nbody_events_append(struct nbody *nb, const struct nbody_event_record *one);
void nbody_events_sort(struct nbody *nb, size_t from, bool backward);

/* Forget the events of the previous call; or the events of a step that has been undone. */
void nbody_events_begin(struct nbody *nb);
void nbody_events_undo(struct nbody *nb);

/* Copy the engine's G m of all bodies. */
int nbody_host_masses(struct nbody *nb, double *gm);

/* True if a contact or an event ends the call. */
static inline bool nbody_watch_ends(const struct nbody *nb)
{
    return nb->integration.watch.n > 0 || nb->integration.events.ended;
}

/* Forget the contacts of the previous call, or of the current step. */
void nbody_watch_begin(struct nbody *nb);

/* Read positions and velocities of all bodies, in engine units; 0 or -1. */
typedef int watch_reader(struct nbody *nb, double (*x)[3], double (*v)[3]);

/* Bodies at both ends of an inner step that all make together, in engine units; memory belongs to
 * old_x, which is NULL if neither contacts nor events are looked for. open: before the first inner
 * step; read: NULL from the devices. inner_step: after each one, of dt in engine units; 0, -1, or 1
 * if the call ends. */
struct watch_path {
    watch_reader *read;
    double (*old_x)[3], (*old_v)[3], (*x)[3], (*v)[3], *cubic;
    double time;      /* the caller's, at the begin of the inner step */
    bool events_only; /* contacts are looked for elsewhere */
};
int nbody_watch_open(struct nbody *nb, struct watch_path *path, watch_reader *read);
int nbody_watch_inner_step(struct nbody *nb, struct watch_path *path, double dt);
void nbody_watch_close(struct watch_path *path);

/* Get and set the tick that the current step of the engine has reached. TICKS completes it. */
cl_ulong nbody_watch_tick(const struct nbody *nb);
void nbody_watch_set_tick(struct nbody *nb, cl_ulong tick);

/* A kind of time steps. The first of `steppers` (steppers.c) that applies to an engine makes its
 * steps. */
struct stepper {
    bool (*applies)(const struct nbody *nb);
    int (*open)(struct nbody *nb);              /* kernels and memory; NULL: none */
    int (*run)(struct nbody *nb, size_t steps); /* nbody_step */
    void (*free)(struct nbody *nb);             /* of open; NULL: nothing to do */
    /* True if `run` ends at contacts and completes interrupted steps; NULL: never. */
    bool (*watches)(const struct nbody *nb);
};
/* True if steps end at contacts. */
static inline bool nbody_watch_is_possible(const struct nbody *nb)
{
    const struct stepper *s = nb->integration.stepper;
    return s->watches && s->watches(nb);
}

extern const struct stepper nbody_stepper_host;  /* steps on the host, of any length */
extern const struct stepper nbody_stepper_few;   /* steps of few bodies on the host */
extern const struct stepper nbody_stepper_block, /* individual steps with direct sums */
    nbody_stepper_rungs;                         /* and with the tree */
extern const struct stepper nbody_stepper_adaptive, nbody_stepper_fixed;
/* The usual `begin`: evaluate initial forces if needed, then update with KICK_DRIFT. */
int nbody_integrate_begin(struct nbody *nb);

/* save: copy the regions that a step changes to the host; 1 if out of memory. restore: write them
 * back to the devices. */
int nbody_rollback_save(struct nbody *nb);
int nbody_rollback_restore(struct nbody *nb);

/* Run a step of the engine, the call's step number `done`. If it is cancelled or fails with EDOM,
 * restore the state before it, provided there was memory to save it. */
int nbody_rollback_run(struct nbody *nb, int (*step)(struct nbody *nb, double done), double done);

/* Enqueue an update on every device with bodies. */
int nbody_update_all(struct nbody *nb, const struct update *u);

#endif

/* internal.h - what the files of the world share.
 *
 *   request.c      transfers: started, moved in the background, waited for
 *   collect.c   what all ranks do together, made of mail
 *   finalize.c     how a job ends: each rank's last word to rank 0
 *   notify.c      a number that one rank tells all, at any time
 *   about.c     what is asked about a world
 *   world.c     a world is made of a transport, and left
 *   threads.c   ranks that are threads of one process; one of them is a world alone
 *   launch.c    which launcher started us, and the plugin of its MPI; world_mpi.c is that plugin
 *   devices.c   which devices of a host are whose
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_WORLD_INTERNAL_H
#define STDCL_WORLD_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "stdcl/world.h"
#include "world/transport.h"

/* Tags above those of callers. */
enum { TAG_CALLERS = 10000, TAG_COLLECTIVE = TAG_CALLERS, TAG_NOTE, TAG_GO, TAG_TOLD };

enum { HOST_BYTES = 64, SENTENCE_BYTES = 1000 };

struct world_request {
    struct world_request *next;
    int rank, tag;
    bool sends, standing;      /* standing: nobody waits for it, so there is no hurry */
    bool forsaken;             /* nobody has it any more: it is freed when it is done */
    char *bytes;               /* the caller's, or a copy behind the requests */
    size_t size, pieces, done; /* done: pieces that have arrived */
    struct transport_request request[];
};

/* A rank's last word, or what it knows of a failure. */
struct note {
    int32_t status, rank;
    int32_t awaited; /* the rank whose silence this one reports, or -1 */
    int32_t alike;   /* of a join of notes: all ranks failed with these words */
    char sentence[SENTENCE_BYTES];
};

struct stdcl_world {
    const struct transport *by;
    void *state;
    int rank, size, hosts;
    bool background; /* a thread moves mail */
    char carrier[TRANSPORT_WHY];
    char (*host)[HOST_BYTES];
    double patience; /* seconds */
    struct world_options options;

    pthread_mutex_t lock;   /* of all below, and of calls of the transport */
    pthread_cond_t changed; /* mail was posted, or the world is left */
    pthread_t mover;
    bool moving, leaving;
    struct world_request *flight; /* under way */
    struct world_request *held;   /* given up, and the transport may still touch the bytes */
    unsigned hurried;             /* of them not standing */
    size_t load;                  /* bytes of the long ones of these */
    double posted;                /* when the last long one was */
    int waiting;                  /* threads that wait for mail, and move it */
    atomic_int callers;           /* threads that want the lock, but for the mover */
    double *waited;               /* seconds, for each rank; of the thread that waits */
    char broken[TRANSPORT_WHY];   /* why the transport works no more */
    int awaited; /* the rank that patience was lost with, or mail of whom broke the transport; or -1
                  */

    struct world_request **notes_mail; /* rank 0: receives of the others' notes */
    struct note *notes;
    bool ending;         /* rank 0 is in world_leave or world_abort */
    double standing_due; /* by the clock: when standing mail is looked at again */
    bool news;           /* some of it has come, which the mover is to look at */

    atomic_int told; /* the first number that this rank was told or tells; 0: none */
    bool passed_on;
    struct neighbour *neighbour; /* whom it hears that from, and whom it tells */
    int neighbours;

    void (*watch)(stdcl_world *world); /* called without the lock after mail has moved; NULL while
                                          the world is made */
};

/* ---- request.c ----------------------------------------------------------------------------------
 */

/* As world_send and world_receive, with any tag. */
struct world_request *request_post(stdcl_world *w, bool sends, int rank, int tag, void *bytes,
                                   size_t size, bool standing);
/* Waits up to `seconds`: 0 done, 1 not yet, -1 the transport is broken. Frees nothing. */
int request_wait_until(stdcl_world *w, const struct world_request *mail, double seconds);
/* Gives mail up unless it is done, and frees it: what is on its way here does not come. What is
 * sent and not long goes on, as a copy. */
void request_drop(stdcl_world *w, struct world_request *mail);
/* All that is under way; and what a transport kept, after it was left. */
void request_drop_all(stdcl_world *w);
void request_free_detached(struct world_request *held);
bool request_done(stdcl_world *w, const struct world_request *mail);
/* Posts one and waits for it; -1 as world_wait. */
int send_blocking(stdcl_world *w, int rank, int tag, const void *bytes, size_t size);
int receive_blocking(stdcl_world *w, int rank, int tag, void *bytes, size_t size);
/* Ends all ranks at once. */
void transport_abort(stdcl_world *w, int status);
/* Starts and ends the thread that moves mail in the background. */
int progress_thread_start(stdcl_world *w);
void progress_thread_stop(stdcl_world *w);

/* ---- collect.c ------------------------------------------------------------------------------- */

/* The sentence of a note, with rank and host unless all failed alike. */
void note_tell(const stdcl_world *w, const struct note *note, char *text, size_t size);

/* ---- finalize.c ---------------------------------------------------------------------------------
 */

int finalize_start(stdcl_world *w);
/* The end of a rank, which waits for the others. True: all ended alike, so that the transport may
 * be left; false: it was broken off, or `end` was called. */
bool finalize_finish(stdcl_world *w, int status, const char *sentence);
/* Looks whether a rank has failed; without the lock. */
void finalize_poll(stdcl_world *w);
void finalize_free(stdcl_world *w);

/* ---- notify.c ----------------------------------------------------------------------------------
 */

int notify_start(stdcl_world *w);
/* Passes on what has come; without the lock. */
void notify_poll(stdcl_world *w);
/* Collective, when nothing moves mail in the background any more. */
void notify_finish(stdcl_world *w);
void notify_free(stdcl_world *w);

/* ---- world.c --------------------------------------------------------------------------------- */

/* How long a rank waits for another; the usual time and -1 after clerror_set when $STDCL_TIMEOUT
 * is no time. */
int timeout_read(double *seconds);

/* Collective: a world of what by->join has filled in. `host` NULL: this machine's name. Takes the
 * state over, also when it fails. */
stdcl_world *world_make(const struct transport *by, void *state, int rank, int size,
                        bool background, const char *carrier, const char *host,
                        const struct world_options *options);

/* ---- threads.c ------------------------------------------------------------------------------- */

/* Ranks in threads of one process: each calls world_of_threads with the same `threads`, which
 * threads_create made for `size` of them. delay: mail takes a random time of up to so many
 * microseconds, by `seed`. polled: nothing moves mail in the background. */
struct threads;
struct threads *threads_create(int size, unsigned delay, unsigned seed);
void threads_free(struct threads *threads);
/* What is under way and all that comes fails: a rank is not there any more. */
void threads_stop(struct threads *threads);

/* An order in which mail arrives, one piece after the other: while ranks can go on without any,
 * none does. Where several pieces could be the next, choice[k] says which, of of[k]; `planned`
 * choices are given, and the others are the first, or by chance if `random` is not 0. Ranks are
 * polled. What is sent is copied at once (1), never (0), or by turns (2). */
enum { ORDERS_MOST = 4096 };
struct orders {
    uint64_t random;
    int copies, planned, made;
    enum {
        ORDER_MAIL,
        ORDER_TOGETHER,
        ORDER_ENDS
    } what; /* callers' mail; also that of collect.c; also of finalize.c and notify.c. The rest
               arrives at once */
    unsigned short choice[ORDERS_MOST], of[ORDERS_MOST];
    uint64_t sequence; /* a number of the order in which callers' mail has arrived */
    bool other; /* a planned choice was of another number of pieces: the program is not the same
                   each time */
    bool stuck; /* for `patience` seconds all ranks waited, and nothing could arrive */
    double patience;
};
void threads_order(struct threads *threads, struct orders *orders);
/* Plans the next order after one that was run; false: there is none. */
bool orders_next(struct orders *orders);

stdcl_world *world_of_threads(struct threads *threads, int rank, const char *host, bool polled,
                              const struct world_options *options);

#endif

/* window.h - the window: state shared by the run's thread and the server's.
 *
 * The run's thread never waits for the server's: shared data goes through atomic flags
 * (exchange_slot.c) or a lock that the run's thread only tries.
 * SPDX-License-Identifier: MIT
 */
#ifndef VIEW_WINDOW_H
#define VIEW_WINDOW_H

#include "view/server.h"

/* ---- exchange_slot.c ---- */

/* Run's thread: the slot to fill in; NULL: the server has not taken the last one. slot_publish
 * passes it on. */
struct shown *slot_begin(struct exchange_slot *box);
void slot_publish(struct exchange_slot *box);
/* Server's thread: swap *shown with the published one; false: nothing new. */
bool slot_take(struct exchange_slot *box, struct shown *shown);
void shown_free(struct shown *shown);

/* ---- budget.c ---- */

struct budget {
    double cost[3],
        owed; /* seconds of the last pictures; excess over the median not compensated yet */
};
/* Seconds until the next picture may come, after one that took `cost` seconds, so that all
 * pictures take at most `share` of the time. The median of the last three counts. Costs above it
 * are spread over the next pictures, at most one median per picture and sixteen in all: compiling
 * a kernel once delays little. */
double budget_wait(struct budget *budget, double cost, double share);
/* The fraction of the server's thread's time that slows the run down. */
double budget_server_share(double busy, double cores);

/* ---- thread.c ---- */

int thread_start(struct view *v);
void thread_wake(struct view *v);
void thread_join(struct view *v);

/* ---- view.c ---- */

enum { MOST_COMMANDS = 16, ROWS_IN_FLIGHT = 1024 };

struct view {
    struct about about;
    char token[2][TOKEN]; /* with all rights; guest */
    char url[2][160], tunnel[320], tokens[2 * TOKEN];
    struct listener listening;
    struct recording *recording;
    struct server *server; /* NULL: not listening */
    pthread_t thread;
    bool started;

    /* Shared by both threads. */
    atomic_int wanted;    /* number of viewers, plus 1 for a recording */
    atomic_int viewers;   /* viewers */
    atomic_int behind;    /* viewers without the newest state, as far as the server has taken it */
    atomic_bool reopens;  /* the link is served again after view_close */
    atomic_bool changed;  /* a viewer wants data that is not shown yet */
    atomic_ullong moved;  /* time when a viewer wanted other cells, ns */
    atomic_size_t bodies; /* largest number wanted */
    atomic_ullong worked; /* ns of work of the server's thread */
    struct exchange_slot box[KINDS];
    atomic_size_t rows_in, rows_out; /* positions in `row`, a ring buffer */
    double *row;
    sem_t wake;           /* for a thread without sockets */
    pthread_mutex_t lock; /* guards the members below; the run's thread only tries it */
    pthread_cond_t asked;
    struct view_command command[MOST_COMMANDS];
    size_t commands;
    struct view_region region[VIEW_REGIONS];
    int regions;
    struct view_state state;
    double box_of_cells[4];           /* left, top, right, bottom; equal: none */
    char rule[VIEW_RULE_BYTES];       /* after a change; "": the rule of the options */
    char objects[VIEW_OBJECTS_BYTES]; /* names of the objects at a step */
    uint64_t objects_step;
    char *profiles; /* the message of the distributions; NULL: none */
    unsigned profiles_shown;
    char say[512];   /* the run's last sentence for viewers */
    unsigned said;   /* number of the run's sentences */
    unsigned states; /* number of changes of the state */
    char *ending;    /* the run's final message; NULL: it is running */
    bool closing;

    /* Used by the run's thread only. */
    uint32_t *order;
    struct budget budget;
    double beat, due, due_soon, began,
        told; /* times by seconds_now: `due`: next picture by the rate; `due_soon`: next picture
                 after a viewer moved; `began`: start of the current picture; `told`: last report of
                 the state */
    struct view_state reported;
    double boxed[4];          /* last box_of_cells */
    bool rows_given;          /* of a replay */
    size_t profiles_replayed; /* number of the distributions shown last of a replay; 0: none */
    bool shown;               /* a paused run has shown its state */
    bool stood;               /* the run was paused at its last report */
    unsigned long long worked_before,
        used_before;       /* at the last picture, ns: server's thread; all threads */
    double settled, cores; /* its time; number of processors */
};

#endif

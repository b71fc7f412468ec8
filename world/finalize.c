/* finalize.c - how a job ends.
 *
 * Each rank's last word is a note to rank 0: a status, and a sentence if it is not 0. When all have
 * come and have one status, rank 0 lets all go, and the transport is left in order. When one has
 * failed and others say nothing, for they compute or wait for it, rank 0 tells its sentence and
 * ends all ranks at once. Nobody leaves MPI alone: that would leave the others hanging.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

#include "core/clock.h"
#include "world/drain_stdio.h"

#include <stdio.h>

static const double GRACE_SECONDS =
    1; /* between the first failure that is known and the end: others may fail alike */
static const double GO_SECONDS = 8; /* a rank that has failed waits so long for rank 0 */

/* ---- Rank 0: what the others said. ----------------------------------------------------------- */

/* How many notes are there, counted only when all should be, and whether one of them is a
 * failure. */
static int count_notes(stdcl_world *w, bool *failure)
{
    int n = 0;
    for (int r = 1; r < w->size; r++) {
        const bool here = request_done(w, w->notes_mail[r]);
        n += here;
        *failure |= here && w->notes[r].status != 0;
    }
    return n;
}

/* The note to tell: a rank that failed by itself, then one that waited for a rank that says
 * nothing, then any. */
static const struct note *choose(stdcl_world *w, const bool *here)
{
    for (int way = 0; way < 3; way++)
        for (int r = 0; r < w->size; r++) {
            const struct note *n = &w->notes[r];
            if (here[r] && n->status &&
                (way == 2 || (way == 0 ? n->awaited < 0 : n->awaited >= 0 && !here[n->awaited])))
                return n;
        }
    return NULL;
}

/* Tells why the job ends. Returns whether all ranks are here with one status. */
static bool judge(stdcl_world *w, bool own, int *status)
{
    bool *here = calloc((size_t)w->size, sizeof *here), all = own, alike = true;
    if (!here)
        return false;
    for (int r = 0; r < w->size; r++) {
        here[r] = r == 0 ? own : request_done(w, w->notes_mail[r]);
        all = all && here[r] && w->notes[r].status == w->notes[0].status;
        alike = alike && here[r] && strcmp(w->notes[r].sentence, w->notes[0].sentence) == 0;
    }
    const struct note *chosen = choose(w, here);
    *status = chosen ? chosen->status : 0;
    if (chosen && w->options.ended && *chosen->sentence) {
        struct note told = *chosen;
        char text[SENTENCE_BYTES + HOST_BYTES + 32];
        told.alike |= all && alike;
        note_tell(w, &told, text, sizeof text);
        w->options.ended(w->options.arg, text);
    }
    if (*status && all) /* launchers end a job when one of its ranks has ended with another status
                           than 0; a job that is ended waits itself */
        drain_stdio();
    free(here);
    return all;
}

/* A failure ends all, unless rank 0 comes to an end itself. */
void finalize_poll(stdcl_world *w)
{
    bool failure = false;
    int status = 0;
    for (int r = 1; w->notes_mail && r < w->size && !failure;
         r++) { /* without moving mail again: this is called after that */
        pthread_mutex_lock(&w->lock);
        failure = !w->ending && w->notes_mail[r]->done && w->notes[r].status != 0;
        pthread_mutex_unlock(&w->lock);
    }
    if (!failure)
        return;
    const double since = seconds_now();
    bool ending = false;
    while (!ending && seconds_now() - since < GRACE_SECONDS) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        pthread_mutex_lock(&w->lock);
        ending = w->ending || w->leaving;
        pthread_mutex_unlock(&w->lock);
    }
    if (ending)
        return;
    pthread_mutex_lock(&w->lock);
    w->ending = true; /* from now on nobody else judges */
    pthread_mutex_unlock(&w->lock);
    judge(w, false, &status);
    transport_abort(w, status);
}

int finalize_start(stdcl_world *w)
{
    if (w->rank != 0 || w->size == 1)
        return 0;
    w->notes = calloc((size_t)w->size, sizeof *w->notes);
    w->notes_mail = calloc((size_t)w->size, sizeof *w->notes_mail);
    if (!w->notes || !w->notes_mail)
        return clerror_set(ENOMEM, "world_join: no memory for %d ranks", w->size);
    for (int r = 1; r < w->size; r++)
        if (!(w->notes_mail[r] =
                  request_post(w, false, r, TAG_NOTE, &w->notes[r], sizeof *w->notes, true)))
            return -1;
    return 0;
}

void finalize_free(stdcl_world *w)
{
    for (int r = 1; w->notes_mail && r < w->size; r++)
        request_drop(w, w->notes_mail[r]);
    free(w->notes_mail);
    free(w->notes);
}

/* ---- The end. -------------------------------------------------------------------------------- */

static bool let_go(stdcl_world *w)
{
    char go = 1;
    for (int r = 1; r < w->size; r++)
        if (send_blocking(w, r, TAG_GO, &go, 1) != 0)
            return false;
    return true;
}

static bool finish_first(stdcl_world *w, const struct note *own)
{
    const double since = seconds_now();
    double failed = own->status ? since : 0;
    int status = 0;
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    w->notes[0] = *own;
    pthread_mutex_unlock(&w->lock);
    for (bool failure = own->status != 0; count_notes(w, &failure) < w->size - 1 && !*w->broken;) {
        const double now = seconds_now();
        if (failure && failed == 0)
            failed = now;
        if ((failure && now - failed > GRACE_SECONDS) || now - since > w->patience)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    if (judge(w, true, &status) && let_go(w))
        return true;
    transport_abort(w, status ? status : 1);
    return false;
}

static bool finish_other(stdcl_world *w, struct note *own)
{
    char go = 0;
    struct world_request *sent = request_post(w, true, 0, TAG_NOTE, own, sizeof *own, false);
    struct world_request *mail = sent ? request_post(w, false, 0, TAG_GO, &go, 1, false) : NULL;
    const int came =
        mail ? request_wait_until(w, mail, own->status ? GO_SECONDS : w->patience) : -1;
    if (came == 0)
        request_wait_until(w, sent, w->patience); /* it has arrived */
    request_drop(w, mail);
    request_drop(w, sent);
    if (came == 0)
        return true;
    if (came > 0)
        transport_abort(w, own->status ? own->status : 1);
    return false;
}

/* No note comes any more. MPI may not be left in order then, so it is broken off. */
static bool finish_broken(stdcl_world *w, const struct note *own)
{
    int status = own->status;
    if (w->rank == 0) {
        pthread_mutex_lock(&w->lock);
        const bool judged = w->ending;
        w->ending = true;
        w->notes[0] = *own;
        pthread_mutex_unlock(&w->lock);
        if (!judged)
            judge(w, true, &status);
    }
    transport_abort(w, status ? status : 1);
    return false;
}

bool finalize_finish(stdcl_world *w, int status, const char *sentence)
{
    struct note own = {.status = status, .rank = w->rank, .awaited = w->awaited};
    snprintf(own.sentence, sizeof own.sentence, "%s", sentence ? sentence : "");
    if (w->size == 1)
        return true;
    if (*w->broken)
        return finish_broken(w, &own);
    return w->rank == 0 ? finish_first(w, &own) : finish_other(w, &own);
}

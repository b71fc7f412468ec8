/* collect.c - collective operations, built on requests and therefore the same on every transport.
 *
 * All of them go up and down a binomial tree: in round k, rank r, a multiple of 2^(k+1), receives
 * from r + 2^k what that rank has collected so far. A reduction takes 2 log2(ranks) messages and
 * combines neighbours first, always in the same order.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

#include <stdio.h>

/* ---- Down the tree, and up. ------------------------------------------------------------------ */

/* Rotate the ranks so that `root` is the root of the tree. */
static int rotate_rank(const stdcl_world *w, int rank, int root)
{
    return (rank + root) % w->size;
}

int world_broadcast(stdcl_world *w, int root, void *bytes, size_t size)
{
    if (world_size(w) == 1)
        return 0;
    if (root < 0 || root >= w->size)
        return clerror_set(EINVAL, "world_broadcast: there is no rank %d of %d", root, w->size);
    const int place = (w->rank - root + w->size) % w->size;
    int step = 1;
    while (step < w->size && place % (2 * step) == 0)
        step *= 2;
    if (place > 0 &&
        receive_blocking(w, rotate_rank(w, place - step, root), TAG_COLLECTIVE, bytes, size) != 0)
        return -1;
    for (step /= 2; step > 0; step /= 2)
        if (place + step < w->size &&
            send_blocking(w, rotate_rank(w, place + step, root), TAG_COLLECTIVE, bytes, size) != 0)
            return -1;
    return 0;
}

/* The bytes of ranks r ... r + step - 1 are contiguous and go up together. */
static int gather_to_root(stdcl_world *w, char *all, size_t size)
{
    for (int step = 1; step < w->size; step *= 2) {
        const int from = w->rank + step, left = w->size - from;
        if (w->rank % (2 * step) != 0) {
            const int own = w->size - w->rank < step ? w->size - w->rank : step;
            return send_blocking(w, w->rank - step, TAG_COLLECTIVE, all + (size_t)w->rank * size,
                                 (size_t)own * size);
        }
        if (left > 0 && receive_blocking(w, from, TAG_COLLECTIVE, all + (size_t)from * size,
                                         (size_t)(left < step ? left : step) * size) != 0)
            return -1;
    }
    return 0;
}

int world_gather(stdcl_world *w, const void *mine, size_t size, void *all)
{
    memcpy((char *)all + (size_t)world_rank(w) * size, mine, size);
    if (world_size(w) == 1)
        return 0;
    return gather_to_root(w, all, size) == 0 ? world_broadcast(w, 0, all, (size_t)w->size * size)
                                             : -1;
}

static int reduce_to_root(stdcl_world *w, void *bytes, void *other, size_t size,
                          void (*join)(void *, const void *, void *), void *arg)
{
    for (int step = 1; step < w->size; step *= 2) {
        if (w->rank % (2 * step) != 0)
            return send_blocking(w, w->rank - step, TAG_COLLECTIVE, bytes, size);
        if (w->rank + step >= w->size)
            continue;
        if (receive_blocking(w, w->rank + step, TAG_COLLECTIVE, other, size) != 0)
            return -1;
        join(bytes, other, arg);
    }
    return 0;
}

int world_reduce(stdcl_world *w, void *bytes, size_t size,
                 void (*join)(void *a, const void *b, void *arg), void *arg)
{
    if (world_size(w) == 1)
        return 0;
    void *other = malloc(size ? size : 1);
    if (!other)
        return clerror_set(ENOMEM, "world_reduce: out of memory for %zu bytes", size);
    const int status = reduce_to_root(w, bytes, other, size, join, arg);
    free(other);
    return status == 0 ? world_broadcast(w, 0, bytes, size) : -1;
}

/* ---- Made of these. -------------------------------------------------------------------------- */

static void reduce_nothing(void *a, const void *b, void *arg)
{
    (void)a, (void)b, (void)arg;
}

int world_barrier(stdcl_world *w)
{
    char none = 0;
    return world_reduce(w, &none, 1, reduce_nothing, NULL);
}

static void add_uint64(void *a, const void *b, void *count)
{
    for (size_t i = 0; i < *(const size_t *)count; i++)
        ((uint64_t *)a)[i] += ((const uint64_t *)b)[i];
}

int world_add(stdcl_world *w, uint64_t *numbers, size_t count)
{
    return world_reduce(w, numbers, count * sizeof *numbers, add_uint64, &count);
}

/* Keep the failure of the lower rank. */
static void reduce_exit_reports(void *a, const void *b, void *arg)
{
    struct exit_report *one = a;
    const struct exit_report *two = b;
    (void)arg;
    const bool alike = one->status && two->status && one->unanimous && two->unanimous &&
                       strcmp(one->sentence, two->sentence) == 0;
    if (!one->status && two->status)
        *one = *two;
    one->unanimous = alike;
}

/* True for the messages of timeouts and of world_reduce_status. */
static bool names_its_rank(const char *sentence)
{
    int n = 0;
    sscanf(sentence, "rank %*d on %n", &n);
    return n > 0;
}

void exit_report_print(const stdcl_world *w, const struct exit_report *note, char *text,
                       size_t size)
{
    if (note->unanimous || names_its_rank(note->sentence))
        snprintf(text, size, "%s", note->sentence);
    else
        snprintf(text, size, "rank %d on %s: %s", (int)note->rank, world_host(w, note->rank),
                 note->sentence);
}

int world_reduce_status(stdcl_world *w, int status)
{
    if (world_size(w) == 1)
        return status;
    const int code = clerrno;
    struct exit_report note = {.status = status ? (code ? code : EPROTO) : 0,
                               .rank = w->rank,
                               .silent_peer = -1,
                               .unanimous = status != 0};
    const char *sentence = status ? clerror() : NULL;
    snprintf(note.sentence, sizeof note.sentence, "%s", sentence ? sentence : "");
    if (world_reduce(w, &note, sizeof note, reduce_exit_reports, NULL) != 0)
        return -1;
    if (note.status == 0)
        return 0;
    char text[SENTENCE_BYTES + HOST_BYTES + 32];
    exit_report_print(w, &note, text, sizeof text);
    return clerror_set(note.status, "%s", text);
}

int world_check_equal(stdcl_world *w, const char *what, const char *text)
{
    uint64_t length = strlen(text);
    if (world_size(w) == 1)
        return 0;
    if (world_broadcast(w, 0, &length, sizeof length) != 0)
        return -1;
    char *first = malloc((size_t)length + 1);
    int status = first ? 0 : clerror_set(ENOMEM, "world_check_equal: out of memory");
    if (world_reduce_status(w, status) != 0)
        return free(first), -1;
    if (w->rank == 0)
        memcpy(first, text, (size_t)length);
    first[length] = 0;
    if (world_broadcast(w, 0, first, (size_t)length) != 0)
        return free(first), -1;
    if (strcmp(first, text) != 0)
        status = clerror_set(EINVAL, "it has %s '%s', rank 0 on %s has '%s'", what, text,
                             world_host(w, 0), first);
    free(first);
    return world_reduce_status(w, status);
}

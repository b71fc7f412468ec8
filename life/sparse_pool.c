/* sparse_pool.c - the engine "sparse": memory of its tiles.
 *
 * Tiles are numbered in the order of their creation. When numbers run out, the host drops empty
 * sleeping tiles, and doubles the memory if many remain. Dropping them is safe: a change near a
 * missing tile creates it again.
 * SPDX-License-Identifier: MIT
 */
#include "life/sparse.h"
#include "life/cells.h"

#include <errno.h>
#include <string.h>

enum { FIRST_ROOM = 2048 };

/* ints of a tile in each array; the table has four, to be a power of two */
#define ARRAYS(X)                                                                                  \
    X(neighbour, SPARSE_NEIGHBOURS) X(place, 2) X(mark, 2) X(list, 2) X(request, 1) X(missing, 1)
enum { TABLE = 4 };

size_t sparse_tile_bytes(void)
{
    size_t numbers = TABLE;
#define X(array, n) numbers += n;
    ARRAYS(X)
#undef X
    return 2 * SPARSE_SIDE * sizeof(uint64_t) + numbers * sizeof(int);
}

/* ---- Host and device. ------------------------------------------------------------------------ */

/* Copy the first `bytes` of an array, or nothing if `bytes` is 0. */
static int pool_sync(struct sparse *s, void *array, size_t bytes, int side)
{
    return bytes ? life_event_status(
                       clmsyncn(s->lf->ctx, SPARSE_DEVICE, array, bytes, side | UNWAITED))
                 : 0;
}

static int sync_cells(struct sparse *s, int turn, int side)
{
    return pool_sync(s, s->pool.cells[turn],
                     (size_t)s->pool.control[SPARSE_USED] * SPARSE_SIDE * sizeof(uint64_t), side);
}

static int sync_rest(struct sparse *s, int side)
{
    const struct sparse_pool *p = &s->pool;
    const size_t used = (size_t)p->control[SPARSE_USED], capacity = (size_t)p->capacity;
    if (pool_sync(s, p->neighbour, SPARSE_NEIGHBOURS * used * sizeof(int), side) < 0)
        return -1;
    if (pool_sync(s, p->mark, 2 * used * sizeof(int), side) < 0)
        return -1;
    if (pool_sync(s, p->list, 2 * capacity * sizeof(int), side) < 0)
        return -1;
    if (pool_sync(s, p->request, used * sizeof(int), side) < 0)
        return -1;
    if (pool_sync(s, p->missing, used * sizeof(int), side) < 0)
        return -1;
    if (pool_sync(s, p->table, ((size_t)p->mask + 1) * sizeof(int), side) < 0)
        return -1;
    return 0;
}

static int sync_places(struct sparse *s, int side)
{
    return pool_sync(s, s->pool.place, 2 * (size_t)s->pool.control[SPARSE_USED] * sizeof(int),
                     side);
}

int sparse_to_host(struct sparse *s, bool all)
{
    const int turn = s->pool.control[SPARSE_CURRENT];
    if (s->newer == SPARSE_DEVICE_NEWER || all) {
        if (s->newer == SPARSE_HOST_NEWER)
            return 0;
        if (sync_cells(s, turn, CL_MEM_HOST) < 0 || sync_places(s, CL_MEM_HOST) < 0 ||
            (all && sync_rest(s, CL_MEM_HOST) < 0) ||
            life_event_status(clwait(s->lf->ctx, SPARSE_DEVICE, CL_ALL_EVENT)))
            return -1;
        s->newer = SPARSE_IN_SYNC;
    }
    return 0;
}

int sparse_to_device(struct sparse *s)
{
    if (s->newer != SPARSE_HOST_NEWER)
        return 0;
    if (sync_cells(s, 0, CL_MEM_DEVICE) < 0 || sync_cells(s, 1, CL_MEM_DEVICE) < 0 ||
        sync_places(s, CL_MEM_DEVICE) < 0 || sync_rest(s, CL_MEM_DEVICE) < 0 ||
        pool_sync(s, s->pool.control, SPARSE_CONTROL * sizeof(int), CL_MEM_DEVICE) < 0 ||
        life_event_status(clwait(s->lf->ctx, SPARSE_DEVICE, CL_ALL_EVENT)))
        return -1;
    s->newer = SPARSE_IN_SYNC;
    return 0;
}

/* ---- Create and free. ------------------------------------------------------------------------ */

static unsigned pool_table_size(size_t tiles)
{
    unsigned n = 2 * FIRST_ROOM;
    while (n < 2 * tiles)
        n *= 2;
    return n;
}

/* Enlarge an array; the host's contents are kept. */
static int pool_enlarge(struct sparse *s, void **array, size_t bytes)
{
    void *larger = *array ? clmrealloc(s->lf->ctx, *array, bytes, 0)
                          : clmalloc(s->lf->ctx, bytes, CL_MEM_ZEROCOPY);
    if (larger)
        *array = larger;
    return larger ? 0 : -1;
}

/* Make room for `tiles` tiles. On failure the capacity is unchanged. */
static int pool_enlarge_all(struct sparse *s, size_t tiles)
{
    struct sparse_pool *p = &s->pool;
    const unsigned entries = pool_table_size(tiles);
    for (int i = 0; i < 2; i++)
        if (pool_enlarge(s, (void **)&p->cells[i], tiles * SPARSE_SIDE * sizeof(uint64_t)) < 0)
            return -1;
#define X(array, n)                                                                                \
    if (pool_enlarge(s, (void **)&p->array, (n)*tiles * sizeof(int)) < 0)                          \
        return -1;
    ARRAYS(X)
#undef X
    if (pool_enlarge(s, (void **)&p->table, entries * sizeof(int)) < 0)
        return -1;
    p->capacity = (int)tiles;
    p->mask = entries - 1;
    return 0;
}

int sparse_pool_make(struct sparse *s)
{
    struct sparse_pool *p = &s->pool;
    if (pool_enlarge(s, (void **)&p->control, SPARSE_CONTROL * sizeof(int)) < 0 ||
        pool_enlarge_all(s, s->max_tiles < FIRST_ROOM ? s->max_tiles : FIRST_ROOM) < 0)
        return -1;
    sparse_pool_clear(s);
    return 0;
}

void sparse_pool_clear(struct sparse *s)
{
    struct sparse_pool *p = &s->pool;
    memset(p->control, 0, SPARSE_CONTROL * sizeof(int));
    memset(p->table, 0, ((size_t)p->mask + 1) * sizeof(int));
    memset(p->cells[0], 0, SPARSE_SIDE * sizeof(uint64_t));
    memset(p->cells[1], 0, SPARSE_SIDE * sizeof(uint64_t));
    p->control[SPARSE_USED] = 1;
    s->newer = SPARSE_HOST_NEWER;
    s->all_active = true;
}

void sparse_pool_free(struct sparse *s)
{
    struct sparse_pool *p = &s->pool;
    clfree(p->cells[0]);
    clfree(p->cells[1]);
#define X(array, n) clfree(p->array);
    ARRAYS(X)
#undef X
    clfree(p->table);
    clfree(p->control);
}

/* ---- Growth. ------------------------------------------------------------------------------ */

static bool tile_is_empty(const uint64_t *row)
{
    uint64_t any = 0;
    for (int i = 0; i < SPARSE_SIDE; i++)
        any |= row[i];
    return !any;
}

/* Renumber the requests of tiles. */
static void pool_move_requests(const struct sparse_pool *p, const int *number, int *scratch)
{
    for (int i = 0; i < p->control[SPARSE_REQUESTS]; i++)
        scratch[i] = p->missing[p->request[i]];
    for (int i = 0; i < p->control[SPARSE_REQUESTS]; i++) {
        p->request[i] = number[p->request[i]];
        p->missing[p->request[i]] = scratch[i];
    }
}

/* Drop tiles that are empty and on no list, and renumber the remaining ones in order: number[old].
 * Tiles with requests are on the list. */
static void pool_drop_empty(const struct sparse_pool *p, int *number)
{
    const int now = p->control[SPARSE_CURRENT];
    int kept = 1;
    for (int tile = 1; tile < p->control[SPARSE_USED]; tile++) {
        uint64_t *from = p->cells[now] + (size_t)tile * SPARSE_SIDE;
        number[tile] = 0;
        if (!p->mark[2 * tile + now] && tile_is_empty(from))
            continue;
        number[tile] = kept;
        for (int i = 0; i < 2; i++)
            memmove(p->cells[i ? now : !now] + (size_t)kept * SPARSE_SIDE, from,
                    SPARSE_SIDE * sizeof *from); /* sleeping tiles have the same cells in both */
        p->place[2 * kept] = p->place[2 * tile];
        p->place[2 * kept + 1] = p->place[2 * tile + 1];
        kept++;
    }
    p->control[SPARSE_USED] = kept;
}

/* Rebuild the table, the neighbours and the marks after tiles were renumbered. */
static void pool_relink(const struct sparse_pool *p)
{
    const int now = p->control[SPARSE_CURRENT], used = p->control[SPARSE_USED];
    memset(p->table, 0, ((size_t)p->mask + 1) * sizeof(int));
    memset(p->mark, 0, 2 * (size_t)used * sizeof(int));
    for (int tile = 1; tile < used; tile++)
        p->table[sparse_entry(p, p->place[2 * tile], p->place[2 * tile + 1])] = tile;
    for (int tile = 1; tile < used; tile++)
        for (int d = 0; d < SPARSE_NEIGHBOURS; d++)
            p->neighbour[SPARSE_NEIGHBOURS * tile + d] = p->table[sparse_entry(
                p, p->place[2 * tile] + sparse_dx(d), p->place[2 * tile + 1] + sparse_dy(d))];
    for (int i = 0; i < p->control[SPARSE_COUNT + now]; i++)
        p->mark[2 * p->list[now * p->capacity + i] + now] = 1;
}

/* Double the capacity within the limit of memory, if more than half of it is in use. */
static int pool_grow(struct sparse *s)
{
    struct sparse_pool *p = &s->pool;
    const size_t used = (size_t)p->control[SPARSE_USED], capacity = (size_t)p->capacity,
                 wanted = 2 * capacity < s->max_tiles ? 2 * capacity : s->max_tiles;
    if (2 * used < capacity)
        return 0;
    if (wanted > capacity)
        return pool_enlarge_all(s, wanted);
    return used < capacity - capacity / 16
               ? 0
               : clerror_set(
                     ENOMEM,
                     "life: at generation %llu the %zu MiB for tiles are used up by %zu tiles; give more "
                     "memory",
                     (unsigned long long)s->lf->generation, s->memory >> 20, used - 1);
}

/* Copy the current list with new numbers; the lists move when the capacity grows. */
static void pool_renumber_list(const struct sparse_pool *p, const int *number, int *list)
{
    const int now = p->control[SPARSE_CURRENT];
    for (int i = 0; i < p->control[SPARSE_COUNT + now]; i++)
        list[i] = number[p->list[now * p->capacity + i]];
}

static int pool_compact(struct sparse *s, int *number, int *list)
{
    struct sparse_pool *p = &s->pool;
    const int now = p->control[SPARSE_CURRENT];
    pool_drop_empty(p, number);
    pool_move_requests(p, number, list);
    pool_renumber_list(p, number, list);
    const int status = pool_grow(s);
    memcpy(p->list + now * p->capacity, list,
           (size_t)p->control[SPARSE_COUNT + now] * sizeof *list);
    pool_relink(p);
    return status;
}

int sparse_make_room(struct sparse *s)
{
    struct sparse_pool *p = &s->pool;
    if (sparse_to_host(s, true) < 0)
        return -1;
    int *number = calloc((size_t)p->capacity, sizeof *number),
        *list = calloc((size_t)p->capacity, sizeof *list);
    int status = number && list
                     ? 0
                     : clerror_set(ENOMEM, "life: out of memory on the host for a list of %d tiles",
                                   p->capacity);
    if (status == 0)
        status = pool_compact(s, number, list);
    free(number);
    free(list);
    s->newer = SPARSE_HOST_NEWER;
    return status;
}

/* ---- Cells. ---------------------------------------------------------------------------------- */

/* Find or create the active tile at a place; 0 with ENOMEM. */
static int pool_tile_at(struct sparse *s, long long x, long long y)
{
    const struct sparse_pool *p = &s->pool;
    const int now = p->control[SPARSE_CURRENT], tile = p->table[sparse_entry(p, (int)x, (int)y)];
    if (tile)
        return tile;
    if (p->control[SPARSE_USED] == p->capacity && sparse_make_room(s) < 0)
        return 0;
    return sparse_make(p, (int)x, (int)y, now);
}

/* Write the cells of a rectangle that lie in a tile. */
static int pool_put_tile(struct sparse *s, const struct life_window *w, long long tile_x,
                         long long tile_y)
{
    const long long left = tile_x * SPARSE_SIDE, top = tile_y * SPARSE_SIDE,
                    right = left + SPARSE_SIDE, bottom = top + SPARSE_SIDE,
                    last = w->x + (long long)w->width, from = w->x > left ? w->x : left,
                    end = last < right ? last : right;
    const struct sparse_pool *p = &s->pool;
    int tile = p->table[sparse_entry(p, (int)tile_x, (int)tile_y)];
    for (long long row = w->y > top ? w->y : top; row < bottom && row < w->y + (long long)w->height;
         row++) {
        uint64_t word = 0;
        const size_t at = (size_t)(from - left) + SPARSE_HALO, n = (size_t)(end - from);
        life_bits_copy(&word, at, w->cells->word + (size_t)(row - w->y) * w->cells->stride,
                       (size_t)(from - w->x), n);
        if (!tile && !word)
            continue;
        if (word && !(tile = pool_tile_at(s, tile_x, tile_y)))
            return -1;
        uint64_t *to =
            p->cells[p->control[SPARSE_CURRENT]] + (size_t)tile * SPARSE_SIDE + (size_t)(row - top);
        *to = (*to & ~((((uint64_t)1 << n) - 1) << at)) | word;
    }
    return 0;
}

int sparse_put(life *lf, const struct life_window *w)
{
    struct sparse *s = lf->state;
    const long long farthest = (long long)SPARSE_FARTHEST * SPARSE_SIDE, x = w->x, y = w->y,
                    width = (long long)w->width, height = (long long)w->height;
    if (width > farthest || height > farthest || x < -farthest || y < -farthest ||
        x + width > farthest || y + height > farthest)
        return clerror_set(
            ERANGE,
            "life_put: %lld x %lld cells at %lld,%lld extend beyond the plane, which has columns and rows %lld to %lld",
            width, height, x, y, -farthest, farthest - 1);
    if (sparse_to_host(s, true) < 0)
        return -1;
    s->newer = SPARSE_HOST_NEWER;
    s->all_active = true;
    for (long long j = sparse_tile_of(y); j <= sparse_tile_of(y + height - 1); j++)
        for (long long i = sparse_tile_of(x); i <= sparse_tile_of(x + width - 1); i++)
            if (pool_put_tile(s, w, i, j) < 0)
                return -1;
    return 0;
}

/* devices.c - assignment of a host's devices to its ranks.
 *
 * Every rank gathers the names of the devices that each rank sees: a UUID, else a PCI address, else
 * platform and name with a number. Ranks of one host that see the same devices get contiguous
 * ranges of equal length. Ranks that see different devices, because the launcher restricts them,
 * choose round robin, the rank that sees the fewest first. All ranks compute the whole assignment
 * and agree.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

#include "core/device_info.h"

#include <stdio.h>

enum { MOST = 64, NAME = 48 };

struct seen { /* devices visible to a rank */
    uint32_t n;
    char name[MOST][NAME];
};

/* ---- Names. ---------------------------------------------------------------------------------- */

#ifndef CL_DEVICE_PCI_BUS_INFO_KHR
#define CL_DEVICE_PCI_BUS_INFO_KHR 0x410F
#endif

static bool device_uuid(cl_device_id id, char *name)
{
    unsigned char uuid[16];
    if (!device_has_extension(id, "cl_khr_device_uuid") ||
        clGetDeviceInfo(id, CL_DEVICE_UUID_KHR, sizeof uuid, uuid, NULL) != CL_SUCCESS)
        return false;
    for (int i = 0; i < 16; i++)
        snprintf(name + 2 * i, NAME - 2 * (size_t)i, "%02x", uuid[i]);
    return true;
}

static bool device_pci_address(cl_device_id id, char *name)
{
    cl_uint at[4]; /* domain, bus, device, function */
    if (!device_has_extension(id, "cl_khr_pci_bus_info") ||
        clGetDeviceInfo(id, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof at, at, NULL) != CL_SUCCESS)
        return false;
    snprintf(name, NAME, "%04x:%02x:%02x.%x", at[0], at[1], at[2], at[3]);
    return true;
}

static void device_numbered_name(cl_device_id id, char *name)
{
    cl_platform_id platform = NULL;
    char of_platform[256] = "", own[256] = "";
    clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof of_platform, of_platform, NULL);
    clGetDeviceInfo(id, CL_DEVICE_NAME, sizeof own, own, NULL);
    snprintf(name, NAME, "%.12s %.24s", of_platform, own);
}

/* PoCL gives all its devices one UUID: number equal names. */
static void number_equal_names(struct seen *seen, uint32_t last)
{
    unsigned before = 0;
    const size_t length = strlen(seen->name[last]);
    for (uint32_t i = 0; i < last; i++)
        before += strncmp(seen->name[i], seen->name[last], length) == 0;
    snprintf(seen->name[last] + length, NAME - length, " %u", before);
}

static void list_visible_devices(struct seen *seen, const cl_device_id *ids, size_t n)
{
    memset(seen, 0, sizeof *seen);
    seen->n = n < MOST ? (uint32_t)n : MOST;
    for (uint32_t i = 0; i < seen->n; i++) {
        if (!device_uuid(ids[i], seen->name[i]) && !device_pci_address(ids[i], seen->name[i]))
            device_numbered_name(ids[i], seen->name[i]);
        number_equal_names(seen, i);
    }
}

/* ---- Division, on one host. ------------------------------------------------------------------ */

struct host {
    const struct seen *seen; /* of all ranks */
    int *rank, n;            /* the ranks on this host, ascending */
    int share;
};

static bool is_visible(const struct seen *seen, const char *name)
{
    for (uint32_t i = 0; i < seen->n; i++)
        if (strcmp(seen->name[i], name) == 0)
            return true;
    return false;
}

static bool same_devices_visible(const struct host *h)
{
    const struct seen *first = &h->seen[h->rank[0]];
    for (int k = 1; k < h->n; k++) {
        const struct seen *other = &h->seen[h->rank[k]];
        for (uint32_t i = 0; i < first->n; i++)
            if (other->n != first->n || !is_visible(other, first->name[i]))
                return false;
    }
    return true;
}

/* Assign contiguous ranges, or with fewer devices than ranks one device each, cyclically. */
static void assign_ranges(const struct host *h, int me, unsigned char *mine)
{
    const struct seen *first = &h->seen[h->rank[0]], *own = &h->seen[h->rank[me]];
    const uint32_t n = first->n, ranks = (uint32_t)h->n, k = (uint32_t)me;
    const uint32_t from = n < ranks ? k % n : k * n / ranks,
                   to = n < ranks ? from + 1 : (k + 1) * n / ranks;
    for (uint32_t i = 0; i < own->n; i++)
        for (uint32_t j = from; j < to; j++)
            mine[i] |= strcmp(own->name[i], first->name[j]) == 0;
}

struct taken {
    const char **name;
    size_t n;
};

/* Index of the first device visible to rank k that is not assigned; -1 if none. */
static int first_unassigned(const struct host *h, int k, const struct taken *taken)
{
    const struct seen *own = &h->seen[h->rank[k]];
    for (uint32_t i = 0; i < own->n; i++) {
        size_t t = 0;
        while (t < taken->n && strcmp(taken->name[t], own->name[i]) != 0)
            t++;
        if (t == taken->n)
            return (int)i;
    }
    return -1;
}

/* Assign one device per round to each rank, the rank that sees the fewest first. */
static void assign_round_robin(const struct host *h, int me, struct taken *taken,
                               unsigned char *mine)
{
    for (bool some = true; some;) {
        some = false;
        for (uint32_t sight = 1; sight <= MOST; sight++)
            for (int k = 0; k < h->n; k++) {
                const int i = h->seen[h->rank[k]].n == sight ? first_unassigned(h, k, taken) : -1;
                if (i < 0)
                    continue;
                taken->name[taken->n++] = h->seen[h->rank[k]].name[i];
                if (k == me)
                    mine[i] = 1;
                some = true;
            }
    }
}

static int assign_devices(const struct host *h, int me, size_t n, unsigned char *mine)
{
    const bool same = same_devices_visible(h);
    if (n == 0)
        return clerror_set(ENODEV, "it sees no device");
    if (same && (h->share || h->n <= (int)n)) {
        assign_ranges(h, me, mine);
    } else if (!same) {
        struct taken taken = {.name = calloc((size_t)h->n * MOST, sizeof *taken.name)};
        if (!taken.name)
            return clerror_set(ENOMEM, "world_devices: out of memory");
        assign_round_robin(h, me, &taken, mine);
        free(taken.name);
        if (h->share && !memchr(mine, 1, n))
            mine[0] = 1;
    }
    if (memchr(mine, 1, n))
        return 0;
    return clerror_set(
        ENODEV,
        "%d ranks on this host, and %zu device%s: there must be a device for each rank; start fewer ranks, best one "
        "a host, which then has all its devices, or let ranks take turns on a device (--share)",
        h->n, n, n == 1 ? "" : "s");
}

int world_devices(stdcl_world *w, const cl_device_id *ids, size_t n, int share, unsigned char *mine)
{
    if (world_size(w) == 1) {
        memset(mine, 1, n);
        return n ? 0 : clerror_set(ENODEV, "world_devices: there is no device");
    }
    struct seen *own = malloc(sizeof *own), *all = malloc((size_t)w->size * sizeof *all);
    struct host h = {.seen = all, .rank = calloc((size_t)w->size, sizeof *h.rank), .share = share};
    int me = 0,
        status = own && all && h.rank ? 0 : clerror_set(ENOMEM, "world_devices: out of memory");
    memset(mine, 0, n);
    if (world_reduce_status(w, status) == 0) {
        list_visible_devices(own, ids, n);
        status = world_gather(w, own, sizeof *own, all);
        for (int r = 0; r < w->size; r++)
            if (strcmp(w->host[r], w->host[w->rank]) == 0) {
                me = r == w->rank ? h.n : me;
                h.rank[h.n++] = r;
            }
        if (status == 0)
            status = world_reduce_status(w, assign_devices(&h, me, own->n, mine));
    } else {
        status = -1;
    }
    free(own);
    free(all);
    free(h.rank);
    return status;
}

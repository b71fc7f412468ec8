/* about.c - queries of a world.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

int world_rank(const stdcl_world *w)
{
    return w ? w->rank : 0;
}

int world_size(const stdcl_world *w)
{
    return w ? w->size : 1;
}

const char *world_host(const stdcl_world *w, int rank)
{
    if (!w)
        return "this host";
    const bool known = w->host && rank >= 0 && rank < w->size && w->host[rank][0];
    /* Unknown: the rank has not joined, or its host has no name. */
    return known ? w->host[rank] : "an unknown host";
}

int world_hosts(const stdcl_world *w)
{
    return w ? w->hosts : 1;
}

const char *world_transport(const stdcl_world *w)
{
    return w ? w->transport_name : "";
}

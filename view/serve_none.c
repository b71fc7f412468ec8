/* serve_none.c - replaces serve.c without libwebsockets: recordings can be made, but nobody can
 * connect.
 * SPDX-License-Identifier: MIT
 */
#include "view/server.h"

#include <errno.h>

struct server *server_make(struct view *v)
{
    (void)v;
    clerror_set(
        ENOTSUP,
        "view: this stdcl was built without libwebsockets, so it can show nothing in a browser; install "
        "libwebsockets-dev and build again, or make a recording");
    return NULL;
}

void server_run(struct server *s, struct latest *latest)
{
    (void)s, (void)latest;
}

void server_wake(struct server *s)
{
    (void)s;
}

void server_free(struct server *s)
{
    (void)s;
}

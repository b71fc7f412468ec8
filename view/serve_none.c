/* serve_none.c - in place of serve.c where libwebsockets was not found: recordings can be made,
 * nobody can look.
 * SPDX-License-Identifier: MIT
 */
#include "view/internal.h"

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

void server_run(struct server *s, struct stage *stage)
{
    (void)s, (void)stage;
}

void server_wake(struct server *s)
{
    (void)s;
}

void server_free(struct server *s)
{
    (void)s;
}

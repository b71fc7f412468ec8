/* embed_open.c - opens the kernels embedded in the executable: for clopen without a file, and once
 * for clexec and for clsym and clbuild without a handle.
 * SPDX-License-Identifier: MIT
 */
#include "core/program.h"

void *embedded_open_all(CLCONTEXT *cp, int flags, const char *call)
{
    size_t n;
    const struct stdcl_embedded *first = embedded_sources(&n);
    if (n == 0)
        return (void)fail(ENOENT, 0,
                          "%s: no kernels are embedded in this program (see `stdcl embed`)", call),
               NULL;
    struct program *p = program_new(cp, n, NULL, call);
    if (!p)
        return NULL;
    bool ok = true;
    for (const struct stdcl_embedded *e = first; p->nparts < n && ok; e = e->next) {
        const char *source = (const char *)e->data;
        char *generated = NULL;
        if (source_is_template(e->name) &&
            !(generated = core_generator->generate(e->name, source, e->size))) {
            program_free(p);
            return NULL;
        }
        p->part[p->nparts].embedded = e;
        p->part[p->nparts].keep = flags & CLLD_CACHE;
        ok = part_of_source(&p->part[p->nparts++], e->name, "", generated ? generated : source,
                            generated ? strlen(generated) : e->size, cp->ndev);
        free(generated);
    }
    return program_open(p, ok, flags, call);
}

static struct program *opened(CLCONTEXT *cp)
{
    pthread_mutex_lock(&cp->lock);
    struct program *p = cp->embedded;
    pthread_mutex_unlock(&cp->lock);
    return p;
}

bool embedded_unopened(CLCONTEXT *cp)
{
    size_t n;
    return embedded_sources(&n) && !opened(cp);
}

struct program *embedded_of(CLCONTEXT *cp, int flags, const char *call)
{
    static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&opening);
    struct program *p = opened(cp);
    if (!p && (p = embedded_open_all(cp, flags, call)) != NULL) {
        pthread_mutex_lock(&cp->lock);
        cp->embedded = p;
        pthread_mutex_unlock(&cp->lock);
    }
    pthread_mutex_unlock(&opening);
    return p;
}

/* embed.c - kernels that `stdcl embed` linked into the executable.
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"

static struct stdcl_embedded *embedded; /* oldest first */
static pthread_mutex_t embedded_lock = PTHREAD_MUTEX_INITIALIZER;

STDCL_API void stdcl_embed_register(struct stdcl_embedded *source)
{
    pthread_mutex_lock(&embedded_lock);
    struct stdcl_embedded **end = &embedded;
    while (*end)
        end = &(*end)->next;
    source->next = NULL;
    *end = source;
    pthread_mutex_unlock(&embedded_lock);
}

void *embedded_open_all(CLCONTEXT *cp, int flags, const char *call)
{
    size_t n = 0;
    pthread_mutex_lock(&embedded_lock);
    struct stdcl_embedded *first = embedded;
    for (struct stdcl_embedded *e = first; e; e = e->next)
        n++;
    pthread_mutex_unlock(&embedded_lock);
    if (n == 0)
        return (void)fail(ENOENT, 0, "%s: no kernels are embedded in this program (see `stdcl embed`)", call),
               NULL;
    struct program *p = program_new(cp, n, NULL, call);
    if (!p)
        return NULL;
    bool ok = true;
    for (struct stdcl_embedded *e = first; p->nparts < n && ok; e = e->next) {
        const char *source = (const char *)e->data;
        char *generated = NULL;
        if (is_generated(e->name) && !(generated = core_generator->generate(e->name, source, e->size))) {
            program_free(p);
            return NULL;
        }
        ok = part_of_source(&p->part[p->nparts++], e->name, "", generated ? generated : source,
                            generated ? strlen(generated) : e->size, cp->ndev);
        free(generated);
    }
    return program_open(p, ok, flags, call);
}

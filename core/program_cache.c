/* program_cache.c - programs that were built for a device of a context, for when the same is built
 * again.
 *
 * Engines that are made again, as for each merger of bodies, open the same text with the same
 * options, and a compiler takes 30 ms even for what it finds in a cache of its own. So the last
 * KEPT programs outlive their clclose, and end with the context. Text that includes files is built
 * each time, since those may have changed.
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"

enum { KEPT = 16 };

struct kept {
    struct kept *next; /* used before it */
    cl_program program;
    char *source, *options;
};

/* Whether a compiler may read other files: any directive but those that only begin so. Digraphs,
 * and what a comment or the end of a line divides, are taken for one. */
static bool includes(const char *source)
{
    for (const char *c = source; *c; c++)
        if (*c == '#' || (*c == '%' && c[1] == ':') || (*c == '?' && c[1] == '?')) {
            const char *word = c + (*c == '#' ? 1 : 2);
            word += strspn(word, " \t");
            if (*c != '#' || *word == '\\' || *word == '/' || strncmp(word, "inc", 3) == 0 ||
                strncmp(word, "imp", 3) == 0 || strncmp(word, "emb", 3) == 0)
                return true;
        }
    return strstr(source, "__has_include") != NULL;
}

bool program_cache_applies(const char *source, const char *options)
{
    return source && !includes(source) && !strstr(options, "-include");
}

static void kept_end(struct kept *k)
{
    clReleaseProgram(k->program);
    free(k->source);
    free(k->options);
    free(k);
}

cl_program program_cache_find(struct device *d, const char *source, const char *options)
{
    cl_program program = NULL;
    if (!source)
        return NULL;
    pthread_mutex_lock(&d->lock);
    struct kept **at = &d->kept, *k;
    while ((k = *at) && !(strcmp(k->options, options) == 0 && strcmp(k->source, source) == 0))
        at = &k->next;
    if (k && clRetainProgram(k->program) == CL_SUCCESS) {
        program = k->program;
        *at = k->next;
        k->next = d->kept;
        d->kept = k;
    }
    pthread_mutex_unlock(&d->lock);
    return program;
}

void program_cache_add(struct device *d, cl_program program, const char *source,
                       const char *options)
{
    struct kept *k = program_cache_applies(source, options) ? calloc(1, sizeof *k) : NULL,
                *oldest = NULL;
    if (!k)
        return;
    k->program = program;
    k->source = strdup(source);
    k->options = strdup(options);
    if (!k->source || !k->options || clRetainProgram(program) != CL_SUCCESS) {
        free(k->source);
        free(k->options);
        free(k);
        return;
    }
    pthread_mutex_lock(&d->lock);
    k->next = d->kept;
    d->kept = k;
    struct kept *last = k;
    for (int n = 1; n < KEPT && last; n++)
        last = last->next;
    if (last) {
        oldest = last->next;
        last->next = NULL;
    }
    pthread_mutex_unlock(&d->lock);
    if (oldest)
        kept_end(oldest);
}

void program_cache_free(struct device *d)
{
    while (d->kept) {
        struct kept *k = d->kept;
        d->kept = k->next;
        kept_end(k);
    }
}

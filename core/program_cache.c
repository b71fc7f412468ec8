/* program_cache.c - LRU cache of built programs, per device of a context.
 *
 * Engines that are created again, for instance after each merger of bodies, open the same text with
 * the same options, and a compiler takes 30 ms even for a hit in its own cache. The last KEPT
 * programs therefore outlive their clclose; the context frees them. Text that includes files is
 * always built, because those files may have changed.
 * SPDX-License-Identifier: MIT
 */
#include "core/program.h"

enum { KEPT = 16 };

struct cached_program {
    struct cached_program *next; /* next most recently used */
    cl_program program;
    char *source, *options;
};

/* True if the compiler may read other files: any directive counts except those known not to.
 * Digraphs, and directives split by a comment or a line end, count as one. */
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

static void kept_end(struct cached_program *k)
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
    struct cached_program **at = &d->kept, *k;
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
    struct cached_program *k = program_cache_applies(source, options) ? calloc(1, sizeof *k) : NULL,
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
    struct cached_program *last = k;
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
        struct cached_program *k = d->kept;
        d->kept = k->next;
        kept_end(k);
    }
}

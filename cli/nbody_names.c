/* nbody_names.c - names of models, integrators, precisions, kernels, methods and time-step
 * schemes; bodies by their names; options in messages of the library.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_bodies.h"
#include "nbody_job.h"
#include "nbody_options.h"
#include "text.h"

#include "formats/number.h"

#include <errno.h>
#include <math.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *const nbody_model_names[] = {"plummer",   "uniform", "cold",
                                         "collision", "figure8", "pythagorean",
                                         "hernquist", "galaxy",  NULL};
const char *const nbody_precision_names[] = {"single", "double", "mixed", NULL};
const char *const nbody_kernel_names[] = {"tuned", "naive", "branchless", "tiled", NULL};
const char *const nbody_method_names[] = {"direct", "tree", "auto", NULL};
const char *const nbody_stepping_names[] = {"fixed", "adaptive", "block", NULL};
const char *const nbody_coordinates_names[] = {"jacobi", "heliocentric", NULL};
const char *const nbody_corrector_names[] = {"17", "11", "7", "5", "3", "none", NULL};

int nbody_corrector_order(int name)
{
    static const int order[] = {0, 11, 7, 5, 3, -1}; /* 0: the default */
    return order[name];
}

size_t nbody_word_length(const char *text, const char *end)
{
    bool quoted = false;
    size_t length = 0;
    for (; text + length < end && (quoted || text[length] != ','); length++)
        quoted ^= text[length] == '"';
    return length;
}

/* The first body from `from` on with that name; the number of bodies if there is none. */
static size_t find_name(const struct particles *b, size_t from, const char *word, size_t length)
{
    const char *name = b->note[NOTE_names];
    const bool is_none = length == 1 && *word == '-';
    for (size_t i = 0; name && *name && !is_none; i++) {
        const size_t own = strcspn(name, " ");
        if (i >= from && own == length && memcmp(name, word, length) == 0)
            return i;
        name += own + strspn(name + own, " ");
    }
    return b->n;
}

bool nbody_find_body(const struct particles *b, const char *word, size_t length, size_t *body,
                     char why[NBODY_WHY])
{
    const bool quoted = length > 2 && word[0] == '"' && word[length - 1] == '"';
    double number;
    word += quoted;
    length -= quoted ? 2 : 0;
    *why = 0;
    *body = find_name(b, 0, word, length);
    const size_t second = find_name(b, *body + 1, word, length);
    if (second < b->n)
        snprintf(why, NBODY_WHY, "bodies %zu and %zu are both called %.*s; give a number",
                 *body + 1, second + 1, (int)length, word);
    if (*body < b->n)
        return second == b->n;
    if (number_read(word, length, &number) != NUMBER_OK || number != floor(number) ||
        !(number >= 1 && number <= (double)b->n))
        return false;
    *body = (size_t)number - 1;
    return true;
}

enum { MOST = 32 };

const char *const *nbody_integrator_names(void)
{
    static const char *names[MOST + 1];
    const struct nbody_integrator_info *info;
    for (int i = 0; i < MOST && (info = nbody_integrator_describe((enum nbody_integrator)i)); i++)
        names[i] = info->name;
    return names;
}

/* ---- Messages of the library. ---------------------------------------------------------------- */

/* Append a constant of stdcl/nbody.h, without NBODY_, as an option of the command. */
static void append_constant(const char *word, size_t length, char *text, size_t size)
{
    const struct {
        const char *option, *const *names;
    } lists[] = {
        {"--integrator", nbody_integrator_names()}, {"--precision", nbody_precision_names},
        {"--kernel", nbody_kernel_names},           {"--method", nbody_method_names},
        {"--stepping", nbody_stepping_names},       {"--coordinates", nbody_coordinates_names}};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (const char *const *name = lists[k].names; *name; name++)
            if (strlen(*name) == length && strncasecmp(*name, word, length) == 0) {
                cli_text_append(text, size, "%s %s", lists[k].option, *name);
                return;
            }
    if (length == 7 && memcmp(word, "ON_HOST", length) == 0)
        cli_text_append(text, size, "up to %d bodies without --device", NBODY_FEW);
    else
        cli_text_append(text, size, "NBODY_%.*s", (int)length, word);
}

void nbody_name_options(void)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const int code = clerrno;
    char text[1000] = "";
    if (oclerrno != CL_SUCCESS || (code != EINVAL && code != ENOTSUP))
        return;
    const char *at = clerror();
    for (const char *found; at && (found = strstr(at, "NBODY_")); at = found) {
        const size_t length = strspn(found += strlen("NBODY_"), letters);
        cli_text_append(text, sizeof text, "%.*s", (int)(found - at) - 6, at);
        append_constant(found, length, text, sizeof text);
        found += length;
    }
    if (at)
        clerror_set(code, "%s%s", text, at);
}

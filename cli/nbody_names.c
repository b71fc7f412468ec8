/* nbody_names.c - names of models, integrators, precisions, kernels, methods and time-step
 * schemes; bodies by their names.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_bodies.h"
#include "nbody_job.h"
#include "nbody_options.h"

#include "formats/number.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

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

bool nbody_find_body(const struct particles *b, const char *word, size_t length, size_t *body)
{
    char name[PARTICLES_NAME_SIZE];
    double number;
    for (size_t i = 0; i < b->n; i++)
        if (particles_name(b, i, name) && strlen(name) == length && !memcmp(name, word, length)) {
            *body = i;
            return true;
        }
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

/* names.c - the names of the engines.
 * SPDX-License-Identifier: MIT
 */
#include "stdcl/life.h"

#include <errno.h>
#include <string.h>

static const char *const names[LIFE_ENGINES] = {
    [LIFE_AUTO] = "auto",     [LIFE_PACKED] = "packed",       [LIFE_LOCAL] = "local",
    [LIFE_GLOBAL] = "global", [LIFE_REFERENCE] = "reference", [LIFE_HASHLIFE] = "hashlife",
    [LIFE_SPARSE] = "sparse",
};

int life_engine_by_name(const char *name)
{
    for (int i = 0; i < LIFE_ENGINES; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return clerror_set(EINVAL,
                       "life: unknown engine '%.40s'; use auto, packed, local, global, reference, "
                       "hashlife or sparse",
                       name);
}

const char *life_engine_name(enum life_engine engine)
{
    return (unsigned)engine < LIFE_ENGINES ? names[engine] : "unknown";
}

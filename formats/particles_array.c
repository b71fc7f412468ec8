/* particles_array.c - bodies in memory: their arrays, and their values by column.
 * SPDX-License-Identifier: MIT
 */
#include "formats/particles_format.h"

#include "stdcl.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char *const particles_columns[7] = {"mass", "x", "y", "z", "vx", "vy", "vz"};

double particles_value(const struct particles *p, size_t i, int column)
{
    return column == 0 ? p->mass[i] : column < 4 ? p->pos[i][column - 1] : p->vel[i][column - 4];
}

void particles_free(struct particles *p)
{
    free(p->mass);
    free(p->pos);
    free(p->vel);
    memset(p, 0, sizeof *p);
}

int particles_reserve(struct particles *p, size_t room, const char *name)
{
    if (room <= SIZE_MAX / sizeof *p->pos) {
        double *mass = realloc(p->mass, room * sizeof *mass);
        p->mass = mass ? mass : p->mass;
        double(*pos)[3] = realloc(p->pos, room * sizeof *pos);
        p->pos = pos ? pos : p->pos;
        double(*vel)[3] = realloc(p->vel, room * sizeof *vel);
        p->vel = vel ? vel : p->vel;
        if (mass && pos && vel)
            return 0;
    }
    return clerror_set(ENOMEM, "%s: no memory for %zu bodies (%.0f MiB)", name, room,
                       (double)room * 7 * sizeof(double) / 1048576);
}

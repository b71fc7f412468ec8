/* engine.c - a program outside the repository that uses an installed engine: a year of a planet on
 * a circle, after which it must be at its start.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl/nbody.h>

#include <math.h>
#include <stdio.h>

int main(void)
{
    const double year = 6.283185307179586;
    const double mass[2] = {1.0, 0.0};
    const double pos[2][3] = {{0, 0, 0}, {1, 0, 0}}, vel[2][3] = {{0, 0, 0}, {0, 1, 0}};
    double end[2][3];
    if (!stddev) {
        puts("no OpenCL device here");
        return 77;
    }
    nbody *nb =
        nbody_create(&(struct nbody_options){.ctx = stddev, .dt = year / 1000}, 2, mass, pos, vel);
    if (!nb || nbody_step(nb, 1000) != 0 || nbody_state(nb, end, NULL) != 0) {
        fprintf(stderr, "%s\n", clerror());
        return 1;
    }
    nbody_free(nb);
    const double off = hypot(end[1][0] - 1.0, end[1][1]);
    if (!(off < 1e-3)) {
        fprintf(stderr, "after a year the planet is %g from where it was\n", off);
        return 1;
    }
    puts("a year has passed");
    return 0;
}

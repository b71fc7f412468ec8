/* Bodies that touch during a step: against all pairs, followed in small parts of the step, and
 * known cases.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "stdcl/nbody.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 300, PIECES = 2000 };
static double pos[N][3], vel[N][3], radius[N];

static double noise(unsigned k)
{
    return (double)((k * 2654435761u + 12345u) * 2246822519u >> 8) / 16777216 - 0.5;
}

/* Return when two bodies on straight lines first come within R, as a fraction of the step; -1:
 * never. */
static double first_touch(size_t i, size_t j, double dt)
{
    for (int p = 0; p <= PIECES; p++) {
        double r2 = 0;
        for (int k = 0; k < 3; k++) {
            const double back = dt * (1 - (double)p / PIECES);
            const double d = pos[j][k] - vel[j][k] * back - (pos[i][k] - vel[i][k] * back);
            r2 += d * d;
        }
        if (r2 <= (radius[i] + radius[j]) * (radius[i] + radius[j]))
            return (double)p / PIECES;
    }
    return -1;
}

static void collisions_match_all_pairs(void **state)
{
    (void)state;
    for (int run = 0; run < 2; run++) {
        const double dt = run ? -0.2 : 0.1;
        struct nbody_contact *c;
        size_t n, found = 0;
        for (unsigned i = 0; i < N; i++) {
            radius[i] = 0.02 + 0.01 * noise(7 * i);
            for (unsigned k = 0; k < 3; k++) {
                pos[i][k] = 2 * noise(31 * i + k);
                vel[i][k] = 4 * noise(17 * i + 5 * k + 3);
            }
        }
        works(nbody_find_contacts(N, radius, (const double(*)[3])pos, (const double(*)[3])vel, dt,
                                  &c, &n));
        assert_true(n > 20);
        for (size_t i = 0; i < N; i++)
            for (size_t j = i + 1; j < N; j++) {
                const double right = first_touch(i, j, dt);
                size_t k = 0;
                while (k < n && (c[k].first != i || c[k].second != j))
                    k++;
                found += k < n;
                if (right >= 0)
                    assert_true(k < n && fabs((1 - c[k].before / fabs(dt)) - right) < 2. / PIECES);
                /* a contact that the small parts miss is grazing */
            }
        assert_int_equal(found, n);
        for (size_t k = 1; k < n; k++)
            assert_true(c[k].before <= c[k - 1].before);
        free(c);
    }
}

static void collisions_known_cases_are_found(void **state)
{
    (void)state;
    struct nbody_contact *c;
    size_t n;
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    radius[0] = 0.25, radius[1] = 0.5;
    pos[0][0] = -4, vel[0][0] = -8; /* they have passed through each other */
    pos[1][0] = 4, vel[1][0] = 8;
    works(nbody_find_contacts(2, radius, (const double(*)[3])pos, (const double(*)[3])vel, 1, &c,
                              &n));
    assert_true(n == 1 && c->first == 0 && c->second == 1 &&
                fabs(c->before - (8 + 0.75) / 16) < 1e-15);
    free(c);
    pos[0][1] = 0.75 + 1e-9; /* just misses */
    works(nbody_find_contacts(2, radius, (const double(*)[3])pos, (const double(*)[3])vel, 1, &c,
                              &n));
    assert_true(n == 0 && c == NULL);
    pos[0][1] = 0.75 - 1e-9;
    works(nbody_find_contacts(2, radius, (const double(*)[3])pos, (const double(*)[3])vel, 1, &c,
                              &n));
    assert_int_equal(n, 1);
    free(c);
    works(nbody_find_contacts(2, radius, (const double(*)[3])pos, (const double(*)[3])vel, 0.25, &c,
                              &n));
    assert_int_equal(n, 0); /* too long ago */
    memset(radius, 0, sizeof radius);
    memset(pos, 0, sizeof pos);
    works(nbody_find_contacts(2, radius, (const double(*)[3])pos, (const double(*)[3])vel, 1, &c,
                              &n));
    assert_int_equal(n, 0); /* points do not touch */
    works(nbody_find_contacts(1, radius, (const double(*)[3])pos, (const double(*)[3])vel, 1, &c,
                              &n));
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(collisions_match_all_pairs),
                                       cmocka_unit_test(collisions_known_cases_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Bodies that touch during a step: against all pairs, followed in small parts of the step, and
 * known cases.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "nbody/structure/contacts.h"

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

/* Bodies on cubics through positions and velocities at both ends: against all pairs, followed in
 * small parts of the step. */
static void collisions_on_cubics_match_all_pairs(void **state)
{
    enum { SOME = 60 };
    static double x0[SOME][3], v0[SOME][3], x1[SOME][3], v1[SOME][3], memory[9 * SOME];
    struct nbody_contact *c;
    size_t n, found = 0;
    (void)state;
    for (unsigned i = 0; i < SOME; i++) {
        radius[i] = 0.03 + 0.02 * noise(7 * i);
        for (unsigned k = 0; k < 3; k++) {
            x0[i][k] = 2 * noise(31 * i + k);
            x1[i][k] = 2 * noise(57 * i + k + 11);
            v0[i][k] = 20 * noise(17 * i + 5 * k + 3);
            v1[i][k] = 20 * noise(13 * i + 3 * k + 7);
        }
    }
    const double span = -0.5;
    const struct contact_paths paths =
        contacts_cubic(SOME, span, x0[0], v0[0], x1[0], v1[0], memory);
    works(contacts_find("test", &paths, radius, &c, &n));
    assert_true(n > 10);
    for (size_t i = 0; i < SOME; i++)
        for (size_t j = i + 1; j < SOME; j++) {
            const double R = radius[i] + radius[j];
            double right = -1;
            size_t k = 0;
            for (int p = 0; p <= 20000 && right < 0; p++)
                if (contacts_distance(&paths, i, j, p / 20000.) <= R)
                    right = p / 20000.;
            while (k < n && (c[k].first != i || c[k].second != j))
                k++;
            found += k < n;
            if (right >= 0)
                assert_true(k < n && fabs(1 - c[k].before / fabs(span) - right) <= 1. / 20000);
            if (k < n && c[k].before < fabs(span)) /* the distance is R to rounding */
                assert_true(fabs(contacts_distance(&paths, i, j, 1 - c[k].before / fabs(span)) -
                                 R) < 1e-12);
        }
    assert_int_equal(found, n);
    for (int k = 0; k < 3; k++) { /* the cubic ends where it should */
        double end = 0, speed = 0;
        for (int p = 0; p < paths.terms; p++) {
            end += paths.c[p][k];
            speed += p * paths.c[p][k] / span;
        }
        assert_true(fabs(end - x1[0][k]) < 1e-14 && fabs(speed - v1[0][k]) < 1e-12);
    }
    free(c);
}

/* Bodies that overlap, without motion. */
static void collisions_of_bodies_at_rest_are_found(void **state)
{
    struct nbody_contact *c;
    size_t n;
    (void)state;
    memset(pos, 0, sizeof pos);
    radius[0] = radius[1] = radius[2] = 0.5;
    pos[1][0] = 0.99;
    pos[2][1] = 1.01;
    works(nbody_find_contacts(3, radius, (const double(*)[3])pos, (const double(*)[3])vel, 0, &c,
                              &n));
    assert_true(n == 1 && c->first == 0 && c->second == 1 && c->before <= 0);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(collisions_match_all_pairs),
                                       cmocka_unit_test(collisions_known_cases_are_found),
                                       cmocka_unit_test(collisions_on_cubics_match_all_pairs),
                                       cmocka_unit_test(collisions_of_bodies_at_rest_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

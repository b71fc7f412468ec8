/* triangles.c - rules of triangular cells in LifeViewer's notation, rewritten as Larger than Life.
 *
 *   B45/S456L       the 12 triangles that touch a cell; counts 10, 11 and 12 are x, y and z
 *   45/4/3LE        Generations (survival, birth, states), of the three across the edges
 *
 * The other letters after L select some of the 12. Around a cell whose column and row have an even
 * sum, the edge of which is above, they are
 *
 *   L  o o o o o   LE  . . o . .   LV  o o . o o   LI  o . o . o   LO  . o . o .
 *      o o * o o       . o * o .       o . * . o       . o * o .       o . * . o
 *      . o o o .       . . . . .       . o o o .       . . o . .       . o . o .
 *
 *   LB . o o o .   LR  o . . . o
 *      o o * o o       . . * . .
 *      . o . o .       . . o . .
 *
 * and around all other cells upside down.
 * SPDX-License-Identifier: MIT
 */
#include "life/family.h"
#include "life/large_rule.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The letter after L; the neighbourhood of Larger than Life and its range; the most neighbours. The
 * digits of N@ are rows of five cells, two of them empty on either side of the three drawn ones. */
static const struct triangles {
    const char *letter, *neighbours;
    unsigned range, most;
} triangles[] = {{"", "NL", 1, 12},        {"E", "N@011800L", 2, 3}, {"V", "N@06E5C0L", 2, 9},
                 {"I", "N@055880L", 2, 6}, {"O", "N@02A540L", 2, 6}, {"B", "N@03BD40L", 2, 9},
                 {"R", "N@044080L", 2, 3}};

/* Find the neighbourhood at the end of a rule, and shorten the rule by its letters. */
static const struct triangles *take_triangles(char *text)
{
    char *end = strrchr(text, 'l');
    for (size_t i = 0; end && i < sizeof triangles / sizeof *triangles; i++)
        if (toupper((unsigned char)end[1]) == *triangles[i].letter && (!end[1] || !end[2])) {
            *end = '\0';
            return &triangles[i];
        }
    return NULL;
}

/* Append a count list of Larger than Life from digits and x, y, z. False: a character is none. */
static bool put_triangle_counts(char letter, const char *counts, unsigned most, char *text,
                                size_t size)
{
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, size - used, "%c", letter);
    for (; *counts; counts++) {
        const char c = *counts;
        const unsigned n = isdigit((unsigned char)c) ? (unsigned)(c - '0')
                           : strchr("xyz", c) && c   ? (unsigned)(c - 'x') + 10
                                                     : most + 1;
        if (n > most || used + 8 > size)
            return false;
        used += (size_t)snprintf(text + used, size - used, "%u,", n);
    }
    if (text[used - 1] == letter)
        snprintf(text + used, size - used, ",");
    return true;
}

/* Split B.../S.../N, S.../B.../N or survival/birth/N into its parts. False if it is none. */
static bool split_parts(char *text, const char **birth, const char **survival, unsigned *states)
{
    char *second = strchr(text, '/'), *third = second ? strchr(second + 1, '/') : NULL;
    if (!second)
        return false;
    *second++ = '\0';
    *states = 2;
    if (third) {
        *third++ = '\0';
        third += *third == 'c' || *third == 'g';
        const size_t digits = strspn(third, "0123456789");
        if (!digits || digits > 3 || third[digits])
            return false;
        *states = (unsigned)atoi(third);
    }
    const bool birth_first = *text == 'B';
    if (birth_first != (*second == 'S'))
        return false;
    *birth = birth_first ? text + 1 : second + (*second == 'B');
    *survival = birth_first ? second + 1 : text + (*text == 'S');
    return true;
}

int large_triangles_read(const char *text, char *large, size_t size)
{
    char copy[LIFE_RULE_TEXT];
    const char *birth, *survival;
    unsigned states;
    if (!life_family_tidy(text, copy, sizeof copy))
        return 1;
    const struct triangles *t = take_triangles(copy);
    if (!t || copy[strspn(copy, "0123456789xyzBScg/")] || !strchr(copy, '/'))
        return 1;
    if (!split_parts(copy, &birth, &survival, &states) || states < 2)
        return life_family_refuse(
            text, "write rules of triangles as B45/S456L or, with three states, 456/45/3L");
    snprintf(large, size, "R%u,C%u,", t->range, states);
    if (put_triangle_counts('S', survival, t->most, large, size) &&
        put_triangle_counts('B', birth, t->most, large, size) &&
        strlen(large) + strlen(t->neighbours) < size) {
        strcat(large, t->neighbours);
        return 0;
    }
    char why[120];
    snprintf(why, sizeof why, "with these triangles counts go from 0 to %u%s", t->most,
             t->most > 9 ? ", of which 10, 11 and 12 are written x, y and z" : "");
    return life_family_refuse(text, why);
}

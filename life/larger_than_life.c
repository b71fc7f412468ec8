/* larger_than_life.c - rules of the family Larger than Life (K. Evans 1996), in the notation of
 * MCell and Golly:
 *
 *   R5,C0,M1,S34..58,B34..45,NM
 *
 *   R    range: radius of the neighbourhood in columns and rows, 1 to 500
 *   C    states, up to 256; 0, 1 and 2 mean two: a live cell (1) that does not survive becomes 2,
 *        3 and so on, as in Generations
 *   M    1: the cell itself counts
 *   S B  least and greatest number of live cells for survival and birth
 *   N    M: the square; N: von Neumann's diamond; C: a circle, distances less than R + 1/2
 *
 * The short form 5,34,45,34,58 gives range, birth and survival, for the square including the cell.
 * SPDX-License-Identifier: MIT
 */
#include "life/family.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int large_refuse(const char *text, const char *why)
{
    return clerror_set(EINVAL, "'%.100s' is not a rule this engine knows: %s", text, why);
}

/* Read a number below 10^9. */
static bool large_read_number(const char **p, unsigned *n)
{
    const char *start = *p;
    *n = 0;
    for (; isdigit((unsigned char)**p) && *p - start < 9; ++*p)
        *n = 10 * *n + (unsigned)(**p - '0');
    return *p > start && !isdigit((unsigned char)**p);
}

/* Read a letter and its numbers; numbers[1] only where the grammar allows a second one, after two
 * dots. */
static bool large_read_part(const char **p, char letter, unsigned *first, unsigned *second)
{
    if (toupper((unsigned char)**p) != letter)
        return false;
    ++*p;
    if (!large_read_number(p, first))
        return false;
    if (second) {
        if (strncmp(*p, "..", 2) != 0)
            return false;
        *p += 2;
        if (!large_read_number(p, second))
            return false;
    }
    if (**p != ',')
        return false;
    ++*p;
    return true;
}

static bool read_letters(const char *p, struct life_large *l, unsigned *states)
{
    if (!large_read_part(&p, 'R', &l->range, NULL) || !large_read_part(&p, 'C', states, NULL) ||
        !large_read_part(&p, 'M', &l->middle, NULL) ||
        !large_read_part(&p, 'S', &l->survival[0], &l->survival[1]) ||
        !large_read_part(&p, 'B', &l->birth[0], &l->birth[1]) ||
        toupper((unsigned char)*p++) != 'N')
        return false;
    l->shape = (char)toupper((unsigned char)*p);
    return *p && strchr("MNC", l->shape) && !p[1];
}

static bool large_read_numbers(const char *p, struct life_large *l)
{
    unsigned n[5];
    for (int i = 0; i < 5; i++)
        if (!large_read_number(&p, &n[i]) || *p++ != (i < 4 ? ',' : '\0'))
            return false;
    *l = (struct life_large){
        .range = n[0], .middle = 1, .birth = {n[1], n[2]}, .survival = {n[3], n[4]}, .shape = 'M'};
    return true;
}

unsigned life_large_half(const struct life_large *l, unsigned dy)
{
    if (l->shape != 'C')
        return l->shape == 'M' ? l->range : l->range - dy;
    unsigned half = l->range; /* (half^2 + dy^2) < (range + 1/2)^2, in quarters */
    while (4 * (half * half + dy * dy) >= (2 * l->range + 1) * (2 * l->range + 1))
        half--;
    return half;
}

/* Greatest possible number of counted cells. */
static unsigned large_area(const struct life_large *l)
{
    unsigned n = 2 * life_large_half(l, 0) + l->middle;
    for (unsigned dy = 1; dy <= l->range; dy++)
        n += 2 * (2 * life_large_half(l, dy) + 1);
    return n;
}

static const char *large_complaint(const struct life_large *l, unsigned states)
{
    static _Thread_local char why[100];
    if (l->range < 1 || l->range > LIFE_RANGE_MAX)
        return "the range, R, is 1 to 500";
    if (states > 256)
        return "a rule has up to 256 states, C";
    if (l->middle > 1)
        return "M is 1 if the cell itself counts, else 0";
    if (l->birth[0] > l->birth[1] || l->survival[0] > l->survival[1])
        return "of S and B the first number is the least, the second the most";
    snprintf(why, sizeof why, "with these neighbours counts go from 0 to %u", large_area(l));
    return l->birth[1] > large_area(l) || l->survival[1] > large_area(l) ? why : NULL;
}

int life_large_parse(const char *text, struct life_family *family)
{
    char copy[LIFE_RULE_TEXT];
    size_t n = 0;
    unsigned states = 2;
    struct life_family f = {.counts = false};
    for (const char *p = text; *p && n + 1 < sizeof copy; p++)
        if (!isspace((unsigned char)*p))
            copy[n++] = *p;
    copy[n] = '\0';
    const bool letters = toupper((unsigned char)copy[0]) == 'R' && isdigit((unsigned char)copy[1]),
               numbers = isdigit((unsigned char)copy[0]) && strchr(copy, ',');
    if (!letters && !numbers)
        return 1;
    if (letters ? !read_letters(copy, &f.large, &states) : !large_read_numbers(copy, &f.large))
        return large_refuse(
            text,
            "write Larger than Life as R5,C0,M1,S34..58,B34..45,NM, with NM, NN or NC at the end, or 5,34,45,34,58");
    const char *why = large_complaint(&f.large, states);
    if (why)
        return large_refuse(text, why);
    f.states = states < 2 ? 2 : states;
    const struct life_large *l = &f.large;
    snprintf(f.text, sizeof f.text, "R%u,C%u,M%u,S%u..%u,B%u..%u,N%c", l->range,
             f.states > 2 ? f.states : 0, l->middle, l->survival[0], l->survival[1], l->birth[0],
             l->birth[1], l->shape);
    *family = f;
    return 0;
}

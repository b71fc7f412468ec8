/* large_rule.c - the notation of Larger than Life and the neighbourhoods that it names.
 *
 * Three notations, as in Golly's help:
 *
 *   R5,C0,M1,S34..58,B34..45,NM   K. Evans's family as MCell writes it: least and greatest counts
 *   5,34,45,34,58                 Evans's own: range, birth, survival; the square with its middle
 *   R3,C2,S0,7-12,27,B8,12,N2     HROT (higher-range outer-totalistic): lists of counts; without N
 *                                 the square; the cell itself does not count
 *
 *   R   range: radius of the neighbourhood in columns and rows, 1 to 500
 *   C   states, up to 256; 0, 1 and 2 mean two: a live cell (1) that does not survive becomes 2,
 *       3 and so on, as in Generations
 *   M   1: the cell itself counts
 *   N   the neighbourhood. A cell dx columns and dy rows away is a neighbour if
 *
 *         M  always: the square               +  dx = 0 or dy = 0
 *         N  |dx| + |dy| <= R                 X  |dx| = |dy|
 *         C  dx^2 + dy^2 < (R + 1/2)^2        *  + or X
 *         2  dx^2 + dy^2 <= R^2               #  |dx| = 1 or |dy| = 1
 *         B  dx + dy is odd                   D  dx + dy is even
 *         H  |dx - dy| <= R: hexagons         A  + or dx = dy: hexagons
 *         3  dx = dy > 0, or dy = 0 > dx, or dx = 0 > dy: hexagons
 *         L  triangles: the cell's own row has 2 R cells to either side. Away from it a row has
 *            one cell less on each side for each row; the row on the side of the triangle's edge
 *            loses none. The edge is above if column + row is even, else below.
 *         G  always, with weight (R + 1 - |dx|) (R + 1 - |dy|), also the cell itself; R up to 50
 *         W  with the weight that follows, row by row with the cell itself: a hexadecimal digit a
 *            cell, of which 8 is the sign, or two digits, of which 80 is; then, after a comma, a
 *            digit for each state
 *         @  if its bit in the following digits is 1, row by row without the middle
 *
 *       After W and @, H says that cells are hexagons, and L that odd cells are upside down.
 * SPDX-License-Identifier: MIT
 */
#include "life/large_rule.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char NOTATION[] =
    "write Larger than Life as R5,C0,M1,S34..58,B34..45,NM or 5,34,45,34,58, or with lists of "
    "counts as R3,C2,S2,7-12,B8,NM; N is followed by one of M N C 2 + X * # B D H A 3 L G W @";

/* ---- Neighbourhoods. ------------------------------------------------------------------------- */

static int hexadecimal(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : toupper((unsigned char)c) - 'A' + 10;
}

static int sign_and_size(int digits, int sign)
{
    return digits < sign ? digits : sign - digits;
}

/* Weight number i of the shape W. */
static int weight_of_digits(const struct life_large *l, size_t i)
{
    const size_t side = 2 * (size_t)l->range + 1;
    if (l->digits_n == side * side)
        return sign_and_size(hexadecimal(l->digits[i]), 8);
    return sign_and_size(16 * hexadecimal(l->digits[2 * i]) + hexadecimal(l->digits[2 * i + 1]),
                         128);
}

/* Weight at a place of a neighbourhood that is written out. */
static int written_weight(const struct life_large *l, int dx, int dy)
{
    const int range = (int)l->range;
    const size_t i = (size_t)((dy + range) * (2 * range + 1) + dx + range);
    if (l->shape == 'W')
        return weight_of_digits(l, i);
    if (!dx && !dy)
        return (int)l->middle;
    const size_t bit = i - (dy > 0 || (dy == 0 && dx > 0));
    return hexadecimal(l->digits[bit / 4]) >> (3 - bit % 4) & 1;
}

/* `down`: rows away on the side without the triangle's edge. */
static bool is_in_triangles(int range, int dx, int down)
{
    const int half = down > 0 ? 2 * range - down : 2 * range + (down < 0) + down;
    return abs(dx) <= half;
}

int large_weight(const struct life_large *l, int dx, int dy, bool odd)
{
    const int range = (int)l->range, ax = abs(dx), ay = abs(dy);
    if (l->shape == 'W' || l->shape == '@')
        return written_weight(l, dx, odd && l->tiling == 'L' ? -dy : dy);
    if (!dx && !dy)
        return (int)l->middle + (l->shape == 'G' ? (range + 1) * (range + 1) : 0);
    switch (l->shape) {
    case 'N':
        return ax + ay <= range;
    case 'C':
        return 4 * (dx * dx + dy * dy) < (2 * range + 1) * (2 * range + 1);
    case '2':
        return dx * dx + dy * dy <= range * range;
    case '+':
        return !dx || !dy;
    case 'X':
        return ax == ay;
    case '*':
        return !dx || !dy || ax == ay;
    case '#':
        return ax == 1 || ay == 1;
    case 'B':
        return (dx + dy) & 1;
    case 'D':
        return !((dx + dy) & 1);
    case 'H':
        return abs(dx - dy) <= range;
    case 'A':
        return !dx || !dy || dx == dy;
    case '3':
        return (dx == dy && dx > 0) || (!dy && dx < 0) || (!dx && dy < 0);
    case 'L':
        return is_in_triangles(range, dx, odd ? -dy : dy);
    case 'G':
        return (range + 1 - ax) * (range + 1 - ay);
    default:
        return 1;
    }
}

unsigned large_state_weight(const struct life_large *l, unsigned state)
{
    return l->state_digits ? (unsigned)hexadecimal(l->state_digits[state]) : state == 1;
}

unsigned large_columns(const struct life_large *l)
{
    return l->shape == 'L' ? 2 * l->range : l->range;
}

bool large_has_parity(const struct life_large *l)
{
    return l->shape == 'L' || l->tiling == 'L';
}

size_t large_runs(const struct life_large *l, bool odd, struct large_run *run)
{
    const int range = (int)l->range, columns = (int)large_columns(l);
    size_t n = 0;
    for (int dy = -range; dy <= range; dy++)
        for (int dx = -columns, end; dx <= columns; dx = end) {
            const int weight = large_weight(l, dx, dy, odd);
            for (end = dx + 1; end <= columns && large_weight(l, end, dy, odd) == weight;)
                end++;
            if (weight && run)
                run[n] = (struct large_run){(short)dy, (short)dx, (short)(end - 1), (short)weight};
            n += weight != 0;
        }
    return n;
}

/* Add the weights of all neighbours, or of those that count positively. */
static int add_weights(const struct life_large *l, bool positive)
{
    const int range = (int)l->range, columns = (int)large_columns(l);
    int sum = 0;
    for (int dy = -range; dy <= range; dy++)
        for (int dx = -columns; dx <= columns; dx++) {
            const int weight = large_weight(l, dx, dy, false);
            sum += positive && weight < 0 ? 0 : weight;
        }
    return sum;
}

int large_total(const struct life_large *l)
{
    return add_weights(l, false) * (int)large_state_weight(l, 1);
}

static int large_most_state(const struct life_large *l)
{
    unsigned most = 0;
    for (unsigned state = 0; state < l->states; state++)
        most = large_state_weight(l, state) > most ? large_state_weight(l, state) : most;
    return (int)most;
}

int large_most(const struct life_large *l)
{
    return add_weights(l, true) * large_most_state(l);
}

int large_least(const struct life_large *l)
{
    return (add_weights(l, false) - add_weights(l, true)) * large_most_state(l);
}

/* ---- Counts. --------------------------------------------------------------------------------- */

bool large_counts_have(const struct large_counts *counts, int n)
{
    for (unsigned i = 0; i < counts->n; i++)
        if (n >= counts->of[i].least && n <= counts->of[i].most)
            return true;
    return false;
}

enum large_inverted large_inversion(const struct life_large *l)
{
    if (l->states > 2 || !large_counts_have(&l->birth, 0))
        return LARGE_PLAIN;
    return large_counts_have(&l->survival, large_total(l)) ? LARGE_INVERTED : LARGE_ALTERNATING;
}

bool large_is_inverted(enum large_inverted how, uint64_t generation)
{
    return how == LARGE_INVERTED || (how == LARGE_ALTERNATING && (generation & 1));
}

static int intervals_order(const void *a, const void *b)
{
    const struct large_interval *x = a, *y = b;
    return (x->least > y->least) - (x->least < y->least);
}

/* Sort the intervals, and join those that touch. */
static void tidy_counts(struct large_counts *counts)
{
    unsigned n = 0;
    qsort(counts->of, counts->n, sizeof *counts->of, intervals_order);
    for (unsigned i = 0; i < counts->n; i++) {
        const struct large_interval next = counts->of[i];
        if (!n || next.least > counts->of[n - 1].most + 1)
            counts->of[n++] = next;
        else if (next.most > counts->of[n - 1].most)
            counts->of[n - 1].most = next.most;
    }
    counts->n = n;
}

/* ---- Parsing. -------------------------------------------------------------------------------- */

/* Read a number below 10^9. */
static bool large_read_number(const char **p, unsigned *n)
{
    const char *start = *p;
    *n = 0;
    for (; isdigit((unsigned char)**p) && *p - start < 9; ++*p)
        *n = 10 * *n + (unsigned)(**p - '0');
    return *p > start && !isdigit((unsigned char)**p);
}

static bool large_read_letter(const char **p, char letter)
{
    if (toupper((unsigned char)**p) != letter)
        return false;
    ++*p;
    return true;
}

/* Read a letter, a number and a comma. */
static bool large_read_part(const char **p, char letter, unsigned *n)
{
    return large_read_letter(p, letter) && large_read_number(p, n) && large_read_letter(p, ',');
}

/* Read an interval; `between` is "-" or "..". Without `between` it may be one number. */
static bool large_read_interval(const char **p, const char *between, struct large_counts *counts)
{
    unsigned least, most;
    if (counts->n == LARGE_INTERVALS || !large_read_number(p, &least))
        return false;
    most = least;
    if (strncmp(*p, between, strlen(between)) == 0) {
        *p += strlen(between);
        if (!large_read_number(p, &most))
            return false;
    } else if (*between == '.') {
        return false;
    }
    counts->of[counts->n++] = (struct large_interval){(int)least, (int)most};
    return true;
}

/* Read a letter and its counts, and the comma before the next letter. */
static bool large_read_list(const char **p, char letter, struct large_counts *counts)
{
    if (!large_read_letter(p, letter))
        return false;
    while (isdigit((unsigned char)**p)) {
        if (!large_read_interval(p, "-", counts))
            return false;
        if (**p && !large_read_letter(p, ','))
            return false;
    }
    return counts->n || !**p || large_read_letter(p, ',');
}

static bool large_read_limits(const char **p, char letter, struct large_counts *counts)
{
    return large_read_letter(p, letter) && large_read_interval(p, "..", counts) &&
           large_read_letter(p, ',');
}

static size_t count_digits(const char *p)
{
    size_t n = 0;
    while (isxdigit((unsigned char)p[n]))
        n++;
    return n;
}

/* Read the digits of W or @, of the states, and the tiling. */
static bool large_read_digits(const char *p, struct life_large *l)
{
    l->digits = p;
    l->digits_n = count_digits(p);
    p += l->digits_n;
    if (l->shape == 'W' && *p == ',') {
        l->state_digits = ++p;
        if (count_digits(p) != l->states)
            return false;
        p += l->states;
    }
    l->tiling = (char)toupper((unsigned char)*p);
    return !*p || (strchr("HL", l->tiling) && !p[1]);
}

static bool large_read_shape(const char *p, struct life_large *l)
{
    if (l->lists && !*p)
        return true;
    if (!large_read_letter(&p, 'N') || !*p ||
        !strchr("MNC2+X*#BDHA3LGW@", toupper((unsigned char)*p)))
        return false;
    l->shape = (char)toupper((unsigned char)*p++);
    return strchr("W@", l->shape) ? large_read_digits(p, l) : !*p;
}

static bool large_read_letters(const char *p, struct life_large *l)
{
    if (!large_read_part(&p, 'R', &l->range) || !large_read_part(&p, 'C', &l->states))
        return false;
    l->states = l->states < 2 ? 2 : l->states;
    l->lists = toupper((unsigned char)*p) != 'M';
    if (l->lists)
        return large_read_list(&p, 'S', &l->survival) && large_read_list(&p, 'B', &l->birth) &&
               large_read_shape(p, l);
    return large_read_part(&p, 'M', &l->middle) && large_read_limits(&p, 'S', &l->survival) &&
           large_read_limits(&p, 'B', &l->birth) && large_read_shape(p, l);
}

static bool large_read_numbers(const char *p, struct life_large *l)
{
    unsigned n[5];
    for (int i = 0; i < 5; i++)
        if (!large_read_number(&p, &n[i]) || *p++ != (i < 4 ? ',' : '\0'))
            return false;
    l->range = n[0];
    l->middle = 1;
    l->birth = (struct large_counts){1, {{(int)n[1], (int)n[2]}}};
    l->survival = (struct large_counts){1, {{(int)n[3], (int)n[4]}}};
    return true;
}

/* ---- Complaints. ----------------------------------------------------------------------------- */

/* Return why the digits of a neighbourhood are wrong; NULL: they are right. */
static const char *digits_complaint(const struct life_large *l)
{
    static _Thread_local char why[160];
    const size_t cells = (2 * (size_t)l->range + 1) * (2 * (size_t)l->range + 1);
    if (l->shape == 'W' && l->digits_n != cells && l->digits_n != 2 * cells) {
        snprintf(why, sizeof why, "NW needs %zu hexadecimal digits, or %zu, and not %zu", cells,
                 2 * cells, l->digits_n);
        return why;
    }
    if (l->shape == '@' && l->digits_n != (cells - 1) / 4) {
        snprintf(why, sizeof why, "N@ needs %zu hexadecimal digits, and not %zu", (cells - 1) / 4,
                 l->digits_n);
        return why;
    }
    return l->state_digits && *l->state_digits != '0' ? "the weight of state 0 is 0" : NULL;
}

static bool intervals_descend(const struct large_counts *counts)
{
    for (unsigned i = 0; i < counts->n; i++)
        if (counts->of[i].least > counts->of[i].most)
            return true;
    return false;
}

static int greatest_count(const struct large_counts *counts)
{
    int most = 0;
    for (unsigned i = 0; i < counts->n; i++)
        most = counts->of[i].most > most ? counts->of[i].most : most;
    return most;
}

static const char *large_complaint(const struct life_large *l)
{
    static _Thread_local char why[100];
    const unsigned range = l->shape == 'L' ? 250 : l->shape == 'G' ? 50 : LARGE_RANGE_MAX;
    snprintf(why, sizeof why, "the range, R, is 1 to %u%s", range,
             range < LARGE_RANGE_MAX ? " for this neighbourhood" : "");
    if (l->range < 1 || l->range > range)
        return why;
    if (l->states > 256)
        return "a rule has up to 256 states, C";
    if (l->middle > 1)
        return "M is 1 if the cell itself counts, else 0";
    if (intervals_descend(&l->birth) || intervals_descend(&l->survival))
        return "of S and B the first number is the least, the second the most";
    if (l->digits && digits_complaint(l))
        return digits_complaint(l);
    const int most = large_most(l);
    snprintf(why, sizeof why, "with these neighbours counts go from 0 to %d", most);
    return greatest_count(&l->birth) > most || greatest_count(&l->survival) > most ? why : NULL;
}

int large_rule_read(const char *text, struct life_large *l, const char **why)
{
    const bool letters = toupper((unsigned char)*text) == 'R' && isdigit((unsigned char)text[1]),
               numbers = isdigit((unsigned char)*text) && strchr(text, ',');
    if (!letters && !numbers)
        return 1;
    *l = (struct life_large){.states = 2, .shape = 'M'};
    const bool understood = letters ? large_read_letters(text, l) : large_read_numbers(text, l);
    *why = understood ? large_complaint(l) : NOTATION;
    if (*why)
        return -1;
    tidy_counts(&l->survival);
    tidy_counts(&l->birth);
    return 0;
}

/* ---- Writing. -------------------------------------------------------------------------------- */

/* Append to a text of `size` characters; `used` counts also those that had no room. */
#define PUT(...)                                                                                   \
    (used += (size_t)snprintf(used < size ? text + used : NULL, used < size ? size - used : 0,     \
                              __VA_ARGS__))

static size_t write_counts(const struct life_large *l, char letter,
                           const struct large_counts *counts, char *text, size_t size)
{
    size_t used = 0;
    PUT("%c", letter);
    for (unsigned i = 0; i < counts->n; i++) {
        const struct large_interval c = counts->of[i];
        PUT("%s%d", i ? "," : "", c.least);
        if (!l->lists || c.most > c.least)
            PUT("%s%d", l->lists ? "-" : "..", c.most);
    }
    PUT(",");
    return used;
}

bool large_rule_write(const struct life_large *l, char *text, size_t size)
{
    size_t used = 0;
    PUT("R%u,C%u,", l->range, l->states > 2 ? l->states : 0);
    if (!l->lists)
        PUT("M%u,", l->middle);
    for (int birth = 0; birth < 2 && used < size; birth++)
        used += write_counts(l, birth ? 'B' : 'S', birth ? &l->birth : &l->survival, text + used,
                             size - used);
    if (l->lists && l->shape == 'M') {
        text[used < size ? used - 1 : 0] = '\0'; /* the square is not written, nor its comma */
        return used < size;
    }
    PUT("N%c", l->shape);
    for (size_t i = 0; i < l->digits_n; i++)
        PUT("%c", toupper((unsigned char)l->digits[i]));
    for (unsigned i = 0; l->state_digits && i < l->states; i++)
        PUT("%s%c", i ? "" : ",", toupper((unsigned char)l->state_digits[i]));
    if (l->tiling)
        PUT("%c", l->tiling);
    return used < size;
}

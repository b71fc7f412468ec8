/* annotations.c - rules of two states with further states that mark cells or influence them:
 * RULEHistory, RULESuper and RULEInvestigator for any rule of two states, such as LifeHistory.
 *
 *   History        0 dead    1 alive   2 dead, and was alive   3 marked, alive   4 marked, dead
 *                  5 alive, and 4 when it dies                 6 boundary: stays, and kills
 *                  adjacent live cells
 *   Super          0 to 6 as in History; 7 alive and 8 dead: a boundary beyond which no trail is
 *                  left; 9 and 11: leave 10 and 12 when they die; 13, 15, ... 25: leave no trail;
 *                  14, 16, ... 24: labels. A birth takes the state of its live neighbours
 *   Investigator   2 to 20: cells that stay or change with period 2, kill or give birth, and count
 *                  as alive or dead for their neighbours
 *
 * Odd states of History and Super are alive for the rule, even ones dead. Definitions:
 * conwaylife.com/wiki/OCA:LifeHistory, and Golly's help on the algorithm Super.
 *
 * The summary of neighbours (rule_program.h) is a number of live neighbours' sets that the rule
 * does not distinguish, and notes in the bits above.
 * SPDX-License-Identifier: MIT
 */
#include "life/family.h"
#include "life/rule_program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NEIGHBOURS = 8, SETS = 1 << NEIGHBOURS, LIVE = SETS - 1 };

struct annotated {
    struct life_table table;
    int neighbours;
    /* A representative of a set of live neighbours among the first n: sets of equal futures have
     * one. [alive][n][set]; after all neighbours, the next cell, 0 or 1. */
    unsigned char same[2][NEIGHBOURS + 1][SETS];
    /* Of a representative: the cell may be alive next. */
    bool lives[2][NEIGHBOURS + 1][SETS];
};

/* The sets that can still be told apart, from all neighbours down to none. */
static void annotated_sets(struct annotated *a)
{
    const unsigned char *place = rule_program_places(a->neighbours);
    for (unsigned alive = 0; alive < 2; alive++)
        for (int n = a->neighbours; n >= 0; n--)
            for (unsigned set = 0; set < 1u << n; set++) {
                unsigned char(*same)[SETS] = &a->same[alive][n];
                bool(*lives)[SETS] = &a->lives[alive][n];
                unsigned block = alive << 4, first = 0;
                for (int i = 0; i < n; i++)
                    block |= (set >> i & 1) << place[i];
                if (n == a->neighbours) {
                    (*same)[set] = life_table_next(&a->table, block) ? 1 : 0;
                    (*lives)[set] = set == 1;
                    continue;
                }
                (*lives)[set] = lives[1][same[1][set]] || lives[1][same[1][set | 1u << n]];
                while (same[1][first] != same[1][set] ||
                       same[1][first | 1u << n] != same[1][set | 1u << n])
                    first++;
                (*same)[set] = (unsigned char)first;
            }
}

/* Add a neighbour to the set in the low bits of a summary. */
static uint32_t annotated_add(const struct annotated *a, unsigned alive, uint32_t summary, int i,
                              bool live)
{
    const unsigned set = (summary & LIVE) | (unsigned)live << i;
    return (summary & ~(uint32_t)LIVE) | a->same[alive][i + 1][set];
}

static bool one_of(uint32_t states, unsigned state)
{
    return states >> state & 1;
}

#define ST(n) ((uint32_t)1 << (n))

/* ---- History. -------------------------------------------------------------------------------- */

enum { ALIVE = 1, WAS_ALIVE, MARKED_ALIVE, MARKED_DEAD, START, BOUNDARY };
enum { BY_BOUNDARY = ST(8), TOUCHED = ST(9), COLOUR_SHIFT = 10 }; /* notes in a summary */

static uint32_t history_add(const void *arg, unsigned cell, uint32_t summary, int i, unsigned state)
{
    if (cell == BOUNDARY)
        return 0;
    if (cell & 1 && (state == BOUNDARY || summary & BY_BOUNDARY))
        return BY_BOUNDARY; /* other neighbours no longer matter */
    return annotated_add(arg, cell & 1, summary, i, state & 1);
}

/* State of a live cell after its death, with a trail or a mark. */
static unsigned death_of(unsigned cell)
{
    return cell == START ? MARKED_DEAD : cell <= 11 ? cell + 1 : 0;
}

static unsigned history_alike(unsigned cell, unsigned state)
{
    return cell == BOUNDARY ? 0 : state == BOUNDARY ? state : state & 1;
}

static unsigned history_next(const void *arg, unsigned cell, uint32_t summary)
{
    const bool next = summary & LIVE;
    (void)arg;
    if (cell == BOUNDARY)
        return cell;
    if (cell & 1)
        return next && !(summary & BY_BOUNDARY) ? cell : death_of(cell);
    return !next ? cell : cell == MARKED_DEAD ? MARKED_ALIVE : ALIVE;
}

static const unsigned char history_colour[][3] = {
    {0, 0, 0}, {0, 255, 0}, {0, 0, 128}, {216, 255, 216}, {255, 0, 0}, {255, 255, 0}, {96, 96, 96},
};

/* ---- Super. ---------------------------------------------------------------------------------- */

enum {
    NO_TRAIL_ALIVE = 7,
    NO_TRAIL_DEAD = 8,
    TRAIL = 9,  /* and 11 */
    PLAIN = 13, /* to 25: live cells that leave no trail */
    VANISHING = 14,
    REMOVABLE = 16,
    CYCLE_1 = 18,
    CYCLE_2 = 20,
    CYCLE_3 = 22,
    HIDDEN = 24
};

/* Colour of a birth: 0 if no live neighbour has been examined; ALIVE if the neighbours disagree;
 * the only state of 9 to 25, or SEVERAL of 13 to 25, with WITH_3 and WITH_7 for neighbours in
 * states 3 and 7. */
enum { SEVERAL = 14, STATE = 31, WITH_3 = 32, WITH_7 = 64 };

/* Colour after a further live neighbour. */
static unsigned colour_add(unsigned colour, unsigned state)
{
    unsigned only = colour & STATE;
    if (colour == ALIVE || state == ALIVE || state == START)
        return ALIVE;
    if (state > NO_TRAIL_DEAD) {
        if (only && only != state && (only < PLAIN || state < PLAIN))
            return ALIVE;
        only = !only || only == state ? state : SEVERAL;
    }
    const unsigned with = (colour & (WITH_3 | WITH_7)) | (state == MARKED_ALIVE ? WITH_3 : 0) |
                          (state == NO_TRAIL_ALIVE ? WITH_7 : 0);
    if (with & WITH_3 && (with & WITH_7 || only == SEVERAL || (only && only < PLAIN)))
        return ALIVE;
    return with & WITH_7 && only >= PLAIN ? SEVERAL : only | with;
}

static unsigned colour_of_birth(unsigned colour)
{
    const unsigned only = colour & STATE;
    if (only == SEVERAL || (!only && colour & WITH_7))
        return PLAIN;
    return only ? only : ALIVE;
}

/* True if a neighbour in `state` changes a label that is not born. */
static bool touches(unsigned cell, unsigned state)
{
    switch (cell) {
    case REMOVABLE:
        return state & 1 || state == VANISHING;
    case CYCLE_1:
        return state == CYCLE_3;
    case CYCLE_2:
        return state == CYCLE_1;
    case CYCLE_3:
        return state == CYCLE_2;
    case HIDDEN:
        return state & 1 || state == VANISHING || state == CYCLE_1;
    default:
        return false;
    }
}

/* State of a label that a neighbour has touched. */
static unsigned touched_label(unsigned cell)
{
    return cell == REMOVABLE                   ? VANISHING
           : cell == CYCLE_1                   ? CYCLE_3
           : cell == CYCLE_3                   ? CYCLE_2
           : cell == CYCLE_2 || cell == HIDDEN ? CYCLE_1
                                               : cell;
}

static bool takes_colour(unsigned cell)
{
    return !(cell & 1) && cell != MARKED_DEAD && cell != NO_TRAIL_DEAD;
}

static uint32_t super_add(const void *arg, unsigned cell, uint32_t summary, int i, unsigned state)
{
    const unsigned colour = summary >> COLOUR_SHIFT;
    uint32_t notes = summary & (BY_BOUNDARY | TOUCHED);
    if (cell == BOUNDARY)
        return 0;
    if (state == BOUNDARY && (cell & 1 || cell == NO_TRAIL_DEAD || cell > PLAIN))
        notes |= BY_BOUNDARY;
    if (notes & BY_BOUNDARY)
        return BY_BOUNDARY; /* other neighbours no longer matter */
    if (touches(cell, state))
        notes |= TOUCHED;
    summary = annotated_add(arg, cell & 1, summary & LIVE, i, state & 1);
    if (!((const struct annotated *)arg)->lives[cell & 1][i + 1][summary])
        return summary | notes; /* no birth takes the colour */
    return summary | notes |
           (takes_colour(cell) && state & 1 ? colour_add(colour, state) : colour) << COLOUR_SHIFT;
}

static unsigned super_alike(unsigned cell, unsigned state)
{
    if (cell == BOUNDARY)
        return 0;
    if (state & 1)
        return takes_colour(cell) && state != START ? state : ALIVE;
    return state == BOUNDARY || touches(cell, state) ? state : 0;
}

static unsigned super_birth(unsigned cell, uint32_t summary)
{
    return cell == MARKED_DEAD     ? MARKED_ALIVE
           : cell == NO_TRAIL_DEAD ? NO_TRAIL_ALIVE
                                   : colour_of_birth(summary >> COLOUR_SHIFT);
}

static unsigned super_next(const void *arg, unsigned cell, uint32_t summary)
{
    const bool next = summary & LIVE;
    (void)arg;
    if (cell == BOUNDARY)
        return cell;
    if (summary & BY_BOUNDARY)
        return cell & 1 && cell != NO_TRAIL_ALIVE ? death_of(cell) : 0;
    if (cell & 1)
        return next ? cell : death_of(cell);
    if (next)
        return super_birth(cell, summary);
    return cell == VANISHING ? 0 : summary & TOUCHED ? touched_label(cell) : cell;
}

static const unsigned char super_colour[][3] = {
    {0, 0, 0},       {0, 255, 0},     {32, 64, 255},   {255, 176, 208}, {255, 0, 0},
    {255, 255, 0},   {96, 96, 96},    {255, 96, 176},  {128, 0, 160},   {96, 192, 255},
    {80, 96, 144},   {64, 224, 208},  {0, 128, 144},   {255, 255, 255}, {255, 99, 71},
    {250, 128, 114}, {208, 112, 112}, {255, 160, 0},   {245, 222, 179}, {0, 255, 255},
    {192, 192, 192}, {176, 224, 48},  {255, 192, 203}, {112, 255, 112}, {16, 16, 16},
    {224, 32, 144},
};

/* ---- Investigator. --------------------------------------------------------------------------- */

enum { FORCED = ST(8), NEEDS_ALIVE = ST(9), HAS_ALIVE = ST(10) }; /* notes in a summary */

static const uint32_t KILLS = ST(2) | ST(3) | ST(6) | ST(7) | ST(14) | ST(16),
                      GIVES_BIRTH = ST(8) | ST(9) | ST(12) | ST(13) | ST(14),
                      CATALYSTS = ST(15) | ST(16), /* count for births beside a cell in state 1 */
    LIVE_ALWAYS = ST(1) | ST(2) | ST(4) | ST(6) | ST(8) | ST(10) | ST(12) | ST(15) | ST(16),
                      LIVE_FOR_BIRTH = ST(17) | ST(19), LIVE_FOR_SURVIVAL = ST(18) | ST(20);

static uint32_t investigator_add(const void *arg, unsigned cell, uint32_t summary, int i,
                                 unsigned state)
{
    if (cell > 1)
        return 0;
    const bool live = one_of(LIVE_ALWAYS | (cell ? LIVE_FOR_SURVIVAL : LIVE_FOR_BIRTH), state);
    summary = annotated_add(arg, cell, summary, i, live);
    if (one_of(cell ? KILLS : GIVES_BIRTH, state))
        summary |= FORCED;
    if (!cell && one_of(CATALYSTS, state))
        summary |= NEEDS_ALIVE;
    return summary | (!cell && state == ALIVE ? HAS_ALIVE : 0);
}

/* Cells with period 2 change into their other state; the others stay. */
static unsigned investigator_fixed(unsigned cell)
{
    static const uint32_t to_next = ST(6) | ST(10) | ST(12) | ST(19),
                          to_last = ST(7) | ST(11) | ST(13) | ST(20);
    return one_of(to_next, cell) ? cell + 1 : one_of(to_last, cell) ? cell - 1 : cell;
}

static unsigned investigator_next(const void *arg, unsigned cell, uint32_t summary)
{
    (void)arg;
    if (cell > 1)
        return investigator_fixed(cell);
    if (summary & FORCED)
        return 1 - cell;
    if (summary & NEEDS_ALIVE && !(summary & HAS_ALIVE))
        return 0;
    return summary & LIVE ? 1 : 0;
}

static const unsigned char investigator_colour[][3] = {
    {0, 0, 0},     {0, 255, 0},    {0, 255, 255}, {255, 0, 0},     {255, 255, 255}, {64, 64, 64},
    {255, 0, 255}, {96, 0, 112},   {255, 255, 0}, {192, 144, 0},   {0, 176, 64},    {0, 96, 32},
    {255, 160, 0}, {176, 96, 0},   {0, 64, 255},  {192, 192, 192}, {128, 128, 128}, {255, 176, 192},
    {144, 0, 96},  {96, 176, 176}, {32, 96, 96},
};

/* ---- Parsing. -------------------------------------------------------------------------------- */

static const struct annotation {
    unsigned states;
    const unsigned char (*colour)[3];
    uint32_t (*add)(const void *arg, unsigned cell, uint32_t summary, int i, unsigned state);
    unsigned (*next)(const void *arg, unsigned cell, uint32_t summary);
    unsigned (*alike)(unsigned cell, unsigned state);
} annotations[LIFE_ANNOTATIONS] = {
    [LIFE_HISTORY] = {7, history_colour, history_add, history_next, history_alike},
    [LIFE_SUPER] = {26, super_colour, super_add, super_next, super_alike},
    [LIFE_INVESTIGATOR] = {21, investigator_colour, investigator_add, investigator_next, NULL},
};

/* Replace a table with B0 and survival in a full neighbourhood by the table of inverted cells, as
 * Golly does: the plane's empty cells stay 0. */
static void invert_table(struct life_table *table)
{
    const struct life_table was = *table;
    *table = (struct life_table){{0}};
    for (unsigned block = 0; block < 512; block++)
        if (!life_table_next(&was, 511 - block))
            table->on[block / 64] |= (uint64_t)1 << block % 64;
}

/* Parse the rule before the suffix; LifeH and LifeV are B3/S23H and B3/S23V. */
static int annotated_parse(const char *text, size_t length, const char *suffix,
                           struct life_family *rule)
{
    char head[LIFE_RULE_TEXT];
    if (length >= sizeof head)
        return clerror_set(EINVAL, "'%.100s': the rule before %s is too long", text, suffix);
    snprintf(head, sizeof head, "%.*s", (int)length, text);
    if (strcasecmp(head, "LifeH") == 0 || strcasecmp(head, "LifeV") == 0)
        snprintf(head, sizeof head, "B3/S23%c", text[4]);
    if (life_family_parse(head, rule) < 0)
        return -1;
    if (rule->row->form != LIFE_FORM_TABLE || rule->states > 2 || rule->text[0] == 'W')
        return clerror_set(EINVAL,
                           "'%.100s' cannot be annotated: only rules of two states and two "
                           "dimensions have %s",
                           text, suffix);
    if (!rule->b0)
        return 0;
    if (!life_table_next(&rule->table, 511))
        return clerror_set(EINVAL,
                           "'%.100s' has B0, which %s needs survival with all neighbours for", text,
                           suffix);
    invert_table(&rule->table);
    return 0;
}

life_transitions *life_annotated_rule(const char *text)
{
    static const char conway[] = "B3/S23";
    const char *suffix;
    const enum life_annotation which = life_annotation_of(text, &suffix);
    struct life_family rule;
    struct annotated a = {.neighbours = 0};
    char name[LIFE_RULE_TEXT];
    if (which == LIFE_ANNOTATIONS) {
        clerror_set(ENOENT,
                    "'%.100s' is neither a rule followed by History, Super or Investigator, as in "
                    "B36/S23History, nor JvN29, Nobili32 or Hutton32",
                    text);
        return NULL;
    }
    if (annotated_parse(text, strlen(text) - strlen(suffix), suffix, &rule) < 0)
        return NULL;
    const struct annotation *kind = &annotations[which];
    a.table = rule.table;
    a.neighbours = __builtin_popcount(rule.neighbourhood);
    annotated_sets(&a);
    snprintf(name, sizeof name, "%.*s%s", (int)(sizeof name - 1 - strlen(suffix)),
             strcmp(rule.text, conway) == 0 ? "Life" : rule.text, suffix);
    return rule_program_build(&(struct rule_program){.arg = &a,
                                                     .states = kind->states,
                                                     .neighbours = a.neighbours,
                                                     .colour = kind->colour,
                                                     .add = kind->add,
                                                     .next = kind->next,
                                                     .alike = kind->alike},
                              name);
}

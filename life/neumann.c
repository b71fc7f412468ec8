/* neumann.c - self-reproducing automata: J. von Neumann's 29 states, R. Nobili's 32 states with
 * crossings of signals, and T. Hutton's rule for these 32.
 *
 *    0        ground state
 *    1 to 8   sensitised: 1 begins, and each generation adds an input, 0 or 1, to a word, until
 *             the word names the state to construct: 2 is 0, 3 is 1, 4 is 00, 5 is 01, 6 is 10,
 *             7 is 11, 8 is 000
 *    9 to 12  ordinary transmission to the east, north, west, south; 13 to 16 excited
 *   17 to 20  special transmission; 21 to 24 excited
 *   25 to 28  confluent: bit 0 of state - 25 is the next output, bit 1 the present one
 *   29 to 31  confluent, a crossing that is excited in its row (bit 0 of state - 28), its column
 *             (bit 1), or both
 *
 * Numbers of states as in Golly. J. von Neumann, Theory of Self-Reproducing Automata (ed. A. W.
 * Burks, 1966); R. Nobili & U. Pesavento, Generalised von Neumann's automata (1996); T. Hutton,
 * Codd's self-replicating computer, Artificial Life 16 (2010) 99, and his notes on Hutton32.
 * SPDX-License-Identifier: MIT
 */
#include "life/rule_program.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

enum { GROUND, SENSITISED, ORDINARY = 9, SPECIAL = 17, CONFLUENT = 25, CROSSING = 28, EXCITED = 4 };
enum { EAST, NORTH, WEST, SOUTH };

/* ---- States. --------------------------------------------------------------------------------- */

static bool is_ordinary(unsigned state)
{
    return state >= ORDINARY && state < SPECIAL;
}

static bool is_special(unsigned state)
{
    return state >= SPECIAL && state < CONFLUENT;
}

static bool is_transmission(unsigned state)
{
    return is_ordinary(state) || is_special(state);
}

/* Direction of a transmission state. */
static unsigned direction_of(unsigned state)
{
    return (state - ORDINARY) % 4;
}

static bool is_excited(unsigned state)
{
    return is_transmission(state) && (state - ORDINARY) % 8 >= EXCITED;
}

/* A transmission state without excitation. */
static unsigned quiet_of(unsigned state)
{
    return is_excited(state) ? state - EXCITED : state;
}

/* Direction from the cell to neighbour i in the order of rule_program_places: west, south, east,
 * north. */
static unsigned side_of(int i)
{
    static const unsigned char side[] = {WEST, SOUTH, EAST, NORTH};
    return side[i];
}

static unsigned opposite(unsigned direction)
{
    return direction ^ 2;
}

/* True if a neighbour on this side is a transmission state that points at the cell. */
static bool points_here(unsigned state, unsigned side)
{
    return is_transmission(state) && direction_of(state) == opposite(side);
}

/* True if the cell points at its neighbour on this side. */
static bool points_at(unsigned cell, unsigned side)
{
    return is_transmission(cell) && direction_of(cell) == side;
}

/* True if a confluent neighbour on this side has an output for the cell. */
static bool confluent_output(unsigned state, unsigned side)
{
    return state > CROSSING ? (state - CROSSING) >> (side & 1) & 1
                            : state >= CONFLUENT && state - CONFLUENT >= 2;
}

#define SIGNAL(n) ((uint32_t)1 << (n))

/* ---- Von Neumann's and Nobili's rules. ------------------------------------------------------- */

/* Summary of the neighbours: inputs of the cell, by row or column of the neighbour's side. */
enum {
    KILLED = SIGNAL(0),  /* an excited neighbour of the other kind points here */
    EXCITES = SIGNAL(1), /* an input of a transmission state, or of a sensitised one */
    ON_ROW = SIGNAL(2),  /* excited ordinary inputs of a confluent state */
    ON_COLUMN = SIGNAL(3),
    OFF = SIGNAL(4),    /* a quiescent ordinary input of a confluent state */
    IN_ROW = SIGNAL(5), /* ordinary inputs and outputs of a confluent state */
    IN_COLUMN = SIGNAL(6),
    OUT_ROW = SIGNAL(7),
    OUT_COLUMN = SIGNAL(8),
    ALL_FOUR = IN_ROW | IN_COLUMN | OUT_ROW | OUT_COLUMN,
    NEUMANN_INPUTS = KILLED | ON_ROW | ON_COLUMN | OFF /* of a confluent state of von Neumann's */
};

static uint32_t input_of_confluent(unsigned state, unsigned side)
{
    const bool column = side & 1;
    if (!is_transmission(state))
        return 0;
    if (!points_here(state, side))
        return column ? OUT_COLUMN : OUT_ROW;
    if (is_special(state))
        return is_excited(state) ? KILLED : 0;
    const uint32_t in = column ? IN_COLUMN : IN_ROW;
    return in | (!is_excited(state) ? OFF : column ? ON_COLUMN : ON_ROW);
}

/* A cell of the same kind head to head has no input, but one of the other kind still kills. */
static uint32_t input_of_transmission(unsigned cell, unsigned state, unsigned side)
{
    const bool facing = points_at(cell, side);
    if (confluent_output(state, side))
        return facing ? 0 : EXCITES;
    if (!points_here(state, side) || !is_excited(state))
        return 0;
    if (is_ordinary(state) != is_ordinary(cell))
        return KILLED;
    return facing ? 0 : EXCITES;
}

static uint32_t neumann_add(const void *nobili, unsigned cell, uint32_t summary, int i,
                            unsigned state)
{
    const unsigned side = side_of(i);
    if (cell >= CONFLUENT)
        summary |= input_of_confluent(state, side) & (nobili ? ~(uint32_t)0 : NEUMANN_INPUTS);
    else if (is_transmission(cell))
        summary |= input_of_transmission(cell, state, side);
    else if (points_here(state, side) && is_excited(state))
        summary |= EXCITES;
    return summary & KILLED ? KILLED : summary; /* other neighbours no longer matter */
}

/* The state that a sensitised cell becomes after an input. */
static unsigned sensitised_next(unsigned cell, unsigned input)
{
    static const unsigned char constructed[] = {
        ORDINARY + WEST, ORDINARY + SOUTH, SPECIAL + EAST,  SPECIAL + NORTH, SPECIAL + WEST,
        SPECIAL + SOUTH, CONFLUENT,        ORDINARY + EAST, ORDINARY + NORTH};
    const unsigned word = 2 * cell + input;
    return word < ORDINARY ? word : constructed[word - ORDINARY];
}

static unsigned confluent_next(bool nobili, unsigned cell, uint32_t summary)
{
    const bool row = summary & ON_ROW, column = summary & ON_COLUMN, crossing = cell > CROSSING;
    if (summary & KILLED)
        return GROUND;
    if (nobili && (summary & ALL_FOUR) == ALL_FOUR)
        return row || column ? CROSSING + row + 2u * column : CONFLUENT;
    const unsigned queue = crossing ? 0 : cell - CONFLUENT, next_output = 2 * (queue & 1);
    if ((row || column) && !(summary & OFF))
        return CONFLUENT + next_output + 1;
    if (!nobili || summary & (OUT_ROW | OUT_COLUMN))
        return CONFLUENT + next_output;
    return CONFLUENT + queue; /* without an output the signal stays */
}

static unsigned neumann_next(const void *nobili, unsigned cell, uint32_t summary)
{
    if (cell >= CONFLUENT)
        return confluent_next(nobili != NULL, cell, summary);
    if (!is_transmission(cell))
        return sensitised_next(cell, summary & EXCITES ? 1 : 0);
    if (summary & KILLED)
        return GROUND;
    return quiet_of(cell) + (summary & EXCITES ? EXCITED : 0);
}

/* ---- Hutton's rule. -------------------------------------------------------------------------- */

/* Summary of the neighbours. Bits 0 to 4 are the state that a transmission cell points at, or the
 * first excited neighbour, west, south, east, north, that points at a sensitised cell. */
enum {
    OTHER = SIGNAL(5) - 1,
    BY_ORDINARY = SIGNAL(5),  /* an excited ordinary neighbour points here, not head to head */
    BY_SPECIAL = SIGNAL(6),   /* an excited special neighbour, likewise */
    TO_ORDINARY = SIGNAL(7),  /* as BY_ORDINARY, or a confluent neighbour's output */
    TO_SPECIAL = SIGNAL(8),   /* as BY_SPECIAL, likewise */
    ANY_ORDINARY = SIGNAL(9), /* an ordinary neighbour points here */
    QUIET = SIGNAL(10),       /* a quiescent ordinary neighbour points here */
    BY_ROW = SIGNAL(11),      /* an excited ordinary neighbour of the row or column points here */
    BY_COLUMN = SIGNAL(12),
    INPUTS = 13, /* first bits of the numbers of inputs and outputs of a confluent cell */
    OUTPUTS = 16
};

static uint32_t hutton_signals(unsigned cell, unsigned state, unsigned side)
{
    const bool here = points_here(state, side), excited = here && is_excited(state),
               facing = points_at(cell, side), output = confluent_output(state, side);
    const bool ordinary = !(facing && is_ordinary(cell)), special = !(facing && is_special(cell));
    uint32_t bits = 0;
    if (excited && is_ordinary(state) && ordinary)
        bits |= BY_ORDINARY | TO_ORDINARY;
    if (excited && is_special(state) && special)
        bits |= BY_SPECIAL | TO_SPECIAL;
    if (output)
        bits |= (ordinary ? TO_ORDINARY : 0) | (special ? TO_SPECIAL : 0);
    return bits | (here && is_ordinary(state) ? ANY_ORDINARY : 0);
}

static uint32_t hutton_confluent_add(uint32_t summary, unsigned state, unsigned side)
{
    if (!is_transmission(state))
        return summary;
    if (!points_here(state, side))
        return summary + SIGNAL(OUTPUTS);
    summary += SIGNAL(INPUTS);
    if (is_special(state))
        return summary | (is_excited(state) ? BY_SPECIAL : 0);
    return summary | (!is_excited(state) ? QUIET : side & 1 ? BY_COLUMN : BY_ROW);
}

/* The signals that change a cell that is not confluent. */
static uint32_t hutton_signals_of(unsigned cell)
{
    return is_ordinary(cell)  ? BY_SPECIAL | TO_ORDINARY
           : is_special(cell) ? BY_ORDINARY | BY_SPECIAL | TO_SPECIAL | ANY_ORDINARY
                              : BY_ORDINARY | BY_SPECIAL;
}

static uint32_t hutton_add(const void *arg, unsigned cell, uint32_t summary, int i, unsigned state)
{
    const unsigned side = side_of(i);
    (void)arg;
    if (cell >= CONFLUENT) {
        summary = hutton_confluent_add(summary, state, side);
        return summary & BY_SPECIAL ? BY_SPECIAL : summary; /* as above */
    }
    if (is_transmission(cell) ? points_at(cell, side)
                              : !(summary & OTHER) && points_here(state, side) && is_excited(state))
        summary |= state;
    summary |= hutton_signals(cell, state, side) & hutton_signals_of(cell);
    return is_ordinary(cell) && summary & BY_SPECIAL ? BY_SPECIAL : summary; /* as above */
}

/* True if the sensitised cell ahead stays sensitised after this cell's signal. */
static bool stays_sensitised(unsigned cell, unsigned ahead)
{
    return (ahead == GROUND && is_excited(cell)) || (ahead >= 1 && ahead <= 3) ||
           (ahead == 4 && !is_ordinary(cell));
}

/* True if the cell ahead becomes an ordinary transmission state in the next generation. */
static bool becomes_ordinary(unsigned cell, unsigned ahead)
{
    return ahead == 8 || (ahead == 4 && is_excited(cell)) || (ahead == 5 && !is_excited(cell));
}

/* An ordinary cell at the end of a wire records its signals in its kind, and retracts. */
static unsigned hutton_ordinary(unsigned cell, uint32_t summary)
{
    const unsigned ahead = summary & OTHER;
    const bool makes_confluent = ahead == 7 && is_excited(cell);
    if (summary & BY_SPECIAL)
        return GROUND;
    if (summary & TO_ORDINARY) {
        if (becomes_ordinary(cell, ahead) || (is_special(ahead) && !is_excited(ahead)))
            return GROUND;
        return makes_confluent ? SENSITISED : quiet_of(cell) + EXCITED;
    }
    if (makes_confluent)
        return GROUND;
    if (is_excited(cell) && stays_sensitised(cell, ahead))
        return quiet_of(cell) + SPECIAL - ORDINARY + EXCITED;
    return quiet_of(cell);
}

/* An excited special cell between an ordinary and a sensitised one is the end of an
 * ordinary wire. */
static unsigned hutton_special(unsigned cell, uint32_t summary)
{
    const unsigned ahead = summary & OTHER, to_ordinary = SPECIAL - ORDINARY;
    const bool sensitised = ahead >= SENSITISED && ahead < ORDINARY;
    if (is_excited(cell) && sensitised && summary & ANY_ORDINARY) {
        if (stays_sensitised(cell, ahead))
            return summary & BY_ORDINARY ? cell - to_ordinary : cell;
        return summary & BY_ORDINARY ? GROUND : quiet_of(cell) - to_ordinary;
    }
    if (is_excited(cell) && ahead == GROUND)
        return summary & BY_SPECIAL ? cell : quiet_of(cell);
    if (summary & BY_ORDINARY)
        return GROUND;
    return quiet_of(cell) + (summary & TO_SPECIAL ? EXCITED : 0);
}

/* Return the transmission state of a kind, ORDINARY or SPECIAL, turned left from an input by
 * quarters. Without an input (0) the remainder in C is negative and the state below the kind, as in
 * Golly. */
static unsigned turned(unsigned kind, unsigned input, int quarters)
{
    return (unsigned)((int)kind + ((int)quiet_of(input) - ORDINARY + quarters) % 4);
}

static unsigned hutton_constructed(unsigned cell, unsigned input, bool one)
{
    switch (cell) {
    case 4:
        return one ? turned(ORDINARY, input, 2) : 8;
    case 5:
        return one ? quiet_of(input) + SPECIAL - ORDINARY : turned(ORDINARY, input, 3);
    case 6:
        return turned(SPECIAL, input, one ? 2 : 1);
    case 7:
        return one ? CONFLUENT : turned(SPECIAL, input, 3);
    default:
        return turned(ORDINARY, input, one);
    }
}

static unsigned hutton_sensitised(unsigned cell, uint32_t summary)
{
    const unsigned input = summary & OTHER;
    const bool one = summary & BY_ORDINARY;
    if (cell == GROUND)
        return one ? SENSITISED : summary & BY_SPECIAL ? ORDINARY + direction_of(input) : GROUND;
    return cell < 4 ? 2 * cell + one : hutton_constructed(cell, input, one);
}

static unsigned hutton_confluent(unsigned cell, uint32_t summary)
{
    const bool row = summary & BY_ROW, column = summary & BY_COLUMN,
               crossing = (summary >> INPUTS & 7) == 2 && (summary >> OUTPUTS & 7) == 2;
    if (summary & BY_SPECIAL)
        return GROUND;
    if (cell > CROSSING || (cell == CONFLUENT && crossing))
        return row || column ? CROSSING + row + 2u * column : CONFLUENT;
    const unsigned next_output = 2 * ((cell - CONFLUENT) & 1);
    return CONFLUENT + next_output + ((row || column) && !(summary & QUIET));
}

static unsigned hutton_next(const void *arg, unsigned cell, uint32_t summary)
{
    (void)arg;
    return cell >= CONFLUENT   ? hutton_confluent(cell, summary)
           : is_ordinary(cell) ? hutton_ordinary(cell, summary)
           : is_special(cell)  ? hutton_special(cell, summary)
                               : hutton_sensitised(cell, summary);
}

/* ---- Names. ---------------------------------------------------------------------------------- */

/* Sensitised from red to yellow, ordinary blue, excited green, special red, excited violet. */
static const unsigned char neumann_colour[][3] = {
    {0, 0, 0},       {224, 0, 0},    {232, 64, 0},    {232, 96, 0},   {240, 128, 0},
    {240, 160, 0},   {248, 192, 0},  {248, 216, 0},   {255, 240, 0},  {64, 96, 255},
    {80, 112, 255},  {96, 128, 255}, {112, 144, 255}, {0, 176, 48},   {16, 200, 64},
    {48, 224, 96},   {80, 248, 128}, {208, 32, 48},   {224, 56, 72},  {232, 80, 96},
    {240, 104, 120}, {160, 48, 224}, {176, 72, 232},  {192, 96, 240}, {208, 120, 248},
    {0, 224, 160},   {240, 144, 80}, {240, 240, 144}, {64, 208, 224}, {48, 184, 200},
    {32, 160, 176},  {16, 136, 152},
};

life_transitions *life_neumann_rule(const char *text)
{
    static const bool nobili = true;
    static const struct {
        const char *name, *alias;
        struct rule_program program;
    } known[] = {
        {"JvN29", "JvN-29", {NULL, 29, 4, neumann_colour, neumann_add, neumann_next, NULL}},
        {"Nobili32", "JvN-32", {&nobili, 32, 4, neumann_colour, neumann_add, neumann_next, NULL}},
        {"Hutton32", "modJvN-32", {NULL, 32, 4, neumann_colour, hutton_add, hutton_next, NULL}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(text, known[i].name) == 0 || strcasecmp(text, known[i].alias) == 0)
            return rule_program_build(&known[i].program, known[i].name);
    clerror_set(ENOENT, "'%.100s' is not JvN29, Nobili32 or Hutton32", text);
    return NULL;
}

/* rule_table.c - reads a TABLE of a rule file: transitions, the first of which that matches a cell
 * and its neighbours gives the cell's next state.
 *
 *   n_states:4
 *   neighborhood:Moore            or vonNeumann, hexagonal, oneDimensional
 *   symmetries:rotate8            rotated and reflected, a transition means the same
 *   var a={1,2}                   states, or variables; var b=a
 *   var b={a,3}
 *   3,a,b,0,0,0,0,0,0,1           the cell, its neighbours clockwise from the north, next state
 *
 * A variable that occurs more than once has one state in all places. A cell that matches no
 * transition does not change. (G. Tempesti's notation; Golly's help, "File formats".)
 *
 * Transitions become a tree (transitions.h): a node stands for the transitions that still match,
 * and the state at the next place selects among them. Equal remainders share a node.
 * SPDX-License-Identifier: MIT
 */
#include "life/transitions.h"
#include "life/counting.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 32, MOST_TRANSITIONS = 1 << 17, NEIGHBOURS = 8 };
static const uint64_t MOST_WORK = (uint64_t)1 << 32; /* words of sets processed, some seconds */

/* States, a bit each. */
struct set {
    uint64_t bits[4];
};

static bool set_has(const struct set *s, unsigned state)
{
    return s->bits[state / 64] >> state % 64 & 1;
}

static void list_add(struct set *s, unsigned state)
{
    s->bits[state / 64] |= (uint64_t)1 << state % 64;
}

struct variable {
    char name[NAME];
    struct set set;
};

/* The cell, then its neighbours. */
struct transition {
    struct set in[1 + NEIGHBOURS];
    unsigned char out;
};

struct table {
    const struct rule_text *text;
    struct life_transitions *t;
    int neighbours; /* 0: not read yet */
    int step, reflect,
        permute;     /* symmetries: rotation by `step` neighbours; reflection; permutation */
    bool symmetries; /* were read */
    struct variable *variable;
    size_t variables, room_variables;
    struct transition *transition;
    size_t transitions, room;
};

/* ---- Heads. ---------------------------------------------------------------------------------- */

/* A line without blanks and comments. */
struct line {
    char text[1 << 16];
    const char *at; /* its place in the file */
};

static int table_read_states(struct table *b, const char *value, const struct line *line)
{
    char *end;
    const unsigned long n = strtoul(value, &end, 10);
    if (end == value || *end || n < 2 || n > 256)
        return rule_text_error(b->text, line->at, "n_states is 2 to 256");
    b->t->states = (unsigned)n;
    return 0;
}

static int read_neighbourhood(struct table *b, const char *value, const struct line *line)
{
    static const struct {
        const char *name;
        int neighbours;
    } known[] = {{"Moore", 8}, {"vonNeumann", 4}, {"hexagonal", 6}, {"oneDimensional", 2}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(value, known[i].name) == 0) {
            b->neighbours = known[i].neighbours;
            return 0;
        }
    return rule_text_error(b->text, line->at,
                           "the neighborhood is Moore, vonNeumann, hexagonal or oneDimensional");
}

static int read_symmetries(struct table *b, const char *value, const struct line *line)
{
    static const struct {
        const char *name;
        unsigned of;
        int turns, reflect, permute;
    } known[] = {
        /* of: 1 << neighbours */
        {"none", 1 << 8 | 1 << 6 | 1 << 4 | 1 << 2, 1, 0, 0},
        {"permute", 1 << 8 | 1 << 6 | 1 << 4 | 1 << 2, 1, 0, 1},
        {"rotate4", 1 << 8 | 1 << 4, 4, 0, 0},
        {"rotate8", 1 << 8, 8, 0, 0},
        {"rotate4reflect", 1 << 8 | 1 << 4, 4, 1, 0},
        {"rotate8reflect", 1 << 8, 8, 1, 0},
        {"reflect_horizontal", 1 << 8 | 1 << 4, 1, 1, 0},
        {"rotate2", 1 << 6, 2, 0, 0},
        {"rotate3", 1 << 6, 3, 0, 0},
        {"rotate6", 1 << 6, 6, 0, 0},
        {"rotate6reflect", 1 << 6, 6, 1, 0},
        {"reflect", 1 << 2, 2, 0, 0},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(value, known[i].name) == 0 && (known[i].of >> b->neighbours & 1)) {
            b->step = b->neighbours / known[i].turns;
            b->reflect = known[i].reflect;
            b->permute = known[i].permute;
            b->symmetries = true;
            return 0;
        }
    return rule_text_error(
        b->text, line->at,
        b->neighbours == 8
            ? "symmetries of Moore are none, rotate4, rotate8, rotate4reflect, rotate8reflect, reflect_horizontal or permute"
        : b->neighbours == 6
            ? "symmetries of hexagonal are none, rotate2, rotate3, rotate6, rotate6reflect or permute"
        : b->neighbours == 4
            ? "symmetries of vonNeumann are none, rotate4, rotate4reflect, reflect_horizontal or permute"
        : b->neighbours == 2 ? "symmetries of oneDimensional are none, reflect or permute"
                             : "the neighborhood comes before the symmetries");
}

/* ---- States and variables. ------------------------------------------------------------------- */

static struct variable *variable_of(const struct table *b, const char *name, size_t length)
{
    for (size_t i = 0; i < b->variables; i++)
        if (strlen(b->variable[i].name) == length && memcmp(b->variable[i].name, name, length) == 0)
            return &b->variable[i];
    return NULL;
}

/* Read a state, or a variable with its number; -1 for a state. */
static int read_word(const struct table *b, const struct line *line, const char *word,
                     size_t length, struct set *set, long *variable)
{
    *variable = -1;
    *set = (struct set){{0}};
    if (length && isdigit((unsigned char)*word)) {
        unsigned n = 0;
        for (size_t i = 0; i < length; i++) {
            if (!isdigit((unsigned char)word[i]) ||
                (n = 10 * n + (unsigned)(word[i] - '0')) >= b->t->states)
                return rule_text_error(b->text, line->at, "'%.*s' is no state; there are 0 to %u",
                                       (int)(length < 40 ? length : 40), word, b->t->states - 1);
        }
        list_add(set, n);
        return 0;
    }
    const struct variable *v = variable_of(b, word, length);
    if (!v)
        return rule_text_error(b->text, line->at, "'%.*s' is no state and no variable",
                               (int)(length < 40 ? length : 40), word);
    *set = v->set;
    *variable = v - b->variable;
    return 0;
}

/* NAME={1,2,a}, or NAME=a */
static int read_variable(struct table *b, const char *p, const struct line *line)
{
    const size_t length = strcspn(p, "=");
    const bool list = p[length] && p[length + 1] == '{';
    struct variable v = {.set = {{0}}};
    if (!length || length >= NAME || !p[length] || !p[length + 1] || isdigit((unsigned char)*p) ||
        strchr(p, '}') != (list ? p + strlen(p) - 1 : NULL))
        return rule_text_error(
            b->text, line->at,
            "a variable is written var a={1,2,3}, with a name of at most %d characters", NAME - 1);
    if (variable_of(b, p, length))
        return rule_text_error(b->text, line->at, "the variable '%.*s' is there already",
                               (int)length, p);
    memcpy(v.name, p, length);
    for (p += length + (list ? 2 : 1); *p && *p != '}';) {
        const size_t n = strcspn(p, ",}");
        struct set set;
        long of;
        if (read_word(b, line, p, n, &set, &of) < 0)
            return -1;
        for (int i = 0; i < 4; i++)
            v.set.bits[i] |= set.bits[i];
        p += n + (p[n] == ',');
    }
    if (b->variables == b->room_variables) {
        const size_t room = b->room_variables ? 2 * b->room_variables : 64;
        struct variable *more = realloc(b->variable, room * sizeof *more);
        if (!more)
            return clerror_set(ENOMEM, "%s: out of memory for more than %zu variables",
                               b->text->name, b->variables);
        b->variable = more;
        b->room_variables = room;
    }
    b->variable[b->variables++] = v;
    return 0;
}

/* ---- Transitions. ---------------------------------------------------------------------------- */

static int remainder_keep(struct table *b, const struct transition *tr, const struct line *line)
{
    if (b->transitions == MOST_TRANSITIONS)
        return rule_text_error(
            b->text, line->at,
            "with variables and symmetries there are more than %d transitions, which is too much",
            MOST_TRANSITIONS);
    if (b->transitions == b->room) {
        const size_t room = b->room ? 2 * b->room : 256;
        struct transition *more = realloc(b->transition, room * sizeof *more);
        if (!more)
            return clerror_set(ENOMEM, "%s: out of memory for more than %zu transitions",
                               b->text->name, b->transitions);
        b->transition = more;
        b->room = room;
    }
    b->transition[b->transitions++] = *tr;
    return 0;
}

/* Add the transition unless it equals one from `first` on. */
static int keep_once(struct table *b, size_t first, const struct transition *tr,
                     const struct line *line)
{
    for (size_t i = first; i < b->transitions; i++)
        if (memcmp(b->transition[i].in, tr->in, sizeof tr->in) == 0)
            return 0;
    return remainder_keep(b, tr, line);
}

static int by_set(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct set));
}

static void places_exchange(struct set *a, struct set *b)
{
    const struct set was = *a;
    *a = *b;
    *b = was;
}

/* Next permutation of sets in lexicographic order. False after the last. */
static bool next_order(struct set *s, int n)
{
    int i = n - 2, j = n - 1;
    while (i >= 0 && by_set(&s[i], &s[i + 1]) >= 0)
        i--;
    if (i < 0)
        return false;
    while (by_set(&s[i], &s[j]) >= 0)
        j--;
    places_exchange(&s[i], &s[j]);
    for (int low = i + 1, high = n - 1; low < high; low++, high--)
        places_exchange(&s[low], &s[high]);
    return true;
}

static int keep_permuted(struct table *b, struct transition *tr, const struct line *line)
{
    qsort(tr->in + 1, (size_t)b->neighbours, sizeof *tr->in, by_set);
    do
        if (remainder_keep(b, tr, line) < 0)
            return -1;
    while (next_order(tr->in + 1, b->neighbours));
    return 0;
}

/* Add a transition without repeated variables in all its symmetries. */
static int keep_turned(struct table *b, struct transition *tr, const struct line *line)
{
    const int n = b->neighbours;
    const size_t first = b->transitions;
    if (b->permute)
        return keep_permuted(b, tr, line);
    for (int mirrored = 0; mirrored <= b->reflect; mirrored++)
        for (int turn = 0; turn < n; turn += b->step) {
            struct transition turned = *tr;
            for (int i = 0; i < n; i++)
                turned.in[1 + i] = tr->in[1 + (mirrored ? 2 * n - i + turn : i + turn) % n];
            if (keep_once(b, first, &turned, line) < 0)
                return -1;
        }
    return 0;
}

/* A transition as written: numbers of its variables, -1 for a state; including the next state. */
struct written {
    struct transition tr;
    struct set out;
    long variable[2 + NEIGHBOURS];
    int words;
};

/* Substitute all states for each variable that occurs more than once, from word i on. */
static int bind(struct table *b, const struct written *w, int i, const struct line *line)
{
    const int last = w->words - 1;
    for (; i < last; i++) {
        int times = 0;
        for (int j = 0; j <= last; j++)
            times += w->variable[i] >= 0 && w->variable[j] == w->variable[i];
        if (times < 2)
            continue;
        for (unsigned state = 0; state < b->t->states; state++) {
            struct written bound = *w;
            if (!set_has(&w->tr.in[i], state))
                continue;
            for (int j = 0; j <= last; j++)
                if (w->variable[j] == w->variable[i]) {
                    struct set *set = j < last ? &bound.tr.in[j] : &bound.out;
                    *set = (struct set){{0}};
                    list_add(set, state);
                    bound.variable[j] = -1;
                }
            if (bind(b, &bound, i + 1, line) < 0)
                return -1;
        }
        return 0;
    }
    struct written done = *w;
    for (unsigned state = 0; state < b->t->states; state++)
        if (set_has(&w->out, state))
            done.tr.out = (unsigned char)state;
    return keep_turned(b, &done.tr, line);
}

static int read_transition(struct table *b, const struct line *line)
{
    struct written w = {.words = b->neighbours + 2};
    const bool commas = strchr(line->text, ',') != NULL;
    const char *p = line->text;
    int n = 0;
    for (; *p && n < w.words; n++) {
        const size_t length = commas ? strcspn(p, ",") : 1;
        if (read_word(b, line, p, length, n < w.words - 1 ? &w.tr.in[n] : &w.out, &w.variable[n]) <
            0)
            return -1;
        p += length;
        if (commas && *p == ',')
            p++;
    }
    if (n < w.words || *p)
        return rule_text_error(
            b->text, line->at,
            "a transition has %d states: the cell, %d neighbours, and what it becomes", w.words,
            b->neighbours);
    if (w.variable[n - 1] >= 0) {
        bool known = false;
        for (int i = 0; i < n - 1; i++)
            known = known || w.variable[i] == w.variable[n - 1];
        if (!known)
            return rule_text_error(
                b->text, line->at,
                "what the cell becomes is a variable that does not stand before");
    }
    return bind(b, &w, 0, line);
}

/* ---- Lines. ---------------------------------------------------------------------------------- */

/* False at the end. */
static bool next_line(const struct rule_text *text, const char **p, struct line *line,
                      bool *too_long)
{
    size_t n = 0;
    line->at = *p;
    *too_long = false;
    if (*p >= text->end)
        return false;
    bool comment = false;
    for (; *p < text->end && **p != '\n'; ++*p) {
        comment = comment || **p == '#';
        if (comment || isspace((unsigned char)**p))
            continue;
        if (n + 1 < sizeof line->text)
            line->text[n++] = **p ? **p : '?';
        else
            *too_long = true;
    }
    line->text[n] = '\0';
    *p += *p < text->end;
    return true;
}

static const char *table_after(const char *line, const char *head)
{
    return strncmp(line, head, strlen(head)) == 0 ? line + strlen(head) : NULL;
}

static int table_read_line(struct table *b, const struct line *line)
{
    const char *value;
    if ((value = table_after(line->text, "n_states:")))
        return b->transitions || b->variables
                   ? rule_text_error(b->text, line->at, "n_states comes before all else")
                   : table_read_states(b, value, line);
    if ((value = table_after(line->text, "neighborhood:")))
        return b->transitions || b->symmetries
                   ? rule_text_error(
                         b->text, line->at,
                         "the neighborhood comes once, before symmetries and transitions")
                   : read_neighbourhood(b, value, line);
    if ((value = table_after(line->text, "symmetries:")))
        return b->transitions
                   ? rule_text_error(b->text, line->at, "symmetries come before transitions")
                   : read_symmetries(b, value, line);
    if (!b->t->states || !b->neighbours || !b->symmetries)
        return rule_text_error(b->text, line->at,
                               "first there should be n_states:, neighborhood: and symmetries:");
    if ((value = table_after(line->text, "var")) && strchr(value, '='))
        return read_variable(b, value, line);
    return read_transition(b, line);
}

/* ---- The tree. ------------------------------------------------------------------------------- */

/* Nodes known so far, by remaining transitions and by branches. */
struct builder {
    struct table *b;
    size_t words; /* of a set of transitions */
    uint64_t work;
    uint64_t
        *fits; /* transitions that match a state at a place: [(place * states + state) * words] */
    uint64_t *any; /* transitions that match any states from a place on: [place * words];
                      after the last place all */
    struct remaining {
        size_t n; /* words that are not 0 */
        struct {
            uint64_t bits;
            size_t at; /* index of the word in a set of transitions */
        } * word;
    } some[TRANSITIONS_PLACES + 1]; /* remaining transitions, by depth */
    unsigned char *like; /* lowest state of a neighbour that equal transitions match, given the
                            cell's state if it is known: [place * states + state] */
    uint32_t *branch[TRANSITIONS_PLACES];
    struct map seen, made;
    struct seen {
        uint64_t check;
        uint32_t at;
    } * entry;
    size_t entries, room;
    int in[TRANSITIONS_PLACES]; /* word of a transition for each place of the tree */
    unsigned cell;              /* the cell's state on the path to the node */
};

/* Two hashes of remaining transitions and a seed. */
struct remainder {
    uint64_t key, check;
};

static struct remainder remainder_hash(const struct remaining *set, uint64_t seed)
{
    struct remainder of = {life_mix(seed), life_mix(~seed)};
    for (size_t i = 0; i < set->n; i++) {
        const uint64_t mixed =
            life_mix(set->word[i].bits + (set->word[i].at + 1) * 0x9e3779b97f4a7c15u);
        of.key += mixed;
        of.check += mixed * mixed; /* a sum that is independent of the other one */
    }
    return of;
}

/* Keep in `to` the transitions that match a state (`fits`), up to the first that matches in any
 * case (`any`). False if none does so. */
static bool transitions_keep(const struct remaining *from, const uint64_t *fits,
                             const uint64_t *any, struct remaining *to)
{
    to->n = 0;
    for (size_t i = 0; i < from->n; i++) {
        const size_t at = from->word[i].at;
        const uint64_t bits = from->word[i].bits & fits[at], last = bits & any[at];
        to->word[to->n].bits = bits & (last ^ (last - 1)); /* all bits if `last` is 0 */
        to->word[to->n].at = at;
        to->n += bits != 0;
        if (last)
            return true;
    }
    return false;
}

/* True if two states at a place match equal transitions among `some`. */
static bool states_alike(const struct remaining *some, const uint64_t *fits_a,
                         const uint64_t *fits_b)
{
    for (size_t i = 0; i < some->n; i++)
        if (some->word[i].bits & (fits_a[some->word[i].at] ^ fits_b[some->word[i].at]))
            return false;
    return true;
}

/* Find the states of neighbours that match equal transitions: they have equal branches. */
static void states_classify(struct builder *u, const struct remaining *some)
{
    const unsigned states = u->b->t->states;
    for (int d = 0; d <= u->b->neighbours; d++) {
        const uint64_t *fits = u->fits + (size_t)d * states * u->words;
        unsigned char *like = u->like + (size_t)d * states;
        for (unsigned s = 0; s < states; s++) {
            unsigned a = 0;
            while (a < s && (u->in[d] == 0 || like[a] != a ||
                             !states_alike(some, fits + a * u->words, fits + s * u->words)))
                a++;
            like[s] = (unsigned char)a;
        }
    }
}

static int branches_of(struct builder *u, int depth, uint32_t *at);

/* Return the node of a depth for the remaining transitions; reuse a known one. `open`: none may
 * match, and the cell keeps its state, on which the node depends. */
static int node_of(struct builder *u, int depth, bool open, uint32_t *at)
{
    const uint64_t cell = open && u->in[0] == 0 && depth > 0 ? u->cell + 1 : 0;
    const struct remainder of = remainder_hash(&u->some[depth], (uint64_t)depth + 1 + (cell << 8));
    const uint32_t known = map_get(&u->seen, of.key);
    if (known != MAP_NONE && u->entry[known].check == of.check) {
        *at = u->entry[known].at;
        return 0;
    }
    u->work += u->words * u->b->t->states;
    if (u->work > MOST_WORK)
        return clerror_set(
            EINVAL,
            "%s: the table is too large: its %zu transitions, with variables and symmetries, would take too long",
            u->b->text->name, u->b->transitions);
    if (branches_of(u, depth, at) < 0)
        return -1;
    if (known != MAP_NONE)
        return 0;
    if (u->entries == u->room) {
        const size_t room = u->room ? 2 * u->room : 256;
        struct seen *more = realloc(u->entry, room * sizeof *more);
        if (!more)
            return clerror_set(ENOMEM, "%s: out of memory for a tree", u->b->text->name);
        u->entry = more;
        u->room = room;
    }
    u->entry[u->entries] = (struct seen){of.check, *at};
    return map_put(&u->seen, of.key, (uint32_t)u->entries++)
               ? 0
               : clerror_set(ENOMEM, "%s: out of memory for a tree", u->b->text->name);
}

static int branches_of(struct builder *u, int depth, uint32_t *at)
{
    const struct table *b = u->b;
    const unsigned states = b->t->states;
    const bool last = depth == b->neighbours;
    for (unsigned s = 0; s < states; s++) {
        const unsigned like = u->like[(size_t)depth * states + s];
        if (like < s) {
            u->branch[depth][s] = u->branch[depth][like];
            continue;
        }
        const uint64_t *fits = u->fits + ((size_t)depth * states + s) * u->words,
                       *any = u->any + ((size_t)depth + 1) * u->words;
        struct remaining *some = &u->some[depth + 1];
        if (u->in[depth] == 0)
            u->cell = s;
        const bool open = !transitions_keep(&u->some[depth], fits, any, some);
        if (last) {
            u->branch[depth][s] = some->n
                                      ? b->transition[some->word[0].at * 64 +
                                                      (size_t)__builtin_ctzll(some->word[0].bits)]
                                            .out
                                      : u->cell;
            continue;
        }
        if (depth == 0 && u->in[depth] == 0)
            states_classify(u, some);
        if (node_of(u, depth + 1, open, &u->branch[depth][s]) < 0)
            return -1;
    }
    return transitions_share(b->t, b->text, &u->made, u->branch[depth], at);
}

/* Compute the transitions that match each state at each place. */
static void table_fill(struct builder *u)
{
    const struct table *b = u->b;
    const unsigned states = b->t->states;
    for (size_t i = 0; i < b->transitions; i++) {
        const uint64_t bit = (uint64_t)1 << i % 64;
        bool all = true;
        for (int d = b->neighbours; d >= 0; d--) {
            for (unsigned s = 0; s < states; s++) {
                const bool fits = set_has(&b->transition[i].in[u->in[d]], s);
                all = all && fits;
                u->fits[((size_t)d * states + s) * u->words + i / 64] |= fits ? bit : 0;
            }
            u->any[(size_t)d * u->words + i / 64] |= all ? bit : 0;
        }
    }
}

static size_t set_size(const struct set *set)
{
    size_t n = 0;
    for (int i = 0; i < 4; i++)
        n += (size_t)__builtin_popcountll(set->bits[i]);
    return n;
}

/* True if transitions are for few states of the cell, and for many of its neighbours. */
static bool cell_selects(const struct table *b)
{
    size_t cell = 0, neighbours = 0;
    for (size_t i = 0; i < b->transitions; i++) {
        cell += set_size(&b->transition[i].in[0]);
        for (int j = 1; j <= b->neighbours; j++)
            neighbours += set_size(&b->transition[i].in[j]);
    }
    return 4 * cell * (size_t)b->neighbours < neighbours;
}

/* Map the words of transitions to places of the block. The tree examines the neighbours clockwise
 * from the north: transitions mostly depend on adjacent neighbours. The cell is the first place of
 * the tree if it selects more than they do, else the last. */
static void places_order(struct builder *u)
{
    static const unsigned char eight[] = {1, 2, 5, 8, 7, 6, 3, 0}, six[] = {1, 5, 8, 7, 3, 0},
                               four[] = {1, 5, 7, 3}, two[] = {3, 5};
    const int n = u->b->neighbours;
    const unsigned char *from = n == 8 ? eight : n == 6 ? six : n == 4 ? four : two;
    unsigned char *place = u->b->t->place;
    const unsigned char cell = place[n];
    memcpy(place, from, (size_t)n);
    if (cell_selects(u->b)) {
        memmove(place + 1, place, (size_t)n);
        place[0] = cell;
    }
    for (int d = 0; d <= n; d++)
        for (int i = 0; i < n; i++)
            if (place[d] == cell)
                u->in[d] = 0;
            else if (from[i] == place[d])
                u->in[d] = 1 + i;
}

static int tree_build(struct table *b)
{
    const size_t words = b->transitions / 64 + 1, places = (size_t)b->neighbours + 1;
    struct builder u = {.b = b, .words = words};
    transitions_places(b->t, b->neighbours);
    places_order(&u);
    u.fits = calloc(places * b->t->states * words, sizeof *u.fits);
    u.any = calloc((places + 1) * words, sizeof *u.any);
    u.like = calloc(places * b->t->states, 1);
    bool room = u.fits && u.any && u.like;
    for (size_t d = 0; d <= places; d++) {
        u.some[d].word = malloc(words * sizeof *u.some[d].word);
        room = room && u.some[d].word;
        if (d < places)
            room = (u.branch[d] = malloc(b->t->states * sizeof *u.branch[d])) && room;
    }
    int status = room ? 0
                      : clerror_set(ENOMEM, "%s: out of memory for a tree of %zu transitions",
                                    b->text->name, b->transitions);
    if (status == 0) {
        table_fill(&u);
        memset(u.any + places * words, 0xff, words * sizeof *u.any);
        for (size_t i = 0; i < b->transitions; i += 64) { /* all bits, and none beyond the last */
            u.some[0].word[u.some[0].n].bits =
                i + 64 <= b->transitions ? ~(uint64_t)0 : ((uint64_t)1 << b->transitions % 64) - 1;
            u.some[0].word[u.some[0].n++].at = i / 64;
        }
        states_classify(&u, &u.some[0]);
        status = node_of(&u, 0, true, &b->t->root);
    }
    for (size_t d = 0; d <= places; d++) {
        free(u.some[d].word);
        if (d < places)
            free(u.branch[d]);
    }
    free(u.fits);
    free(u.any);
    free(u.like);
    free(u.entry);
    map_free(&u.seen);
    map_free(&u.made);
    return status;
}

int rule_table_read(const struct rule_text *text, struct life_transitions *t)
{
    struct table b = {.text = text, .t = t, .step = 1};
    const char *p = text->begin;
    struct line line;
    bool too_long;
    int status = 0;
    while (status == 0 && next_line(text, &p, &line, &too_long))
        if (too_long)
            status = rule_text_error(text, line.at, "the line has more than %zu characters",
                                     sizeof line.text - 1);
        else if (line.text[0])
            status = table_read_line(&b, &line);
    if (status == 0 && (!t->states || !b.neighbours || !b.symmetries))
        status = rule_text_error(text, text->begin,
                                 "a table has n_states:, neighborhood: and symmetries:");
    if (status == 0)
        status = tree_build(&b);
    free(b.variable);
    free(b.transition);
    return status;
}

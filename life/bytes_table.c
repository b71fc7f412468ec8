/* bytes_table.c - cells of a byte under the tree of a rule file, or under the table of Generations
 * or of rules that alternate on topologies other than torus and plane (rule_table.cl).
 * SPDX-License-Identifier: MIT
 */
#include "life/bytes.h"
#include "life/transitions.h"

#include "core/embedded.h"

#include <stdio.h>

EMBEDDED(topology_text, "life/topology.h", life_topology_h);
EMBEDDED(mix_text, "life/mix.h", life_mix_h);
EMBEDDED(count_text, "life/count_bytes.h", life_count_bytes_h);
EMBEDDED(rule_table_file, "life/rule_table.cl", life_rule_table_cl);

static size_t branches_of(const struct life_transitions *t)
{
    return t ? t->nodes * t->states : 1;
}

static void table_choose(const life *lf, struct bytes *b)
{
    b->columns = b->rows = 1;
    b->pitch = lf->width;
    b->extra_bytes = branches_of(lf->rule.transitions) * sizeof(uint32_t);
    b->filled = true;
    snprintf(b->g.explain, sizeof b->g.explain,
             "fixed: a cell an item, a byte a cell, a generation a launch");
}

/* Write the transition tree; a single unused entry without one. */
static void table_fill(const life *lf, void *extra)
{
    const struct life_transitions *t = lf->rule.transitions;
    static const uint32_t none;
    memcpy(extra, t ? t->branch : &none, branches_of(t) * sizeof none);
}

/* Append to `text`, which is large enough. */
#define APPEND(...) (used += snprintf(text + used, sizeof text - (size_t)used, __VA_ARGS__))

static void *table_open(life *lf, const struct life_family *rule)
{
    const struct embedded *const front[] = {&topology_text, &mix_text, &count_text};
    const struct life_transitions *t = rule->transitions;
    static const unsigned char none[9];
    char text[1000], table[LIFE_TABLE_TEXT];
    int used = 0;
    APPEND("-D STATES=%u -D BOUNDS=%d\n#define EMPTY %d\n", rule->states, (int)lf->bounds,
           rule->row->next(rule, none));
    if (t) {
        APPEND("#define ROOT %u\n#define PLACES", t->root);
        for (int i = 0; i < t->places; i++)
            APPEND("%s%d", i ? "," : " ", t->place[i]);
    } else {
        APPEND("#define TABLE %s", life_table_text(&rule->table, table));
    }
    APPEND("\n");
    return embedded_open(lf->ctx, text, &rule_table_file, 3, front);
}

static cl_event table_start(life *lf, const struct bytes *b, clndrange_t *ndr, cl_int y)
{
    return clforka(lf->ctx, DEVICE, b->g.step, ndr, UNWAITED, b->g.grid[b->g.current],
                   b->g.grid[!b->g.current], b->g.extra, y, (cl_int)lf->width, (cl_int)lf->height,
                   (cl_ulong)b->pitch, (cl_int)lf->grid.topology, (cl_long)lf->grid.shift);
}

const struct bytes_method life_table_bytes = {.choose = table_choose,
                                              .open = table_open,
                                              .step = "life_rule_table",
                                              .fill = table_fill,
                                              .start = table_start};

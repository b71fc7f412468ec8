/* rule_file.c - reads rule files (.rule) as Golly's RuleLoader does.
 *
 *   @RULE WireWorld       the name; the following lines are for people
 *   @TABLE                transitions: rule_table.c
 *   @TREE                 or a tree: num_states=4, num_neighbors=4 or 8, num_nodes=6, and the nodes
 *                         from the leaves up, each by its level and branches
 *   @COLORS               1 0 128 255 of a state, or 255 0 0 255 255 0 for all from the first to
 *                         the last live state
 *
 * The first TABLE or TREE counts; other sections are skipped. Files are untrusted: an error is
 * refused with its line.
 * SPDX-License-Identifier: MIT
 */
#include "life/bytes.h"
#include "life/transitions.h"

#include "core/handle.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Colours. -------------------------------------------------------------------------------- */

/* Return 1 if a line has the expected number of numbers, each at most 255. */
static bool numbers_of_line(const char *p, const char *end, int n, unsigned long *to)
{
    for (int i = 0; i < n; i++) {
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        if (p == end || !isdigit((unsigned char)*p) || !rule_text_number(&p, end, &to[i]) ||
            to[i] > 255)
            return false;
    }
    return true;
}

/* Read colours. States without one are white; state 0 is black. */
static void read_colours(const struct rule_text *text, struct life_transitions *t)
{
    memset(t->colour[1], 255, sizeof t->colour - sizeof *t->colour);
    for (const char *p = text->begin, *end; p < text->end; p = end < text->end ? end + 1 : end) {
        unsigned long n[6];
        end = rule_line_end(p, text->end);
        if (numbers_of_line(p, end, 6, n)) {
            for (unsigned s = 1; s < t->states; s++)
                for (int c = 0; c < 3; c++) {
                    const long from = (long)n[c], to = (long)n[c + 3],
                               last = t->states > 2 ? (long)t->states - 2 : 1;
                    t->colour[s][c] = (unsigned char)(from + (to - from) * (long)(s - 1) / last);
                }
        } else if (numbers_of_line(p, end, 4, n) && n[0] < t->states) {
            for (int c = 0; c < 3; c++)
                t->colour[n[0]][c] = (unsigned char)n[c + 1];
        }
    }
}

/* A copy of a file with lines that end in newlines, without a UTF-8 mark; the caller frees it. */
static char *rule_file_clean(const char *data, size_t *size)
{
    const size_t mark = *size >= 3 && memcmp(data, "\357\273\277", 3) == 0 ? 3 : 0;
    char *copy = malloc(*size + 1);
    if (!copy)
        return NULL;
    *size -= mark;
    memcpy(copy, data + mark, *size);
    for (size_t i = 0; i < *size; i++)
        if (copy[i] == '\r' && (i + 1 == *size || copy[i + 1] != '\n'))
            copy[i] = '\n';
    return copy;
}

/* ---- The file. ------------------------------------------------------------------------------- */

/* Find the first section of a name, from the line after it to the next section. False if there is
 * none. */
static bool section(const struct rule_text *text, const char *name, struct rule_text *out)
{
    *out = *text;
    for (const char *p = text->begin, *end; p < text->end; p = end < text->end ? end + 1 : end) {
        end = rule_line_end(p, text->end);
        if ((size_t)(end - p) < strlen(name) || strncmp(p, name, strlen(name)) != 0 ||
            (p + strlen(name) < end && !isspace((unsigned char)p[strlen(name)])))
            continue;
        out->begin = end < text->end ? end + 1 : end;
        for (out->end = out->begin;
             out->end < text->end && !(*out->end == '@' && out->end + 1 < text->end &&
                                       isupper((unsigned char)out->end[1]));)
            out->end = rule_line_end(out->end, text->end) < text->end
                           ? rule_line_end(out->end, text->end) + 1
                           : text->end;
        return true;
    }
    return false;
}

static int read_name(const struct rule_text *text, struct life_transitions *t)
{
    static const char head[] = "@RULE";
    const char *p = text->begin, *end = rule_line_end(p, text->end);
    if ((size_t)(end - p) <= strlen(head) || strncmp(p, head, strlen(head)) != 0 ||
        !isspace((unsigned char)p[strlen(head)]))
        return rule_text_error(text, p, "a rule's file begins with @RULE and the name");
    for (p += strlen(head); p < end && isspace((unsigned char)*p);)
        p++;
    while (end > p && isspace((unsigned char)end[-1]))
        end--;
    if (p == end || (size_t)(end - p) >= sizeof t->name)
        return rule_text_error(text, text->begin, "the rule's name has 1 to %zu characters",
                               sizeof t->name - 1);
    for (const char *c = p; c < end; c++)
        if (!isgraph((unsigned char)*c) || *c == ':')
            return rule_text_error(text, text->begin,
                                   "a rule's name has no blanks, colons or control characters");
    memcpy(t->name, p, (size_t)(end - p));
    return 0;
}

static int rule_file_read_all(const struct rule_text *text, struct life_transitions *t)
{
    struct rule_text table, tree, colours;
    if (read_name(text, t) < 0)
        return -1;
    const bool has_table = section(text, "@TABLE", &table),
               has_tree = section(text, "@TREE", &tree);
    if (!has_table && !has_tree)
        return clerror_set(EINVAL, "%s: has no @TABLE and no @TREE, and so no rule", text->name);
    const bool by_table = has_table && (!has_tree || table.begin < tree.begin);
    struct rule_text *part = by_table ? &table : &tree;
    if ((by_table ? rule_table_read : rule_tree_read)(part, t) < 0)
        return -1;
    t->has_colours = section(text, "@COLORS", &colours);
    if (t->has_colours)
        read_colours(&colours, t);
    return 0;
}

life_transitions *life_transitions_read(const char *name, const void *data, size_t size)
{
    life_transitions *t = calloc(1, sizeof *t);
    char *copy = t ? rule_file_clean(size ? data : "", &size) : NULL;
    const struct rule_text text = {name, copy, copy + size, copy};
    if (!copy)
        clerror_set(ENOMEM, "%s: out of memory for a rule", name);
    const bool read = copy && rule_file_read_all(&text, t) == 0;
    free(copy);
    if (read)
        return t;
    life_transitions_free(t);
    return NULL;
}

void life_transitions_free(life_transitions *t)
{
    if (!t)
        return;
    free(t->branch);
    free(t);
}

const char *life_transitions_name(const life_transitions *t)
{
    if (no_handle(t, __func__))
        return "";
    return t->name;
}

unsigned life_transitions_states(const life_transitions *t)
{
    if (no_handle(t, __func__))
        return 0;
    return t->states;
}

const unsigned char *life_transitions_colour(const life_transitions *t, unsigned state)
{
    if (no_handle(t, __func__))
        return NULL;
    return t->has_colours ? t->colour[state & 255] : NULL;
}

static unsigned char tree_next(const struct life_family *rule, const unsigned char block[9])
{
    return life_transit(rule->transitions, block);
}

const struct life_family_row life_tree_family = {.kind = "of a file",
                                                 .form = LIFE_FORM_TREE,
                                                 .bounds = LIFE_ON_ANY,
                                                 .next = tree_next,
                                                 .bytes = &life_table_bytes};

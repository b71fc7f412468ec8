/* rule.c - reads and writes rules of the B/S family.
 *
 * Rules come from files and command lines; malformed ones are refused with the reason. Names are
 * from the community's rule lists (LifeWiki).
 * SPDX-License-Identifier: MIT
 */
#include "stdcl/life.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* ---- Names. ---------------------------------------------------------------------------------- */

#define N(n) (1u << (n))

/* The first name of a rule is displayed; the others are aliases. */
/* clang-format off */
static const struct name {
    const char *name, *rule;
} names[] = {
    {"life", "B3/S23"},           {"conway", "B3/S23"},         {"gameoflife", "B3/S23"},
    {"conwayslife", "B3/S23"},    {"highlife", "B36/S23"},      {"seeds", "B2/S"},
    {"daynight", "B3678/S34678"}, {"day&night", "B3678/S34678"}, {"replicator", "B1357/S1357"},
    {"fredkin", "B1357/S02468"},  {"gnarl", "B1/S1"},           {"2x2", "B36/S125"},
             {"34life", "B34/S34"},        {"amoeba", "B357/S1358"},
    {"anneal", "B4678/S35678"},   {"twistedmajority", "B4678/S35678"},
    {"assimilation", "B345/S4567"}, {"bacteria", "B34/S456"},   {"coagulations", "B378/S235678"},
    {"coral", "B3/S45678"},       {"corrosion", "B3/S124"},     {"diamoeba", "B35678/S5678"},
    {"dotlife", "B3/S023"},       {"drylife", "B37/S23"},       {"eightlife", "B3/S238"},
    {"pulsarlife", "B3/S238"},    {"pedestrianlife", "B38/S23"}, {"lowdeath", "B368/S238"},
    {"electrifiedmaze", "B45/S12345"}, {"flakes", "B3/S012345678"},
    {"lifewithoutdeath", "B3/S012345678"}, {"flock", "B3/S12"}, {"gems", "B3457/S4568"},
    {"geology", "B3578/S24678"},  {"holstein", "B35678/S4678"}, {"honeylife", "B38/S238"},
    {"iceballs", "B25678/S5678"}, {"invertamaze", "B028/S0124"}, {"landrush", "B36/S234578"},
    {"livefreeordie", "B2/S0"}, {"longlife", "B345/S5"},
    {"maze", "B3/S12345"},        {"mazectric", "B3/S1234"},    {"mice", "B37/S12345"},
    {"move", "B368/S245"},        {"morley", "B368/S245"},      {"persianrug", "B234/S"},
    {"serviettes", "B234/S"},     {"plow", "B378/S012345678"},  {"pseudolife", "B357/S238"},
    {"slowblob", "B367/S125678"}, {"snowlife", "B3/S1237"},     {"stains", "B3678/S235678"},
    {"vote", "B5678/S45678"},     {"majority", "B5678/S45678"}, {"vote4/5", "B4678/S35678"},
    {"walledcities", "B45678/S2345"}, {"wickstretcher", "B3/S0124"},
};
/* clang-format on */

const char *life_rule_name(size_t i, struct life_rule *rule)
{
    if (i >= sizeof names / sizeof *names)
        return NULL;
    if (rule && life_rule_parse(names[i].rule, rule) < 0)
        return NULL;
    return names[i].name;
}

/* Compare letters and digits only, so that "Day & Night" and "live free or die" match. */
static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a && strchr(" \t-_'", *a))
            a++;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

/* ---- B3/S23 and 23/3. ------------------------------------------------------------------------ */

static int rule_refuse(const char *text, const char *why)
{
    return clerror_set(EINVAL, "'%.60s' is not a rule this engine knows: %s", text, why);
}

/* Return why a character is not allowed in a rule. */
static const char *rule_complaint(int c)
{
    if (c == '9')
        return "a cell has 8 neighbours, so counts go from 0 to 8";
    if (c && strchr("hvg-ceaiknjqrytwz", c))
        return "it is of another family; only B/S rules are read here, counts of live cells among 8 "
               "neighbours, as in B3/S23";
    return "write B, the counts that give birth, /S, and the counts that survive, as in B3/S23, or a "
           "name such as highlife";
}

/* Skip blanks; return the next character in lower case, or 0 at the end. */
static int peek(const char **p)
{
    while (isspace((unsigned char)**p))
        ++*p;
    return tolower((unsigned char)**p);
}

/* Read digits 0 to 8 into a set of counts. */
static unsigned read_counts(const char **p)
{
    unsigned set = 0;
    for (int c; (c = peek(p)) >= '0' && c <= '8'; ++*p)
        set |= N(c - '0');
    return set;
}

/* Return the letter before the counts, 'b' or 's', or 0. */
static int rule_read_letter(const char **p)
{
    const int c = peek(p);
    if (c != 'b' && c != 's')
        return 0;
    ++*p;
    return c;
}

/* Two sets of counts in either order with letters, or survival first without letters. A missing
 * set is empty, as in Golly. */
int life_rule_parse(const char *text, struct life_rule *rule)
{
    unsigned set[2];
    int letter[2];
    const char *p = text;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (same_name(text, names[i].name))
            return life_rule_parse(names[i].rule, rule);
    if (!peek(&p) || !strchr("bs/0123456789", peek(&p)))
        return rule_refuse(text, rule_complaint(0));
    letter[0] = rule_read_letter(&p);
    set[0] = read_counts(&p);
    const bool slash = peek(&p) == '/';
    p += slash;
    letter[1] = rule_read_letter(&p);
    set[1] = read_counts(&p);
    const int c = peek(&p);
    if (c)
        return rule_refuse(text, rule_complaint(c == '/' ? 'g' : c));
    if (!slash && !letter[0] && !letter[1])
        return rule_refuse(text,
                           "the slash is missing; write survival/birth as in 23/3, or B3/S23");
    if (letter[0] && letter[0] == letter[1])
        return rule_refuse(text,
                           letter[0] == 'b' ? "B stands there twice" : "S stands there twice");
    const bool birth_first = letter[0] == 'b' || letter[1] == 's';
    *rule = (struct life_rule){set[!birth_first], set[birth_first]};
    return 0;
}

char *life_rule_string(const struct life_rule *rule, char *text)
{
    char *p = text;
    *p++ = 'B';
    for (int n = 0; n <= 8; n++)
        if (rule->birth & N(n))
            *p++ = (char)('0' + n);
    *p++ = '/';
    *p++ = 'S';
    for (int n = 0; n <= 8; n++)
        if (rule->survival & N(n))
            *p++ = (char)('0' + n);
    *p = 0;
    return text;
}

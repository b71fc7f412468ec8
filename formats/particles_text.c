/* particles_text.c - bodies as text: one a line, `mass x y z vx vy vz`.
 *
 * A comment above the bodies may name other columns, in any order:
 *
 *   # name mass x y z vx vy vz radius
 *   # name mass a e inc Omega omega M primary
 *
 * Orbital elements: semi-major axis (negative for a hyperbola), eccentricity, inclination,
 * longitude of the ascending node, argument (omega) or longitude (pomega) of the pericentre, and
 * mean anomaly M, true anomaly f or mean longitude l. Columns `mass` and `a` are needed; elements
 * without a column are 0. Angles are radians, or degrees after `# angles = degrees`. `primary` is
 * the name or number of a body above, or - for the centre of mass of all bodies above (Jacobi), as
 * without that column. The first body has a name and a mass only.
 * SPDX-License-Identifier: MIT
 */
#include "formats/number.h"
#include "formats/particles_format.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS "mass x y z vx vy vz"
#define RADIUS " radius"

/* The first seven equal particles_columns. */
enum column {
    MASS,
    X,
    VX = 4,
    VZ = 6,
    COLUMN_RADIUS,
    NAME,
    AXIS,
    ECCENTRICITY,
    INCLINATION,
    NODE,
    ARGUMENT,
    PERICENTRE,
    MEAN,
    TRUE_ANOMALY,
    LONGITUDE,
    PRIMARY,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
    "mass", "x",   "y",     "z",     "vx",     "vy", "vz", "radius", "name",   "a",
    "e",    "inc", "Omega", "omega", "pomega", "M",  "f",  "l",      "primary"};

struct text {
    struct reader *source;
    struct particles *bodies;
    size_t room;       /* capacity of the arrays, in bodies */
    size_t line;       /* from 1, for messages */
    size_t found;      /* bodies so far in the file */
    size_t first, end; /* bodies to read; the others are only counted */
    enum column column[COLUMN_COUNT];
    size_t columns;
    bool has[COLUMN_COUNT], degrees;
    char *names; /* a word for each body; NULL: none has a name */
    size_t names_size;
    bool named, too_long; /* a body has a name; names exceed PARTICLES_NAMES_MOST */
};

struct word {
    const char *start;
    size_t length;
};

/* A line: numbers by column, and texts. */
struct line {
    double value[COLUMN_COUNT];
    struct word name, primary;
    bool short_; /* the first body of orbital elements: no more than name and mass */
};

/* ---- Sentences. ------------------------------------------------------------------------------ */

/* A word of the file for a message: printable and short. */
struct quote {
    char text[44];
};

static struct quote quoted(struct word w)
{
    struct quote q;
    size_t n = w.length < 40 ? w.length : 37;
    for (size_t i = 0; i < n; i++)
        q.text[i] = (char)(w.start[i] > 32 && w.start[i] < 127 ? w.start[i] : '?');
    strcpy(q.text + n, n < w.length ? "..." : "");
    return q;
}

static int explain_value(const struct text *t, struct word w, size_t column, enum number_kind kind)
{
    const char *hint = "";
    if (kind == NUMBER_BAD && memchr(w.start, ',', w.length))
        hint = "; separate columns by blanks and write decimals with a point";
    else if (kind == NUMBER_BAD && t->bodies->n == 0 && !t->has[AXIS])
        hint = "; a line is seven numbers, " COLUMNS;
    return clerror_set(EINVAL, "%s:%zu: '%s' in column %zu (%s) is not a %snumber%s",
                       t->source->name, t->line, quoted(w).text, column + 1,
                       column_names[t->column[column]], kind == NUMBER_INFINITE ? "finite " : "",
                       hint);
}

/* ---- Reading. -------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The next word of the line; length 0 at its end or at a comment. */
static struct word next_word(const char **at, const char *end)
{
    const char *p = *at;
    while (p < end && is_blank(*p))
        p++;
    struct word w = {p, 0};
    while (p < end && !is_blank(*p) && *p != '#')
        p++;
    w.length = (size_t)(p - w.start);
    *at = p;
    return w;
}

static bool equals(struct word w, const char *text)
{
    return w.length == strlen(text) && memcmp(w.start, text, w.length) == 0;
}

/* The remaining text, without surrounding blanks. */
static struct word rest_of(const char *p, const char *end)
{
    while (p < end && is_blank(*p))
        p++;
    while (end > p && is_blank(end[-1]))
        end--;
    return (struct word){p, (size_t)(end - p)};
}

/* ---- Columns. -------------------------------------------------------------------------------- */

static void set_columns(struct text *t, const enum column *column, size_t n)
{
    memset(t->has, 0, sizeof t->has);
    memcpy(t->column, column, n * sizeof *column);
    t->columns = n;
    for (size_t i = 0; i < n; i++)
        t->has[column[i]] = true;
    t->bodies->also &= ~PARTICLES_RADIUS;
    t->bodies->also |= t->has[COLUMN_RADIUS] ? PARTICLES_RADIUS : 0;
}

static enum column column_of(struct word w)
{
    int c = 0;
    if (equals(w, "m"))
        return MASS;
    while (c < COLUMN_COUNT && !equals(w, column_names[c]))
        c++;
    return (enum column)c;
}

/* Columns that a comment names. */
struct named_columns {
    enum column column[COLUMN_COUNT];
    size_t n, words;
    bool has[COLUMN_COUNT], twice;
    struct word unknown;
};

static struct named_columns find_named_columns(const char *p, const char *end)
{
    struct named_columns c = {.n = 0};
    for (struct word w = next_word(&p, end); w.length; w = next_word(&p, end), c.words++) {
        const enum column is = column_of(w);
        if (is == COLUMN_COUNT)
            c.unknown = c.unknown.length ? c.unknown : w;
        else if (c.has[is])
            c.twice = true;
        else
            c.has[c.column[c.n++] = is] = true;
    }
    return c;
}

/* True if columns are orbital elements: `a` beside further elements, or beside nothing but columns,
 * since "a" and "mass" are also English words. */
static bool are_elements(const struct named_columns *c)
{
    bool further = false;
    for (int k = ECCENTRICITY; k <= PERICENTRE; k++)
        further |= c->has[k];
    if (c->has[MASS] && c->has[AXIS])
        return further || c->n == c->words;
    return further && c->n == c->words && c->n > 1;
}

/* A comment that names columns selects them. Others are comments, unless they look like columns of
 * orbital elements, which would be taken for coordinates. */
static int read_column_names(struct text *t, const char *p, const char *end)
{
    const struct named_columns c = find_named_columns(p, end);
    bool any = false, all = true;
    for (int k = X; k <= VZ; k++) {
        any |= c.has[k];
        all &= c.has[k];
    }
    const bool known = c.n == c.words && !c.twice;
    if (known && c.has[MASS] && all && c.n == 7u + c.has[COLUMN_RADIUS] + c.has[NAME])
        set_columns(t, c.column, c.n);
    if (!are_elements(&c))
        return 0;
    if (c.unknown.length)
        return clerror_set(EINVAL,
                           "%s:%zu: no column is called '%s'; orbital elements are a e inc Omega "
                           "omega (or pomega) and M (or f or l), besides name mass radius primary",
                           t->source->name, t->line, quoted(c.unknown).text);
    if (!c.has[MASS] || !c.has[AXIS])
        return clerror_set(EINVAL, "%s:%zu: orbital elements need the column %s", t->source->name,
                           t->line, c.has[MASS] ? "a" : "mass");
    if (any || c.twice || c.has[ARGUMENT] + c.has[PERICENTRE] > 1 ||
        c.has[MEAN] + c.has[TRUE_ANOMALY] + c.has[LONGITUDE] > 1)
        return clerror_set(EINVAL,
                           "%s:%zu: columns contradict each other: give coordinates or orbital "
                           "elements, one of omega and pomega, and one of M, f and l",
                           t->source->name, t->line);
    set_columns(t, c.column, c.n);
    return 0;
}

/* `# time = 1.5` sets the time, `# softening = 0.05` and the like metadata; other comments are
 * skipped. */
static int text_read_comment(struct text *t, const char *p, const char *end)
{
    double time;
    p++;
    if (read_column_names(t, p, end) < 0)
        return -1;
    const struct word name = next_word(&p, end);
    if (!equals(next_word(&p, end), "="))
        return 0;
    const struct word rest = rest_of(p, end), value = next_word(&p, end);
    if (equals(name, "time") && number_read(value.start, value.length, &time) == NUMBER_OK)
        t->bodies->time = time;
    if (equals(name, "angles")) {
        t->degrees = equals(value, "degrees");
        return t->degrees || equals(value, "radians")
                   ? 0
                   : clerror_set(EINVAL, "%s:%zu: angles are radians or degrees, not '%s'",
                                 t->source->name, t->line, quoted(value).text);
    }
    for (enum particles_note k = 0; k < PARTICLES_NOTE_COUNT; k++)
        if (equals(name, particles_note_name(k))) {
            const struct word said = particles_note_kind(k) == PARTICLES_TEXT ? rest : value;
            return particles_read_note(t->bodies, k, said.start, said.length);
        }
    return 0;
}

/* ---- Names. ---------------------------------------------------------------------------------- */

/* Append the name of a body, or "-". */
static int add_name(struct text *t, struct word name)
{
    const bool has = name.length > 0 && name.length < PARTICLES_NAME_SIZE;
    const struct word w = has ? name : (struct word){"-", 1};
    t->too_long |= t->names_size + w.length + 1 > PARTICLES_NAMES_MOST;
    if (t->too_long)
        return 0;
    char *grown = realloc(t->names, t->names_size + w.length + 1);
    if (!grown)
        return clerror_set(ENOMEM, "%s: out of memory for names", t->source->name);
    memcpy(grown + t->names_size, w.start, w.length);
    grown[t->names_size + w.length] = ' ';
    t->names = grown;
    t->names_size += w.length + 1;
    t->named |= has && !equals(w, "-");
    return 0;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A comment of one word after the numbers, which begins with a letter, is the name of the body. */
static struct word name_in_comment(const char *p, const char *end)
{
    const struct word none = {p, 0};
    if (p == end || *p != '#')
        return none;
    p++;
    const struct word name = next_word(&p, end), more = next_word(&p, end);
    return name.length && !more.length && p == end && is_letter(*name.start) ? name : none;
}

static int set_names(struct text *t)
{
    if (t->named && t->too_long)
        return particles_miss(t->bodies, "names of more than %d bytes (none is kept)",
                              PARTICLES_NAMES_MOST);
    return t->named ? particles_read_note(t->bodies, NOTE_names, t->names, t->names_size - 1) : 0;
}

/* ---- Orbital elements. ----------------------------------------------------------------------- */

/* Index of the body of that name or number, from 1, among those before; SIZE_MAX: there is none.
 * *twice: another body of that name; SIZE_MAX: none. */
static size_t find_primary(const struct text *t, struct word w, size_t *twice)
{
    size_t i = 0, found = SIZE_MAX;
    *twice = SIZE_MAX;
    for (size_t at = 0; at < t->names_size && *twice == SIZE_MAX; i++) {
        const char *name = t->names + at, *blank = memchr(name, ' ', t->names_size - at);
        const size_t length = blank ? (size_t)(blank - name) : t->names_size - at;
        if (length == w.length && memcmp(name, w.start, length) == 0)
            *(found == SIZE_MAX ? &found : twice) = i;
        at += length + 1;
    }
    double number;
    if (found != SIZE_MAX)
        return found;
    return number_read(w.start, w.length, &number) == NUMBER_OK && number >= 1 &&
                   number <= (double)t->bodies->n && floor(number) == number
               ? (size_t)number - 1
               : SIZE_MAX;
}

/* Mean anomaly of the true anomaly f, by Kepler's equation. */
static double mean_of_true(double e, double f)
{
    const double half = sqrt(fabs(1 - e) / (1 + e)) * tan(f / 2);
    const double E = 2 * atan(half), F = 2 * atanh(half);
    return e < 1 ? E - e * sin(E) : e * sinh(F) - F;
}

static int check_elements(const struct text *t, const double *v, const double orbit[6])
{
    const double a = orbit[0], e = orbit[1];
    if (e < 0 || e == 1 || !(a * (1 - e) > 0))
        return clerror_set(
            EINVAL,
            "%s:%zu: no orbit has a = %g and e = %g: an ellipse has a > 0 and 0 <= e < "
            "1, a hyperbola a < 0 and e > 1",
            t->source->name, t->line, a, e);
    if (t->has[TRUE_ANOMALY] && e > 1 && !(1 + e * cos(v[TRUE_ANOMALY]) > 0))
        return clerror_set(EINVAL, "%s:%zu: a hyperbola with e = %g does not reach f = %g",
                           t->source->name, t->line, e, v[TRUE_ANOMALY]);
    for (int k = 0; k < 6; k++)
        if (!isfinite(orbit[k]))
            return clerror_set(EINVAL, "%s:%zu: the orbit is not finite: a %g, e %g, M %g",
                               t->source->name, t->line, a, e, orbit[5]);
    return 0;
}

/* Reduce a line to the six elements of struct particles. On a retrograde orbit longitudes count
 * against the motion, as pomega = Omega - omega. */
static int find_elements(const struct text *t, const double *given, double orbit[6])
{
    double v[COLUMN_COUNT];
    memcpy(v, given, sizeof v);
    for (int c = INCLINATION; c <= LONGITUDE; c++)
        v[c] *= t->degrees ? acos(-1) / 180 : 1;
    const double sense = cos(v[INCLINATION]) < 0 ? -1 : 1;
    const double argument = t->has[PERICENTRE] ? sense * (v[PERICENTRE] - v[NODE]) : v[ARGUMENT];
    const double mean = t->has[TRUE_ANOMALY] ? mean_of_true(v[ECCENTRICITY], v[TRUE_ANOMALY])
                        : t->has[LONGITUDE]  ? sense * (v[LONGITUDE] - v[NODE]) - argument
                                             : v[MEAN];
    const double all[6] = {v[AXIS], v[ECCENTRICITY], v[INCLINATION], v[NODE], argument, mean};
    memcpy(orbit, all, sizeof all);
    return check_elements(t, v, orbit);
}

static int put_elements(struct text *t, const struct line *line)
{
    struct particles *b = t->bodies;
    double orbit[6] = {0};
    const bool named = line->primary.length && !equals(line->primary, "-");
    size_t twice = SIZE_MAX;
    const size_t primary = named ? find_primary(t, line->primary, &twice) : SIZE_MAX;
    if (!line->short_ && b->n == 0)
        return clerror_set(EINVAL,
                           "%s:%zu: the first body has a name and a mass, but no orbit; write - in "
                           "the other columns",
                           t->source->name, t->line);
    if (named && primary == SIZE_MAX)
        return clerror_set(EINVAL, "%s:%zu: the primary '%s' is no body above", t->source->name,
                           t->line, quoted(line->primary).text);
    if (twice != SIZE_MAX)
        return clerror_set(EINVAL,
                           "%s:%zu: bodies %zu and %zu are both called %s; give the number of the "
                           "primary",
                           t->source->name, t->line, primary + 1, twice + 1,
                           quoted(line->primary).text);
    if (!line->short_ && find_elements(t, line->value, orbit) < 0)
        return -1;
    b->primary[b->n] = named ? primary : PARTICLES_JACOBI;
    memcpy(b->pos[b->n], orbit, sizeof *b->pos);
    memcpy(b->vel[b->n], orbit + 3, sizeof *b->vel);
    return 0;
}

/* ---- Lines. ---------------------------------------------------------------------------------- */

static int make_text_room(struct text *t)
{
    struct particles *b = t->bodies;
    if (b->n < t->room)
        return 0;
    t->room = t->room ? 2 * t->room : 1024;
    if (particles_reserve(b, t->room, t->source->name) < 0)
        return -1;
    size_t *grown = t->has[AXIS] ? realloc(b->primary, t->room * sizeof *grown) : NULL;
    if (t->has[AXIS] && !grown)
        return clerror_set(ENOMEM, "%s: out of memory for %zu bodies", t->source->name, t->room);
    b->primary = grown;
    return 0;
}

static int text_add_body(struct text *t, const struct line *line)
{
    struct particles *b = t->bodies;
    const double *value = line->value;
    if (b->also & PARTICLES_RADIUS && value[COLUMN_RADIUS] < 0)
        return clerror_set(EINVAL, "%s:%zu: the radius %g is negative", t->source->name, t->line,
                           value[COLUMN_RADIUS]);
    if (value[MASS] < 0)
        return clerror_set(EINVAL, "%s:%zu: the mass %g is negative", t->source->name, t->line,
                           value[MASS]);
    if (make_text_room(t) < 0)
        return -1;
    b->mass[b->n] = value[MASS];
    memcpy(b->pos[b->n], value + X, sizeof *b->pos);
    memcpy(b->vel[b->n], value + VX, sizeof *b->vel);
    if (b->radius)
        b->radius[b->n] = value[COLUMN_RADIUS];
    if ((t->has[AXIS] && put_elements(t, line) < 0) || add_name(t, line->name) < 0)
        return -1;
    b->n++;
    return 0;
}

/* True if a word may be missing in the first line of orbital elements. */
static bool may_lack(const struct text *t, enum column column, struct word w)
{
    return t->has[AXIS] && t->bodies->n == 0 && column != MASS && column != NAME &&
           (w.length == 0 || equals(w, "-"));
}

static int explain_columns(const struct text *t, size_t c)
{
    char names[120] = "";
    for (size_t k = 0; k < t->columns; k++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k ? " " : "",
                 column_names[t->column[k]]);
    return clerror_set(EINVAL, "%s:%zu: %zu column%s instead of %zu (%s)", t->source->name, t->line,
                       c, c == 1 ? "" : "s", t->columns, names);
}

static int explain_more(const struct text *t, struct word w)
{
    static const char *const numbers[] = {"eighth", "ninth", "tenth"};
    char names[120] = "";
    for (size_t k = 0; k < t->columns; k++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k ? " " : "",
                 column_names[t->column[k]]);
    return clerror_set(EINVAL, "%s:%zu: more than %zu columns (%s); the %s is '%s'",
                       t->source->name, t->line, t->columns, names,
                       t->columns >= 7 && t->columns < 10 ? numbers[t->columns - 7] : "next",
                       quoted(w).text);
}

static int text_read_line(struct text *t, const char *p, const char *end)
{
    struct line line = {.short_ = false};
    struct word w = next_word(&p, end);
    if (w.length == 0)
        return p < end && t->found == 0 ? text_read_comment(t, p, end) : 0;
    if (t->found++ < t->first)
        return t->has[NAME] || t->has[AXIS] || memchr(p, '#', (size_t)(end - p))
                   ? particles_refuse_parts(t->source->name) /* names and orbital elements */
                   : 0;
    for (size_t c = 0; c < t->columns; c++, w = next_word(&p, end)) {
        const enum column column = t->column[c];
        if (may_lack(t, column, w)) {
            line.short_ = true;
            continue;
        }
        if (w.length == 0)
            return explain_columns(t, c);
        if (column == NAME)
            line.name = w;
        else if (column == PRIMARY)
            line.primary = w;
        else {
            const enum number_kind kind = number_read(w.start, w.length, &line.value[column]);
            if (kind != NUMBER_OK)
                return explain_value(t, w, c, kind);
        }
    }
    if (w.length)
        return explain_more(t, w);
    if (!t->has[NAME])
        line.name = name_in_comment(p, end);
    return text_add_body(t, &line);
}

/* Find the end of the line at s->begin, reading on if necessary; NULL with an error. */
static const char *find_line_end(const struct text *t)
{
    struct reader *s = t->source;
    const char *newline = memchr(s->begin, '\n', reader_ready(s));
    if (newline)
        return newline;
    if (reader_need(s, READER_ROOM) < 0)
        return NULL;
    newline = memchr(s->begin, '\n', reader_ready(s));
    if (!newline && !s->ended) {
        clerror_set(EINVAL, "%s:%zu: the line is longer than %d bytes; is this a file of bodies?",
                    s->name, t->line, READER_ROOM);
        return NULL;
    }
    return newline ? newline : s->end;
}

/* Text has no zero bytes. */
static bool sniff_text(const char *start, size_t size)
{
    return !memchr(start, 0, size);
}

static int read_text_lines(struct text *t)
{
    struct reader *s = t->source;
    for (;;) {
        t->line++;
        const char *end = find_line_end(t);
        if (!end || text_read_line(t, s->begin, end) < 0)
            return -1;
        if (end == s->end && s->ended)
            return 0;
        s->begin = end + 1;
        if (t->found == t->end)
            return 0;
    }
}

/* Read lines from the start of the content: the bodies t->first .. t->end - 1. */
static int read_text_from_start(struct text *t)
{
    static const enum column usual[7] = {MASS, X, X + 1, X + 2, VX, VX + 1, VZ};
    struct reader *s = t->source;
    set_columns(t, usual, 7);
    if (reader_ready(s) >= 3 && memcmp(s->begin, "\357\273\277", 3) == 0)
        s->begin += 3; /* UTF-8 byte order mark */
    return read_text_lines(t);
}

static int explain_no_bodies(const char *name)
{
    return clerror_set(EINVAL, "%s: holds no bodies, only comments and blank lines", name);
}

/* Count the bodies. */
static int text_survey(struct reader *s, struct particles *p)
{
    struct text t = {.source = s, .bodies = p, .first = SIZE_MAX, .end = SIZE_MAX};
    const int status = read_text_from_start(&t);
    p->all = t.found;
    return status == 0 && t.found == 0 ? explain_no_bodies(s->name) : status;
}

static int text_read_rows(struct reader *s, size_t first, size_t count, struct particles *p)
{
    struct text t = {
        .source = s, .bodies = p, .room = p->n + count, .first = first, .end = first + count};
    const int status = read_text_from_start(&t);
    free(t.names);
    return status;
}

static int text_read_text(struct reader *s, struct particles *p)
{
    struct text t = {.source = s, .bodies = p, .end = SIZE_MAX};
    int status = read_text_from_start(&t);
    if (status == 0 && p->n == 0)
        status = explain_no_bodies(s->name);
    if (status == 0)
        status = particles_reserve(p, p->n, s->name); /* release the excess capacity */
    if (status == 0)
        status = set_names(&t);
    free(t.names);
    return status;
}

/* ---- Writing. -------------------------------------------------------------------------------- */

/* True if each name can be read from a comment; "-" is none. */
static bool names_begin_with_letters(const char *name)
{
    for (; *name; name += strcspn(name, " "), name += *name == ' ')
        if (!is_letter(*name) && strncmp(name, "- ", 2) != 0 && strcmp(name, "-") != 0)
            return false;
    return true;
}

/* Write the first of the names in a column or as a comment; return the remaining ones. */
static const char *write_name(FILE *fp, const char *name, bool column)
{
    if (!name)
        return NULL;
    const size_t length = strcspn(name, " ");
    if (column)
        fprintf(fp, "%.*s ", (int)length, name);
    else if (length && strncmp(name, "-", length) != 0)
        fprintf(fp, " # %.*s", (int)length, name);
    return name[length] ? name + length + 1 : NULL;
}

static void text_put_header(FILE *fp, const struct particles *p, bool column)
{
    char time[NUMBER_SIZE + 1];
    const size_t length = number_print(time, p->time);
    fprintf(fp, "# %s" COLUMNS "%s\n# time = %.*s\n", column ? "name " : "",
            p->radius ? RADIUS : "", (int)length, time);
    for (enum particles_note k = 0; k < PARTICLES_NOTE_COUNT; k++)
        if (p->note[k] && k != NOTE_names)
            fprintf(fp, "# %s = %s\n", particles_note_name(k), p->note[k]);
}

/* Write to fp, the stream of `out`; out may be NULL. */
static int text_put_bodies(FILE *fp, struct outfile *out, const struct particles *p, bool column)
{
    char line[8 * (NUMBER_SIZE + 1)];
    const char *name = p->note[NOTE_names];
    for (size_t i = 0; name && i < p->first; i++)
        name = strchr(name, ' ') ? strchr(name, ' ') + 1 : NULL;
    for (size_t i = 0; i < p->n; i++) {
        size_t length = 0;
        if (column)
            name = write_name(fp, name ? name : "-", true);
        for (int c = 0; c < 7; c++) {
            length += number_print(line + length, particles_value(p, i, c));
            line[length++] = ' ';
        }
        if (p->radius)
            length += number_print(line + length, p->radius[i]) + 1;
        fwrite(line, 1, length - 1, fp);
        if (!column)
            name = write_name(fp, name, false);
        putc('\n', fp);
        if (out && i % 4096 == 0 && outfile_check(out) < 0)
            return -1;
    }
    return 0;
}

static ssize_t text_count(void *bytes, const char *data, size_t size)
{
    (void)data;
    *(unsigned long long *)bytes += size;
    return (ssize_t)size;
}

/* The slice's bytes must be known before they are written. */
static int text_divide(struct outfile *out, const struct particles *p, bool column)
{
    static const cookie_io_functions_t functions = {.write = text_count};
    unsigned long long bytes = 0;
    FILE *fp = fopencookie(&bytes, "w", functions);
    if (fp)
        text_put_bodies(fp, NULL, p, column);
    const bool counted = fp && fclose(fp) == 0;
    return outfile_agree(
               counted ? 0 : clerror_set(ENOMEM, "%s: out of memory: cannot write it", out->name)) <
                   0
               ? -1
               : outfile_divide(out, bytes);
}

static int text_write_text(struct outfile *out, const struct particles *p)
{
    const char *names = p->note[NOTE_names];
    const bool column = names && !names_begin_with_letters(names);
    text_put_header(out->fp, p, column);
    if (p->all && text_divide(out, p, column) < 0)
        return -1;
    return text_put_bodies(out->fp, out, p, column);
}

const struct particles_format particles_text = {
    .label = {.name = "text", .title = "text", .suffixes = ".tab .txt .dat", .bare = true},
    .sniff = sniff_text,
    .read = text_read_text,
    .survey = text_survey,
    .read_rows = text_read_rows,
    .write = text_write_text,
    .bytes = 140,
};

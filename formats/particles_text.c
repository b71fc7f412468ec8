/* particles_text.c - bodies as text: one a line, `mass x y z vx vy vz`.
 *
 * SPDX-License-Identifier: MIT
 */
#include "formats/number.h"
#include "formats/particles_format.h"
#include "stdcl.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define COLUMNS "mass x y z vx vy vz"
#define RADIUS " radius"

struct text {
    struct reader *source;
    struct particles *bodies;
    size_t room; /* capacity of the arrays, in bodies */
    size_t line; /* from 1, for messages */
};

struct word {
    const char *start;
    size_t length;
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
    else if (kind == NUMBER_BAD && t->bodies->n == 0)
        hint = "; a line is seven numbers, " COLUMNS;
    return clerror_set(EINVAL, "%s:%zu: '%s' in column %zu (%s) is not a %snumber%s",
                       t->source->name, t->line, quoted(w).text, column + 1,
                       column < 7 ? particles_columns[column] : "radius",
                       kind == NUMBER_INFINITE ? "finite " : "", hint);
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

/* `# time = 1.5` sets the time, `# softening = 0.05` and the like metadata; other comments are
 * skipped. */
static int text_read_comment(struct text *t, const char *p, const char *end)
{
    double time;
    p++;
    if (equals(rest_of(p, end), COLUMNS RADIUS))
        t->bodies->also |= PARTICLES_RADIUS;
    const struct word name = next_word(&p, end);
    if (!equals(next_word(&p, end), "="))
        return 0;
    const struct word rest = rest_of(p, end), value = next_word(&p, end);
    if (equals(name, "time") && number_read(value.start, value.length, &time) == NUMBER_OK)
        t->bodies->time = time;
    for (enum particles_note k = 0; k < PARTICLES_NOTE_COUNT; k++)
        if (equals(name, particles_note_name(k))) {
            const struct word said = particles_note_kind(k) == PARTICLES_TEXT ? rest : value;
            return particles_read_note(t->bodies, k, said.start, said.length);
        }
    return 0;
}

static int text_add_body(struct text *t, const double value[8])
{
    struct particles *b = t->bodies;
    if (b->also & PARTICLES_RADIUS && value[7] < 0)
        return clerror_set(EINVAL, "%s:%zu: the radius %g is negative", t->source->name, t->line,
                           value[7]);
    if (value[0] < 0)
        return clerror_set(EINVAL, "%s:%zu: the mass %g is negative", t->source->name, t->line,
                           value[0]);
    if (b->n == t->room) {
        t->room = t->room ? 2 * t->room : 1024;
        if (particles_reserve(b, t->room, t->source->name) < 0)
            return -1;
    }
    b->mass[b->n] = value[0];
    memcpy(b->pos[b->n], value + 1, sizeof *b->pos);
    memcpy(b->vel[b->n], value + 4, sizeof *b->vel);
    if (b->radius)
        b->radius[b->n] = value[7];
    b->n++;
    return 0;
}

static int text_read_line(struct text *t, const char *p, const char *end)
{
    double value[8];
    const size_t columns = t->bodies->also & PARTICLES_RADIUS ? 8 : 7;
    struct word w = next_word(&p, end);
    if (w.length == 0) {
        return p < end && t->bodies->n == 0 ? text_read_comment(t, p, end) : 0;
    }
    for (size_t c = 0; c < columns; c++, w = next_word(&p, end)) {
        if (w.length == 0)
            return clerror_set(EINVAL, "%s:%zu: %zu column%s instead of %zu (" COLUMNS "%s)",
                               t->source->name, t->line, c, c == 1 ? "" : "s", columns,
                               columns == 8 ? RADIUS : "");
        enum number_kind kind = number_read(w.start, w.length, &value[c]);
        if (kind != NUMBER_OK)
            return explain_value(t, w, c, kind);
    }
    if (w.length)
        return clerror_set(EINVAL, "%s:%zu: more than %zu columns (" COLUMNS "%s); the %s is '%s'",
                           t->source->name, t->line, columns, columns == 8 ? RADIUS : "",
                           columns == 8 ? "ninth" : "eighth", quoted(w).text);
    return text_add_body(t, value);
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

static int text_read_text(struct reader *s, struct particles *p)
{
    struct text t = {.source = s, .bodies = p};
    if (reader_ready(s) >= 3 && memcmp(s->begin, "\357\273\277", 3) == 0)
        s->begin += 3; /* UTF-8 byte order mark */
    for (;;) {
        t.line++;
        const char *end = find_line_end(&t);
        if (!end || text_read_line(&t, s->begin, end) < 0)
            return -1;
        if (end == s->end && s->ended)
            break;
        s->begin = end + 1;
    }
    if (p->n == 0)
        return clerror_set(EINVAL, "%s: holds no bodies, only comments and blank lines", s->name);
    return particles_reserve(p, p->n, s->name); /* release the excess capacity */
}

/* ---- Writing. -------------------------------------------------------------------------------- */

static int text_write_text(struct outfile *out, const struct particles *p)
{
    char line[8 * (NUMBER_SIZE + 1)];
    size_t length = number_print(line, p->time);
    fprintf(out->fp, "# " COLUMNS "%s\n# time = %.*s\n", p->radius ? RADIUS : "", (int)length,
            line);
    for (enum particles_note k = 0; k < PARTICLES_NOTE_COUNT; k++)
        if (p->note[k])
            fprintf(out->fp, "# %s = %s\n", particles_note_name(k), p->note[k]);
    for (size_t i = 0; i < p->n; i++) {
        length = 0;
        for (int c = 0; c < 7; c++) {
            length += number_print(line + length, particles_value(p, i, c));
            line[length++] = c < 6 || p->radius ? ' ' : '\n';
        }
        if (p->radius) {
            length += number_print(line + length, p->radius[i]);
            line[length++] = '\n';
        }
        fwrite(line, 1, length, out->fp);
        if (i % 4096 == 0 && outfile_check(out) < 0)
            return -1;
    }
    return 0;
}

const struct particles_format particles_text = {
    .label = {.name = "text", .title = "text", .suffixes = ".tab .txt .dat", .bare = true},
    .sniff = sniff_text,
    .read = text_read_text,
    .write = text_write_text,
    .bytes = 140,
};

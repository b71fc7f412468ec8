/* particles_metadata.c - metadata of the run that wrote a file.
 * SPDX-License-Identifier: MIT
 */
#include "formats/number.h"
#include "formats/particles_format.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4000 }; /* characters of an entry */

#define ROW(name_, kind_) {#name_, PARTICLES_##kind_},
static const struct {
    const char *name;
    enum particles_kind kind;
} rows[] = {PARTICLES_NOTES(ROW)};
#undef ROW

const char *particles_note_name(enum particles_note note)
{
    return rows[note].name;
}

enum particles_kind particles_note_kind(enum particles_note note)
{
    return rows[note].kind;
}

double particles_number(const struct particles *p, enum particles_note note)
{
    double value;
    const char *text = p->note[note];
    return text && number_read(text, strlen(text), &value) == NUMBER_OK ? value : NAN;
}

/* One line of printable characters; UTF-8 passes. */
static char *one_line(const char *text, size_t length, size_t longest)
{
    length = length < longest ? length : longest;
    char *line = malloc(length + 1);
    if (!line)
        return NULL;
    for (size_t i = 0; i < length; i++)
        line[i] = (unsigned char)text[i] < 32 || text[i] == 127 ? '?' : text[i];
    line[length] = 0;
    return line;
}

static int metadata_set(struct particles *p, enum particles_note note, const char *text,
                        size_t length)
{
    const size_t longest = note == NOTE_names ? PARTICLES_NAMES_MOST : LONGEST;
    char *line = text ? one_line(text, length, longest) : NULL;
    if (text && !line)
        return clerror_set(ENOMEM, "out of memory for a note of %zu bytes", length);
    free(p->note[note]);
    p->note[note] = line;
    return 0;
}

int particles_set_note(struct particles *p, enum particles_note note, const char *text)
{
    return metadata_set(p, note, text, text ? strlen(text) : 0);
}

int particles_set_number(struct particles *p, enum particles_note note, double value)
{
    char text[NUMBER_SIZE];
    return isfinite(value) ? metadata_set(p, note, text, number_print(text, value))
                           : particles_set_note(p, note, NULL);
}

int particles_read_note(struct particles *p, enum particles_note note, const char *text,
                        size_t length)
{
    double value;
    if (length == 0)
        return 0;
    if (rows[note].kind == PARTICLES_REAL)
        return number_read(text, length, &value) == NUMBER_OK ? particles_set_number(p, note, value)
                                                              : 0;
    for (size_t i = 0; rows[note].kind == PARTICLES_WHOLE && i < length; i++)
        if (text[i] < '0' || text[i] > '9' || i >= 20)
            return 0;
    return metadata_set(p, note, text, length);
}

/* ---- Names. ---------------------------------------------------------------------------------- */

/* Begin and length of word i of a text; NULL: it has fewer. */
static const char *find_word(const char *text, size_t i, size_t *length)
{
    for (;; i--) {
        text += strspn(text, " ");
        *length = strcspn(text, " ");
        if (!*length || i == 0)
            return *length ? text : NULL;
        text += *length;
    }
}

bool particles_name(const struct particles *p, size_t i, char name[PARTICLES_NAME_SIZE])
{
    size_t length = 0;
    const char *word = p->note[NOTE_names] ? find_word(p->note[NOTE_names], i, &length) : NULL;
    if (!word || length >= PARTICLES_NAME_SIZE || (length == 1 && *word == '-'))
        return false;
    memcpy(name, word, length);
    name[length] = 0;
    return true;
}

int particles_remove_name(struct particles *p, size_t i)
{
    size_t length;
    const char *all = p->note[NOTE_names], *word = all ? find_word(all, i, &length) : NULL;
    if (!word)
        return 0;
    char *kept = strdup(all);
    if (!kept)
        return clerror_set(ENOMEM, "out of memory for the names of bodies");
    const char *after = word + length + strspn(word + length, " ");
    memmove(kept + (word - all), after, strlen(after) + 1);
    const int status = particles_set_note(p, NOTE_names, kept);
    free(kept);
    return status;
}

/* ---- Lists. ---------------------------------------------------------------------------------- */

static int add_item(char **list, const char *format, va_list arguments)
{
    char text[200];
    vsnprintf(text, sizeof text, format, arguments);
    const size_t used = *list ? strlen(*list) : 0;
    char *grown = used < LONGEST ? realloc(*list, used + strlen(text) + 3) : *list;
    if (!grown)
        return clerror_set(ENOMEM, "out of memory for a sentence");
    if (used < LONGEST)
        sprintf(grown + used, "%s%s", used ? ", " : "", text);
    *list = grown;
    return 0;
}

int particles_miss(struct particles *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int status = add_item(&p->missing, format, arguments);
    va_end(arguments);
    return status;
}

int particles_tell(struct particles *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int status = add_item(&p->origin, format, arguments);
    va_end(arguments);
    return status;
}

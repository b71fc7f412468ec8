/* shape.c - parses and prints the words KEY=NUMBER, and chooses a kernel's launch shape.
 *
 * Later sources win: the default of each key; the stored entry of the device, if the kernel can use
 * it; the caller's words.
 * SPDX-License-Identifier: MIT
 */
#include "tune/tune.h"

#include "core/reserved.h"

static const char blanks[] = " \t";

static int *member(const struct cltune_key *key, void *shape)
{
    return (int *)(void *)((char *)shape + key->offset);
}

/* ---- From words to numbers. ---- */

/* The key of a word, or NULL. */
static const struct cltune_key *shape_key_of(const struct cltune_key *keys, const char *word)
{
    const size_t length = strcspn(word, "= \t");
    for (const struct cltune_key *k = keys; k->name; k++)
        if (word[length] == '=' && strlen(k->name) == length && strncmp(k->name, word, length) == 0)
            return k;
    return NULL;
}

static int unknown_word(const struct cltune_rules *rules, const char *word)
{
    char known[1024] = "";
    size_t n = 0;
    for (const struct cltune_key *k = rules->keys; k->name && n < sizeof known; k++)
        n += (size_t)snprintf(known + n, sizeof known - n, " %s", k->name);
    return fail(EINVAL, 0, "%s: shape: \"%.*s\" is not KEY=NUMBER with one of the keys%s",
                rules->name, (int)strcspn(word, blanks), word, known);
}

static int apply_word(const struct cltune_rules *rules, const char *word, void *shape)
{
    const int length = (int)strcspn(word, blanks);
    const struct cltune_key *key = shape_key_of(rules->keys, word);
    if (!key)
        return unknown_word(rules, word);
    const char *digits = word + strlen(key->name) + 1;
    char *end;
    const long value = strtol(digits, &end, 10);
    if (end == digits || end != word + length || value < key->least || value > key->most)
        return fail(EINVAL, 0, "%s: shape: \"%.*s\": the number must be %d to %d", rules->name,
                    length, word, key->least, key->most);
    *member(key, shape) = (int)value;
    return 0;
}

/* Apply words. In a stored entry, words with an unknown key are ignored: the other words still
 * help. */
static int shape_apply_words(const struct cltune_rules *rules, const char *words, int stored,
                             void *shape)
{
    for (words += strspn(words, blanks); *words; words += strspn(words, blanks)) {
        if (!(stored && !shape_key_of(rules->keys, words)) && apply_word(rules, words, shape) != 0)
            return -1;
        words += strcspn(words, blanks);
    }
    return 0;
}

STDCL_API long cltune_value(const char *shape, const char *key, long missing)
{
    const size_t length = key ? strlen(key) : 0;
    for (const char *word = shape; word && *word && length; word += strcspn(word, blanks)) {
        word += strspn(word, blanks);
        if (strncmp(word, key, length) == 0 && word[length] == '=')
            missing = strtol(word + length + 1, NULL, 10);
    }
    return missing;
}

/* ---- And back. ---- */

STDCL_API void cltune_print(const struct cltune_rules *rules, const void *shape, char *text,
                            size_t size)
{
    size_t n = 0;
    if (size > 0)
        *text = '\0';
    for (const struct cltune_key *k = rules->keys; k->name && n < size; k++)
        if (!rules->kind || !k->kinds || k->kinds & rules->kind)
            n += (size_t)snprintf(text + n, size - n, "%s%s=%d", n ? " " : "", k->name,
                                  *(const int *)((const char *)shape + k->offset));
}

/* ---- The choice. ---- */

static void take_defaults(const struct cltune_rules *rules, void *shape)
{
    for (const struct cltune_key *k = rules->keys; k->name; k++)
        *member(k, shape) = k->value;
    if (rules->defaults)
        rules->defaults(shape, rules->arg);
}

/* Apply an entry; false, with the defaults in the shape, if it does not fit. It is not the caller's
 * error. */
static bool shape_apply_row(const struct cltune_rules *rules, const struct cltune_row *row,
                            void *shape)
{
    struct failure before;
    failure_save(&before);
    const bool fits = shape_apply_words(rules, row->shape, 1, shape) == 0 &&
                      (!rules->fit || rules->fit(shape, 1, rules->arg) == 0);
    failure_restore(&before);
    if (!fits)
        take_defaults(rules, shape);
    return fits;
}

/* Apply the entry that was found. An entry that does not fit is replaced by the shipped one, or by
 * the defaults. */
static int shape_take_row(const struct cltune_rules *rules, CLCONTEXT *cp, cl_uint dev,
                          const char *kernel, size_t size, struct cltune_row *row, void *shape)
{
    struct cltune_row shipped;
    if (!*row->shape || shape_apply_row(rules, row, shape)) /* no entry, or a good one */
        return 0;
    if (tune_find_shipped(cp, dev, kernel, size, &shipped) != 0)
        return -1;
    const bool other = *shipped.shape && strcmp(shipped.shape, row->shape) != 0;
    if (other && shape_apply_row(rules, &shipped, shape)) {
        *row = shipped;
        const size_t n = strlen(row->source);
        snprintf(row->source + n, sizeof row->source - n, "; the stored row does not fit");
        return 0;
    }
    snprintf(row->source, sizeof row->source,
             "%.60s: the stored row does not fit the device, a modest one", kernel);
    return 0;
}

STDCL_API int cltune_choose(const struct cltune_rules *rules, CLCONTEXT *cp, cl_uint dev,
                            const char *kernel, size_t size, const char *words, void *shape,
                            struct cltune_row *row)
{
    if (!rules || !rules->name || !rules->keys || !shape)
        return fail(EINVAL, 0,
                    "cltune_choose: the rules, their name or keys, or the shape is NULL");
    if (reserved_check("cltune_choose", rules->reserved) != 0)
        return -1;
    if (cltune_find(cp, dev, kernel, size, row) != 0)
        return -1;
    take_defaults(rules, shape);
    if (shape_take_row(rules, cp, dev, kernel, size, row, shape) != 0)
        return -1;
    if (words && *words) {
        const size_t n = strlen(row->source);
        snprintf(row->source + n, sizeof row->source - n, "; then the caller's words");
        if (shape_apply_words(rules, words, 0, shape) != 0)
            return -1;
    }
    if (rules->fit && rules->fit(shape, 0, rules->arg) != 0)
        return -1;
    cltune_print(rules, shape, row->shape, sizeof row->shape);
    return 0;
}

/* fuzz_tuning.c - arbitrary bytes as a file of measured shapes, and as words KEY=NUMBER; for
 * libFuzzer or for driver.c.
 *
 * The file is rejected with part of a message, or its entries are as tune.h promises: a kernel, a
 * device, a size, and a shape that cltune_choose can take. Words (the same bytes) are rejected
 * with a message, or give numbers inside their ranges, which round-trip through cltune_print.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz.h"
#include "tune/tune.h"

/* The entry that cltune_choose finds; the linker puts this function before the store (--wrap). */
static const char *stored;
int __wrap_cltune_find(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size,
                       struct cltune_row *row);
int __wrap_cltune_find(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size,
                       struct cltune_row *row)
{
    (void)cp, (void)dev, (void)kernel, (void)size;
    memset(row, 0, sizeof *row);
    snprintf(row->shape, sizeof row->shape, "%s", stored);
    return 0;
}

/* No entry is shipped for the kernel. */
int __wrap_tune_find_shipped(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size,
                             struct cltune_row *row);
int __wrap_tune_find_shipped(CLCONTEXT *cp, cl_uint dev, const char *kernel, size_t size,
                             struct cltune_row *row)
{
    (void)cp, (void)dev, (void)kernel, (void)size;
    memset(row, 0, sizeof *row);
    return 0;
}

struct shape {
    int group, width, path;
};
static const struct cltune_key keys[] = {{"group", offsetof(struct shape, group), 1, 1024, 64, 0},
                                         {"width", offsetof(struct shape, width), -16, 16, 1, 1},
                                         {"path", offsetof(struct shape, path), 1, 2, 0, 2},
                                         {0}};

static int fit_fuzz_shape(void *shape, int is_stored, void *arg)
{
    (void)is_stored, (void)arg;
    return ((struct shape *)shape)->group % 2 ? clerror_set(EINVAL, "fuzz: shape: group is odd")
                                              : 0;
}

static void check_shape_words(const char *row, const char *words)
{
    const struct cltune_rules rules = {.name = "fuzz", .keys = keys, .fit = fit_fuzz_shape};
    struct shape s, again;
    struct cltune_row out, unused;
    stored = row;
    if (cltune_choose(&rules, NULL, 0, "fuzz.kernel", 1, words, &s, &out) != 0) {
        char *sentence = clerror();
        promise(sentence && strncmp(sentence, "fuzz: shape: ", 13) ==
                                0); /* with the whole word, which may be long */
        return;
    }
    promise(s.group >= 1 && s.group <= 1024 && s.group % 2 == 0 && s.width >= -16 &&
            s.width <= 16 && s.path <= 2);
    promise(cltune_value(out.shape, "group", -1) == s.group &&
            cltune_value(out.shape, "width", -99) == s.width);
    if (s.path > 0) { /* its default is outside of the range that words may give */
        stored = "";
        promise(cltune_choose(&rules, NULL, 0, "fuzz.kernel", 1, out.shape, &again, &unused) == 0);
        promise(memcmp(&s, &again, sizeof s) == 0);
    }
}

static void check_tuning_entries(json_t *rows)
{
    const struct tune_device device = {"Some device", "1.0", {"family:gpu", NULL}};
    size_t i;
    json_t *row;
    int rank;
    json_array_foreach(rows, i, row)
    {
        const char *kernel = json_string_value(json_object_get(row, "kernel"));
        const char *shape = json_string_value(json_object_get(row, "shape"));
        promise(kernel && *kernel && tune_is_shape(shape));
        const json_t *user = tune_choose(rows, NULL, &device, kernel, i, &rank);
        promise(!user == (rank == TUNE_NONE) && (!user || rank <= TUNE_OTHER_DRIVER));
        const json_t *shipped = tune_choose(NULL, rows, &device, kernel, SIZE_MAX - i, &rank);
        promise(!shipped == (rank == TUNE_NONE) &&
                (!shipped || rank == TUNE_SHIPPED || rank == TUNE_FAMILY));
        check_shape_words(shape, NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char why[256];
    char *exact = exact_copy(data, size), *text = text_copy(data, size);
    for (char *p = text; *p; p++) /* which a sentence may quote */
        *p = *p == '\n' ? ' ' : *p;
    json_t *rows = tune_parse(exact, size, why, sizeof why);
    if (rows)
        check_tuning_entries(rows);
    else
        promise_sentence(why, "");
    promise(rows || *why);
    json_decref(rows);
    if (tune_is_shape(text))
        cltune_value(text, "group", 0);
    check_shape_words("", text);
    check_shape_words(text, "group=2");
    free(exact);
    free(text);
    return 0;
}

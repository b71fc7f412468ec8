/* driver.c - run a fuzzing harness without libFuzzer: the files of a folder, then deterministic
 * mutations of them.
 *   usage: PROGRAM RUNS FOLDER
 *          PROGRAM FILE
 * An input that breaks a promise is kept in ./fuzz-failure; PROGRAM fuzz-failure runs it again.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

enum { MOST_SEEDS = 1024, MOST_BYTES = 12288 };

struct input {
    size_t size;
    uint8_t bytes[MOST_BYTES];
};

static struct input seeds[MOST_SEEDS], current;
static size_t seed_count;
static uint64_t state = 88172645463325252ULL;

static size_t below(size_t n) /* xorshift64, Marsaglia 2003 */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return n ? (size_t)(state >> 11) % n : 0;
}

static void keep_failure(int number)
{
    FILE *fp =
        fopen("fuzz-failure", "wb"); /* not safe in a handler, but this program is lost anyhow */
    if (fp) {
        fwrite(current.bytes, 1, current.size, fp);
        fclose(fp);
    }
    signal(number, SIG_DFL);
    raise(number);
}

/* Insert, or remove, `size` bytes at `at`. */
static void insert(struct input *in, size_t at, size_t size)
{
    if (in->size + size > MOST_BYTES)
        return;
    memmove(in->bytes + at + size, in->bytes + at, in->size - at);
    for (size_t i = 0; i < size; i++)
        in->bytes[at + i] = (uint8_t)below(256);
    in->size += size;
}

static void take_out(struct input *in, size_t at, size_t size)
{
    size = size < in->size - at ? size : in->size - at;
    memmove(in->bytes + at, in->bytes + at + size, in->size - at - size);
    in->size -= size;
}

/* Copy a piece of one of the seeds over the input. */
static void splice(struct input *in, size_t at)
{
    const struct input *from = &seeds[below(seed_count)];
    size_t start = below(from->size), size = below(from->size - start + 1);
    size = size < MOST_BYTES - at ? size : MOST_BYTES - at;
    memcpy(in->bytes + at, from->bytes + start, size);
    in->size = in->size > at + size ? in->size : at + size;
}

/* Insert a word that is special to readers of text or of binary numbers. */
static void put_word(struct input *in, size_t at)
{
    static const struct {
        const char *bytes;
        size_t size;
    } words[] = {{"nan", 3},
                 {"-inf", 4},
                 {"1e999", 5},
                 {"-1", 2},
                 {"\n", 1},
                 {"#", 1},
                 {"# time = ", 9},
                 {"\r\n", 2},
                 {"\0\0\0\0", 4},
                 {"\377\377\377\377", 4},
                 {"\177\377\377\377", 4},
                 {"\377\377\377\177", 4},
                 {"\200\0\0\0", 4},
                 {"\0\0\0\200", 4},
                 {"\177\300\0\0", 4},
                 {"\0\0\300\177", 4},
                 {"e-308", 5},
                 {"9999999999999999999", 19},
                 {" ", 1}};
    size_t w = below(sizeof words / sizeof *words);
    size_t size = words[w].size < MOST_BYTES - at ? words[w].size : MOST_BYTES - at;
    memcpy(in->bytes + at, words[w].bytes, size);
    in->size = in->size > at + size ? in->size : at + size;
}

static void mutate(struct input *in)
{
    for (size_t rounds = 1 + below(4); rounds; rounds--) {
        size_t at = below(in->size);
        switch (below(7)) {
        case 0:
            if (in->size)
                in->bytes[at] ^= (uint8_t)(1u << below(8));
            break;
        case 1:
            if (in->size)
                in->bytes[at] = (uint8_t)below(256);
            break;
        case 2:
            insert(in, at, 1 + below(8));
            break;
        case 3:
            take_out(in, at, 1 + below(16));
            break;
        case 4:
            in->size = at; /* cut short */
            break;
        case 5:
            splice(in, at);
            break;
        default:
            put_word(in, at);
        }
    }
}

static void read_seed(const char *file)
{
    FILE *fp = fopen(file, "rb");
    if (!fp || seed_count == MOST_SEEDS) {
        fprintf(stderr, "driver: %s cannot be read, or is one file too many\n", file);
        exit(2);
    }
    seeds[seed_count].size = fread(seeds[seed_count].bytes, 1, MOST_BYTES, fp);
    seed_count++;
    fclose(fp);
}

static int is_visible_file(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void read_folder(const char *folder)
{
    struct dirent **entry;
    const int n = scandir(folder, &entry, is_visible_file, alphasort);
    if (n <= 0) {
        fprintf(stderr, "driver: %s has no inputs\n", folder);
        exit(2);
    }
    for (int i = 0; i < n; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        read_seed(path);
        free(entry[i]);
    }
    free(entry);
}

static void run_input(void)
{
    LLVMFuzzerTestOneInput(current.bytes, current.size);
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        read_seed(argv[1]);
    } else if (argc == 3) {
        read_folder(argv[2]);
    } else {
        fprintf(stderr, "usage: %s RUNS FOLDER, or %s FILE\n", argv[0], argv[0]);
        return 2;
    }
    signal(SIGABRT, keep_failure);
    signal(SIGSEGV, keep_failure);
    for (size_t i = 0; i < seed_count; i++) {
        current = seeds[i];
        run_input();
    }
    current.size = 0;
    run_input();
    const long runs = argc == 3 ? atol(argv[1]) : 0;
    for (long i = 0; i < runs; i++) {
        current = seeds[below(seed_count)];
        mutate(&current);
        run_input();
    }
    printf("%zu files and %ld mutations of them kept all promises\n", seed_count, runs);
    return 0;
}

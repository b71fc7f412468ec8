/* fuzz_checkpoint.c - arbitrary bytes as a checkpoint of `stdcl nbody`; for libFuzzer or for
 * driver.c.
 *
 * The size and the checksum in the head are set right, so that mutations reach what is behind
 * them. An accepted checkpoint has all of its parts within the file; a rejected one gives a
 * sentence.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz.h"

#include "cli/command.h"
#include "cli/nbody_bodies.h"
#include "cli/nbody_checkpoint.h"
#include "cli/nbody_options.h"
#include "cli/nbody_output.h"

#include <stdarg.h>

static char sentence[1000];

int __wrap_cli_failed(const char *format, ...);
int __wrap_cli_failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return CLI_FAILED;
}

/* Set the head right, and where the text ends if the input does not say it. */
static void mend_head(char *image, size_t size)
{
    struct checkpoint_head head;
    if (size < sizeof head)
        return;
    memcpy(&head, image, sizeof head);
    memcpy(head.magic, checkpoint_magic, sizeof head.magic);
    const char *end = memmem(image + sizeof head, size - sizeof head, "\n}", 2);
    head.format = CHECKPOINT_FORMAT;
    head.size = size;
    head.text = end && head.text % 4 ? (size_t)(end + 2 - image) - sizeof head : head.text;
    head.sum = checkpoint_sum(image + sizeof head, size - sizeof head, sizeof head);
    memcpy(image, &head, sizeof head);
}

static uint64_t sum_of(const char *at, size_t size)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++) /* a sanitizer detects what lies outside */
        sum += (unsigned char)at[i];
    return sum;
}

static void check_part(const char *image, size_t size, const char *at, size_t n, size_t each)
{
    promise(at >= image && at <= image + size && n <= (size_t)(image + size - at) / each);
    static volatile uint64_t sum;
    sum += sum_of(at, n * each);
}

static void check_parts(const struct checkpoint_parts *p, const char *image, size_t size)
{
    const struct checkpoint_state *k = &p->state;
    promise(k->n > 0 && k->gas <= k->n && k->star <= k->n - k->gas);
    check_part(image, size, p->mass, k->n, 8);
    if (p->softening)
        check_part(image, size, p->softening, k->n, 8);
    if (p->id)
        check_part(image, size, p->id, k->n, 8);
    if (p->radius)
        check_part(image, size, p->radius, k->n, 8);
    check_part(image, size, p->rows, k->rows, sizeof(struct nbody_row));
    if (k->history) {
        check_part(image, size, p->history, k->history, k->columns * 8);
        check_part(image, size, p->text, k->text, 1);
    }
    check_part(image, size, p->path, k->path, k->n * 24);
    check_part(image, size, p->events, k->events, sizeof(struct nbody_event));
    check_part(image, size, p->found, k->found, sizeof(struct nbody_found));
    check_part(image, size, p->engine, k->engine, 1);
    promise(p->engine + k->engine == image + size);
    promise(nbody_integrator_names()[k->integrator] && nbody_precision_names[k->precision]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct checkpoint_parts parts;
    char *image = exact_copy(data, size);
    mend_head(image, size);
    *sentence = 0;
    const size_t head = sizeof(struct checkpoint_head);
    const uint64_t sum = size > head ? checkpoint_sum(image + head, size - head, head) : 0;
    if (checkpoint_parse("name", image, size, sum, &parts) != CLI_DONE)
        promise_sentence(sentence, "--resume: name");
    else if (parts.ensemble)
        check_part(image, size, parts.ensemble, parts.ensemble_size, 1);
    else
        check_parts(&parts, image, size);
    json_decref(parts.words);
    free(image);
    return 0;
}

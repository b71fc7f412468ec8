/* fuzz_ask.c - arbitrary bytes from a viewer: a message, a Host and Origin, subprotocols; for
 * libFuzzer or for driver.c.
 *
 * An accepted message is within the bounds of view/WIRE.md.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz.h"
#include "view/server.h"

#include <math.h>

static void check_view_message(const struct client_message *a)
{
    const struct want *w = &a->want;
    promise(a->type != MESSAGE_CREDIT || (a->number >= 1 && a->number <= MOST_CREDITS));
    promise(a->type != MESSAGE_WANT ||
            (w->coding >= RAW && w->coding <= DIFFERENCES_PACKED && w->colour < COLOURS));
    for (int c = 0; a->type == MESSAGE_WANT && w->inside && c < 3; c++)
        promise(isfinite(w->box[c]) && isfinite(w->box[c + 3]) && w->box[c] < w->box[c + 3]);
    promise(a->type != MESSAGE_WANT || !w->cells ||
            (uint64_t)w->region.width * w->region.height <= MOST_SQUARES);
    promise(a->type != MESSAGE_DO || isfinite(a->command.value));
    promise(a->type != MESSAGE_DO || a->command.ask != VIEW_PUT ||
            (a->command.region.width >= 1 && a->command.region.height >= 1 &&
             view_cells_bytes(&a->command.region, 2) <= VIEW_PUT_BYTES));
    promise(a->type != MESSAGE_DO || a->command.ask != VIEW_RULE ||
            (*a->command.rule && memchr(a->command.rule, 0, VIEW_RULE_BYTES)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct client_message ask;
    char *text = text_copy(data, size);
    const struct view_field torus = {.width = 100, .height = 50, .bounds = "torus"};
    if (size <= MOST_MESSAGE && client_message_parse((const char *)data, size, &ask)) {
        check_view_message(&ask);
        if (ask.type == MESSAGE_WANT && ask.want.cells && region_clip(&torus, &ask.want.region))
            promise(ask.want.region.x >= 0 && ask.want.region.x < 100 &&
                    ask.want.region.width <= 100);
    }
    promise(!http_host_ok(text) || strstr(text, "127.0.0.1") || strstr(text, "[::1]") ||
            strcasestr(text, "localhost"));
    promise(!http_origin_ok(text, text));
    promise(!http_token_ok(text, "0123456789abcdef0123456789abcdef") ||
            strstr(text, "0123456789abcdef0123456789abcdef"));
    free(text);
    return 0;
}

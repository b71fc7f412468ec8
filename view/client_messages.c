/* client_messages.c - messages from a page: JSON, as listed in WIRE.md. Everything else is refused.
 * SPDX-License-Identifier: MIT
 */
#include "view/messages.h"

#include <jansson.h>
#include <math.h>

const char *const command_names[] = {"pause", "run",   "step", "speed", "seek",
                                     "quit",  "again", "put",  "rule"};
const char *const colour_names[COLOURS] = {"none", "speed", "mass", "acceleration", "group"};

enum { MOST_STEPS = 1000000 };
static const double MOST_WHOLE = 0x1p53;

/* An integer from least to most; `otherwise` if the name is missing. */
static bool whole(const json_t *object, const char *name, double least, double most,
                  double otherwise, double *value)
{
    const json_t *item = json_object_get(object, name);
    *value = item ? json_number_value(item) : otherwise;
    return (!item || json_is_number(item)) && *value >= least && *value <= most &&
           floor(*value) == *value;
}

static bool read_coding(const json_t *object, int *coding)
{
    double value;
    const bool ok = whole(object, "coding", RAW, DIFFERENCES_PACKED, RAW, &value);
    *coding = ok ? (int)value : RAW;
    return ok;
}

static bool read_colour(const json_t *object, enum colour *colour)
{
    const char *name = json_string_value(json_object_get(object, "colour"));
    int i = 0;
    while (name && i < COLOURS && strcmp(name, colour_names[i]) != 0)
        i++;
    *colour = (enum colour)i;
    return i < COLOURS && (name || !json_object_get(object, "colour"));
}

static bool read_box(const json_t *object, struct want *want)
{
    const json_t *box = json_object_get(object, "region");
    want->inside = box && !json_is_null(box);
    for (size_t i = 0; want->inside && i < 6; i++) {
        const json_t *item = json_array_get(box, i);
        want->box[i] = json_number_value(item);
        if (!json_is_number(item) || !isfinite(want->box[i]) ||
            (i >= 3 && want->box[i] <= want->box[i - 3]))
            return false;
    }
    return !want->inside || json_array_size(box) == 6;
}

static bool message_read_bodies(const json_t *object, struct want *want)
{
    double count;
    if (!json_is_object(object) || !whole(object, "count", 0, UINT32_MAX, 200000, &count))
        return false;
    want->count = (size_t)count;
    return read_coding(object, &want->coding) && read_colour(object, &want->colour) &&
           read_box(object, want);
}

/* True if squares from *at on stay between -2^62 and 2^62. */
static bool stays_in_plane(double at, double n, double zoom)
{
    return at + ldexp(n, (int)zoom) <= 0x1p62;
}

static bool message_read_cells(const json_t *object, struct want *want)
{
    double x, y, width, height, zoom;
    if (!json_is_object(object) || !whole(object, "x", -0x1p62, 0x1p62, 0, &x) ||
        !whole(object, "y", -0x1p62, 0x1p62, 0, &y) ||
        !whole(object, "width", 1, MOST_SQUARES, 1024, &width) ||
        !whole(object, "height", 1, MOST_SQUARES, 768, &height) ||
        !whole(object, "zoom", 0, MOST_ZOOM, 0, &zoom) || width * height > MOST_SQUARES ||
        !stays_in_plane(x, width, zoom) || !stays_in_plane(y, height, zoom))
        return false;
    want->region = (struct view_region){(int64_t)x, (int64_t)y, (uint32_t)width, (uint32_t)height,
                                        (uint32_t)zoom};
    want->cells = true;
    return read_coding(object, &want->coding);
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

_Static_assert(sizeof((struct view_command *)0)->bits == VIEW_PUT_BYTES, "as view.h says");

/* Cells of a rectangle: two hexadecimal digits a byte of eight cells. */
static bool read_put(const json_t *object, struct view_command *put)
{
    const char *text = json_string_value(json_object_get(object, "cells"));
    double x, y, width, height;
    if (!text || !whole(object, "x", -0x1p53, 0x1p53, NAN, &x) ||
        !whole(object, "y", -0x1p53, 0x1p53, NAN, &y) ||
        !whole(object, "width", 1, 8 * VIEW_PUT_BYTES, NAN, &width) ||
        !whole(object, "height", 1, VIEW_PUT_BYTES, NAN, &height))
        return false;
    put->region =
        (struct view_region){(int64_t)x, (int64_t)y, (uint32_t)width, (uint32_t)height, 0};
    const size_t bytes = view_cells_bytes(&put->region, 2);
    if (bytes > VIEW_PUT_BYTES || strlen(text) != 2 * bytes)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        put->bits[i] = (uint8_t)(16 * high + low);
    }
    return true;
}

/* A rule: printable ASCII, not empty. */
static bool read_new_rule(const json_t *object, struct view_command *command)
{
    const char *text = json_string_value(json_object_get(object, "rule"));
    const size_t length = text ? strlen(text) : 0;
    if (length == 0 || length >= sizeof command->rule)
        return false;
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    memcpy(command->rule, text, length + 1);
    return true;
}

static bool read_do(const json_t *object, struct client_message *ask)
{
    static const struct {
        const char *value;
        double least, most, otherwise;
    } of[] = {[VIEW_PAUSE] = {"", 0, 0, 0},
              [VIEW_RUN] = {"", 0, 0, 0},
              [VIEW_STEP] = {"n", -MOST_STEPS, MOST_STEPS, 1},
              [VIEW_SPEED] = {"value", 0, 0, 0},
              [VIEW_SEEK] = {"frame", 0, 0x1p53, -1},
              [VIEW_QUIT] = {"", 0, 0, 0},
              [VIEW_AGAIN] = {"", 0, 0, 0}};
    const char *what = json_string_value(json_object_get(object, "what"));
    int i = 0;
    while (what && i <= VIEW_RULE && strcmp(what, command_names[i]) != 0)
        i++;
    if (!what || i > VIEW_RULE)
        return false;
    ask->command.ask = (enum view_ask)i;
    if (i == VIEW_PUT)
        return read_put(object, &ask->command);
    if (i == VIEW_RULE)
        return read_new_rule(object, &ask->command);
    ask->confirmed = json_is_true(json_object_get(object, "confirm"));
    if (i != VIEW_SPEED)
        return whole(object, of[i].value, of[i].least, of[i].most, of[i].otherwise,
                     &ask->command.value);
    const json_t *speed = json_object_get(object, "value");
    ask->command.value = json_number_value(speed);
    return json_is_number(speed) && ask->command.value >= 0 && ask->command.value <= 1e12;
}

static bool message_read_number(const json_t *object, const char *name, double least, double most,
                                struct client_message *ask)
{
    double value;
    const bool ok = whole(object, name, least, most, -1, &value);
    ask->number = ok ? (uint64_t)value : 0;
    return ok;
}

static bool read_object(const json_t *object, struct client_message *ask)
{
    const char *type = json_string_value(json_object_get(object, "type"));
    const json_t *points = json_object_get(object, "points"),
                 *cells = json_object_get(object, "cells");
    *ask = (struct client_message){0};
    if (type && strcmp(type, "credit") == 0) {
        ask->type = MESSAGE_CREDIT;
        return message_read_number(object, "n", 1, MOST_CREDITS, ask);
    }
    if (type && strcmp(type, "ping") == 0) {
        ask->type = MESSAGE_PING;
        return message_read_number(object, "id", 0, MOST_WHOLE, ask);
    }
    if (type && strcmp(type, "want") == 0) {
        ask->type = MESSAGE_WANT;
        return !points != !cells && (points ? message_read_bodies(points, &ask->want)
                                            : message_read_cells(cells, &ask->want));
    }
    ask->type = MESSAGE_DO;
    return type && strcmp(type, "do") == 0 && read_do(object, ask);
}

bool client_message_parse(const char *text, size_t size, struct client_message *ask)
{
    json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    const bool ok = json_is_object(object) && read_object(object, ask);
    json_decref(object);
    return ok;
}

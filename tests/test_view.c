/* test_view.c - the parts of the viewer: authorised clients, valid messages, the content of
 * frames.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"

#include "view/window.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* ---- Who may ask. ---------------------------------------------------------------------------- */

static void view_rejects_foreign_hosts(void **state)
{
    static const char *const own[] = {"127.0.0.1",       "127.0.0.1:8080", "localhost:1",
                                      "LocalHost:65535", "[::1]",          "[::1]:8080"};
    static const char *const foreign[] = {"",
                                          "example.org",
                                          "example.org:8080",
                                          "127.0.0.1.example.org",
                                          "127.0.0.1:",
                                          "127.0.0.1:123456",
                                          "127.0.0.1:80a",
                                          "127.0.0.2",
                                          "0.0.0.0:80",
                                          "localhost.example.org:80",
                                          "::1",
                                          "[::1",
                                          "[::2]",
                                          "localhost:80:80",
                                          " localhost",
                                          "2130706433",
                                          "0x7f000001",
                                          "127.1",
                                          "user@localhost"};
    (void)state;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        assert_true(http_host_ok(own[i]));
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        assert_false(http_host_ok(foreign[i]));
    assert_false(http_host_ok(NULL));
}

/* Comparing Host and Origin with each other is not enough: a rebound name matches both. */
static void view_rejects_foreign_origins(void **state)
{
    static const char *const bad[][2] = {{"http://example.org", "example.org"},
                                         {"http://example.org", "127.0.0.1:80"},
                                         {"https://127.0.0.1:80", "127.0.0.1:80"},
                                         {"null", "127.0.0.1:80"},
                                         {"", "127.0.0.1:80"},
                                         {"http://127.0.0.1:81", "127.0.0.1:80"},
                                         {"http://localhost:80", "127.0.0.1:80"},
                                         {"http://127.0.0.1:80/", "127.0.0.1:80"},
                                         {"http://127.0.0.1:80.example.org", "127.0.0.1:80"}};
    (void)state;
    assert_true(http_origin_ok("http://127.0.0.1:80", "127.0.0.1:80"));
    assert_true(http_origin_ok("http://localhost:9", "localhost:9"));
    assert_true(http_origin_ok("http://[::1]:8080", "[::1]:8080"));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(http_origin_ok(bad[i][0], bad[i][1]));
    assert_false(http_origin_ok(NULL, "127.0.0.1:80"));
}

static void view_tokens_are_checked(void **state)
{
    char token[TOKEN], other[TOKEN], offered[128];
    (void)state;
    assert_true(http_token_make(token) && http_token_make(other));
    assert_string_not_equal(token, other);
    assert_int_equal(strspn(token, "0123456789abcdef"), TOKEN - 1);
    snprintf(offered, sizeof offered, "stdcl-view.1, token.%s", token);
    assert_true(http_token_ok(offered, token));
    assert_false(http_token_ok(offered, other));
    snprintf(offered, sizeof offered, "token.%s,stdcl-view.1", token);
    assert_true(http_token_ok(offered, token));
    offered[sizeof "token." - 1 + 31] ^= 1; /* the last digit */
    assert_false(http_token_ok(offered, token));
    snprintf(offered, sizeof offered, "token.%.31s", token);
    assert_false(http_token_ok(offered, token));
    snprintf(offered, sizeof offered, "token.%s0", token);
    assert_false(http_token_ok(offered, token));
    assert_false(http_token_ok("", token));
    assert_false(http_token_ok("token.", token));
    assert_false(http_token_ok(token, token));
}

/* ---- What may be asked. ---------------------------------------------------------------------- */

static bool asks(const char *text, struct client_message *ask)
{
    return client_message_parse(text, strlen(text), ask);
}

static void view_messages_are_parsed(void **state)
{
    struct client_message a;
    (void)state;
    assert_true(asks("{\"type\":\"credit\",\"n\":2}", &a) && a.type == MESSAGE_CREDIT &&
                a.number == 2);
    assert_true(asks("{\"type\":\"ping\",\"id\":17}", &a) && a.type == MESSAGE_PING &&
                a.number == 17);
    assert_true(asks("{\"type\":\"do\",\"what\":\"step\",\"n\":3}", &a) &&
                a.command.ask == VIEW_STEP && a.command.value == 3);
    assert_true(asks("{\"type\":\"do\",\"what\":\"speed\",\"value\":0.5}", &a) &&
                a.command.ask == VIEW_SPEED && a.command.value == 0.5);
    assert_true(asks("{\"type\":\"do\",\"what\":\"quit\"}", &a) && a.command.ask == VIEW_QUIT &&
                !a.confirmed);
    assert_true(asks("{\"type\":\"do\",\"what\":\"quit\",\"confirm\":true}", &a) && a.confirmed);
    assert_true(asks(
        "{\"type\":\"want\",\"points\":{\"count\":9,\"colour\":\"mass\",\"coding\":2,\"region\":[0,1,2,3,4,5]}}",
        &a));
    assert_true(a.want.count == 9 && a.want.colour == BY_MASS && a.want.coding == 2 &&
                a.want.inside && a.want.box[5] == 5 && !a.want.cells);
    assert_true(asks("{\"type\":\"want\",\"points\":{}}", &a) && a.want.count == 200000 &&
                !a.want.inside);
    assert_true(asks(
        "{\"type\":\"want\",\"cells\":{\"x\":-5,\"y\":7,\"width\":64,\"height\":32,\"zoom\":3}}",
        &a));
    assert_true(a.want.cells && a.want.region.x == -5 && a.want.region.y == 7 &&
                a.want.region.width == 64 && a.want.region.zoom == 3);
    assert_true(asks("{\"type\":\"do\",\"what\":\"again\"}", &a) && a.command.ask == VIEW_AGAIN);
    assert_true(asks("{\"type\":\"do\",\"what\":\"put\",\"x\":-3,\"y\":4,\"width\":9,\"height\":2,"
                     "\"cells\":\"ff01a500\"}",
                     &a));
    assert_true(a.command.ask == VIEW_PUT && a.command.region.x == -3 && a.command.region.y == 4 &&
                a.command.region.width == 9 && a.command.region.height == 2 &&
                a.command.region.zoom == 0);
    assert_memory_equal(a.command.bits, "\xff\x01\xa5\x00", 4);
    assert_true(asks("{\"type\":\"do\",\"what\":\"rule\",\"rule\":\"B36/S23\"}", &a));
    assert_true(a.command.ask == VIEW_RULE && strcmp(a.command.rule, "B36/S23") == 0);
}

/* A rule has 1 to 511 characters. */
static void view_limits_rules(void **state)
{
    struct client_message a;
    char text[VIEW_RULE_BYTES + 60], rule[VIEW_RULE_BYTES + 1];
    (void)state;
    for (int length = VIEW_RULE_BYTES - 1; length <= VIEW_RULE_BYTES; length++) {
        memset(rule, '3', sizeof rule);
        rule[length] = 0;
        snprintf(text, sizeof text, "{\"type\":\"do\",\"what\":\"rule\",\"rule\":\"%s\"}", rule);
        assert_int_equal(asks(text, &a), length < VIEW_RULE_BYTES);
    }
}

static void view_rejects_bad_messages(void **state)
{
    static const char *const bad[] = {
        "",
        "x",
        "[]",
        "17",
        "null",
        "{}",
        "{\"type\":1}",
        "{\"type\":\"x\"}",
        "{\"type\":\"credit\"}",
        "{\"type\":\"credit\",\"n\":0}",
        "{\"type\":\"credit\",\"n\":9}",
        "{\"type\":\"credit\",\"n\":1.5}",
        "{\"type\":\"credit\",\"n\":\"1\"}",
        "{\"type\":\"credit\",\"n\":-1}",
        "{\"type\":\"credit\",\"n\":1}x",
        "{\"type\":\"credit\",\"n\":1,\"n\":2}",
        "{\"type\":\"ping\",\"id\":1e300}",
        "{\"type\":\"do\"}",
        "{\"type\":\"do\",\"what\":\"format\"}",
        "{\"type\":\"do\",\"what\":\"step\",\"n\":1e9}",
        "{\"type\":\"do\",\"what\":\"seek\"}",
        "{\"type\":\"do\",\"what\":\"put\"}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":0,\"y\":0,\"width\":8,\"height\":1,\"cells\":\"f\"}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":0,\"y\":0,\"width\":8,\"height\":1,\"cells\":\"fff\"}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":0,\"y\":0,\"width\":8,\"height\":1,\"cells\":\"fg\"}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":0,\"y\":0,\"width\":8,\"height\":1,\"cells\":\"FF\"}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":0,\"y\":0,\"width\":9,\"height\":1,\"cells\":\"ff\"}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":0,\"y\":0,\"width\":8,\"height\":2,\"cells\":\"ff\"}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":0,\"y\":0,\"width\":0,\"height\":1,\"cells\":\"\"}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":0,\"y\":0,\"width\":8,\"height\":0,\"cells\":\"\"}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":0,\"y\":0,\"width\":8,\"height\":1,\"cells\":7}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":1e300,\"y\":0,\"width\":8,\"height\":1,\"cells\":\"ff\"}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":0.5,\"y\":0,\"width\":8,\"height\":1,\"cells\":\"ff\"}",
        "{\"type\":\"do\",\"what\":\"put\",\"x\":0,\"y\":0,\"width\":12288,\"height\":1536,\"cells\":\"ff\"}",
        "{\"type\":\"do\",\"what\":\"rule\"}",
        "{\"type\":\"do\",\"what\":\"rule\",\"rule\":\"\"}",
        "{\"type\":\"do\",\"what\":\"rule\",\"rule\":23}",
        "{\"type\":\"do\",\"what\":\"rule\",\"rule\":\"B3\\nS23\"}",
        "{\"type\":\"do\",\"what\":\"rule\",\"rule\":\"B3\\u00e9\"}",
        "{\"type\":\"do\",\"what\":\"seek\",\"frame\":-1}",
        "{\"type\":\"do\",\"what\":\"speed\"}",
        "{\"type\":\"do\",\"what\":\"speed\",\"value\":-1}",
        "{\"type\":\"want\"}",
        "{\"type\":\"want\",\"points\":1}",
        "{\"type\":\"want\",\"points\":{},\"cells\":{}}",
        "{\"type\":\"want\",\"points\":{\"count\":5e9}}",
        "{\"type\":\"want\",\"points\":{\"coding\":3}}",
        "{\"type\":\"want\",\"points\":{\"colour\":\"red\"}}",
        "{\"type\":\"want\",\"points\":{\"colour\":3}}",
        "{\"type\":\"want\",\"points\":{\"region\":[0,0,0,1,1]}}",
        "{\"type\":\"want\",\"points\":{\"region\":[0,0,0,1,1,0]}}",
        "{\"type\":\"want\",\"points\":{\"region\":[0,0,0,1,1,1,1]}}",
        "{\"type\":\"want\",\"points\":{\"region\":{}}}",
        "{\"type\":\"want\",\"cells\":{\"width\":0}}",
        "{\"type\":\"want\",\"cells\":{\"width\":4194304,\"height\":2}}",
        "{\"type\":\"want\",\"cells\":{\"zoom\":54}}",
        "{\"type\":\"want\",\"cells\":{\"x\":0,\"width\":1024,\"height\":1,\"zoom\":53}}",
        "{\"type\":\"want\",\"cells\":{\"x\":0.5}}",
        "{\"type\":\"want\",\"cells\":{\"x\":1e19}}",
        "{\"type\":\"credit\",\"n\":1",
        "\xff\xfe",
        "{\"type\":\"do\",\"what\":\"quit\",\"confirm\":tru}"};
    struct client_message a;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (asks(bad[i], &a))
            fail_msg("taken: %s", bad[i]);
}

/* A thousand brackets are one error, without a thousand nested calls. */
static void view_deep_nesting_is_one_error(void **state)
{
    char text[MOST_MESSAGE];
    struct client_message a;
    (void)state;
    memset(text, '[', sizeof text);
    assert_false(client_message_parse(text, sizeof text, &a));
}

/* ---- Frames. --------------------------------------------------------------------------------- */

/* Some bodies, and their bounding box. */
static struct shown some_bodies(size_t n, float shift)
{
    struct shown s = {.sequence = 1, .n = n};
    for (size_t i = 0; i < n; i++) {
        const float x = (float)(i * 7919 % n) / (float)n, at[3] = {x + shift, 1 - x * x, 0.01F * x},
                    v[3] = {x, 1, 0};
        bytes_put(&s.first, at, sizeof at);
        bytes_put(&s.second, v, sizeof v);
    }
    return s;
}

static void view_raw_frame_holds_bodies(void **state)
{
    enum { N = 1000 };
    struct about about = {.options.points.total = N};
    struct want want = {.count = N, .colour = BY_SPEED};
    struct frame_box box = {.set = false};
    struct quantised *was[2] = {NULL, NULL};
    struct bytes b = {0};
    struct shown s = some_bodies(N, 0);
    (void)state;
    assert_true(frame_points(&b, &s, &about, &want, &box, was));
    assert_int_equal(b.used, POINTS_HEAD + 7 * N);
    assert_int_equal(b.at[0], POINTS);
    assert_int_equal(b.at[1], RAW);
    assert_int_equal(bytes_read(b.at + 76, 4), N);
    assert_int_equal(bytes_read(b.at + 104, 8), 7 * N);
    for (size_t c = 0; c < 3; c++) {
        const double lo = bytes_read_f64(b.at + 24 + 8 * c), hi = bytes_read_f64(b.at + 48 + 8 * c);
        for (size_t i = 0; i < N; i++) {
            const double q = (double)bytes_read(b.at + POINTS_HEAD + 2 * (c * N + i), 2),
                         x = lo + (q + 0.5) / 65536 * (hi - lo);
            const double right = (double)((const float *)(const void *)s.first.at)[3 * i + c];
            assert_true(fabs(x - right) <= (hi - lo) / 131072 * 1.01 + 1e-7);
        }
    }
    const double least = (double)bytes_read_f32(b.at + 84),
                 most = (double)bytes_read_f32(b.at + 88);
    for (size_t i = 0; i < N; i++) {
        const float *v = (const float *)(const void *)s.second.at + 3 * i;
        const double shade = b.at[POINTS_HEAD + 6 * N + i],
                     speed = least * pow(most / least, shade / 255);
        assert_true(fabs(log(speed / sqrt((double)(v[0] * v[0] + v[1] * v[1])))) <=
                    log(most / least) / 255);
    }
    bytes_free(&b);
    shown_free(&s);
}

/* A non-finite position must not become an index, nor affect the other bodies. */
static void view_frame_skips_non_finite(void **state)
{
    struct about about = {.options.points.total = 3};
    struct want want = {.count = 3, .colour = BY_SPEED};
    struct frame_box box = {.set = false};
    struct quantised *was[2] = {NULL, NULL};
    struct bytes b = {0};
    const float at[3][3] = {{NAN, 0, 0}, {INFINITY, 1, -INFINITY}, {1, 2, 3}},
                v[3][3] = {{NAN, 0, 0}, {INFINITY, 0, 0}, {0, 0, 0}};
    struct shown s = {.sequence = 1, .n = 3};
    (void)state;
    bytes_put(&s.first, at, sizeof at);
    bytes_put(&s.second, v, sizeof v);
    assert_true(frame_points(&b, &s, &about, &want, &box, was));
    assert_int_equal(b.used, POINTS_HEAD + 21);
    bytes_free(&b);
    shown_free(&s);
}

static void view_frame_holds_region_only(void **state)
{
    enum { N = 1000 };
    struct about about = {.options.points.total = N};
    struct want want = {.count = N, .inside = true, .box = {0.25, -1, -1, 0.5, 2, 2}};
    struct frame_box box = {.set = false};
    struct quantised *was[2] = {NULL, NULL};
    struct bytes b = {0};
    struct shown s = some_bodies(N, 0);
    (void)state;
    assert_true(frame_points(&b, &s, &about, &want, &box, was));
    size_t right = 0;
    for (size_t i = 0; i < N; i++) {
        const float x = ((const float *)(const void *)s.first.at)[3 * i];
        right += x >= 0.25F && x <= 0.5F;
    }
    assert_int_equal(bytes_read(b.at + 76, 4), right);
    assert_int_equal(b.used, POINTS_HEAD + 6 * right);
    assert_int_equal(bytes_read(b.at + 2, 2) & REGION, REGION);
    bytes_free(&b);
    shown_free(&s);
}

/* Every coding gives the bytes of coding 0: differences, packed or not, with escapes, with a
 * changed box in between. */
static void view_codings_give_equal_bytes(void **state)
{
    enum { N = 3000, FRAMES = 12 };
    struct about about = {.options.points.total = N};
    (void)state;
    for (int coding = RAW; coding <= (can_pack() ? DIFFERENCES_PACKED : DIFFERENCES); coding++) {
        struct want plain = {.count = N, .colour = BY_SPEED},
                    want = {.count = N, .colour = BY_SPEED, .coding = coding};
        struct frame_box box = {.set = false}, other = {.set = false};
        struct quantised *was[2] = {NULL, NULL}, *none[2] = {NULL, NULL};
        struct bytes b = {0}, right = {0}, got[3] = {{0}};
        int built = 0;
        for (uint32_t i = 0; i < FRAMES; i++) {
            struct shown s = some_bodies(N, i < 9 ? 0.001F * (float)(i * i) : 5);
            s.sequence = i + 1;
            b.used = right.used = 0;
            assert_true(frame_points(&b, &s, &about, &want, &box, was) &&
                        frame_points(&right, &s, &about, &plain, &other, none));
            const struct bytes oldest = got[2];
            got[2] = got[1];
            got[1] = got[0];
            got[0] = oldest;
            assert_true(frame_decode(&got[0], &(struct span){b.at, b.used}, got + 1));
            assert_int_equal(got[0].used, right.used);
            assert_memory_equal(got[0].at, right.at, right.used);
            built += b.at[1] == DIFFERENCES || b.at[1] == DIFFERENCES_PACKED;
            shown_free(&s);
        }
        assert_true(coding == RAW ? built == 0 : built >= FRAMES - 3);
        quantised_drop(was[0]);
        quantised_drop(was[1]);
        bytes_free(&b);
        bytes_free(&right);
        for (int i = 0; i < 3; i++)
            bytes_free(&got[i]);
    }
}

static void codings_of(unsigned states)
{
    const struct view_region r = {3, 5, 500, 40, 0};
    struct shown s = {.n = 1, .region = {r}, .population = 17, .states = states};
    struct previous_cells last = {0};
    struct bytes b = {0}, got[3] = {{0}};
    int built = 0;
    unsigned char *body = bytes_more(&s.first, view_cells_bytes(&r, states));
    for (size_t i = 0; i < s.first.used; i++)
        body[i] = (unsigned char)(i * 2654435761u >> 13);
    for (uint32_t k = 1; k < 6; k++) {
        s.sequence = k;
        body[7 * k] ^= 4;
        b.used = 0;
        assert_true(frame_cells(&b, &s, 0, DIFFERENCES_PACKED, &last));
        const struct bytes before = got[1];
        got[1] = got[0];
        got[0] = before;
        assert_true(frame_decode(&got[0], &(struct span){b.at, b.used}, got + 1));
        assert_int_equal(b.at[48] | b.at[49] << 8, states > 2 ? (states - 1) << 8 : 0);
        assert_int_equal(got[0].used, CELLS_HEAD + s.first.used);
        assert_memory_equal(got[0].at + CELLS_HEAD, body, s.first.used);
        built += b.at[1] == DIFFERENCES_PACKED;
    }
    assert_int_equal(built, can_pack() ? 4 : 0);
    bytes_free(&b);
    bytes_free(&got[0]);
    bytes_free(&got[1]);
    bytes_free(&last.body);
    shown_free(&s);
}

static void view_cell_codings_give_equal_bytes(void **state)
{
    (void)state;
    codings_of(2);
    codings_of(4);
    codings_of(256);
}

/* ---- Recordings. ----------------------------------------------------------------------------- */

static const char *const row_names[] = {"time", "", "energy", "", NULL};

/* Record some pictures; return the file's bytes. */
static struct bytes record_with_rows(const char *file, int frames, const char *const *names)
{
    enum { N = 200 };
    struct bytes all = {0};
    view *v = view_open(&(struct view_options){.program = "test",
                                               .address = "-",
                                               .record = file,
                                               .rate = 240,
                                               .budget = 100,
                                               .points = {.total = N, .moving = 1},
                                               .rows = names});
    assert_non_null(v);
    assert_string_equal(view_url(v, 0), "");
    assert_int_equal(view_viewers(v), 0);
    assert_int_equal(view_bodies_wanted(v), N);
    for (int i = 0; i < frames; i++) {
        struct shown s = some_bodies(N, 0.001F * (float)i);
        const struct view_points p = {.at = {0.5 * i, (uint64_t)i, 0},
                                      .count = N,
                                      .pos = (const float(*)[3])(void *)s.first.at,
                                      .vel = (const float(*)[3])(void *)s.second.at};
        view_add_row(v, (const double[]){i, -i});
        while (!view_due(v)) /* so nothing is left out */
            view_wait(v, 0.001);
        assert_int_equal(view_show_points(v, &p), 0);
        shown_free(&s);
    }
    assert_int_equal(view_close(v), 0);
    FILE *fp = fopen(file, "rb");
    assert_non_null(fp);
    for (size_t n = 1; n > 0;) {
        n = fread(bytes_more(&all, 4096), 1, 4096, fp);
        all.used -= 4096 - n;
    }
    fclose(fp);
    remove(file);
    return all;
}

static struct bytes record_frames(const char *file, int frames)
{
    return record_with_rows(file, frames, row_names);
}

static void count_row(void *arg, const double *row)
{
    int *n = arg;
    assert_true(row[0] == *n && row[1] == -*n);
    ++*n;
}

static void view_recording_plays_all_frames(void **state)
{
    enum { FRAMES = 150 };
    struct bytes all = record_frames(in_folder("test_view.view"), FRAMES);
    view_recording *r = recording_read(all.at, all.used);
    int rows = 0;
    (void)state;
    assert_non_null(r);
    assert_int_equal(view_recording_frames(r), FRAMES);
    for (size_t k = 0; k < FRAMES; k++)
        assert_true(view_recording_time(r, k) == 0.5 * (double)k);
    recording_each_row(r, count_row, &rows);
    assert_int_equal(rows, FRAMES);
    for (size_t k = 0; k < 2 * FRAMES; k++) { /* there and back, and in jumps */
        const size_t frame = k < FRAMES ? k : (k * 37) % FRAMES;
        const struct bytes *p = recording_picture(r, frame);
        assert_non_null(p);
        assert_int_equal(bytes_read(p->at + 16, 8), frame);
        assert_int_equal(p->used, POINTS_HEAD + 7 * 200);
    }
    view_recording_close(r);
    bytes_free(&all);
}

static void check_overlaid_row(void *arg, const double *row)
{
    int *n = arg;
    const int first = *n < 20 ? 1 : 2, k = *n < 20 ? *n : *n - 20;
    assert_true(row[0] == k && row[first] == -k && isnan(row[3 - first]));
    ++*n;
}

/* Two recordings: their columns side by side with their names, and the rows of the first recording
 * before the rows of the second. A different table, and a third recording, are refused. */
static void view_recordings_are_overlaid(void **state)
{
    static const char *const name[2] = {"a.view", "b.view"};
    static const char *const other_names[] = {"generation", "", "population", "cells", NULL};
    struct bytes a = record_frames(in_folder("a.view"), 20),
                 b = record_frames(in_folder("b.view"), 30),
                 c = record_with_rows(in_folder("c.view"), 2, other_names);
    view_recording *r = recording_read(a.at, a.used), *other = recording_read(b.at, b.used),
                   *third = recording_read(c.at, c.used);
    int rows = 0;
    (void)state;
    assert_true(r && other && third);
    assert_int_equal(view_recording_overlay(r, third, name), -1);
    assert_int_equal(clerrno, EINVAL);
    assert_int_equal(view_recording_overlay(r, r, name), -1);
    assert_int_equal(recording_columns(r), 2);
    assert_int_equal(view_recording_overlay(r, other, name), 0);
    assert_int_equal(view_recording_overlay(r, other, name), -1);
    assert_int_equal(recording_columns(r), 3);
    recording_each_row(r, check_overlaid_row, &rows);
    assert_int_equal(rows, 50);
    json_t *hello = recording_hello(r),
           *columns = json_object_get(json_object_get(hello, "rows"), "columns");
    assert_int_equal(json_array_size(columns), 3);
    for (size_t i = 1; i < 3; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(columns, i), "run")),
                            name[i - 1]);
    json_decref(hello);
    view_recording_close(r);
    view_recording_close(other);
    view_recording_close(third);
    bytes_free(&a);
    bytes_free(&b);
    bytes_free(&c);
}

/* A recording has the last frame, however soon it is closed. */
static void view_recording_keeps_last_frame(void **state)
{
    static const float at[1][3] = {{1, 2, 3}};
    char file[PATH_MAX];
    (void)state;
    snprintf(file, sizeof file, "%s", in_folder("lost.view"));
    for (int i = 0; i < 200; i++) {
        view *v = view_open(&(struct view_options){
            .program = "test", .address = "-", .record = file, .points = {.total = 1}});
        assert_non_null(v);
        assert_int_equal(view_due(v), 1);
        assert_int_equal(view_show_points(v, &(struct view_points){.count = 1, .pos = at}), 0);
        assert_int_equal(
            view_show_points(v, &(struct view_points){.at = {1, 1, 1}, .count = 1, .pos = at}), 0);
        assert_int_equal(view_close(v), 0);
        view_recording *r = view_recording_open(file);
        assert_non_null(r);
        assert_int_equal(view_recording_frames(r), 2);
        view_recording_close(r);
    }
}

/* A last state that was shown before is recorded once, other bodies at the same time are recorded;
 * likewise cells. */
static void view_recording_has_no_frame_twice(void **state)
{
    static const float at[2][1][3] = {{{1, 2, 3}}, {{1, 2, 4}}};
    static const uint8_t bits[2][2] = {{1, 2}, {1, 3}};
    char file[PATH_MAX];
    (void)state;
    snprintf(file, sizeof file, "%s", in_folder("twice.view"));
    for (int k = 0; k < 4; k++) {
        const bool moved = k & 1, points = k & 2;
        view *v = view_open(
            &(struct view_options){.program = "test",
                                   .address = "-",
                                   .record = file,
                                   .points = {.total = points},
                                   .cells = {.width = points ? 0 : 8, .height = points ? 0 : 2}});
        assert_non_null(v);
        for (int last = 0; last < 2; last++) {
            const struct view_moment moment = {5, 5, last};
            const struct view_cells cells = {{0, 0, 8, 2, 0}, bits[last && moved]};
            const struct view_points bodies = {moment, .count = 1, .pos = at[last && moved]};
            assert_int_equal(points ? view_show_points(v, &bodies)
                                    : view_show_cells(v, moment, 1, 1, &cells),
                             0);
        }
        assert_int_equal(view_close(v), 0);
        view_recording *r = view_recording_open(file);
        assert_non_null(r);
        assert_int_equal(view_recording_frames(r), moved ? 2 : 1);
        view_recording_close(r);
    }
}

/* A truncated recording plays its complete part; any changed byte causes at most an error message.
 */
static void view_recording_survives_damage(void **state)
{
    struct bytes all = record_frames(in_folder("cut.view"), 8);
    size_t most = 0;
    (void)state;
    for (size_t cut = 0; cut <= all.used; cut += cut < 700 ? 1 : 13) {
        unsigned char *copy =
            malloc(cut + 1); /* so that a sanitizer detects reads beyond the end */
        memcpy(copy, all.at, cut);
        view_recording *r = recording_read(copy, cut);
        const size_t frames = r ? view_recording_frames(r) : 0;
        assert_true(frames >= most);
        most = frames;
        for (size_t k = 0; k < frames; k++)
            assert_non_null(recording_picture(r, k));
        view_recording_close(r);
        free(copy);
    }
    view_recording *whole = recording_read(all.at, all.used);
    assert_int_equal(view_recording_frames(whole), 8);
    view_recording_close(whole);
    for (size_t i = 0; i < all.used; i += i < 1200 ? 1 : 11) {
        all.at[i] ^= 0x81;
        view_recording *r = recording_read(all.at, all.used);
        for (size_t k = 0; r && k < view_recording_frames(r); k++)
            recording_picture(r, k);
        view_recording_close(r);
        all.at[i] ^= 0x81;
    }
    bytes_free(&all);
}

/* Append a record of a frame of `size` bytes that are 0, except `set`: pairs of a position and a
 * 4-byte value. Return the frame. */
static unsigned char *put_frame(struct bytes *to, enum kind kind, enum coding coding, size_t size,
                                const uint32_t set[][2], size_t sets)
{
    bytes_u(to, size, 4);
    unsigned char *at = bytes_more(to, size);
    memset(at, 0, size);
    at[0] = (unsigned char)kind;
    at[1] = (unsigned char)coding;
    for (size_t i = 0; i < sets; i++)
        bytes_at(at + set[i][0], set[i][1], 4);
    return at;
}

static void begin_recording(struct bytes *to)
{
    static const char hello[] = "{\"type\":\"hello\",\"version\":1}";
    bytes_put(to, "STDCLVW1", 8);
    bytes_u(to, sizeof hello - 1, 4);
    bytes_put(to, hello, sizeof hello - 1);
}

/* Bodies cannot build on cells whose bytes look like the head of such bodies, nor cells on bodies:
 * the base would be shorter than the picture. */
static void view_difference_needs_frame_of_its_kind(void **state)
{
    enum { N = 2000 };
    static const unsigned char none[96];
    struct bytes all = {0}, packed = {0};
    (void)state;
    const bool packs = pack(&packed, none, sizeof none); /* not without zlib */
    begin_recording(&all);
    /* Width 8, height 48: a body of 48 bytes, which has the number of bodies at 72 and 76. */
    put_frame(&all, CELLS, RAW, CELLS_HEAD + 48,
              (const uint32_t[][2]){{40, 8}, {44, 48}, {72, N}, {76, N}}, 4);
    put_frame(&all, POINTS, DIFFERENCES, POINTS_HEAD + 3 * N,
              (const uint32_t[][2]){{40, 8}, {44, 48}, {72, N}, {76, N}}, 4);
    put_frame(&all, POINTS, RAW, POINTS_HEAD + 6 * 8,
              (const uint32_t[][2]){{40, 8}, {44, 96}, {76, 8}}, 3);
    unsigned char *cells = put_frame(&all, CELLS, DIFFERENCES_PACKED, CELLS_HEAD + packed.used,
                                     (const uint32_t[][2]){{40, 8}, {44, 96}}, 2);
    memcpy(cells + CELLS_HEAD, packed.at, packed.used);
    unsigned char *exact = malloc(all.used); /* so that a sanitizer detects reads beyond the end */
    memcpy(exact, all.at, all.used);
    view_recording *r = recording_read(exact, all.used);
    assert_non_null(r);
    assert_int_equal(view_recording_frames(r), 4);
    for (size_t k = 0; k < (packs ? 4 : 3); k++) {
        const struct bytes *p = recording_picture(r, k);
        assert_true(k % 2 == 0 ? p != NULL : p == NULL);
        if (!p)
            assert_non_null(strstr(clerror(), "is damaged or was cut in picture"));
    }
    view_recording_close(r);
    free(exact);
    bytes_free(&packed);
    bytes_free(&all);
}

/* Rows times columns that overflow do not make a grid without values fit. */
static void view_grid_size_does_not_wrap(void **state)
{
    struct bytes all = {0};
    (void)state;
    begin_recording(&all);
    put_frame(&all, GRID, RAW, 32, (const uint32_t[][2]){{24, 0x80000000u}, {28, 0x80000000u}}, 2);
    put_frame(&all, GRID, RAW, 32 + 4 * 6, (const uint32_t[][2]){{24, 2}, {28, 3}}, 2);
    view_recording *r = recording_read(all.at, all.used);
    assert_null(recording_picture(r, 0));
    assert_non_null(recording_picture(r, 1));
    view_recording_close(r);
    bytes_free(&all);
}

/* A recording that is truncated while it plays ends with a message, not with a signal. */
static void view_recording_survives_truncation_while_open(void **state)
{
    struct bytes all = record_frames(in_folder("cut_later.view"), 100);
    char file[PATH_MAX];
    (void)state;
    snprintf(file, sizeof file, "%s", in_folder("cut_later.view"));
    FILE *fp = fopen(file, "wb");
    assert_int_equal(fwrite(all.at, 1, all.used, fp), all.used);
    fclose(fp);
    view_recording *r = view_recording_open(file);
    assert_non_null(r);
    assert_non_null(recording_picture(r, 99));
    assert_int_equal(truncate(file, (off_t)(all.used / 2)), 0);
    assert_non_null(recording_picture(r, 0));
    assert_null(recording_picture(r, 99));
    assert_non_null(strstr(clerror(), "is damaged or was cut in picture"));
    view_recording_close(r);
    remove(file);
    bytes_free(&all);
}

static view *open_recorder(const char *file)
{
    view *v = view_open(&(struct view_options){
        .program = "test", .address = "-", .record = file, .points = {.total = 1}});
    assert_non_null(v);
    return v;
}

static void show_one_body(view *v, double time)
{
    static const float at[1][3] = {{1, 2, 3}};
    assert_int_equal(
        view_show_points(v, &(struct view_points){.at = {time, 0, 1}, .count = 1, .pos = at}), 0);
}

static size_t frames_of(const char *file)
{
    view_recording *r = view_recording_open(file);
    const size_t frames = r ? view_recording_frames(r) : 0;
    view_recording_close(r);
    return frames;
}

/* A recording without a picture leaves the file of its name; a planted link is not followed. */
static void view_recording_appears_whole_or_not_at_all(void **state)
{
    char file[PATH_MAX], victim[PATH_MAX], link[PATH_MAX];
    (void)state;
    snprintf(file, sizeof file, "%s", in_folder("whole.view"));
    snprintf(victim, sizeof victim, "%s", in_folder("victim"));
    view *v = open_recorder(file);
    assert_int_equal(access(file, F_OK), -1);
    show_one_body(v, 0);
    assert_int_equal(view_close(v), 0);
    assert_int_equal(frames_of(file), 1);
    assert_int_equal(view_close(open_recorder(file)), -1);
    assert_int_equal(clerrno, ENODATA);
    assert_int_equal(frames_of(file), 1);
    static const char *const names[] = {"whole.view.part", ".whole.view.0.tmp"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(link, sizeof link, "%s", in_folder(names[i]));
        assert_int_equal(symlink(victim, link), 0);
    }
    v = open_recorder(file);
    show_one_body(v, 0);
    assert_int_equal(view_close(v), 0);
    assert_int_equal(access(victim, F_OK), -1);
}

/* Two runs that record under one name at a time: each file is whole, and the last one stays. */
static void view_recordings_of_one_name_stay_whole(void **state)
{
    char file[PATH_MAX];
    (void)state;
    snprintf(file, sizeof file, "%s", in_folder("two.view"));
    view *first = open_recorder(file), *second = open_recorder(file);
    show_one_body(first, 0);
    show_one_body(second, 0);
    show_one_body(second, 1);
    assert_int_equal(view_close(second), 0);
    assert_int_equal(frames_of(file), 2);
    assert_int_equal(view_close(first), 0);
    assert_int_equal(frames_of(file), 1);
}

/* A frame has the distributions recorded with it. No changed byte of the file makes reading them
 * fail. */
static void view_recording_has_distributions(void **state)
{
    const double edge[] = {0, 1, 3}, value[] = {0.5, 0.25};
    const struct view_profile profile = {
        .title = "density", .x = "radius", .unit = "pc", .bins = 2, .edge = edge, .value = value};
    char file[PATH_MAX];
    (void)state;
    snprintf(file, sizeof file, "%s", in_folder("distributions.view"));
    view *v = open_recorder(file);
    show_one_body(v, 0);
    assert_int_equal(view_show_profiles(v, 2.5, 1, &profile), 0);
    assert_int_equal(view_close(v), 0);
    size_t size = 0, shown = 0;
    char *bytes = bytes_of(file, &size);
    view_recording *r = recording_read(bytes, size);
    assert_non_null(r);
    char *text = recording_profiles(r, 0, &shown);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"time\":2.5"));
    assert_non_null(strstr(text, "\"edge\":[0.0,1.0,3.0]"));
    assert_null(recording_profiles(r, 0, &shown)); /* they are shown already */
    view_recording_close(r);
    free(text);
    for (size_t i = 8; i < size; i++) {
        const char whole = bytes[i];
        bytes[i] ^= 0x21;
        shown = 0;
        if ((r = recording_read(bytes, size)))
            free(recording_profiles(r, 0, &shown));
        view_recording_close(r);
        bytes[i] = whole;
    }
    free(bytes);
}

static void view_recording_makes_page(void **state)
{
    struct bytes all = record_frames(in_folder("page.view"), 3);
    char *page = NULL;
    size_t size;
    FILE *file = fopen(in_folder("page.view"), "wb"), *fp = open_memstream(&page, &size);
    (void)state;
    fwrite(all.at, 1, all.used, file);
    fclose(file);
    assert_int_equal(view_write_page(fp, in_folder("page.view")), 0);
    fclose(fp);
    assert_null(strstr(page, "\nimport ")); /* all is in one */
    assert_null(strstr(page, "<!--csp-->"));
    assert_null(strstr(page, "<!--recording-->"));
    assert_null(strstr(page, "src=\""));
    for (const char *at = page; (at = strstr(at, "href=\"")); at++)
        assert_int_equal(at[6], '#'); /* nothing outside of it */
    assert_non_null(strstr(page, "default-src 'none'"));
    assert_non_null(strstr(page, "class=\"recording\">U1REQ0xWVz")); /* STDCLVW1 in base64 */
    assert_true(size > all.used * 4 / 3 && size < all.used * 4 / 3 + 150000);
    free(page);
    bytes_free(&all);
}

/* A page shows whole pictures only: nothing is written if one is damaged. */
static void view_page_refuses_damaged_pictures(void **state)
{
    struct bytes all = {0};
    char *page = NULL;
    size_t size;
    (void)state;
    begin_recording(&all);
    put_frame(&all, POINTS, RAW, POINTS_HEAD + 6 * 8, (const uint32_t[][2]){{76, 8}}, 1);
    put_frame(&all, POINTS, RAW, POINTS_HEAD + 6 * 8, (const uint32_t[][2]){{76, 9}}, 1);
    for (int whole = 0; whole < 2; whole++) {
        FILE *file = fopen(in_folder("damaged.view"), "wb"), *fp = open_memstream(&page, &size);
        all.used -= whole ? 4 + POINTS_HEAD + 6 * 8 : 0; /* without the second picture */
        fwrite(all.at, 1, all.used, file);
        fclose(file);
        assert_int_equal(view_write_page(fp, in_folder("damaged.view")), whole ? 0 : -1);
        if (!whole)
            assert_non_null(strstr(clerror(), "is damaged or was cut in picture 1"));
        fclose(fp);
        assert_true(whole ? size > 0 : size == 0);
        free(page);
    }
    bytes_free(&all);
}

/* Lognormal costs of pictures with median 1 ms, occasionally ten times larger. */
static double some_cost(uint64_t *seed, double spread, unsigned now_and_then)
{
    double sum = -6; /* the sum of twelve numbers of 0 to 1 is nearly normal */
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*seed >> 32) / 0x1p32;
    }
    return 1e-3 * exp(spread * sum) * (now_and_then && (*seed >> 40) % now_and_then == 0 ? 10 : 1);
}

static void view_budget_is_kept(void **state)
{
    static const struct {
        double spread;
        unsigned now_and_then;
    } of[] = {{0, 0}, {0.5, 0}, {1, 0}, {0.3, 20}};
    const double share = 0.005;
    (void)state;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        struct budget b = {.owed = 0};
        double spent = 0, waited = 0;
        uint64_t seed = 1;
        for (int i = 0; i < 20000; i++) {
            const double cost = some_cost(&seed, of[k].spread, of[k].now_and_then);
            spent += cost;
            waited += budget_wait(&b, cost, share);
        }
        assert_true(spent <= 1.01 * share * waited);
        assert_true(spent >=
                    0.5 * share * waited); /* and no picture less than that allows, or nearly so */
    }
}

static void view_budget_ignores_outlier(void **state)
{
    struct budget b = {.owed = 0};
    double waited = 0;
    (void)state;
    for (int i = 0; i < 30; i++)
        waited += budget_wait(&b, i == 10 ? 1 : 1e-3, 0.01);
    assert_in_range((uint64_t)(1000 * waited + 0.5), 2800,
                    4600); /* 2.9 s without it; 103 s if it were counted whole */
}

static void view_budget_counts_server_time(void **state)
{
    (void)state;
    assert_true(budget_server_share(1, 4) >= 1 &&
                budget_server_share(0.5, 64) >= 1); /* kernels on all processors */
    assert_true(budget_server_share(0, 8) <= 1. / 8 &&
                budget_server_share(1. / 64, 64) < 0.04); /* a thread that waits for a card */
    assert_true(budget_server_share(1, 1) >= 1 && budget_server_share(7, 4) <= 1);
}

/* The page as a viewer gets it: 150 kB at most, 50 kB on the wire by gzip. */
static void view_page_is_small(void **state)
{
    size_t n, size = 0, packed = 0;
    struct web_file *file = web_open(&n);
    (void)state;
    assert_non_null(file);
    for (size_t i = 0; i < n; i++)
        if (file[i].type) {
            size += file[i].size;
            packed += file[i].packed.used;
        }
    assert_in_range(size, 50000, 150000);
    assert_in_range(packed, can_pack() ? 10000 : 0, 50000);
    web_close(file, n);
}

/* main.js is all modules, without lines of imports, the word `export`, comments and indentation. */
static void modules_are_joined(void **state)
{
    size_t n;
    struct web_file *file = web_open(&n);
    (void)state;
    assert_non_null(file);
    const struct web_file *main = web_find(file, n, "main.js", strlen("main.js"));
    assert_non_null(main);
    char *text = test_malloc(main->size + 2);
    text[0] = '\n';
    memcpy(text + 1, main->text, main->size);
    text[main->size + 1] = 0;
    assert_null(strstr(text, "\nimport "));
    assert_null(strstr(text, "\nexport "));
    assert_null(strstr(text, "\n//"));
    assert_null(strstr(text, "\n "));
    assert_null(strstr(text, "\n\n"));
    assert_non_null(strstr(text, "\nfunction "));
    test_free(text);
    web_close(file, n);
}

/* ---- Opening. -------------------------------------------------------------------------------- */

static void view_rejects_bad_options(void **state)
{
    static const struct view_options bad[] = {{.rate = 1000},
                                              {.rate = -1},
                                              {.budget = 101},
                                              {.reserved = {1}},
                                              {.tokens = ""},
                                              {.tokens = "0123456789abcdef0123456789abcdef"},
                                              {.address = "8080x"},
                                              {.address = "70000"},
                                              {.address = "0.0.0.0:80"},
                                              {.address = "unix:"},
                                              {.address = "unix:/no/such/folder/socket"},
                                              {.address = "-", .record = "/no/such/folder/x.view"}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(view_open(&bad[i]));
        assert_true(strlen(clerror()) > 10);
    }
    assert_int_equal(view_close(NULL), 0);
    assert_string_equal(view_tokens(NULL), "");
    view_reopens(NULL);
    assert_int_equal(view_due(NULL), 0);
    assert_int_equal(view_viewers(NULL), 0);
}

/* After opening and closing, no descriptor is left. */
static void view_leaks_no_descriptor(void **state)
{
    const int before = dup(0);
    (void)state;
    close(before);
    for (int i = 0; i < 50; i++) {
        view *v = view_open(&(struct view_options){.program = "test", .points.total = 10});
        if (!v && clerrno == ENOTSUP)
            skip(); /* without libwebsockets */
        assert_non_null(v);
        assert_int_equal(strncmp(view_url(v, 0), "http://127.0.0.1:", 17), 0);
        assert_string_not_equal(view_url(v, 0), view_url(v, 1));
        assert_int_equal(view_due(v), 0);
        assert_int_equal(view_close(v), 0);
    }
    const int after = dup(0);
    close(after);
    assert_int_equal(before, after);
}

/* A permutation whose beginnings are fair: about half of the first tenth lies in the first half. */
static void view_order_is_fair_permutation(void **state)
{
    enum { N = 10000 };
    static unsigned char seen[N];
    uint32_t *which = about_order(N);
    size_t low = 0;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        assert_true(which[i] < N && !seen[which[i]]);
        seen[which[i]] = 1;
        low += i < N / 10 && which[i] < N / 2;
    }
    assert_true(low > 420 && low < 580); /* five standard deviations */
    free(which);
}

static void view_table_is_thinned(void **state)
{
    struct rows r = {.columns = 2};
    struct bytes b = {0};
    (void)state;
    for (int i = 0; i < 3 * MOST_ROWS; i++)
        rows_add(&r, (const double[]){i, -i});
    assert_true(r.n <= MOST_ROWS && r.thinned == 2);
    for (size_t i = 1; i < r.n; i++)
        assert_true(r.value[2 * i] - r.value[2 * i - 2] == 4);
    assert_true(frame_rows(&b, &r, r.n - 3, false));
    assert_int_equal(b.used, 40 + 3 * 16);
    assert_int_equal(bytes_read(b.at + 24, 4), r.n - 3);
    assert_true(bytes_read_f64(b.at + 40) == r.value[2 * (r.n - 3)]);
    bytes_free(&b);
    free(r.value);
}

/* ---- Rectangles of cells. -------------------------------------------------------------------- */

static void view_regions_are_cut(void **state)
{
    const struct view_field torus = {.width = 100, .height = 50, .bounds = "torus"},
                            plane = {.width = 100, .height = 50, .bounds = "plane"};
    struct view_region r = {-3, 60, 20, 20, 0};
    (void)state;
    assert_true(region_clip(&torus, &r) && r.x == 97 && r.y == 10 && r.width == 20 &&
                r.height == 20);
    r = (struct view_region){0, 0, 1000, 1000, 2};
    assert_true(region_clip(&torus, &r) && r.width == 25 && r.height == 13);
    r = (struct view_region){-3, 40, 20, 20, 0};
    assert_true(region_clip(&plane, &r) && r.x == 0 && r.y == 40 && r.width == 17 &&
                r.height == 10);
    r = (struct view_region){100, 0, 20, 20, 0};
    assert_false(region_clip(&plane, &r));
    r = (struct view_region){-(1LL << 53), -(1LL << 53), 4194304, 1, 24};
    assert_true(region_clip(&torus, &r) && r.x >= 0 && r.x < 100);
    assert_int_equal(view_cells_bytes(&(struct view_region){0, 0, 9, 3, 0}, 2), 6);
    assert_int_equal(view_cells_bytes(&(struct view_region){0, 0, 9, 3, 1}, 2), 27);
    assert_int_equal(view_cells_bytes(&(struct view_region){0, 0, 9, 3, 0}, 3), 27);
    assert_int_equal(view_cells_shade(0, 3), 0);
    assert_int_equal(view_cells_shade(1, 3), 1);
    assert_int_equal(view_cells_shade(64, 3), 255);
    assert_int_equal(view_cells_shade((uint64_t)1 << 48, 24), 255);
    assert_int_equal(view_cells_shade(1, 53), 1);
    assert_int_equal(view_cells_shade(UINT64_MAX, 53), 1); /* of 2^106 cells */
}

static void hear(struct viewer *w, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    assert_int_equal(viewer_receive(w, text, strlen(text)), 0);
}

static void want_from(struct viewer *w, int x)
{
    hear(w, "{\"type\":\"want\",\"cells\":{\"x\":%d,\"y\":0,\"width\":64,\"height\":8,\"zoom\":0}}",
         x);
}

/* Provide a new state, with the rectangle from x on. */
static void come(struct shown *s, int x)
{
    s->sequence++;
    s->n = 1;
    s->region[0] = (struct view_region){x, 0, 64, 8, 0};
    s->first.used = 0;
    bytes_more(&s->first, 64);
}

/* Return where the next frame of cells begins; -1: there is none. */
static int next_from(struct viewer *w)
{
    hear(w, "{\"type\":\"credit\",\"n\":1}");
    while (viewer_next(w))
        if (w->binary)
            return (int)bytes_read(w->out.at + HEADROOM + 24, 8);
    return -1;
}

/* A viewer that moves on before the requested frame arrives gets it meanwhile, and never goes
 * back. */
static void view_newer_request_replaces_older(void **state)
{
    struct view v = {.about.options.cells = {65536, 65536, "torus", "B3/S23"},
                     .lock = PTHREAD_MUTEX_INITIALIZER};
    struct latest latest = {0};
    struct shown *s = &latest.shown[CELLS];
    struct viewer w;
    (void)state;
    viewer_init(&w, &v, &latest, false);
    want_from(&w, 0);
    come(s, 0);
    assert_int_equal(next_from(&w), 0);
    for (int x = 8; x <= 40; x += 8)
        want_from(&w, x);
    come(s, 16);
    assert_int_equal(next_from(&w), 16);
    assert_int_equal(next_from(&w), -1); /* once */
    come(s, 8);
    assert_int_equal(next_from(&w), -1); /* not back */
    come(s, 32);
    want_from(&w, 48);
    assert_int_equal(next_from(&w), 32);
    come(s, 48);
    assert_int_equal(next_from(&w), 48);
    come(s, 32);
    assert_int_equal(next_from(&w), -1);
    for (int x = 0; x < 8 * 3 * FORMER; x += 8) /* no more are kept than there is room for */
        want_from(&w, x);
    come(s, 8);
    assert_int_equal(next_from(&w), -1);
    come(s, 8 * (3 * FORMER - 2));
    assert_int_equal(next_from(&w), 8 * (3 * FORMER - 2));
    viewer_free(&w);
    latest_free(&latest);
}

/* Return the bodies of the next frame; -1: there is none. */
static int next_bodies(struct viewer *w)
{
    hear(w, "{\"type\":\"credit\",\"n\":1}");
    while (viewer_next(w))
        if (w->binary)
            return (int)bytes_read(w->out.at + HEADROOM + 76, 4);
    return -1;
}

/* Equal bodies, requested in other words, are not sent again. */
static void view_same_request_is_not_repeated(void **state)
{
    enum { N = 100 };
    struct view v = {.about.options.points.total = N, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct latest latest = {.shown[POINTS] = some_bodies(N, 0)};
    struct viewer w;
    (void)state;
    viewer_init(&w, &v, &latest, false);
    hear(&w, "{\"type\":\"want\",\"points\":{\"count\":40000}}");
    assert_int_equal(next_bodies(&w), N);
    hear(&w, "{\"type\":\"want\",\"points\":{\"count\":%d,\"colour\":\"none\"}}", N);
    assert_int_equal(next_bodies(&w), -1);
    hear(&w, "{\"type\":\"want\",\"points\":{\"count\":%d}}", N - 1);
    hear(&w, "{\"type\":\"want\",\"points\":{\"count\":%d}}",
         N - 1); /* earlier changes stay pending */
    assert_int_equal(next_bodies(&w), N - 1);
    hear(&w, "{\"type\":\"want\",\"points\":{\"count\":%d,\"colour\":\"speed\"}}", N - 1);
    assert_int_equal(next_bodies(&w), N - 1);
    hear(&w, "{\"type\":\"want\",\"points\":{\"count\":%d,\"region\":[0,0,0,9,9,9]}}", N - 1);
    assert_true(next_bodies(&w) > 0);
    hear(&w, "{\"type\":\"want\",\"points\":{\"count\":%d,\"region\":[0,0,0,1,9,9]}}", N - 1);
    assert_true(next_bodies(&w) > 0);
    viewer_free(&w);
    latest_free(&latest);
}

/* Return the reason of the refusal of a message; "": the message was passed on. */
static const char *refusal_of(struct viewer *w, const char *text)
{
    static char why[200];
    hear(w, "%s", text);
    *why = 0;
    while (viewer_next(w)) {
        const char *at = memmem(w->out.at + HEADROOM, w->out.used - HEADROOM, "\"text\":\"", 8);
        if (memmem(w->out.at + HEADROOM, w->out.used - HEADROOM, "refused", 7) && at)
            sscanf(at, "\"text\":\"%199[^\"]", why);
    }
    return why;
}

/* A run is changed only by viewers with all rights, while it is paused, inside its grid; and begun
 * again only after its end. */
static void view_refuses_changes_with_reasons(void **state)
{
    static const char inside[] = "{\"type\":\"do\",\"what\":\"put\",\"x\":92,\"y\":49,"
                                 "\"width\":8,\"height\":1,\"cells\":\"ff\"}",
                      outside[] = "{\"type\":\"do\",\"what\":\"put\",\"x\":93,\"y\":49,"
                                  "\"width\":8,\"height\":1,\"cells\":\"ff\"}",
                      back[] = "{\"type\":\"do\",\"what\":\"step\",\"n\":-1}",
                      again[] = "{\"type\":\"do\",\"what\":\"again\"}";
    struct view v = {
        .about.options = {.cells = {100, 50, "plane", "B3/S23"},
                          .can = VIEW_CAN_STEP | VIEW_CAN_PUT | VIEW_CAN_BACK | VIEW_CAN_AGAIN},
        .lock = PTHREAD_MUTEX_INITIALIZER};
    struct latest latest = {0};
    struct viewer w, guest;
    (void)state;
    viewer_init(&w, &v, &latest, false);
    viewer_init(&guest, &v, &latest, true);
    assert_non_null(strstr(refusal_of(&w, inside), "pause it first"));
    assert_non_null(strstr(refusal_of(&w, back), "pause it first"));
    assert_non_null(strstr(refusal_of(&w, again), "has ended"));
    latest.state.paused = 1;
    assert_string_equal(refusal_of(&w, inside), "");
    assert_string_equal(refusal_of(&w, back), "");
    assert_int_equal(v.commands, 2);
    assert_int_equal(v.command[0].region.x, 92);
    assert_non_null(strstr(refusal_of(&w, outside), "outside"));
    assert_non_null(strstr(refusal_of(&guest, inside), "only look"));
    assert_non_null(strstr(refusal_of(&guest, again), "only look"));
    v.about.options.can = VIEW_CAN_STEP;
    assert_non_null(strstr(refusal_of(&w, inside), "cannot do that"));
    assert_non_null(strstr(refusal_of(&w, back), "cannot do that"));
    assert_non_null(strstr(refusal_of(&w, again), "cannot do that"));
    v.about.options.can = VIEW_CAN_PUT | VIEW_CAN_AGAIN;
    latest.ending = strdup("done");
    assert_non_null(strstr(refusal_of(&w, inside), "the run has ended"));
    assert_string_equal(refusal_of(&w, again), "");
    assert_int_equal(v.commands, 3);
    viewer_free(&w);
    viewer_free(&guest);
    latest_free(&latest);
}

/* Every different refusal arrives, however many are asked for before the first is sent; equal ones
 * are sent once. */
static void view_sends_every_different_refusal(void **state)
{
    static const char *const what[] = {"pause", "run",  "step",  "speed",
                                       "seek",  "quit", "again", "rule"};
    enum { WHAT = sizeof what / sizeof *what };
    struct view v = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct latest latest = {0};
    struct viewer w;
    size_t sent = 0, each[WHAT] = {0};
    (void)state;
    viewer_init(&w, &v, &latest, false);
    for (int times = 0; times < 30; times++)
        for (size_t i = 0; i < WHAT; i++)
            hear(&w,
                 "{\"type\":\"do\",\"what\":\"%s\",\"frame\":1,\"value\":1,\"rule\":\"B3/S23\"}",
                 what[i]);
    while (viewer_next(&w)) {
        char *text = strndup((const char *)w.out.at + HEADROOM, w.out.used - HEADROOM), name[40];
        if (strstr(text, "refused")) {
            sent++;
            for (size_t i = 0; i < WHAT; i++) {
                snprintf(name, sizeof name, "\"what\":\"%s\"", what[i]);
                each[i] += strstr(text, name) != NULL;
            }
        }
        free(text);
    }
    assert_int_equal(sent, WHAT);
    for (size_t i = 0; i < WHAT; i++)
        assert_int_equal(each[i], 1);
    viewer_free(&w);
    latest_free(&latest);
}

/* A view with the tokens and the port of an earlier one has its links. */
static void view_keeps_links_of_an_earlier_view(void **state)
{
    char url[2][160], tokens[80], port[16];
    view *v = view_open(&(struct view_options){.program = "test"});
    (void)state;
    if (!v && clerrno == ENOTSUP)
        skip();
    assert_non_null(v);
    for (int i = 0; i < 2; i++)
        snprintf(url[i], sizeof url[i], "%s", view_url(v, i));
    snprintf(tokens, sizeof tokens, "%s", view_tokens(v));
    assert_int_equal(strlen(tokens), 64);
    assert_int_equal(sscanf(url[0], "http://127.0.0.1:%15[0-9]/", port), 1);
    view_reopens(v);
    assert_int_equal(view_close(v), 0);
    v = view_open(&(struct view_options){.program = "test", .address = port, .tokens = tokens});
    assert_non_null(v);
    for (int i = 0; i < 2; i++)
        assert_string_equal(view_url(v, i), url[i]);
    assert_int_equal(view_close(v), 0);
}

/* The path between two frames reaches viewers of few bodies, all of it and with its times. */
static void view_path_is_sent(void **state)
{
    static const double mass[] = {1, 2}, times[] = {0.125, 0.25};
    static const float pos[2][3] = {{9, 8, 7}, {6, 5, 4}},
                       path[4][3] = {{1, 2, 3}, {4, 5, 6}, {-1, 0.5F, 0}, {7, 8, 9}};
    struct view *v = view_open(
        &(struct view_options){.address = "-",
                               .record = in_folder("path.view"),
                               .points = {.total = 2, .mass = mass, .moving = 1, .gravity = 1}});
    (void)state;
    assert_non_null(v);
    struct view_points p = {.at = {0.5, 5, 0},
                            .count = 2,
                            .pos = pos,
                            .vel = pos,
                            .instants = 2,
                            .path_time = times,
                            .path = path};
    p.instants = VIEW_INSTANTS + 1;
    assert_int_equal(view_show_points(v, &p), -1);
    assert_int_equal(clerrno, EINVAL);
    struct shown made = {.at = p.at, .n = 2};
    bytes_put(&made.first, pos, sizeof pos);
    bytes_put(&made.second, pos, sizeof pos);
    for (size_t i = 0; i < 2; i++) {
        bytes_put(&made.path, &times[i], sizeof *times);
        bytes_put(&made.path, path + 2 * i, 2 * sizeof *path);
    }
    char *text = bodies_text(&made);
    assert_non_null(text);
    assert_non_null(
        strstr(text, "\"path\":[[0.125,1.0,2.0,3.0,4.0,5.0,6.0],[0.25,-1.0,0.5,0.0,7.0,8.0,9.0]]"));
    free(text);
    shown_free(&made);
    p.instants = 2;
    while (!view_due(v))
        view_wait(v, 0.001);
    assert_int_equal(view_show_points(v, &p), 0);
    assert_int_equal(view_close(v), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(view_rejects_foreign_hosts),
        cmocka_unit_test(view_rejects_foreign_origins),
        cmocka_unit_test(view_tokens_are_checked),
        cmocka_unit_test(view_messages_are_parsed),
        cmocka_unit_test(view_rejects_bad_messages),
        cmocka_unit_test(view_deep_nesting_is_one_error),
        cmocka_unit_test(view_raw_frame_holds_bodies),
        cmocka_unit_test(view_frame_skips_non_finite),
        cmocka_unit_test(view_frame_holds_region_only),
        cmocka_unit_test(view_order_is_fair_permutation),
        cmocka_unit_test(view_table_is_thinned),
        cmocka_unit_test(view_regions_are_cut),
        cmocka_unit_test(view_codings_give_equal_bytes),
        cmocka_unit_test(view_cell_codings_give_equal_bytes),
        cmocka_unit_test(view_recording_plays_all_frames),
        cmocka_unit_test(view_recording_keeps_last_frame),
        cmocka_unit_test(view_recording_has_no_frame_twice),
        cmocka_unit_test(view_recording_survives_damage),
        cmocka_unit_test(view_difference_needs_frame_of_its_kind),
        cmocka_unit_test(view_grid_size_does_not_wrap),
        cmocka_unit_test(view_recording_survives_truncation_while_open),
        cmocka_unit_test(view_recording_appears_whole_or_not_at_all),
        cmocka_unit_test(view_recordings_of_one_name_stay_whole),
        cmocka_unit_test(view_recording_has_distributions),
        cmocka_unit_test(view_recording_makes_page),
        cmocka_unit_test(view_page_refuses_damaged_pictures),
        cmocka_unit_test(view_rejects_bad_options),
        cmocka_unit_test(view_budget_is_kept),
        cmocka_unit_test(view_budget_ignores_outlier),
        cmocka_unit_test(view_budget_counts_server_time),
        cmocka_unit_test(view_page_is_small),
        cmocka_unit_test(modules_are_joined),
        cmocka_unit_test(view_leaks_no_descriptor),
        cmocka_unit_test(view_newer_request_replaces_older),
        cmocka_unit_test(view_same_request_is_not_repeated),
        cmocka_unit_test(view_refuses_changes_with_reasons),
        cmocka_unit_test(view_limits_rules),
        cmocka_unit_test(view_sends_every_different_refusal),
        cmocka_unit_test(view_recordings_are_overlaid),
        cmocka_unit_test(view_keeps_links_of_an_earlier_view),
        cmocka_unit_test(view_path_is_sent),
    };
    return cmocka_run_group_tests(tests, files_create, files_remove);
}

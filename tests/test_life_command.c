/* test_life_command.c - `stdcl life` from the command line: files, reports, exit status, the
 * terminal.
 *
 *   test_life_command PATH_OF_STDCL
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "deep.h"

#include <jansson.h>
#include <stdcl.h>
#include <stdcl/view.h>
#include <math.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>

static const char *command;
static char out[1 << 16], err[1 << 16];

static void load_life_file(const char *name, char *text, size_t room)
{
    size_t size = 0;
    char *bytes = bytes_of(in_folder(name), &size);
    snprintf(text, room, "%s", bytes ? bytes : "");
    free(bytes);
}

/* Run `stdcl life ARGUMENTS` in the test's folder. */
static int run_life_command(const char *arguments)
{
    char line[2 * PATH_MAX + 1000];
    snprintf(line, sizeof line, "cd '%s' && '%s' life %s >out 2>err", files_folder, command,
             arguments);
    const int status = system(line);
    load_life_file("out", out, sizeof out);
    load_life_file("err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static void succeeds(const char *arguments)
{
    const int status = run_life_command(arguments);
    if (status != 0)
        fail_msg("stdcl life %s: status %d\n%s%s", arguments, status, out, err);
}

/* Fail unless the command fails with one line that contains `words`, and prints nothing to
 * standard output. */
static void expect_life_refused(int status, const char *words, const char *arguments)
{
    const int got = run_life_command(arguments);
    const char *newline = strchr(err, '\n');
    if (got != status || !strstr(err, words) || out[0] || !newline || newline[1])
        fail_msg("stdcl life %s: status %d, not %d with '%s'\n%s%s", arguments, got, status, words,
                 out, err);
}

static json_t *life_report(const char *arguments)
{
    char line[1000];
    json_error_t error;
    snprintf(line, sizeof line, "%s --json", arguments);
    succeeds(line);
    json_t *object = json_loads(out, 0, &error);
    if (!object)
        fail_msg("stdcl life %s: no JSON: %s\n%s", line, error.text, out);
    return object;
}

static json_int_t life_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value))
        fail_msg("no whole number under '%s'", key);
    return json_integer_value(value);
}

/* ---- The tests. ------------------------------------------------------------------------------ */

static const char gun[] =
    "x = 36, y = 9, rule = B3/S23:P400,400\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$"
    "2o8bo3bob2o4bobo$10bo5bo7bo$11bo3bo$12b2o!\n";

static void life_command_runs_pattern(void **state)
{
    (void)state;
    put_text(in_folder("gun.rle"), gun);
    for (int e = 0; e < 4; e++) {
        static const char *const engines[] = {"packed", "local", "global", "reference"};
        char line[200];
        snprintf(line, sizeof line, "-p gun.rle -n 300 --engine %s", engines[e]);
        json_t *r = life_report(line);
        assert_int_equal(life_number(r, "population"), 86);
        assert_int_equal(life_number(r, "generations"), 300);
        assert_int_equal(life_number(r, "width"), 400);
        assert_string_equal(json_string_value(json_object_get(r, "bounds")), "plane");
        assert_string_equal(json_string_value(json_object_get(r, "engine")), engines[e]);
        assert_string_equal(json_string_value(json_object_get(r, "rule")), "B3/S23");
        assert_string_equal(json_string_value(json_object_get(r, "program")), "life");
        assert_true(json_is_null(json_object_get(r, "period")));
        assert_true(json_is_number(json_object_get(r, "seconds")));
        assert_true(json_is_number(json_object_get(r, "cell_updates_per_s")));
        assert_true(json_is_string(json_object_get(r, "device")));
        json_decref(r);
    }
    succeeds("-p - -n 30 --bounds plane --size 100 --at 0,5 -q <gun.rle");
    assert_string_equal(out, "");
}

static void life_command_resumes_from_file(void **state)
{
    (void)state;
    static const char *const names[] = {"half.rle", "half.mc", "half.cells"};
    json_t *whole = life_report("--size 300x200 --seed 9 --rule highlife -n 200");
    for (int i = 0; i < 3; i++) {
        char line[200];
        snprintf(line, sizeof line, "--size 300x200 --seed 9 --rule B36/S23 -n 90 -q -o %s",
                 names[i]);
        succeeds(line);
        snprintf(line, sizeof line, "-p %s -n 110", names[i]);
        json_t *rest = life_report(line);
        assert_int_equal(life_number(rest, "population"), life_number(whole, "population"));
        assert_string_equal(json_string_value(json_object_get(rest, "rule")), "B36/S23");
        json_decref(rest);
    }
    json_decref(whole);
    succeeds("-p half.rle -n 10");
    assert_non_null(strstr(out, "from 90 to 100"));
}

/* The file left by a killed run holds the cells of one generation and records its number. */
static void life_command_killed_leaves_whole_file(void **state)
{
    (void)state;
    static const char how[] = "--size 200x150 --soup=0.3 --seed 4";
    char line[2 * PATH_MAX + 400];
    snprintf(
        line, sizeof line,
        "cd '%s' && { '%s' life %s -n 2^40 -q --every-minutes 1e-5 -o kept.mc -o kept.png & } && until [ -f kept.mc ]; do sleep 0.02; "
        "kill -0 $! || exit 1; done; kill -9 $!; wait $! 2>/dev/null; [ ! -f kept.png ]",
        files_folder, command, how);
    assert_int_equal(system(line), 0);
    succeeds("-p kept.mc -n 0");
    const char *count = strstr(out, "generations");
    const char *from = count ? strstr(count, ", from ") : NULL;
    assert_non_null(from);
    snprintf(line, sizeof line, "%s -n %llu -q -o whole.mc", how, strtoull(from + 7, NULL, 10));
    succeeds(line);
    snprintf(line, sizeof line, "cd '%s' && cmp kept.mc whole.mc", files_folder);
    assert_int_equal(system(line), 0);
    expect_life_refused(2, "--every-minutes needs a pattern to write",
                        "--every-minutes 1 -o x.png");
    expect_life_refused(2, "omit --every-minutes",
                        "--engine sparse -p kept.mc --every-minutes 1 -o x.mc");
}

static void life_command_stops_when_stable(void **state)
{
    (void)state;
    put_text(in_folder("blinker.rle"), "x = 3, y = 1, rule = B3/S23:T20,20\n3o!\n");
    json_t *r = life_report("-p blinker.rle --until-stable --csv blinker.csv");
    assert_int_equal(life_number(r, "period"), 2);
    assert_int_equal(life_number(r, "population"), 3);
    json_decref(r);
    char csv[1000];
    load_life_file("blinker.csv", csv, sizeof csv);
    assert_string_equal(csv, "generation,population\n0,3\n1,3\n2,3\n");
    succeeds("-p blinker.rle --until-stable");
    assert_non_null(strstr(out, "from generation 0, with period 2"));
}

static void life_command_writes_outputs(void **state)
{
    (void)state;
    if (run_life_command("--size 10 -n 1 -q -o try.png") != 0 && strstr(err, "libpng"))
        skip();
    succeeds("--size 100x60 -n 50 -q -o a.rle -o a.cells -o a.mc -o a.png -o a.csv --zoom 2");
    static const char *const names[] = {"a.rle", "a.cells", "a.mc", "a.png"};
    for (int i = 0; i < 4; i++)
        assert_int_equal(access(in_folder(names[i]), R_OK), 0);
    size_t size;
    char *csv = bytes_of(in_folder("a.csv"), &size);
    int lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += csv[i] == '\n';
    free(csv);
    assert_int_equal(lines, 52); /* names, generations 0 to 50 */
    expect_life_refused(2, "10 pictures need at least 9 generations, but the run has 4",
                        "glider -n 4 -q -o f.png --frames 10");
    expect_life_refused(2, "give --frames 5 or fewer", "--size 64 -n 4 -q -o f.png --frames 10");
    if (system("command -v ffmpeg >/dev/null 2>&1") == 0) { /* a film has each generation once */
        succeeds("--size 64 -n 4 -q -o g.gif -o g.png");
        assert_int_equal(access(in_folder("g-0005.png"), R_OK), 0);
        assert_int_not_equal(access(in_folder("g-0006.png"), R_OK), 0);
    }
    succeeds("--size 64 -n 20 -q -o f.png --frames 3");
    assert_int_equal(access(in_folder("f-0003.png"), R_OK), 0);
    assert_int_not_equal(access(in_folder("f-0004.png"), R_OK), 0);
    if (system("command -v ffmpeg >/dev/null") == 0) { /* a film of 100 frames, and the end */
        succeeds("--size 64 -n 20 -q -o end.png");
        succeeds("--size 64 -n 20 -q -o last.png -o f.webm");
        check_same_files("end.png", "last.png");
        assert_int_not_equal(access(in_folder("last-0001.png"), R_OK), 0);
    }
    succeeds("--size 10 -n 0 -o - --seed 4");
    assert_non_null(strstr(out, "rule = B3/S23:T10,10"));
    assert_non_null(strstr(err, "generations"));
}

static void life_command_compares_engines(void **state)
{
    (void)state;
    json_t *r = life_report("--compare --size 70x50 -n 20"),
           *engines = json_object_get(r, "engines");
    assert_int_equal(json_array_size(engines), 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(json_is_true(json_object_get(json_array_get(engines, i), "equal")));
        assert_true(json_number_value(
                        json_object_get(json_array_get(engines, i), "cell_updates_per_s")) > 0);
    }
    json_decref(r);
}

/* A gun of 36 cells that has fired 2^40 / 30 times, in full periods; and the files of an
 * unbounded plane. */
static void life_command_hashlife_runs_plane(void **state)
{
    (void)state;
    put_text(in_folder("plane.rle"),
             "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$"
             "2o8bo3bob2o4bobo$10bo5bo7bo$11bo3bo$12b2o!\n");
    json_t *at = life_report("-p plane.rle --engine hashlife -n 3e13 -o far.mc");
    assert_true(life_number(at, "population") == 36 + 5 * (json_int_t)1000000000000);
    json_decref(at);
    at = life_report("-p far.mc --engine hashlife -n 2^61 --memory 64M --threads 2 -o far.mc");
    assert_true(life_number(at, "generation") == 30000000000000 + ((json_int_t)1 << 61));
    json_decref(at);
    at = life_report(
        "-p plane.rle --engine hashlife -n 300 --step 30 --csv plane.csv -o near.rle -o near.png -o near.mc");
    assert_int_equal(life_number(at, "population"), 86);
    json_decref(at);
    char text[500];
    load_life_file("plane.csv", text, sizeof text);
    assert_string_equal(
        text,
        "generation,population\n0,36\n30,41\n60,46\n90,51\n120,56\n150,61\n180,66\n210,71\n240,76\n270,81\n300,86\n");
    json_t *rle = life_report("-p near.rle --engine hashlife -n 1000"),
           *mc = life_report("-p near.mc --engine hashlife -n 1000");
    assert_true(json_equal(json_object_get(rle, "box"), json_object_get(mc, "box")));
    assert_int_equal(life_number(rle, "population"), life_number(mc, "population"));
    assert_int_equal(life_number(rle, "generation"), 1300);
    json_decref(rle);
    json_decref(mc);
    at = life_report(
        "-p plane.rle --engine hashlife -n 7 --rule B0123478/S01234678 --csv plane.csv"); /* Life
                                                                                             with
                                                                                             alive
                                                                                             and
                                                                                             dead
                                                                                             exchanged
                                                                                           */
    assert_int_equal(life_number(at, "population"), 48);
    json_decref(at);
    load_life_file("plane.csv", text, sizeof text);
    assert_non_null(strstr(text, "\n6,"));
    expect_life_refused(1, "write a macrocell file, .mc",
                        "-p far.mc --engine hashlife -n 0 -q -o far.rle");
    expect_life_refused(2, "omit --size", "-p plane.rle --engine hashlife --size 100");
    expect_life_refused(2, "needs --pattern FILE", "--engine hashlife");
    expect_life_refused(
        2,
        "applies only to --engine hashlife or sparse, or to Larger than Life without a grid, but "
        "the engine is packed: --size",
        "-p plane.rle --memory 1G --size 100");
    expect_life_refused(2, "in plain C, but B3/S23 runs on a grid with the engine",
                        "-p plane.rle --threads 2 --size 100");
    succeeds("--rule R5,C0,M1,S34..58,B34..45,NM --size 100 --threads 1 -n 1");
    expect_life_refused(2, "omit --device", "-p plane.rle --engine hashlife --device cpu");
    expect_life_refused(2, "omit --profile", "-p plane.rle --engine hashlife --profile");
    expect_life_refused(2, "omit --trace", "-p plane.rle --engine hashlife --trace t.json");
    expect_life_refused(2, "not a size of memory", "-p plane.rle --engine hashlife --memory much");
    expect_life_refused(2, "life: 1024 bytes of memory are too few",
                        "-p plane.rle --engine hashlife --memory 1K");
    expect_life_refused(2, "would be a film", "-p plane.rle --engine hashlife -o film.mp4");
    expect_life_refused(2, "--zoom needs a picture", "-p plane.rle --engine hashlife --zoom 2");
    expect_life_refused(2, "omit --at", "-p far.mc --engine hashlife --at 3,4");
    put_text(in_folder("torus.rle"), gun);
    expect_life_refused(2, "is a bounded grid", "-p torus.rle --engine hashlife");
    expect_life_refused(2, "--threads", "-p plane.rle --engine hashlife --threads 65");
}

/* Files cost the live cells, not the area between them: two gliders 3 * 10^7 apart, and cells of
 * several states. bgolly writes the same rows. */
static void life_command_writes_wide_planes(void **unused)
{
    static const char *const engines[] = {"hashlife", "sparse"};
    char text[500];
    (void)unused;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        put_text(in_folder("wide.lif"), "#Life 1.06\n1 0\n2 1\n0 2\n1 2\n2 2\n30000001 30000000\n"
                                        "30000002 30000001\n30000000 30000002\n"
                                        "30000001 30000002\n30000002 30000002\n");
        snprintf(text, sizeof text, "wide.lif -n 1000 --engine %s -o w.rle -o w.lif -o w.mc",
                 engines[i]);
        json_t *at = life_report(text),
               *want = json_pack("[i, i, i, i]", 250, 250, 30000253, 30000253);
        assert_true(json_equal(json_object_get(at, "box"), want));
        json_decref(want);
        json_decref(at);
        load_life_file("w.rle", text, sizeof text);
        assert_string_equal(text, "#CXRLE Pos=250,250 Gen=1000\n"
                                  "x = 30000003, y = 30000003, rule = B3/S23\n"
                                  "bo$2bo$3o29999998$30000001bo$30000002bo$30000000b3o!\n");
        load_life_file("w.lif", text, sizeof text);
        assert_string_equal(text, "#Life 1.06\n251 250\n252 251\n250 252\n251 252\n252 252\n"
                                  "30000251 30000250\n30000252 30000251\n30000250 30000252\n"
                                  "30000251 30000252\n30000252 30000252\n");
    }
    put_text(in_folder("wide.rle"), "x = 30000003, y = 30000003\nbo$2bo$3o29999998$30000001bo$"
                                    "30000002bo$30000000b3o!\n");
    snprintf(text, sizeof text, "cd '%.200s' && '%.200s' view wide.rle -q -o wide.html",
             files_folder, command);
    assert_int_equal(system(text), 0);
    snprintf(text, sizeof text, "cd '%.200s' && '%.200s' view wide.rle -n 9 -q --record wide.view",
             files_folder, command);
    assert_int_equal(system(text), 0);
    view_recording *r = view_recording_open(in_folder("wide.view"));
    ready(r);
    assert_int_equal(view_recording_frames(r), 10); /* each generation is a frame */
    for (size_t i = 0; i < 10; i++)
        assert_true(view_recording_time(r, i) == (double)i);
    view_recording_close(r);
    put_text(in_folder("wide.lif"), "#Life 1.06\n0 0\n500000000000 1\n");
    expect_life_refused(1, "plain text has a character for each cell",
                        "wide.lif -n 0 -q -o w.cells");
    put_text(in_folder("wires.rle"),
             "#CXRLE Pos=0,0\nx = 900000001, y = 700000001, rule = WireWorld\n"
             "BA3C700000000$900000000bC!\n");
    put_text(in_folder("WireWorld.rule"),
             "@RULE WireWorld\n@TABLE\nn_states:4\nneighborhood:Moore\nsymmetries:permute\n"
             "var a={0,1,2,3}\nvar b=a\nvar c=a\nvar d=a\nvar e=a\nvar f=a\nvar g=a\nvar h=a\n"
             "var i={0,2,3}\nvar j=i\nvar k=i\nvar l=i\nvar m=i\nvar n=i\nvar o=i\n"
             "1,a,b,c,d,e,f,g,h,2\n2,a,b,c,d,e,f,g,h,3\n3,1,i,j,k,l,m,n,o,1\n"
             "3,1,1,i,j,k,l,m,n,1\n");
    succeeds("wires.rle -n 2 -o wired.rle");
    load_life_file("wired.rle", text, sizeof text);
    assert_string_equal(text,
                        "#CXRLE Pos=0,0 Gen=2\nx = 900000001, y = 700000001, rule = WireWorld\n"
                        "2CBAC700000000$900000000.C!\n");
}

/* Columns and rows are equal in the report, in JSON and in RLE files, which Golly reads. The
 * pattern in a macrocell file has its first cell at 0,1. */
static void life_command_has_one_origin(void **unused)
{
    static const char *const engines[] = {"hashlife", "sparse"};
    char text[500];
    (void)unused;
    put_text(in_folder("tub.rle"), "x = 3, y = 3\nbo$obo$bo!\n");
    put_text(in_folder("tub.mc"), "[M2]\n#R B3/S23\n.*$*.*$.*$$$$$$\n4 0 0 0 1\n");
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        snprintf(text, sizeof text, "-p tub.rle -n 2 --engine %s --at 5,-7 -o at.rle", engines[i]);
        json_t *at = life_report(text), *want = json_pack("[i, i, i, i]", 5, -7, 8, -4);
        assert_true(json_equal(json_object_get(at, "box"), want));
        json_decref(want);
        json_decref(at);
        load_life_file("at.rle", text, sizeof text);
        assert_non_null(strstr(text, "Pos=5,-7"));
        snprintf(text, sizeof text, "-p at.rle -n 2 --engine %s", engines[i]);
        succeeds(text);
        assert_non_null(strstr(out, "columns 5 to 7, rows -7 to -5\n"));
        snprintf(text, sizeof text, "-p tub.mc -n 2 --engine %s", engines[i]);
        succeeds(text);
        assert_non_null(strstr(out, "columns 0 to 2, rows 1 to 3\n"));
    }
}

/* Generations above 2^64 are kept in RLE and macrocell files, with an odd number of generations
 * under a rule with B0, which has a different phase in odd ones. */
static void life_command_counts_late_generations(void **unused)
{
    static const char *const engines[] = {"--engine hashlife", "--engine sparse", "--size 64"};
    char text[500];
    (void)unused;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        snprintf(text, sizeof text, "-p late.rle -n 3 %s -o later.rle -o later.mc", engines[i]);
        put_text(in_folder("late.rle"), "#CXRLE Pos=0,0 Gen=18446744073709551615\n"
                                        "x = 3, y = 1, rule = B3/S23\n3o!\n");
        succeeds(text);
        assert_non_null(strstr(out, "from 18446744073709551615 to 18446744073709551618"));
        load_life_file("later.rle", text, sizeof text);
        assert_non_null(strstr(text, "Gen=18446744073709551618\n"));
        load_life_file("later.mc", text, sizeof text);
        assert_non_null(strstr(text, "#G 18446744073709551618\n"));
    }
    put_text(in_folder("late.mc"),
             "[M2]\n#R B3/S23\n#G 170141183460469231731687303715884105724\n..*$...*$.***$$$$$\n");
    json_t *at = life_report("-p late.mc --engine hashlife -n 3");
    assert_string_equal(json_string_value(json_object_get(at, "generation")),
                        "170141183460469231731687303715884105727");
    json_decref(at);
    put_text(in_folder("late.rle"), "#CXRLE Gen=170141183460469231731687303715884105728\n"
                                    "x = 3, y = 1\n3o!\n");
    expect_life_refused(1, "line 1, column 12: the generation is 2^127 or more", "-p late.rle");
    put_text(in_folder("late.rle"), "#CXRLE Gen=18446744073709551617\n"
                                    "x = 3, y = 1, rule = B01357/S2468\n3o!\n");
    put_text(in_folder("soon.rle"), "#CXRLE Gen=1\nx = 3, y = 1, rule = B01357/S2468\n3o!\n");
    json_t *late = life_report("-p late.rle -n 4"), *soon = life_report("-p soon.rle -n 4");
    assert_int_equal(life_number(late, "population"), life_number(soon, "population"));
    json_decref(late);
    json_decref(soon);
}

/* The engine sparse gives equal results, and each engine reads the other's files. */
static void life_command_sparse_runs_plane(void **state)
{
    (void)state;
    put_text(in_folder("plane.rle"),
             "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$"
             "2o8bo3bob2o4bobo$10bo5bo7bo$11bo3bo$12b2o!\n");
    char text[500];
    json_t *at = life_report(
        "-p plane.rle --engine sparse -n 300 --step 30 --csv plane.csv -o near.rle -o near.png -o near.mc --memory 4M");
    assert_int_equal(life_number(at, "population"), 86);
    assert_true(life_number(at, "tiles") > 0 && life_number(at, "tile_bytes") > 0 &&
                life_number(at, "tiles_computed") > 0);
    json_decref(at);
    load_life_file("plane.csv", text, sizeof text);
    assert_string_equal(
        text,
        "generation,population\n0,36\n30,41\n60,46\n90,51\n120,56\n150,61\n180,66\n210,71\n240,76\n270,81\n300,86\n");
    json_t *tree = life_report("-p near.mc --engine hashlife -n 1000"),
           *rle = life_report("-p near.rle --engine sparse -n 1000"),
           *mc = life_report("-p near.mc --engine sparse -n 1000");
    for (int i = 0; i < 2; i++) {
        json_t *other = i ? rle : mc;
        assert_true(json_equal(json_object_get(tree, "box"), json_object_get(other, "box")));
        assert_int_equal(life_number(tree, "population"), life_number(other, "population"));
        assert_int_equal(life_number(other, "generation"), 1300);
        json_decref(other);
    }
    json_decref(tree);
    succeeds("-p plane.rle --engine sparse -n 50 --record r.view -q");
    succeeds("-p plane.rle --engine sparse -n 1e18 --rule B/S8 --explain -q"); /* all is dead at
                                                                                  once, and that
                                                                                  takes no time */
    assert_non_null(strstr(err, "engine sparse: selected by --engine"));
    assert_non_null(strstr(err, "tile=48"));
    expect_life_refused(2, "under the rule B03/S23 (B0) an empty plane becomes alive",
                        "-p plane.rle --engine sparse --rule B03/S23");
    expect_life_refused(2, "of more than two states",
                        "-p plane.rle --engine sparse --rule 345/2/4");
    expect_life_refused(1, "the 1 MiB for tiles are used up",
                        "-p plane.rle --engine sparse --rule B3/S12345678 -n 100000 --memory 1M");
    expect_life_refused(2, "omit --size", "-p plane.rle --engine sparse --size 100");
    expect_life_refused(2, "needs --pattern FILE", "--engine sparse");
    expect_life_refused(2, "--threads applies only to --engine hashlife",
                        "-p plane.rle --engine sparse --threads 2");
    expect_life_refused(
        2, "applies only to --engine hashlife or sparse, but the engine is packed: --size",
        "-p plane.rle --step 3 --size 100");
    expect_life_refused(2, "would be a film", "-p plane.rle --engine sparse -o film.mp4");
    put_text(in_folder("torus.rle"), gun);
    expect_life_refused(2, "is a bounded grid, but --engine sparse is unbounded",
                        "-p torus.rle --engine sparse");
}

static void check_choice(const char *engine, const char *why, const char *arguments)
{
    char line[200];
    snprintf(line, sizeof line, "%s --explain --quiet", arguments);
    succeeds(line);
    snprintf(line, sizeof line, "engine %s: ", engine);
    if (!strstr(err, line) || !strstr(err, why))
        fail_msg("stdcl life %s: not '%s' because '%s'\n%s", arguments, engine, why, err);
}

static void life_command_chooses_engine(void **state)
{
    (void)state;
    put_text(in_folder("free.rle"), "x = 3, y = 3\nbo$2bo$3o!\n");
    put_text(in_folder("held.rle"), "x = 3, y = 3, rule = B3/S23:T300\nbo$2bo$3o!\n");
    check_choice("hashlife", "has no grid", "-p free.rle -n 8");
    check_choice("hashlife", "has no grid", "-p free.rle --record r.view -n 8");
    check_choice("hashlife", "has no grid", "-p held.rle --rule B36/S23 -n 8");
    check_choice("packed", "names a grid", "-p held.rle -n 8000");
    check_choice("packed", "--rule names a bounded grid", "-p free.rle --rule B3/S23:T300 -n 8000");
    check_choice("packed", "--size applies only to bounded grids",
                 "-p free.rle --size 300 -n 8000");
    check_choice("sparse", "--device selects", "-p free.rle --device 0 -n 8");
    check_choice("sparse", "--profile applies only to", "-p free.rle --profile -n 8");
    check_choice("packed", "--device selects", "-p free.rle --device 0 --rule 345/2/4 -n 8000");
    check_choice("hashlife", "a long run also tries sparse", "-p free.rle -n 8");
    check_choice("hashlife", "unbounded plane\n", "-p free.rle --rule 345/2/4 -n 8");
    check_choice("hashlife", "unbounded plane\n", "-p free.rle --threads 1 -n 8");
    check_choice("hashlife", "a quadtree of distinct squares", "-p free.rle -n 8");
    check_choice("packed", "a bit a cell, several generations", "-p free.rle --size 300 -n 8000");
    check_choice("packed", "a byte a cell",
                 "--engine packed --rule R2,C0,M1,S3..8,B5..9,NM:T400 -n 8");
    check_choice(stdgpu ? "packed" : "reference", stdgpu ? "a byte a cell" : "faster than a kernel",
                 "--rule R2,C0,M1,S3..8,B5..9,NM:T800 -n 8000");
    check_choice("reference", "unbounded plane in plain C",
                 "-p free.rle --rule R2,C0,M1,S3..8,B5..9,NM -n 8");
    check_choice("reference", "selected by",
                 "-p free.rle --engine reference --rule R2,C0,M1,S3..8,B5..9,NM -n 8");
    check_choice("packed", "random cells", "--seed 4 -n 8000");
    check_choice("packed", "random cells", "-p free.rle --soup -n 8000");
    check_choice("reference", "selected by", "-p free.rle --engine reference -n 8");
    /* Small runs are in plain C, unless an option asks for a device. */
    static const char *const small[] = {"-p held.rle -n 8", "--size 64 -n 100 --rule B3678/S1235",
                                        "--size 40 -n 20 --rule R2,C0,M1,S3..8,B5..9,NM",
                                        "-n 30 --rule B2-a/S12:K60*,60"};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        char line[200];
        check_choice("reference", "few cells and generations", small[i]);
        json_t *plain = life_report(small[i]);
        snprintf(line, sizeof line, "%s --engine packed", small[i]);
        json_t *packed = life_report(line);
        assert_string_equal(json_string_value(json_object_get(plain, "engine")), "reference");
        assert_int_equal(life_number(plain, "population"), life_number(packed, "population"));
        json_decref(plain);
        json_decref(packed);
    }
}

/* HashLife computes for 0.25 s of processor time before sparse starts, however long it has to wait
 * for a processor: here it is stopped for most of the time. */
static void life_command_race_ignores_busy_machine(void **unused)
{
    char line[2 * PATH_MAX + 200];
    struct rusage used;
    int status = 0;
    (void)unused;
    put_text(in_folder("acorn.rle"), "x = 7, y = 3\nbo$3bo$2o2b3o!\n");
    snprintf(line, sizeof line,
             "cd '%s' && exec '%s' life acorn.rle -n 5206 --explain -q >out 2>err", files_folder,
             command);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    const struct timespec run = {0, 3000000}, stopped = {0, 60000000};
    while (wait4(child, &status, WNOHANG, &used) == 0) {
        nanosleep(&run, NULL);
        kill(child, SIGSTOP);
        nanosleep(&stopped, NULL);
        kill(child, SIGCONT);
    }
    assert_int_equal(status, 0);
    load_life_file("err", err, sizeof err);
    assert_non_null(strstr(err, "engine hashlife"));
    const double seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    if (seconds < 0.2 && strstr(err, "engine sparse"))
        fail_msg("sparse started after %g s of processor time:\n%s", seconds, err);
}

/* The population of the tutorial of 2009. */
static void life_command_gives_population_of_tutorial(void **unused)
{
    (void)unused;
    json_t *r = life_report("--seed 1985 --size 1024 -n 1024");
    assert_int_equal(life_number(r, "population"), 45224);
    json_decref(r);
}

/* Populations that bgolly 5 gives after 4 and 5 generations of this pattern, for every
 * neighbourhood of Larger than Life, with lists of counts, B0, weights and triangles. */
static void life_command_larger_than_life_as_golly(void **unused)
{
    static const char pattern[] =
        "x = 12, y = 11\noboboobobooo$obooooobooob$obobobobbboo$boobbbboobob$obbbbboobbob$"
        "bbooooooobbo$oobboboobooo$ooooboooobob$bbboooobbobo$bobobbbboboo$boooobooobbo!\n";
    static const struct {
        const char *rule;
        int population[2];
    } known[] = {
        {"R3,C0,S0-1,5-9,B4-7,N+", {106, 110}},
        {"R4,C3,S3-9,B4-7,NX", {283, 327}},
        {"R2,C0,S4-9,B5-7,N*", {137, 174}},
        {"R3,C0,S4-9,B5-7,11-12,N#", {152, 173}},
        {"R3,C0,S0,7-12,15,B8,12,14-20,N2", {92, 100}},
        {"R2,C0,S4-7,9-12,B4,11-12,NB", {41, 26}},
        {"R4,C0,S12-20,B11-17,ND", {189, 190}},
        {"R3,C0,S10-18,B11-17,NH", {85, 73}},
        {"R3,C0,S4-9,B5-7,NA", {169, 151}},
        {"R3,C0,S2-5,B3-4,N3", {145, 192}},
        {"R2,C6,S9-16,B8-13,NL", {349, 374}},
        {"R3,C0,S60-120,B54-90,NG", {117, 133}},
        {"R2,C0,M1,S20..40,B16..30,NG", {147, 152}},
        {"R2,C0,S2-5,B2-3,N@F91892L", {230, 295}},
        {"R2,C0,M1,S2..6,B3..3,N@F91892", {138, 155}},
        {"R1,C0,S4-9,B5-8,NW1234f1323L", {76, 94}},
        {"R1,C0,S20-60,B25-50,NW0810080a850a081008", {129, 134}},
        {"R1,C4,S4-19,B5-18,NW123401323,012A", {273, 267}},
        {"R2,C0,S9-14,B0-1,9-13", {193, 294}},
        {"R2,C0,S9-14,24,B0-1,8-13", {362, 690}},
        {"R3,C0,S5-9,36,B0,8-20,NH", {764, 849}},
        {"R2,C0,S6-12,B0,8-15,NC", {298, 358}},
        {"R2,C0,S6-12,B0-4,NL", {63, 129}},
    };
    char options[PATH_MAX + 200];
    (void)unused;
    put_text(in_folder("large.rle"), pattern);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int later = 0; later < 2; later++) {
            snprintf(options, sizeof options, "%s --rule '%s' -n %d", in_folder("large.rle"),
                     known[i].rule, 4 + later);
            json_t *r = life_report(options);
            assert_string_equal(json_string_value(json_object_get(r, "bounds")), "none");
            if (life_number(r, "population") != known[i].population[later])
                fail_msg("%s: generation %d has a population of %lld, not %d", known[i].rule,
                         4 + later, (long long)life_number(r, "population"),
                         known[i].population[later]);
            json_decref(r);
        }
}

/* Triangles on planes and grids at even and odd positions, populations by bgolly 5. */
static void life_command_turns_triangles_as_golly(void **unused)
{
    static const char cells[] = "3o$bo$2bobo$3o3b2o$4bobobo$b3o3bo$2b2o2b2o$o3b3o$bobo2bo";
    static const struct {
        const char *header, *rule;
        int population; /* after 3 generations */
    } known[] = {
        {"", "R1,C0,S4-7,B3-5,NL", 89},
        {"#CXRLE Pos=0,0\n", "R1,C0,S4-7,B3-5,NL", 89},
        {"#CXRLE Pos=7,-10\n", "R1,C0,S4-7,B3-5,NL", 66},
        {"#CXRLE Pos=7,-10\n", "R1,C0,S4-7,B3-5,NL:T42,40", 89},
        {"", "R2,C0,S3-6,B4-5,N@06E5C0L", 25},
        {"#CXRLE Pos=0,0\n", "R2,C0,S3-6,B4-5,N@06E5C0L", 25},
        {"#CXRLE Pos=7,-10\n", "R2,C0,S3-6,B4-5,N@06E5C0L", 38},
        {"#CXRLE Pos=7,-10\n", "R2,C0,S3-6,B4-5,N@06E5C0L:T42,40", 25},
        {"", "R1,C0,S4-9,B5-8,NW1234f1323L", 35},
        {"#CXRLE Pos=0,0\n", "R1,C0,S4-9,B5-8,NW1234f1323L", 35},
        {"#CXRLE Pos=7,-10\n", "R1,C0,S4-9,B5-8,NW1234f1323L", 26},
        {"#CXRLE Pos=7,-10\n", "R1,C0,S4-9,B5-8,NW1234f1323L:T42,40", 35},
    };
    char text[300];
    (void)unused;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        snprintf(text, sizeof text, "%sx = 9, y = 9, rule = %s\n%s!\n", known[i].header,
                 known[i].rule, cells);
        put_text(in_folder("triangles.rle"), text);
        json_t *r = life_report("triangles.rle -n 3");
        if (life_number(r, "population") != known[i].population)
            fail_msg("%s%s: a population of %lld, not %d", known[i].header, known[i].rule,
                     (long long)life_number(r, "population"), known[i].population);
        json_decref(r);
    }
}

/* A pattern is identified by name or file; other operands and options are refused. */
static void life_command_identifies_pattern(void **unused)
{
    (void)unused;
    put_text(in_folder("ship.rle"), "x = 3, y = 3\nbo$2bo$3o!\n");
    json_t *r = life_report("identify ship.rle");
    assert_string_equal(json_string_value(json_object_get(r, "kind")), "spaceship");
    assert_string_equal(json_string_value(json_object_get(r, "apgcode")), "xq4_153");
    assert_string_equal(json_string_value(json_object_get(r, "speed")), "c/4 diagonal");
    assert_int_equal(life_number(r, "period"), 4);
    json_decref(r);
    succeeds("identify gun");
    assert_non_null(strstr(out, "period        30"));
    assert_non_null(strstr(out, "growth        5 cells"));
    expect_life_refused(2, "give the pattern to identify", "identify");
    expect_life_refused(2, "one pattern is identified", "identify ship.rle gun");
    expect_life_refused(2, "--size", "identify ship.rle --size 100");
    expect_life_refused(2, "that identify uses is unbounded; give --rule without a grid",
                        "identify ship.rle --rule B3/S23:T100");
    expect_life_refused(2, "identify and -o cannot be combined", "identify ship.rle -o a.rle");
    expect_life_refused(2, "which the engine hashlife does not compute",
                        "identify ship.rle --rule R2,C0,S2,B3,N+");
    expect_life_refused(2, "identify needs at least one generation", "identify ship.rle -n 0");
    expect_life_refused(2, "identify and --device cannot be combined",
                        "identify ship.rle --device cpu");
}

/* A file of rules is swept: a line a rule of the table, in its order. */
static void life_command_sweeps_rules(void **unused)
{
    char table[2000];
    (void)unused;
    put_text(in_folder("rules.txt"), "# two rules\nhighlife\n\nB/S\n");
    succeeds("sweep rules.txt --soups 2 --seed 3 -n 40 --csv rules.csv");
    assert_non_null(strstr(out, "rules         2, each with 2 soups"));
    load_life_file("rules.csv", table, sizeof table);
    assert_non_null(
        strstr(table, "rule,class,density,activity,extinct,settled,period\nB36/S23,active,"));
    assert_non_null(strstr(table, "\nB/S,extinct,0,0,2,2,1\n"));
    json_t *r = life_report("sweep rules.txt --soups 2 --seed 3 -n 40");
    assert_int_equal(json_array_size(json_object_get(r, "sweep")), 2);
    assert_int_equal(life_number(json_array_get(json_object_get(r, "sweep"), 1), "period"), 1);
    json_decref(r);
    put_text(in_folder("wrong.txt"), "B3/S23\nB3/Q\n");
    expect_life_refused(1, "wrong.txt: line 2: 'B3/Q'", "sweep wrong.txt");
    put_text(in_folder("family.txt"), "B3/S23\nR2,C0,M1,S2..3,B3..3,NM\n");
    expect_life_refused(1, "family.txt: line 2: 'R2,C0,M1,S2..3,B3..3,NM' is Larger than Life",
                        "sweep family.txt");
    put_text(in_folder("family.txt"), "# two rules\nB3/S23|B36/S23\n");
    expect_life_refused(1, "family.txt: line 2: 'B3/S23|B36/S23' is of two rules that alternate",
                        "sweep family.txt");
    put_text(in_folder("family.txt"), "B3/S23\nLifeHistory\n");
    expect_life_refused(1, "family.txt: line 2: 'LifeHistory' is annotated", "sweep family.txt");
    expect_life_refused(2, "identify uses the engine hashlife, which does not compute the rule R2",
                        "identify --rule R2,C0,M0,S2..3,B3..3,NM glider");
    expect_life_refused(1, "has memory for rectangles around cells that are near each other",
                        "glider --rule R2,C0,M0,S2..3,B3..3,NM --memory 1");
    put_text(in_folder("mixed.txt"), "B2-a/S12\nB3/S23\n345/2/4\n");
    succeeds("sweep mixed.txt --soups 1 -n 40 --csv mixed.csv");
    load_life_file("mixed.csv", table, sizeof table);
    const char *isotropic = strstr(table, "\nB2-a/S12,");
    assert_non_null(isotropic);
    assert_non_null(isotropic = strstr(isotropic, "\nB3/S23,"));
    assert_non_null(strstr(isotropic, "\n345/2/4,"));
    put_text(in_folder("host.txt"), "B2-a/S12\n345/2/4\n");
    succeeds("sweep host.txt --soups 1 -n 40 --device nonesuch");
    contains(out, "device        host");
    FILE *fp = fopen(in_folder("null.txt"), "w");
    assert_true(fp && fwrite("B3/S23\0B36/S23\n", 1, 15, fp) == 15 && fclose(fp) == 0);
    expect_life_refused(1, "null.txt: line 1: has a null byte", "sweep null.txt");
    put_text(in_folder("none.txt"), "# nothing\n");
    expect_life_refused(1, "none.txt: has no rule", "sweep none.txt");
    expect_life_refused(1, "absent.txt: No such file", "sweep absent.txt");
    expect_life_refused(2, "one file of rules", "sweep a b");
    expect_life_refused(2, "sweep and --size cannot be combined", "sweep --size 100");
    expect_life_refused(2, "at most 65536 soups", "sweep --soups 1e9");
    expect_life_refused(2, "--generations: a sweep has 1 to", "sweep -n 0");
}

/* With minimal time slices the two engines alternate, and cells are equal whichever engine
 * computes them. */
static void life_command_race_gives_same_cells(void **state)
{
    (void)state;
    put_text(in_folder("acorn.rle"), "x = 7, y = 3\nbo$3bo$2o2b3o!\n");
    setenv("STDCL_SLICE", "1e-9", 1);
    for (int i = 0; i < 4; i++) {
        json_t *r = life_report(i % 2 ? "-p acorn.rle -n 5206 -o acorn.mc"
                                      : "-p acorn.rle -n 5206 --step 500 --csv acorn.csv");
        assert_int_equal(life_number(r, "population"), 633);
        assert_int_equal(life_number(r, "generation"), 5206);
        json_decref(r);
    }
    unsetenv("STDCL_SLICE");
    json_t *r = life_report("-p acorn.mc --engine sparse -n 0");
    assert_int_equal(life_number(r, "population"), 633);
    json_decref(r);
}

/* A glider moves one cell in four generations, down and to the right; the downward move is in
 * the first of them. A torus has its edges opposite the middle of the pattern. */
static void life_command_warns_at_edges(void **state)
{
    (void)state;
    static const struct {
        const char *arguments;
        json_int_t at;
    } cases[] = {{"-p free.rle --size 23 --bounds plane -n 100", 37},
                 {"-p free.rle --size 23 --engine reference -n 100", 33},
                 {"-p free.rle --size 23 --bounds plane -n 36", -1},
                 {"-p free.rle --size 40x23 --bounds plane --at 0,7 -n 100", 0},
                 {"-p held.rle -n 1000", -1},
                 {"-p free.rle --soup --size 20", -1}};
    put_text(in_folder("free.rle"), "x = 3, y = 3\nbo$2bo$3o!\n");
    put_text(in_folder("held.rle"), "x = 3, y = 3, rule = B3/S23:T30\nbo$2bo$3o!\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[60];
        json_t *r = life_report(cases[i].arguments);
        snprintf(words, sizeof words, "at generation %lld its cells reached",
                 (long long)cases[i].at);
        if (cases[i].at < 0)
            assert_true(json_is_null(json_object_get(r, "edge_generation")) &&
                        !strstr(err, "warning"));
        else
            assert_int_equal(life_number(r, "edge_generation"), cases[i].at);
        if (cases[i].at >= 0 && !strstr(err, words))
            fail_msg("%s: no '%s'\n%s", cases[i].arguments, words, err);
        json_decref(r);
    }
    succeeds("-p free.rle --size 12 --until-stable");
    assert_non_null(strstr(err, "its cells reached"));
}

static void life_command_rejects_bad_patterns(void **state)
{
    (void)state;
    put_text(in_folder("bad.rle"), "x = 3, y = 3\nbo$2b?o!\n");
    put_text(in_folder("gun.rle"), gun);
    expect_life_refused(1, "line 2, column 6", "-p bad.rle");
    expect_life_refused(1, "missing.rle: no such file", "-p missing.rle");
    expect_life_refused(2, "but the grid has 30 x 30", "-p gun.rle --size 30");
    expect_life_refused(2, "is not a size", "--size -5");
    expect_life_refused(2, "--zoom needs a picture", "--zoom 2 -o a.rle");
    expect_life_refused(2, "unknown suffix '.jpg'; known are", "-o a.jpg");
    expect_life_refused(2, "is not a size", "--size 0");
    expect_life_refused(2, "is not a size", "--size 10x");
    expect_life_refused(2, "0 to 8", "--rule B9/S23");
    expect_life_refused(2, "a sphere", "--rule B3/S23:S20,30");
    expect_life_refused(2, "did you mean", "--engin packed");
    expect_life_refused(2, "stdcl life: shape: \"colour=3\"", "--size 8 --shape colour=3");
}

static void life_command_rejects_bad_combinations(void **state)
{
    (void)state;
    put_text(in_folder("gun.rle"), gun);
    expect_life_refused(2, "is not a position", "-p gun.rle --at 3");
    expect_life_refused(2, "--at needs -p FILE", "--at 3,4");
    expect_life_refused(2, "is not a density", "--soup=1.5");
    expect_life_refused(2, "suffix", "-o life.txt");
    expect_life_refused(2, "omit --engine", "--compare --engine local");
    expect_life_refused(2, "cannot be combined", "--compare --csv x.csv");
    expect_life_refused(2, "--watch and --json cannot be combined", "--watch --json");
    expect_life_refused(2, "terminal", "--watch </dev/null");
    expect_life_refused(2, "extend beyond the grid", "-p gun.rle --at 390,0 --bounds plane");
    expect_life_refused(2, "--seed", "--seed 4294967296 -n 1 --size 8");
    expect_life_refused(1, "memory", "--size 1000000000");
    expect_life_refused(1, "does not exist", "--size 10 -o /nowhere/at/all.rle");
    if (access("/dev/full", W_OK) == 0)
        expect_life_refused(1, "full", "--size 100 -n 1 -q -o /dev/full");
}

/* Fail unless the last run named a full disk once, reported its last line `words`, left `failed`
 * out of the report, and wrote `kept`. */
static void check_life_kept(int status, const char *words, const char *failed, const char *kept)
{
    const char *message = strstr(err, "the disk is full");
    if (status != 1 || !message || strstr(message + 1, "the disk is full") || !strstr(out, words) ||
        strstr(out, failed) || access(in_folder(kept), R_OK) < 0)
        fail_msg("status %d, without %s or with %s\n%s%s", status, kept, failed, out, err);
    unlink(in_folder(kept));
}

static void life_command_keeps_outputs_after_a_failed_one(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) < 0)
        skip();
    put_text(in_folder("three.rle"), "x = 3, y = 1, rule = B3/S23\n3o!\n");
    works(symlink("/dev/full", in_folder("full.rle")));
    works(symlink("/dev/full", in_folder("full.csv")));
    check_life_kept(run_life_command("--size 64 -n 5 -o full.rle -o kept.rle"), "kept.rle",
                    "full.rle", "kept.rle");
    check_life_kept(run_life_command("--size 64 -n 5 --csv full.csv -o kept.rle"), "kept.rle",
                    "full.csv", "kept.rle");
    /* Patterns of --every-minutes are tried again each time, and at the end. */
    assert_int_equal(run_life_command("--size 64 -n 3e4 --every-minutes 1e-5 -o full.rle "
                                      "-o kept.rle --csv life.csv"),
                     1);
    const char *during = strstr(err, "the disk is full");
    assert_non_null(during);
    assert_non_null(strstr(during + 1, "the disk is full"));
    assert_true(strstr(out, "kept.rle") && strstr(out, "life.csv") && !strstr(out, "full.rle"));
    works(unlink(in_folder("kept.rle")));
    check_life_kept(run_life_command("-p three.rle --engine hashlife -n 5 -o full.rle -o kept.mc"),
                    "kept.mc", "full.rle", "kept.mc");
    check_life_kept(run_life_command("census --soups 5 --csv full.csv"), "objects", "full.csv",
                    "three.rle");
    assert_int_equal(run_life_command("--size 64 -n 5 -o full.rle --json"), 1);
    json_t *report = json_loads(out, 0, NULL);
    ready(report);
    assert_int_equal(life_number(report, "generations"), 5);
    json_decref(report);
}

/* ---- The terminal. --------------------------------------------------------------------------- */

/* Read the terminal's output until `words` appear or the command ends. The next call continues
 * after `words`. */
static bool shows(int terminal, const char *words)
{
    static char seen[1 << 16];
    static size_t used;
    for (;;) {
        char *found = memmem(seen, used, words, strlen(words));
        if (found) {
            found += strlen(words);
            used -= (size_t)(found - seen);
            memmove(seen, found, used);
            return true;
        }
        if (used > sizeof seen / 2) { /* words may have begun at the end */
            memmove(seen, seen + used - 100, 100);
            used = 100;
        }
        const ssize_t n = read(terminal, seen + used, sizeof seen - used);
        if (n <= 0)
            return false;
        used += (size_t)n;
    }
}

static void press_key(int terminal, const char *keys)
{
    assert_int_equal(write(terminal, keys, strlen(keys)), strlen(keys));
}

/* Start `stdcl life -p FILE ENGINE WAY` on a terminal of its own. */
static pid_t start_watch(unsigned short columns, const char *file, const char *engine,
                         const char *way, int *terminal)
{
    struct winsize size = {.ws_row = 25, .ws_col = columns};
    put_text(in_folder("gun.rle"), gun);
    const pid_t child = forkpty(terminal, NULL, NULL, &size);
    assert_true(child >= 0);
    if (child == 0) {
        if (chdir(files_folder) == 0)
            execl(command, "stdcl", "life", "-p", file, engine, way, (char *)NULL);
        _exit(126);
    }
    return child;
}

static void end_watch(pid_t child, int terminal)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    close(terminal);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void check_watch(const char *file, const char *engine, const char *way, const char *block)
{
    struct termios before, after;
    int terminal;
    const pid_t child = start_watch(100, file, engine, way, &terminal);
    tcgetattr(terminal, &before);
    assert_true(shows(terminal, block));
    assert_true(shows(terminal, "alive"));
    tcgetattr(terminal, &after);
    assert_true((after.c_lflag & ICANON) == 0);
    press_key(terminal, " ");
    assert_true(shows(terminal, "paused"));
    press_key(terminal, "ss+-hjkl\033[A\033[Dz");
    assert_true(shows(terminal, "1:2"));
    press_key(terminal, "Z ");
    assert_true(shows(terminal, "1:1"));
    press_key(terminal, "q");
    assert_true(shows(terminal, "\033[?1049l")); /* back to the screen there was */
    assert_true(shows(terminal, "population"));
    tcgetattr(terminal, &after);
    assert_true(after.c_lflag == before.c_lflag);
    end_watch(child, terminal);
}

/* All keys are named on terminals of 80 and of 60 columns. */
static void life_command_watch_names_keys(void **state)
{
    static const struct {
        unsigned short columns;
        const char *last;
    } terminals[] = {{80, "z out, Z in"}, {60, "arrows, z/Z zoom"}};
    (void)state;
    for (size_t i = 0; i < sizeof terminals / sizeof *terminals; i++) {
        int terminal;
        const pid_t child =
            start_watch(terminals[i].columns, "gun.rle", "--engine=auto", "--watch", &terminal);
        assert_true(shows(terminal, terminals[i].last));
        press_key(terminal, "q");
        assert_true(shows(terminal, "\033[?1049l"));
        assert_true(shows(terminal, "population"));
        end_watch(child, terminal);
    }
}

static void life_command_watches_in_blocks(void **state)
{
    (void)state, check_watch("gun.rle", "--engine=auto", "--watch", "\xe2\x96\x88");
}
static void life_command_watches_in_braille(void **state)
{
    (void)state, check_watch("gun.rle", "--engine=auto", "--watch=braille", "\xe2\xa1\x80");
}

/* The gun without its grid, on an unbounded plane. */
static void life_command_watches_planes(void **state)
{
    (void)state;
    put_text(in_folder("free.rle"),
             "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$"
             "2o8bo3bob2o4bobo$10bo5bo7bo$11bo3bo$12b2o!\n");
    check_watch("free.rle", "--engine=hashlife", "--watch", "\xe2\x96\x88");
    check_watch("free.rle", "--engine=sparse", "--watch", "\xe2\x96\x88");
    expect_life_refused(2, "omit 'x.csv'", "-p free.rle --engine hashlife --watch -o x.csv");
    expect_life_refused(2, "omit --step", "-p free.rle --engine hashlife --watch --step 3");
}

/* Static wires: cells of state 3 in their colour, on a grid and on an unbounded plane, in both
 * display modes. */
static void life_command_watches_states(void **state)
{
    (void)state;
    put_text(
        in_folder("Wires.rule"),
        "@RULE Wires\n@TABLE\nn_states:4\nneighborhood:Moore\nsymmetries:permute\n1,0,0,0,0,0,0,0,0,2\n@COLORS\n1 0 0 255\n3 255 128 7\n");
    put_text(in_folder("wires.rle"), "x = 6, y = 4, rule = Wires:T60,50\n6C$C4.C$C4.C$6C!\n");
    check_watch("wires.rle", "--engine=auto", "--watch", "\033[38;2;255;128;7m");
    put_text(in_folder("wires.rle"), "x = 6, y = 4, rule = Wires\n6C$C4.C$C4.C$6C!\n");
    check_watch("wires.rle", "--engine=auto", "--watch", "\033[48;2;255;128;7m");
    check_watch("wires.rle", "--engine=auto", "--watch=braille", "\033[38;2;255;128;7m");
}

/* ---- More than two states. ------------------------------------------------------------------- */

static void life_command_runs_generations(void **unused)
{
    (void)unused;
    json_t *r = life_report(
        "--rule brain --size 40x30 --soup=0.3 -n 20 -o states.rle -o states.png --csv states.csv");
    assert_string_equal(json_string_value(json_object_get(r, "rule")), "/2/3");
    const json_int_t population = json_integer_value(json_object_get(r, "population"));
    json_decref(r);
    r = life_report("-p states.rle -n 0");
    assert_int_equal(json_integer_value(json_object_get(r, "population")), population);
    json_decref(r);
    put_text(in_folder("three.rle"), "x = 4, y = 1, rule = 345/2/4\n.ABC!\n");
    r = life_report("-p three.rle -n 0");
    assert_string_equal(json_string_value(json_object_get(r, "engine")), "hashlife");
    assert_int_equal(json_integer_value(json_object_get(r, "population")), 3);
    json_decref(r);
    expect_life_refused(2, "a cell has state 3, but the rule B3/S23 has states 0 to 1",
                        "-p three.rle --rule B3/S23 --size 40");
    expect_life_refused(2, "a cell has state 3, but the rule /2/3 has states 0 to 2",
                        "-p three.rle --rule /2/3");
    expect_life_refused(2, "a cell has state 3, but the rule B3/S23 has states 0 to 1",
                        "-p three.rle --rule B3/S23 --engine hashlife");
    succeeds("-p three.rle -n 0 -q -o three.mc -o three.png");
    r = life_report("-p three.mc -n 0");
    assert_int_equal(json_integer_value(json_object_get(r, "population")), 3);
    json_decref(r);
    expect_life_refused(1, "has no more than two states", "-p three.rle -n 1 -q -o out.cells");
    expect_life_refused(2, "from 2 to 256 states", "--rule 345/2/257");
    r = life_report("--rule 345/2/4:S30 --soup=0.4 -n 9");
    assert_string_equal(json_string_value(json_object_get(r, "bounds")), "S30");
    json_decref(r);
}

/* A rule file next to the pattern, by its name or on the command line; on a plane and on a grid;
 * in colours. */
static void life_command_runs_rule_files(void **unused)
{
    (void)unused;
    put_text(
        in_folder("Wire.rule"),
        "@RULE Wire\n@TABLE\nn_states:4\nneighborhood:oneDimensional\nsymmetries:none\nvar a={0,1,2,3}\nvar b={a}\n"
        "1,a,b,2\n2,a,b,3\n3,1,a,1\n@COLORS\n1 1 2 3\n2 4 5 6\n3 7 8 9\n");
    put_text(in_folder("wire.rle"), "x = 9, y = 1, rule = Wire\nBA7C!\n");
    json_t *r = life_report("-p wire.rle -n 3 -o wire-out.rle -o wire-out.mc -o wire-out.png");
    assert_string_equal(json_string_value(json_object_get(r, "engine")), "hashlife");
    assert_string_equal(json_string_value(json_object_get(r, "rule")), "Wire");
    assert_int_equal(json_integer_value(json_object_get(r, "population")), 9);
    json_decref(r);
    char *text = bytes_of(in_folder("wire-out.rle"), NULL);
    contains(text, "3CBA4C!"); /* the head has gone three cells to the right */
    free(text);
    for (int i = 0; i < 2; i++) { /* on a grid of its own: nothing comes from the end to the start,
                                     since the cell before the wire is 0 */
        r = life_report(i ? "-p wire-out.mc -n 2 --size 64x8 --engine reference -o wire-grid.rle"
                          : "-p wire.rle --rule Wire.rule:T64,8 -n 5 -o wire-grid.rle");
        assert_int_equal(json_integer_value(json_object_get(r, "population")), 9);
        json_decref(r);
        text = bytes_of(in_folder("wire-grid.rle"), NULL);
        contains(text, "5CBA2C");
        free(text);
    }
    expect_life_refused(
        2, "'Nowhere' is not a rule, and no file Nowhere.rule was found beside the pattern",
        "-p wire.rle --rule Nowhere");
    expect_life_refused(2, "W0 to W254, and no file W111.rule was found", "--rule W111");
    expect_life_refused(2, "6 for von Neumann's neighbours, and no file", "--rule MAPHmlphgg");
    expect_life_refused(
        2, "a census needs a rule of two states or of Generations, but lifehistory has 7",
        "census --rule lifehistory");
    expect_life_refused(2,
                        "a census needs a rule of two states or of Generations, but JvN29 has 29",
                        "census --rule JvN29");
    expect_life_refused(2, "cannot read", "-p wire.rle --rule nowhere.rule");
    expect_life_refused(1, "/dev/zero: is a device that does not end", "-p /dev/zero -n 1");
    put_text(in_folder("bad.rule"), "@RULE bad\n@TABLE\nn_states:1\n");
    expect_life_refused(2, "bad.rule: line 3: n_states is 2 to 256", "-p wire.rle --rule bad.rule");
}

static void life_command_runs_larger_than_life(void **unused)
{
    (void)unused;
    put_text(in_folder("large.rle"),
             "x = 9, y = 9, rule = R9,C0,M1,S0..361,B1..361,NM\n9o$9o$9o$9o$9o$9o$9o$9o$9o!\n");
    /* grows by 9 cells a generation, here on a grid of 256; its last rows are 123 cells away */
    json_t *r = life_report("-p large.rle -n 13 --engine reference");
    assert_string_equal(json_string_value(json_object_get(r, "rule")),
                        "R9,C0,M1,S0..361,B1..361,NM");
    assert_int_equal(json_integer_value(json_object_get(r, "population")), 243 * 243);
    assert_int_equal(json_integer_value(json_object_get(r, "edge_generation")), 13);
    json_decref(r);
    r = life_report("-p large.rle -n 12 --engine reference");
    assert_true(json_is_null(json_object_get(r, "edge_generation")));
    json_decref(r);
    /* without a grid, with files: the second run continues the first */
    r = life_report("-p large.rle -n 20 -o half.rle -o half.mc -o half.png");
    assert_int_equal(json_integer_value(json_object_get(r, "population")), 369 * 369);
    assert_true(json_integer_value(json_object_get(r, "cell_bytes")) > 2 * 369 * 369);
    json_t *box = json_object_get(r, "box");
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(json_integer_value(json_array_get(box, i)), i < 2 ? -184 : 185);
    json_decref(r);
    for (int i = 0; i < 2; i++) {
        r = life_report(i ? "-p half.mc -n 5 -o whole.lif" : "-p half.rle -n 5 -o whole.csv");
        assert_int_equal(json_integer_value(json_object_get(r, "generation")), 25);
        assert_int_equal(json_integer_value(json_object_get(r, "population")), 459 * 459);
        json_decref(r);
    }
    expect_life_refused(1, "the limit is 1.049 MB", "-p large.rle -n 200 --memory 1M");
    expect_life_refused(2, "is Larger than Life, which the engine hashlife does not compute",
                        "-p large.rle --engine hashlife");
    expect_life_refused(2, "at least 10 cells, twice the range",
                        "--rule R5,C0,M1,S34..58,B34..45,NM:T9,50");
    expect_life_refused(2, "counts go from 0 to 121", "--rule R5,C0,M1,S34..58,B34..145,NM");
    expect_life_refused(2, "(B0) an empty plane becomes alive",
                        "-p large.rle --rule R5,C3,M1,S34..58,B0..45,NM");
}

/* One infinite side: populations at generation 110 are those of bgolly 3.3. */
static void life_command_runs_infinite_sides(void **unused)
{
    static const struct {
        const char *grid;
        int population;
    } grids[] = {{"T0,40", 145}, {"P30,0", 148}, {"T40,0", 126}, {"P0,30", 142}, {"P31,0", 120}};
    char text[80], arguments[120];
    (void)unused;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        for (int in_file = 0; in_file < 2; in_file++) {
            snprintf(text, sizeof text, "x = 3, y = 3, rule = B3/S23%s%s\nb2o$2o$bo!\n",
                     in_file ? ":" : "", in_file ? grids[i].grid : "");
            put_text(in_folder("endless.rle"), text);
            snprintf(arguments, sizeof arguments,
                     in_file ? "-p endless.rle -n 110" : "-p endless.rle -n 110 --rule B3/S23:%s",
                     grids[i].grid);
            json_t *r = life_report(arguments);
            assert_int_equal(json_integer_value(json_object_get(r, "population")),
                             grids[i].population);
            assert_true(json_is_null(json_object_get(r, "edge_generation")));
            json_decref(r);
        }
    put_text(in_folder("endless.rle"), "x = 3, y = 3, rule = B3/S23:T0,40\nb2o$2o$bo!\n");
    json_t *r = life_report("-p endless.rle -n 1200"); /* a wider torus gives equal cells for this
                                                          number of generations */
    assert_true(json_is_null(json_object_get(r, "edge_generation")));
    assert_int_equal(life_number(r, "population"), 56);
    json_decref(r);
    static const char *const none[] = {"T0", "t0,0", "P00", "P0,0"};
    for (size_t i = 0; i < 2 * sizeof none / sizeof *none; i++) { /* no side has an end: no grid */
        snprintf(text, sizeof text, "x = 3, y = 3, rule = B3/S23:%s\nb2o$2o$bo!\n",
                 i % 2 ? "T30" : none[i / 2]);
        put_text(in_folder("endless.rle"), text);
        snprintf(arguments, sizeof arguments,
                 i % 2 ? "-p endless.rle -n 1200 --rule B3/S23:%s" : "-p endless.rle -n 1200",
                 none[i / 2]);
        r = life_report(arguments);
        assert_string_equal(json_string_value(json_object_get(r, "bounds")), "none");
        assert_int_equal(life_number(r, "population"), 116); /* of the R-pentomino */
        json_decref(r);
    }
    expect_life_refused(2, "which random cells cannot fill", "--rule B3/S23:T0,40");
    expect_life_refused(2, "0 stands for an infinite side", "-p endless.rle --rule B3/S23:T0+3,40");
    expect_life_refused(2, "0 stands for an infinite side", "-p endless.rle --rule B3/S23:K0*,40");
}

/* Rules as Golly finds them: inside an RLE file, in any case, with long names and long lines; and
 * patterns larger than their grid, which lose the cells outside. */
static void life_command_reads_rules_as_golly(void **unused)
{
    static char text[9000], name[201], line[3001];
    (void)unused;
    /* Every live cell dies, and none is born: state 1 becomes 2, and 2 becomes 0. */
    static const char fades[] =
        "@TABLE\nn_states:3\nneighborhood:vonNeumann\nsymmetries:permute\n"
        "var a={0,1,2}\nvar b=a\nvar c=a\nvar d=a\n1,a,b,c,d,2\n2,a,b,c,d,0\n";
    snprintf(text, sizeof text, "x = 3, y = 1, rule = Fades\n3A!\n\n@RULE Fades\n%s", fades);
    put_text(in_folder("inside.rle"), text);
    succeeds("inside.rle -n 1 -o faded.rle");
    load_life_file("faded.rle", text, sizeof text);
    assert_non_null(strstr(text, "rule = Fades\n3B!"));
    succeeds("inside.rle -n 1 --size 64 --engine reference -o faded.rle");
    expect_life_refused(2, "no file Other.rule was found", "inside.rle --rule Other");
    memset(name, 'n', sizeof name - 1);
    memset(line, ' ', sizeof line - 1);
    snprintf(text, sizeof text, "@RULE %s\r# %s\r%s", name, line, fades);
    char file[300];
    snprintf(file, sizeof file, "%.*s.rule", (int)sizeof name - 1, name);
    put_text(in_folder(file), text);
    snprintf(text, sizeof text, "x = 3, y = 1, rule = N%s\n3A!\n", name + 1);
    put_text(in_folder("long.rle"), text);
    succeeds("long.rle -n 1 -o faded.rle");
    load_life_file("faded.rle", text, sizeof text);
    assert_non_null(strstr(text, "\n3B!"));
    put_text(in_folder("clipped.rle"), "x = 9, y = 1, rule = B3/S23:P5,5\n9o!\n");
    succeeds("clipped.rle -n 0 -o inside.rle");
    assert_non_null(strstr(err, "4 of its 9 live cells lie outside the grid of 5 x 5"));
    load_life_file("inside.rle", text, sizeof text);
    assert_non_null(strstr(text, "2$5o!")); /* as bgolly has it */
    expect_life_refused(2, "give a larger --size", "clipped.rle --rule B3/S23 --size 5");
    succeeds("clipped.rle --soup --seed 7 -n 0"); /* over which the pattern is put */
    assert_non_null(strstr(out, "from clipped.rle over a soup with seed 7\n"));
}

/* Positions partly and wholly outside a torus: the cells inside remain. After a generation
 * bgolly has these populations in the rules that it knows. */
static void life_command_leaves_out_cells_beyond_torus(void **unused)
{
    static const struct {
        const char *text, *warning;
        int population[2]; /* of generations 0 and 1 */
    } cut[] = {
        {"#CXRLE Pos=0,0\nx = 26, y = 10, rule = B3/S23:T42,42\n8$21b2o$21b2o!\n",
         "4 of its 4 live cells lie outside the grid of 42 x 42",
         {0, 0}},
        {"#CXRLE Pos=100,100\nx = 3, y = 1, rule = B3/S23:T10,10\n3o!\n", "3 of its 3", {0, 0}},
        {"#CXRLE Pos=4,4\nx = 2, y = 2, rule = B3/S23:T10,10\n2o$2o!\n", "3 of its 4", {1, 0}},
        {"#CXRLE Pos=4,4\nx = 2, y = 2, rule = 345/2/4:T10,10\nAB$CA!\n", "3 of its 4", {1, 1}},
        {"#CXRLE Pos=4,0\nx = 2, y = 2, rule = R2,C0,S2,B3,NM:T10,10\n2o$2o!\n",
         "2 of its 4",
         {2, 0}},
        {"#CXRLE Pos=4,0\nx = 2, y = 2, rule = B3/S23|B36/S23:T10,10\n2o$2o!\n",
         "2 of its 4",
         {2, 0}},
        {"#CXRLE Pos=4,-5\nx = 2, y = 1, rule = W110:T10,10\n2o!\n", "1 of its 2", {1, 3}},
    };
    char options[80];
    (void)unused;
    for (size_t i = 0; i < sizeof cut / sizeof *cut; i++)
        for (int g = 0; g < 2; g++) {
            put_text(in_folder("beyond.rle"), cut[i].text);
            snprintf(options, sizeof options, "beyond.rle -n %d", g);
            json_t *r = life_report(options);
            assert_non_null(strstr(err, cut[i].warning));
            assert_int_equal(life_number(r, "population"), cut[i].population[g]);
            json_decref(r);
        }
    json_t *r = life_report("beyond.rle -n 0 --at 9,0");
    assert_int_equal(life_number(r, "population"), 2);
    json_decref(r);
}

/* ---- Rules with history. --------------------------------------------------------------------- */

/* A glider in a row with a boundary, which it hits. The header and --rule run the same rule, on a
 * plane and on a grid. */
static void life_command_runs_history(void **unused)
{
    static const char body[] = ".A$2.A.F$3A!\n";
    char text[300];
    json_int_t population[4];
    (void)unused;
    snprintf(text, sizeof text, "x = 5, y = 3, rule = LifeHistory\n%s", body);
    put_text(in_folder("header.rle"), text);
    snprintf(text, sizeof text, "x = 5, y = 3\n%s", body);
    put_text(in_folder("none.rle"), text);
    static const char *const runs[] = {
        "header.rle -n 20 -o after.rle", "none.rle -n 20 --rule LifeHistory",
        "none.rle -n 20 --rule lifehistory --size 64 --engine reference",
        "none.rle -n 20 --rule B3/S23History --size 64"};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        json_t *r = life_report(runs[i]);
        assert_string_equal(json_string_value(json_object_get(r, "rule")), "LifeHistory");
        population[i] = life_number(r, "population");
        assert_int_equal(population[i], population[0]);
        json_decref(r);
    }
    load_life_file("after.rle", text, sizeof text);
    assert_non_null(strstr(text, "rule = LifeHistory\n"));
    assert_non_null(strchr(text, 'F'));
    expect_life_refused(2, "which Super needs survival", "none.rle --rule B03/S23Super");
    expect_life_refused(2, "only rules of two states and", "none.rle --rule 345/2/4History");
}

/* bgolly 5 has these populations. */
static void life_command_runs_named_rules(void **unused)
{
    static const struct {
        const char *rule, *name, *cells;
        json_int_t population; /* after 4 generations */
    } runs[] = {{"LifeSuper", "LifeSuper", ".I.M$I.OK$MGQ$.R.TX$3A.F.P", 19},
                {"B36/S23Investigator", "B36/S23Investigator", "3A.H$.B.N2A$O.O.A$Q2AR.F", 26},
                {"b2s34hhistory", "B2/S34HHistory", "2A.F$C.EA$.3A", 24},
                {"JvN29", "JvN29", "3IM.A$I.XO$PQUV.X", 15},
                {"nobili32", "Nobili32", "3IM.pA$I.XO$PQUV.pG$KM.X", 19},
                {"Hutton32", "Hutton32", "3IM2I.$.pAQH$M2I.X", 16},
                {"MAPFgFoF2gXgH5oF4B+gH4A6A==", "MAPFgFoF2gXgH5oF4B+gH4A6A", "3A$.2A$2A.A", 3},
                {"MAPHmlphg/4", "MAPHmlphg/4", "3A.C$.2AB", 3}};
    char text[300];
    (void)unused;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        snprintf(text, sizeof text, "x = 9, y = 9, rule = %s\n%s!\n", runs[i].rule, runs[i].cells);
        put_text(in_folder("named.rle"), text);
        json_t *r = life_report("named.rle -n 4");
        assert_string_equal(json_string_value(json_object_get(r, "rule")), runs[i].name);
        assert_int_equal(life_number(r, "population"), runs[i].population);
        json_decref(r);
    }
}

/* Rules that alternate follow the generation of the file, on a plane and on a grid: from an odd one
 * the second rule is first. */
static void life_command_alternates_rules(void **unused)
{
    static const char *const first[] = {"B3/S23", "B2/S"};
    (void)unused;
    for (int odd = 0; odd < 2; odd++) {
        char text[200];
        snprintf(text, sizeof text,
                 "#CXRLE Gen=%d\nx = 5, y = 3, rule = B3/S23|B2/S\n3obo$o2b2o$b3o!\n", 10 + odd);
        put_text(in_folder("both.rle"), text);
        snprintf(text, sizeof text, "both.rle --rule %s -n 1", first[odd]);
        json_t *r = life_report(text);
        const json_int_t population = life_number(r, "population");
        json_decref(r);
        r = life_report("both.rle -n 1 -o next.rle");
        assert_int_equal(life_number(r, "population"), population);
        json_decref(r);
        r = life_report("both.rle --rule 'B3/S23|B2/S:T40' -n 1");
        assert_string_equal(json_string_value(json_object_get(r, "engine")), "reference");
        assert_int_equal(life_number(r, "population"), population);
        json_decref(r);
        load_life_file("next.rle", text, sizeof text);
        assert_non_null(strstr(text, "rule = B3/S23|B2/S\n"));
        assert_non_null(strstr(text, odd ? "Gen=12\n" : "Gen=11\n"));
    }
}

/* Larger than Life with B0 stores cells inverted in odd generations. A run that a file of an odd
 * generation interrupts ends as the run of one piece, on a plane and on grids; bgolly 5 has these
 * populations. */
static void life_command_continues_inverted_cells(void **unused)
{
    static const char *const bounds[] = {"", ":T40,40", ":T40,40"};
    static const char *const engine[] = {"", " --engine reference", " --engine packed"};
    static const int golly[][2] = {{120, 204}, {120, 204}};
    (void)unused;
    put_text(in_folder("start.rle"),
             "x = 5, y = 3, rule = R2,C0,S9-14,B0-1,9-13\n3obo$o2b2o$b3o!\n");
    for (int i = 0; i < 3; i++) {
        char line[200], text[5000];
        snprintf(line, sizeof line, "start.rle --rule R2,C0,S9-14,B0-1,9-13%s -n 3 -o odd.rle%s",
                 bounds[i], engine[i]);
        json_t *r = life_report(line);
        assert_int_equal(life_number(r, "population"), golly[i > 0][0]);
        json_decref(r);
        load_life_file("odd.rle", text, sizeof text);
        assert_non_null(strstr(text, "Gen=3\n"));
        snprintf(line, sizeof line, "odd.rle -n 5 --csv odd.csv -o end.rle%s", engine[i]);
        r = life_report(line);
        assert_int_equal(life_number(r, "population"), golly[i > 0][1]);
        assert_int_equal(life_number(r, "generations"), 5);
        json_decref(r);
        load_life_file("end.rle", text, sizeof text);
        assert_non_null(strstr(text, "Gen=8\n"));
        load_life_file("odd.csv", text, sizeof text);
        assert_non_null(strstr(text, "\n3,"));
        assert_non_null(strstr(text, "\n8,"));
    }
}

/* ---- Bounded grids. -------------------------------------------------------------------------- */

static void life_command_runs_bounded_grids(void **unused)
{
    (void)unused;
    json_t *r = life_report("--rule B3/S23:k30*+3,20 --soup=0.4 -n 40 -o klein.rle");
    assert_string_equal(json_string_value(json_object_get(r, "bounds")), "K30*+1,20");
    assert_int_equal(json_integer_value(json_object_get(r, "width")), 30);
    const json_int_t population = json_integer_value(json_object_get(r, "population"));
    json_decref(r);
    r = life_report("-p klein.rle -n 0"); /* its file says where */
    assert_string_equal(json_string_value(json_object_get(r, "bounds")), "K30*+1,20");
    assert_int_equal(json_integer_value(json_object_get(r, "population")), population);
    json_decref(r);
    r = life_report("--rule B3/S23:S40 --until-stable --engine packed --csv sphere.csv");
    assert_true(json_integer_value(json_object_get(r, "period")) > 0);
    json_decref(r);
    expect_life_refused(2, "a sphere is as wide as it is high", "--rule B3/S23:S30,20");
    expect_life_refused(2, "the grid :C30,20 and --size cannot be combined",
                        "--rule B3/S23:C30,20 --size 40");
    expect_life_refused(2, "the grid :T30+2,20 and --bounds cannot be combined",
                        "--rule B3/S23:T30+2,20 --bounds plane");
    expect_life_refused(2, "which random cells cannot fill", "--rule B3/S23:T30,0");
    expect_life_refused(2, "the grid ':T100' has 100 x 100 cells, and --size 50 x 50",
                        "--rule B3/S23:T100 --size 50");
    expect_life_refused(2, "the grid ':T100' is a torus, and --bounds a plane",
                        "--rule B3/S23:T100 --bounds plane");
    r = life_report("--rule B3/S23:T100 --size 100 --bounds torus -n 1");
    assert_int_equal(life_number(r, "width"), 100);
    json_decref(r);
}

/* A pattern may be given as the operand. Gosper's gun has 36 cells and emits a glider of 5 every 30
 * generations. */
static void life_command_accepts_pattern_as_operand(void **unused)
{
    (void)unused;
    json_t *r = life_report("gun.rle -n 300");
    assert_int_equal(life_number(r, "population"), 86);
    json_decref(r);
    r = life_report("-n 4 --size 20 --at 1,1 xq4_153");
    assert_int_equal(life_number(r, "population"), 5);
    json_decref(r);
    expect_life_refused(2, "unexpected argument 'gun.rle'; --pattern is given, too",
                        "-p gun.rle gun.rle");
    expect_life_refused(2, "would replace an input", "gun.rle --record gun.rle");
    expect_life_refused(2, "only soups are random", "gun.rle --seed 3");
}

/* The shipped patterns by name. The LifeWiki gives their generations and populations. */
static void life_command_finds_patterns_by_name(void **unused)
{
    static const struct {
        const char *name;
        int generations, population;
    } row[] = {{"glider", 400, 5},         {"lwss", 400, 9},           {"gun", 300, 86},
               {"r-pentomino", 1103, 116}, {"acorn", 5206, 633},       {"diehard", 130, 0},
               {"pulsar", 3, 48},          {"pentadecathlon", 15, 12}, {"infinite-growth", 0, 10},
               {"replicator", 12, 24}};
    char line[100];
    (void)unused;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        snprintf(line, sizeof line, "--pattern %s --engine hashlife -n %d", row[i].name,
                 row[i].generations);
        json_t *r = life_report(line);
        if (life_number(r, "population") != row[i].population)
            fail_msg("%s: population %d", line, (int)life_number(r, "population"));
        json_decref(r);
    }
    json_t *r = life_report("acorn --engine hashlife -n 0");
    assert_int_equal(life_number(r, "population"), 7);
    json_decref(r);
    succeeds("--pattern list");
    assert_non_null(strstr(out, "gun               Fires a glider every 30"));
    assert_null(strstr(out, "solar"));
    /* A file comes before a name, and a name is no path. */
    put_text(in_folder("pulsar"), "x = 1, y = 1\no!\n");
    r = life_report("pulsar --engine hashlife -n 0");
    assert_int_equal(life_number(r, "population"), 1);
    json_decref(r);
    expect_life_refused(1, "no-such-pattern: no such file or pattern; 'stdcl life --pattern list'",
                        "no-such-pattern");
    expect_life_refused(1, "glidr: no such file or pattern; did you mean 'glider'?", "glidr");
    expect_life_refused(1, "did you mean 'r-pentomino'?", "--pattern r-pentomno");
    expect_life_refused(1, "glidr.rle: no such file", "glidr.rle");
    expect_life_refused(1, "../data/gun", "../data/gun");
}

/* ---- A census. ------------------------------------------------------------------------------- */

static void life_command_takes_census(void **unused)
{
    size_t i;
    json_t *object;
    (void)unused;
    json_t *r = life_report("census --soups 20 --seed 3 --csv objects.csv");
    assert_int_equal(json_integer_value(json_object_get(r, "soups")) +
                         json_integer_value(json_object_get(r, "undecided")),
                     20);
    json_int_t sum = 0;
    json_array_foreach(json_object_get(r, "census_objects"), i, object) sum +=
        json_integer_value(json_object_get(object, "count"));
    assert_int_equal(sum, json_integer_value(json_object_get(r, "objects")));
    json_decref(r);
    size_t size = 0;
    char *table = bytes_of(in_folder("objects.csv"), &size);
    ready(table);
    assert_ptr_equal(
        strstr(table, "object,period,dx,dy,count,count_error,share,share_error,first_soup\n"),
        table);
    ready(strstr(table, "\nxs4_33,1,0,0,"));
    free(table);
    succeeds("census --soups 20 --seed 3");
    ready(strstr(out, "xs4_33"));
    succeeds("census --soups 20 --seed 5");
    ready(strstr(out, "barge"));
    succeeds("census --soups 30 --root stdcl --symmetry C4_1 --haul haul.txt");
    char *haul = bytes_of(in_folder("haul.txt"), &size);
    ready(haul);
    ready(strstr(haul, "@ROOT stdcl\n@RULE b3s23\n@SYMMETRY C4_1\n@NUM_SOUPS 30\n"
                       "@NUM_OBJECTS 749\n\n@CENSUS TABLE\nxp2_7 280\nxs4_33 228\n"));
    ready(strstr(haul, "\n@SAMPLE_SOUPIDS\nxp2_7 "));
    free(haul);
    expect_life_refused(2, "--haul needs --root ROOT", "census --haul haul.txt");
    expect_life_refused(2, "soups of a root have 16 x 16 cells", "census --root a --seed 1");
    expect_life_refused(2, "character 2 of a root of soups is no printable ASCII",
                        "census --root 'a\nb' --soups 2");
    expect_life_refused(2, "'same.csv' is given twice as output",
                        "census --root a --csv same.csv --haul same.csv");
    expect_life_refused(2, "a census needs at least one generation", "census -n 0");
    expect_life_refused(2, "'D9' is not a symmetry of a census", "census --symmetry D9");
    expect_life_refused(2, "census and --pattern cannot be combined", "census --pattern x.rle");
    expect_life_refused(2, "'x.json' would be a table of text; give a name that ends in .csv",
                        "census --csv x.json --soups 2");
    expect_life_refused(2, "'x.png' would be a table of text", "--csv x.png -n 1");
    expect_life_refused(2, "a census needs a rule such as B3/S23",
                        "census --rule Wire.rule --soups 2");
    expect_life_refused(2, "B0 turns empty space alive", "census --rule B0/S23");
    expect_life_refused(2, "run on an unbounded plane; omit :T10", "census --rule B3/S23:T10");
    expect_life_refused(2, "at most 64 x 64 cells, not 65 x 3", "census --size 65x3");
    expect_life_refused(2, "--soups needs census or sweep: stdcl life census --soups N",
                        "--soups 3");
    expect_life_refused(2, "a census writes only a table of objects: FILE.csv", "census -o a.png");
    expect_life_refused(1, "cense: no such file or pattern; did you mean 'census'?", "cense");
    expect_life_refused(1, "--pattern list", "--pattern cense");
    expect_life_refused(
        2,
        "unexpected argument 'b.rle'; the only operand is census, identify, sweep or one pattern",
        "a.rle b.rle");
    expect_life_refused(1, "no-folder", "census --csv no-folder/a.csv");
    put_text(in_folder("run.rle"), "x = 3, y = 1\n999999999999o!\n");
    expect_life_refused(
        1, "run.rle: its live cells need more tiles of 64 x 64 cells than there is memory for",
        "-p run.rle -n 3");
}

/* A glider of c/4 is at column n/4 after n generations. Beyond 2^53 a double has no room for it;
 * from 2^40 on RLE files have none, but macrocell files do. Pictures have no position. */
static void life_command_writes_far_gliders(void **state)
{
    char text[200];
    (void)state;
    put_text(in_folder("glider.rle"), "x = 3, y = 3\nbob$2bo$3o!\n");
    succeeds("-p glider.rle --engine hashlife -n 2^41 -o far.rle -q");
    load_life_file("far.rle", text, sizeof text);
    contains(text, "Pos=549755813887,549755813887 Gen=2199023255552\nx = 3, y = 3,");
    succeeds("-p far.rle --engine hashlife -n 4 -o far.rle -q");
    load_life_file("far.rle", text, sizeof text);
    contains(text, "Pos=549755813888,549755813888 Gen=2199023255556\nx = 3, y = 3,");
    expect_life_refused(1, "2^40 or more from the middle of the plane; write a macrocell file, .mc",
                        "-p glider.rle --engine hashlife -n 2^42 -q -o far.rle");
    for (int power = 56; power <= 62; power += 2) {
        snprintf(text, sizeof text,
                 "-p glider.rle --engine hashlife -n 2^%d -o far.mc -o far.png -q", power);
        succeeds(text);
        json_t *r = life_report("-p far.mc --engine hashlife -n 0");
        assert_int_equal(life_number(r, "population"), 5);
        json_decref(r);
        unsigned char *png = (unsigned char *)bytes_of(in_folder("far.png"), NULL);
        assert_memory_equal(png + 16, "\0\0\0\3\0\0\0\3", 8); /* width and height */
        free(png);
        snprintf(text, sizeof text, "-p glider.rle --engine hashlife -n 2^%d -q -o far.rle", power);
        expect_life_refused(1, "write a macrocell file, .mc", text);
    }
}

/* The gun has 36 cells and adds a glider of five in every 30 generations. */
static void life_command_draws_figures(void **state)
{
    (void)state;
    put_text(in_folder("gun.rle"), gun);
    if (run_life_command("-p gun.rle -n 60 --figure g.svg") == 1 && strstr(err, "gnuplot"))
        skip();
    contains(out, "figure        g.svg\n");
    load_life_file("g.svg", out, sizeof out);
    contains(out, "B3/S23, generation 60, 46 live cells");
    contains(out, ">column<");
    contains(out, ">row<");
    contains(out, "stdcl life -p gun.rle -n 60 --figure g.svg");
    succeeds("xq4_153 -n 4 --figure l.svg --grid-lines -q");
    load_life_file("l.svg", out, sizeof out);
    contains(out, "B3/S23, generation 4, 5 live cells");
    contains(out, "'rgb(153, 153, 153)'"); /* the lines */
    succeeds("--soup=0.3 --size 1500x20 -n 0 --figure s.svg --paper black -q");
    load_life_file("s.svg", out, sizeof out);
    contains(out, ">live cells [%]<");
    put_text(in_folder("glider.rle"), "x = 3, y = 3\nbob$2bo$3o!\n");
    succeeds("-p glider.rle --engine hashlife -n 2^57 --figure far.svg -q");
    load_life_file("far.svg", out, sizeof out);
    contains(out, ">column - 36028797018963967<"); /* 2^55 - 1 */
    contains(out, ">3<");
    assert_null(strstr(out, ".5<"));
    expect_life_refused(2, "--paper needs --figure FILE", "-p gun.rle --paper black");
    expect_life_refused(2, "--caption needs", "-p gun.rle --caption");
    expect_life_refused(2, "--grid-lines needs", "-p gun.rle --grid-lines");
    expect_life_refused(2, "give --zoom 4 or more", "-p gun.rle -o x.png --grid-lines --zoom 3");
    expect_life_refused(2, ".svg, .png or .pdf", "-p gun.rle --figure x.jpg");
    expect_life_refused(1, "has no room for lines",
                        "--soup=0.3 --size 300 -n 1 --engine reference -q --figure x.svg "
                        "--grid-lines");
}

/* Generations 0 and 1000 have captions of one width, also below small pictures. */
static void life_command_captions_frames(void **state)
{
    char first[32], last[32];
    (void)state;
    succeeds("-p xq4_153 --size 12 -n 1000 --frames 2 -o c.png --caption --engine reference -q");
    load_life_file("c-0001.png", out, sizeof out);
    char *bytes = bytes_of(in_folder("c-0001.png"), NULL);
    memcpy(first, bytes + 16, 8);
    free(bytes);
    bytes = bytes_of(in_folder("c-0002.png"), NULL);
    memcpy(last, bytes + 16, 8);
    free(bytes);
    assert_memory_equal(first, last, 8);
    assert_memory_equal(first, "\0\0\0\xa0\0\0\0\x50", 8); /* 160 x 80 */
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(life_command_writes_far_gliders),
        cmocka_unit_test(life_command_draws_figures),
        cmocka_unit_test(life_command_captions_frames),
        cmocka_unit_test(life_command_runs_pattern),
        cmocka_unit_test(life_command_resumes_from_file),
        cmocka_unit_test(life_command_killed_leaves_whole_file),
        cmocka_unit_test(life_command_stops_when_stable),
        cmocka_unit_test(life_command_writes_outputs),
        cmocka_unit_test(life_command_keeps_outputs_after_a_failed_one),
        cmocka_unit_test(life_command_compares_engines),
        cmocka_unit_test(life_command_rejects_bad_patterns),
        cmocka_unit_test(life_command_chooses_engine),
        cmocka_unit_test(life_command_race_gives_same_cells),
        cmocka_unit_test(life_command_race_ignores_busy_machine),
        cmocka_unit_test(life_command_gives_population_of_tutorial),
        cmocka_unit_test(life_command_larger_than_life_as_golly),
        cmocka_unit_test(life_command_turns_triangles_as_golly),
        cmocka_unit_test(life_command_identifies_pattern),
        cmocka_unit_test(life_command_sweeps_rules),
        cmocka_unit_test(life_command_warns_at_edges),
        cmocka_unit_test(life_command_hashlife_runs_plane),
        cmocka_unit_test(life_command_writes_wide_planes),
        cmocka_unit_test(life_command_has_one_origin),
        cmocka_unit_test(life_command_counts_late_generations),
        cmocka_unit_test(life_command_sparse_runs_plane),
        cmocka_unit_test(life_command_rejects_bad_combinations),
        cmocka_unit_test(life_command_watch_names_keys),
        cmocka_unit_test(life_command_watches_in_blocks),
        cmocka_unit_test(life_command_watches_in_braille),
        cmocka_unit_test(life_command_watches_planes),
        cmocka_unit_test(life_command_watches_states),
        cmocka_unit_test(life_command_takes_census),
        cmocka_unit_test(life_command_runs_generations),
        cmocka_unit_test(life_command_runs_infinite_sides),
        cmocka_unit_test(life_command_runs_rule_files),
        cmocka_unit_test(life_command_runs_larger_than_life),
        cmocka_unit_test(life_command_runs_history),
        cmocka_unit_test(life_command_runs_named_rules),
        cmocka_unit_test(life_command_alternates_rules),
        cmocka_unit_test(life_command_continues_inverted_cells),
        cmocka_unit_test(life_command_reads_rules_as_golly),
        cmocka_unit_test(life_command_leaves_out_cells_beyond_torus),
        cmocka_unit_test(life_command_runs_bounded_grids),
        cmocka_unit_test(life_command_accepts_pattern_as_operand),
        cmocka_unit_test(life_command_finds_patterns_by_name),
    };
    if (argc != 2)
        return 2;
    command = argv[1];
    return sampled_run("life_command", tests, 0, 2, files_create, files_remove);
}

/* test_life_formats.c - Life patterns: read, rejected with the right line and column, written
 * and read again. */
/* SPDX-License-Identifier: MIT */
#include "files.h"

#include "formats/crc32.h"
#include "formats/life_format.h"
#include "formats/life_picture.h"

#include <limits.h>
#include <stdlib.h>

/* Return the live cells as text, row by row, for comparison. */
static char *drawing(const struct life_pattern *p)
{
    char *text = malloc(p->height * (p->width + 1) + 1), *t = text;
    for (size_t y = 0; y < p->height; y++) {
        for (size_t x = 0; x < p->width; x++) {
            const bool stored =
                x >= p->left && x < p->left + p->columns && y >= p->top && y < p->top + p->rows;
            const size_t c = x - p->left;
            *t++ = stored && p->word[(y - p->top) * p->stride + c / 64] >> c % 64 & 1 ? 'O' : '.';
        }
        *t++ = '/';
    }
    *t = 0;
    return text;
}

static void check_drawing(const struct life_pattern *p, const char *want)
{
    char *got = drawing(p);
    assert_string_equal(got, want);
    free(got);
}

static void read_pattern_text(const char *text, struct life_pattern *p)
{
    works(life_pattern_read_memory("name", text, strlen(text), p));
}

static void life_formats_read_rle(void **state)
{
    (void)state;
    static const struct {
        const char *text, *rule, *bounds, *cells;
    } cases[] = {
        {"x = 3, y = 3, rule = B3/S23\nbob$2bo$3o!", "B3/S23", "", ".O./..O/OOO/"},
        {"#C hello\r\nx=3,y=3\r\nbo$2bo$\r\n3o!\r\n", "", "", ".O./..O/OOO/"},
        {"x = 3, y = 3, rule = b36/s23:T30,20\n.A$..A$3A", "b36/s23", "T30,20", ".O./..O/OOO/"},
        {"#r 23/36\nx = 1, y = 1\no!", "23/36", "", "O/"},
        {"bo$2bo$3o!", "", "", ".O./..O/OOO/"},
        {"x = 4, y = 4\n3$o!", "", "", "..../..../..../O.../"},
        {"x = 1, y = 1\no2$3\no!rest is ignored \001", "", "", "O../.../OOO/"},
        {"x = 2, y = 2\n!", "", "", "../../"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct life_pattern p;
        read_pattern_text(cases[i].text, &p);
        assert_string_equal(p.rule, cases[i].rule);
        assert_string_equal(p.bounds, cases[i].bounds);
        check_drawing(&p, cases[i].cells);
        life_pattern_free(&p);
    }
    struct life_pattern p;
    read_pattern_text("#CXRLE Pos=-3,17 Gen=12345678901\nx = 1, y = 1\no!", &p);
    assert_true(p.placed && p.x == -3 && p.y == 17 && p.generation == 12345678901u);
    life_pattern_free(&p);
}

static void life_formats_read_cells(void **state)
{
    (void)state;
    struct life_pattern p;
    read_pattern_text("!Name: Glider\n!\n.O\n..O\r\nOOO\n", &p);
    check_drawing(&p, ".O./..O/OOO/");
    life_pattern_free(&p);
    read_pattern_text("....*\n\n  \nO.O", &p);
    check_drawing(&p, "....O/...../...../O.O../");
    life_pattern_free(&p);
    read_pattern_text("!Rule: B36/S23:P9,9\n.", &p);
    assert_string_equal(p.rule, "B36/S23");
    assert_string_equal(p.bounds, "P9,9");
    assert_true(p.width == 1 && p.height == 1 && !p.word);
    life_pattern_free(&p);
}

static void life_formats_read_macrocell(void **state)
{
    (void)state;
    struct life_pattern p;
    /* A glider in the north-western quarter of the middle, twice. */
    read_pattern_text(
        "[M2] (golly 2.0)\n#C note\n#R B3/S23:T64,64\n#G 77\n$$..*$...*$.***$$$$\n4 1 0 0 1\n", &p);
    assert_string_equal(p.rule, "B3/S23");
    assert_string_equal(p.bounds, "T64,64");
    assert_true(p.generation == 77 && p.placed && p.x == -7 && p.y == -5);
    check_drawing(
        &p,
        ".O........./..O......../OOO......../.........../.........../.........../.........../.........../"
        ".........O./..........O/........OOO/");
    life_pattern_free(&p);
    /* Two live cells in the middle of a large empty area, which is not stored. */
    read_pattern_text(
        "[M2]\n$$$$$$$.......*$\n*$\n4 0 0 0 1\n4 2 0 0 0\n5 0 0 0 3\n5 4 0 0 0\n6 5 0 0 6\n", &p);
    check_drawing(&p, "O./.O/");
    assert_true(p.x == -1 && p.y == 0);
    life_pattern_free(&p);
}

static void life_formats_read_life105_and_106(void **state)
{
    (void)state;
    struct life_pattern p;
    read_pattern_text("#Life 1.05\r\n#D two blocks\n#N\n#P -1 -2\n.*\n..*\n***\n#P 5 0\n*\n", &p);
    assert_string_equal(p.rule, "B3/S23");
    assert_true(p.placed && p.x == -1 && p.y == -2);
    check_drawing(&p, ".O...../..O..../OOO...O/");
    life_pattern_free(&p);
    read_pattern_text("#Life 1.06\n0 -1\n1 0\n\n-1 1\n0 1\n1 1\n", &p);
    assert_true(p.placed && p.x == -1 && p.y == -1);
    check_drawing(&p, ".O./..O/OOO/");
    life_pattern_free(&p);
    read_pattern_text(
        "#MCell 4.20\n#GAME Life\n#RULE 23/36\n#BOARD 40x30\n#WRAP 1\n#D a remark\n#L .A$2.A\n#L $3A\n",
        &p);
    assert_string_equal(p.rule, "23/36");
    assert_string_equal(p.bounds, "T40,30");
    check_drawing(&p, ".O./..O/OOO/");
    life_pattern_free(&p);
    read_pattern_text(
        "#MCell 4.00\n#GAME Rules table\n#GOLLY WireWorld\n#RULE 1,0,0,0,\n#BOARD 40x30\n#L .C\n",
        &p);
    assert_string_equal(p.rule, "WireWorld");
    assert_int_equal(p.states, 4);
    assert_string_equal(p.bounds, "P40,30"); /* as bgolly writes it; also with #WRAP 0 */
    life_pattern_free(&p);
    read_pattern_text("#MCell 4.20\n#GAME Life\n#RULE 23/3\n#L .A\n", &p);
    assert_string_equal(p.bounds, "");
    life_pattern_free(&p);
    read_pattern_text("x = 4, y = 2, rule = LifeHistory:T31,20\nABCD$.E2B!", &p);
    assert_string_equal(p.rule, "LifeHistory");
    assert_string_equal(p.bounds, "T31,20");
    assert_int_equal(p.states, 6);
    check_drawing(&p, "OOOO/.OOO/");
    life_pattern_free(&p);
    read_pattern_text("xq4_153\n",
                      &p); /* the glider; then a pulsar, whose code has strips with blanks */
    check_drawing(&p, "OOO/..O/.O./");
    life_pattern_free(&p);
    works(life_pattern_read("xp3_co9nas0san9oczgoldlo0oldlogz1047210127401", &p));
    assert_true(p.columns == 13 && p.rows == 13);
    life_pattern_free(&p);
    read_pattern_text("xs4_1y01x1w1", &p);
    check_drawing(&p, "O....O...O..O/");
    life_pattern_free(&p);
}

/* A glider, as `gzip -n` packs its RLE. */
static void life_formats_read_gzip(void **state)
{
    (void)state;
    static const char *const packed = "packed.rle.gz";
    struct life_pattern p;
    put_text(in_folder("packed.rle"), "x = 3, y = 3\nbo$2bo$3o!\n");
    char line[2 * PATH_MAX];
    snprintf(line, sizeof line, "gzip -nf '%s'", in_folder("packed.rle"));
    assert_int_equal(system(line), 0);
    if (life_pattern_read(in_folder(packed), &p) < 0 && clerrno == ENOTSUP)
        skip();
    check_drawing(&p, ".O./..O/OOO/");
    life_pattern_free(&p);
    size_t size;
    char *bytes = bytes_of(in_folder(packed), &size);
    fails(EINVAL, life_pattern_read_memory("name", bytes, size - 12, &p));
    assert_int_equal(life_pattern_read_memory("name", bytes, size - 12, &p), -1);
    assert_non_null(strstr(clerror(), "ends too early"));
    bytes[14] ^= 0x55;
    fails(EINVAL, life_pattern_read_memory("name", bytes, size, &p));
    assert_int_equal(life_pattern_read_memory("name", bytes, size, &p), -1);
    assert_non_null(strstr(clerror(), "broken"));
    free(bytes);
}

/* Tiles hold the cells of the rectangle at every offset. */
static void life_formats_read_plane_tiles(void **state)
{
    (void)state;
    struct life_plane plane;
    static const char far_text[] = "x = 1, y = 1\n70bo$800000000000$900000000000b3o!";
    works(life_plane_read_memory("name", far_text, sizeof far_text - 1, &plane));
    assert_int_equal(plane.tiles, 2);
    assert_true(!plane.p.word && plane.tile[0].x == 64 && plane.tile[0].y == 0 &&
                plane.tile[0].row[0] == 1 << 6);
    assert_true(plane.tile[1].x == 900000000000 && plane.tile[1].row[800000000001 % 64] == 7);
    life_plane_free(&plane);
    static const char bounded[] = "x = 1, y = 1, rule = B3/S23:T5\no!";
    works(life_plane_read_memory("name", bounded, sizeof bounded - 1, &plane));
    assert_true(plane.tiles == 0 && plane.p.word && plane.p.word[0] == 1);
    life_plane_free(&plane);
}

/* What Golly reads, too (bgolly 3.3 gives equal cells; marks and archives since version 4). */
static void life_formats_read_what_golly_reads(void **state)
{
    static const struct {
        const char *text, *cells, *rule;
    } cases[] = {
        {"x = 3, y = 2, rule = B36/S23, by = me\n3o$o!", "OOO/O../", "B36/S23"},
        {"x = 3, y = 2, rule = R2,C0,M1,S5..8,B6..7,NM,\n3o$o!", "OOO/O../",
         "R2,C0,M1,S5..8,B6..7,NM"},
        {"x = 5, y = 1\n3xby!", "OOO.O/", ""},
        {"x = 3, y = 2\nox$q", "OO./O../", ""},
        {"x = 4, y = 1\n2pbp", "OO.O/", ""},
        {"\357\273\277x = 3, y = 1, rule = B3/S23\n3o!", "OOO/", "B3/S23"},
        {"x = 3, y = 2, rule = B3/S23\r3o$\ro!", "OOO/O../", "B3/S23"},
        {"!Name: x\r.O\rOO\r", ".O/OO/", ""},
        {"#P -1 -1\n.*\n**\n", ".O/OO/", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct life_pattern p;
        read_pattern_text(cases[i].text, &p);
        assert_string_equal(p.rule, cases[i].rule);
        check_drawing(&p, cases[i].cells);
        life_pattern_free(&p);
    }
    struct life_pattern p;
    char text[600];
    snprintf(text, sizeof text, "x = 1, y = 1, rule = %0500d\no!", 7); /* long names */
    read_pattern_text(text, &p);
    assert_int_equal(strlen(p.rule), 500);
    life_pattern_free(&p);
    read_pattern_text("x = 1, y = 1, rule = Two\no!\n\nnote\n@RULE Two\n@TABLE\n", &p);
    assert_string_equal(p.rule_file, "@RULE Two\n@TABLE\n");
    life_pattern_free(&p);
    /* An apgcode longer than a file's name may be: a row of 130 blocks. */
    char code[500] = "xs520_";
    for (int i = 0; i < 130; i++)
        strcat(code, "33w");
    works(life_pattern_read(code, &p));
    assert_true(p.columns == 130 * 4 - 2 && p.rows == 2);
    life_pattern_free(&p);
}

/* The check value of CRC-32 in Ross Williams's catalogue of such codes. */
static void crc32_of_digits_is_published_value(void **state)
{
    (void)state;
    assert_int_equal(crc32_of((const unsigned char *)"123456789", 9), 0xcbf43926);
    assert_int_equal(crc32_of((const unsigned char *)"", 0), 0);
}

/* Archives made here byte by byte, as APPNOTE.TXT has them: a glider stored, beside a folder and a
 * text; deflated ones are tested with the program zip. */
static void put_zip_crc(unsigned char *to, const char *content)
{
    const uint32_t crc = crc32_of((const unsigned char *)content, strlen(content));
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(crc >> 8 * i);
}

static size_t add_zip_file(unsigned char *to, const char *name, const char *content)
{
    const size_t n = strlen(name), size = strlen(content);
    memset(to, 0, 30);
    memcpy(to, "PK\3\4\24", 5);
    put_zip_crc(to + 14, content);
    to[18] = to[22] = (unsigned char)size;
    to[26] = (unsigned char)n;
    memcpy(to + 30, name, n);
    memcpy(to + 30 + n, content, size);
    return 30 + n + size;
}

static size_t add_zip_entry(unsigned char *to, const char *name, const char *content, size_t local)
{
    const size_t n = strlen(name);
    memset(to, 0, 46);
    memcpy(to, "PK\1\2\24\0\24", 7);
    put_zip_crc(to + 16, content);
    to[20] = to[24] = (unsigned char)strlen(content);
    to[28] = (unsigned char)n;
    to[42] = (unsigned char)local;
    to[43] = (unsigned char)(local >> 8);
    memcpy(to + 46, name, n);
    return 46 + n;
}

static size_t make_zip(unsigned char *to, const char *const files[][2], size_t n)
{
    size_t at = 0, local[8], directory;
    for (size_t i = 0; i < n; i++) {
        local[i] = at;
        at += add_zip_file(to + at, files[i][0], files[i][1]);
    }
    directory = at;
    for (size_t i = 0; i < n; i++)
        at += add_zip_entry(to + at, files[i][0], files[i][1], local[i]);
    memset(to + at, 0, 22);
    memcpy(to + at, "PK\5\6", 4);
    to[at + 8] = to[at + 10] = (unsigned char)n;
    to[at + 16] = (unsigned char)directory;
    to[at + 17] = (unsigned char)(directory >> 8);
    return at + 22;
}

static void life_formats_read_zip(void **state)
{
    static const char *const files[][2] = {{"a/", ""},
                                           {"a/readme.txt", "what it is"},
                                           {"a/glider.rle", "x = 3, y = 3\nbo$2bo$3o!"},
                                           {"a/other.rle", "3o!"}};
    unsigned char zip[1000];
    struct life_pattern p;
    (void)state;
    const size_t size = make_zip(zip, files, 3);
    works(life_pattern_read_memory("one.zip", zip, size, &p));
    check_drawing(&p, ".O./..O/OOO/");
    life_pattern_free(&p);
    for (size_t n = 4; n < size; n++) { /* cut off, it is refused */
        fails(EINVAL, life_pattern_read_memory("one.zip", zip, n, &p));
        assert_null(p.word);
    }
    for (size_t i = 0; i < size; i++) { /* no byte makes it read beyond its end */
        zip[i] ^= 255;
        if (life_pattern_read_memory("one.zip", zip, size, &p) == 0) {
            check_drawing(&p, ".O./..O/OOO/");
            life_pattern_free(&p);
        }
        zip[i] ^= 255;
    }
    fails(EINVAL, life_pattern_read_memory("two.zip", zip, make_zip(zip, files, 4), &p));
    life_pattern_read_memory("two.zip", zip, make_zip(zip, files, 4), &p);
    contains(clerror(), "two.zip: is a zip archive of 2 patterns");
    char command[3 * PATH_MAX];
    put_text(in_folder("packed.rle"), "#C %0300d\nx = 3, y = 3\nbo$2bo$3o!");
    snprintf(command, sizeof command, "cd '%s' && zip -q packed.zip packed.rle", files_folder);
    if (system("zip -v >/dev/null 2>&1") != 0 || system(command) != 0)
        return; /* without the program zip, or zlib */
    if (life_pattern_read(in_folder("packed.zip"), &p) < 0) {
        assert_int_equal(clerrno, ENOTSUP);
        return;
    }
    check_drawing(&p, ".O./..O/OOO/");
    life_pattern_free(&p);
}

/* Archives of Python's zipfile: no changed bit of the packed data yields other cells. */
static void life_formats_check_zip_checksum(void **state)
{
    static const char *const methods[] = {"ZIP_STORED", "ZIP_DEFLATED"};
    char command[3 * PATH_MAX];
    struct life_pattern p;
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        snprintf(command, sizeof command,
                 "python3 -c 'import sys, zipfile as z; z.ZipFile(sys.argv[1], \"w\", z.%s)"
                 ".writestr(\"a.rle\", \"x = 3, y = 3\\nbo$2bo$3o!\")' '%s'",
                 methods[k], in_folder("damaged.zip"));
        if (system(command) != 0)
            skip();
        size_t size;
        char *bytes = bytes_of(in_folder("damaged.zip"), &size);
        const size_t packed = (unsigned char)bytes[18];
        if (life_pattern_read_memory("name", bytes, size, &p) < 0) {
            assert_int_equal(clerrno, ENOTSUP); /* built without zlib */
            free(bytes);
            return;
        }
        life_pattern_free(&p);
        for (size_t bit = 8 * 35; bit < 8 * (35 + packed); bit++) {
            bytes[bit / 8] ^= (char)(1 << bit % 8);
            if (life_pattern_read_memory("name", bytes, size, &p) == 0) {
                assert_int_equal(k, 1); /* a bit of padding */
                check_drawing(&p, ".O./..O/OOO/");
                life_pattern_free(&p);
            } else if (k == 0) {
                contains(clerror(), "name: is a zip archive, and broken: the checksum");
            }
            bytes[bit / 8] ^= (char)(1 << bit % 8);
        }
        free(bytes);
    }
}

/* Members as `cat a.gz b.gz` and `pigz -i` write them, then padding. */
static void life_formats_read_gzip_members(void **state)
{
    char command[8 * PATH_MAX], head[PATH_MAX], tail[PATH_MAX], both[PATH_MAX];
    struct life_pattern p;
    (void)state;
    snprintf(head, sizeof head, "%s", in_folder("head.rle"));
    snprintf(tail, sizeof tail, "%s", in_folder("tail.rle"));
    snprintf(both, sizeof both, "%s", in_folder("both.rle.gz"));
    put_text(head, "x = 3, y = 3\nbo$2b");
    put_text(tail, "o$3o!\n");
    snprintf(command, sizeof command, "gzip -nf '%s' '%s' && cat '%s.gz' '%s.gz' > '%s'", head,
             tail, head, tail, both);
    assert_int_equal(system(command), 0);
    if (life_pattern_read(both, &p) < 0 && clerrno == ENOTSUP)
        skip();
    check_drawing(&p, ".O./..O/OOO/");
    life_pattern_free(&p);
    size_t size;
    char *bytes = bytes_of(both, &size), *padded = calloc(size + 100, 1);
    assert_non_null(padded);
    memcpy(padded, bytes, size);
    works(life_pattern_read_memory("name", padded, size + 100, &p));
    check_drawing(&p, ".O./..O/OOO/");
    life_pattern_free(&p);
    padded[size + 50] = 'x';
    assert_int_equal(life_pattern_read_memory("name", padded, size + 100, &p), -1);
    contains(clerror(), "name: is compressed, and other data follow");
    assert_int_equal(life_pattern_read_memory("name", bytes, size - 12, &p), -1);
    contains(clerror(), "ends too early");
    free(padded);
    free(bytes);
}

static void life_formats_report_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where, *what;
    } cases[] = {
        {"", "name: ", "no cells"},
        {"#C only\n", "name: ", "no cells"},
        {"#C only\n", "patterns are read as", "macrocell (.mc)"},
        {"Dear reader,\n", "line 1, column 2", "patterns are read as"},
        {"x = 3, y = 3\nbo$2b?o$", "line 2, column 6", "'?'"},
        {"x = 3, y = 3\nbo$\n2b\tZ", "line 3, column 4", "states are"},
        {"x = 3, y = 3\nbo$0o!", "line 2, column 4", "from 1 to"},
        {"x = 3, y = 3\nbo$99999999999999999999o!", "line 2, column 4", "from 1 to"},
        {"x = 3, y = 3\nbo$12", "line 2, column 4", "after a count"},
        {"x = three, y = 3\no!", "line 1, column 5", "number"},
        {"x = 3, z = 3\no!", "line 1, column 8", "'y = '"},
        {"x = 3, y = 3, speed = 9\no!", "line 1, column 15", "'rule = '"},
        {"x = 3, y = 3\n\xff", "line 2, column 1", "value 255"},
        {"3D version=1 size=30 pos=14,14,14\nx=2 y=1 z=1 rule=3D5,6,7/6\noo!\n", "line 1, column 1",
         "three dimensions"},
        {"#CXRLE Pos=3\nx = 1, y = 1\no!", "line 1, column 12", "two whole numbers"},
        {"!c\n.O.\n.X.\n", "line 3, column 2", "'X'"},
        {"O.O\nO O\n", "line 2, column 3", "blank"},
        {"[M2]\n*.*.*.*.*$\n", "line 2, column 9", "ninth column"},
        {"[M2]\n$$$$$$$$*\n", "line 2, column 9", "ninth row"},
        {"[M2]\n*q\n", "line 2, column 2", "'q'"},
        {"[M2]\n4 1 0 0 0\n", "line 2, column 1", "not been given"},
        {"[M2]\n*$\n5 1 0 0 0\n", "line 3, column 1", "level 3"},
        {"[M2]\n1 0 256 0 1\n", "line 2, column 1", "no state 256"},
        {"[M2]\n0 0 1 0 1\n", "line 2, column 1", "level 1"},
        {"[M2]\n1 0 2 0 1\n3 1 0 0 0\n", "line 3, column 1", "level 1"},
        {"[M2]\n4 0 0\n", "line 2, column 6", "five numbers"},
        {"[M2]\n4 0 0 0 0 7\n", "line 2, column 11", "after the fifth"},
        {"[M2]\n99 0 0 0 0\n", "line 2, column 1", "larger than 2^40"},
        {"[M2]\n#R B3/S23\n", "line 3, column 1", "no nodes"},
        {"#Life 1.06\n0 0\n3\n", "line 3, column 2", "two whole numbers"},
        {"#Life 1.06\n0 0 1\n", "line 2, column 5", "after the second"},
        {"#Life 1.05\n#P 1\n", "line 2", "two whole numbers"},
        {"#Life 1.05\n.*\n.x\n", "line 3, column 2", "not with 'x'"},
        {"#MCell 4.00\n#GAME Life\n#L .o\n", "line 3, column 5", "states are"},
        {"#MCell 4.00\n#GAME Generations\n#L .a.\n", "line 3, column 6", "states are"},
        {"#MCell 4.00\n#GAME Generations\n#L jP\n", "line 3, column 5", "states are"},
        {"#MCell 4.00\n#GAME Cyclic CA\n", "line 2, column 7", "'Cyclic CA' are not supported"},
        {"x = 1, y = 1, rule = /2/3\nAZ!", "line 2, column 2", "states are"},
        {"xs4_3!", "line 1, column 6", "not part of an apgcode"},
        {"xs4_3y", "line 1, column 7", "after y"},
        {"xs5_33", "line 1, column 1",
         "xs5 stands for a still life of 5 cells, but the code has 4"},
        {"xs99999999999999999999999999_33", "line 1, column 1", "the code has 4"},
        {"-- a script\n", "name: ", "script in Lua"},
        {"\x1f\x8b\x08", "name: ", "is compressed"},
        {"\x89PNG\r\n", "name: ", "is a PNG picture"},
        {"x = 9, y = 9\no999999999999$999999999999bo!", "name: ", "MB of memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct life_pattern p;
        const int status =
            life_pattern_read_memory("name", cases[i].text, strlen(cases[i].text), &p);
        const char *sentence = clerror();
        if (status != -1 || !sentence || !strstr(sentence, cases[i].where) ||
            !strstr(sentence, cases[i].what))
            fail_msg("case %zu: status %d, \"%s\" lacks \"%s\" or \"%s\"", i, status,
                     sentence ? sentence : "NULL", cases[i].where, cases[i].what);
        assert_null(p.word);
    }
}

/* The reader takes what the writer writes; the writer refuses the remainder. */
static void life_rle_refuses_far_positions(void **state)
{
    static const long long far = (long long)1 << 40;
    const struct {
        long long x, y;
        bool fits;
    } row[] = {{far - 1, 1 - far, true}, {far, 0, false}, {0, -far, false}, {LLONG_MIN, 0, false}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint64_t word = 1;
        struct life_pattern p = {.width = 1,
                                 .height = 1,
                                 .columns = 1,
                                 .rows = 1,
                                 .stride = 1,
                                 .word = &word,
                                 .placed = true,
                                 .x = row[i].x,
                                 .y = row[i].y};
        const char *file = in_folder("far.rle");
        assert_int_equal(life_pattern_write(file, &p, NULL), row[i].fits ? 0 : -1);
        if (!row[i].fits) {
            assert_non_null(strstr(clerror(), "write a macrocell file, .mc"));
            continue;
        }
        struct life_pattern q = {.width = 0};
        assert_int_equal(life_pattern_read(file, &q), 0);
        assert_true(q.x == row[i].x && q.y == row[i].y);
        life_pattern_free(&q);
    }
}

/* A soup of 150 x 40 cells in a pattern with a border. */
static void make_soup(struct life_pattern *p)
{
    *p = (struct life_pattern){.width = 170,
                               .height = 50,
                               .left = 13,
                               .top = 5,
                               .columns = 150,
                               .rows = 40,
                               .stride = 3,
                               .rule = "B36/S23",
                               .bounds = "T300,200",
                               .placed = true,
                               .x = -40,
                               .y = 7,
                               .generation = 99};
    p->word = calloc(120, sizeof *p->word);
    srand(3);
    for (size_t y = 0; y < 40; y++)
        for (size_t x = 0; x < 150; x++)
            if (rand() % 3 == 0 || (x + y) % 149 == 0)
                p->word[y * 3 + x / 64] |= (uint64_t)1 << x % 64;
    p->word[0] |= 1; /* so that the rectangle is the smallest */
    p->word[39 * 3 + 2] |= (uint64_t)1 << 21;
}

static void life_formats_round_trip(void **state)
{
    (void)state;
    static const char *const names[] = {"soup.rle", "soup.cells", "soup.mc", "soup.lif"};
    struct life_pattern p, q;
    make_soup(&p);
    for (size_t i = 0; i < 4; i++) {
        works(life_pattern_write(in_folder(names[i]), &p, NULL));
        works(life_pattern_read(in_folder(names[i]), &q));
        if (i != 3) { /* Life 1.06 has no rule */
            assert_string_equal(q.rule, p.rule);
            assert_string_equal(q.bounds, p.bounds);
        }
        assert_true(q.columns == p.columns && q.rows == p.rows);
        assert_memory_equal(q.word, p.word, 120 * 8);
        if (i < 2) /* the others have no border */
            assert_true(q.width == p.width && q.height == p.height && q.left == p.left &&
                        q.top == p.top);
        if (i != 1) /* plain text has neither */
            assert_true((q.generation == 99 || i == 3) && q.x + (long long)q.left == -40 + 13 &&
                        q.y + (long long)q.top == 7 + 5);
        life_pattern_free(&q);
    }
    life_pattern_free(&p);
}

/* Each suffix is in the message that lists them, and in the manual. */
static void life_formats_are_documented(void **state)
{
    size_t size;
    char *page = bytes_of("../docs/life.md", &size);
    (void)state;
    ready(page);
#define FORMAT(name)                                                                               \
    assert_non_null(strstr(life_formats(), life_##name.label.suffixes));                           \
    assert_non_null(strstr(page, life_##name.label.suffixes));
    LIFE_FORMATS(FORMAT)
#undef FORMAT
    free(page);
    assert_string_equal(life_format_of("a.b/c"), "rle");
    assert_string_equal(life_format_of("a.CELLS"), "cells");
    fails(ENOTSUP, life_format_of("a.jpg") ? 0 : -1);
    fails(ENOTSUP, life_format_of("a.png.gz") ? 0 : -1);
    assert_string_equal(life_format_of("a.MC.gz"), "macrocell");
    assert_string_equal(life_format_of("a.gz"), "rle");
}

/* A pattern that provides a few rows at a time. */
struct source {
    const struct life_pattern *whole;
    size_t next, loads, fails; /* fails: at which load; 0: none */
};

static int load_pattern_rows(void *source, size_t first, size_t count, uint64_t *word)
{
    struct source *s = source;
    assert_true(first == s->next && count > 0 && count <= LIFE_BAND_ROWS); /* each row once */
    s->next = first + count;
    memcpy(word, s->whole->word + first * s->whole->stride,
           count * s->whole->stride * sizeof *word);
    return ++s->loads == s->fails ? clerror_set(EIO, "the cells are lost") : 0;
}

static void life_formats_write_bands(void **state)
{
    enum { ROWS = 2 * LIFE_BAND_ROWS + 300, COLUMNS = 200, STRIDE = 4 };
    static const char *const names[] = {"rle", "cells", "mc", "lif", "png"};
    (void)state;
    struct life_pattern p = {.width = COLUMNS,
                             .height = ROWS,
                             .columns = COLUMNS,
                             .rows = ROWS,
                             .stride = STRIDE,
                             .placed = true,
                             .x = -100,
                             .y = -1174,
                             .word = calloc(ROWS * STRIDE, sizeof *p.word)};
    for (size_t i = 0; i < ROWS * STRIDE; i++)
        if (i % 7 < 2) /* and nothing beyond the last column */
            p.word[i] = ((uint64_t)1 << i % 61 | (uint64_t)i << 3) &
                        (i % STRIDE == STRIDE - 1 ? 0xff : UINT64_MAX);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char one[32], two[32];
        snprintf(one, sizeof one, "whole.%s", names[k]);
        snprintf(two, sizeof two, "bands.%s", names[k]);
        struct life_pattern banded = p;
        struct source source = {.whole = &p};
        struct life_band band = {.load = load_pattern_rows,
                                 .arg = &source,
                                 .rows = LIFE_BAND_ROWS,
                                 .word = calloc(LIFE_BAND_ROWS * STRIDE, sizeof *band.word)};
        banded.word = NULL;
        banded.band = &band;
        if (life_pattern_write(in_folder(one), &p, NULL) != 0) { /* pictures without libpng */
            assert_int_equal(clerrno, ENOTSUP);
            free(band.word);
            continue;
        }
        works(life_pattern_write(in_folder(two), &banded, NULL));
        assert_true(source.loads >= 3 && source.next == ROWS);
        char command[2 * PATH_MAX + 16];
        snprintf(command, sizeof command, "cmp '%s' '%s'", in_folder(one), in_folder(two));
        assert_int_equal(system(command), 0);
        assert_int_equal(unlink(in_folder(two)), 0);
        /* If reading the rows fails, no file is left. */
        source = (struct source){.whole = &p, .fails = 2};
        band.first = band.count = 0;
        fails(EIO, life_pattern_write(in_folder(two), &banded, NULL));
        assert_int_equal(access(in_folder(two), F_OK), -1);
        free(band.word);
    }
    free(p.word);
}

static void life_formats_rle_lines_are_short(void **state)
{
    (void)state;
    struct life_pattern p;
    size_t size;
    make_soup(&p);
    works(life_pattern_write(in_folder("short.rle"), &p, NULL));
    char *text = bytes_of(in_folder("short.rle"), &size);
    ready(text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        assert_true(strlen(line) <= 70);
    free(text);
    life_pattern_free(&p);
}

static void life_formats_write_png(void **state)
{
    (void)state;
    struct life_pattern p;
    size_t size;
    make_soup(&p);
    if (life_pattern_write(in_folder("soup.png"), &p, NULL) < 0 && clerrno == ENOTSUP)
        skip();
    char *bytes = bytes_of(in_folder("soup.png"), &size);
    ready(bytes);
    assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\xaa\0\0\0\x32\x01\0",
                        26); /* 170 x 50, 1 bit grey */
    free(bytes);
    works(life_pattern_write_png(in_folder("zoom.png"), &p, 3));
    fails(EINVAL, life_pattern_write_png(in_folder("zoom.png"), &p, 0));
    life_pattern_free(&p);
}

/* The middle of each cell has the cell's colour, and its first pixels are lines. */
static void life_picture_draws_cells_and_lines(void **state)
{
    enum { ZOOM = 5 };
    (void)state;
    struct life_pattern p;
    make_soup(&p);
    char *cells = drawing(&p);
    uint8_t *rgb = malloc(3 * ZOOM * ZOOM * p.width * p.height);
    ready(rgb);
    for (int light = 0; light < 2; light++) {
        const struct life_picture picture = {.zoom = ZOOM, .grid_lines = true, .light = light};
        life_picture_draw(&p, &picture, rgb);
        for (size_t i = 0; i < p.width * p.height; i++) {
            const size_t x = i % p.width, y = i / p.width, left = (y * ZOOM + 2) * p.width * ZOOM;
            const bool live = cells[y * (p.width + 1) + x] == 'O';
            const uint8_t *middle = rgb + 3 * (left + x * ZOOM + 2), *line = middle - 3 * 2,
                          *tenth = rgb + 3 * (left + x / 10 * 10 * ZOOM);
            assert_int_equal(middle[0], live != light ? 255 : 0);
            assert_int_equal(middle[2], middle[0]);
            assert_true(line[0] != 0 && line[0] != 255);
            assert_true((line[0] == tenth[0]) == (x % 10 == 0));
        }
    }
    free(rgb);
    free(cells);
    life_pattern_free(&p);
}

static void life_picture_counts_shares(void **state)
{
    enum { SIDE = 7 };
    (void)state;
    struct life_pattern p;
    make_soup(&p);
    char *cells = drawing(&p);
    const size_t wide = life_picture_squares(p.width, SIDE), high = (50 + SIDE - 1) / SIDE;
    double *share = malloc(wide * high * sizeof *share), most = 0;
    ready(share);
    assert_int_equal(wide, 25);
    const double largest = life_picture_shares(&p, SIDE, share);
    for (size_t i = 0; i < wide * high; i++) {
        int live = 0, all = 0;
        for (size_t y = i / wide * SIDE; y < p.height && y < (i / wide + 1) * SIDE; y++)
            for (size_t x = i % wide * SIDE; x < p.width && x < (i % wide + 1) * SIDE; x++, all++)
                live += cells[y * (p.width + 1) + x] == 'O';
        assert_true(share[i] == (double)live / all);
        most = share[i] > most ? share[i] : most;
    }
    assert_true(largest == most && most > 0);
    free(share);
    free(cells);
    life_pattern_free(&p);
}

/* Fail unless a PNG file has this size. */
static void check_png_size(const char *file, int width, int height)
{
    size_t size;
    char *bytes = bytes_of(in_folder(file), &size);
    ready(bytes);
    const unsigned char *b = (const unsigned char *)bytes;
    assert_int_equal(b[18] << 8 | b[19], width);
    assert_int_equal(b[22] << 8 | b[23], height);
    free(bytes);
}

/* Each line of a caption takes 13 pixels. A small picture is widened to the caption. */
static void life_picture_has_room_for_caption(void **state)
{
    (void)state;
    struct life_pattern p, glider;
    struct life_picture picture = {.zoom = 2, .caption = "generation 99"};
    make_soup(&p);
    if (life_picture_write(in_folder("soup.png"), &p, &picture) < 0 && clerrno == ENOTSUP)
        skip();
    check_png_size("soup.png", 340, 100 + 2 * 13);
    read_pattern_text("bo$2bo$3o!", &glider);
    works(life_picture_write(in_folder("glider.png"), &glider, &picture));
    check_png_size("glider.png", 160, 80);
    picture.caption = NULL;
    works(life_picture_write(in_folder("glider.png"), &glider, &picture));
    check_png_size("glider.png", 6, 6);
    life_pattern_free(&p);
    life_pattern_free(&glider);
}

static void life_formats_report_unreadable_file(void **state)
{
    (void)state;
    struct life_pattern p;
    fails(ENOENT, life_pattern_read(in_folder("missing.rle"), &p));
    fails(EISDIR, life_pattern_read(files_folder, &p));
    make_soup(&p);
    fails(ENOENT, life_pattern_write("/nowhere/at/all.rle", &p, NULL));
    life_pattern_free(&p);
}

static void life_formats_report_full_disk(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) < 0)
        skip();
    struct life_pattern p;
    make_soup(&p);
    static const char *const formats[] = {"rle", "cells", "macrocell"};
    for (size_t i = 0; i < 3; i++)
        fails(ENOSPC, life_pattern_write("/dev/full", &p, formats[i]));
    life_pattern_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(life_formats_read_rle),
        cmocka_unit_test(life_formats_read_cells),
        cmocka_unit_test(life_formats_read_macrocell),
        cmocka_unit_test(life_formats_read_life105_and_106),
        cmocka_unit_test(life_formats_read_gzip),
        cmocka_unit_test(life_formats_read_gzip_members),
        cmocka_unit_test(life_formats_check_zip_checksum),
        cmocka_unit_test(life_formats_read_what_golly_reads),
        cmocka_unit_test(life_formats_read_zip),
        cmocka_unit_test(life_formats_read_plane_tiles),
        cmocka_unit_test(life_formats_report_line_and_column),
        cmocka_unit_test(crc32_of_digits_is_published_value),
        cmocka_unit_test(life_formats_write_png),
        cmocka_unit_test(life_picture_draws_cells_and_lines),
        cmocka_unit_test(life_picture_counts_shares),
        cmocka_unit_test(life_picture_has_room_for_caption),
        cmocka_unit_test(life_rle_refuses_far_positions),
        cmocka_unit_test(life_formats_round_trip),
        cmocka_unit_test(life_formats_report_unreadable_file),
        cmocka_unit_test(life_formats_rle_lines_are_short),
        cmocka_unit_test(life_formats_write_bands),
        cmocka_unit_test(life_formats_report_full_disk),
        cmocka_unit_test(life_formats_are_documented),
    };
    return cmocka_run_group_tests(tests, files_create, files_remove);
}

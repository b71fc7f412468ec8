/* test_formats_particles.c - particle files: valid and invalid input, error messages, and that
 * nothing is lost.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "particles_parts.h"
#include "core/host_memory.h"
#include "formats/particles_format.h"

#include <float.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* clang-format off */
/* One gas, one dark and one star particle at time 1.5, packed by Python's struct module. */
static const unsigned char little[] = {
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xf8, 0x3f, 0x03, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3f, 0x00, 0x00, 0x80, 0x3f,
    0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x40, 0x40, 0x00, 0x00, 0x80, 0xbf, 0x00, 0x00, 0x00, 0xc0, 0x00, 0x00, 0x40, 0xc0,
    0x00, 0x00, 0x10, 0x41, 0x00, 0x00, 0x10, 0x41, 0x00, 0x00, 0x10, 0x41, 0x00, 0x00, 0x10, 0x41, 0x00, 0x00, 0x10, 0x41,
    0x00, 0x00, 0x80, 0x3e, 0x00, 0x00, 0x80, 0x40, 0x00, 0x00, 0xa0, 0x40, 0x00, 0x00, 0xc0, 0x40, 0x00, 0x00, 0x00, 0x3e,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0x41, 0x00, 0x00, 0x00, 0x41, 0x6f, 0x12, 0x83, 0x3a,
    0xf9, 0x02, 0x15, 0x50, 0x00, 0x00, 0xf0, 0xc0, 0x08, 0xe5, 0x3c, 0x1e, 0x00, 0x00, 0x40, 0x40, 0x00, 0x00, 0x00, 0x40,
    0x00, 0x00, 0x80, 0x3f, 0x00, 0x00, 0xe0, 0x40, 0x00, 0x00, 0xe0, 0x40, 0x00, 0x00, 0xe0, 0x40, 0x00, 0x00, 0xe0, 0x40,
};

static const unsigned char big[] = {
    0x3f, 0xf8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x01,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x3f, 0x00, 0x00, 0x00, 0x3f, 0x80, 0x00, 0x00,
    0x40, 0x00, 0x00, 0x00, 0x40, 0x40, 0x00, 0x00, 0xbf, 0x80, 0x00, 0x00, 0xc0, 0x00, 0x00, 0x00, 0xc0, 0x40, 0x00, 0x00,
    0x41, 0x10, 0x00, 0x00, 0x41, 0x10, 0x00, 0x00, 0x41, 0x10, 0x00, 0x00, 0x41, 0x10, 0x00, 0x00, 0x41, 0x10, 0x00, 0x00,
    0x3e, 0x80, 0x00, 0x00, 0x40, 0x80, 0x00, 0x00, 0x40, 0xa0, 0x00, 0x00, 0x40, 0xc0, 0x00, 0x00, 0x3e, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x80, 0x00, 0x00, 0x00, 0x41, 0x00, 0x00, 0x00, 0x41, 0x00, 0x00, 0x00, 0x3a, 0x83, 0x12, 0x6f,
    0x50, 0x15, 0x02, 0xf9, 0xc0, 0xf0, 0x00, 0x00, 0x1e, 0x3c, 0xe5, 0x08, 0x40, 0x40, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00,
    0x3f, 0x80, 0x00, 0x00, 0x40, 0xe0, 0x00, 0x00, 0x40, 0xe0, 0x00, 0x00, 0x40, 0xe0, 0x00, 0x00, 0x40, 0xe0, 0x00, 0x00,
};
/* clang-format on */

static uint64_t state = 88172645463325252ULL;

static uint64_t rnd(void) /* xorshift64, Marsaglia 2003 */
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static double any_double(void) /* finite, of any size and sign */
{
    for (;;) {
        uint64_t bits = rnd();
        double x;
        memcpy(&x, &bits, sizeof x);
        if (isfinite(x))
            return x;
    }
}

static struct particles make_few_particles(size_t n)
{
    struct particles p = {.n = n, .time = 0.1};
    p.mass = malloc(n * sizeof *p.mass);
    p.pos = malloc(n * sizeof *p.pos);
    p.vel = malloc(n * sizeof *p.vel);
    ready(p.mass);
    ready(p.pos);
    ready(p.vel);
    return p;
}

static struct particles make_random_particles(size_t n, double (*value)(void))
{
    struct particles p = make_few_particles(n);
    for (size_t i = 0; i < n; i++) {
        p.mass[i] = fabs(value());
        for (int axis = 0; axis < 3; axis++) {
            p.pos[i][axis] = value();
            p.vel[i][axis] = value();
        }
    }
    return p;
}

static void check_same_particles(const struct particles *a, const struct particles *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(&a->time, &b->time, sizeof a->time);
    assert_memory_equal(a->mass, b->mass, a->n * sizeof *a->mass);
    assert_memory_equal(a->pos, b->pos, a->n * sizeof *a->pos);
    assert_memory_equal(a->vel, b->vel, a->n * sizeof *a->vel);
}

static void body_is(const struct particles *p, size_t i, const double expected[7])
{
    assert_true(i < p->n);
    assert_true(p->mass[i] == expected[0]);
    for (int axis = 0; axis < 3; axis++) {
        assert_true(p->pos[i][axis] == expected[1 + axis]);
        assert_true(p->vel[i][axis] == expected[4 + axis]);
    }
}

static struct particles read_particles_text(const char *text)
{
    struct particles p;
    works(particles_read_memory("memory", text, strlen(text), &p));
    return p;
}

/* ---- Text. ----------------------------------------------------------------------------------- */

static void particles_read_text_forms(void **unused)
{
    static const char *const same[] = {
        "1 2 3 4 5 6 7\n8 9 10 11 12 13 14\n",
        "1 2 3 4 5 6 7\n8 9 10 11 12 13 14",
        "\357\273\277# a byte order mark\n\n  1\t2 3 4 5\t\t6 7  \r\n\r\n \t \n8 9 10 11 12 13 14\r\n\n# end",
        "1 2 3 4 5 6 7# Sun\n   # more # and more\n8 9 10 11 12 13 14 # Earth\n",
        "1.0 +2 3e0 4.E0 .5e1 0.6d1 700D-2\n8 9 10 11 12 13 14\n",
    };
    const double first[7] = {1, 2, 3, 4, 5, 6, 7}, second[7] = {8, 9, 10, 11, 12, 13, 14};
    (void)unused;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct particles p = read_particles_text(same[i]);
        assert_int_equal(p.n, 2);
        assert_string_equal(p.format, "text");
        assert_int_equal(p.gas + p.star, 0);
        body_is(&p, 0, first);
        body_is(&p, 1, second);
        particles_free(&p);
        assert_null(p.mass);
        particles_free(&p);
    }
}

static void particles_read_text_time(void **unused)
{
    static const struct {
        const char *text;
        double time;
    } cases[] = {
        {"# time = 2.5\n1 0 0 0 0 0 0\n", 2.5},     {"#time = -1e-3 years\n1 0 0 0 0 0 0\n", -1e-3},
        {"1 0 0 0 0 0 0\n# time = 2.5\n", 0},       {"# time\n1 0 0 0 0 0 0\n", 0},
        {"# times = 2\n1 0 0 0 0 0 0\n", 0},        {"# time = nan\n1 0 0 0 0 0 0\n", 0},
        {"# about time = 2.5\n1 0 0 0 0 0 0\n", 0}, {"# time = 1\n# time = 2\n1 0 0 0 0 0 0\n", 2},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct particles p = read_particles_text(cases[i].text);
        assert_true(p.time == cases[i].time);
        particles_free(&p);
    }
}

static void particles_reject_bad_text(void **unused)
{
    static const struct {
        const char *text, *part, *other;
    } cases[] = {
        /* clang-format off */
        {"1 2 3 4 5 6\n", "name:1: 6 columns instead of 7", "mass x y z vx vy vz"},
        {"1 2 3 4 5 6 7\n\n# x\n1\n", "name:4: 1 column instead of 7", ""},
        {"1 2 3 4 5 6 # 7\n", "name:1: 6 columns", ""},
        {"1 2 3 4 5 6 7 8\n", "name:1: more than 7 columns", "the eighth is '8'"},
        {"1 2 3 4 5 6 7 junk\n", "name:1: more than 7 columns", "'junk'"},
        {"1 2 3 4 5 6 7\n1 2 three 4 5 6 7\n", "name:2: 'three' in column 3 (y) is not a number", ""},
        {"mass x y z vx vy vz\n", "name:1: 'mass' in column 1 (mass) is not a number", "seven numbers"},
        {"1,5 2 3 4 5 6 7\n", "'1,5' in column 1 (mass) is not a number", "with a point"},
        {"1, 2, 3, 4, 5, 6, 7\n", "'1,' in column 1 (mass)", "separate columns by blanks"},
        {"1 2 3 4 nan 6 7\n", "name:1: 'nan' in column 5 (vx) is not a finite number", ""},
        {"1 2 3 4 5 -Inf 7\n", "'-Inf' in column 6 (vy) is not a finite number", ""},
        {"1 2 3 4 5 6 1e999\n", "'1e999' in column 7 (vz) is not a finite number", ""},
        {"1 2 3 4 5 6 0x10\n", "'0x10' in column 7 (vz) is not a number", ""},
        {"1 0 0 0 0 0 0\n-1e-9 0 0 0 0 0 0\n", "name:2: the mass -1e-09 is negative", ""},
        {"1 2 3 4 5 6 \001\002\377\n", "'?""?""?' in column 7", ""},
        {"1 2 3 4 5 6 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n", "'aaaaa", "...' in column 7"},
        {"# only\n\n   \n#", "name: holds no bodies", ""},
        {"\n", "name: holds no bodies", ""},
        {"", "name: is empty", ""},
        {"\037\213\010\000junk", "name: is compressed by gzip", "unpack"},
        {"\211PNG\r\n\032\n", "name: is a PNG picture", ""},
        {"\377\3761", "name: is UTF-16 text", ""},
        /* clang-format on */
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct particles p;
        memset(&p, 255, sizeof p);
        fails_saying(EINVAL,
                     particles_read_memory("name", cases[i].text, strlen(cases[i].text), &p),
                     cases[i].part, cases[i].other);
        assert_int_equal(p.n, 0);
        assert_null(p.mass);
    }
}

/* Larger than every buffer, so that lines cross buffer ends; the values come from printf. */
static void particles_read_text_beyond_buffer(void **unused)
{
    enum { N = 60000 };
    const char *path = in_folder("large.tab");
    struct particles p, q = make_random_particles(N, any_double);
    (void)unused;
    FILE *fp = fopen(path, "w");
    ready(fp);
    for (size_t i = 0; i < N; i++)
        fprintf(fp, "%.17g %.17g %.17g %.17g %.17g %.17g %.17g%s", q.mass[i], q.pos[i][0],
                q.pos[i][1], q.pos[i][2], q.vel[i][0], q.vel[i][1], q.vel[i][2],
                i % 3 ? "\n" : " # a comment of its own\n\n");
    assert_int_equal(fclose(fp), 0);
    works(particles_read(path, &p));
    p.time = q.time;
    check_same_particles(&p, &q);
    particles_free(&p);
    particles_free(&q);
}

static void particles_reject_endless_line(void **unused)
{
    enum { SIZE = 3 << 20 };
    char *text = malloc(SIZE);
    struct particles p;
    (void)unused;
    memset(text, '1', SIZE);
    put_bytes(in_folder("endless.tab"), text, SIZE);
    free(text);
    fails_saying(EINVAL, particles_read(in_folder("endless.tab"), &p),
                 "endless.tab:1: the line is longer than");
}

static void particles_text_keeps_every_bit(void **unused)
{
    static const double hard[7] = {5e-324, -0.0, DBL_MAX, -DBL_MIN, 0.1, 1e23, -9007199254740993.0};
    struct particles p = make_random_particles(5000, any_double), q;
    (void)unused;
    p.mass[0] = hard[0];
    memcpy(p.pos[0], hard + 1, sizeof p.pos[0]);
    memcpy(p.vel[0], hard + 4, sizeof p.vel[0]);
    works(particles_write(in_folder("bits.tab"), &p, NULL));
    works(particles_read(in_folder("bits.tab"), &q));
    check_same_particles(&p, &q);
    particles_free(&p);
    particles_free(&q);
}

/* ---- TIPSY. ---------------------------------------------------------------------------------- */

static void check_three(const struct particles *p)
{
    const double bodies[3][7] = {{0.5, 1, 2, 3, -1, -2, -3},
                                 {0.25, 4, 5, 6, 0.125, 0, -0.0},
                                 {1e-3f, 1e10f, -7.5, 1e-20f, 3, 2, 1}};
    assert_int_equal(p->n, 3);
    assert_int_equal(p->gas, 1);
    assert_int_equal(p->star, 1);
    assert_true(p->time == 1.5);
    for (size_t i = 0; i < 3; i++)
        body_is(p, i, bodies[i]);
}

static void particles_read_tipsy(void **unused)
{
    unsigned char unpadded[sizeof big - 4];
    struct particles p;
    (void)unused;
    works(particles_read_memory("big", big, sizeof big, &p));
    check_three(&p);
    assert_string_equal(p.format, "tipsy");
    particles_free(&p);
    works(particles_read_memory("little", little, sizeof little, &p));
    check_three(&p);
    assert_string_equal(p.format, "tipsy_le");
    particles_free(&p);
    memcpy(unpadded, big, 28);
    memcpy(unpadded + 28, big + 32, sizeof big - 32);
    put_bytes(in_folder("unpadded.std"), unpadded, sizeof unpadded);
    works(particles_read(in_folder("unpadded.std"), &p));
    check_three(&p);
    particles_free(&p);
}

/* Properties that are not stored, such as density and metals, are written as 0; the remainder is
 * unchanged. */
static void particles_write_tipsy(void **unused)
{
    static const char *const names[] = {"w.tipsy", "w.std", "w.TIP", "w.bin"};
    static const size_t kept[][2] = {{32, 28}, {68, 4},   {76, 4}, {80, 28},
                                     {108, 8}, {116, 28}, {152, 8}};
    struct particles p;
    (void)unused;
    works(particles_read_memory("big", big, sizeof big, &p));
    for (size_t k = 0; k < 4; k++) {
        unsigned char expected[sizeof big] = {0};
        const unsigned char *from = k < 3 ? big : little;
        size_t size = 0;
        memcpy(expected, from, 32);
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            memcpy(expected + kept[i][0], from + kept[i][0], kept[i][1]);
        works(particles_write(in_folder(names[k]), &p, NULL));
        char *bytes = bytes_of(in_folder(names[k]), &size);
        assert_int_equal(size, sizeof expected);
        assert_memory_equal(bytes, expected, size);
        free(bytes);
    }
    particles_free(&p);
}

static void particles_reject_truncated_tipsy(void **unused)
{
    (void)unused;
    for (size_t size = 1; size < sizeof big; size++) {
        struct particles p;
        if (size == sizeof big - 4)
            continue; /* the length of a file without padding, indistinguishable */
        if (size >= 28)
            fails_saying(EINVAL, particles_read_memory("piece", little, size, &p),
                         "piece: is cut short");
        else
            fails_saying(EINVAL, particles_read_memory("piece", little, size, &p), "piece");
        fails(EINVAL, particles_read_memory("piece", big, size, &p));
        assert_null(p.mass);
    }
}

static void patch32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void particles_reject_bad_tipsy(void **unused)
{
    const uint32_t nan = 0x7fc00000, infinity = 0x7f800000, minus_one = 0xbf800000;
    const struct {
        size_t at; /* up to two words are overwritten */
        uint32_t value;
        size_t at2;
        uint32_t value2;
        const char *part, *other;
    } cases[] = {
        {8, 4, 0, 0, "says 4 bodies, but 1 gas + 1 dark + 1 star are 3", ""},
        {16, 0xffffffff, 0, 0, "says -1 gas bodies", ""},
        {20, 0x80000000, 0, 0, "says -2147483648 dark bodies", ""},
        {8, 0x7fffffff, 24, 0x7ffffffd, "is cut short: 160 bytes of the 94489280", ""},
        {16, 0x7fffffff, 20, 0x7fffffff, "says 3 bodies, but", "are 4294967295"},
        {12, 2, 0, 0, "says 2 dimensions", ""},
        {12, 77, 0, 0, "is not a file of bodies", "TIPSY"},
        {0, 0x7ff00000, 0, 0, "time in its header is inf", ""},
        {32, minus_one, 0, 0, "mass -1 of body 1 (gas) is negative", ""},
        {36, nan, 0, 0, "x of body 1 (gas) is nan", ""},
        {80, infinity, 0, 0, "mass of body 2 (dark) is inf", ""},
        {140, nan, 0, 0, "vz of body 3 (star) is nan", ""},
        {8, 2, 24, 0, "has 44 bytes left over after its 2 bodies", ""},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char bytes[sizeof big];
        struct particles p;
        memcpy(bytes, big, sizeof big);
        patch32(bytes + cases[i].at, cases[i].value);
        if (cases[i].at2)
            patch32(bytes + cases[i].at2, cases[i].value2);
        fails_saying(EINVAL, particles_read_memory("bad", bytes, sizeof bytes, &p),
                     "bad: ", cases[i].part, cases[i].other);
        assert_int_equal(p.n, 0);
    }
    unsigned char none[32] = {0};
    struct particles p;
    none[15] = 3;
    fails_saying(EINVAL, particles_read_memory("none", none, sizeof none, &p),
                 "says that it holds no bodies");
}

static double any_float(void)
{
    double x;
    do
        x = (double)(float)any_double();
    while (!isfinite(x));
    return x;
}

/* Return false, and print the reason, for HDF5 in a build without libhdf5. */
static bool can_write(const char *path, const struct particles *p)
{
    const int status = particles_write(path, p, NULL);
    if (status < 0 && clerrno == ENOTSUP) {
        says("install it (Debian: libhdf5-dev)");
        return false;
    }
    works(status);
    return true;
}

/* Write and read each format: text keeps doubles, TIPSY floats. */
static void particles_round_trip_each_format(void **unused)
{
    static const char *const names[] = {"r.tab", "r.tipsy", "r.bin", "r2.tab",
                                        "r.std", "r.npy",   "r.hdf5"};
    struct particles p = make_random_particles(3001, any_float), q;
    (void)unused;
    p.gas = 1000;
    p.star = 2000;
    p.time = 0.3;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = in_folder(names[i]);
        p.time = strstr(names[i], ".npy") ? 0 : 0.3; /* which a matrix has no place for */
        if (!can_write(path, &p))
            continue;
        works(particles_read(path, &q));
        check_same_particles(&p, &q);
        bool plain = strstr(names[i], ".tab") || strstr(names[i], ".npy");
        assert_int_equal(q.gas, plain ? 0 : 1000);
        assert_int_equal(q.star, plain ? 0 : 2000);
        particles_free(&q);
    }
    particles_free(&p);
}

/* Give bodies the optional arrays; the softenings of all but the last body are 0. */
static void add_arrays(struct particles *p)
{
    p->also = PARTICLES_SOFTENING | PARTICLES_POTENTIAL | PARTICLES_ID | PARTICLES_RADIUS;
    p->softening = calloc(p->n, sizeof *p->softening);
    p->potential = calloc(p->n, sizeof *p->potential);
    p->id = calloc(p->n, sizeof *p->id);
    p->radius = calloc(p->n, sizeof *p->radius);
    for (size_t i = 0; i < p->n; i++) {
        p->id[i] = rnd();
        p->radius[i] = (double)i / 4;
    }
    p->softening[p->n - 1] = 0.5;
}

static void particles_parts_are_the_whole(void **unused)
{
    static const char *const names[] = {"s.tab", "s.tipsy", "s.bin", "s.npy", "s.hdf5"};
    static const char *const texts[] = {
        "1 0 0 0 0 0 0",
        "\357\273\277# time = 2\n# softening = 0.5\n\n1 0 0 0 0 0 0\n# b\n\r\n2 1 0 0 0 0 0\n"
        "  3 0 0 0 0 0 1",
        "# mass vx vy vz radius x y z\n1 1 1 1 0.5 2 2 2\n2 1 1 1 0 2 2 2\n# time = 3\n"};
    (void)unused;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t n = 1; n < 4000; n = 10 * n + 7) {
            struct particles p = make_random_particles(n, any_float);
            p.gas = n / 3;
            p.star = n / 4;
            add_arrays(&p);
            works(particles_set_number(&p, NOTE_softening, 0.25));
            if (can_write(in_folder(names[i]), &p))
                check_parts(in_folder(names[i]));
            particles_free(&p);
        }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put_text(in_folder("parts.tab"), texts[i]);
        check_parts(in_folder("parts.tab"));
    }
}

static void cut(const char *file, off_t bytes)
{
    struct stat info;
    assert_int_equal(stat(file, &info), 0);
    assert_int_equal(truncate(file, info.st_size - bytes), 0);
}

/* A short file fails for each part; a wrong value for the part that has it, with its number. */
static void particles_reject_bad_parts(void **unused)
{
    static const char *const names[] = {"t.tipsy", "t.bin", "t.npy", "t.hdf5"};
    static const char *const whole_only[] = {"1 0 0 0 0 0 0 # Sun\n1 1 0 0 0 0 0\n",
                                             "# name mass x y z vx vy vz\nA 1 0 0 0 0 0 0\n",
                                             "# mass a\n1\n0.5 1\n", "1 0 0 0 0 0 0\n"};
    struct particles p = make_random_particles(100, any_float), q;
    (void)unused;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *file = in_folder(names[i]);
        if (!can_write(file, &p))
            continue;
        cut(file, 8);
        for (size_t part = 0; part < 2; part++)
            fails_saying(EINVAL, particles_read_part(file, part, 2, &q), "cut short");
        assert_null(q.mass);
    }
    put_text(in_folder("t.tab"), "1 0 0 0 0 0 0\n1 0 0 0 0 0 0\n1 0 0 0\n");
    works(particles_read_part(in_folder("t.tab"), 0, 2, &q));
    particles_free(&q);
    fails_saying(EINVAL, particles_read_part(in_folder("t.tab"), 1, 2, &q),
                 "t.tab:3: 4 columns instead of 7");
    for (size_t i = 0; i < sizeof whole_only / sizeof *whole_only; i++) {
        put_text(in_folder("t.tab"), whole_only[i]);
        fails_saying(ENOTSUP, particles_read_part(in_folder("t.tab"), 0, 2, &q),
                     "t.tab: cannot be read in parts");
    }
    fails_saying(ENOENT, particles_read_part(in_folder("nowhere.tab"), 0, 2, &q),
                 "nowhere.tab: no such file");
    fails(ENOTSUP, particles_read_part("-", 0, 2, &q));
    particles_free(&p);
}

/* With memory for a part only, a part can be read and the whole file cannot. */
static void particles_part_needs_memory_for_a_part(void **unused)
{
    static const char *const names[] = {"m.tab", "m.tipsy", "m.npy"};
    struct particles p = make_random_particles(150000, any_float), q;
    struct rlimit old, limit;
    (void)unused;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        works(particles_write(in_folder(names[i]), &p, NULL));
    particles_free(&p);
    if (SANITIZED)
        skip();
    assert_int_equal(getrlimit(RLIMIT_DATA, &old), 0);
    limit = old;
    limit.rlim_cur = (rlim_t)host_memory_used(5) + 5000000;
    assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fails(ENOMEM, particles_read(in_folder(names[i]), &q));
        works(particles_read_part(in_folder(names[i]), 3, 16, &q));
        assert_int_equal(q.n, 9375);
        particles_free(&q);
    }
    assert_int_equal(setrlimit(RLIMIT_DATA, &old), 0);
}

static void particles_tipsy_rounds_to_floats(void **unused)
{
    struct particles p = make_few_particles(1), q;
    (void)unused;
    p.mass[0] = 0.1;
    for (int axis = 0; axis < 3; axis++) {
        p.pos[0][axis] = 1.0 / 3 + axis;
        p.vel[0][axis] = 1e-50; /* too small for a float: 0 */
    }
    works(particles_write(in_folder("f.tipsy"), &p, NULL));
    works(particles_read(in_folder("f.tipsy"), &q));
    assert_true(q.mass[0] == 0.1f);
    for (int axis = 0; axis < 3; axis++) {
        assert_true(q.pos[0][axis] == (float)p.pos[0][axis]);
        assert_true(q.vel[0][axis] == 0);
    }
    particles_free(&p);
    particles_free(&q);
}

/* Names return from a text file, whatever they begin with: as comments, or else in a column. */
static void particles_text_keeps_names(void **unused)
{
    static const char *const names[] = {"Sun - K2-18b a,b", "Sun 433 67P/C-G -", "1 2 3 4",
                                        "=1+1 Sun - \xC3\x9Cn"};
    struct particles p = make_random_particles(4, any_float), q;
    (void)unused;
    p.radius = calloc(p.n, sizeof *p.radius);
    ready(p.radius);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        free(p.note[NOTE_names]);
        p.note[NOTE_names] = strdup(names[i]);
        works(particles_write(in_folder("names.tab"), &p, NULL));
        works(particles_read(in_folder("names.tab"), &q));
        assert_string_equal(q.note[NOTE_names], names[i]);
        check_same_particles(&p, &q);
        particles_free(&q);
    }
    particles_free(&p);
}

/* ---- Files. ---------------------------------------------------------------------------------- */

static void particles_error_names_unreadable_file(void **unused)
{
    struct particles p;
    bool root = geteuid() == 0;
    (void)unused;
    fails_saying(ENOENT, particles_read(in_folder("missing.tab"), &p), "missing.tab: no such file");
    fails_saying(EISDIR, particles_read(files_folder, &p), files_folder, "is a folder");
    put_text(in_folder("empty.tab"), "");
    fails_saying(EINVAL, particles_read(in_folder("empty.tab"), &p), "empty.tab: is empty");
    static const char *const binary[] = {"text.hdf5", "text.H5", "text.npy", "text.tipsy",
                                         "text.bin"};
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++) {
        put_text(in_folder(binary[i]), "1 2 3 4 5 6 7\n");
        fails_saying(EINVAL, particles_read(in_folder(binary[i]), &p), binary[i],
                     "which its suffix says it is; text has one of the suffixes .tab");
    }
    put_text(in_folder("secret.tab"), "1 2 3 4 5 6 7\n");
    assert_int_equal(chmod(in_folder("secret.tab"), 0), 0);
    assert_int_equal(root ? seteuid(65534) : 0, 0); /* root may read everything: become nobody */
    int status = particles_read(in_folder("secret.tab"), &p);
    assert_int_equal(root ? seteuid(0) : 0, 0);
    assert_int_equal(status, -1);
    assert_int_equal(clerrno, EACCES);
    says("secret.tab: no permission to read it");
}

/* Replace standard input by a pipe into which a child writes, and read "-". */
static int read_from_pipe(const void *bytes, size_t size, struct particles *p)
{
    int ends[2], saved = dup(0);
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const char *at = bytes;
        close(ends[0]);
        for (size_t left = size; left;) { /* in small pieces that cut lines and records */
            ssize_t put = write(ends[1], at, left < 1000 ? left : 1000);
            if (put < 0)
                break;
            at += put;
            left -= (size_t)put;
        }
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], 0);
    close(ends[0]);
    int status = particles_read("-", p);
    dup2(saved, 0);
    close(saved);
    waitpid(child, NULL, 0);
    return status;
}

static void particles_read_standard_input(void **unused)
{
    static const char *const names[] = {"pipe.tab", "pipe.tipsy"};
    struct particles p = make_random_particles(4000, any_float), q;
    (void)unused;
    for (int i = 0; i < 2; i++) {
        size_t size = 0;
        works(particles_write(in_folder(names[i]), &p, NULL));
        char *bytes = bytes_of(in_folder(names[i]), &size);
        works(read_from_pipe(bytes, size, &q));
        check_same_particles(&p, &q);
        particles_free(&q);
        if (i == 1) {
            assert_int_equal(read_from_pipe(bytes, size - 1, &q), -1);
            says("standard input: is cut short in body 4000 of 4000");
            bytes = realloc(bytes, size + 1);
            bytes[size] = 0;
            assert_int_equal(read_from_pipe(bytes, size + 1, &q), -1);
            says("standard input: has bytes left over after its 4000 bodies");
        }
        free(bytes);
    }
    assert_int_equal(read_from_pipe("1 2 x", 5, &q), -1);
    says("standard input:1: 'x' in column 3 (y)");
    /* A header that announces 2^31 - 1 bodies without data must not cost memory. */
    unsigned char promise[32] = {
        [8] = 0x7f, 0xff, 0xff, 0xff, [15] = 3, [20] = 0x7f, 0xff, 0xff, 0xff};
    assert_int_equal(read_from_pipe(promise, sizeof promise, &q), -1);
    says("is cut short in body 1 of 2147483647");
    particles_free(&p);
}

static void particles_suffix_selects_format(void **unused)
{
    static const char *const unknown[] = {"a.pdf", "a.jpg", "x.zip", "a.tab.gz"};
    (void)unused;
    assert_string_equal(particles_format_of("a.tab"), "text");
    assert_string_equal(particles_format_of("a"), "text");
    assert_string_equal(particles_format_of("-"), "text");
    assert_string_equal(particles_format_of("out.bin/a"), "text");
    assert_string_equal(particles_format_of("a.BIN"), "tipsy_le");
    assert_string_equal(particles_format_of("a.tab.std"), "tipsy");
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        fails_saying(ENOTSUP, particles_format_of(unknown[i]) ? 0 : -1, unknown[i],
                     "unknown suffix", ".tab", ".tipsy");
}

/* Each suffix is in the message that lists them, and in the manual. */
static void particles_formats_are_documented(void **unused)
{
    size_t size;
    char *page = bytes_of("../docs/command.md", &size);
    (void)unused;
    ready(page);
#define FORMAT(name)                                                                               \
    assert_non_null(strstr(particles_readable(), particles_##name.label.suffixes));                \
    assert_non_null(strstr(particles_readable(), particles_##name.label.title));                   \
    assert_non_null(strstr(page, particles_##name.label.suffixes));                                \
    assert_non_null(strstr(page, particles_##name.label.title));
    PARTICLES_FORMATS(FORMAT)
#undef FORMAT
    free(page);
}

static void particles_reject_writing_unreadable_values(void **unused)
{
    struct particles p = make_random_particles(10, any_float), none = {0};
    const char *path = in_folder("bad.tab"), *tipsy = in_folder("bad.tipsy");
    (void)unused;
    fails_saying(EINVAL, particles_write(path, &none, NULL), "bad.tab", "no bodies");
    p.vel[6][1] = NAN;
    fails_saying(EINVAL, particles_write(path, &p, NULL), "vy of body 7 is nan");
    p.vel[6][1] = 0;
    p.mass[2] = -1;
    fails_saying(EINVAL, particles_write(path, &p, NULL), "mass of body 3 is -1");
    p.mass[2] = 1e300;
    fails_saying(ERANGE, particles_write(tipsy, &p, NULL), "bad.tipsy", "mass of body 3, 1e+300",
                 "text");
    works(particles_write(path, &p, NULL));
    p.mass[2] = 1;
    p.star = 11;
    fails(EINVAL, particles_write(tipsy, &p, NULL));
    p.star = 0;
    fails_saying(ENOENT, particles_write(in_folder("none/x.tab"), &p, NULL),
                 "none' does not exist");
    p.time = INFINITY;
    fails_saying(EINVAL, particles_write(tipsy, &p, NULL), "time is inf");
    assert_int_equal(count_files(files_folder, "bad.tipsy"), 0);
    particles_free(&p);
}

static void particles_report_full_disk(void **unused)
{
    struct particles p = make_random_particles(20000, any_float);
    (void)unused;
    if (access("/dev/full", W_OK) < 0)
        skip();
    fails_saying(ENOSPC, particles_write("/dev/full", &p, "text"), "/dev/full", "disk is full");
    fails_saying(ENOSPC, particles_write("/dev/full", &p, "tipsy"), "/dev/full", "disk is full");
    p.n = 1;
    fails_saying(ENOSPC, particles_write("/dev/full", &p, "text"), "/dev/full", "disk is full");
    particles_free(&p);
}

/* ---- A galaxy of others' making, in both formats. -------------------------------------------- */

static const char *data(const char *name)
{
    static char path[PATH_MAX];
    const char *folder = getenv("STDCL_TEST_DATA");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "../../shared/data", name);
    return path;
}

static void particles_formats_give_same_galaxy(void **unused)
{
    struct particles tab, bin;
    double total = 0;
    (void)unused;
    if (access(data("galaxy_20K.tab"), R_OK) < 0 || access(data("galaxy_20K.bin"), R_OK) < 0) {
        print_message("%s and .bin are not here\n", data("galaxy_20K.tab"));
        skip();
    }
    works(particles_read(data("galaxy_20K.tab"), &tab));
    works(particles_read(data("galaxy_20K.bin"), &bin));
    assert_string_equal(bin.format, "tipsy_le");
    assert_int_equal(tab.n, 20000);
    assert_int_equal(bin.n, 20000);
    assert_int_equal(bin.gas, 0);
    assert_int_equal(bin.star, 17500);
    for (size_t i = 0; i < 20000; i++) { /* the text has 8 digits */
        assert_true(fabs(tab.mass[i] - bin.mass[i]) <= 5e-8 * bin.mass[i]);
        for (int axis = 0; axis < 3; axis++) {
            assert_true(fabs(tab.pos[i][axis] - bin.pos[i][axis]) <= 5e-8 * fabs(bin.pos[i][axis]));
            assert_true(fabs(tab.vel[i][axis] - bin.vel[i][axis]) <= 5e-8 * fabs(bin.vel[i][axis]));
        }
        total += bin.mass[i];
    }
    assert_true(fabs(total - 130.917) < 0.0005); /* the total mass its authors give */
    particles_free(&tab);
    particles_free(&bin);
}

static double none_left(void)
{
    return -1;
}

/* After a signal, writing a large file of any format is abandoned, and the older file stays. */
static void particles_abandon_large_file_on_signal(void **unused)
{
    static const char *const suffixes[] = {"tab", "npy", "tipsy", "bin", "hdf5"};
    struct particles p = make_random_particles(200000, any_float);
    (void)unused;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[32];
        snprintf(name, sizeof name, "late.%s", suffixes[i]);
        put_text(in_folder(name), "old\n");
        if (particles_write(in_folder(name), &p, NULL) < 0) { /* built without libhdf5 */
            assert_int_equal(clerrno, ENOTSUP);
            continue;
        }
        put_text(in_folder(name), "old\n");
        outfile_limit(none_left);
        fails_saying(ECANCELED, particles_write(in_folder(name), &p, NULL), name, "was given up");
        outfile_limit(NULL);
        holds_text(in_folder(name), "old\n");
        assert_int_equal(count_files(files_folder, ".tmp"), 0);
    }
    particles_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(particles_read_text_forms),
        cmocka_unit_test(particles_read_text_time),
        cmocka_unit_test(particles_reject_bad_text),
        cmocka_unit_test(particles_read_text_beyond_buffer),
        cmocka_unit_test(particles_reject_endless_line),
        cmocka_unit_test(particles_text_keeps_every_bit),
        cmocka_unit_test(particles_read_tipsy),
        cmocka_unit_test(particles_write_tipsy),
        cmocka_unit_test(particles_reject_truncated_tipsy),
        cmocka_unit_test(particles_reject_bad_tipsy),
        cmocka_unit_test(particles_round_trip_each_format),
        cmocka_unit_test(particles_parts_are_the_whole),
        cmocka_unit_test(particles_reject_bad_parts),
        cmocka_unit_test(particles_part_needs_memory_for_a_part),
        cmocka_unit_test(particles_tipsy_rounds_to_floats),
        cmocka_unit_test(particles_text_keeps_names),
        cmocka_unit_test(particles_error_names_unreadable_file),
        cmocka_unit_test(particles_read_standard_input),
        cmocka_unit_test(particles_suffix_selects_format),
        cmocka_unit_test(particles_formats_are_documented),
        cmocka_unit_test(particles_reject_writing_unreadable_values),
        cmocka_unit_test(particles_report_full_disk),
        cmocka_unit_test(particles_formats_give_same_galaxy),
        cmocka_unit_test(particles_abandon_large_file_on_signal),
    };
    return cmocka_run_group_tests(tests, files_create, files_remove);
}

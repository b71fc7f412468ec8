/* test_formats_snapshots.c - bodies with metadata, names, softenings and potentials, in text,
 * matrices, GADGET's binary snapshots, and HDF5, which h5py reads by the rules of yt and pynbody
 * and writes as other codes do (snapshots.py).
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "formats/particles_format.h"

#include "core/clock.h"
#include "formats/hdf5.h"
#include "formats/npy.h"
#include "formats/watchdog.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <sys/wait.h>

static struct particles make_snapshot_particles(size_t n)
{
    struct particles p = {
        .n = 0, .time = 0.1, .also = PARTICLES_SOFTENING | PARTICLES_POTENTIAL | PARTICLES_ID};
    works(particles_reserve(&p, n, "test"));
    p.n = n;
    for (size_t i = 0; i < n; i++) {
        p.mass[i] = (double)(i + 1);
        p.softening[i] = 0.5 + (double)i;
        p.potential[i] = -1.0 / (double)(i + 1);
        p.id[i] = 1000 - i;
        for (int k = 0; k < 3; k++) {
            p.pos[i][k] = (double)i + 0.1 * k;
            p.vel[i][k] = 1.0 / 3 - (double)i * k;
        }
    }
    return p;
}

static void same_values(const struct particles *p, const struct particles *q)
{
    assert_int_equal(p->n, q->n);
    for (size_t i = 0; i < p->n; i++)
        for (int c = 0; c < 7; c++)
            assert_true(particles_value(p, i, c) == particles_value(q, i, c));
}

static void check_same_metadata(const struct particles *p, const struct particles *q)
{
    for (int k = 0; k < PARTICLES_NOTE_COUNT; k++) {
        if (p->note[k])
            assert_string_equal(q->note[k] ? q->note[k] : "(none)", p->note[k]);
        else
            assert_null(q->note[k]);
    }
}

static void set_metadata(struct particles *p)
{
    works(particles_set_number(p, NOTE_G, 43007.1));
    works(particles_set_number(p, NOTE_softening, 0.1 + 0.2));
    works(particles_set_number(p, NOTE_step, -0.0078125));
    works(particles_set_number(p, NOTE_UnitLength_in_cm, 1e20));
    works(particles_set_number(p, NOTE_UnitMass_in_g, 1e40));
    works(particles_set_number(p, NOTE_UnitVelocity_in_cm_per_s, 1e5));
    works(particles_set_note(p, NOTE_integrator, "hermite4"));
    works(particles_set_note(p, NOTE_seed, "18446744073709551615"));
    works(particles_set_note(p, NOTE_command, "stdcl nbody -o 'a b.tab' # with \303\251"));
}

/* ---- Notes. ---------------------------------------------------------------------------------- */

static void snapshot_text_keeps_metadata(void **unused)
{
    struct particles p = make_snapshot_particles(3), q;
    (void)unused;
    set_metadata(&p);
    works(particles_write(in_folder("notes.tab"), &p, NULL));
    works(particles_read(in_folder("notes.tab"), &q));
    same_values(&p, &q);
    check_same_metadata(&p, &q);
    assert_true(particles_number(&q, NOTE_softening) == 0.1 + 0.2);
    assert_true(isnan(particles_number(&q, NOTE_accuracy)));
    particles_free(&q);
    particles_free(&p);
}

static void snapshot_metadata_is_one_line(void **unused)
{
    struct particles p = make_snapshot_particles(1), q;
    (void)unused;
    works(particles_set_note(&p, NOTE_command, "a\n1 2 3 4 5 6 7\n"));
    works(particles_set_number(&p, NOTE_G, NAN));
    works(particles_write(in_folder("lines.tab"), &p, NULL));
    works(particles_read(in_folder("lines.tab"), &q));
    assert_int_equal(q.n, 1);
    assert_string_equal(q.note[NOTE_command], "a?1 2 3 4 5 6 7?");
    assert_null(q.note[NOTE_G]);
    particles_free(&q);
    particles_free(&p);
}

static void snapshot_foreign_text_is_read_with_care(void **unused)
{
    static const char text[] =
        "# softening = 0.05 kpc\n# seed = -4\n# G = many\n#integrator =   leapfrog  \n# step\n"
        "# model = \n1 2 3 4 5 6 7\n# accuracy = 0.5\n";
    struct particles p;
    (void)unused;
    works(particles_read_memory("text", text, sizeof text - 1, &p));
    assert_true(particles_number(&p, NOTE_softening) == 0.05);
    assert_string_equal(p.note[NOTE_integrator], "leapfrog");
    assert_null(p.note[NOTE_seed]);
    assert_null(p.note[NOTE_G]);
    assert_null(p.note[NOTE_model]);
    assert_null(p.note[NOTE_accuracy]);
    particles_free(&p);
}

static void snapshot_tipsy_keeps_softenings_and_potentials(void **unused)
{
    static const char *const names[] = {"also.tipsy", "also.bin"};
    struct particles p = make_snapshot_particles(5), q;
    (void)unused;
    p.gas = p.star = 2;
    for (int i = 0; i < 2; i++) {
        works(particles_write(in_folder(names[i]), &p, NULL));
        works(particles_read(in_folder(names[i]), &q));
        for (size_t k = 0; k < 5; k++) {
            assert_true(q.softening[k] == p.softening[k]);
            assert_true(q.potential[k] == (double)(float)p.potential[k]);
        }
        particles_free(&q);
    }
    memset(p.softening, 0, 5 * sizeof *p.softening);
    works(particles_write(in_folder("also.bin"), &p, NULL));
    works(particles_read(in_folder("also.bin"), &q));
    assert_null(q.softening); /* all 0: the file says nothing */
    assert_int_equal(q.also, PARTICLES_POTENTIAL);
    particles_free(&q);
    p.potential[3] = 1e39;
    fails_saying(ERANGE, particles_write(in_folder("also.bin"), &p, NULL),
                 "the potential of body 4, 1e+39");
    particles_free(&p);
}

/* ---- GADGET 1 and 2. ------------------------------------------------------------------------- */

struct bytes {
    size_t n;
    bool big;
    unsigned char at[8192];
};

static void put_gadget_word(struct bytes *b, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        b->at[b->n++] = (unsigned char)(value >> 8 * (b->big ? size - 1 - i : i));
}

static void put_gadget_real(struct bytes *b, double value, size_t size)
{
    const float narrow = (float)value;
    uint64_t bits = 0;
    uint32_t half;
    memcpy(&bits, &value, 8);
    memcpy(&half, &narrow, 4);
    put_gadget_word(b, size == 8 ? bits : half, size);
}

static void put_gadget_name(struct bytes *b, const char *name, size_t length)
{
    put_gadget_word(b, 8, 4);
    memcpy(b->at + b->n, name, 4);
    b->n += 4;
    put_gadget_word(b, length + 8, 4);
    put_gadget_word(b, 8, 4);
}

/* Two gas, one halo and two star bodies; the halo's mass is in the header. */
static struct bytes gadget(bool named, bool big, size_t size)
{
    static const unsigned n[6] = {2, 1, 0, 0, 2, 0};
    struct bytes b = {.big = big};
    if (named)
        put_gadget_name(&b, "HEAD", 256);
    put_gadget_word(&b, 256, 4);
    for (int k = 0; k < 6; k++)
        put_gadget_word(&b, n[k], 4);
    for (int k = 0; k < 6; k++)
        put_gadget_real(&b, k == 1 ? 7.5 : 0, 8);
    put_gadget_real(&b, 2.25, 8);
    put_gadget_real(&b, 0, 8);
    put_gadget_word(&b, 0, 8);
    for (int k = 0; k < 6; k++)
        put_gadget_word(&b, n[k], 4);
    put_gadget_word(&b, 0, 4);
    put_gadget_word(&b, 1, 4);
    while (b.n < (named ? 16u : 0u) + 260)
        put_gadget_word(&b, 0, 4);
    put_gadget_word(&b, 256, 4);
    for (int block = 0; block < 5; block++) {
        static const char *const names[] = {"POS ", "VEL ", "XTRA", "ID  ", "MASS"};
        const size_t length = block < 2    ? 15 * size
                              : block == 2 ? 12
                              : block == 3 ? 5 * size
                                           : 4 * size;
        if (block == 2 && !named)
            continue;
        if (named)
            put_gadget_name(&b, names[block], length);
        put_gadget_word(&b, length, 4);
        for (size_t k = 0; k < length / size && block != 2; k++) {
            if (block == 3)
                put_gadget_word(&b, 50 + k, size);
            else
                put_gadget_real(&b, block == 4 ? 10 + (double)k : (block ? -1 : 1) * (double)k,
                                size);
        }
        if (block == 2)
            put_gadget_word(&b, 0, 8), put_gadget_word(&b, 0, 4);
        put_gadget_word(&b, length, 4);
    }
    return b;
}

static void snapshot_reads_gadget(void **unused)
{
    static const double mass[] = {10, 11, 7.5, 12, 13};
    (void)unused;
    for (int k = 0; k < 8; k++) {
        const struct bytes b = gadget(k & 1, k & 2, k & 4 ? 8 : 4);
        struct particles p;
        works(particles_read_memory("snap", b.at, b.n, &p));
        assert_string_equal(p.format, "gadget");
        assert_int_equal(p.n, 5);
        assert_int_equal(p.gas, 2);
        assert_int_equal(p.star, 2);
        assert_true(p.time == 2.25);
        for (size_t i = 0; i < 5; i++) {
            assert_true(p.mass[i] == mass[i]);
            assert_int_equal(p.id[i], 50 + i);
            for (size_t c = 0; c < 3; c++)
                assert_true(p.pos[i][c] == (double)(3 * i + c) &&
                            p.vel[i][c] == -(double)(3 * i + c));
        }
        assert_true(!p.missing && !p.note[NOTE_G] && !p.space);
        particles_free(&p);
    }
}

static void snapshot_rejects_truncated_gadget(void **unused)
{
    (void)unused;
    for (int k = 0; k < 4; k++) {
        const struct bytes b = gadget(k & 1, k & 2, 4);
        for (size_t size = 32; size < b.n; size++) {
            struct particles p;
            fails_saying(EINVAL, particles_read_memory("piece", b.at, size, &p), "piece: ");
            assert_null(p.mass);
        }
    }
}

static void snapshot_rejects_bad_gadget(void **unused)
{
    static const struct {
        size_t at;
        unsigned value;
        const char *part;
    } cases[] = {
        {4, 0xffffffff, "says -1 bodies of type 0"},
        {4, 3, "the positions take 60 bytes; 6 bodies have 72 or 144"},
        {4, 0x7ffffffe, "too many"},
        {80, 0x7ff00000, "the time in its header is"},
        {128, 4, "is one of 4 files"},
        {260, 255, "its header is said to have 256 bytes before and 255 after it"},
        {268, 0x7fc00000, "x of body 1 (type 0) is nan"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b = gadget(false, false, 4);
        struct particles p;
        const size_t end = b.n;
        b.n = cases[i].at;
        put_gadget_word(&b, cases[i].value, 4);
        fails_saying(EINVAL, particles_read_memory("bad", b.at, end, &p), "bad: ", cases[i].part);
    }
}

static void snapshot_rejects_writing_gadget(void **unused)
{
    struct particles p = make_snapshot_particles(1);
    (void)unused;
    fails_saying(ENOTSUP, particles_write(in_folder("x.tab"), &p, "gadget"),
                 "GADGET 1 and 2 is only read", "bodies are written as text");
    assert_int_equal(count_files(files_folder, "x.tab"), 0);
    particles_free(&p);
}

/* The time 2.25 is no scale factor at redshift 0, so that a density parameter does not matter; 1
 * may be one. All bodies lie in a box of 16, but not of 8. */
static void snapshot_judges_space_of_gadget(void **unused)
{
    static const struct {
        double time, redshift, omega, box;
        bool scale; /* the time is a scale factor */
        const char *part;
    } cases[] = {
        {2.25, 0, 0.3, 0, false, NULL},
        {0.5, 0, 0.3, 0, false, NULL},
        {1, 0, 0.3, 0, true,
         "may be of a cosmological run (Omega0 is 0.3, and its time, 1, may be"},
        {0.5, 1, 0.3, 0, true,
         "may be of a cosmological run (Omega0 is 0.3, and its time, 0.5, may be"},
        {1, 0, 0, 8, false, NULL},
        {1, 0, 0, 16, false, "may be of a periodic box: all bodies lie in the box of its header"}};
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b = gadget(false, false, 8);
        struct particles p;
        const size_t end = b.n;
        b.n = 4 + 72;
        put_gadget_real(&b, cases[i].time, 8);
        put_gadget_real(&b, cases[i].redshift, 8);
        b.n = 4 + 128;
        put_gadget_real(&b, cases[i].box, 8);
        put_gadget_real(&b, cases[i].omega, 8);
        works(particles_read_memory("space", b.at, end, &p));
        assert_true(!p.space == !cases[i].part && p.scale == cases[i].scale);
        if (cases[i].part)
            assert_non_null(strstr(p.space, cases[i].part));
        particles_free(&p);
    }
}

/* Two files NAME.0 and NAME.1, given by a file's name and by the stem. */
static void snapshot_reads_gadget_in_two_files(void **unused)
{
    (void)unused;
    struct bytes b = gadget(true, false, 4);
    const size_t end = b.n;
    for (int k = 0; k < 6; k++) {
        b.n = 16 + 4 + 96 + 4 * (size_t)k;
        put_gadget_word(&b, (unsigned[]){4, 2, 0, 0, 4, 0}[k], 4);
    }
    b.n = 16 + 4 + 124;
    put_gadget_word(&b, 2, 4);
    put_bytes(in_folder("snap_1.0"), b.at, end);
    put_bytes(in_folder("snap_1.1"), b.at, end);
    for (int k = 0; k < 2; k++) {
        struct particles p;
        works(particles_read(in_folder(k ? "snap_1.1" : "snap_1"), &p));
        assert_true(p.n == 10 && p.gas == 4 && p.star == 4);
        assert_true(p.mass[2] == 10 && p.mass[5] == 7.5 && p.mass[9] == 13);
        particles_free(&p);
    }
}

/* ---- REBOUND. -------------------------------------------------------------------------------- */

static void put_archive_field(struct bytes *b, int version, const char *name, uint32_t number,
                              size_t size)
{
    put_gadget_word(b, version == 4 ? number : strlen(name) + 1, 8);
    put_gadget_word(b, size, 8);
    if (version > 4) {
        memcpy(b->at + b->n, name, strlen(name) + 1);
        b->n += strlen(name) + 1;
    }
}

static void put_archive_real(struct bytes *b, int version, const char *name, uint32_t number,
                             double value)
{
    put_archive_field(b, version, name, number, 8);
    put_gadget_real(b, value, 8);
}

static void put_archive_int(struct bytes *b, int version, const char *name, uint32_t number,
                            int value)
{
    put_archive_field(b, version, name, number, 4);
    put_gadget_word(b, (uint32_t)value, 4);
}

/* n bodies at {i, i + 1, i + 2} + time, of mass 1 + i and radius i; pointers 77 + i to names. */
static void put_archive_rows(struct bytes *b, int version, size_t n, double time)
{
    put_archive_field(b, version, "particles", 85, n * (version == 4 ? 128 : 112));
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 3; k++)
            put_gadget_real(b, (double)(i + k) + time, 8);
        for (size_t k = 0; k < 3; k++)
            put_gadget_real(b, -(double)k, 8);
        for (size_t k = 0; k < 3; k++)
            put_gadget_real(b, NAN, 8); /* accelerations */
        put_gadget_real(b, 1 + (double)i, 8);
        put_gadget_real(b, (double)i, 8);
        put_gadget_word(b, 77 + i, 8);
        for (size_t k = 12; k < (version == 4 ? 16 : 14); k++)
            put_gadget_word(b, 0, 8);
    }
}

static void end_archive_snapshot(struct bytes *b, int version, bool more)
{
    put_archive_field(b, version, "end", 9999, 0);
    put_gadget_word(b, 0, 8);
    put_gadget_word(b, more ? 99 : 0, 4);
}

/* Three snapshots at the times 0.5, 1.5 and 2.5; all data that do not change are in the first. */
static struct bytes archive(int version, int boundary, int test_type)
{
    struct bytes b = {.big = false};
    b.n = (size_t)snprintf((char *)b.at, 64, "REBOUND Binary File. Version: %d.1.2", version) + 1;
    b.n = 64;
    put_archive_real(&b, version, "t", 0, 0.5);
    put_archive_real(&b, version, "G", 1, 0.25);
    put_archive_field(&b, version, "unknown", 500, 3);
    put_gadget_word(&b, 0, 3);
    put_archive_real(&b, version, "softening", 2, 0.125);
    put_archive_int(&b, version, "N_var", 5, version == 4 ? 1 : 0);
    put_archive_int(&b, version, "N_active", 7, 2);
    put_archive_int(&b, version, "testparticle_type", 8, test_type);
    put_archive_int(&b, version, "boundary", 52, boundary);
    put_archive_field(&b, version, "boxsize", 22, 24);
    for (int k = 0; k < 3; k++)
        put_gadget_real(&b, 40, 8);
    put_archive_rows(&b, version, version == 4 ? 4 : 3, 0.5);
    put_archive_field(&b, version, "name_list", UINT32_MAX, 12 + 14);
    memcpy(b.at + b.n, "Sun", 4), b.n += 4;
    put_gadget_word(&b, 77, 8);
    memcpy(b.at + b.n, "a b c", 6), b.n += 6;
    put_gadget_word(&b, 79, 8);
    end_archive_snapshot(&b, version, true);
    for (int k = 1; k < 3; k++) {
        put_archive_real(&b, version, "t", 0, 0.5 + k);
        put_archive_rows(&b, version, version == 4 ? 4 : 3, 0.5 + k);
        end_archive_snapshot(&b, version, k == 1);
    }
    return b;
}

static void snapshot_reads_rebound(void **unused)
{
    (void)unused;
    for (int version = 4; version <= 5; version++) {
        struct bytes b = archive(version, 1, 0);
        struct particles p;
        works(particles_read_memory("archive", b.at, b.n, &p));
        assert_string_equal(p.format, "rebound");
        assert_true(p.n == 3 && p.time == 2.5 && !p.space && !p.missing);
        assert_true(particles_number(&p, NOTE_G) == 0.25 &&
                    particles_number(&p, NOTE_softening) == 0.125);
        assert_string_equal(p.origin, "the last of 3 snapshots, G 0.25, softening 0.125");
        for (size_t i = 0; i < 3; i++) /* the third is a test particle */
            assert_true(p.mass[i] == (i < 2 ? 1 + (double)i : 0) && p.radius[i] == (double)i &&
                        p.pos[i][1] == (double)i + 3.5 && p.vel[i][2] == -2);
        if (version == 4)
            assert_null(p.note[NOTE_names]);
        else
            assert_string_equal(p.note[NOTE_names], "Sun - a_b_c");
        particles_free(&p);
        b = archive(version, 2, 1);
        works(particles_read_memory("archive", b.at, b.n, &p));
        assert_string_equal(p.space,
                            "is of a periodic box (boundary) with a side of 40: its bodies "
                            "attract their images");
        assert_string_equal(p.missing,
                            "test particles of type 1, which here attract each other, too");
        assert_true(p.mass[2] == 3);
        particles_free(&p);
        for (size_t size = 32; size < b.n; size++) {
            fails_saying(EINVAL, particles_read_memory("piece", b.at, size, &p), "piece: ");
            assert_null(p.mass);
        }
    }
}

static void snapshot_rejects_bad_rebound(void **unused)
{
    struct bytes b = archive(3, 0, 0);
    struct particles p;
    (void)unused;
    fails_saying(EINVAL, particles_read_memory("bad", b.at, b.n, &p),
                 "bad: is of version 3 of REBOUND; archives of versions 4 and 5 are read");
    b = archive(5, 0, 0);
    b.at[64] = 0;
    fails_saying(EINVAL, particles_read_memory("bad", b.at, b.n, &p), "bad: is damaged: a name in");
    b = archive(4, 0, 0);
    b.at[64 + 15] = 0x7f; /* a size of 2^62 bytes and more */
    fails_saying(EINVAL, particles_read_memory("bad", b.at, b.n, &p), "is cut short in snapshot 0");
    b = archive(4, 0, 0);
    char *rows = memmem(b.at, b.n, (char[]){85, 0, 0, 0, 0, 0, 0, 0, 0, 2}, 10);
    assert_non_null(rows);
    rows[8] = 8; /* with the following fields */
    fails(EINVAL, particles_read_memory("bad", b.at, b.n, &p));
}

/* ---- numpy. ---------------------------------------------------------------------------------- */

static void snapshot_rejects_other_matrices(void **unused)
{
    struct particles p;
    const double x[14] = {0, [8] = NAN};
    (void)unused;
    works(npy_write(in_folder("six.npy"), 8, 2, 6, x, 6));
    fails_saying(EINVAL, particles_read(in_folder("six.npy"), &p), "six.npy: is an array of 2 x 6",
                 "N x 7");
    works(npy_write(in_folder("nan.npy"), 8, 2, 7, x, 7));
    fails_saying(EINVAL, particles_read(in_folder("nan.npy"), &p), "x of body 2 is nan");
}

/* ---- HDF5. ----------------------------------------------------------------------------------- */

static bool has_hdf5(void)
{
    struct particles p = make_snapshot_particles(1);
    const int status = particles_write(in_folder("try.hdf5"), &p, NULL);
    particles_free(&p);
    if (status < 0)
        says("install it (Debian: libhdf5-dev)");
    return status == 0;
}

static void snapshot_hdf5_keeps_all(void **unused)
{
    struct particles p = make_snapshot_particles(50), q;
    (void)unused;
    if (!has_hdf5())
        skip();
    set_metadata(&p);
    p.gas = 10;
    p.star = 15;
    works(particles_write(in_folder("all.hdf5"), &p, NULL));
    works(particles_read(in_folder("all.hdf5"), &q));
    same_values(&p, &q);
    check_same_metadata(&p, &q);
    assert_memory_equal(p.softening, q.softening, 50 * sizeof *p.softening);
    assert_memory_equal(p.potential, q.potential, 50 * sizeof *p.potential);
    assert_memory_equal(p.id, q.id, 50 * sizeof *p.id);
    assert_true(q.gas == 10 && q.star == 15 && q.time == p.time && !q.missing);
    particles_free(&q);
    particles_free(&p);
}

/* From memory, as from a pipe, and cut at every 64th byte. */
static void snapshot_rejects_truncated_hdf5(void **unused)
{
    struct particles p = make_snapshot_particles(40), q;
    size_t size;
    (void)unused;
    if (!has_hdf5())
        skip();
    works(particles_write(in_folder("cut.hdf5"), &p, NULL));
    char *bytes = bytes_of(in_folder("cut.hdf5"), &size);
    works(particles_read_memory("whole", bytes, size, &q));
    same_values(&p, &q);
    particles_free(&q);
    for (size_t cut = 32; cut < size; cut += 64) {
        fails_saying(EINVAL, particles_read_memory("cut", bytes, cut, &q), "cut: ");
        assert_null(q.mass);
    }
    free(bytes);
    particles_free(&p);
}

static void snapshot_hdf5_needs_regular_file(void **unused)
{
    struct particles p = make_snapshot_particles(1);
    (void)unused;
    if (!has_hdf5())
        skip();
    fails_saying(ESPIPE, particles_write("/dev/null", &p, "hdf5"),
                 "HDF5 cannot be written to a pipe");
    fails_saying(ENOENT, particles_write(in_folder("none/x.hdf5"), &p, NULL), "does not exist");
    particles_free(&p);
}

static int run_h5py_script(const char *task)
{
    char command[PATH_MAX + 128]; /* the system's Python has the system's h5py; another may come
                                     first in $PATH */
    snprintf(command, sizeof command,
             "python=/usr/bin/python3; [ -x $python ] || python=python3; "
             "$python snapshots.py %s '%s'",
             task, files_folder);
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void snapshot_hdf5_is_read_by_h5py(void **unused)
{
    (void)unused;
    if (!has_hdf5() || run_h5py_script("have") != 0)
        skip();
    struct particles p = make_snapshot_particles(50);
    set_metadata(&p);
    p.gas = 10;
    p.star = 15;
    works(particles_write(in_folder("ours.hdf5"), &p, NULL));
    works(particles_write(in_folder("ours.npy"), &p, NULL));
    assert_int_equal(run_h5py_script("read"), 0);
    particles_free(&p);
}

static void snapshot_reads_hdf5_of_other_codes(void **unused)
{
    static const struct {
        const char *file, *missing;
        double G;
    } good[] = {
        {"gadget4.hdf5", NULL, 43018.7},
        {"swift.hdf5", NULL, 43018.7},
        {"bare.hdf5",
         "no Header/Time (0 is taken), no Header/MassTable, no Header/NumPart_ThisFile (the groups' own sizes are "
         "taken)",
         0},
    };
    static const struct {
        const char *file, *part;
    } bad[] = {
        {"parts.hdf5", "is one of 4 files"},
        {"light.hdf5", "PartType1 has no Masses, no DynamicalMasses, and Header/MassTable none"},
        {"still.hdf5", "PartType1 has no Velocities"},
        {"short.hdf5", "Velocities has 2 rows, but Coordinates 3"},
        {"flat.hdf5", "Coordinates has 1 dimensions"},
        {"words.hdf5", "does not hold numbers"},
        {"nothing.hdf5", "has no bodies"},
        {"other.hdf5", "no snapshot: it has no group Header"},
        {"nan.hdf5", "y of body 2 (PartType1) is nan"},
    };
    struct particles p;
    (void)unused;
    if (!has_hdf5() || run_h5py_script("write") != 0)
        skip();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        works(particles_read(in_folder(good[i].file), &p));
        assert_int_equal(p.n, 3);
        assert_true(p.mass[0] == 2 && p.pos[1][2] == 5 && p.vel[2][0] == -6);
        if (good[i].missing)
            assert_non_null(strstr(p.missing, good[i].missing));
        else
            assert_null(p.missing);
        if (good[i].G > 0)
            assert_true(fabs(particles_number(&p, NOTE_G) / good[i].G - 1) < 1e-4);
        particles_free(&p);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        fails_saying(EINVAL, particles_read(in_folder(bad[i].file), &p), bad[i].file, bad[i].part);
}

/* A file of a stranger must not lead to files of the user, nor wait for a pipe. */
static void snapshot_refuses_hdf5_that_leads_outside(void **unused)
{
    static const struct {
        const char *file, *part;
    } bad[] = {
        {"storage.hdf5", "the bytes of PartType1/Coordinates are in other files"},
        {"virtual.hdf5", "the bytes of PartType1/Coordinates are in other files"},
        {"link.hdf5", "has a link to another file, which is not followed"},
        {"pipe.hdf5", "has a link to another file, which is not followed"},
        {"group.hdf5", "has a link to another file, which is not followed"},
        {"filter.hdf5", "PartType1/Coordinates is stored through filter 32000"},
        {"claim.hdf5", "is said to have 600000000 numbers, more than the file can hold"},
    };
    static const char *const names[] = {"PartType1/Coordinates", NULL};
    struct particles p;
    struct hdf5_rows rows;
    (void)unused;
    if (!has_hdf5() || run_h5py_script("outside") != 0)
        skip();
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0); /* which nobody ever writes to */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *file = in_folder(bad[i].file);
        fails_saying(EINVAL, particles_read(file, &p), bad[i].file, bad[i].part);
        assert_null(p.mass);
        if (strcmp(bad[i].file, "group.hdf5") != 0)
            fails_saying(EINVAL, hdf5_read_rows(file, names, 3, &rows), bad[i].file, bad[i].part);
    }
    works(particles_read(in_folder("packed.hdf5"), &p));
    assert_true(p.n == 3 && p.pos[2][2] == 8);
    particles_free(&p);
}

/* ---- The watchdog. --------------------------------------------------------------------------- */

static int work_forever(struct watchdog *w, void *arg)
{
    atomic_uint *const turns = arg;
    (void)w;
    for (;;)
        ++*turns;
    return 0;
}

static int work_longer(struct watchdog *w, void *arg)
{
    const double start = 1e-9 * (double)ns_of_clock(CLOCK_THREAD_CPUTIME_ID);
    watchdog_allow(w, 60);
    while (1e-9 * (double)ns_of_clock(CLOCK_THREAD_CPUTIME_ID) < start + 0.2)
        ++*(atomic_uint *)arg;
    return clerror_set(EDOM, "the work's own error");
}

static void watchdog_ends_waiting_for_endless_work(void **unused)
{
    static atomic_uint turns; /* used by the thread until the program ends */
    atomic_uint more = 0;
    (void)unused;
    assert_int_equal(watchdog_run(work_forever, &turns, 0.05), 1);
    assert_true(turns > 0);
    assert_int_equal(watchdog_run(work_longer, &more, 0.05), -1);
    assert_int_equal(clerrno, EDOM);
    assert_string_equal(clerror(), "the work's own error");
}

/* Only on request, since these readers take seconds to start. */
static void check_reader_opens_ours(const char *reader)
{
    struct particles p = make_snapshot_particles(50);
    if (!has_hdf5() || run_h5py_script("have") != 0)
        skip();
    set_metadata(&p);
    p.gas = 10;
    p.star = 15;
    works(particles_write(in_folder("ours.hdf5"), &p, NULL));
    particles_free(&p);
    const int status = run_h5py_script(reader);
    if (status == 77)
        skip();
    assert_int_equal(status, 0);
}

static void snapshot_hdf5_is_opened_by_yt(void **unused)
{
    (void)unused;
    check_reader_opens_ours("yt");
}

static void snapshot_hdf5_is_opened_by_pynbody(void **unused)
{
    (void)unused;
    check_reader_opens_ours("pynbody");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest slow[] = {cmocka_unit_test(snapshot_hdf5_is_opened_by_yt),
                                      cmocka_unit_test(snapshot_hdf5_is_opened_by_pynbody)};
    if (argc > 1 && !strcmp(argv[1], "yt"))
        return cmocka_run_group_tests(slow, files_create, files_remove);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshot_text_keeps_metadata),
        cmocka_unit_test(snapshot_metadata_is_one_line),
        cmocka_unit_test(snapshot_foreign_text_is_read_with_care),
        cmocka_unit_test(snapshot_tipsy_keeps_softenings_and_potentials),
        cmocka_unit_test(snapshot_reads_gadget),
        cmocka_unit_test(snapshot_rejects_truncated_gadget),
        cmocka_unit_test(snapshot_rejects_bad_gadget),
        cmocka_unit_test(snapshot_judges_space_of_gadget),
        cmocka_unit_test(snapshot_reads_gadget_in_two_files),
        cmocka_unit_test(snapshot_rejects_writing_gadget),
        cmocka_unit_test(snapshot_reads_rebound),
        cmocka_unit_test(snapshot_rejects_bad_rebound),
        cmocka_unit_test(snapshot_rejects_other_matrices),
        cmocka_unit_test(snapshot_hdf5_keeps_all),
        cmocka_unit_test(snapshot_rejects_truncated_hdf5),
        cmocka_unit_test(snapshot_hdf5_needs_regular_file),
        cmocka_unit_test(snapshot_hdf5_is_read_by_h5py),
        cmocka_unit_test(snapshot_reads_hdf5_of_other_codes),
        cmocka_unit_test(snapshot_refuses_hdf5_that_leads_outside),
        cmocka_unit_test(watchdog_ends_waiting_for_endless_work),
    };
    return cmocka_run_group_tests(tests, files_create, files_remove);
}

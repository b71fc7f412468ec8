/* Philox4x32-10 against the published known answers, on the host and in a kernel; deviates against
 * the C library's functions in long double, against their distributions, and in kernels.
 * The vectors come from the Random123 distribution, tests/kat_vectors, lines "philox4x32 10".
 * SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <stdcl.h>

#include "stdcl/philox.h"

static const struct {
    philox4 counter;
    philox_u32 key[2];
    philox4 answer;
} known[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

static void philox_matches_known_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        philox4 r = philox4x32_10(known[i].counter, known[i].key[0], known[i].key[1]);
        assert_memory_equal(&r, &known[i].answer, sizeof r);
    }
}

static void philox_intervals_exclude_ends(void **state)
{
    (void)state;
    assert_true(philox_float(0) == 0.0f);
    assert_true(philox_float(0xffffffffu) < 1.0f);
    assert_true(philox_double(0, 0) > 0.0);
    assert_true(philox_double(0xffffffffu, 0xffffffffu) < 1.0);
    assert_true(philox_double(0, 0) + philox_double(0xffffffffu, 0xffffffffu) == 1.0);
    assert_true(philox_float_open(0) == 0x1p-24f);
    assert_true(philox_float_open(0xffffffffu) == 1 - 0x1p-24f);
    assert_true(philox_double_half_open(0, 0) == 0);
    assert_true(philox_double_half_open(0xffffffffu, 0xffffffffu) == 1 - 0x1p-53);
    assert_true(philox_double_half_open(0x80000000u, 0x00000800u) == 0.5 + 0x1p-53);
}

static philox4 block(uint32_t i)
{
    return philox4x32_10((philox4){i, 0, 0, 0}, 20261129, 1);
}

/* ---- Integers. ------------------------------------------------------------------------------- */

/* The first word that Lemire's rule keeps, by wide arithmetic; -1 if it keeps none of the block. */
static int64_t below_reference(philox4 b, uint32_t n)
{
    const uint32_t word[4] = {b.x, b.y, b.z, b.w};
    const uint64_t all = (uint64_t)1 << 32;
    for (int i = 0; i < 4; i++)
        if ((uint64_t)word[i] * n % all >= all % n)
            return (int64_t)((uint64_t)word[i] * n / all);
    return -1;
}

static void philox_below_matches_reference(void **state)
{
    static const uint32_t bounds[] = {1, 2, 6, 10, 1u << 31, 3u << 30, (1u << 31) + 1, UINT32_MAX};
    int exhausted = 0;
    (void)state;
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; k++)
        for (uint32_t i = 0; i < 4000; i++) {
            const int64_t expected = below_reference(block(i), bounds[k]);
            const uint32_t drawn = philox_below(block(i), bounds[k]);
            assert_true(drawn < bounds[k]);
            exhausted += expected < 0;
            assert_true(expected < 0 || drawn == (uint64_t)expected);
        }
    assert_in_range(exhausted, 150, 350); /* 1 in 16 of 4000 for the bound 2^31 + 1 */
    assert_int_equal(philox_below(block(1), 0), 0);
    assert_int_equal(philox_below64(block(1), 0), 0);
    assert_int_equal(philox_below64(block(1), 1), 0);
}

/* A bound of 3/4 of all words: multiplication alone would give every third number twice as often.
 * Blocks of which no word is kept are drawn, too. */
static void philox_below_is_unbiased(void **state)
{
    enum { N = 60000 };
    unsigned thirds[2][3] = {{0}}, rests[2][3] = {{0}};
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t r = philox_below(block(i), 3u << 30);
        const uint64_t s = philox_below64(block(i + N), (uint64_t)3 << 62);
        thirds[0][r >> 30]++, rests[0][r % 3]++;
        thirds[1][s >> 62]++, rests[1][s % 3]++;
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) { /* five standard deviations */
            assert_in_range(thirds[k][i], N / 3 - 577, N / 3 + 577);
            assert_in_range(rests[k][i], N / 3 - 577, N / 3 + 577);
        }
}

static void philox_integers_cover_ranges(void **state)
{
    unsigned die[6] = {0};
    int seen[5] = {0};
    (void)state;
    for (uint32_t i = 0; i < 60000; i++) {
        const int eyes = philox_int(block(i), 1, 6);
        assert_in_range(eyes, 1, 6);
        die[eyes - 1]++;
        const int64_t wide = philox_long(block(i), -2, 2);
        assert_true(wide >= -2 && wide <= 2);
        seen[wide + 2] = 1;
    }
    for (int i = 0; i < 6; i++)
        assert_in_range(die[i], 10000 - 457, 10000 + 457); /* five standard deviations */
    for (int i = 0; i < 5; i++)
        assert_true(seen[i]);
    assert_int_equal(philox_int(block(3), 7, 7), 7);
    assert_int_equal((uint32_t)philox_int(block(3), INT32_MIN, INT32_MAX),
                     block(3).x + (uint32_t)INT32_MIN);
    assert_true((uint64_t)philox_long(block(3), INT64_MIN, INT64_MAX) ==
                ((uint64_t)block(3).x << 32 | block(3).y) + (uint64_t)INT64_MIN);
}

/* The portable product of 64 bits against the compiler's. */
static void philox_mulhi64_matches_compiler(void **state)
{
    static const uint64_t edge[] = {
        0, 1, UINT32_MAX, (uint64_t)1 << 32, UINT64_MAX, UINT64_MAX - 1};
    (void)state;
    for (uint32_t i = 0; i < 3000; i++) {
        const philox4 r = block(i);
        const uint64_t a = i < 36 ? edge[i / 6] : (uint64_t)r.x << 32 | r.y;
        const uint64_t b = i < 36 ? edge[i % 6] : (uint64_t)r.z << 32 | r.w;
        __extension__ typedef unsigned __int128 wide;
        assert_true(philox_mulhi64(a, b) == (uint64_t)((wide)a * b >> 64));
    }
}

/* ---- Functions of the bits. ------------------------------------------------------------------ */

/* Words at the ends and at the seams of the approximations first, then random ones. */
static uint32_t word_of(uint32_t i)
{
    static const uint32_t seam[] = {0,           1u << 29,    1u << 30,    3u << 29,   1u << 31,
                                    5u << 29,    3u << 30,    7u << 29,    0xB504F333, 0x5A82799A,
                                    0x00010000u, 0x00FFFFFFu, 0x0007FFFFu, 0xFFFFFF00u};
    const uint32_t seams = 8 * sizeof seam / sizeof *seam;
    return i < seams ? seam[i / 8] + i % 8 - 4 : block(i).x;
}

static const long double turn = 6.28318530717958647692528676655900577L;

static void philox_floats_match_long_doubles(void **state)
{
    (void)state;
    double worst_log = 0, worst_normal = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        const philox4 b = {word_of(i), word_of(3 * i), word_of(5 * i + 1), word_of(7 * i + 2)};
        const long double log_u = logl(((long double)b.x + 0.5L) * 0x1p-32L), r = sqrtl(-2 * log_u);
        const long double angle = turn * (b.y * 0x1p-32L);
        const philox_float4 v = philox_normal_float4(b);
        const double e = (double)fabsl((philox_exponential_float(b.x) + log_u) / log_u);
        const double n = (double)fmaxl(fabsl(v.x - r * cosl(angle)), fabsl(v.y - r * sinl(angle)));
        worst_log = fmax(worst_log, e), worst_normal = fmax(worst_normal, n / (double)r);
    }
    print_message("largest errors: exponential %.2f ulp, normal %.2f ulp\n", worst_log * 0x1p24,
                  worst_normal * 0x1p24);
    assert_true(worst_log < 4 * 0x1p-24);
    assert_true(worst_normal < 4 * 0x1p-24);
}

static void philox_doubles_match_long_doubles(void **state)
{
    (void)state;
    if (sizeof(long double) <= sizeof(double)) {
        skip();
    }
    double worst_log = 0, worst_normal = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        const philox4 b = {word_of(i), word_of(3 * i), word_of(5 * i + 1), word_of(7 * i + 2)};
        const long double log_u = logl((long double)philox_double(b.x, b.y)), r = sqrtl(-2 * log_u);
        const long double angle = turn * (((uint64_t)b.z << 32 | b.w) * 0x1p-64L);
        const philox_double2 v = philox_normal_double2(b);
        const double e = (double)fabsl((philox_exponential_double(b.x, b.y) + log_u) / log_u);
        const double n = (double)fmaxl(fabsl(v.x - r * cosl(angle)), fabsl(v.y - r * sinl(angle)));
        worst_log = fmax(worst_log, e), worst_normal = fmax(worst_normal, n / (double)r);
    }
    print_message("largest errors: exponential %.2f ulp, normal %.2f ulp\n", worst_log * 0x1p53,
                  worst_normal * 0x1p53);
    assert_true(worst_log < 4 * 0x1p-53);
    assert_true(worst_normal < 4 * 0x1p-53);
}

/* ---- Distributions. -------------------------------------------------------------------------- */

enum { SAMPLES = 1 << 17 };

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The Anderson-Darling statistic of values of a distribution function, which should be uniform:
 * below 6.0 in 99.9 % of samples (Marsaglia & Marsaglia 2004, doi:10.18637/jss.v009.i02). It
 * weights the tails. Draws are fixed, so the test always passes or never does. */
static double anderson_darling(double *u, size_t n)
{
    double sum = 0;
    qsort(u, n, sizeof *u, compare_doubles);
    for (size_t i = 0; i < n; i++)
        sum += (2.0 * (double)i + 1) * (log(u[i]) + log1p(-u[n - 1 - i]));
    return -(double)n - sum / (double)n;
}

/* Kolmogorov and Smirnov's statistic times sqrt(n): below 1.95 in 99.9 %. */
static double kolmogorov_smirnov(const double *sorted, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(
            most, fmax(sorted[i] - (double)i / (double)n, (double)(i + 1) / (double)n - sorted[i]));
    return most * sqrt((double)n);
}

static void assert_uniform(const char *what, double *u)
{
    const double a = anderson_darling(u, SAMPLES), k = kolmogorov_smirnov(u, SAMPLES);
    print_message("%-24s Anderson-Darling %.2f, Kolmogorov-Smirnov %.2f\n", what, a, k);
    assert_true(a < 6.0 && a > 0.1);
    assert_true(k < 1.95 && k > 0.3);
}

static double normal_below(double x)
{
    return 0.5 * erfc(-x / sqrt(2));
}

static void philox_deviates_have_their_distributions(void **state)
{
    double *u = malloc(SAMPLES * sizeof *u);
    (void)state;
    assert_non_null(u);
    for (uint32_t i = 0; i < SAMPLES; i++)
        u[i] = philox_float_open(block(i).x);
    assert_uniform("uniform, float", u);
    for (uint32_t i = 0; i < SAMPLES; i++)
        u[i] = philox_double_half_open(block(i).z, block(i).w);
    assert_uniform("uniform, double", u);
    for (uint32_t i = 0; i < SAMPLES; i++)
        u[i] = -expm1(-(double)philox_exponential_float(block(i).y));
    assert_uniform("exponential, float", u);
    for (uint32_t i = 0; i < SAMPLES; i++)
        u[i] = -expm1(-philox_exponential_double(block(i).y, block(i).z));
    assert_uniform("exponential, double", u);
    for (uint32_t i = 0; i < SAMPLES / 4; i++) {
        const philox_float4 v = philox_normal_float4(block(i));
        u[4 * i] = normal_below(v.x), u[4 * i + 1] = normal_below(v.y);
        u[4 * i + 2] = normal_below(v.z), u[4 * i + 3] = normal_below(v.w);
    }
    assert_uniform("normal, float", u);
    for (uint32_t i = 0; i < SAMPLES / 2; i++) {
        const philox_double2 v = philox_normal_double2(block(i));
        u[2 * i] = normal_below(v.x), u[2 * i + 1] = normal_below(v.y);
    }
    assert_uniform("normal, double", u);
    free(u);
}

/* Moments of normals within five standard errors, and no correlation within a block. */
static void philox_normals_have_moments(void **state)
{
    double m[5] = {0}, xy = 0, xz = 0, squares = 0;
    (void)state;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const philox_float4 v = philox_normal_float4(block(i));
        const double x = (double)v.x;
        for (int k = 1; k <= 4; k++)
            m[k] += pow(x, k) / SAMPLES;
        xy += x * (double)v.y / SAMPLES, xz += x * (double)v.z / SAMPLES;
        squares += (x * x - 1) * ((double)v.y * (double)v.y - 1) / SAMPLES;
    }
    const double error = 5 / sqrt(SAMPLES);
    assert_true(fabs(m[1]) < error && fabs(m[2] - 1) < error * sqrt(2));
    assert_true(fabs(m[3]) < error * sqrt(15) && fabs(m[4] - 3) < error * sqrt(96));
    assert_true(fabs(xy) < error && fabs(xz) < error && fabs(squares) < 2 * error);
}

/* Tails beyond 5 and 6 standard deviations. |x| > 5 needs u < 2^-18, so only radii of the lowest
 * words are drawn: all of them for floats, a sample for doubles. The numbers of deviates beyond a
 * threshold agree with erfc within five standard deviations. */
static void philox_normals_have_tails(void **state)
{
    static const double thresholds[] = {5, 5.5, 6, 6.5};
    enum { LOW = 1 << 14, TURNS = 16, THRESHOLDS = 4 };
    double singles[THRESHOLDS] = {0}, doubles[THRESHOLDS] = {0}, most = 0, most_double = 0;
    (void)state;
    for (uint32_t k = 0; k < LOW; k++)
        for (uint32_t t = 0; t < TURNS; t++) {
            const philox4 r = block(TURNS * k + t);
            const double x = fabs((double)philox_normal_float4((philox4){k, r.y, r.z, r.w}).x);
            const double y = fabs(philox_normal_double2((philox4){r.x % LOW, r.y, r.z, r.w}).x);
            for (int i = 0; i < THRESHOLDS; i++)
                singles[i] += x > thresholds[i], doubles[i] += y > thresholds[i];
            most = fmax(most, x), most_double = fmax(most_double, y);
        }
    for (int i = 0; i < THRESHOLDS; i++) {
        const double expected = erfc(thresholds[i] / sqrt(2)) * 0x1p18 * LOW * TURNS;
        print_message("beyond %.1f: %.0f and %.0f, %.1f expected\n", thresholds[i], singles[i],
                      doubles[i], expected);
        assert_true(fabs(doubles[i] - expected) < 5 * sqrt(expected));
        assert_true(fabs(singles[i] - expected) < 5 * sqrt(expected));
    }
    assert_true(most < 6.77);
    /* The largest ones. */
    const philox_float4 last = philox_normal_float4((philox4){0, 0, 0, 0});
    assert_true(fabs((double)last.x - sqrt(66 * log(2))) < 1e-6);
    assert_true(fabs(philox_normal_double2((philox4){0, 0, 0, 0}).x - sqrt(106 * log(2))) < 1e-14);
    assert_true(fabs(philox_exponential_double(0, 0) - 53 * log(2)) < 1e-14);
}

/* Sixteen bins of each word over 2^16 counters: chi-square with 15 degrees of freedom stays
 * under 37.7 with probability 0.999. The draw is fixed, so the test either always passes or
 * never does. */
static void philox_words_are_uniform(void **state)
{
    (void)state;
    unsigned count[4][16] = {{0}};
    for (philox_u32 i = 0; i < 65536; i++) {
        philox4 r = philox4x32_10((philox4){i, 0, 0, 0}, 1, 0);
        count[0][r.x >> 28]++;
        count[1][r.y >> 28]++;
        count[2][r.z >> 28]++;
        count[3][r.w >> 28]++;
    }
    for (int word = 0; word < 4; word++) {
        double chi2 = 0;
        for (int b = 0; b < 16; b++) {
            double d = count[word][b] - 4096.0;
            chi2 += d * d / 4096.0;
        }
        assert_true(chi2 < 37.7);
        assert_true(chi2 > 2.0); /* too even would be as wrong */
    }
}

/* The header in a kernel, on every device, against the host: single draws and the known answers. */
static void philox_kernels_match_host(void **state)
{
    static const char source[] =
        "#include <stdcl/philox.h>\n" /* the layer knows where its headers are */
        "__kernel void draw(__global uint4 *out, uint k0, uint k1) {\n"
        "    uint i = get_global_id(0);\n"
        "    out[i] = philox4x32_10((uint4)(i, ~i, i * i, 0xffffffffu), k0, k1);\n"
        "}\n";
    enum { N = 1000 };
    CLCONTEXT *cp = stddev;
    (void)state;
    assert_non_null(cp);
    void *handle = clsopen(cp, source, CLLD_NOW);
    if (!handle)
        fail_msg("%s", clerror());
    cl_kernel krn = clsym(cp, handle, "draw", 0);
    assert_non_null(krn);
    philox4 *out = clmalloc(cp, N * sizeof *out, 0);
    assert_non_null(out);
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        memset(out, 0, N * sizeof *out);
        assert_true(clforka(cp, dev, krn, &ndr, CL_EVENT_NOWAIT, out, (cl_uint)7,
                            (cl_uint)0xfffffff9u) != (cl_event)-1);
        assert_true(clmsync(cp, dev, out, CL_MEM_HOST | CL_EVENT_NOWAIT) != (cl_event)-1);
        assert_true(clwait(cp, dev, CL_ALL_EVENT) != (cl_event)-1);
        for (philox_u32 i = 0; i < N; i++) {
            philox4 r = philox4x32_10((philox4){i, ~i, i * i, 0xffffffffu}, 7, 0xfffffff9u);
            assert_memory_equal(&out[i], &r, sizeof r);
        }
    }
    clfree(out);
    clclose(cp, handle);
}

/* Deviates in kernels have the host's bits. With and without doubles, which not every device has;
 * -cl-mad-enable lets the compiler contract expressions. */
static void philox_deviates_in_kernels_match_host(void **state)
{
    static const char source[] =
        "#include <stdcl/philox.h>\n"
        "kernel void draw(global float4 *normal, global float4 *other, global uint *integer)\n"
        "{ uint i = get_global_id(0); uint4 b = philox4x32_10((uint4)(i, 0, 0, 0), 20261129, 1);\n"
        "  normal[i] = philox_normal_float4(b);\n"
        "  other[i] = (float4)(philox_exponential_float(b.x), philox_float_open(b.y),\n"
        "                      philox_float(b.z), philox_int(b, -100, 100));\n"
        "  integer[i] = philox_below(b, 0xC0000001u) ^ (uint)philox_below64(b, 3ul << 62)\n"
        "               ^ (uint)philox_long(b, -7, 1l << 40); }\n"
        "#if PHILOX_DOUBLES\n"
        "kernel void draw_doubles(global double2 *normal, global double4 *other)\n"
        "{ uint i = get_global_id(0); uint4 b = philox4x32_10((uint4)(i, 0, 0, 0), 20261129, 1);\n"
        "  normal[i] = philox_normal_double2(b);\n"
        "  other[i] = (double4)(philox_exponential_double(b.x, b.y), philox_double(b.x, b.y),\n"
        "                       philox_double_half_open(b.z, b.w), 0); }\n"
        "#endif\n";
    enum { N = 20000 };
    CLCONTEXT *cp = stddev;
    (void)state;
    assert_non_null(cp);
    void *handle = clopen_named(cp, "draw.cl", source, strlen(source), "-cl-mad-enable", CLLD_NOW);
    cl_kernel draw = clsym(cp, handle, "draw", 0), wide = clsym(cp, handle, "draw_doubles", 0);
    assert_non_null(draw);
    philox_float4 *normal = clmalloc(cp, N * sizeof *normal, 0), *other;
    other = clmalloc(cp, N * sizeof *other, 0);
    uint32_t *integer = clmalloc(cp, N * sizeof *integer, 0);
    philox_double2 *normal2 = clmalloc(cp, N * sizeof *normal2, 0);
    double *other2 = clmalloc(cp, 4 * N * sizeof *other2, 0);
    assert_true(normal && other && integer && normal2 && other2);
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        assert_true(clforka(cp, dev, draw, &ndr, CL_EVENT_NOWAIT, normal, other, integer) !=
                    (cl_event)-1);
        assert_true(!wide ||
                    clforka(cp, dev, wide, &ndr, CL_EVENT_NOWAIT, normal2, other2) != (cl_event)-1);
        clmsync(cp, dev, normal, CL_MEM_HOST | CL_EVENT_NOWAIT);
        clmsync(cp, dev, other, CL_MEM_HOST | CL_EVENT_NOWAIT);
        clmsync(cp, dev, integer, CL_MEM_HOST | CL_EVENT_NOWAIT);
        if (wide) {
            clmsync(cp, dev, normal2, CL_MEM_HOST | CL_EVENT_NOWAIT);
            clmsync(cp, dev, other2, CL_MEM_HOST | CL_EVENT_NOWAIT);
        }
        assert_true(clwait(cp, dev, CL_ALL_EVENT) != (cl_event)-1);
        for (uint32_t i = 0; i < N; i++) {
            const philox4 b = block(i);
            const philox_float4 v = philox_normal_float4(b);
            const philox_float4 o = {philox_exponential_float(b.x), philox_float_open(b.y),
                                     philox_float(b.z), (float)philox_int(b, -100, 100)};
            assert_memory_equal(&normal[i], &v, sizeof v);
            assert_memory_equal(&other[i], &o, sizeof o);
            assert_int_equal(integer[i], philox_below(b, 0xC0000001u) ^
                                             (uint32_t)philox_below64(b, (uint64_t)3 << 62) ^
                                             (uint32_t)philox_long(b, -7, (int64_t)1 << 40));
            const philox_double2 w = philox_normal_double2(b);
            const double q[3] = {philox_exponential_double(b.x, b.y), philox_double(b.x, b.y),
                                 philox_double_half_open(b.z, b.w)};
            if (wide) {
                assert_memory_equal(&normal2[i], &w, sizeof w);
                assert_memory_equal(&other2[4 * i], q, sizeof q);
            }
        }
    }
    clfree(normal), clfree(other), clfree(integer), clfree(normal2), clfree(other2);
    clclose(cp, handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_matches_known_answers),
        cmocka_unit_test(philox_intervals_exclude_ends),
        cmocka_unit_test(philox_words_are_uniform),
        cmocka_unit_test(philox_kernels_match_host),
        cmocka_unit_test(philox_below_matches_reference),
        cmocka_unit_test(philox_below_is_unbiased),
        cmocka_unit_test(philox_integers_cover_ranges),
        cmocka_unit_test(philox_mulhi64_matches_compiler),
        cmocka_unit_test(philox_floats_match_long_doubles),
        cmocka_unit_test(philox_doubles_match_long_doubles),
        cmocka_unit_test(philox_deviates_have_their_distributions),
        cmocka_unit_test(philox_normals_have_moments),
        cmocka_unit_test(philox_normals_have_tails),
        cmocka_unit_test(philox_deviates_in_kernels_match_host),
    };
    return cmocka_run_group_tests_name("philox", tests, NULL, NULL);
}

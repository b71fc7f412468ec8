/* Prefix sums and sorting against plain C, for all critical sizes, every width and number of
 * bits, keys in many orders; stable; no write beyond the end; counts known to the device only;
 * and rejected calls.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "check.h"
#include "deep.h"

#include "arrays/arrays_ref.h"
#include "arrays/kernels.h"
#include "arrays/scan_host_threads.h"
#include "arrays/sort_host.h"
#include "arrays/sorter.h"
#include "core/thread_pool.h"

#include <math.h>

enum { MOST = (1 << 22) + 77, SMALL = 300, GUARDS = 64 };
static const size_t sizes[] = {1023,  1024,  1025,  2047,   2048,   2049,   4095,    4097, 8191,
                               16385, 32767, 65537, 131071, 262145, 524287, 1048577, MOST};
enum { LARGE_SIZES = sizeof sizes / sizeof *sizes };

static CLCONTEXT *cp;
static cl_uint dev;       /* the last of the context */
static const char *shape; /* of the sorters that tests create */
static bool deep;         /* all shapes */
static void *keys, *right, *room, *scratch;
static cl_uint *values, *right_values;

/* Random words: splitmix64. */
static uint64_t sort_random_word(size_t i, uint64_t key)
{
    uint64_t z = ((uint64_t)i + key * 1000003) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static uint64_t sort_get(int bytes, const void *array, size_t i)
{
    return bytes == 4 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

static void sort_put(int bytes, void *array, size_t i, uint64_t v)
{
    if (bytes == 4)
        ((uint32_t *)array)[i] = (uint32_t)v;
    else
        ((uint64_t *)array)[i] = v;
}

static arrays_sorter *make_sorter(void)
{
    arrays_sorter *s = arrays_sorter_create(
        &(struct arrays_sorter_options){.ctx = cp, .dev = dev, .shape = shape});
    ready(s);
    return s;
}

static void sync_all(int direction, void *const *blocks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        done(clmsync(cp, dev, blocks[i], direction));
}

/* ---- Sorting. -------------------------------------------------------------------------------- */

struct pair {
    uint64_t key, whole;
    uint32_t value;
    size_t place;
};

static int by_key_and_place(const void *a, const void *b)
{
    const struct pair *p = a, *q = b;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    return (p->place > q->place) - (p->place < q->place);
}

/* Layout of the keys before sorting. */
enum order { RANDOM, EQUAL, SORTED, REVERSE, ONE_BIT, GREATEST, FEW, ORDERS };

static uint64_t sort_key_of(enum order order, size_t i, size_t n, int bits)
{
    const uint64_t all = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    switch (order) {
    case RANDOM:
        return sort_random_word(i, 7); /* bits above those that count too */
    case EQUAL:
        return 0xA5A5A5A5A5A5A5A5u;
    case SORTED:
        return (uint64_t)i * (all / (n + 1) + 1);
    case REVERSE:
        return (uint64_t)(n - i) * (all / (n + 1) + 1);
    case ONE_BIT:
        return (uint64_t)(i * 2654435761u >> 7 & 1) << (bits - 1);
    case GREATEST:
        return i % 3 ? all : all - 1;
    default:
        return sort_random_word(i % 17, 9);
    }
}

/* Fill keys and values, and the right answer by qsort, which does not use digits. */
static void prepare_keys(enum order order, int bytes, int bits, size_t n)
{
    const uint64_t all = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    struct pair *pairs = malloc((n + 1) * sizeof *pairs);
    ready(pairs);
    for (size_t i = 0; i < n; i++) {
        sort_put(bytes, keys, i, sort_key_of(order, i, n, bits));
        values[i] = (cl_uint)(i * 2654435761u + 12345u);
        const uint64_t whole = sort_get(bytes, keys, i);
        pairs[i] = (struct pair){whole & all, whole, values[i], i};
    }
    qsort(pairs, n, sizeof *pairs, by_key_and_place);
    for (size_t i = 0; i < n; i++) {
        sort_put(bytes, right, i, pairs[i].whole);
        right_values[i] = pairs[i].value;
    }
    free(pairs);
    for (size_t i = n; i < n + GUARDS; i++) {
        sort_put(bytes, keys, i, i * 77);
        sort_put(bytes, right, i, i * 77);
        values[i] = right_values[i] = (cl_uint)(i * 99);
    }
}

#define same(got, wanted, n, bytes) check_same_order(got, wanted, n, bytes, #got, __LINE__)
static void check_same_order(const void *got, const void *wanted, size_t n, int bytes,
                             const char *what, int line)
{
    for (size_t i = 0; i < n + GUARDS; i++)
        if (sort_get(bytes, got, i) != sort_get(bytes, wanted, i)) {
            print_error("n = %zu, %d bytes: %s[%zu] is %#llx instead of %#llx\n", n, bytes, what, i,
                        (unsigned long long)sort_get(bytes, got, i),
                        (unsigned long long)sort_get(bytes, wanted, i));
            _fail(__FILE__, line);
        }
}

static void sort_and_check(arrays_sorter *s, int bytes, int bits, size_t n, bool pairs)
{
    void *blocks[] = {keys, values};
    const struct arrays_sort_job job = {
        .keys = keys, .values = pairs ? values : NULL, .bytes = bytes, .bits = bits, .most = n};
    sync_all(CL_MEM_DEVICE, blocks, 2);
    works((n + (size_t)bits) % 2 ? arrays_sort(s, &job)
                                 : arrays_sort_start(s, &job)); /* on CPUs: host, kernels */
    sync_all(CL_MEM_HOST, blocks, 2);
    same(keys, right, n, bytes);
    if (pairs)
        same(values, right_values, n, 4);
}

static void sort_small_sizes_match_qsort(void **state)
{
    (void)state;
    arrays_sorter *s = make_sorter();
    for (int bytes = 4; bytes <= 8; bytes += 4)
        for (size_t n = 0; n <= SMALL; n++) {
            const bool pairs = n % 5 != 0;
            prepare_keys(RANDOM, bytes, 8 * bytes, n);
            sort_and_check(s, bytes, 0, n, pairs);
        }
    arrays_sorter_free(NULL);
    arrays_sorter_free(s);
}

static void sort_bit_widths_match_qsort(void **state)
{
    (void)state;
    arrays_sorter *s = make_sorter();
    for (int bytes = 4; bytes <= 8; bytes += 4)
        for (int bits = 1; bits <= 8 * bytes; bits += bits % 8 < 2 ? 1 : 5) {
            prepare_keys(RANDOM, bytes, bits, 3001);
            sort_and_check(s, bytes, bits, 3001, bits % 3 != 0);
        }
    arrays_sorter_free(s);
}

static void sort_input_orders_match_qsort(void **state)
{
    (void)state;
    arrays_sorter *s = make_sorter();
    for (enum order order = RANDOM; order < ORDERS; order++)
        for (int bytes = 4; bytes <= 8; bytes += 4) {
            const int bits = 8 * bytes - (int)order % 2;
            prepare_keys(order, bytes, bits, 20011);
            sort_and_check(s, bytes, bits, 20011, true);
        }
    arrays_sorter_free(s);
}

/* Large sizes against the scalar reference, which the first of them compares with qsort. */
static void sort_large_sizes_match_reference(void **state)
{
    (void)state;
    arrays_sorter *s = make_sorter();
    void *blocks[] = {keys, values};
    for (size_t k = 0; k < LARGE_SIZES; k++) {
        const size_t n = sizes[k];
        const int bytes = k % 2 ? 4 : 8, bits = k % 4 < 2 ? 8 * bytes - 1 : 20;
        for (size_t i = 0; i < n + GUARDS; i++) {
            sort_put(bytes, keys, i, sort_random_word(i, 21) >> (i % 7));
            values[i] = (cl_uint)i;
        }
        memcpy(right, keys, (n + GUARDS) * (size_t)bytes);
        memcpy(right_values, values, (n + GUARDS) * sizeof *values);
        arrays_ref_sort(bytes, bits, right, right_values, n, room);
        const struct arrays_sort_job job = {
            .keys = keys, .values = values, .bytes = bytes, .bits = bits, .most = n};
        sync_all(CL_MEM_DEVICE, blocks, 2);
        works(arrays_sort(s, &job));
        sync_all(CL_MEM_HOST, blocks, 2);
        same(keys, right, n, bytes);
        same(values, right_values, n, 4);
    }
    arrays_sorter_free(s);
}

static void sort_reference_matches_qsort(void **state)
{
    (void)state;
    for (enum order order = RANDOM; order < ORDERS; order++)
        for (int bytes = 4; bytes <= 8; bytes += 4)
            for (int bits = 1; bits <= 8 * bytes; bits += 7) {
                prepare_keys(order, bytes, bits, 777);
                arrays_ref_sort(bytes, bits, keys, values, 777, room);
                same(keys, right, (size_t)777, bytes);
                same(values, right_values, (size_t)777, 4);
            }
}

/* A key as a number, for floats. */
static double sort_as_double(int bytes, uint64_t key)
{
    float narrow;
    double wide;
    memcpy(&wide, &key, sizeof wide);
    memcpy(&narrow, &(uint32_t){(uint32_t)key}, sizeof narrow);
    return bytes == 4 ? (double)narrow : wide;
}

static struct {
    enum arrays_order order;
    int bytes, descending;
} compared;

/* Compare by the machine's own comparisons. */
static int sort_compare_keys(uint64_t a, uint64_t b)
{
    const double x = sort_as_double(compared.bytes, a), y = sort_as_double(compared.bytes, b);
    const int64_t i = compared.bytes == 4 ? (int32_t)a : (int64_t)a,
                  j = compared.bytes == 4 ? (int32_t)b : (int64_t)b;
    const int up = compared.descending ? -1 : 1;
    switch (compared.order) {
    case ARRAYS_SIGNED:
        return up * ((i > j) - (i < j));
    case ARRAYS_FLOATING:
        if (isnan(x) || isnan(y))
            return !!isnan(x) - !!isnan(y);
        return up * (x != y ? (x > y) - (x < y) : !!signbit(y) - !!signbit(x));
    default:
        return up * ((a > b) - (a < b));
    }
}

static int by_order_and_place(const void *a, const void *b)
{
    const struct pair *p = a, *q = b;
    const int sign = sort_compare_keys(p->whole, q->whole);
    return sign ? sign : (p->place > q->place) - (p->place < q->place);
}

/* Random bits, and every seventh key a special floating-point number. */
static uint64_t sort_odd_key(int bytes, size_t i)
{
    static const uint32_t narrow[] = {0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000,
                                      0xffc00001, 0x7fffffff, 0xffffffff, 1,          0x80000001};
    static const uint64_t wide[] = {0,
                                    1ull << 63,
                                    0x7ffull << 52,
                                    0xfffull << 52,
                                    0x7ff8ull << 48,
                                    0xfff8ull << 48,
                                    INT64_MAX,
                                    UINT64_MAX,
                                    0x8000000000000001u,
                                    1};
    const uint64_t random = sort_random_word(i, 31);
    if (i % 7)
        return bytes == 4 ? (uint32_t)random : random;
    return bytes == 4 ? narrow[random % 10] : wide[random % 10];
}

static void sort_in_order_and_check(arrays_sorter *s, size_t n, int value_bytes)
{
    const int bytes = compared.bytes;
    struct pair *pairs = malloc((n + 1) * sizeof *pairs);
    void *blocks[] = {keys, room};
    ready(pairs);
    for (size_t i = 0; i < n + GUARDS; i++) {
        sort_put(bytes, keys, i, sort_odd_key(bytes, i));
        sort_put(value_bytes, room, i, (uint64_t)i << 33 | i);
        if (i < n)
            pairs[i] = (struct pair){.whole = sort_get(bytes, keys, i), .place = i};
    }
    qsort(pairs, n, sizeof *pairs, by_order_and_place);
    const struct arrays_sort_job job = {.keys = keys,
                                        .values = n % 2 ? room : NULL,
                                        .bytes = bytes,
                                        .value_bytes = value_bytes,
                                        .order = compared.order,
                                        .descending = compared.descending,
                                        .most = n};
    sync_all(CL_MEM_DEVICE, blocks, 2);
    works(n % 3 ? arrays_sort(s, &job) : arrays_sort_start(s, &job)); /* on CPUs: host, kernels */
    sync_all(CL_MEM_HOST, blocks, 2);
    for (size_t i = 0; i < n; i++) {
        const uint64_t place = pairs[i].place, value = place << 33 | place;
        assert_true(sort_get(bytes, keys, i) == pairs[i].whole);
        if (n % 2)
            assert_true(sort_get(value_bytes, room, i) ==
                        (value_bytes == 4 ? (uint32_t)value : value));
    }
    for (size_t i = n; i < n + GUARDS; i++)
        assert_true(sort_get(bytes, keys, i) == sort_odd_key(bytes, i));
    free(pairs);
}

static void sort_orders_match_comparisons(void **state)
{
    (void)state;
    static const size_t lengths[] = {1, 2, 255, 3000, 20011};
    arrays_sorter *s = make_sorter();
    for (int k = 0; k < 24; k++) {
        compared.order = (enum arrays_order)(k % 3);
        compared.bytes = k / 3 % 2 ? 8 : 4;
        compared.descending = k / 6 % 2;
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            sort_in_order_and_check(s, lengths[i], k / 12 ? 8 : 4);
    }
    arrays_sorter_free(s);
}

/* Sort on the host; values are the keys' places before. Keys and values are then in strictly
 * ascending order, and each key is the one from that place: so none is lost. Arrays stay as they
 * are beyond their ends. Without values the keys are the same. */
static void sort_host_and_check(struct thread_pool **pool, size_t n, int value_bytes)
{
    const int bytes = compared.bytes;
    const size_t size = (n + 2) * (size_t)bytes;
    uint64_t *at = malloc((n + 2) * 8);
    char *pairs = malloc(size), *alone = malloc(size);
    ready(at), ready(pairs), ready(alone);
    for (size_t i = 0; i < n + 2; i++) {
        sort_put(bytes, pairs, i, sort_odd_key(bytes, i - 1));
        sort_put(value_bytes, at, i, i - 1);
    }
    memcpy(alone, pairs, size);
    struct sort_host sort = {.keys = pairs + bytes,
                             .values = (char *)at + value_bytes,
                             .key_bytes = (size_t)bytes,
                             .value_bytes = (size_t)value_bytes,
                             .n = n,
                             .order = (int)compared.order,
                             .descending = compared.descending != 0,
                             .bits = 8 * bytes};
    void *work = aligned_alloc(64, arrays_sort_host_workspace(&sort));
    ready(work);
    arrays_sort_host(&sort, pool, work);
    for (size_t i = 1; i <= n; i++) {
        const uint64_t key = sort_get(bytes, pairs, i), place = sort_get(value_bytes, at, i);
        assert_true(key == sort_odd_key(bytes, place));
        const int sign = i == 1 ? -1 : sort_compare_keys(sort_get(bytes, pairs, i - 1), key);
        assert_true(sign < 0 || (sign == 0 && sort_get(value_bytes, at, i - 1) < place));
    }
    assert_true(sort_get(bytes, pairs, n + 1) == sort_odd_key(bytes, n));
    sort.keys = alone + bytes;
    sort.value_bytes = 0;
    arrays_sort_host(&sort, pool, work);
    assert_memory_equal(alone, pairs, size);
    free(at), free(pairs), free(alone), free(work);
}

static void sort_on_host_matches_comparisons(void **state)
{
    static const size_t lengths[] = {0, 1, 1000, 40003}; /* the last by several threads */
    struct thread_pool *pool = NULL;
    (void)state;
    for (int k = 0; k < 24; k++) {
        compared.order = (enum arrays_order)(k % 3);
        compared.bytes = k / 3 % 2 ? 8 : 4;
        compared.descending = k / 6 % 2;
        for (size_t i = 0; i < 4; i++)
            sort_host_and_check(&pool, lengths[i], k / 12 ? 8 : 4);
    }
    thread_pool_free(pool);
}

/* Bits first_bit to first_bit + bits - 1, against qsort. */
static void sort_middle_bits_match_qsort(void **state)
{
    (void)state;
    static const int ranges[][2] = {{1, 7}, {5, 9}, {8, 8}, {13, 0}, {31, 1}, {27, 4}, {20, 0}};
    const size_t n = 3001;
    struct pair *pairs = malloc(n * sizeof *pairs);
    void *blocks[] = {keys, values};
    arrays_sorter *s = make_sorter();
    ready(pairs);
    for (size_t k = 0; k < 2 * sizeof ranges / sizeof *ranges; k++) {
        const int bytes = k % 2 ? 8 : 4, first = ranges[k / 2][0], width = 8 * bytes - first,
                  bits = ranges[k / 2][1] ? ranges[k / 2][1] : width;
        for (size_t i = 0; i < n; i++) {
            sort_put(bytes, keys, i, sort_random_word(i, 41));
            values[i] = (cl_uint)i;
            const uint64_t whole = sort_get(bytes, keys, i);
            pairs[i] =
                (struct pair){whole >> first & (((uint64_t)1 << bits) - 1), whole, (uint32_t)i, i};
        }
        qsort(pairs, n, sizeof *pairs, by_key_and_place);
        const struct arrays_sort_job job = {.keys = keys,
                                            .values = values,
                                            .bytes = bytes,
                                            .first_bit = first,
                                            .bits = ranges[k / 2][1],
                                            .most = n};
        sync_all(CL_MEM_DEVICE, blocks, 2);
        works(arrays_sort(s, &job));
        sync_all(CL_MEM_HOST, blocks, 2);
        for (size_t i = 0; i < n; i++)
            assert_true(sort_get(bytes, keys, i) == pairs[i].whole && values[i] == pairs[i].value);
    }
    free(pairs);
    arrays_sorter_free(s);
}

/* ---- Prefix sums. ---------------------------------------------------------------------------- */

/* Compare with sums by a loop. Floats are whole numbers so small that every order of additions is
 * exact. */
static void scan_kinds_and_check(arrays_sorter *s, int bytes, size_t n, int floating, int inclusive)
{
    uint64_t sum = 0;
    void *blocks[] = {keys, room, scratch};
    for (size_t i = 0; i < n; i++) {
        const uint64_t whole = floating ? sort_random_word(i, 51) % 3 : sort_random_word(i, 51);
        if (!floating)
            sort_put(bytes, keys, i, whole);
        else if (bytes == 4)
            ((float *)keys)[i] = (float)whole;
        else
            ((double *)keys)[i] = (double)whole;
    }
    const struct arrays_scan_job job = {.x = keys,
                                        .sums = n % 2 ? keys : room,
                                        .total = scratch,
                                        .bytes = bytes,
                                        .floating = floating,
                                        .inclusive = inclusive,
                                        .most = n};
    memcpy(right, keys, n * (size_t)bytes);
    sync_all(CL_MEM_DEVICE, blocks, 3);
    works(n % 4 < 2 ? arrays_scan(s, &job) : arrays_scan_start(s, &job)); /* host, kernels */
    sync_all(CL_MEM_HOST, blocks, 3);
    for (size_t i = 0; i <= n; i++) {
        const void *got = i < n ? job.sums : scratch;
        const size_t at = i < n ? i : 0;
        const uint64_t own = i == n     ? 0
                             : floating ? (uint64_t)sort_as_double(bytes, sort_get(bytes, right, i))
                                        : sort_get(bytes, right, i),
                       wanted = sum + (inclusive ? own : 0);
        if (floating)
            assert_true(sort_as_double(bytes, sort_get(bytes, got, at)) == (double)wanted);
        else
            assert_true(sort_get(bytes, got, at) == (bytes == 4 ? (uint32_t)wanted : wanted));
        sum += own;
    }
}

static void scan_kinds_match_definition(void **state)
{
    (void)state;
    static const size_t lengths[] = {0, 1, 2, 3, 300, 1025, 8190, 65537, 1048575};
    arrays_sorter *s = make_sorter();
    bool doubles;
    works(arrays_have_doubles(cp, dev, 1, &doubles));
    for (int k = 0; k < 8; k++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            if (doubles || k / 2 % 2 == 0 || k % 2 == 0)
                scan_kinds_and_check(s, k / 2 % 2 ? 8 : 4, lengths[i], k % 2, k / 4);
    arrays_sorter_free(s);
}

/* Large and small terms: the small ones before the large one are not lost. */
static void scan_of_floats_loses_no_earlier_terms(void **state)
{
    (void)state;
    enum { N = 5000, LARGE = 4900 };
    arrays_sorter *s = make_sorter();
    float *x = keys;
    void *blocks[] = {keys};
    for (size_t i = 0; i < N; i++)
        x[i] = i == LARGE ? 1e30f : 1;
    sync_all(CL_MEM_DEVICE, blocks, 1);
    works(arrays_scan(s, &(const struct arrays_scan_job){
                             .x = x, .sums = x, .bytes = 4, .floating = 1, .most = N}));
    sync_all(CL_MEM_HOST, blocks, 1);
    for (size_t i = 0; i < N; i++)
        assert_true(x[i] == (i <= LARGE ? (float)i : 1e30f));
    arrays_sorter_free(s);
}

static void scan_and_check(arrays_sorter *s, int bytes, size_t n, bool in_place)
{
    cl_ulong *total = scratch;
    void *blocks[] = {keys, room, scratch};
    for (size_t i = 0; i < n + GUARDS; i++) {
        sort_put(bytes, keys, i, sort_random_word(i, 3) >> (i % 40));
        sort_put(bytes, room, i, i * 55);
        sort_put(bytes, right, i, in_place ? sort_get(bytes, keys, i) : i * 55);
    }
    *total = 0;
    const uint64_t all = arrays_ref_scan(bytes, keys, right, n);
    const struct arrays_scan_job job = {
        .x = keys, .sums = in_place ? keys : room, .total = total, .bytes = bytes, .most = n};
    sync_all(CL_MEM_DEVICE, blocks, 3);
    works(n % 3 ? arrays_scan(s, &job) : arrays_scan_start(s, &job)); /* host, kernels */
    sync_all(CL_MEM_HOST, blocks, 3);
    same(job.sums, right, n, bytes);
    assert_true(*total == all);
}

static void scan_matches_reference(void **state)
{
    (void)state;
    arrays_sorter *s = make_sorter();
    for (int bytes = 4; bytes <= 8; bytes += 4) {
        for (size_t n = 0; n <= SMALL; n++)
            scan_and_check(s, bytes, n, n % 2);
        for (size_t k = 0; k < LARGE_SIZES; k++)
            scan_and_check(s, bytes, sizes[k], k % 2);
    }
    arrays_sorter_free(s);
}

/* Scan by functions of the host, beside x and in place, exclusive and inclusive. Nothing is written
 * beyond the end. */
static void scan_on_host_and_check(const struct scan_host *host, struct thread_pool **pool,
                                   int bytes, const void *x, size_t n)
{
    const size_t size = n * (size_t)bytes;
    unsigned char *sums = aligned_alloc(64, size / 64 * 64 + 64), *own = malloc(size + 9),
                  *right_sums = malloc(size + 9);
    ready(sums), ready(own), ready(right_sums);
    sums[size] = own[size] = 0x5a;
    memcpy(right_sums, x, size);
    struct scan_host_job job = {
        .kind = bytes == 8 ? SCAN_HOST_64 : SCAN_HOST_32, .sums = sums, .x = x, .n = n};
    const uint64_t all = arrays_ref_scan(bytes, right_sums, right_sums, n),
                   mask = bytes == 4 ? UINT32_MAX : UINT64_MAX;
    assert_true((arrays_scan_host_threads(host, pool, &job).whole & mask) == (all & mask));
    assert_memory_equal(sums, right_sums, size);
    memcpy(own, x, size);
    job.x = job.sums = own;
    arrays_scan_host_threads(host, pool, &job);
    assert_memory_equal(own, right_sums, size);
    job = (struct scan_host_job){job.kind, true, own, x, n};
    arrays_scan_host_threads(host, pool, &job);
    sort_put(bytes, right_sums, n, all); /* the inclusive sums are the next exclusive ones */
    assert_true(n == 0 || memcmp(own, right_sums + bytes, size) == 0);
    assert_true(own[size] == 0x5a && sums[size] == 0x5a);
    free(sums), free(own), free(right_sums);
}

/* Scan floats or doubles on the host: with each set of instructions, by one thread and by several
 * the bits are equal, and each sum is within the rounding errors of a sum in long doubles. */
static void scan_floats_on_host_and_check(struct thread_pool **pool, bool inclusive, int bytes,
                                          size_t n, const void *x)
{
    const struct scan_host *hosts[] = {&arrays_scan_host_any, arrays_scan_host()};
    const size_t size = n * (size_t)bytes;
    char *sums[3];
    struct thread_pool alone = {.threads = 0}, *pools[] = {*pool, *pool, &alone};
    for (int k = 0; k < 3; k++) {
        sums[k] = aligned_alloc(64, (size + 63) / 64 * 64);
        ready(sums[k]);
        struct scan_host_job job = {bytes == 8 ? SCAN_HOST_DOUBLE : SCAN_HOST_FLOAT, inclusive,
                                    sums[k], x, n};
        if (k == 1)
            memcpy(sums[k], x, size), job.x = job.sums;
        const double total = arrays_scan_host_threads(hosts[k % 2], &pools[k], &job).real;
        if (inclusive)
            assert_true(total == sort_as_double(bytes, sort_get(bytes, sums[k], n - 1)));
    }
    assert_memory_equal(sums[0], sums[1], size);
    assert_memory_equal(sums[0], sums[2], size);
    long double sum = 0, magnitude = 0;
    const double unit = bytes == 8 ? 0x1p-53 : 0x1p-24;
    for (size_t i = 0; i < n; i++) {
        const double own = sort_as_double(bytes, sort_get(bytes, x, i));
        const long double wanted = sum + (inclusive ? own : 0);
        magnitude += fabs(own);
        const double got = sort_as_double(bytes, sort_get(bytes, sums[0], i));
        assert_true(fabsl(got - wanted) <= 1e3 * unit * magnitude);
        sum += own;
    }
    for (int k = 0; k < 3; k++)
        free(sums[k]);
}

static void scan_of_floats_on_host_has_fixed_order(void **state)
{
    enum { N = (4 << 20) + 7 };
    static const size_t lengths[] = {1, 5, 32768, 32769, 100003, N};
    struct thread_pool *pool = thread_pool_create(THREAD_POOL_MOST);
    double *x = malloc(N * sizeof *x);
    float *y = malloc(N * sizeof *y);
    (void)state;
    ready(pool), ready(x), ready(y);
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)(sort_random_word(i, 8) >> 11) * 0x1p-53 - 0.25;
        y[i] = (float)x[i];
    }
    for (size_t k = 0; k < 2 * sizeof lengths / sizeof *lengths; k++) {
        scan_floats_on_host_and_check(&pool, k % 2, 8, lengths[k / 2], x);
        scan_floats_on_host_and_check(&pool, k % 2, 4, lengths[k / 2], y);
    }
    thread_pool_free(pool);
    free(x), free(y);
}

/* For each set of instructions of this processor, by one thread and by several: past the caches
 * and through them. */
static void scan_host_matches_reference(void **state)
{
    enum { N = (4 << 20) + 6 };
    static const size_t lengths[] = {
        0, 1, 7, 16, 17, 100, 1023, 32767, 32768, 65537, (1 << 20) + 3, N - 1};
    const struct scan_host *hosts[] = {&arrays_scan_host_any, arrays_scan_host(), NULL};
    uint64_t *x = malloc(N * sizeof *x);
    struct thread_pool *pool = NULL;
    (void)state;
    ready(x);
#ifdef __x86_64__
    hosts[2] = __builtin_cpu_supports("avx2") ? &arrays_scan_host_avx2 : NULL;
#endif
    for (size_t i = 0; i < N; i++)
        x[i] = sort_random_word(i, 5);
    for (int h = 0; h < 3 && hosts[h]; h++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            scan_on_host_and_check(hosts[h], &pool, 4, (uint32_t *)x + k % 2, lengths[k]);
            scan_on_host_and_check(hosts[h], &pool, 8, x + k % 2, lengths[k]);
        }
    thread_pool_free(pool);
    free(x);
}

/* The reference against its definition. */
static void scan_reference_matches_definition(void **state)
{
    (void)state;
    const uint32_t x[] = {3, 4000000000u, 5, 0, 4000000000u};
    uint32_t sums[5];
    uint64_t y[] = {UINT64_MAX, 2, 7};
    assert_true(arrays_ref_scan(4, x, sums, 5) == (uint32_t)(8000000008u));
    assert_true(sums[0] == 0 && sums[1] == 3 && sums[2] == 4000000003u && sums[3] == 4000000008u &&
                sums[4] == 4000000008u);
    assert_true(arrays_ref_scan(8, y, y, 3) == 8);
    assert_true(y[0] == 0 && y[1] == UINT64_MAX && y[2] == 1);
}

/* ---- Arrays that start at any element. ------------------------------------------------------- */

/* Sort n keys from element `shift` of the block on, with values from another element on and the
 * number of keys at an odd place. Elements around them are unchanged. */
static void sort_shifted(arrays_sorter *s, int bytes, size_t n, size_t shift)
{
    struct pair *pairs = malloc(n * sizeof *pairs);
    char *const from = (char *)keys + shift * (size_t)bytes;
    cl_uint *const own = values + 2 * shift + 1, *count = (cl_uint *)scratch + 3;
    ready(pairs);
    for (size_t i = 0; i < n + 2 * shift + GUARDS; i++)
        sort_put(bytes, keys, i, sort_random_word(i, 11)), values[i] = (cl_uint)i;
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = sort_get(bytes, from, i);
        pairs[i] = (struct pair){key, key, own[i], i};
    }
    qsort(pairs, n, sizeof *pairs, by_key_and_place);
    *count = (cl_uint)n;
    const struct arrays_sort_job job = {
        .keys = from, .values = own, .bytes = bytes, .most = n + 5, .count = count};
    done(clmsync(cp, dev, keys, CL_MEM_DEVICE | CL_EVENT_WAIT));
    done(clmsync(cp, dev, values, CL_MEM_DEVICE | CL_EVENT_WAIT));
    done(clmsync(cp, dev, scratch, CL_MEM_DEVICE | CL_EVENT_WAIT));
    works(arrays_sort(s, &job));
    done(clmsync(cp, dev, keys, CL_MEM_HOST | CL_EVENT_WAIT));
    done(clmsync(cp, dev, values, CL_MEM_HOST | CL_EVENT_WAIT));
    for (size_t i = 0; i < n; i++) {
        assert_true(sort_get(bytes, from, i) == pairs[i].whole);
        assert_int_equal(own[i], pairs[i].value);
    }
    const uint64_t all = bytes == 4 ? UINT32_MAX : UINT64_MAX;
    for (size_t i = 0; i < shift; i++) {
        assert_true(sort_get(bytes, keys, i) == (sort_random_word(i, 11) & all));
        assert_true(sort_get(bytes, from, n + i) == (sort_random_word(shift + n + i, 11) & all));
        assert_true(values[i] == i && own[n + i] == 2 * shift + 1 + n + i);
    }
    free(pairs);
}

/* Scan n numbers from element `shift` of one block to another element of another block. */
static void scan_shifted(arrays_sorter *s, int bytes, size_t n, size_t shift)
{
    char *const x = (char *)keys + shift * (size_t)bytes,
                *const sums = (char *)room + (shift + 2) * (size_t)bytes,
                *const total = (char *)scratch + 5 * (size_t)bytes;
    for (size_t i = 0; i < n + shift + GUARDS; i++)
        sort_put(bytes, keys, i, sort_random_word(i, 12)), sort_put(bytes, room, i, 77);
    const uint64_t all = arrays_ref_scan(bytes, x, right, n);
    done(clmsync(cp, dev, keys, CL_MEM_DEVICE | CL_EVENT_WAIT));
    done(clmsync(cp, dev, room, CL_MEM_DEVICE | CL_EVENT_WAIT));
    works(
        arrays_scan_start(s, &(const struct arrays_scan_job){
                                 .x = x, .sums = sums, .total = total, .bytes = bytes, .most = n}));
    done(clwait(cp, dev, CL_ALL_EVENT));
    done(clmsync(cp, dev, room, CL_MEM_HOST | CL_EVENT_WAIT));
    done(clmsync(cp, dev, scratch, CL_MEM_HOST | CL_EVENT_WAIT));
    for (size_t i = 0; i < n; i++)
        assert_true(sort_get(bytes, sums, i) == sort_get(bytes, right, i));
    assert_true(sort_get(bytes, total, 0) == (bytes == 4 ? (uint32_t)all : all));
    assert_true(sort_get(bytes, sums, n) == 77 && sort_get(bytes, room, shift + 1) == 77);
}

static void sort_and_scan_start_at_any_element(void **state)
{
    static const size_t lengths[] = {1, 700, 9000}, shifts[] = {1, 3, 33};
    arrays_sorter *s[] = {make_sorter(), NULL};
    (void)state;
    s[1] = arrays_sorter_create(
        &(struct arrays_sorter_options){.ctx = cp, .dev = dev, .shape = "stream=8"});
    ready(s[1]);
    for (int k = 0; k < 2; k++)
        for (int bytes = 4; bytes <= 8; bytes += 4)
            for (size_t i = 0; i < 3; i++) {
                sort_shifted(s[k], bytes, lengths[i], shifts[i]);
                sort_shifted(s[k], bytes, lengths[i], 0);
                if (k == 0)
                    scan_shifted(s[k], bytes, lengths[i], shifts[i]);
            }
    arrays_sorter_free(s[0]);
    arrays_sorter_free(s[1]);
}

/* ---- Counts in memory of the device, work memory of the caller's. ---------------------------- */

static void sort_reads_count_on_device(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 299, 5000, 9999, 10000, 123456};
    const size_t most = 10000;
    arrays_sorter *s = make_sorter();
    cl_uint *count = scratch;
    void *blocks[] = {keys, values, scratch};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const size_t n = counts[k] < most ? counts[k] : most;
        struct arrays_sort_job job = {
            .keys = keys, .values = values, .bytes = 8, .bits = 20, .most = most, .count = count};
        prepare_keys(RANDOM, 8, 20, n);
        *count = (cl_uint)counts[k];
        sync_all(CL_MEM_DEVICE, blocks, 3);
        job.work = clmalloc(cp, arrays_sort_workspace(s, &job), CL_MEM_DEVONLY);
        ready(job.work);
        works(arrays_sort_start(s, &job));
        assert_true(clwait(cp, dev, CL_KERNEL_EVENT) == 0);
        sync_all(CL_MEM_HOST, blocks, 3);
        same(keys, right, n, 8);
        same(values, right_values, n, 4);
        works(clfree(job.work));

        memcpy(right, keys, (most + GUARDS) * 8);
        arrays_ref_scan(8, right, right, n);
        const struct arrays_scan_job scan = {
            .x = keys, .sums = keys, .bytes = 8, .most = most, .count = count};
        works(arrays_scan_start(s, &scan));
        done(clmsync(cp, dev, keys, CL_MEM_HOST));
        same(keys, right, n, 8);
    }
    arrays_sorter_free(s);
}

/* All devices at once, each in memory of its own. */
static void sort_devices_work_at_once(void **state)
{
    (void)state;
    enum { DEVICES = 2, N = 30000 };
    const cl_uint ndev = clgetndev(cp) < DEVICES ? clgetndev(cp) : DEVICES;
    arrays_sorter *s[DEVICES];
    uint64_t *own[DEVICES];
    for (cl_uint d = 0; d < ndev; d++) {
        s[d] = arrays_sorter_create(&(struct arrays_sorter_options){.ctx = cp, .dev = d});
        own[d] = clmalloc(cp, N * sizeof *own[d], CL_MEM_ZEROCOPY);
        ready(s[d]);
        ready(own[d]);
        assert_string_equal(arrays_sorter_shape(s[d]), "");
        contains(arrays_sorter_explain(s[d]), "no kernel");
        for (size_t i = 0; i < N; i++)
            own[d][i] = sort_random_word(i, d + 1);
        started(clmsync(cp, d, own[d], CL_MEM_DEVICE | CL_EVENT_NOWAIT));
        works(arrays_sort_start(s[d],
                                &(struct arrays_sort_job){.keys = own[d], .bytes = 8, .most = N}));
        started(clmsync(cp, d, own[d], CL_MEM_HOST | CL_EVENT_NOWAIT));
    }
    for (cl_uint d = 0; d < ndev; d++) {
        assert_true(clwait(cp, d, CL_ALL_EVENT) == 0);
        for (size_t i = 0; i < N; i++)
            ((uint64_t *)right)[i] = sort_random_word(i, d + 1);
        arrays_ref_sort(8, 64, right, NULL, N, room);
        assert_memory_equal(own[d], right, N * 8);
        works(clfree(own[d]));
        arrays_sorter_free(s[d]);
    }
}

/* A sort and a scan on one device of data that another device holds, by the host of CPUs and by
 * kernels: all devices then see the result. */
static void sort_moves_data_between_devices(void **state)
{
    (void)state;
    enum { N = 3000 };
    if (clgetndev(cp) < 2)
        return;
    for (cl_uint on = 0; on < 4; on++) {
        uint64_t *own = clmalloc(cp, N * sizeof *own, on % 2 ? CL_MEM_ZEROCOPY : 0);
        const cl_uint there = on / 2, here = 1 - there;
        arrays_sorter *s =
            arrays_sorter_create(&(struct arrays_sorter_options){.ctx = cp, .dev = here});
        ready(own), ready(s);
        for (size_t i = 0; i < N; i++)
            own[i] = ((uint64_t *)right)[i] = sort_random_word(i, on);
        done(clmsync(cp, there, own, CL_MEM_DEVICE | CL_EVENT_WAIT));
        works(arrays_sort(s, &(struct arrays_sort_job){.keys = own, .bytes = 8, .most = N}));
        works(arrays_scan(s,
                          &(struct arrays_scan_job){.x = own, .sums = own, .bytes = 8, .most = N}));
        arrays_ref_sort(8, 64, right, NULL, N, room);
        arrays_ref_scan(8, right, right, N);
        done(clmsync(cp, here, own, CL_MEM_HOST | CL_EVENT_WAIT));
        assert_memory_equal(own, right, N * 8);
        arrays_sorter_free(s);
        works(clfree(own));
    }
}

/* ---- Shapes. --------------------------------------------------------------------------------- */

/* No shape changes a result. These are GPU shapes, which CPUs run too, one item after the other. */
static void sort_shapes_give_equal_bits(void **state)
{
    (void)state;
    static const char *const shapes[] = {"group=1 items=64 groups_per_unit=3 stream=13",
                                         "group=64 items=7 groups_per_unit=3 look_back=1",
                                         "group=64 items=3 groups_per_unit=2 match=0",
                                         "group=64 items=4 look_back=1 polls=0",
                                         "group=64 items=8 groups_per_unit=8 match=1",
                                         "group=32 items=5 groups_per_unit=1",
                                         "group=256 items=4 groups_per_unit=1 match=0",
                                         "group=256 items=15 groups_per_unit=1",
                                         "group=256 items=9 match=1 look_back=1"};
    cl_device_type type = 0;
    clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_TYPE, sizeof type, &type, NULL);
    /* PoCL builds a shape in one or two seconds; a GPU's driver in less */
    const size_t all = sizeof shapes / sizeof *shapes,
                 some = deep || !(type & CL_DEVICE_TYPE_CPU) ? all : 3;
    if (clgetndev(cp) > 1 && !deep)
        return; /* two devices build the same kernels */
    for (size_t k = 0; k < some; k++) {
        shape = shapes[k];
        arrays_sorter *s = make_sorter();
        const size_t n = 9001 + k;
        for (enum order order = RANDOM; order < ORDERS; order += 3) {
            prepare_keys(order, 8, 35, n);
            sort_and_check(s, 8, 35, n, true);
        }
        contains(arrays_sorter_shape(s), "items=");
        scan_and_check(s, 4, 0,
                       true); /* the total only, in a sorter that has scanned nothing yet */
        scan_and_check(s, 4, n, true);
        arrays_sorter_free(s);
    }
    shape = NULL;
}

/* A device whose groups do not go on while others wait, as the start-up test says: programs without
 * look-back are built, give the same results, and no later program has look-back. Builds are not
 * counted: they depend on the number of devices, and a driver may need two for a program. */
static void sort_without_progress_uses_more_launches(void **state)
{
    (void)state;
    builds_option = "-D TEST_POLLS=0u"; /* each group gives up at once */
    shape = "group=64 items=6 look_back=1";
    arrays_sorter *s = make_sorter();
    scan_and_check(s, 4, 5000, false);
    assert_true(s->progress == PROGRESS_NO && s->last->shape.look_back && !s->last->look_back);
    prepare_keys(RANDOM, 4, 9, 5000);
    sort_and_check(s, 4, 9, 5000, true);
    assert_true(s->last->source->sorts && s->last->shape.look_back && !s->last->look_back);
    arrays_sorter_free(s);
    builds_option = NULL;
    shape = NULL;
}

/* The host of a CPU scans and sorts without a kernel, also with a workspace of the caller's. */
static void sort_on_host_builds_no_kernel(void **state)
{
    (void)state;
    cl_device_type type = 0;
    clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_TYPE, sizeof type, &type, NULL);
    if (!(type & CL_DEVICE_TYPE_CPU))
        return;
    const int built = builds_called;
    shape = ""; /* as NULL */
    arrays_sorter *s = make_sorter();
    for (int floating = 0; floating < 2; floating++)
        scan_kinds_and_check(s, 4, 10000, floating, 1);
    prepare_keys(RANDOM, 8, 20, 5000);
    struct arrays_sort_job job = {.keys = keys, .bytes = 8, .bits = 20, .most = 5000};
    job.work = clmalloc(cp, arrays_sort_workspace(s, &job), CL_MEM_DEVONLY);
    ready(job.work);
    works(arrays_sort(s, &job));
    assert_int_equal(builds_called, built);
    assert_string_equal(arrays_sorter_shape(s), "");
    works(clfree(job.work));
    arrays_sorter_free(s);
    shape = NULL;
}

/* One small shape, for Oclgrind, which checks for races (oclgrind/run.sh). */
static void sort_small_shape_matches(void **state)
{
    (void)state;
    arrays_sorter *s = make_sorter();
    prepare_keys(RANDOM, 8, 8, 500);
    sort_and_check(s, 8, 8, 500, true);
    scan_and_check(s, 4, 500, true);
    arrays_sorter_free(s);
}

/* ---- What is refused. ------------------------------------------------------------------------ */

static void sort_rejects_bad_shapes(void **state)
{
    (void)state;
    static const char *const bad[] = {"group=48",           "group=2", "group=1 items=0",
                                      "group=256 items=33", "width=2", "group=2048"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        shape = bad[k];
        arrays_sorter *s = make_sorter();
        const struct arrays_sort_job job = {.keys = keys, .bytes = 8, .most = 10};
        fails(EINVAL, arrays_sort(s, &job));
        fails_0(EINVAL, arrays_sort_workspace(s, &job));
        arrays_sorter_free(s);
    }
    shape = NULL;
}

/* Arrays in work memory keep their offsets for a job of nearly equal size: each other offset
 * would need another sub-buffer. */
static void sort_reuses_sub_buffers(void **state)
{
    (void)state;
    arrays_sorter *s = make_sorter();
    struct arrays_sort_job job = {.keys = keys, .values = values, .bytes = 8, .most = 1 << 20};
    size_t last = arrays_sort_workspace(s, &job), different = 1;
    assert_true(last >= job.most * 12);
    for (; job.most < 1 << 21; job.most += 4099) {
        const size_t size = arrays_sort_workspace(s, &job);
        assert_true(size >= last && size >= job.most * 12 &&
                    size <= job.most * 13 + job.most / 4 + (4 << 20));
        different += size != last;
        last = size;
    }
    assert_in_range(different, 32, 40);
    arrays_sorter_free(s);
}

static void sort_rejects_bad_jobs(void **state)
{
    (void)state;
    arrays_sorter *s = make_sorter();
    uint64_t own[4] = {0};
    struct arrays_sort_job good = {.keys = keys,
                                   .values = values,
                                   .bytes = 8,
                                   .bits = 63,
                                   .most = 1000},
                           job = good;
    const size_t size = arrays_sort_workspace(s, &good);
    assert_true(size >= 12000 && size < 12000 + (4 << 20));
    void *work = clmalloc(cp, size - 1, CL_MEM_DEVONLY);
    ready(work);
    job.work = work;
    fails(EINVAL, arrays_sort(s, &job));
    fails(EINVAL, arrays_sort_start(s, &job));
    works(clfree(work));
#define refuse(code, ...)                                                                          \
    do {                                                                                           \
        job = good;                                                                                \
        __VA_ARGS__;                                                                               \
        fails(code, arrays_sort(s, &job));                                                         \
    } while (0)
    refuse(EINVAL, job.bytes = 2);
    refuse(EINVAL, job.bits = 65);
    refuse(EINVAL, job.bits = -1);
    refuse(EINVAL, job.first_bit = -1);
    refuse(EINVAL, job.first_bit = 64, job.bits = 0);
    refuse(EINVAL, job.first_bit = 2); /* with 63 bits */
    refuse(EINVAL, job.value_bytes = 2);
    refuse(EINVAL, job.order = (enum arrays_order)3);
    refuse(EINVAL, job.most = ((size_t)1 << 31) + 1);
    refuse(EINVAL, job.most = (size_t)1 << 31);
    refuse(EINVAL, job.reserved[3] = 1);
    refuse(EFAULT, job.keys = own);
    refuse(EFAULT, job.values = (cl_uint *)(void *)own);
    refuse(EFAULT, job.count = (cl_uint *)(void *)own);
    cl_uint *inside = (cl_uint *)keys + 1024;
    refuse(EINVAL, job.values = inside);
    refuse(EINVAL, job.values = (cl_uint *)keys);
    refuse(EINVAL, job.count = inside);
    refuse(EINVAL, job.keys = (char *)keys + 2);
    assert_true(arrays_sort(s, &job) == -1);
    contains(clerror(), "arrays_sort: keys begins 2 bytes after");
    refuse(EINVAL, job.values = (cl_uint *)((char *)values + 2));
    refuse(EINVAL, job.work = (char *)room + 8);
    refuse(EINVAL, job.work = values);
    assert_true(arrays_sort(s, &job) == -1);
    contains(clerror(), "values, 4000 bytes, and work");
    struct arrays_scan_job over = {.x = keys, .sums = inside, .bytes = 4, .most = 5000};
    fails(EINVAL, arrays_scan(s, &over));
    over.sums = keys; /* in place is allowed, but not with the total inside */
    over.total = inside;
    fails(EINVAL, arrays_scan(s, &over));
    over.total = NULL;
    over.count = inside;
    fails(EINVAL, arrays_scan(s, &over));
    struct arrays_scan_job scan = {.x = keys, .sums = own, .bytes = 4, .most = 5};
    fails(EFAULT, arrays_scan(s, &scan));
    scan.sums = keys;
    scan.most = ((size_t)1 << 31) + 1;
    fails(EINVAL, arrays_scan(s, &scan));
    scan.most = (MOST + GUARDS) * 2 + 1; /* of 4 bytes: one beyond the end of keys */
    assert_int_equal(arrays_scan(s, &scan), -1);
    contains(clerror(), "bytes do not fit in the");
    scan.x = (char *)keys + 2;
    scan.most = 5;
    assert_int_equal(arrays_scan(s, &scan), -1);
    contains(clerror(), "arrays_scan: x begins 2 bytes after");
    scan.x = keys;
    scan.bytes = 1;
    fails(EINVAL, arrays_scan(s, &scan));
    assert_int_equal(arrays_scan(s, &scan), -1);
    contains(clerror(), "arrays_scan: bytes = 1; the elements must be of 4 or 8 bytes");
    fails_0(EINVAL, arrays_scan_workspace(s, &scan));
    arrays_sorter_free(s);
    fails_null(EINVAL, arrays_sorter_create(
                           &(struct arrays_sorter_options){.ctx = cp, .dev = clgetndev(cp)}));
    fails_null(EINVAL, arrays_sorter_create(
                           &(struct arrays_sorter_options){.ctx = cp, .reserved = {0, 1}}));
    arrays_sorter *plain = arrays_sorter_create(NULL);
    ready(plain);
    arrays_sorter_free(plain);
}

/* ---- All of them. ---------------------------------------------------------------------------- */

static int set_up(void **state)
{
    (void)state;
    cp = stddev;
    if (!cp)
        return setup_done(false);
    dev = clgetndev(cp) - 1;
    keys = clmalloc(cp, (MOST + GUARDS) * 8, CL_MEM_ZEROCOPY);
    room = clmalloc(cp, (MOST + GUARDS) * 12, CL_MEM_ZEROCOPY);
    scratch = clmalloc(cp, 4096, CL_MEM_ZEROCOPY);
    values = clmalloc(cp, (MOST + GUARDS) * sizeof *values, CL_MEM_ZEROCOPY);
    right = malloc((MOST + GUARDS) * 8);
    right_values = malloc((MOST + GUARDS) * sizeof *right_values);
    return setup_done(keys && room && scratch && values && right && right_values);
}

static int tear_down(void **state)
{
    (void)state;
    free(right);
    free(right_values);
    void *const blocks[] = {keys, room, scratch, values};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (clfree(blocks[i]) != 0)
            return -1;
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest one[] = {cmocka_unit_test(sort_small_shape_matches)};
    if (argc == 3 && strcmp(argv[1], "shape") == 0) {
        shape = argv[2];
        return cmocka_run_group_tests_name("sort", one, set_up, tear_down);
    }
    deep = argc > 1 && strcmp(argv[1], "shapes") == 0;
    struct CMUnitTest tests[] = {
        cmocka_unit_test(sort_reference_matches_qsort),
        cmocka_unit_test(scan_reference_matches_definition),
        cmocka_unit_test(scan_host_matches_reference),
        cmocka_unit_test(scan_of_floats_on_host_has_fixed_order),
        cmocka_unit_test(sort_on_host_matches_comparisons),
        cmocka_unit_test(sort_bit_widths_match_qsort),
        cmocka_unit_test(sort_input_orders_match_qsort),
        cmocka_unit_test(sort_orders_match_comparisons),
        cmocka_unit_test(sort_middle_bits_match_qsort),
        cmocka_unit_test(scan_kinds_match_definition),
        cmocka_unit_test(scan_of_floats_loses_no_earlier_terms),
        cmocka_unit_test(sort_and_scan_start_at_any_element),
        cmocka_unit_test(sort_reads_count_on_device),
        cmocka_unit_test(sort_devices_work_at_once),
        cmocka_unit_test(sort_moves_data_between_devices),
        cmocka_unit_test(sort_on_host_builds_no_kernel),
        cmocka_unit_test(sort_without_progress_uses_more_launches),
        cmocka_unit_test(sort_rejects_bad_shapes),
        cmocka_unit_test(sort_reuses_sub_buffers),
        cmocka_unit_test(sort_rejects_bad_jobs),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(sort_small_sizes_match_qsort),
        cmocka_unit_test(sort_shapes_give_equal_bits),
        cmocka_unit_test(sort_large_sizes_match_reference),
        cmocka_unit_test(scan_matches_reference),
    };
    return sampled_run("sort", tests, 20, 2, set_up, tear_down);
}

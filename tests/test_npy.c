/* test_npy.c - .npy files: numpy's output is read, our output equals numpy's, invalid files are
 * reported.
 *
 * Expected bytes are written out by hand from numpy's description of the format
 * (numpy/lib/format.py).
 * SPDX-License-Identifier: MIT
 */
#include "files.h"

#include "formats/npy.h"

#define MAGIC_1 "\x93NUMPY\x01\x00"

/* A file of version 1.0 with this dictionary, padded as numpy does, and these numbers. */
static const char *npy_file_of(const char *dictionary, const void *numbers, size_t size)
{
    static char bytes[66000];
    const char *path = in_folder("x.npy");
    const size_t used = strlen(dictionary), length = (used + 10 + 1 + 63) / 64 * 64 - 10;
    memcpy(bytes, MAGIC_1, 8);
    bytes[8] = (char)(length & 255);
    bytes[9] = (char)(length >> 8);
    memset(bytes + 10, ' ', length);
    memcpy(bytes + 10, dictionary, used);
    bytes[9 + length] = '\n';
    memcpy(bytes + 10 + length, numbers, size);
    put_bytes(path, bytes, 10 + length + size);
    return path;
}

static const double six[6] = {1, -2.5, 3e300, 4, 5, 6};

static void npy_reads_doubles(void **unused)
{
    (void)unused;
    struct npy in;
    double x[6];
    works(npy_open(&in, npy_file_of("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
                                    six, sizeof six)));
    assert_int_equal(in.rows, 2);
    assert_int_equal(in.cols, 3);
    assert_int_equal(in.size, 8);
    assert_false(in.fortran);
    assert_int_equal(npy_bytes(&in), sizeof x);
    works(npy_read(&in, x));
    assert_memory_equal(x, six, sizeof x);
    npy_close(&in);
    npy_close(&in); /* nothing happens */
}

static void npy_reads_fortran_order(void **unused)
{
    (void)unused;
    const float four[4] = {1, 2, 3, 4};
    struct npy in;
    float x[4];
    works(npy_open(&in, npy_file_of("{'descr': '<f4', 'fortran_order': True, 'shape': (4, 1), }",
                                    four, sizeof four)));
    assert_int_equal(in.rows, 4);
    assert_int_equal(in.cols, 1);
    assert_int_equal(in.size, 4);
    assert_true(in.fortran);
    works(npy_read(&in, x));
    assert_memory_equal(x, four, sizeof x);
    npy_close(&in);
}

static void npy_reads_other_byte_order(void **unused)
{
    (void)unused;
    const unsigned char big[8] = {0x40, 0x09, 0x21, 0xfb, 0x54, 0x44, 0x2d, 0x18}; /* pi */
    struct npy in;
    double x;
    works(npy_open(&in, npy_file_of("{'descr': '>f8', 'fortran_order': False, 'shape': (1, 1), }",
                                    big, sizeof big)));
    works(npy_read(&in, &x));
    assert_true(x == 3.141592653589793);
    npy_close(&in);
}

/* Other spellings of equal headers, as other programs write them. */
static void npy_reads_any_header_wording(void **unused)
{
    (void)unused;
    static const char *const same[] = {
        "{'shape': (2, 3), 'fortran_order': False, 'descr': '<f8'}",
        "{\"descr\":\"<f8\",\"fortran_order\":False,\"shape\":(2,3,)}",
        "  {'descr' : '=f8' , 'fortran_order' : False , 'shape' : ( 2L , 3L ) , }  ",
        "{'descr': 'f8', 'fortran_order': False, 'shape': (2, 3), }",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct npy in;
        double x[6];
        works(npy_open(&in, npy_file_of(same[i], six, sizeof six)));
        works(npy_read(&in, x));
        assert_memory_equal(x, six, sizeof x);
        npy_close(&in);
    }
}

static void npy_reads_versions_2_and_3(void **unused)
{
    (void)unused;
    for (char version = 2; version <= 3; version++) {
        char bytes[140] =
            "\x93NUMPY_\x00\x3c\x00\x00\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2)}";
        struct npy in;
        double x[2];
        bytes[6] = version;
        for (size_t i = strlen(bytes + 12) + 12; i < 72; i++)
            bytes[i] = ' ';
        memcpy(bytes + 72, six, 16);
        put_bytes(in_folder("v.npy"), bytes, 72 + 16);
        works(npy_open(&in, in_folder("v.npy")));
        works(npy_read(&in, x));
        assert_memory_equal(x, six, sizeof x);
        npy_close(&in);
    }
}

static void npy_reads_empty_matrices(void **unused)
{
    (void)unused;
    struct npy in;
    works(npy_open(
        &in, npy_file_of("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 7), }", "", 0)));
    assert_int_equal(in.rows, 0);
    assert_int_equal(in.cols, 7);
    works(npy_read(&in, NULL));
    npy_close(&in);
}

static void npy_writes_numpy_bytes(void **unused)
{
    (void)unused;
    const char expected[] = "\x93NUMPY\x01\x00\x76\x00"
                            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
                            "                                                          \n"
                            "\x00\x00\x80\x3f\x00\x00\x00\x40\x00\x00\x40\x40\x00\x00\x80\x40";
    const float padded[6] = {1, 2, -1, 3, 4, -1}; /* rows of 3, only 2 of them used */
    size_t size;
    works(npy_write(in_folder("out.npy"), 4, 2, 2, padded, 3));
    char *bytes = bytes_of(in_folder("out.npy"), &size);
    assert_int_equal(size, sizeof expected - 1);
    assert_memory_equal(bytes, expected, size);
    free(bytes);
}

static void npy_round_trips(void **unused)
{
    (void)unused;
    struct npy in;
    double x[6];
    works(npy_write(in_folder("six.npy"), 8, 3, 2, six, 2));
    works(npy_open(&in, in_folder("six.npy")));
    assert_int_equal(in.rows, 3);
    assert_int_equal(in.cols, 2);
    works(npy_read(&in, x));
    assert_memory_equal(x, six, sizeof x);
    npy_close(&in);
    fails(ENOENT, npy_write(in_folder("missing/six.npy"), 8, 3, 2, six, 2));
}

/* ---- Bad input. ------------------------------------------------------------------------------ */

static void npy_reports_bad_header(void **unused)
{
    (void)unused;
    static const struct {
        const char *dictionary, *sentence;
    } bad[] = {
        {"{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }", "type '<i8'"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }",
         "only float32 ('<f4', '>f4')"},
        {"{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2, 3), }", "records"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", "has 1 dimension;"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }", "has 0 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3), }", "has 3 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3), }",
         "cut short: 3 x 3 numbers take 72 bytes, but 48"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (-2, 3), }", "whole numbers"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2.5, 3), }", "whole numbers"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         "more than any memory"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 3), }",
         "larger than any memory"},
        {"{'descr': '<f8', 'fortran_order': Perhaps, 'shape': (2, 3), }", "neither True nor False"},
        {"{'descr': '<f8', 'shape': (2, 3), }", "lacks"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), 'x': 1}", "besides"},
        {"{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", "besides"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)", "comma"},
        {"{'descr': '<f8' 'fortran_order': False, 'shape': (2, 3)}", "comma"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} and more", "follows"},
        {"{'descr': '<f8", "does not end"},
        {"os.system('true')", "not a dictionary"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct npy in;
        fails_saying(EINVAL, npy_open(&in, npy_file_of(bad[i].dictionary, six, sizeof six)),
                     "x.npy", bad[i].sentence);
        assert_null(in.fp);
    }
}

static void npy_reports_damaged_file(void **unused)
{
    (void)unused;
    struct npy in;
    put_bytes(in_folder("d"), "", 0);
    fails_saying(EINVAL, npy_open(&in, in_folder("d")), "d: is empty, and no .npy file");
    put_bytes(in_folder("d"), "PK\x03\x04 an .npz file", 18);
    fails_saying(EINVAL, npy_open(&in, in_folder("d")), "not a .npy file");
    put_bytes(in_folder("d"), "\x93NUMPY\x09\x00\x10\x00", 10);
    fails_saying(EINVAL, npy_open(&in, in_folder("d")), "version 9.0");
    put_bytes(in_folder("d"), "\x93NUMPY\x02\x00\xff\xff\xff\xff", 12);
    fails_saying(EINVAL, npy_open(&in, in_folder("d")), "4294967295 bytes");
    for (size_t n = 6; n < 10; n++) {
        put_bytes(in_folder("d"), "\x93NUMPY\x01\x00\x76\x00", n);
        fails_saying(EINVAL, npy_open(&in, in_folder("d")), "d: ends inside its header");
    }
    put_bytes(in_folder("d"), "\x93NUMPY\x01\x00\x76\x00{'descr'", 18);
    fails_saying(EINVAL, npy_open(&in, in_folder("d")), "ends inside its header");
    fails_saying(ENOENT, npy_open(&in, in_folder("nowhere.npy")), "nowhere.npy: no such file");
    fails_saying(EISDIR, npy_open(&in, files_folder), "folder");
}

/* A pipe does not know its length; the end is found while reading the numbers. */
static void npy_reports_truncated_stream(void **unused)
{
    (void)unused;
    char bytes[128 + 8] =
        MAGIC_1 "\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000, 1000), }";
    struct npy in;
    for (size_t i = 0; i < 128; i++)
        bytes[i] = i >= 10 && bytes[i] == 0 ? ' ' : bytes[i];
    bytes[7] = bytes[9] = 0;
    double *x = malloc(8000000);
    ready(x);
    works(npy_open_stream(&in, fmemopen(bytes, sizeof bytes, "rb"), "pipe"));
    fails_saying(EINVAL, npy_read(&in, x), "pipe", "it has 1 of 1000000 numbers");
    npy_close(&in);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_reads_doubles),
        cmocka_unit_test(npy_reads_fortran_order),
        cmocka_unit_test(npy_reads_other_byte_order),
        cmocka_unit_test(npy_reads_any_header_wording),
        cmocka_unit_test(npy_reads_versions_2_and_3),
        cmocka_unit_test(npy_reads_empty_matrices),
        cmocka_unit_test(npy_writes_numpy_bytes),
        cmocka_unit_test(npy_round_trips),
        cmocka_unit_test(npy_reports_bad_header),
        cmocka_unit_test(npy_reports_damaged_file),
        cmocka_unit_test(npy_reports_truncated_stream),
    };
    return cmocka_run_group_tests(tests, files_create, files_remove);
}

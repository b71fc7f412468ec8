/* test_formats_nopng.c - formats/png.c built without libpng: writing a picture fails with a
 * message. */
/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "formats/picture.h"

static void picture_without_libpng_is_rejected(void **unused)
{
    const uint8_t rgb[3] = {0};
    (void)unused;
    fails_saying(ENOTSUP, picture_write_png(in_folder("a.png"), 1, 1, rgb), "a.png", "no libpng",
                 "libpng-dev");
    assert_int_equal(count_files(files_folder, ""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(picture_without_libpng_is_rejected)};
    return cmocka_run_group_tests(tests, files_create, files_remove);
}

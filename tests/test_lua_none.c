/* `stdcl run` in a build without LuaJIT fails with one message. */
/* SPDX-License-Identifier: MIT */
#include "files.h"

#include <sys/wait.h>

static const char *command;

static void run_without_luajit_is_rejected(void **state)
{
    (void)state;
    char line[PATH_MAX * 2];
    size_t size = 0;
    snprintf(line, sizeof line, "'%s' run x.lua 2>'%s'", command, in_folder("err"));
    assert_int_equal(WEXITSTATUS(system(line)), 1);
    char *err = bytes_of(in_folder("err"), &size);
    ready(err);
    assert_non_null(
        strstr(err, "stdcl run: cannot run 'x.lua': this stdcl was built without LuaJIT"));
    free(err);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    command = argv[1];
    const struct CMUnitTest tests[] = {cmocka_unit_test(run_without_luajit_is_rejected)};
    return cmocka_run_group_tests(tests, files_create, files_remove);
}

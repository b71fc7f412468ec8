/* test_host_memory.c - the memory that a process may use: of control groups, versions 1 and 2, and
 * of limits.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"

#include "core/host_memory.h"

static void make_group(const char *path, const char *name, const char *limit)
{
    char whole[2 * PATH_MAX];
    snprintf(whole, sizeof whole, "mkdir -p '%s/%s'", files_folder, path);
    assert_int_equal(system(whole), 0);
    snprintf(whole, sizeof whole, "%s/%s", path, name);
    put_text(in_folder(whole), limit);
}

static double memory_of(const char *groups)
{
    put_text(in_folder("cgroup"), groups);
    return host_memory_of_cgroups(in_folder("cgroup"), files_folder);
}

static void host_memory_takes_least_group(void **unused)
{
    (void)unused;
    make_group("slice/job/step", "memory.max", "max\n");
    make_group("slice/job", "memory.max", "3000\n");
    make_group("slice", "memory.max", "5000\n");
    assert_true(memory_of("0::/slice/job/step\n") == 3000);
    assert_true(memory_of("0::/slice\n") == 5000);
    assert_true(isinf(memory_of("0::/\n")));
    assert_true(isinf(memory_of("")));
    assert_true(isinf(memory_of("nonsense\n:\n0:\n")));
    /* In a container the group has the host's name, and the mounted folder is its own. */
    put_text(in_folder("memory.max"), "2000\n");
    assert_true(memory_of("0::/of/the/host\n") == 2000);
}

static void host_memory_reads_version_1(void **unused)
{
    (void)unused;
    make_group("memory/docker/a1", "memory.limit_in_bytes", "7000\n");
    make_group("memory/docker", "memory.limit_in_bytes", "9223372036854771712\n");
    assert_true(memory_of("5:cpu,cpuacct:/docker\n4:memory:/docker/a1\n") == 7000);
    assert_true(memory_of("4:memory:/docker\n") == 9223372036854771712.);
    assert_true(isinf(memory_of("4:memoryless:/docker/a1\n")));
}

/* Twice the limit is not there, and half of what is left is. */
static void host_memory_keeps_limits(void **unused)
{
    static const int resources[] = {RLIMIT_AS, RLIMIT_DATA};
    struct rlimit before;
    (void)unused;
    assert_true(host_memory() > 0 && host_memory_left() < host_memory());
    for (size_t i = 0; i < 2; i++) {
        const double used = host_memory_used(i == 0 ? 0 : 5), most = used + 0x1p28;
        assert_true(used > 0);
        assert_int_equal(getrlimit(resources[i], &before), 0);
        assert_int_equal(setrlimit(resources[i], &(struct rlimit){(rlim_t)most, before.rlim_max}),
                         0);
        assert_true(host_memory() <= most);
        assert_true(host_memory_left() <= 0x1p28);
        assert_int_equal(setrlimit(resources[i], &before), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_memory_reads_version_1),
        cmocka_unit_test(host_memory_takes_least_group),
        cmocka_unit_test(host_memory_keeps_limits),
    };
    return cmocka_run_group_tests(tests, files_create, files_remove);
}

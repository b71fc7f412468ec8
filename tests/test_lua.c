/* `stdcl run`: the environment of scripts, their errors, and the examples, compared with scalar
 * references in C.
 *
 *   test_lua PATH_OF_STDCL FOLDER_OF_EXAMPLES
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "pocl.h"
#include "deep.h"

#include <math.h>
#include <sys/wait.h>

static const char *command, *examples;
static char out[1 << 20], err[1 << 16];

static void load_script_output(const char *name, char *text, size_t room)
{
    size_t size = 0;
    char *bytes = bytes_of(in_folder(name), &size);
    snprintf(text, room, "%s", bytes ? bytes : "");
    free(bytes);
}

/* Run a line of sh in our folder, where $S is the command and $E the examples; return its exit
 * status. */
static int sh(const char *line)
{
    char whole[3 * PATH_MAX];
    snprintf(whole, sizeof whole, "cd '%s' && S='%s' E='%s' && { %s; } >out 2>err", files_folder,
             command, examples, line);
    const int status = system(whole);
    load_script_output("out", out, sizeof out);
    load_script_output("err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_script_status(const char *line, int wanted)
{
    const int status = sh(line);
    if (status != wanted)
        fail_msg("%s: gives %d, not %d\nstdout: %.1000s\nstderr: %.2000s", line, status, wanted,
                 out, err);
}

/* Expect status `wanted`, and stderr that begins "stdcl run: " and then `begin`. */
static void expect_script_error(const char *line, int wanted, const char *begin)
{
    static const char prefix[] = "stdcl run: ";
    expect_script_status(line, wanted);
    if (strncmp(err, prefix, strlen(prefix)) || strncmp(err + strlen(prefix), begin, strlen(begin)))
        fail_msg("%s: does not say '%s': %.2000s", line, begin, err);
}

static void prints(const char *line, const char *text)
{
    expect_script_status(line, 0);
    assert_string_equal(err, "");
    assert_string_equal(out, text);
}

static void write_script(const char *name, const char *text)
{
    put_text(in_folder(name), text);
}

/* ---- What a script sees. --------------------------------------------------------------------- */

static void lua_script_gets_arguments(void **state)
{
    (void)state;
    write_script("arg.lua", "#!/usr/bin/env stdcl\nprint(arg[-2], arg[-1], arg[0], #arg, ...)\n");
    prints("$S run arg.lua", "stdcl\trun\targ.lua\t0\n");
    prints("$S run arg.lua a 'b c' --device -h", "stdcl\trun\targ.lua\t4\ta\tb c\t--device\t-h\n");
    prints("$S run --device all -- arg.lua -- x", "stdcl\trun\targ.lua\t2\t--\tx\n");
    prints("$S run - y <arg.lua", "stdcl\trun\t-\t1\ty\n");
    prints("cp arg.lua ./-odd.lua; $S run -- -odd.lua", "stdcl\trun\t-odd.lua\t0\n");
}

static void lua_modules_load_without_path(void **state)
{
    (void)state;
    write_script(
        "modules.lua",
        "for _, name in ipairs{'opencl', 'templet', 'random', 'stdcl', 'ffi', 'bit'} do\n"
        "  io.write(name, ' ', type(require(name)), '\\n')\n"
        "end\n"
        "print(require 'templet'.loadstring '${6 * 7}'(), select('#', require 'random'.normal()))\n");
    prints("LUA_PATH=/nowhere $S run modules.lua",
           "opencl table\ntemplet table\nrandom table\nstdcl table\n"
           "ffi table\nbit table\n42\t2\n");
}

static void lua_exit_status_is_the_scripts(void **state)
{
    (void)state;
    expect_script_status("echo 'os.exit(7)' | $S run -", 7);
    expect_script_status("echo 'io.write \"no newline\" os.exit(true, true)' | $S run -", 0);
    assert_string_equal(out, "no newline");
    expect_script_status("echo 'print(1)' | $S run - >/dev/full", 1);
}

/* ---- Errors. --------------------------------------------------------------------------------- */

static void lua_rejects_bad_usage(void **state)
{
    (void)state;
    expect_script_error("$S run", 2, "the script is missing");
    expect_script_error("$S run --devcie cpu x.lua", 2, "");
    expect_script_error("$S run --device", 2, "");
    expect_script_error("$S run nosuch.lua", 1, "cannot open nosuch.lua");
    expect_script_error("$S run .", 1, "cannot read .");
    expect_script_status("$S run --help", 0);
    assert_non_null(strstr(out, "usage: stdcl run [options] SCRIPT"));
    expect_script_status("$S --help", 0);
    assert_non_null(strstr(out, "  run "));
}

static void lua_reports_syntax_errors(void **state)
{
    (void)state;
    write_script("bad.lua", "local x = 1\nlocal y = = 2\n");
    expect_script_error("$S run bad.lua", 1, "bad.lua:2: unexpected symbol near '='");
    assert_null(strstr(err, "traceback"));
    expect_script_error("printf 'if' | $S run -", 1, "stdin:1:");
}

static void lua_reports_runtime_errors(void **state)
{
    (void)state;
    write_script("boom.lua", "local function inner() error 'boom' end\nprint 'before'\n"
                             "local function outer() inner() end\nouter()\n");
    expect_script_error("$S run boom.lua", 1, "boom.lua:1: boom\nstack traceback:\n");
    assert_string_equal(out, "before\n");
    assert_non_null(strstr(err, "boom.lua:3: in function 'outer'"));
    assert_non_null(strstr(err, "boom.lua:4: in main chunk"));
    expect_script_status("$S run boom.lua 2>&1 | head -1", 0);
    assert_string_equal(out, "before\n"); /* in this order */
    expect_script_error("echo 'error{}' | $S run -", 1, "the error is a table");
    expect_script_error("echo 'error()' | $S run -", 1, "the error is a nil");
    expect_script_error(
        "echo 'error(setmetatable({}, {__tostring = function() return \"odd\" end}))' | $S run -",
        1, "odd\n");
    expect_script_error("echo 'local function f() return f() + 1 end f()' | $S run -", 1,
                        "stdin:1: stack overflow");
    expect_script_error("echo 'require \"nosuch\"' | $S run -", 1,
                        "stdin:1: module 'nosuch' not found");
}

static void lua_reports_opencl_errors(void **state)
{
    (void)state;
    write_script("build.lua",
                 "local cl, stdcl = require 'opencl', require 'stdcl'\n"
                 "local c = cl.create_context{stdcl.devices()[1]}\n\n"
                 "c:create_program_with_source('kernel void f() { oops; }'):build()\n");
    expect_script_status("$S run build.lua", 1);
    assert_non_null(
        strstr(err, "stdcl run: build.lua:4: clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11): "));
    assert_non_null(strstr(err, "'oops'"));
    assert_non_null(strstr(err, "stack traceback:"));
    write_script("device.lua", "local stdcl = require 'stdcl'\nstdcl.use 'quantum'\n");
    expect_script_error("$S run device.lua", 1, "device.lua:2: clcontext_create: no device ");
    assert_non_null(strstr(err, "; this machine has: "));
    expect_script_error("$S run --device quantum arg.lua", 2,
                        "--device: no device matches 'quantum'; there ");
    assert_string_equal(out, "");
}

static void lua_reports_missing_device(void **state)
{
    (void)state;
    write_script("none.lua",
                 "print(#require 'opencl'.get_platforms())\nrequire 'stdcl'.malloc('int', 1)\n");
    expect_script_error(NO_DRIVERS " OCL_ICD_FILENAMES= $S run none.lua", 1, "none.lua:2: ");
    assert_string_equal(out, "0\n");
}

/* A planet returns after a period, computed on the host without a device. */
static void lua_integrates_few_bodies_without_device(void **state)
{
    (void)state;
    write_script("few.lua",
                 "local stdcl, ffi = require 'stdcl', require 'ffi'\n"
                 "local C, options = stdcl.engine 'nbody', ffi.new 'struct nbody_options'\n"
                 "options.dt, options.integrator = 6.283185307179586, C.NBODY_IAS15\n"
                 "local m, x, v = ffi.new('double[2]', 1, 0), ffi.new 'double[2][3]', "
                 "ffi.new 'double[2][3]'\n"
                 "x[1][0], v[1][1] = 1, 1\n"
                 "local nb = stdcl.check(C.nbody_create(options, 2, m, x, v))\n"
                 "stdcl.check(C.nbody_step(nb, 1))\n"
                 "stdcl.check(C.nbody_state(nb, x, v))\n"
                 "print(string.format('%.9f %d', x[1][0], C.nbody_devices(nb)))\n"
                 "C.nbody_free(nb)\n");
    prints(NO_DRIVERS " OCL_ICD_FILENAMES= $S run few.lua", "1.000000000 0\n");
}

/* ---- Options. -------------------------------------------------------------------------------- */

static void lua_profile_and_trace_are_written(void **state)
{
    (void)state;
    expect_script_status("$S run --profile=csv --trace t.json $E/life.lua 3 8 8", 0);
    assert_non_null(strstr(err, "life"));
    assert_non_null(strstr(err, "host to device"));
    size_t size = 0;
    char *trace = bytes_of(in_folder("t.json"), &size);
    ready(trace);
    assert_non_null(strstr(trace, "\"life\""));
    free(trace);
}

/* ---- Examples. ------------------------------------------------------------------------------- */

static void lua_energy_example_is_golden(void **state)
{
    (void)state;
    prints("$S run $E/energy.lua", "1.4977721207647\n");
}

static void lua_energy_example_is_near_theory(void **state)
{
    (void)state;
    const int n = 10000;
    expect_script_status("$S run $E/energy.lua 10000", 0);
    if (fabs(atof(out) - 1.5) > 5 * sqrt(1.5 / n))
        fail_msg("the mean energy is %s", out);
    expect_script_error("$S run $E/energy.lua 3", 1, "");
    expect_script_error("$S run $E/energy.lua many", 1, "");
}

/* The R-pentomino of life.lua on a torus, by counting neighbours cell by cell. */
static void life_reference_rows(int generations, int width, int height, char *text)
{
    static const int cells[5][2] = {{0, -1}, {1, -1}, {-1, 0}, {0, 0}, {0, 1}};
    const size_t n = (size_t)(width * height);
    char *now = calloc(n, 1), *next = calloc(n, 1);
    ready(now);
    ready(next);
    for (int i = 0; i < 5; i++)
        now[(height / 2 + cells[i][1]) * width + width / 2 + cells[i][0]] = 1;
    for (int g = 0; g < generations; g++) {
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                int sum = 0;
                for (int k = 0; k < 9; k++)
                    sum += k == 4 ? 0
                                  : now[(y + k / 3 - 1 + height) % height * width +
                                        (x + k % 3 - 1 + width) % width];
                next[y * width + x] = sum == 3 || (sum == 2 && now[y * width + x]);
            }
        char *swap = now;
        now = next;
        next = swap;
    }
    int population = 0;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            population += now[y * width + x];
            *text++ = now[y * width + x] ? 'O' : '.';
        }
        *text++ = '\n';
    }
    sprintf(text, "generation %d, population %d\n", generations, population);
    free(now);
    free(next);
}

static void lua_life_example_matches_reference(void **state)
{
    (void)state;
    static const int shapes[][3] = {{0, 5, 4}, {40, 72, 24}, {200, 17, 31}};
    for (size_t i = 0; i < 3; i++) {
        char line[64], reference[4096];
        snprintf(line, sizeof line, "$S run $E/life.lua %d %d %d", shapes[i][0], shapes[i][1],
                 shapes[i][2]);
        life_reference_rows(shapes[i][0], shapes[i][1], shapes[i][2], reference);
        prints(line, reference);
    }
}

/* True if the middle of a pixel of a 90 x 60 picture, as mandelbrot.lua draws it, never escapes. */
static bool is_inside(int i, int j)
{
    const double pixel = 3.3 / 90, a = -0.75 + pixel * (i - 44.5), b = -pixel * (j - 29.5);
    double x = 0, y = 0;
    for (int n = 0; n < 1000; n++) {
        const double t = x * x - y * y + a;
        y = 2 * x * y + b;
        x = t;
        if (x * x + y * y >= 64)
            return false;
    }
    return true;
}

static void lua_mandelbrot_example_matches_reference(void **state)
{
    (void)state;
    prints("$S run $E/mandelbrot.lua m.ppm 90 60", "");
    size_t size = 0;
    char *bytes = bytes_of(in_folder("m.ppm"), &size);
    static const char header[] = "P6\n90 60\n255\n";
    ready(bytes);
    assert_int_equal(size, strlen(header) + 3 * 90 * 60);
    assert_memory_equal(bytes, header, strlen(header));
    const char *pixel = bytes + strlen(header);
    int inside = 0, wrong = 0;
    for (int j = 0; j < 60; j++)
        for (int i = 0; i < 90; i++, pixel += 3) {
            inside += is_inside(i, j);
            wrong += is_inside(i, j) != (!pixel[0] && !pixel[1] && !pixel[2]);
        }
    free(bytes);
    assert_true(inside > 500);
    assert_true(wrong <= 2); /* on the border the last bit decides */
    expect_script_error("$S run $E/mandelbrot.lua /proc/nonexistent/m.ppm 8 8", 1, "");
    expect_script_error("$S run $E/mandelbrot.lua m.ppm 0 8", 1, "");
}

/* A uniform sphere of mass and radius 1 has energy -3/5, up to softening. */
static void lua_nbody_example_energy_is_known(void **state)
{
    (void)state;
    double start, stop;
    int steps;
    expect_script_status("$S run $E/nbody.lua 512 50", 0);
    assert_int_equal(sscanf(out, "energy %lf, after %d steps %lf", &start, &steps, &stop), 3);
    assert_int_equal(steps, 50);
    if (fabs(start + 0.59) > 0.02 || fabs(stop - start) > 1e-4)
        fail_msg("%s", out);
    expect_script_error("$S run $E/nbody.lua 1", 1, "");
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    command = argv[1];
    examples = argv[2];
    struct CMUnitTest tests[] = {
        cmocka_unit_test(lua_script_gets_arguments),
        cmocka_unit_test(lua_modules_load_without_path),
        cmocka_unit_test(lua_exit_status_is_the_scripts),
        cmocka_unit_test(lua_rejects_bad_usage),
        cmocka_unit_test(lua_reports_syntax_errors),
        cmocka_unit_test(lua_reports_runtime_errors),
        cmocka_unit_test(lua_reports_opencl_errors),
        cmocka_unit_test(lua_reports_missing_device),
        cmocka_unit_test(lua_integrates_few_bodies_without_device),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(lua_life_example_matches_reference),
        cmocka_unit_test(lua_energy_example_is_golden),
        cmocka_unit_test(lua_energy_example_is_near_theory),
        cmocka_unit_test(lua_mandelbrot_example_matches_reference),
        cmocka_unit_test(lua_nbody_example_energy_is_known),
        cmocka_unit_test(lua_profile_and_trace_are_written),
    };
    return sampled_run("lua", tests, 8, 3, files_create, files_remove);
}

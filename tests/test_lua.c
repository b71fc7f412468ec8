/* `stdcl run`: what scripts see, how they fail, and the examples, compared with twins in C.
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

static void load(const char *name, char *text, size_t room)
{
    size_t size = 0;
    char *bytes = bytes_of(in_folder(name), &size);
    snprintf(text, room, "%s", bytes ? bytes : "");
    free(bytes);
}

/* Runs a line of sh in our folder, where $S is the command and $E the examples; returns its exit
 * status. */
static int sh(const char *line)
{
    char whole[3 * PATH_MAX];
    snprintf(whole, sizeof whole, "cd '%s' && S='%s' E='%s' && { %s; } >out 2>err", files_folder,
             command, examples, line);
    const int status = system(whole);
    load("out", out, sizeof out);
    load("err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect(const char *line, int wanted)
{
    const int status = sh(line);
    if (status != wanted)
        fail_msg("%s: gives %d, not %d\nstdout: %.1000s\nstderr: %.2000s", line, status, wanted,
                 out, err);
}

/* Ends with `wanted`, and stderr begins "stdcl run: " and then `begin`. */
static void refuses(const char *line, int wanted, const char *begin)
{
    static const char prefix[] = "stdcl run: ";
    expect(line, wanted);
    if (strncmp(err, prefix, strlen(prefix)) || strncmp(err + strlen(prefix), begin, strlen(begin)))
        fail_msg("%s: does not say '%s': %.2000s", line, begin, err);
}

static void prints(const char *line, const char *text)
{
    expect(line, 0);
    assert_string_equal(err, "");
    assert_string_equal(out, text);
}

static void script(const char *name, const char *text)
{
    put_text(in_folder(name), text);
}

/* ---- What a script sees. --------------------------------------------------------------------- */

static void arguments(void **state)
{
    (void)state;
    script("arg.lua", "#!/usr/bin/env stdcl\nprint(arg[-2], arg[-1], arg[0], #arg, ...)\n");
    prints("$S run arg.lua", "stdcl\trun\targ.lua\t0\n");
    prints("$S run arg.lua a 'b c' --device -h", "stdcl\trun\targ.lua\t4\ta\tb c\t--device\t-h\n");
    prints("$S run --device all -- arg.lua -- x", "stdcl\trun\targ.lua\t2\t--\tx\n");
    prints("$S run - y <arg.lua", "stdcl\trun\t-\t1\ty\n");
    prints("cp arg.lua ./-odd.lua; $S run -- -odd.lua", "stdcl\trun\t-odd.lua\t0\n");
}

static void modules_without_any_path(void **state)
{
    (void)state;
    script(
        "modules.lua",
        "for _, name in ipairs{'opencl', 'templet', 'random', 'stdcl', 'ffi', 'bit'} do\n"
        "  io.write(name, ' ', type(require(name)), '\\n')\n"
        "end\n"
        "print(require 'templet'.loadstring '${6 * 7}'(), select('#', require 'random'.normal()))\n");
    prints("LUA_PATH=/nowhere $S run modules.lua",
           "opencl table\ntemplet table\nrandom table\nstdcl table\n"
           "ffi table\nbit table\n42\t2\n");
}

static void exit_status(void **state)
{
    (void)state;
    expect("echo 'os.exit(7)' | $S run -", 7);
    expect("echo 'io.write \"no newline\" os.exit(true, true)' | $S run -", 0);
    assert_string_equal(out, "no newline");
    expect("echo 'print(1)' | $S run - >/dev/full", 1);
}

/* ---- Errors. --------------------------------------------------------------------------------- */

static void usage(void **state)
{
    (void)state;
    refuses("$S run", 2, "the script is missing");
    refuses("$S run --devcie cpu x.lua", 2, "");
    refuses("$S run --device", 2, "");
    refuses("$S run nosuch.lua", 1, "cannot open nosuch.lua");
    refuses("$S run .", 1, "cannot read .");
    expect("$S run --help", 0);
    assert_non_null(strstr(out, "usage: stdcl run [options] SCRIPT"));
    expect("$S --help", 0);
    assert_non_null(strstr(out, "  run "));
}

static void syntax_errors(void **state)
{
    (void)state;
    script("bad.lua", "local x = 1\nlocal y = = 2\n");
    refuses("$S run bad.lua", 1, "bad.lua:2: unexpected symbol near '='");
    assert_null(strstr(err, "traceback"));
    refuses("printf 'if' | $S run -", 1, "stdin:1:");
}

static void runtime_errors(void **state)
{
    (void)state;
    script("boom.lua", "local function inner() error 'boom' end\nprint 'before'\n"
                       "local function outer() inner() end\nouter()\n");
    refuses("$S run boom.lua", 1, "boom.lua:1: boom\nstack traceback:\n");
    assert_string_equal(out, "before\n");
    assert_non_null(strstr(err, "boom.lua:3: in function 'outer'"));
    assert_non_null(strstr(err, "boom.lua:4: in main chunk"));
    expect("$S run boom.lua 2>&1 | head -1", 0);
    assert_string_equal(out, "before\n"); /* in this order */
    refuses("echo 'error{}' | $S run -", 1, "the error is a table");
    refuses("echo 'error()' | $S run -", 1, "the error is a nil");
    refuses(
        "echo 'error(setmetatable({}, {__tostring = function() return \"odd\" end}))' | $S run -",
        1, "odd\n");
    refuses("echo 'local function f() return f() + 1 end f()' | $S run -", 1,
            "stdin:1: stack overflow");
    refuses("echo 'require \"nosuch\"' | $S run -", 1, "stdin:1: module 'nosuch' not found");
}

static void opencl_errors(void **state)
{
    (void)state;
    script("build.lua", "local cl, stdcl = require 'opencl', require 'stdcl'\n"
                        "local c = cl.create_context{stdcl.devices()[1]}\n\n"
                        "c:create_program_with_source('kernel void f() { oops; }'):build()\n");
    expect("$S run build.lua", 1);
    assert_non_null(
        strstr(err, "stdcl run: build.lua:4: clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11): "));
    assert_non_null(strstr(err, "'oops'"));
    assert_non_null(strstr(err, "stack traceback:"));
    script("device.lua", "local stdcl = require 'stdcl'\nstdcl.use 'quantum'\n");
    refuses("$S run device.lua", 1, "device.lua:2: clcontext_create: no device ");
    assert_non_null(strstr(err, "; this machine has: "));
    refuses("$S run --device quantum arg.lua", 2, "--device: no device matches 'quantum'; there ");
    assert_string_equal(out, "");
}

static void without_a_device(void **state)
{
    (void)state;
    script("none.lua",
           "print(#require 'opencl'.get_platforms())\nrequire 'stdcl'.malloc('int', 1)\n");
    refuses(NO_DRIVERS " OCL_ICD_FILENAMES= $S run none.lua", 1, "none.lua:2: ");
    assert_string_equal(out, "0\n");
}

/* ---- Options. -------------------------------------------------------------------------------- */

static void profile_and_trace(void **state)
{
    (void)state;
    expect("$S run --profile=csv --trace t.json $E/life.lua 3 8 8", 0);
    assert_non_null(strstr(err, "life"));
    assert_non_null(strstr(err, "host to device"));
    size_t size = 0;
    char *trace = bytes_of(in_folder("t.json"), &size);
    ready(trace);
    assert_non_null(strstr(trace, "\"life\""));
    free(trace);
}

/* ---- Examples. ------------------------------------------------------------------------------- */

static void golden_energy(void **state)
{
    (void)state;
    prints("$S run $E/energy.lua", "1.4977721207647\n");
}

static void energy_of_fewer(void **state)
{
    (void)state;
    const int n = 10000;
    expect("$S run $E/energy.lua 10000", 0);
    if (fabs(atof(out) - 1.5) > 5 * sqrt(1.5 / n))
        fail_msg("the mean energy is %s", out);
    refuses("$S run $E/energy.lua 3", 1, "");
    refuses("$S run $E/energy.lua many", 1, "");
}

/* The R-pentomino of life.lua on a torus, by counting neighbours cell by cell. */
static void life_twin(int generations, int width, int height, char *text)
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

static void life(void **state)
{
    (void)state;
    static const int shapes[][3] = {{0, 5, 4}, {40, 72, 24}, {200, 17, 31}};
    for (size_t i = 0; i < 3; i++) {
        char line[64], twin[4096];
        snprintf(line, sizeof line, "$S run $E/life.lua %d %d %d", shapes[i][0], shapes[i][1],
                 shapes[i][2]);
        life_twin(shapes[i][0], shapes[i][1], shapes[i][2], twin);
        prints(line, twin);
    }
}

/* Whether the middle of a pixel of a 90 x 60 picture, as mandelbrot.lua draws it, never escapes. */
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

static void mandelbrot(void **state)
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
    refuses("$S run $E/mandelbrot.lua /proc/nonexistent/m.ppm 8 8", 1, "");
    refuses("$S run $E/mandelbrot.lua m.ppm 0 8", 1, "");
}

/* A uniform sphere of mass and radius 1 has -3/5, less some softening. */
static void nbody(void **state)
{
    (void)state;
    double start, stop;
    int steps;
    expect("$S run $E/nbody.lua 512 50", 0);
    assert_int_equal(sscanf(out, "energy %lf, after %d steps %lf", &start, &steps, &stop), 3);
    assert_int_equal(steps, 50);
    if (fabs(start + 0.59) > 0.02 || fabs(stop - start) > 1e-4)
        fail_msg("%s", out);
    refuses("$S run $E/nbody.lua 1", 1, "");
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    command = argv[1];
    examples = argv[2];
    struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments),
        cmocka_unit_test(modules_without_any_path),
        cmocka_unit_test(exit_status),
        cmocka_unit_test(usage),
        cmocka_unit_test(syntax_errors),
        cmocka_unit_test(runtime_errors),
        cmocka_unit_test(opencl_errors),
        cmocka_unit_test(without_a_device),
        /* Of these every n-th. */
        cmocka_unit_test(life),
        cmocka_unit_test(golden_energy),
        cmocka_unit_test(energy_of_fewer),
        cmocka_unit_test(mandelbrot),
        cmocka_unit_test(nbody),
        cmocka_unit_test(profile_and_trace),
    };
    return sampled_run("lua", tests, 8, 3, files_create, files_remove);
}

/* cmd_run.c - `stdcl run`: run a Lua script, with OpenCL and the layer as Lua modules.
 *
 * The modules of lua/ are embedded in the executable, and `require` finds them without a path.
 * They call OpenCL and the layer through LuaJIT's ffi, by the names that this executable
 * exports.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "common.h"
#include "device.h"
#include "interrupt.h"
#include "message.h"
#include "usage.h"

/* A script and its options. */
struct script {
    struct cli_common common;
    CLCONTEXT *context; /* of --device; NULL: the module stdcl chooses */
    int argc;           /* from the script on */
    char **argv;
};

#ifdef HAVE_LUAJIT
#include <lauxlib.h>
#include <lualib.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- The modules. ---------------------------------------------------------------------------- */

#define MODULES(MODULE)                                                                            \
    MODULE("opencl", opencl)                                                                       \
    MODULE("opencl.C", opencl_C)                                                                   \
    MODULE("opencl.info", opencl_info)                                                             \
    MODULE("opencl.status", opencl_status)                                                         \
    MODULE("random", random)                                                                       \
    MODULE("stdcl", stdcl)                                                                         \
    MODULE("stdcl.C", stdcl_C)                                                                     \
    MODULE("stdcl.declarations", stdcl_declarations)                                               \
    MODULE("stdcl.library", stdcl_library)                                                         \
    MODULE("templet", templet)

#define DECLARE(name, file)                                                                        \
    extern const unsigned char stdcl_kernel_lua_##file##_lua[];                                    \
    extern const unsigned long stdcl_kernel_lua_##file##_lua_size;
MODULES(DECLARE)

struct module {
    const char *name;
    const unsigned char *text;
    const unsigned long *size;
};
static const struct module modules[] = {
#define ROW(name, file) {name, stdcl_kernel_lua_##file##_lua, &stdcl_kernel_lua_##file##_lua_size},
    MODULES(ROW)};
enum { MODULES_COUNT = sizeof modules / sizeof *modules };

/* Functions that scripts find by name. A reference makes the linker include each one's file,
 * whatever else the command calls. */
typedef void any_function(void);
#define NEEDED(function) (any_function *)function
extern any_function *const cmd_run_needed[];
any_function *const cmd_run_needed[] = {
    NEEDED(clcontext_create), NEEDED(clcontext_destroy),
    NEEDED(clgetndev),        NEEDED(clgetdevice),
    NEEDED(clmalloc),         NEEDED(clfree),
    NEEDED(clmsync),          NEEDED(clopen),
    NEEDED(clsopen),          NEEDED(clopentv),
    NEEDED(clopen_templatev), NEEDED(clbuild),
    NEEDED(clclose),          NEEDED(clsym),
    NEEDED(clarg_info),       NEEDED(clforkv),
    NEEDED(clwait),           NEEDED(clprofile),
    NEEDED(clprofile_rows),   NEEDED(clerror),
    NEEDED(clmctl),           NEEDED(clglmalloc),
    NEEDED(stdcl_version),
};

/* Loader called by `require`; its upvalue is the module. */
static int load_module(lua_State *L)
{
    const struct module *module = lua_touserdata(L, lua_upvalueindex(1));
    char chunk[64];
    snprintf(chunk, sizeof chunk, "=%s.lua", module->name);
    if (luaL_loadbuffer(L, (const char *)module->text, *module->size, chunk))
        return lua_error(L);
    lua_call(L, 0, 1);
    return 1;
}

static void preload_modules(lua_State *L)
{
    lua_getglobal(L, "package");
    lua_getfield(L, -1, "preload");
    for (int i = 0; i < MODULES_COUNT; i++) {
        lua_pushlightuserdata(L, (void *)(uintptr_t)&modules[i]);
        lua_pushcclosure(L, load_module, 1);
        lua_setfield(L, -2, modules[i].name);
    }
    lua_pop(L, 2);
}

/* ---- The script. ----------------------------------------------------------------------------- */

/* Set the global `arg` as luajit does: the script at 0, its arguments from 1, the command's
 * words below. */
static void set_arguments(lua_State *L, const struct script *script)
{
    lua_createtable(L, script->argc, 2);
    for (int i = 0; i < script->argc; i++) {
        lua_pushstring(L, script->argv[i]);
        lua_rawseti(L, -2, i);
    }
    lua_pushstring(L, "run");
    lua_rawseti(L, -2, -1);
    lua_pushstring(L, "stdcl");
    lua_rawseti(L, -2, -2);
    lua_setglobal(L, "arg");
}

/* Convert the error on the stack to text, followed by a traceback. */
static int add_traceback(lua_State *L)
{
    if (!lua_isstring(L, 1) && !luaL_callmeta(L, 1, "__tostring")) {
        lua_pushfstring(L, "the error is a %s", luaL_typename(L, 1));
        lua_replace(L, 1);
    } else if (!lua_isstring(L, 1)) {
        lua_replace(L, 1);
    }
    luaL_traceback(L, L, lua_tostring(L, 1), 1);
    return 1;
}

static const char *error_text(lua_State *L)
{
    const char *text = lua_tostring(L, -1);
    return text ? text : "error without a message";
}

/* Run in a protected call: open the libraries, load the script and call it with its arguments. */
static int run_protected(lua_State *L)
{
    const struct script *script = lua_touserdata(L, 1);
    const char *const name = script->argv[0];
    luaL_openlibs(L);
    preload_modules(L);
    set_arguments(L, script);
    if (script->context) { /* read by lua/stdcl.lua */
        lua_pushlightuserdata(L, script->context);
        lua_setfield(L, LUA_REGISTRYINDEX, "stdcl.context");
    }
    if (luaL_loadfile(L, strcmp(name, "-") ? name : NULL)) {
        lua_pushinteger(L, cli_failed("%s", error_text(L)));
        return 1;
    }
    lua_pushcfunction(L, add_traceback);
    lua_insert(L, -2);
    luaL_checkstack(L, script->argc, "too many arguments");
    for (int i = 1; i < script->argc; i++)
        lua_pushstring(L, script->argv[i]);
    const int status = lua_pcall(L, script->argc - 1, 0, -1 - script->argc);
    fflush(stdout); /* output precedes the error message */
    lua_pushinteger(L, status ? cli_failed("%s", error_text(L)) : CLI_DONE);
    return 1;
}

static int run_script(const struct script *script)
{
    lua_State *L = luaL_newstate();
    if (!L)
        return cli_failed("out of memory for Lua");
    lua_pushcfunction(L, run_protected);
    lua_pushlightuserdata(L, (void *)(uintptr_t)script);
    const bool raised = lua_pcall(L, 1, 1, 0);
    if (raised && strstr(error_text(L), "CL_BUILD_PROGRAM_FAILURE"))
        cli_interrupt_arrives();
    int status = raised ? cli_failed("%s", error_text(L)) : (int)lua_tointeger(L, -1);
    lua_close(L); /* releases the script's objects */
    return status;
}

#else

static int run_script(const struct script *script)
{
    return cli_failed(
        "cannot run '%s': this stdcl was built without LuaJIT; install it (libluajit-5.1-dev) and rebuild",
        script->argv[0]);
}

#endif

/* ---- The command. ---------------------------------------------------------------------------- */

/* Index of the script's name; all words after it belong to the script. */
static int find_script(int argc, char **argv)
{
    int i = 1;
    while (i < argc && argv[i][0] == '-' && argv[i][1]) {
        if (!strcmp(argv[i], "--"))
            return i + 1;
        i += !strcmp(argv[i], "--device") || !strcmp(argv[i], "--trace") ? 2 : 1;
    }
    return i < argc ? i : argc;
}

static int run_with_devices(struct script *script)
{
    const struct cli_common *common = &script->common;
    struct cli_devices devices;
    int status = CLI_DONE;
    if (common->device.n || common->profile.wanted || common->trace)
        status = cli_devices_open(&common->device, &script->context);
    if (status != CLI_DONE)
        return status;
    if ((status = cli_profile_start(common, script->context)) != CLI_DONE)
        return status;
    /* before the script queries devices: see cli_interrupt_restore_quit */
    cli_devices_list(&devices);
    cli_devices_free(&devices);
    status = run_script(script);
    return cli_first_failure(status, cli_profile_report(common, script->context));
}

static int cmd_run_run(int argc, char **argv)
{
    struct script script = {0};
    const int at = find_script(argc, argv);
    int status;
    struct cli_option options[] = {
        CLI_STRINGS(
            0, "device", "DEVICE", &script.common.device,
            "devices of the module stdcl, repeatable: cpu, gpu, acc, all, part of a name, or a number of 'stdcl devices' (default: the first GPU, else the first CPU)"),
        CLI_PARSED_OPTIONAL(
            0, "profile", "FORMAT", &script.common.profile, cli_read_profile,
            "time spent by the module stdcl, printed to standard error as table, csv or json (default table)"),
        CLI_STRING(0, "trace", "FILE", &script.common.trace,
                   "timeline of its commands, for ui.perfetto.dev"),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[options] SCRIPT [arguments]",
        .about =
            "Runs a Lua script ('-' reads it from standard input). The modules opencl, stdcl, templet and random are available, and the arguments are in the table arg.",
        .examples = "  stdcl run energy.lua 100000\n"
                    "  stdcl run --device gpu --profile nbody.lua\n",
        .options = options,
    };
    if (cli_parse(&usage, at < argc ? at : argc, argv, &status)) {
        script.argc = argc - at;
        script.argv = argv + at;
        status = at < argc ? run_with_devices(&script)
                           : cli_wrong("the script is missing: stdcl run SCRIPT [arguments]");
    }
    if (script.context)
        clcontext_destroy(script.context);
    cli_common_free(&script.common);
    return status;
}

const struct cli_command cmd_run = {"run", "run a Lua script", cmd_run_run, CLI_RANKS_INDEPENDENT};

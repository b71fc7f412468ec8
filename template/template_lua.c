/* template_lua.c - runs lua/templet.lua on a template, in a Lua state of its own with limits.
 *
 * Expansions share nothing, so threads may expand at the same time. Each expansion creates and
 * closes a state; sandbox.lua defines what a template may call. A hook counts instructions; LuaJIT
 * calls hooks in interpreted code only, so the compiler is off. The allocator counts memory.
 * SPDX-License-Identifier: MIT
 */
#include "template/template.h"

#include "core/clock.h"

#ifdef HAVE_LUAJIT

#include <lauxlib.h>
#include <lua.h>
#include <luajit.h>
#include <lualib.h>

extern const unsigned char stdcl_kernel_lua_templet_lua[], stdcl_kernel_template_sandbox_lua[];
extern const unsigned long stdcl_kernel_lua_templet_lua_size,
    stdcl_kernel_template_sandbox_lua_size;

#define MOST_MEMORY ((size_t)1 << 30) /* bytes in the Lua state */
#define MOST_BLOCK ((size_t)1 << 27)  /* bytes of a string or table: C loops run over all of them */
#define MOST_INSTRUCTIONS 1000000000UL
#define MOST_STACK                                                                                 \
    (256 << 10) /* bytes of C stack, for recursion through string.gsub and the like */
#define HOOK_EVERY 100
#define CLOCK_EVERY 20                /* hooks */
#define CLOCK_BYTES ((size_t)1 << 24) /* allocated: a few instructions can copy much */

double stdcl_template_seconds = 30; /* as the message says */

/* The template's name inside the state. Lua repeats it in full at the start of its messages, where
 * the real name replaces it. */
#define ALIAS "\1"

/* One expansion; also the allocator's user data. */
struct expansion {
    const char *name, *values;
    const char *source;
    size_t size;
    struct text text; /* the result so far */
    lua_State *L;
    lua_Alloc allocate; /* the state's own allocator and its user data */
    void *arena;
    size_t memory;       /* bytes held by the state */
    size_t allocated;    /* bytes since the last look at the clock */
    unsigned long hooks; /* HOOK_EVERY instructions each */
    const char *stack;   /* start of the C stack */
    double start;        /* seconds of processor time */
    int stop_code;       /* errno value of the exceeded limit, or 0 */
    const char *stop;    /* its message */
    size_t stop_line;    /* of the template; 0: unknown */
    bool in_values;
};

static struct expansion *expansion_of(lua_State *L)
{
    void *e;
    lua_getallocf(L, &e);
    return e;
}

/* ---- Limits. ---- */

static double thread_seconds(void)
{
    return 1e-9 * (double)ns_of_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* The template's line being run, or 0. */
static size_t current_line(lua_State *L)
{
    lua_Debug at;
    for (int level = 0; level < 40 && lua_getstack(L, level, &at); level++)
        if (lua_getinfo(L, "Sl", &at) && at.currentline > 0 && strcmp(at.source, "@" ALIAS) == 0)
            return (size_t)at.currentline;
    return 0;
}

/* Record the first exceeded limit; later messages of Lua do not matter. */
static void expansion_stop(struct expansion *e, int code, const char *sentence, size_t line)
{
    if (e->stop_code)
        return;
    e->stop_code = code;
    e->stop = sentence;
    e->stop_line = line;
}

/* Stop the expansion if its time is over. */
static void expansion_check_time(struct expansion *e)
{
    e->allocated = 0;
    if (!e->stop_code && thread_seconds() - e->start > stdcl_template_seconds)
        expansion_stop(e, ENOEXEC, "the template ran for 30 seconds; is a loop endless?",
                       current_line(e->L));
}

/* Stop the expansion if the block exceeds a limit, or its time is over. */
static void expansion_check_block(struct expansion *e, size_t old, size_t size)
{
    if (size > MOST_BLOCK)
        expansion_stop(e, ENOMEM, "a string or table of the template needs more than 128 MiB",
                       current_line(e->L));
    else if (size - old > MOST_MEMORY - e->memory)
        expansion_stop(e, ENOMEM, "the template needs more than 1 GiB of Lua memory",
                       current_line(e->L));
    else if ((e->allocated += size) > CLOCK_BYTES)
        expansion_check_time(e);
}

static void *limited_allocate(void *user, void *ptr, size_t old, size_t size)
{
    struct expansion *e = user;
    if (size > old) {
        expansion_check_block(e, old, size);
        if (e->stop_code)
            return NULL;
    }
    void *p = e->allocate(e->arena, ptr, old, size);
    if (p || size == 0)
        e->memory += size - old;
    return p;
}

static size_t stack_in_use(const struct expansion *e)
{
    const char *here = __builtin_frame_address(0);
    return (size_t)(here < e->stack ? e->stack - here : here - e->stack);
}

static void count_instructions(lua_State *L, lua_Debug *at)
{
    struct expansion *e = expansion_of(L);
    (void)at;
    if (++e->hooks >= MOST_INSTRUCTIONS / HOOK_EVERY)
        expansion_stop(e, ENOEXEC, "the template ran for 10^9 instructions; is a loop endless?",
                       current_line(L));
    else if (stack_in_use(e) > MOST_STACK)
        expansion_stop(e, ENOEXEC, "calls nest too deep", current_line(L));
    else if (e->hooks % CLOCK_EVERY == 0)
        expansion_check_time(e);
    if (e->stop_code)
        luaL_error(L, "stopped");
}

/* look(), called by sandbox.lua before long loops in C. */
static int expansion_look(lua_State *L)
{
    struct expansion *e = expansion_of(L);
    expansion_check_time(e);
    return e->stop_code ? luaL_error(L, "stopped") : 0;
}

/* ---- The run. ---- */

/* put(text, line, is_value), called by templet.lua. */
static int expansion_put(lua_State *L)
{
    struct expansion *e = expansion_of(L);
    size_t n, line = (size_t)lua_tointeger(L, 2);
    const char *bytes = luaL_checklstring(L, 1, &n);
    const char *wrong = text_append(&e->text, bytes, n, line, lua_toboolean(L, 3));
    if (wrong) {
        expansion_stop(e, ENOEXEC, wrong, line);
        return luaL_error(L, "stopped");
    }
    return 0;
}

static void open_libraries(lua_State *L)
{
    static const luaL_Reg libraries[] = {
        {"", luaopen_base},
        {LUA_TABLIBNAME, luaopen_table},
        {LUA_STRLIBNAME, luaopen_string},
        {LUA_MATHLIBNAME, luaopen_math},
        {LUA_BITLIBNAME, luaopen_bit},
        {LUA_DBLIBNAME, luaopen_debug},
    };
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        lua_pushcfunction(L, libraries[i].func);
        lua_pushstring(L, libraries[i].name);
        lua_call(L, 1, 0);
    }
}

static void expansion_load(lua_State *L, const unsigned char *code, size_t size, const char *name)
{
    if (luaL_loadbuffer(L, (const char *)code, size, name) != 0)
        lua_error(L);
}

/* Leave two functions of sandbox.lua on the stack: prepare and expand. */
static void load_templet(lua_State *L)
{
    expansion_load(L, stdcl_kernel_template_sandbox_lua, stdcl_kernel_template_sandbox_lua_size,
                   "=sandbox");
    expansion_load(L, stdcl_kernel_lua_templet_lua, stdcl_kernel_lua_templet_lua_size, "=templet");
    lua_call(L, 0, 1);
    lua_pushcfunction(L, expansion_look);
    lua_call(L, 2, 2);
}

static int expansion_run(lua_State *L)
{
    struct expansion *e = lua_touserdata(L, 1);
    open_libraries(L);
    load_templet(L);
    lua_sethook(L, count_instructions, LUA_MASKCOUNT, HOOK_EVERY);
    lua_pushlstring(L, e->source, e->size);
    lua_pushliteral(L, ALIAS);
    lua_pushboolean(L, true); /* strict */
    e->in_values = true;
    lua_pushvalue(L, -5);
    lua_pushstring(L, e->values ? e->values : "");
    lua_call(L, 1, 1);
    e->in_values = false;
    lua_pushcfunction(L, expansion_put);
    lua_call(L, 5, 0);
    return 0;
}

/* Copy Lua's message, made printable: it quotes the template's bytes. */
static void copy_sentence(char *to, size_t size, const char *from)
{
    size_t n = 0;
    for (; *from && n < size - 4; from++)
        to[n++] = (unsigned char)*from < ' ' || *from == 127 ? '?' : *from;
    strcpy(to + n, *from ? "..." : "");
}

/* Report the error on top of the stack as NAME:LINE: MESSAGE. */
static void expansion_report(const struct expansion *e, int status)
{
    const char *message = lua_tostring(e->L, -1);
    const char *name = e->name ? e->name : "template";
    bool lined = message && message[0] == ALIAS[0];
    int code = status == LUA_ERRMEM ? ENOMEM : ENOEXEC;
    char sentence[400];
    if (message && strncmp(message, "values:", 7) == 0 && strchr(message + 7, ' '))
        message = strchr(message + 7, ' ') + 1; /* after the line */
    copy_sentence(sentence, sizeof sentence,
                  message ? message + lined : "the error is not a string");
    if (e->stop_code && e->stop_line)
        fail(e->stop_code, 0, "%s:%zu: %s", name, e->stop_line, e->stop);
    else if (e->stop_code)
        fail(e->stop_code, 0, "%s: %s", name, e->stop);
    else if (e->in_values)
        fail(EINVAL, 0, "%s: the values {%.200s}: %s", name, e->values ? e->values : "", sentence);
    else
        fail(code, 0, lined ? "%s%s" : "%s: %s", name, sentence);
}

char *stdcl_template_expand(const char *name, const char *text, size_t size, const char *values)
{
    struct expansion e = {
        .name = name, .source = text, .size = size, .values = values, .text.file = name};
    e.L = luaL_newstate();
    if (!e.L) {
        fail(ENOMEM, 0, "%s: out of memory for Lua", name ? name : "template");
        return NULL;
    }
    luaJIT_setmode(e.L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
    lua_gc(e.L, LUA_GCSETPAUSE,
           150); /* a collection starts at 1.5 times the memory the last one left */
    e.memory = (size_t)lua_gc(e.L, LUA_GCCOUNT, 0) * 1024;
    e.start = thread_seconds();
    e.stack = __builtin_frame_address(0);
    e.allocate = lua_getallocf(e.L, &e.arena);
    lua_setallocf(e.L, limited_allocate, &e);
    const char *end = text_append(&e.text, "", 0, 1, false); /* so that an empty text is a string */
    int status = end ? LUA_ERRMEM : lua_cpcall(e.L, expansion_run, &e);
    if (status == 0)
        e.text.data[e.text.size] = '\0';
    else
        expansion_report(&e, status);
    lua_setallocf(e.L, e.allocate,
                  e.arena); /* lua_close releases the arena only for its own allocator */
    lua_close(e.L);
    if (status != 0)
        free(e.text.data);
    return status == 0 ? e.text.data : NULL;
}

#else /* no LuaJIT */

char *stdcl_template_expand(const char *name, const char *text, size_t size, const char *values)
{
    (void)text, (void)size, (void)values;
    fail(ENOTSUP, 0,
         "%s: templates need LuaJIT, which this library was built without; install "
         "libluajit-5.1-dev (Debian, Ubuntu) and build it again",
         name ? name : "template");
    return NULL;
}

#endif

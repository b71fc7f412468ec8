/* test_template.c - kernel templates: the grammar, errors and their lines, values from C, the
 * sandbox and its limits, large and broken input, threads. test_template_open.c runs the
 * kernels.
 * SPDX-License-Identifier: MIT
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memmem */
#endif
#include "check.h"
#include "decimal_comma.h"
#include "deep.h"

#include "core/clock.h"

#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sanitizers are several times slower, and ThreadSanitizer keeps its own data on a thread's
 * stack. */
enum { SMALL_STACK = (SANITIZED ? 8 : 1) << 20, LARGE = 1 << 20 };

#define VALUES "N = 3, name = 'x', t = {a = {b = 7}, 10, 20}, yes = true, no = false"

/* ---- The grammar. ---- */

struct expansion {
    const char *template, *text;
};

static const struct expansion grammar[] = {
    {"", ""},
    {"plain text\n", "plain text\n"},
    {"no newline at the end", "no newline at the end"},
    {"$ {N} $N { } }} $", "$ {N} $N { } }} $"},
    {"a${N}b", "a3b"},
    {"${N}${N}", "33"},
    {"$${N}", "$3"},
    {"${ N * 2 + #t }", "8"},
    {"${name}${t.a.b}${t[1]}", "x710"},
    /* ends of expressions */
    {"${({1, 2, {3}})[3][1]}}", "3}"},
    {"${'}'}", "}"},
    {"${\"{\"}", "{"},
    {"${'\\'}'}", "'}"},
    {"${'a\\\\'}", "a\\"},
    {"${[[}]]}", "}"},
    {"${[==[]]}]==]}", "]]}"},
    {"${N --[[ } ]] }", "3"},
    {"${N -- }\n}", "3"},
    {"${'${N}'}", "${N}"},
    {"${t\n[\n2]\n}", "20"},
    {"${N - -1}${t[t[1] - 9]}", "410"},
    {"${'a\\z  \n  b'}", "ab"},
    /* numbers */
    {"${128 / 2} ${2^53} ${-2^53} ${2^63} ${1e15}",
     "64 9007199254740992 -9007199254740992 9223372036854775808 1000000000000000"},
    {"${0.5} ${1/3} ${1e300} ${1e-7} ${7 % 4} ${-0.25}",
     "0.5 0.33333333333333 1e+300 1e-07 3 -0.25"},
    {"${0xFFFFFFFFFFFFFFFFULL} ${-9007199254740993LL}", "18446744073709551615 -9007199254740993"},
    {"${yes} ${no} ${N == 3}", "true false true"},
    {"${bit.lshift(1, 5)} ${math.floor(2.5)} ${('ab'):rep(2)}", "32 2 abab"},
    /* statements */
    {"|local a = N\n${a}", "3"},
    {" \t | local a = N\n${a}\n", "3\n"},
    {"|for i = 1, N do\n<${i}>\n|end\n", "<1>\n<2>\n<3>\n"},
    {"|for i = 1, 2 do\n| for j = 1, 2 do\n${i}${j}\n| end\n|end", "11\n12\n21\n22\n"},
    {"|if N == 3 then\nthree\n|else\nother\n|end\n", "three\n"},
    {"|if missing then\na\n|else\nb\n|end\n", "b\n"},
    {"|repeat\nx\n|until true\n", "x\n"},
    {"a | b\nc || d\n", "a | b\nc || d\n"},
    {"|-- a comment\nx\n|--[[ another ]]\n", "x\n"},
    {"|x = {\n|  1,\n|  2}\n${x[2]}", "2"},
    {"|s = [[one\n|two]]\n${s}", "one\ntwo"},
    {"|s = 'it${N}'\n${s}", "it${N}"},
    {"|function twice(x)\n${x}${x}\n|end\n${twice(1)}|",
     NULL}, /* a call that emits, but has no value */
    {"|function twice(x)\n${x}${x}\n|end\n|twice(1) twice(2)\n.", "11\n22\n."},
    {"|do return end\nnever", ""},
    {"|N = N + 1\n${N}", "4"},
    {"|goto over\nskipped\n|::over::\nx", "x"},
    {"|", ""},
    {"|\n|\n", ""},
    {"\n|x = 1", "\n"},
    /* line ends */
    {"a\r\nb\r\n", "a\r\nb\r\n"},
    {"|for i = 1, 2 do\r\n${i}\r\n|end\r\n", "1\r\n2\r\n"},
    {"${N\r\n}\r\n", "3\r\n"},
    {"a\rb|c\r", "a\rb|c\r"},
    {"|local a = 1\r${a}\n", NULL}, /* a lone return ends no line */
    /* bytes */
    {"\xef\xbb\xbf|x = 1\n${x}\xc3\xa9\xff\x01", "1\xc3\xa9\xff\x01"},
};

static void template_grammar_expands(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof grammar / sizeof *grammar; i++) {
        const struct expansion *e = &grammar[i];
        char *text = cltemplate(NULL, e->template, strlen(e->template), VALUES);
        if (e->text ? !text || strcmp(text, e->text) != 0 : text != NULL) {
            print_error("template: %s\nwanted:   %s\ngot:      %s\n", e->template,
                        e->text ? e->text : "an error", text ? text : clerror());
            fail();
        }
        free(text);
    }
}

/* ---- Errors: the code, and a sentence that begins with the template's name and line. ---- */

struct failure {
    const char *template, *sentence; /* how the sentence begins after "k.clt" */
};

static const struct failure failures[] = {
    /* names and nil in expressions */
    {"\n${M}", ":2: the name 'M' has no value"},
    {"${N}\n\n${N + M}", ":3: the name 'M' has no value"},
    {"${tostring(M)}", ":1: the name 'M' has no value"},
    {"${t.c}", ":1: ${t.c} is nil"},
    {"\n${t\n.a\n.c}", ":2: ${t .a .c} is nil"},
    {"${t.c.d}", ":1: attempt to index field 'c' (a nil value)"},
    {"|for i = 1, 3 do\n${t[i]}\n|end", ":2: ${t[i]} is nil"},
    {"|if N then\n\n|  local y = x.y\n|end",
     ":3: attempt to index global 'x' (a nil value) (the name 'x' has no value)"},
    {"a\n|for i = 1, M do\n|end", ":2: 'for' limit must be a number (the name 'M' has no value)"},
    {"|function f()\n${M}\n|end\n\n|f()", ":2: the name 'M' has no value"},
    /* invalid expressions */
    {"a\nb ${", ":2: this ${ is not closed by a } outside of strings"},
    {"${'}", ":1: this ${ is not closed"},
    {"${ }", ":1: ${} holds no expression"},
    {"\n${1 +}", ":2: ${1 +}: unexpected symbol near ')'"},
    {"${N) evil(}", ":1: ${N) evil(}: "},
    {"${N; M}", ":1: ${N; M}: ')' expected near ';'"},
    {"${local x = 1}", ":1: ${local x = 1}: unexpected symbol near 'local'"},
    {"${\n\n1 1}", ":3: ${ 1 1}: ')' expected (to close '(' at line 1) near '1'"},
    {"\n\n${\n(1 1}", ":4: ${ (1 1}: ')' expected near '1'"},
    /* statements */
    {"\n| x = = 2\n", ":2: unexpected symbol near '='"},
    {"a\n|for i = 1, 3\ntext\n|end", ":2: 'do' expected before the text of line 3"},
    {"|f(\ntext\n|)", ":1: unexpected symbol before the text of line 2"},
    {"|if N then\n\ntext", ":3: 'end' expected (to close 'if' at line 1) near '<eof>'"},
    {"\n\n|end\n", ":3: '<eof>' expected near 'end'"},
    {"|end, function()\n", ":1: '<eof>' expected near 'end'"},
    {"|return\ntext", ":1: unexpected symbol before the text of line 2"},
    {"\n|x = [[\ntext\n|]]",
     ":2: this long string or comment does not end with the statement lines"},
    {"|y = 1\n|--[[ x\n|\ntext\n|]]", ":2: this long string or comment"},
    {"if (a\n    || b)",
     ":2: a line that begins with || reads as a Lua statement; end the line above with it, or write ${'||'}"},
    {"\n|error('mine')", ":2: mine"},
    {"\n|error('mine', 0)", ":2: mine"},
    {"\n|error({})", ":2: the error is a table"},
    {"\n\n|string.rep()", ":3: bad argument #1 to 'rep'"},
    {"\n\n|x = ('x'):gsub()", ":3: bad argument #1 to 'gsub' (string expected"},
    {"\n\n|string.find('x', '[')", ":3: malformed pattern"},
    {"\n|__text(0, 99)", ":2: bad argument"},
    {"\n|__text({})", ":2: "},
    {"|for i = 1, 2 do\n|  if i == 2 then\n${i}${nil}\n|end end", ":3: ${nil} is nil"},
    {"\r\n|local x = 1\r\n${M}\r\n", ":3: the name 'M' has no value"},
    {"|x = [[a\r\n|b]]\r\n${M}", ":3: the name 'M' has no value"},
    {"|x = 1\r\r\r y = 2\r\n${M}", ":2: the name 'M' has no value"},
    {"${N\r\r}\n${M}", ":2: the name 'M' has no value"},
    {"\n${'a\\0b'}", ":2: a zero byte"},
};

static void check_sentence(const char *template, const char *text, const char *begin, int code)
{
    const char *sentence = text ? "(no error)" : clerror();
    if (text || clerrno != code || !sentence || strncmp(sentence, begin, strlen(begin)) != 0) {
        print_error("template: %s\nwanted:   %d %s\ngot:      %d %s\n", template, code, begin,
                    clerrno, sentence);
        fail();
    }
}

static void template_errors_name_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        char begin[300];
        snprintf(begin, sizeof begin, "k.clt%s", failures[i].sentence);
        char *text =
            cltemplate("k.clt", failures[i].template, strlen(failures[i].template), VALUES);
        check_sentence(failures[i].template, text, begin, ENOEXEC);
    }
}

/* A name of any length precedes the message in full. */
static void template_error_keeps_long_name(void **state)
{
    (void)state;
    char name[3000], begin[3100];
    memset(name, 'n', sizeof name);
    memcpy(name, "/a\"b\\c d/%s/", 12);
    name[sizeof name - 1] = '\0';
    snprintf(begin, sizeof begin, "%s:1: the name 'M' has no value", name);
    check_sentence("long name", cltemplate(name, "${M}", 4, NULL), begin, ENOEXEC);
    check_sentence("no name", cltemplate(NULL, "${M}", 4, NULL), "template:1: the name 'M'",
                   ENOEXEC);
    check_sentence("NULL", cltemplate("k", NULL, 4, NULL), "k: the text of the template is NULL",
                   EINVAL);
    char *text = cltemplate("a\"b\\c\n", "x", 1, NULL);
    assert_string_equal(text, "#line 1 \"a\\\"b\\\\c?\"\nx");
    free(text);
    text = cltemplate("k", "\xEF\xBB\xBFx", 4, NULL); /* a byte order mark */
    assert_string_equal(text, "#line 1 \"k\"\nx");
    free(text);
}

/* ---- #line: a count of lines as the preprocessor makes it, against numbers in the text. ---- */

/* True if a comment is open at the end of a line of n characters; `comment`: one was open at its
 * start. */
static bool comment_after(const char *p, size_t n, bool comment)
{
    for (size_t i = 0; i + 1 < n; i++) {
        if (comment && p[i] == '*' && p[i + 1] == '/') {
            comment = false;
            i++;
        } else if (!comment && p[i] == '/' && p[i + 1] == '/') {
            return false;
        } else if (!comment && p[i] == '/' && p[i + 1] == '*') {
            comment = true;
            i++;
        } else if (!comment && (p[i] == '"' || p[i] == '\'')) {
            char quote = p[i++];
            while (i < n && p[i] != quote)
                i += p[i] == '\\' ? 2 : 1;
        }
    }
    return comment;
}

/* Check that each line of `text` with @n@ comes from line n of the template, by the #line
 * directives outside of comments and of lines skipped by `#if 0`. Return the number of lines
 * checked. */
static int check_lines(const char *text)
{
    int line = 1, checked = 0;
    bool comment = false, skipped = false;
    for (const char *p = text; *p; line++) {
        const char *end = strchr(p, '\n');
        size_t n = end ? (size_t)(end - p) : strlen(p);
        const char *mark = memchr(p, '@', n);
        bool directive = !comment && !skipped && strncmp(p, "#line ", 6) == 0;
        if (mark && atoi(mark + 1) != line) {
            print_error("a compiler would take this for line %d: %.*s\nin\n%s\n", line, (int)n, p,
                        text);
            fail();
        }
        checked += mark != NULL;
        comment = comment_after(p, n, comment);
        if (strncmp(p, "#if 0", 5) == 0 || strncmp(p, "# endif", 7) == 0)
            skipped = p[1] == 'i';
        if (directive)
            line = atoi(p + 6) - 1;
        p += n + (end != NULL);
    }
    return checked;
}

static const struct {
    const char *template;
    int marks;
} lined[] = {
    {"@1@\n@2@\n|x = 1\n@4@\n", 3},
    {"|x = 1\n|y = 1\n|\n|\n|\n|\n|\n|\n@9@\n", 1},
    {"|for i = 1, 3 do\na @2@\nb ${i} @3@\n|end\n@5@\n", 7},
    {"|for i = 1, 20 do\n|  if i % 3 == 0 then\n@3@\n|  else\n@5@\n|  end\n|end\n@8@\n", 21},
    {"@1@ ${'a\\nb\\n'}\n@2@\n@3@", 3},
    {"@1@ ${'a @1@\\nb @1@\\nc @1@'} \n@2@\n", 4},
    {"@1@ ${\n\n1}\n@4@\n", 2},
    {"|function f(x)\n<@2@ ${x}\n|end\n@4@\n|f(1) f(2)\n@6@\n|f(3)\n@8@\n", 6},
    {"@1@\r\n|for i = 1, 3 do\r\n@3@\r\n|end\r\n@5@\r\n", 5},
    /* not in a macro, a comment or after a skipped part */
    {"#define M(x) \\\n|for i = 1, 3 do\n  x \\\n|end\n  0\n@6@\n", 1},
    {"/* @1@\n|for i = 1, 3 do\n  x\n|end\n*/\n@6@\n", 2},
    {"// a /* comment @1@\n|for i = 1, 2 do\n@3@ \" // */\n|end\n@5@\n", 4},
    {"'\"' /* \" */ @1@\n|for i = 1, 9 do\n@3@\n|end\n@5@\n", 11},
    {"\"\\\"/*\" @1@\n|for i = 1, 9 do\n@3@\n|end\n@5@\n", 11},
    {"/*/ @1@\n|for i = 1, 9 do\n  x\n|end\n*/\n@6@\n", 2},
    {"#if 0\n|for i = 1, 3 do\nx\n|end\n# endif\n@6@\n|for i = 1, 3 do\n@8@\n|end\n", 4},
    {"|for i = 1, 3 do\n@2@\n|end\n#if 0\n|for i = 1, 3 do\nx\n|end\n# endif\n@9@\n", 4},
};

static void template_lines_are_mapped(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof lined / sizeof *lined; i++) {
        char *text = cltemplate("k.clt", lined[i].template, strlen(lined[i].template), NULL);
        ready(text);
        assert_memory_equal(text, "#line ", 6);
        assert_int_equal(check_lines(text), lined[i].marks);
        free(text);
    }
    /* No directive is written inside a macro or a comment. */
    char *text = cltemplate("k.clt", lined[9].template, strlen(lined[9].template), NULL);
    assert_non_null(strstr(text, "M(x) \\\n  x \\\n  x \\\n  x \\\n  0\n"));
    free(text);
}

/* ---- Values. ---- */

static void check_text(char *text, const char *wanted)
{
    ready(text);
    assert_string_equal(text, wanted);
    free(text);
}

#define EXPAND(t, ...) cltemplate(NULL, t, strlen(t), __VA_ARGS__)
#define LIST(t, list) cltemplatev(NULL, t, strlen(t), list)

static void template_formatted_values_expand(void **state)
{
    (void)state;
    check_text(EXPAND("${N} ${work_size}", "N = %zu, work_size = %d", (size_t)1000000, 128),
               "1000000 128");
    check_text(EXPAND("${t[2]} ${u.v.w}", "t = {1, %g}, u = {v = {w = '%s'}}", 2.5, "deep"),
               "2.5 deep");
    check_text(EXPAND("${N}", "N = 2^10 * %d", 2), "2048");
    check_text(EXPAND("${type} ${m}", "type = 'float', m = math.max(1, 2),"), "float 2");
    check_text(EXPAND("-", " "), "-");
    check_sentence("values", EXPAND("${N}", "N = , %d", 1),
                   "template: the values {N = , 1}: unexpected symbol", EINVAL);
    check_sentence("values", EXPAND("${N}", "N = inf"),
                   "template: the values {N = inf}: the name 'inf' has no value", EINVAL);
    check_sentence("values", EXPAND("${N}", "} os.exit() {"),
                   "template: the values {} os.exit() {}: ", EINVAL);
}

static void template_listed_values_expand(void **state)
{
    (void)state;
    char array[] = "array";
    unsigned char small = 200;
    short negative = -3;
    size_t n = 1 << 20;
    const clvalue_t inner[] = {clvalue(NULL, 5), clvalue(NULL, "six"), clvalue("x y", 7),
                               CLVALUE_END};
    const clvalue_t outer[] = {clvalue("inner", inner), CLVALUE_END};
    const clvalue_t list[] = {clvalue("n", n),
                              clvalue("small", small),
                              clvalue("negative", negative),
                              clvalue("array", array),
                              clvalue("half", 0.5f),
                              clvalue("third", 1.0 / 3),
                              clvalue("yes", (_Bool)1),
                              clvalue("no", (_Bool)0),
                              clvalue("big", UINT64_MAX),
                              clvalue("low", INT64_MIN),
                              clvalue("outer", outer),
                              clvalue("c", (char)65),
                              clvalue("odd", "a\"b\\c\n'}]]%d\x01\xc3\xa9${x}"),
                              clvalue("inf", 1e308 * 10),
                              clvalue("none", (char *)NULL),
                              clvalue("exact", (long)1 << 53),
                              clvalue("inexact", ((long)1 << 53) + 1),
                              CLVALUE_END};
    check_text(LIST("${n} ${small} ${negative} ${array} ${half} ${yes} ${no} ${c}", list),
               "1048576 200 -3 array 0.5 true false 65");
    check_text(LIST("${big} ${low} ${exact} ${inexact}", list),
               "18446744073709551615 -9223372036854775808 9007199254740992 9007199254740993");
    check_text(LIST("${('%.17g'):format(third)} ${inf}", list), "0.33333333333333331 inf");
    check_text(LIST("${odd}", list), "a\"b\\c\n'}]]%d\x01\xc3\xa9${x}");
    check_text(LIST("${outer.inner[1]}${outer.inner[2]}${outer.inner['x y']}${#outer.inner}", list),
               "5six72");
    check_text(LIST("|if not none then\nnone\n|end", list), "none\n");
    check_text(LIST("-", NULL), "-");
    clvalue_t loop[2] = {{0}, CLVALUE_END}, bad[2] = {{.name = "b", .kind = 99}, CLVALUE_END};
    loop[0] = clvalue("loop", loop);
    check_sentence("loop", LIST("-", loop), "template: values nest more than 100 deep", EINVAL);
    check_sentence("bad", LIST("-", bad), "template: the value b was not made by clvalue", EINVAL);
}

static void template_ignores_decimal_comma_locale(void **state)
{
    (void)state;
    char comma[16];
    if (!enter_decimal_commas())
        skip();
    const clvalue_t list[] = {clvalue("x", 2.5), CLVALUE_END};
    snprintf(comma, sizeof comma, "%g", 2.5);
    char *formatted = EXPAND("${x} ${0.25}", "x = %g", 2.5), *listed = LIST("${x}", list);
    bool same = localeconv()->decimal_point[0] == ','; /* the program's own locale is as it was */
    setlocale(LC_ALL, "C");
    assert_string_equal(comma, "2,5");
    assert_true(same);
    check_text(formatted, "2.5 0.25");
    check_text(listed, "2.5");
}

/* ---- The sandbox. ---- */

/* These names have no value inside a template. */
static const char *const absent[] = {
    "io",        "os",        "ffi",          "require",     "package",
    "module",    "debug",     "jit",          "load",        "loadstring",
    "loadfile",  "dofile",    "getfenv",      "setfenv",     "collectgarbage",
    "newproxy",  "pcall",     "xpcall",       "coroutine",   "print",
    "gcinfo",    "_G",        "arg",          "__text1",     "string.dump",
    "('').dump", "math.dump", "string.rep.x", "1LL and ffi", "getmetatable(1LL).__index",
};

static void template_sandbox_hides_functions(void **state)
{
    (void)state;
    char template[200];
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        snprintf(template, sizeof template, "|x = %s\n${x}", absent[i]);
        char *text = cltemplate("k.clt", template, strlen(template), NULL);
        if (text)
            print_error("%s is %s inside a template\n", absent[i], text);
        assert_null(text);
    }
    /* The metatable of strings, through which methods could be replaced, is out of reach. */
    check_text(EXPAND("${getmetatable('')}", NULL), "false");
    check_text(EXPAND("|string.rep = nil\n${('a'):rep(2)}", NULL), "aa");
    check_sentence("set", EXPAND("|setmetatable('', {})", NULL),
                   "template:1: bad argument #1 to 'setmetatable'", ENOEXEC);
    check_text(EXPAND("${type(getmetatable(setmetatable({}, {})))}", NULL), "table");
    /* An expansion leaves no state for the next. */
    check_text(EXPAND("|math.pi, x = 3, 1\n${math.pi}", NULL), "3");
    check_text(EXPAND("|if not x then\n${('%.4f'):format(math.pi)}\n|end", NULL), "3.1416\n");
}

static const struct {
    const char *template, *sentence;
    int code;
} limits[] = {
    {"\n|while true do end", ":2: the template ran for 10^9 instructions; is a loop endless?",
     ENOEXEC},
    {"a\nb\n|while true do\nx\n|end", ":4: the text grows beyond 256 MiB", ENOEXEC},
    {"\n|for i = 1, 10 do\n|  local t = {} while true do t[#t + 1] = #t .. ('x'):rep(999) end\n|end",
     ":3: the template needs more than 1 GiB", ENOMEM},
    {"\n\n|s = 'x' while true do s = s .. s end",
     ":3: a string or table of the template needs more than 128 MiB", ENOMEM},
    {"${('x'):rep(2^30)}", ":1: a string of 1073741824 bytes is longer than 64 MiB", ENOEXEC},
    {"|s = ('x'):rep(2^26) s = s .. s:sub(1, 9)\n${s:find('y')}",
     ":2: a string of 67108873 bytes is longer than 64 MiB", ENOEXEC},
    {"\n|function f() return 1 + f() end\n${f()}", ":2: stack overflow", ENOEXEC},
    {"\n|function f() return 1 + string.gsub('a', 'a', f) end\n|f()", ":2: calls nest too deep",
     ENOEXEC},
    {"\n|function f() table.sort({1, 2, 3}, f) end\n|f()", ":2: calls nest too deep", ENOEXEC},
    {"\n|s = ('a'):rep(5000)\n${s:find(('.-'):rep(20) .. 'b')}", ":3: the pattern '.-.-", ENOEXEC},
    {"${('a'):rep(50):find(('a?'):rep(50) .. ('a'):rep(50))}", ":1: the pattern 'a?a?", ENOEXEC},
};

/* Each limit has its own message, also in a thread with a small stack. */
/* The first of the following takes seconds. */
static bool is_deep;

static void *run_limits(void *failed)
{
    for (size_t i = is_deep ? 0 : 1; i < sizeof limits / sizeof *limits; i++) {
        char begin[200];
        if (!is_deep && !sampled(i, 3))
            continue;
        char *text = cltemplate("k.clt", limits[i].template, strlen(limits[i].template), NULL);
        const char *sentence = text ? "(no error)" : clerror();
        snprintf(begin, sizeof begin, "k.clt%s", limits[i].sentence);
        if (text || clerrno != limits[i].code || strncmp(sentence, begin, strlen(begin)) != 0) {
            print_error("template: %s\nwanted:   %s\ngot:      %s\n", limits[i].template, begin,
                        sentence);
            *(int *)failed += 1;
        }
        free(text);
    }
    return NULL;
}

extern double stdcl_template_seconds; /* template/template.h, whose `fail` is not cmocka's */

/* Each of these calls takes long without executing instructions. */
static const char *const slow[] = {
    "|s = ('x'):rep(6e7)\n|for i = 1, 1e9 do s:find('[y]') end",
    "|s = ('x'):rep(6e7)\n|for i = 1, 1e9 do s:match('y') end",
    "|s = ('x'):rep(6e7)\n|for i = 1, 1e9 do s:gsub('y', '') end",
    "|s = ('x'):rep(6e7)\n|for i = 1, 1e9 do for _ in s:gmatch('y') do end end",
    "|s = ('x'):rep(6e7)\n|for i = 1, 1e9 do s:upper() end",
    "|s = ('x'):rep(6e7)\n|for i = 1, 1e9 do s:reverse() end",
    "|for i = 1, 1e9 do local s = ('x'):rep(6e7 - i) end",
    "|s = ('x'):rep(6e7)\n|for i = 1, 1e9 do local t = ('%s%d'):format(s, i) end",
    "|s = ('x'):rep(6e7)\n|for i = 1, 1e9 do local t = table.concat({s, i}) end",
    "|s = ('x'):rep(6e7)\n|for i = 1, 1e9 do local t = s .. i end",
    "|s, t = ('x'):rep(6e7) .. 1, ('x'):rep(6e7) .. 2\n|for i = 1, 1e9 do local u = s < t end",
    "|s, t, l = ('x'):rep(6e7) .. 1, ('x'):rep(6e7) .. 2, {}\n"
    "|for i = 1, 1e5 do l[i] = i % 2 == 0 and s or t end\n|table.sort(l)",
};

/* The time limit holds where single calls are slow, too. Processor time is compared, which does not
 * depend on how busy the machine is. */
static void template_time_limit_holds_in_slow_calls(void **state)
{
    const double usual = stdcl_template_seconds;
    (void)state;
    stdcl_template_seconds = 0.1;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        if (!is_deep && !sampled(i, 3))
            continue;
        const double start = 1e-9 * (double)ns_of_clock(CLOCK_THREAD_CPUTIME_ID);
        assert_null(cltemplate("k.clt", slow[i], strlen(slow[i]), NULL));
        assert_non_null(strstr(clerror(), ": the template ran for 30 seconds; is a loop endless?"));
        assert_true(1e-9 * (double)ns_of_clock(CLOCK_THREAD_CPUTIME_ID) - start < 20);
    }
    stdcl_template_seconds = usual;
}

static void template_limits_end_expansion(void **state)
{
    (void)state;
    int failed = 0;
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, SMALL_STACK);
    assert_int_equal(pthread_create(&thread, &attributes, run_limits, &failed), 0);
    pthread_join(thread, NULL);
    assert_int_equal(failed, 0);
}

/* Common patterns pass. */
static void template_everyday_patterns_expand(void **state)
{
    (void)state;
    check_text(EXPAND("${(('  a b  '):rep(20):gsub('^%s*(.-)%s*$', '%1'):sub(1, 3))}", NULL),
               "a b");
    check_text(EXPAND("${('float4'):match('^(%a+)(%d*)$')}${('a,b'):find(',', 1, true)}", NULL),
               "float2");
    check_text(EXPAND("|for w in ('x y z'):gmatch('%a') do\n${w}\n|end", NULL), "x\ny\nz\n");
    check_text(EXPAND("${#(('ab '):rep(10000):gsub('%s+', ' '))}", NULL), "30000");
}

/* ---- Large and broken inputs: an answer or an error, soon. ---- */

static char *repeated(const char *unit, size_t *size)
{
    size_t n = strlen(unit);
    char *text = malloc(LARGE + n);
    assert_non_null(text);
    for (*size = 0; *size < LARGE; *size += n)
        memcpy(text + *size, unit, n);
    return text;
}

static void template_large_input_is_handled(void **state)
{
    (void)state;
    static const struct {
        const char *unit;
        bool expands;
    } large[] = {
        {"x", true},     {" ", true},     {"\n", true},       {"    x = y;\n", true},
        {"$", true},     {"|", false},    {"{", true},        {"${", false},
        {"${{", false},  {"${[", false},  {"${[=", false},    {"${'", false},
        {"${--", false}, {"|\n", true},   {"|x = 1\n", true}, {"\t|x = 1\ntext\n", true},
        {"${N}", true},  {"|[[", false},  {"|--[[\n", false}, {"|for i = 1, 1 do\n", false},
        {"${(", false},  {"|'\n", false}, {"${N", false},     {"/* \" ' \\\n", true},
        {"#if\n", true},
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        size_t size;
        struct timespec from, to;
        if (!is_deep && !sampled(i, 3))
            continue;
        char *template = repeated(large[i].unit, &size);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        char *text = cltemplate("large.clt", template, size, "N = 1");
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        double seconds =
            (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
        const char *sentence = text ? NULL : clerror();
        if ((text != NULL) != large[i].expands || seconds > 20 || getenv("VERBOSE"))
            print_message("much of %s: %.2f s, %s\n", large[i].unit, seconds,
                          text ? "expands" : sentence);
        assert_true((text != NULL) == large[i].expands);
        assert_true(text || (sentence && strncmp(sentence, "large.clt:", 10) == 0));
        assert_true(seconds < 20);
        if (text && !strpbrk(large[i].unit, "|$#"))
            assert_true(strstr(text, "\n") && memcmp(strchr(text, '\n') + 1, template, size) == 0);
        free(text);
        free(template);
    }
}

/* 40000 expressions with distinct names: more constants than one Lua function can have. */
static void template_many_names_expand(void **state)
{
    (void)state;
    char *template = NULL, *text;
    size_t size;
    FILE *fp = open_memstream(&template, &size);
    for (int i = 0; i < 100000; i++)
        fprintf(fp, "%s${t[%d]}\n", i % 1000 == 0 ? "|local _ = 1\n" : "", i % 30000 + 1);
    fclose(fp);
    text = cltemplate(NULL, template, size,
                      "t = setmetatable({}, {__index = function(t, i) return i end})");
    ready(text);
    const char *p = text;
    for (int i = 0; i < 100000; i++, p = strchr(p, '\n') + 1)
        assert_int_equal(atoi(p), i % 30000 + 1);
    assert_int_equal(*p, '\0');
    free(text);
    free(template);
}

/* ---- Threads. ---- */

enum { THREADS = 4, ROUNDS = 100 };

static void *expand_often(void *number)
{
    const char *template = "|for i = 1, N do\n${i}${id}\n|end\n${missing}";
    int id = *(int *)number, good = 0;
    for (int i = 0; i < ROUNDS; i++) {
        char name[20], wanted[40];
        snprintf(name, sizeof name, "t%d.clt", id);
        snprintf(wanted, sizeof wanted, "1%d\n2%d\n", id, id);
        char *text = cltemplate(NULL, template, strlen(template) - 10, "N = 2, id = %d", id);
        good += text && strcmp(text, wanted) == 0;
        free(text);
        snprintf(wanted, sizeof wanted, "t%d.clt:4: the name", id);
        text = cltemplate(name, template, strlen(template), "N = 2, id = %d", id);
        const char *sentence = text ? "" : clerror();
        good += strncmp(sentence, wanted, strlen(wanted)) == 0;
        free(text);
    }
    *(int *)number = good;
    return NULL;
}

static void template_threads_expand_at_once(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    int number[THREADS];
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, expand_often, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(number[i], 2 * ROUNDS);
}

/* test_template [deep] */
int main(int argc, char **argv)
{
    is_deep = argc > 1 && strcmp(argv[1], "deep") == 0;
    struct CMUnitTest tests[] = {
        cmocka_unit_test(template_grammar_expands),
        cmocka_unit_test(template_errors_name_line),
        cmocka_unit_test(template_error_keeps_long_name),
        cmocka_unit_test(template_lines_are_mapped),
        cmocka_unit_test(template_formatted_values_expand),
        cmocka_unit_test(template_listed_values_expand),
        cmocka_unit_test(template_ignores_decimal_comma_locale),
        cmocka_unit_test(template_sandbox_hides_functions),
        cmocka_unit_test(template_everyday_patterns_expand),
        cmocka_unit_test(template_threads_expand_at_once),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(template_limits_end_expansion),
        cmocka_unit_test(template_time_limit_holds_in_slow_calls),
        cmocka_unit_test(template_large_input_is_handled),
        cmocka_unit_test(template_many_names_expand),
    };
    return sampled_run("templates", tests, 10, 3, NULL, NULL);
}

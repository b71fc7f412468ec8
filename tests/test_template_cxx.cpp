/* test_template_cxx.cpp - values of templates in C++, where clvalue is overloaded. */
// SPDX-License-Identifier: MIT
#include <stdcl.h>

#include <climits>
#include <cstdio>
#include <string>

static int failed;

static void check_template_value(char *text, const std::string &wanted)
{
    if (!text || wanted != text) {
        std::printf("wanted: %s\ngot:    %s\n", wanted.c_str(), text ? text : clerror());
        failed++;
    }
    std::free(text);
}

int main()
{
    const std::string text = "${i} ${u} ${s} ${b} ${d} ${f} ${c} ${big} ${low} ${t[1]}${t[2]} ${n}";
    const std::size_t n = 12;
    const std::string s = "a\"b";
    const clvalue_t inner[] = {clvalue(NULL, 1), clvalue(NULL, "two"), CLVALUE_END};
    const clvalue_t list[] = {clvalue("i", -3),          clvalue("u", 4u),
                              clvalue("s", s.c_str()),   clvalue("b", true),
                              clvalue("d", 0.5),         clvalue("f", 0.25f),
                              clvalue("c", 'A'),         clvalue("big", ULLONG_MAX),
                              clvalue("low", LLONG_MIN), clvalue("t", inner),
                              clvalue("n", n),           CLVALUE_END};
    check_template_value(
        cltemplatev(NULL, text.data(), text.size(), list),
        "-3 4 a\"b true 0.5 0.25 65 18446744073709551615 -9223372036854775808 1two 12");
    check_template_value(cltemplate(NULL, text.data(), 4, "i = %d", 7), "7");
    return failed != 0;
}

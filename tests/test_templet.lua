-- test_templet.lua - `require "templet"` from plain luajit: promises of the module beyond those
-- that test_template.c tests. Run as `luajit test_templet.lua`, with lua/?.lua in LUA_PATH.
-- SPDX-License-Identifier: MIT
local templet = require "templet"

local count = 0
local function check(got, wanted, what)
    count = count + 1
    if got ~= wanted then
        error(("%s\nwanted: %s\ngot:    %s"):format(what or "", tostring(wanted), tostring(got)), 2)
    end
end

local function check_error(wanted, f, ...)
    local ok, message = pcall(f, ...)
    check(not ok and message:sub(1, #wanted), wanted, ok and "no error" or message)
end

local function expand(text, env)
    return templet.loadstring(text)(env)
end

-- The kernel of the user's guide.
local sum = templet.loadstring[[
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void sum(__global const double3 *restrict d_v, __global double *restrict d_en)
{
  const long gid = get_global_id(0);
  const long lid = get_local_id(0);
  const long wid = get_group_id(0);
  __local double l_en[${work_size}];
  double en = 0;
  for (long i = gid; i < ${N}; i += ${num_groups*work_size}) {
    en += dot(d_v[i], d_v[i]);
  }
  l_en[lid] = en;
  barrier(CLK_LOCAL_MEM_FENCE);
  |local i = work_size
  |while i > 1 do
  |  i = i / 2
  if (lid < ${i}) l_en[lid] += l_en[lid + ${i}];
  barrier(CLK_LOCAL_MEM_FENCE);
  |end
  if (lid == 0) d_en[wid] = l_en[0];
}
]]
local text = sum{N = 1000000, work_size = 128, num_groups = 512}
check(text:match("l_en%[(%d+)%]"), "128")
check(text:match("i < (%d+); i %+= (%d+)"), "1000000")
check(text:match("i %+= (%d+)"), "65536")
check(select(2, text:gsub("barrier", "")), 8)
for i = 0, 6 do
    check(text:find(("  if (lid < %d) l_en[lid] += l_en[lid + %d];\n"):format(2^i, 2^i), 1, true) ~= nil, true)
end
check(text:find("|", 1, true), nil)
check(text:find("#line", 1, true), nil)

-- Without strictness nil is no text, in any form.
check(expand("a${x}b${nil}c${t.x}", {t = {}}), "abc")
check(expand("|if x then\na\n|else\nb\n|end", {}), "b\n")
check_error("template:2: attempt to index global 't' (a nil value)", expand, "\n${t.x}", {})

-- The environment is the whole scope, or _G if there is none.
shared = "global"
check(expand("${shared}"), "global")
check(expand("${shared} ${print}", {}), " ")
check(expand("${_VERSION}"), _VERSION)
local env = {n = 1}
check(expand("|n = n + 1\n${n}", env), "2")
check(env.n, 2)
check(expand("${x} ${y}", setmetatable({}, {__index = function(_, name) return name:upper() end})), "X Y")
check(expand("|local shared = 1\n${shared}"), "1")
check(shared, "global")

-- One template, several environments, also interleaved.
local both = templet.loadstring "<${name}|${inner and inner()}>"
check(both{name = "a", inner = function() return both{name = "b"} end}, "<a|<b|>>")
local get
local keeper = templet.loadstring "|function get() return name end\n${name}"
local first, second = {name = "first"}, {name = "second"}
check(keeper(first) .. keeper(second), "firstsecond")
check(first.get() .. second.get(), "firstsecond")

-- With f: pieces in order, and nothing returned.
local pieces = {}
local function keep(...)
    pieces[#pieces + 1] = (...)
    pieces.last = {...}
end
check(select("#", templet.loadstring "a\n|for i = 1, 2 do\nb${i}\n|end\nc"({}, keep)), 0)
check(table.concat(pieces), "a\nb1\nb2\nc")
check(pieces.last[2], 5, "the line of the last piece")
check(pieces.last[3], false)
check(select("#", templet.loadstring ""({}, keep)), 0)
check(templet.loadstring ""(), "")

-- Numbers and other values.
check(expand("${128/2} ${2^53} ${1e100} ${0.1} ${-0.5}"), "64 9007199254740992 1e+100 0.1 -0.5")
check(expand("${1LL} ${2^63} ${0xFFFFFFFFFFFFFFFFULL}"), "1 9223372036854775808 18446744073709551615")
check(expand("${1/0} ${-1/0}"), "inf -inf")
check(expand("${true}${false}${'s'}${setmetatable({}, {__tostring = function() return 't' end})}"), "truefalsest")
check(expand("${select('#', 1, 2)}${select(2, 1, 2, 3)}"), "22", "an expression has one value")

-- The traps.
check(expand("${'}'} ${'{'} ${\"\\\"}\"} ${[[}]]}"), "} { \"} }")
check(expand("if (a ||\r\n    b)\r\n|-- x\r\nc\r\n"), "if (a ||\r\n    b)\r\nc\r\n")
check_error("template:2: a line that begins with ||", templet.loadstring, "if (a\n  || b)")
check(expand("if (a\n  ${'||'} b)"), "if (a\n  || b)")

-- Names and lines in messages; a name of ours, or the file's.
check_error("k.clt:2: ${1 +}: unexpected symbol", templet.loadstring, "\n${1 +}", "k.clt")
check_error("k.clt:3: '<eof>' expected near 'end'", templet.loadstring, "|if x then\n|end\n|end", "k.clt")
check_error("k.clt:3: mine", templet.loadstring("a\n|for i = 1, 3 do\n|if i == 2 then error('mine') end\n|end", "k.clt"))
local object = {}
check(select(2, pcall(templet.loadstring "|error(object)", {object = object, error = error})), object)

-- Strict, as from C.
local function strict(text, scope)
    return templet.loadstring(text, "k.clt", true)(scope or {})
end
check(strict("|if x then\n|end\n${y}", {y = 1}), "1")
check_error("k.clt:2: the name 'x' has no value", strict, "\n${x}")
check_error("k.clt:2: ${t.x} is nil", strict, "\n${t.x}", {t = {}})
check(strict("|y = 1\n${y}", {}), "1")
check_error("k.clt:1: 'for' limit must be a number (the name 'n' has no value)", strict, "|for i = 1, n do\n|end")

-- Files.
local name = os.tmpname()
local function write(bytes)
    local fp = assert(io.open(name, "wb"))
    fp:write(bytes)
    fp:close()
end
write("|for i = 1, n do\r\n${i}\r\n|end\r\nbytes \0\1\255")
check(templet.loadfile(name)({n = 2}), "1\r\n2\r\nbytes \0\1\255")
write("\n${x.y}")
check_error(name .. ":2: attempt to index global 'x'", templet.loadfile(name), {})
check_error(name .. ":2: the name 'x' has no value", templet.loadfile(name, true), {})
check_error(name .. ".missing: ", templet.loadfile, name .. ".missing")
check_error("/: ", templet.loadfile, "/")
os.remove(name)

-- It leaves no globals behind.
for key in pairs(_G) do
    check(key == "__text" or key == "__value" or key == "templet", false, key)
end

print(count .. " checks passed")

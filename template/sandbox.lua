-- sandbox.lua - the environment of a template that C expands; template.c runs this once a state.
--
-- Called with the module `templet` and look(), which ends a template that is out of time; returns
-- prepare(values), which makes the scope, and expand(text, name, strict, scope, put). The Lua state
-- is thrown away after one template, so its libraries are changed in place: methods of strings,
-- ("x"):rep(3), find them there. Instructions and memory are counted by template_lua.c; here are the
-- calls that could run long without executing instructions or allocating.
-- SPDX-License-Identifier: MIT

local templet, look = ...
local byte, format, gsub, rep, sort = string.byte, string.format, string.gsub, string.rep, table.sort

-- Nothing of base that loads code, changes environments, stops the collector, catches the end of the
-- budget, or prints.
local BASE = {
    "assert", "error", "getmetatable", "ipairs", "next", "pairs", "rawequal", "rawget", "rawset",
    "select", "setmetatable", "tonumber", "tostring", "type", "unpack",
}

string.dump = nil
getmetatable("").__metatable = false -- the methods of strings are not a template's to change

-- ---- Strings: C loops over all of their bytes. ----

local MOST_BYTES = 2 ^ 26
local STEPS_A_LOOK = 1e6 -- some milliseconds

-- Refuse a string that is too long; `level` is that of error().
local function check_bytes(bytes, level)
    if bytes > MOST_BYTES then
        error(format("a string of %.0f bytes is longer than 64 MiB", bytes), level + 1)
    end
end

local spent = 0

-- Look at the clock now and then: `steps` more are about to be done in C.
local function spend(steps)
    spent = spent + steps
    if spent > STEPS_A_LOOK then
        spent = 0
        look()
    end
end

local function sized(f)
    return function(subject, ...)
        local length = #tostring(subject)
        check_bytes(length, 2)
        spend(length)
        return f(subject, ...)
    end
end

for _, name in pairs{"format", "lower", "reverse", "upper"} do
    string[name] = sized(string[name])
end

string.rep = function(subject, n, ...)
    local length = #tostring(subject) + #tostring(... or "")
    if type(n) == "number" and n > 0 then
        check_bytes(length * n, 2)
        spend(length * n)
    end
    return rep(subject, n, ...)
end

-- By a Lua function, so that comparisons count as instructions: those of long strings take long.
local function less(a, b)
    return a < b
end

table.sort = function(list, before)
    return sort(list, before or less)
end

-- ---- Patterns: matching backtracks, a C loop that may take years. ----

local MOST_STEPS = 2e9 -- some seconds

-- An upper bound of the steps to match: the ways to place the start and the end of each repetition.
local function steps(length, pattern)
    local bare = gsub(pattern, "%%[b1-9]", "*") -- each costs the same steps as a repetition
    bare = gsub(bare, "%%.", "a")
    local _, repetitions = gsub(bare, "[*+-]", "")
    local _, options = gsub(bare, "?", "")
    local ways = 2 ^ options
    for i = 1, repetitions + (byte(bare) == 94 and 0 or 1) do
        ways = ways * (length + i) / i
    end
    return ways
end

local function bounded(f)
    return function(subject, pattern, ...)
        local length = #tostring(subject)
        check_bytes(length, 2)
        if type(pattern) == "string" then
            check_bytes(#pattern, 2)
            local most = steps(length, pattern)
            if most > MOST_STEPS then
                error(format("the pattern '%s' could take too long on a string of %d characters",
                             pattern, length), 2)
            end
            spend(most + #pattern)
        end
        return f(subject, pattern, ...)
    end
end

for _, name in pairs{"find", "gfind", "gmatch", "gsub", "match"} do
    string[name] = string[name] and bounded(string[name])
end

-- ---- The scope. ----

local function copy(from, into)
    for key, value in pairs(from) do
        into[key] = value
    end
    return into
end

local function base()
    local scope = {}
    for _, name in pairs(BASE) do
        scope[name] = _G[name]
    end
    for _, name in pairs{"bit", "math", "string", "table"} do
        scope[name] = copy(_G[name], {})
    end
    return scope
end

local function no_value(_, name)
    error("the name '" .. tostring(name) .. "' has no value", 2)
end

-- The scope of a template with these values, the text inside a table constructor.
local function prepare(values)
    local scope = base()
    local chunk, message = loadstring("return {" .. values .. "\n}", "=values")
    if not chunk then
        error(message, 0)
    end
    local given = setfenv(chunk, setmetatable(base(), {__index = no_value}))()
    return copy(given, scope)
end

local function expand(text, name, strict, scope, put)
    templet.loadstring(text, name, strict)(scope, put)
end

return prepare, expand

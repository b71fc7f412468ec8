-- templet.lua - text with Lua in it: ${expression}, and lines that begin with | are statements.
--
--   local templet = require "templet"
--   local kernel = templet.loadfile("sum.clt")     a function([env [, f]])
--   print(kernel{N = 4})                           its text, with env as the whole scope
--
-- A template becomes one Lua function with every line at the template's line number, so that Lua's messages carry
-- the template's lines. libstdcl embeds this file and runs it in template/template.c: there is one grammar,
-- docs/templates.md.
-- SPDX-License-Identifier: MIT

local byte, find, format, gsub = string.byte, string.find, string.format, string.gsub
local match, sub, concat = string.match, string.sub, table.concat
local error, load, loadstring, setfenv, setmetatable = error, load, loadstring, setfenv, setmetatable
local tonumber, tostring, type, xpcall = tonumber, tostring, type, xpcall
local getinfo, huge, min = debug.getinfo, math.huge, math.min

local SELF = getinfo(1, "S").short_src .. ":" -- prefix of messages about this file

local M = {}

-- ---- Ends of Lua's strings and comments. ----

-- The position after the quoted string that starts at `at`; nil if it is not closed.
local function skip_quoted(s, at, quote)
    local special = "[\\\n" .. quote .. "]"
    while true do
        at = find(s, special, at)
        local c = at and sub(s, at, at)
        if c == quote then
            return at + 1
        elseif c ~= "\\" then
            return nil
        elseif byte(s, at + 1) == 122 then -- \z skips white space
            at = find(s, "%S", at + 2) or #s + 1
        else
            at = at + (sub(s, at + 1, at + 2) == "\r\n" and 3 or 2)
        end
    end
end

-- The position after the string or comment that begins at `at`, or after one character if none does. If it is not
-- closed: nil, and whether it is a long one.
local function skip(s, at)
    local c = sub(s, at, at)
    if c == "'" or c == '"' then
        return skip_quoted(s, at + 1, c)
    end
    local comment = sub(s, at, at + 1) == "--"
    local level = match(s, "^%[(=*)%[", comment and at + 2 or at)
    if level then
        local _, last = find(s, "]" .. level .. "]", at, true)
        return last and last + 1, true
    end
    return comment and (find(s, "\n", at, true) or #s) + 1 or at + 1
end

-- The position of the brace that closes the expression at `at`; nil if none does.
local function closing_brace(s, at)
    local depth = 1
    repeat
        at = find(s, "[{}'\"%[%-]", at)
        local c = at and byte(s, at)
        if c == 123 then
            depth, at = depth + 1, at + 1
        elseif c == 125 then
            depth, at = depth - 1, at + 1
        elseif c then
            at = skip(s, at)
        end
    until not at or depth == 0
    return at and at - 1
end

-- The position of a long string or comment left open by these statements, or nil.
local function left_open(s)
    local at, after, long = 1, nil, nil
    repeat
        at = find(s, "['\"%[%-]", at)
        if at then
            after, long = skip(s, at)
            if not after then
                return long and at or nil -- Lua itself reports a short string
            end
            at = after
        end
    until not at
    return nil
end

-- ---- From a template to Lua. ----

local function newlines(s)
    return (gsub(s, "[^\n]+", ""))
end

-- Carriage returns are white space here, but Lua would count them as line ends.
local function plain(code)
    return find(code, "\r", 1, true) and (gsub(gsub(code, "\r\n", "\n"), "\r", " ")) or code
end

-- The start of an expression, for messages.
local function excerpt(source)
    local short = gsub(source, "%s+", " ")
    return "${" .. (#short > 60 and sub(short, 1, 57) .. "..." or short) .. "}"
end

local function fault(template, line, message)
    return error(template.name .. ":" .. line .. ": " .. message, 0)
end

-- Number an item and write its number as two small literals: a Lua function may have 65536 constants, but any number
-- of small literals.
local function enter(template, item, line)
    local n = template.count + 1
    template.count, template.items[n], template.lines[n] = n, item, line
    return (n - n % 32768) / 32768 .. "," .. n % 32768
end

-- Append to the Lua code. Blocks are joined so that a large template needs no large table.
local function emit(template, code)
    local n = template.pending + 1
    template.parts[n] = code
    if n == 4096 then
        template.blocks[#template.blocks + 1] = concat(template.parts)
        n = 0
    end
    template.pending = n
end

local function emit_text(template, text)
    local ends = newlines(text)
    emit(template, "if __text(" .. enter(template, text, template.line) .. ")then end " .. ends)
    template.line = template.line + #ends
end

-- Reject text that is not an expression by itself: it could close the call written around it.
local function check_expression(template, source)
    if not find(source, "%S") then
        fault(template, template.line, "${} holds no expression")
    end
    local chunk, message = loadstring("return (" .. source .. ")", "=?")
    if not chunk then
        local line, text = match(message, "^%?:(%d+): (.*)$")
        local before = template.line - 1
        text = gsub(text or message, "(%(to close '.-' at line )(%d+)", function(words, n)
            return words .. n + before
        end)
        fault(template, before + (tonumber(line) or 1), excerpt(source) .. ": " .. text)
    end
    template.checked[source] = true
end

local function emit_expression(template, source)
    source = plain(source)
    if not template.checked[source] then
        check_expression(template, source)
    end
    local number = enter(template, source, template.line)
    emit(template, "if __value(" .. number .. ",(" .. source .. "))then end ")
    template.line = template.line + #newlines(source)
end

-- Take the statement lines that begin at pos; return the position after them.
local function take_statements(template, pos)
    local text, first, run = template.text, template.line, {}
    local _, bar = find(text, "^[ \t]*|", pos)
    while bar do
        if byte(text, bar + 1) == 124 then
            fault(template, template.line, "a line that begins with || reads as a Lua statement; end the "
                  .. "line above with it, or write ${'||'}")
        end
        local stop = find(text, "\n", bar, true) or #text + 1
        run[#run + 1] = plain(sub(text, bar + 1, stop - 1) .. "\n")
        template.statement[template.line] = true
        template.line = template.line + 1
        pos = stop + 1
        _, bar = find(text, "^[ \t]*|", pos)
    end
    local code = concat(run)
    local open = left_open(code)
    if open then
        fault(template, first + #newlines(sub(code, 1, open)),
              "this long string or comment does not end with the statement lines")
    end
    emit(template, code)
    return pos
end

-- The position of the next line that is a statement.
local function next_statement(text, pos)
    return (find(text, "\n[ \t]*|", pos) or huge) + 1
end

-- Translate template.text. Each `find` scans the text once: the next statement and the next expression are searched
-- only after the last one found has been passed.
local function translate(template)
    local text = template.text
    local pos = find(text, "^\239\187\191") and 4 or 1 -- after a byte order mark
    local statement = find(text, "^[ \t]*|", pos) and pos or next_statement(text, pos)
    local expression = find(text, "${", pos, true) or huge
    while pos <= #text do
        local stop = min(statement, expression, #text + 1)
        if stop > pos then
            emit_text(template, sub(text, pos, stop - 1))
            pos = stop
        elseif stop == statement then
            pos = take_statements(template, pos)
        else
            local brace = closing_brace(text, pos + 2)
            if not brace then
                fault(template, template.line, "this ${ is not closed by a } outside of strings")
            end
            emit_expression(template, sub(text, pos + 2, brace - 1))
            pos = brace + 1
        end
        if statement < pos then
            statement = next_statement(text, pos)
        end
        if expression < pos then
            expression = find(text, "${", pos, true) or huge
        end
    end
    if template.pending > 0 then
        template.blocks[#template.blocks + 1] = concat(template.parts, "", 1, template.pending)
    end
end

-- ---- From Lua to a function. ----

-- Report Lua's error in the code. The code of text and expressions begins with `if`; a syntax error there belongs to
-- the statement before.
local function misspelt(template, message)
    local line, text = match(message, "^%?:(%d+): (.*)$")
    line = tonumber(line) or 1
    if not template.statement[line] and find(text or "", "near 'if'$") then
        text = gsub(text, "near 'if'$", "before the text of line " .. line)
        repeat
            line = line - 1
        until line < 2 or template.statement[line]
    end
    fault(template, line, text or message)
end

-- Lua code for `load`, piece by piece: one string would exist in several copies.
local function reader(template, before, after)
    local i, blocks = -1, template.blocks
    return function()
        i = i + 1
        return i == 0 and before or blocks[i] or i == #blocks + 1 and after or nil
    end
end

-- Create template.factory, which creates the function of a run with its own environment. The code is compiled twice:
-- as the user sees it, and inside a function, where a stray `end` would go unnoticed.
local function compile(template)
    local main, message = load(reader(template, "local __text,__value=...;", ""), "=?")
    if not main then
        misspelt(template, message)
    end
    template.factory, message = load(reader(template, "return function(...)local __text,__value=...;", "\nend"),
                                     "@" .. template.name)
    if not template.factory then
        misspelt(template, (gsub(message, "^.-(:%d+: )", "?%1", 1)))
    end
end

-- ---- Running. ----

-- A value as text. Integers of any kind keep all their digits; tostring would switch to exponents.
local function show(value)
    local kind = type(value)
    if kind == "string" then
        return value
    elseif kind == "number" and value % 1 == 0 and value < 2^64 and value > -2^64 then
        return format("%.0f", value)
    end
    local text = tostring(value)
    return kind == "cdata" and match(text, "^(-?%d+)U?LL$") or text
end

-- The running line of the template, seen from `level` of the caller; nil if none runs.
local function running_line(template, level)
    local source = "@" .. template.name
    for i = level + 1, level + 40 do
        local at = getinfo(i, "Sl")
        if not at or at.source == source then
            return at and at.currentline
        end
    end
end

-- The scope of a strict run: `env`, where an expression must not use an undefined name. A statement may, for
-- `|if DEBUG then`; `unknown` keeps the last such name in case its line fails.
local function strict_scope(template, env, unknown)
    return setmetatable({}, {__newindex = env, __index = function(_, name)
        local value = env[name]
        local line = value == nil and running_line(template, 2)
        if line and not template.statement[line] then
            fault(template, line, "the name '" .. tostring(name) .. "' has no value")
        elseif line then
            unknown.line, unknown.name = line, name
        end
        return value
    end})
end

-- The error of a strict run, prefixed by the template's name and line.
local function explain(template, message, line, unknown)
    if type(message) ~= "string" then
        message = "the error is a " .. type(message)
    elseif sub(message, 1, #SELF) == SELF then
        message = match(message, " (.*)$") -- a stack overflow may appear here first
    end
    if sub(message, 1, #template.name + 1) ~= template.name .. ":" then
        message = template.name .. ":" .. (line and line .. ": " or " ") .. message
    end
    if unknown.line and find(message, ":" .. unknown.line .. ": ", 1, true) then
        message = message .. " (the name '" .. tostring(unknown.name) .. "' has no value)"
    end
    return message
end

-- Run a template and call put(text, line, is_value) for each piece.
local function run(template, env, put)
    local items, lines = template.items, template.lines
    local function text(high, low)
        local n = high * 32768 + low
        put(items[n], lines[n], false)
    end
    local function value(high, low, v)
        local n = high * 32768 + low
        if v ~= nil then
            put(show(v), lines[n], true)
        elseif template.strict then
            fault(template, lines[n], excerpt(items[n]) .. " is nil")
        end
    end
    if not template.strict then
        setfenv(template.factory, env)()(text, value)
        return
    end
    local unknown = {}
    local main = setfenv(template.factory, strict_scope(template, env, unknown))()
    local line
    local ok, message = xpcall(function() main(text, value) end, function(m)
        line = running_line(template, 1) -- nothing more: after a stack overflow little stack is left
        return m
    end)
    if not ok then
        error(explain(template, message, line, unknown), 0)
    end
end

-- Compile a template; raises errors. `name` is its name in messages. In a strict template an undefined name or nil in
-- ${} is an error; otherwise it yields no text.
-- Returns function([env [, f]]): the text with `env` (default _G) as the whole scope; or, with f, calls
-- f(text, line, is_value) for each piece and returns nothing.
function M.loadstring(text, name, strict)
    local template = {
        text = text, name = name or "template", strict = strict, line = 1,
        parts = {}, pending = 0, blocks = {},    -- the Lua code so far
        items = {}, lines = {}, count = 0,       -- texts and expressions, with their first lines
        statement = {}, checked = {},            -- sets: lines that are statements, good expressions
    }
    translate(template)
    compile(template)
    template.text, template.parts, template.blocks, template.checked = nil, nil, nil, nil
    return function(env, f)
        if f then
            run(template, env or _G, f)
            return
        end
        local pieces, n = {}, 0
        run(template, env or _G, function(piece)
            n = n + 1
            pieces[n] = piece
        end)
        return concat(pieces)
    end
end

-- loadstring for a file.
function M.loadfile(file, strict)
    local fp, message = io.open(file, "rb")
    if not fp then
        error(message, 0)
    end
    local text
    text, message = fp:read("*a")
    fp:close()
    if not text then
        error(file .. ": " .. message, 0)
    end
    return M.loadstring(text, file, strict)
end

return M

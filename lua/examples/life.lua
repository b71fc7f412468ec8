-- life.lua - Conway's Game of Life on a torus, drawn as text.
--
--   stdcl run life.lua                 the R-pentomino after 40 generations on 72 x 24 cells
--   stdcl run life.lua 200 100 50      generations, width, height
-- SPDX-License-Identifier: MIT

local stdcl = require "stdcl"

local generations, width, height = tonumber(arg[1] or 40), tonumber(arg[2] or 72), tonumber(arg[3] or 24)
assert(generations and generations >= 0, "the number of generations is 0 or more")
assert(width and height and width >= 3 and height >= 3, "width and height are numbers, 3 at least")

local k = stdcl.open([[
kernel void life(global const uchar *now, global uchar *next)
{
    const int x = get_global_id(0), y = get_global_id(1);
    int neighbours = 0;
    |for dy = -1, 1 do
    |  for dx = -1, 1 do
    |    if dx ~= 0 or dy ~= 0 then
    neighbours += now[(y + ${height + dy}) % ${height} * ${width} + (x + ${width + dx}) % ${width}];
    |    end
    |  end
    |end
    const int i = y * ${width} + x;
    next[i] = neighbours == 3 || (neighbours == 2 && now[i]);
}]], {width = width, height = height})

local now, next_ = stdcl.malloc("uint8_t", width * height), stdcl.malloc("uint8_t", width * height)
local pattern = {".OO", "OO.", ".O."}
for y, row in ipairs(pattern) do
  for x = 1, #row do
    local at = (math.floor(height / 2) + y - 2) * width + math.floor(width / 2) + x - 2
    now[at] = row:sub(x, x) == "O" and 1 or 0
  end
end

stdcl.sync(now, "device")
for _ = 1, generations do
  k.life({width, height}, nil, now, next_)
  now, next_ = next_, now
end
stdcl.wait()
stdcl.sync(now, "host")

local population, lines = 0, {}
for y = 0, height - 1 do
  local row = {}
  for x = 0, width - 1 do
    local alive = now[y * width + x] == 1
    population = population + (alive and 1 or 0)
    row[x + 1] = alive and "O" or "."
  end
  lines[y + 1] = table.concat(row)
end
print(table.concat(lines, "\n"))
print(("generation %d, population %d"):format(generations, population))

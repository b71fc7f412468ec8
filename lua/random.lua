-- random.lua - normal variates from Lua's own generator.
--
-- SPDX-License-Identifier: MIT

local log, sqrt, uniform = math.log, math.sqrt, math.random

local random = {}

-- Two independent standard normal variates, by the polar method of Marsaglia and Bray (1964, SIAM Review 6,
-- 260): a uniform point in the unit disk, scaled. math.randomseed(seed) makes the sequence repeatable.
function random.normal()
  local x, y, square
  repeat
    x, y = 2 * uniform() - 1, 2 * uniform() - 1
    square = x * x + y * y
  until square < 1 and square > 0
  local stretch = sqrt(-2 * log(square) / square)
  return x * stretch, y * stretch
end

return random

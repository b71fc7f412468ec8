-- same.lua - see same.c.
-- SPDX-License-Identifier: MIT
local ffi = require "ffi"
local stdcl = require "stdcl"

local function print_bits(array, n, integers, digits)
  local bits = ffi.cast(integers .. " *", array)
  for i = 0, n - 1 do
    print(bit.tohex(bits[i], digits))
  end
end

local x, y = stdcl.malloc("float", 1000), stdcl.malloc("float", 1000)
for i = 0, 999 do
  x[i], y[i] = 1 / (i + 1), i
end
stdcl.sync(x, "device")
stdcl.sync(y, "device")
stdcl.open(arg[1]).saxpy(1000, nil, 0.1, x, y)
stdcl.wait()
stdcl.sync(y, "host")
print_bits(y, 1000, "uint32_t", 8)

local C = stdcl.engine "nbody"
local mass, pos, vel = ffi.new("double[100]"), ffi.new("double[100][3]"), ffi.new("double[100][3]")
stdcl.check(C.nbody_initial(C.NBODY_PLUMMER, 100, 1, mass, pos, vel))
local options = ffi.new("struct nbody_options", {eps = 0.05, dt = 1 / 64})
local run = ffi.gc(stdcl.check(C.nbody_create(options, 100, mass, pos, vel)), C.nbody_free)
stdcl.check(C.nbody_step(run, 10))
stdcl.check(C.nbody_state(run, pos, vel))
print_bits(pos, 300, "uint64_t", 16)
print_bits(vel, 300, "uint64_t", 16)

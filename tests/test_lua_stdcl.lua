-- test_lua_stdcl.lua - `require "stdcl"`: memory, programs, kernels as functions, profiles, errors.
-- Run by `stdcl run`, and by luajit with STDCL_LIBRARY.
-- SPDX-License-Identifier: MIT
package.path = arg[0]:match "^(.-)[^/]*$" .. "?.lua;" .. package.path
local check = require "test_lua_check"
local cl, ffi = require "opencl", require "ffi"
local test, equal, raises = check.test, check.equal, check.raises

check.first_device() -- or there is nothing to test
local stdcl = require "stdcl"

-- The content of an array on the device, after all pending commands.
local function host(x)
  stdcl.wait()
  stdcl.sync(x, "host")
  return x
end

local k = stdcl.open [[
typedef struct { int a; float b[2]; } pair;
kernel void scale(global float *x, float f) { x[get_global_id(0)] *= f; }
kernel void integers(global long *x, char a, uchar b, short c, ushort d, int e, uint f, long g, ulong h)
{ x[0] = a; x[1] = b; x[2] = c; x[3] = d; x[4] = e; x[5] = f; x[6] = g; x[7] = h; }
kernel void vectors(global float *x, float4 v, int2 w, uchar16 u)
{ x[0] = v.w; x[1] = w.y; x[2] = u.sf; x[3] = v.x; }
kernel void own(global float *x, pair p) { x[0] = p.a; x[1] = p.b[1]; }
kernel void turned(global int *x, local int *l)
{
    const int n = get_local_size(0), i = get_local_id(0);
    l[i] = get_global_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = l[n - 1 - i];
}
kernel void plane(global int *x)
{ x[(get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0)] = get_local_size(1); }
kernel void nothing() { }
]]

test("memory", function()
  local x = stdcl.malloc("double", 100)
  equal(ffi.sizeof(x), 800)
  for i = 0, 99 do equal(x[i], 0) end
  equal(ffi.sizeof(stdcl.malloc "cl_float4"), 16)
  equal(ffi.sizeof(stdcl.malloc(ffi.typeof "struct { int a; double b; }", 3)), 48)
  stdcl.free(x)
  raises("'-1' is not a number of elements", stdcl.malloc, "int", -1)
  raises("neither \"zerocopy\", \"device_only\" nor \"svm\"", stdcl.malloc, "int", 1, "fast")
  raises("9007199254740992 bytes", stdcl.malloc, "double", 2^50)
end)

test("images of host and device are distinct until synced", function()
  local x = stdcl.malloc("float", 64)
  for i = 0, 63 do x[i] = i end
  stdcl.sync(x, "device", 1, "nowait")
  stdcl.wait()
  for i = 0, 63 do x[i] = -1 end
  k.scale(64, nil, x, 3)
  stdcl.wait()
  equal(x[5], -1)
  equal(host(x)[5], 15)
  raises("expected \"device\" or \"host\", not 'device '", stdcl.sync, x, "device ")
  raises("clmsync", stdcl.sync, ffi.new "float[4]", "device")
  raises("no device 99", stdcl.sync, x, "device", 99)
end)

test("a part of an array", function()
  local x = stdcl.malloc("float", 4096)
  for i = 0, 4095 do x[i] = 1 end
  stdcl.sync(x, "device")
  k.scale(1024, nil, x + 2048, 5)
  host(x)
  equal(x[2047], 1) equal(x[2048], 5) equal(x[3071], 5) equal(x[3072], 1)
end)

test("zero-copy and device-only memory", function()
  local x, y = stdcl.malloc("float", 64, "zerocopy"), stdcl.malloc("float", 64, "device_only")
  x[7] = 2
  stdcl.sync(x, "device")
  k.scale(64, nil, x, 4)
  k.scale(64, nil, y, 4)
  equal(host(x)[7], 8)
  raises("clmsync", stdcl.sync, y, "host")
end)

test("numbers become what the kernel declares", function()
  local x = stdcl.malloc("int64_t", 8)
  k.integers(1, nil, x, -128, 255, -32768, 65535, -2^31, 2^32 - 1, -2^53, 2^53)
  host(x)
  local wanted = {-128, 255, -32768, 65535, -2^31, 2^32 - 1, -2^53, 2^53}
  for i = 1, 8 do equal(tonumber(x[i - 1]), wanted[i], "argument " .. i) end
  k.integers(1, nil, x, 0, 0, 0, 0, 0, 0, -9007199254740993LL, 9007199254740993ULL)
  equal(host(x)[6], -9007199254740993LL)
  local function with(at, value)
    local values = {0, 0, 0, 0, 0, 0, 0, 0}
    values[at] = value
    return function() k.integers(1, nil, x, unpack(values, 1, 8)) end
  end
  raises("argument 1 (a) of kernel 'integers' is declared as char, which cannot hold 128", with(1, 128))
  raises("argument 2 (b) of kernel 'integers' is declared as uchar, which cannot hold -1", with(2, -1))
  raises("argument 5 (e) of kernel 'integers' is declared as int, which cannot hold 1.5", with(5, 1.5))
  raises("argument 6 (f) of kernel 'integers' is declared as uint, not a string", with(6, "1"))
  raises("argument 6 (f) of kernel 'integers' is declared as uint, not a nil", with(6, nil))
end)

test("vectors, structures, local memory", function()
  local x = stdcl.malloc("float", 4)
  local u = ffi.new "cl_uchar16"
  u.sf = 200
  k.vectors(1, nil, x, {1, 2, 3, 4.5}, {5, -6}, u)
  host(x)
  equal(x[0], 4.5) equal(x[1], -6) equal(x[2], 200) equal(x[3], 1)
  raises("(v) of kernel 'vectors' is declared as float4: expected a table of 4 numbers", function()
    k.vectors(1, nil, x, {1, 2, 3}, {5, -6}, u)
  end)
  raises("declared as int2, which cannot hold 0.5", function() k.vectors(1, nil, x, {1, 2, 3, 4}, {0.5, 0}, u) end)
  k.own(1, nil, x, ffi.new("struct { int a; float b[2]; }", {3, {4, 5}}))
  host(x)
  equal(x[0], 3) equal(x[1], 5)
  raises("expected a cdata, not a number", function() k.own(1, nil, x, 3) end)
  local y = stdcl.malloc("int", 8)
  k.turned(8, 4, y, 4 * 4)
  host(y)
  equal(y[0], 3) equal(y[3], 0) equal(y[4], 7)
  raises("is local memory", function() k.turned(8, 4, y, y) end)
end)

test("types that macros hide", function() -- where the source is all there is, as in test_lua_stdcl_declared
  local f = stdcl.open([[
#define FLOATS global float *
#ifdef __OPENCL_VERSION__
typedef float real;
#else
typedef double real;
#endif
kernel void f(FLOATS x, real a, REALS y) { x[0] = a; y[1] = a; }]], nil, "-D REALS=FLOATS").f
  local x = stdcl.malloc("float", 2048)
  f(1, nil, x, ffi.new("float[1]", 3), x + 1024)
  host(x)
  equal(x[0], 3) equal(x[1025], 3)
  raises("expected a cdata, not a number", function() f(1, nil, x, 3, x) end)
  raises("clmalloc", function() f(1, nil, ffi.new "float[1]" + 0, ffi.new("float[1]", 3), x) end)
end)

test("types behind typedefs", function()
  local f = stdcl.open("typedef float real; kernel void f(global real *x, real a) { x[0] = a; }").f
  local x = stdcl.malloc("float", 1)
  f(1, nil, x, 2.5)
  equal(host(x)[0], 2.5)
  raises("is declared as float", function() f(1, nil, x, "2.5") end)
end)

test("launches", function()
  local x = stdcl.malloc("int", 4 * 6 * 2)
  k.plane({4, 6, 2}, {1, 3, 1}, x)
  equal(host(x)[47], 3)
  k.plane:launch(1, {4, 6}, nil, x)
  k.nothing(1)
  stdcl.wait(1)
  raises("kernel 'plane' takes 1 arguments, not 2", function() k.plane(4, nil, x, x) end)
  raises("a number or a list", function() k.plane("4", nil, x) end)
  raises("the global size 1.5 is not a whole number", function() k.plane(1.5, nil, x) end)
  raises("the global size -1 is not a whole number", function() k.plane({4, -1}, nil, x) end)
  raises("the local size nan is not a whole number", function() k.plane(4, 0 / 0, x) end)
  raises("'floot' is not a C type", stdcl.malloc, "floot", 4)
  raises("stdcl.sync: expected an array of stdcl.malloc, not a table", stdcl.sync, {}, "host")
  raises("stdcl.free: expected an array of stdcl.malloc, not a nil", stdcl.free)
  raises("as many dimensions", function() k.plane({4, 4}, 4, x) end)
  raises("expected an array of stdcl.malloc, not a number", function() k.plane(4, nil, 3) end)
  raises("got a null pointer", function() k.plane(4, nil, ffi.new "int *") end)
  raises("the options are a string, not a number", stdcl.open, "kernel void f() {}", nil, 5)
  raises("no device 99", function() k.plane:launch(99, 4, nil, x) end)
  raises({"test_lua_stdcl.lua:", "the global size 4 is not a multiple of the local size 3"}, function() k.plane(4, 3, x) end)
  local freed = stdcl.malloc("int", 48)
  k.plane(4, nil, freed)
  stdcl.free(freed)
  raises("clmalloc", function() k.plane(4, nil, freed) end)
end)

test("programs", function()
  raises("there is no kernel \"nosuch\"; there are: scale, integers", function() return k.nosuch end)
  raises({"does not build", "undeclared"}, stdcl.open, "kernel void f() { undeclared; }")
  raises("nosuch.cl: No such file", stdcl.open, "nosuch.cl")
  local x = stdcl.malloc("int", 1)
  stdcl.open("kernel void f(global int *x) { x[0] = V; }", nil, "-D V=42").f(1, nil, x)
  equal(host(x)[0], 42)
  local name = os.tmpname()
  local fp = io.open(name, "w")
  fp:write "kernel void f(global int *x)\n{ x[0] = 43; }\n"
  fp:close()
  stdcl.open(name).f(1, nil, x)
  equal(host(x)[0], 43)
  os.remove(name)
end)

test("templates", function()
  local x = stdcl.malloc("int", 8)
  local t = stdcl.open([[
kernel void f(global int *x)
{
    |for i, tap in ipairs(taps) do
    x[${i - 1}] = ${tap} + ${inner.name == "n" and inner.more[2] or 0};
    |end
    x[3] = ${big} == 9007199254740993 && ${flag} && ${half} == 0.5;
}]], {taps = {10, 20, 30}, inner = {name = "n", more = {1, 2}}, big = 9007199254740993LL, flag = true, half = 0.5})
  t.f(1, nil, x)
  host(x)
  equal(x[0], 12) equal(x[2], 32) equal(x[3], 1)
  raises({"template:1", "'missing'"}, stdcl.open, "kernel void f() { ${missing} }", {})
  raises("is a function, which templates do not support", stdcl.open, "kernel void f() { }", {f = print})
end)

test("profiles", function()
  local x = stdcl.malloc("float", 1000)
  stdcl.profile(true)
  stdcl.sync(x, "device")
  k.scale(1000, nil, x, 2)
  k.scale(1000, nil, x, 2)
  stdcl.wait()
  local rows = {}
  for _, row in ipairs(stdcl.profile()) do rows[row.name] = row end
  stdcl.profile(false)
  equal(rows.scale.count, 2)
  equal(rows.scale.kind, "kernel")
  equal(rows.scale.device, 1)
  equal(rows.scale.total >= rows.scale.maximum and rows.scale.minimum > 0, true)
  equal(rows["host to device"].bytes, 4000)
end)

test("the collector, in any order and all the time", function()
  local pause, step = collectgarbage("setpause", 1), collectgarbage("setstepmul", 10000)
  for i = 1, 100 do
    local x = stdcl.malloc("float", 4096)
    x[9] = i
    stdcl.sync(x, "device", 1, "nowait")
    k.scale(4096, nil, x, 2)
    if i % 10 == 0 then
      stdcl.open("kernel void f(global float *x) { x[9] += 1; }").f(1, nil, x)
      equal(host(x)[9], 2 * i + 1)
    end
  end
  collectgarbage("setpause", pause)
  collectgarbage("setstepmul", step)
  for _ = 1, 100 do stdcl.malloc("char", 2^26) end -- 6.25 GiB of garbage
end)

test("several devices", function() -- where there are several, as in test_lua_stdcl_on_two
  stdcl.use "all"
  local n = #stdcl.devices()
  local x = stdcl.malloc("int", n)
  local f = stdcl.open("kernel void f(global int *x, int dev) { x[dev] = dev + 1; }").f
  for dev = 1, n do
    stdcl.sync(x, "device", dev)
    f:launch(dev, 1, nil, x, dev - 1)
  end
  stdcl.wait()
  for dev = 1, n do
    stdcl.sync(x, "host", dev)
    equal(x[dev - 1], dev)
    equal(x[dev % n], n == 1 and 1 or 0, "of device " .. dev)
  end
end)

test("devices", function()
  equal(type(stdcl.devices()[1]:get_info "name"), "string")
  raises({"no device", "quantum"}, stdcl.use, "quantum")
  raises("not a nil", stdcl.use)
  stdcl.use("all", 1)
  equal(#stdcl.devices(), 1)
  local x = stdcl.malloc("int", 2)
  stdcl.open("kernel void f(global int *x) { x[1] = 5; }").f(1, nil, x)
  equal(host(x)[1], 5)
  stdcl.use(stdcl.devices()[1]:get_info "name")
  raises("not attached to the kernel's context", function() k.scale(1, nil, stdcl.malloc "float", 2) end)
end)

test("recordings", function()
  local k = stdcl.open "kernel void scale(global float *x, float f) { x[get_global_id(0)] *= f; }\n"
  local x = stdcl.malloc("float", 10)
  local recording = stdcl.record(function()
    stdcl.sync(x, "device")
    k.scale(10, nil, x, 2)
    k.scale(10, nil, x, 10)
    stdcl.sync(x, "host")
  end)
  for i = 0, 9 do x[i] = i end
  k.scale(10, nil, stdcl.malloc("float", 10), 7) -- the recording keeps its arguments
  recording:replay()
  stdcl.wait()
  equal(x[9], 180)
  recording:set(2, 1, 100)
  recording:replay()
  stdcl.wait()
  equal(x[9], 36000)
  raises("command 0 is no launch", function() recording:set(0, 1, 1) end)
  raises("no argument 5", function() recording:set(1, 5, 1) end)
  raises({"argument 1", "not a string"}, function() recording:set(1, 1, "text") end)
  raises("nothing to wait for", function() stdcl.record(stdcl.wait) end)
  raises("mine", function() stdcl.record(function() error("mine") end) end)
  raises("no command", function() stdcl.record(function() end) end)
end)

test("images and samplers", function()
  local image = stdcl.image("cl_float4", {4, 3})
  for i = 0, 11 do
    for c = 0, 3 do image[i].s[c] = 10 * i + c end
  end
  local program = stdcl.open [[
kernel void mean(read_only image2d_t image, sampler_t s, global float4 *out)
{ *out = read_imagef(image, s, (float2)(1, 1)); }
kernel void first(read_only image1d_array_t image, sampler_t s, global float4 *out)
{ *out = read_imagef(image, s, (float2)(4, 1)); }
]]
  local out = stdcl.malloc "cl_float4"
  stdcl.sync(image, "device")
  program.mean(1, nil, image, stdcl.sampler {filter = "linear"}, out)
  equal(host(out)[0].s[3], 28) -- pixels 0, 1, 4 and 5
  local lines = stdcl.image("cl_uchar", {5, 2}, {array = true, normalized = true})
  lines[9] = 51
  stdcl.sync(lines, "device")
  program.first(1, nil, lines, stdcl.sampler(), out)
  assert(math.abs(host(out)[0].s[0] - 0.2) < 1e-6)
  raises("no pixel", stdcl.image, "cl_float3", {4, 4})
  raises("no pixel of normalized", stdcl.image, "cl_float4", {4, 4}, {normalized = true})
  raises("4 sizes", stdcl.image, "cl_float4", {4, 4, 4, 4})
  raises("no filter 'cubic'", stdcl.sampler, {filter = "cubic"})
  raises("normalized", stdcl.sampler, {addressing = "repeat"})
end)

test("engines, and every function that the headers declare", function()
  for room, text in pairs(require "stdcl.declarations") do
    local C = stdcl.engine(room)
    for name in text:gmatch "\n[^\n(]-([%w_]+)%([^*]" do
      assert(C[name] ~= nil, name)
    end
  end
  equal(stdcl.engine("nbody").NBODY_TREE, 1)
  raises({"time step", "nbody_create"}, function()
    local C = stdcl.engine "nbody"
    stdcl.check(C.nbody_create(ffi.new "struct nbody_options", 1, ffi.new "double[1]", ffi.new "double[1][3]", ffi.new "double[1][3]"))
  end)
  raises("no engine 'astrology'", stdcl.engine, "astrology")
  equal(stdcl.check(0), 0)
end)

check.finish()

-- nbody.lua - a sphere of n bodies at rest collapses under its gravity: all pairs, by leapfrog.
-- `stdcl run nbody.lua 1024 50`: 1024 bodies, 50 steps. Mass, gravity and radius are 1; energy should be conserved.
-- SPDX-License-Identifier: MIT

local stdcl = require "stdcl"
local n, steps, dt = tonumber(arg[1] or 4096), tonumber(arg[2] or 200), 1 / 256
assert(n and n >= 2 and n % 1 == 0 and steps and steps >= 0, "give the number of bodies, 2 at least, and of steps")

local k = stdcl.open([[
float4 pull(float4 p, global const float4 *position) // the acceleration, and in w the potential
{
    float4 a = 0;
    for (int j = 0; j < ${n}; j++) {
        const float3 d = position[j].xyz - p.xyz;
        const float r = rsqrt(dot(d, d) + ${eps2}f), m = position[j].w * r;
        a += m * (float4)(r * r * d, -1);
    }
    return a;
}
kernel void kick(global const float4 *position, global float4 *velocity, float dt)
{
    const int i = get_global_id(0);
    velocity[i].xyz += dt * pull(position[i], position).xyz;
}
kernel void drift(global float4 *position, global const float4 *velocity, float dt)
{
    position[get_global_id(0)].xyz += dt * velocity[get_global_id(0)].xyz;
}
kernel void energy(global const float4 *position, global const float4 *velocity, global float *energy)
{
    const int i = get_global_id(0);
    const float4 v = velocity[i], a = pull(position[i], position);
    energy[i] = 0.5f * position[i].w * (dot(v.xyz, v.xyz) + a.w + position[i].w * rsqrt(${eps2}f)); // without itself
}]], {n = n, eps2 = 0.05^2})

local position, velocity, each = stdcl.malloc("cl_float4", n), stdcl.malloc("cl_float4", n), stdcl.malloc("float", n)
for i = 0, n - 1 do
  local p = position[i]
  repeat -- a point in the unit ball
    p.x, p.y, p.z = 2 * math.random() - 1, 2 * math.random() - 1, 2 * math.random() - 1
  until p.x^2 + p.y^2 + p.z^2 < 1
  p.w = 1 / n -- the mass
end
stdcl.sync(position, "device")
stdcl.sync(velocity, "device")
local function energy()
  local sum = 0
  k.energy(n, nil, position, velocity, each)
  stdcl.wait()
  stdcl.sync(each, "host")
  for i = 0, n - 1 do sum = sum + each[i] end
  return sum
end
local start = energy()
k.kick(n, nil, position, velocity, dt / 2)
for step = 1, steps do
  k.drift(n, nil, position, velocity, dt)
  k.kick(n, nil, position, velocity, step < steps and dt or dt / 2)
end
local stop = energy()
print(("energy %.6f, after %d steps %.6f: an error of %.1e"):format(start, steps, stop, math.abs(stop / start - 1)))

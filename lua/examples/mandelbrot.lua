-- mandelbrot.lua - a picture of the Mandelbrot set, as a PPM file.
--
--   stdcl run mandelbrot.lua                           mandelbrot.ppm, 1536 x 1024
--   stdcl run mandelbrot.lua seahorses.ppm 1920 1080 -0.7463 0.1102 0.005
--
-- Arguments: file, width, height, centre (x, y), and width of the picture in the complex plane.
-- SPDX-License-Identifier: MIT

local ffi = require "ffi"
local stdcl = require "stdcl"

local file = arg[1] or "mandelbrot.ppm"
local width, height = tonumber(arg[2] or 1536), tonumber(arg[3] or 1024)
local x, y, extent = tonumber(arg[4] or -0.75), tonumber(arg[5] or 0), tonumber(arg[6] or 3.3)
assert(width and height and x and y and extent, "width, height, x, y and extent are numbers")
assert(width >= 1 and height >= 1 and width * height <= 2^26, "a picture has from 1 to 2^26 pixels")

-- Colours repeat with the logarithm of the number of steps; smooth counting after Linas Vepstas.
local kernels = stdcl.open([[
kernel void mandelbrot(global uchar *rgb, int width, int height, ${real} x, ${real} y, ${real} pixel)
{
    const int i = get_global_id(0), j = get_global_id(1);
    const ${real}2 c = (${real}2)(x + pixel * (i - 0.5f * (width - 1)), y - pixel * (j - 0.5f * (height - 1)));
    ${real}2 z = 0;
    int n = 0;
    while (n < ${steps} && dot(z, z) < 64) {
        z = (${real}2)(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
        n++;
    }
    const float smooth = n - log2(log2((float)dot(z, z)) / 6);
    const float turn = 2.2f * log(1 + fmax(smooth, 0.0f));
    const float3 colour = n == ${steps} ? (float3)(0)
        : 0.5f - 0.5f * cos((float3)(turn, turn + 0.5f, turn + 1.1f) + 0.3f);
    vstore3(convert_uchar3_sat_rte(255 * colour), j * width + i, rgb);
}]], {steps = 1000, real = stdcl.devices()[1]:get_info("double_fp_config").fma and "double" or "float"})

local rgb = stdcl.malloc("unsigned char", 3 * width * height)
kernels.mandelbrot({width, height}, nil, rgb, width, height, x, y, extent / width)
stdcl.wait()
stdcl.sync(rgb, "host")

local out = assert(io.open(file, "wb"))
assert(out:write(("P6\n%d %d\n255\n"):format(width, height), ffi.string(rgb, 3 * width * height)))
assert(out:close())

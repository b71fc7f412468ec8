-- stdcl/C.lua - the layer for LuaJIT's ffi: the declarations of stdcl.h and its parts, and the library.
-- SPDX-License-Identifier: MIT

return require "stdcl.library" "stdcl"

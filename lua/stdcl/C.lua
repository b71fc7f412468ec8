-- stdcl/C.lua - the layer as LuaJIT's ffi sees it: what stdcl.h and its parts declare, and the library.
-- SPDX-License-Identifier: MIT

return require "stdcl.library" "stdcl"

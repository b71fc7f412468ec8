"""view_draw.py - milliseconds of a picture of n bodies on a GPU without a browser: the page's own shaders and draws (view/web/points.js), by
OpenGL ES 3 through EGL.

    python3 bench/view_draw.py [WIDTH HEIGHT]

A picture at rest uses one frame, a moving picture four, as in the page; `upload` is the time for a new frame of positions. Needs numpy, libEGL and libGLESv2.
Prints JSON.
SPDX-License-Identifier: MIT
"""
import ctypes
import json
import os
import re
import sys
import time

import numpy as np

EGL, GL = ctypes.CDLL("libEGL.so.1"), ctypes.CDLL("libGLESv2.so.2")
WEB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../view/web")
COUNTS, DRAWS = (50000, 1000000, 4000000), int(os.environ.get("DRAWS", 40))
(FRAGMENT, VERTEX, COMPILED, LINKED, ARRAY, DYNAMIC, TEXTURE, TEXTURE0, TARGET, COLOUR0, RGBA32F, RGBA8, RGBA, BYTE, SHORT, BLEND, ONE, POINTS, TRIANGLES,
 RENDERER, VERSION) = (0x8B30, 0x8B31, 0x8B81, 0x8B82, 0x8892, 0x88E8, 0x0DE1, 0x84C0, 0x8D40, 0x8CE0, 0x8814, 0x8058, 0x1908, 0x1401, 0x1403, 0x0BE2, 1, 0, 4,
                       0x1F01, 0x1F02)


def open_context():
    """The first device's display, else a surfaceless or the default one."""
    EGL.eglGetProcAddress.restype = ctypes.c_void_p
    EGL.eglGetDisplay.restype = EGL.eglCreateContext.restype = ctypes.c_void_p
    device, n, displays = ctypes.c_void_p(), ctypes.c_int(), []
    query, display_of = EGL.eglGetProcAddress(b"eglQueryDevicesEXT"), EGL.eglGetProcAddress(b"eglGetPlatformDisplayEXT")
    if display_of:
        display_of = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)(display_of)
        if query and ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(query)(1, ctypes.byref(device), ctypes.byref(n)):
            displays.append(display_of(0x313F, device, None))
        displays.append(display_of(0x31DD, None, None))
    displays.append(EGL.eglGetDisplay(None))
    for display in displays:
        if not display or not EGL.eglInitialize(ctypes.c_void_p(display), None, None):
            continue
        config, count = ctypes.c_void_p(), ctypes.c_int()
        EGL.eglBindAPI(0x30A0)
        wanted = (ctypes.c_int * 5)(0x3033, 1, 0x3040, 0x40, 0x3038)  # a pbuffer, OpenGL ES 3
        if not EGL.eglChooseConfig(ctypes.c_void_p(display), wanted, ctypes.byref(config), 1, ctypes.byref(count)) or not count.value:
            continue
        context = EGL.eglCreateContext(ctypes.c_void_p(display), config, None, (ctypes.c_int * 3)(0x3098, 3, 0x3038))
        if context and EGL.eglMakeCurrent(ctypes.c_void_p(display), None, None, ctypes.c_void_p(context)):
            return
    sys.exit("no display of EGL has OpenGL ES 3")


def shaders():
    """The shaders of points.js, BODY for one frame and for four."""
    text = open(os.path.join(WEB, "points.js")).read() + open(os.path.join(WEB, "gl.js")).read()
    found = {name: body for name, body in re.findall(r"const (\w+) = (?:\(still\) => )?`(.*?)`;", text, re.S)}
    for still in (True, False):
        found["STILL" if still else "MOVING"] = re.sub(r'\$\{still \? "(.*?)" : "(.*?)"\}', r"\1" if still else r"\2", found["BODY"])
    return found


def program(vertex, fragment, places=()):
    made = GL.glCreateProgram()
    ok, log = ctypes.c_int(), ctypes.create_string_buffer(4096)
    for kind, text in ((VERTEX, vertex), (FRAGMENT, fragment)):
        shader = GL.glCreateShader(kind)
        source = ctypes.c_char_p(("#version 300 es\nprecision highp float; precision highp usampler2D;\n" + text).encode())
        GL.glShaderSource(shader, 1, ctypes.byref(source), None)
        GL.glCompileShader(shader)
        GL.glGetShaderiv(shader, COMPILED, ctypes.byref(ok))
        GL.glGetShaderInfoLog(shader, 4096, None, log)
        assert ok.value, log.value
        GL.glAttachShader(made, shader)
    for i, name in enumerate(places):
        GL.glBindAttribLocation(made, i, name.encode())
    GL.glLinkProgram(made)
    GL.glGetProgramiv(made, LINKED, ctypes.byref(ok))
    assert ok.value, "the program does not link"
    return made


def uniforms(made, values):
    GL.glUseProgram(made)
    unit = 0
    for name, value in values.items():
        place = GL.glGetUniformLocation(made, name.encode())
        if isinstance(value, int):  # a texture
            GL.glActiveTexture(TEXTURE0 + unit)
            GL.glBindTexture(TEXTURE, value)
            GL.glUniform1i(place, unit)
            unit += 1
        elif isinstance(value, float):
            GL.glUniform1f(place, ctypes.c_float(value))
        else:
            x = (ctypes.c_float * len(value))(*value)
            if len(value) == 16:
                GL.glUniformMatrix4fv(place, 1, 0, x)
            else:
                {2: GL.glUniform2fv, 3: GL.glUniform3fv}[len(value)](place, 1, x)


def number(make):
    x = ctypes.c_uint()
    make(1, ctypes.byref(x))
    return x.value


def texture(fmt, width, height, pixels=None):
    t = number(GL.glGenTextures)
    GL.glBindTexture(TEXTURE, t)
    for what, value in ((0x2801, 0x2600), (0x2800, 0x2600), (0x2802, 0x812F), (0x2803, 0x812F)):
        GL.glTexParameteri(TEXTURE, what, value)
    GL.glTexStorage2D(TEXTURE, 1, fmt, width, height)
    if pixels is not None:
        GL.glTexSubImage2D(TEXTURE, 0, 0, 0, width, height, RGBA, BYTE, pixels.ctypes.data_as(ctypes.c_void_p))
    return t


def target(fmt, width, height):
    t, frame = texture(fmt, width, height), number(GL.glGenFramebuffers)
    GL.glBindFramebuffer(TARGET, frame)
    GL.glFramebufferTexture2D(TARGET, COLOUR0, TEXTURE, t, 0)
    assert GL.glCheckFramebufferStatus(TARGET) == 0x8CD5, "no float target"
    return t, frame, width, height


def into(t):
    GL.glBindFramebuffer(TARGET, t[1])
    GL.glViewport(0, 0, t[2], t[3])


class Picture:
    def __init__(self, width, height):
        s = shaders()
        places = ["shade"] + [c + str(i) for i in range(4) for c in "xyz"]
        self.width, self.height = width, height
        self.body = {still: program(s["STILL" if still else "MOVING"], s["SPOT"], places) for still in (True, False)}
        self.largest, self.tone = program(s["WHOLE"], s["LARGEST"]), program(s["SCALED"], s["TONE"])
        table = np.random.default_rng(1).integers(0, 256, (256, 4), np.uint8)
        self.table = texture(RGBA8, 256, 1, table)
        self.levels = [target(RGBA32F, width, height)]
        while self.levels[-1][2:] != (1, 1):
            w, h = self.levels[-1][2:]
            self.levels.append(target(RGBA32F, -(-w // 8), -(-h // 8)))
        self.window = target(RGBA8, width, height)
        self.buffers = [number(GL.glGenBuffers) for _ in range(4)]

    def fill(self, which, planes):
        GL.glBindBuffer(ARRAY, self.buffers[which])
        GL.glBufferData(ARRAY, ctypes.c_ssize_t(planes.nbytes), planes.ctypes.data_as(ctypes.c_void_p), DYNAMIC)

    def draw(self, count, still):
        into(self.levels[0])
        GL.glEnable(BLEND)
        GL.glClearColor(*[ctypes.c_float(0)] * 4)
        GL.glClear(0x4000)
        GL.glBlendFunc(ONE, ONE)
        w, h = self.width, self.height
        fair = 1 + 0.45 * (w * h / count) ** 0.5
        size = 1.0 if fair < 1.5 else min(14, fair)
        matrix = [1.2 * h / w, 0, 0, 0, 0, 1.2, 0, 0, 0, 0, 0.1, 0, 0, 0, 0, 1]
        scales = {"scale0": [2.0] * 3} if still else {"scale%d" % i: [2 * x] * 3 for i, x in enumerate((-0.06, 0.56, 0.56, -0.06))}
        uniforms(self.body[still], {**scales, "base": [-1.0] * 3, "matrix": matrix, "weight": 1.0, "size": size, "table": self.table})
        for i in range(1 if still else 4):
            GL.glBindBuffer(ARRAY, self.buffers[i])
            for c in range(3):
                GL.glEnableVertexAttribArray(1 + 3 * i + c)
                GL.glVertexAttribPointer(1 + 3 * i + c, 1, SHORT, 1, 2, ctypes.c_void_p(2 * c * count))
        GL.glDrawArrays(POINTS, 0, count)
        for i in range(13):
            GL.glDisableVertexAttribArray(i)
        GL.glDisable(BLEND)
        for source, level in zip(self.levels, self.levels[1:]):
            into(level)
            uniforms(self.largest, {"source": source[0], "extent": [float(source[2]), float(source[3])]})
            GL.glDrawArrays(TRIANGLES, 0, 3)
        into(self.window)
        uniforms(self.tone, {"sums": self.levels[0][0], "largest": self.levels[-1][0], "table": self.table, "weight": 1.0, "bright": 1.0, "paper": [0.0] * 3})
        GL.glDrawArrays(TRIANGLES, 0, 3)

    def sum(self):
        """Bodies in the picture's float sums: bodies inside the window."""
        GL.glBindFramebuffer(TARGET, self.levels[0][1])
        x = np.zeros((self.height, self.width, 4), np.float32)
        GL.glReadPixels(0, 0, self.width, self.height, RGBA, 0x1406, x.ctypes.data_as(ctypes.c_void_p))
        return float(x[..., 3].sum(dtype=np.float64))


def timed(call):
    call()
    GL.glFinish()
    start = time.perf_counter()
    for _ in range(DRAWS):
        call()
    GL.glFinish()
    return round(1e3 * (time.perf_counter() - start) / DRAWS, 3)


def main():
    width, height = map(int, sys.argv[1:3] or (1280, 800))
    open_context()
    GL.glGetString.restype = ctypes.c_char_p
    rng, picture, rows = np.random.default_rng(3), Picture(width, height), []
    for count in COUNTS:
        planes = np.clip(65536 * (0.5 + 0.13 * rng.standard_normal((3, count))), 0, 65535).astype(np.uint16)
        for i in range(4):
            picture.fill(i, planes)
        row = {"bodies": count, "at_rest_ms": timed(lambda: picture.draw(count, True)), "moving_ms": timed(lambda: picture.draw(count, False)),
               "upload_ms": timed(lambda: picture.fill(0, planes))}
        picture.draw(count, False)
        if count >= 1000000:
            row["bodies_summed"] = round(picture.sum())
        rows.append(row)
    assert GL.glGetError() == 0
    print(json.dumps({"what": "a picture of the page by its own shaders, without a browser; bench/view_draw.py", "gpu": GL.glGetString(RENDERER).decode(),
                      "driver": GL.glGetString(VERSION).decode(), "width": width, "height": height, "rows": rows}, indent=1))


main()

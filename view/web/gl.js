// gl.js - WebGL2 helpers: programs, textures, and the format for sums.
// SPDX-License-Identifier: MIT

export const WHOLE = `void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }`;
// Create a program; attributes 0, 1 ... have the names of `places`. Its status is not queried yet,
// so that several programs compile in parallel.
export function makeProgram(gl, vertex, fragment, places = []) {
  const program = gl.createProgram(), shaders = [];
  for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, "#version 300 es\nprecision highp float; precision highp usampler2D;\n" + text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    shaders.push(shader);
  }
  places.forEach((name, i) => gl.bindAttribLocation(program, i, name));
  gl.linkProgram(program);
  return { program, shaders };
}

// Locations of the program's uniforms by name, queried at first use.
function uniformsOf(gl, { program, shaders }) {
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error([gl.getProgramInfoLog(program), ...shaders.map((s) => gl.getShaderInfoLog(s))].join("\n"));
  const places = {}, count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) || 0;
  for (let i = 0; i < count; i++) {
    const { name } = gl.getActiveUniform(program, i);
    places[name] = gl.getUniformLocation(program, name);
  }
  return places;
}

// A texture whose pixels are fetched or taken from the nearest.
export function makeTexture(gl, filter = gl.NEAREST) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  return texture;
}

// 256 colours into a texture.
export function fillTable(gl, texture, pixels) {
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
}

// Set uniforms by name: numbers, arrays of 2, 3 or 16, textures.
export function useProgram(gl, made, values) {
  const places = made.places ||= uniformsOf(gl, made);
  gl.useProgram(made.program);
  let unit = 0;
  for (const name in values) {
    const value = values[name], place = places[name];
    if (value instanceof WebGLTexture) {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(gl.TEXTURE_2D, value);
      gl.uniform1i(place, unit++);
    } else if (value.length === 16) gl.uniformMatrix4fv(place, false, value);
    else if (value.length) gl[`uniform${value.length}fv`](place, value);
    else gl.uniform1f(place, value);
  }
}

// Draw a full-target triangle; WHOLE is the vertex shader.
export function drawWhole(gl, made, values) {
  useProgram(gl, made, values);
  gl.drawArrays(gl.TRIANGLES, 0, 3);
}

// A texture to render to.
export function makeTarget(gl, format, width, height) {
  const texture = makeTexture(gl), frame = gl.createFramebuffer();
  gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  return { texture, frame, width, height };
}

export function drawInto(gl, target) {
  gl.bindFramebuffer(gl.FRAMEBUFFER, target ? target.frame : null);
  gl.viewport(0, 0, target ? target.width : gl.drawingBufferWidth, target ? target.height : gl.drawingBufferHeight);
}

export function freeTarget(gl, target) {
  if (!target) return;
  gl.deleteTexture(target.texture);
  gl.deleteFramebuffer(target.frame);
}

// Format for sums over many bodies, and a body's weight in it. Half floats count exactly to 2,048
// only, so bodies weigh a sixteenth there; bytes are the last resort.
export function sumFormat(gl) {
  const float = gl.getExtension("EXT_color_buffer_float");
  if (float && gl.getExtension("EXT_float_blend")) return { format: gl.RGBA32F, weight: 1 };
  if (float || gl.getExtension("EXT_color_buffer_half_float")) return { format: gl.RGBA16F, weight: 1 / 16 };
  return { format: gl.RGBA8, weight: 1 / 32 };
}

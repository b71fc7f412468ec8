// webm.js - writes encoded frames to a WebM file (RFC 8794 and RFC 9559): one video track,
// clusters that begin with a key frame. Pure.
// SPDX-License-Identifier: MIT

// An element: its id in hexadecimal and its content: bytes, a number, text, or elements.
function element(id, content) {
  const head = id.match(/../g).map((h) => parseInt(h, 16));
  const body = Array.isArray(content) ? joinBytes(content) : typeof content === "string" ? new TextEncoder().encode(content) :
    typeof content === "number" ? bigEndian(content) : content;
  const size = [1, ...new Array(7).fill(0)]; // eight bytes, always
  for (let i = 7, n = body.length; i > 0; i--, n = Math.floor(n / 256)) size[i] = n % 256;
  return joinBytes([new Uint8Array([...head, ...size]), body]);
}

function bigEndian(value) {
  const bytes = [];
  do bytes.unshift(value % 256); while ((value = Math.floor(value / 256)) > 0);
  return new Uint8Array(bytes);
}

function joinBytes(parts) {
  const whole = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  parts.reduce((at, p) => (whole.set(p, at), at + p.length), 0);
  return whole;
}

function double(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

// chunks: { data, time in ms, key }, in order
export function makeWebm(chunks, width, height, codec) {
  const clusters = [];
  let blocks = [], begun = 0;
  const finish = () => blocks.length && clusters.push(element("1f43b675", [element("e7", begun), ...blocks]));
  for (const { data, time, key } of chunks) {
    if (key || time - begun > 30000) {
      finish();
      [blocks, begun] = [[], time];
    }
    const at = time - begun;
    blocks.push(element("a3", joinBytes([new Uint8Array([0x81, at >> 8, at & 255, key ? 0x80 : 0]), data])));
  }
  finish();
  const last = chunks.at(-1)?.time ?? 0, before = chunks.at(-2)?.time ?? 0;
  return joinBytes([
    element("1a45dfa3", [element("4286", 1), element("42f7", 1), element("42f2", 4), element("42f3", 8), element("4282", "webm"),
      element("4287", 4), element("4285", 2)]),
    element("18538067", [
      element("1549a966", [element("2ad7b1", 1000000), element("4489", double(2 * last - before)), element("4d80", "stdcl"), element("5741", "stdcl")]),
      element("1654ae6b", [element("ae", [element("d7", 1), element("73c5", 1), element("83", 1),
        element("86", codec.startsWith("vp09") ? "V_VP9" : "V_VP8"), element("e0", [element("b0", width), element("ba", height)])])]),
      ...clusters])]);
}

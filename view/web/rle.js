// rle.js - cells as text that programs of Life read, run length encoded; where there are live ones. Pure: runs in Node too.
// SPDX-License-Identifier: MIT

// The least rectangle, right and bottom excluded, that holds all live squares of a frame within [left, top, right, bottom]; null: there are none.
export function liveBox(frame, [x0, y0, x1, y1] = [0, 0, frame.width, frame.height]) {
  let [left, top, right, bottom] = [Infinity, Infinity, -1, -1];
  for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) if (aliveAt(frame, x, y))
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x + 1), y + 1];
  return right < 0 ? null : [left, top, right, bottom];
}

function aliveAt({ width, zoom, body }, x, y) {
  return zoom ? body[y * width + x] > 0 : (body[y * Math.ceil(width / 8) + (x >> 3)] >> (x & 7) & 1) > 0;
}

// The cells of a frame of bits within a rectangle, without what is empty around them.
export function rleText(frame, within, rule) {
  const [left, top, right, bottom] = liveBox(frame, within) || [0, 0, 0, 0], words = [];
  const put = (n, sign) => n && words.push((n > 1 ? n : "") + sign);
  let ends = 0; // of rows, not written yet
  for (let y = top; y < bottom; y++, ends++) for (let x = left; x < right;) {
    const alive = aliveAt(frame, x, y);
    let n = 1;
    while (x + n < right && aliveAt(frame, x + n, y) === alive) n++;
    if (alive || x + n < right) {
      put(ends, "$");
      ends = 0;
      put(n, alive ? "o" : "b");
    }
    x += n;
  }
  const lines = [""];
  for (const word of [...words, "!"]) lines.at(-1).length + word.length > 70 ? lines.push(word) : lines.push(lines.pop() + word);
  return `x = ${right - left}, y = ${bottom - top}, rule = ${rule}\n${lines.join("\n")}\n`;
}

// rle.js - cells as run-length encoded text for other programs, and the bounding box of live
// cells. Pure: also runs in Node.
// SPDX-License-Identifier: MIT

// Bounding box of the live squares of a frame within [left, top, right, bottom], right and bottom
// excluded; null: none.
export function liveBox(frame, [x0, y0, x1, y1] = [0, 0, frame.width, frame.height]) {
  let [left, top, right, bottom] = [Infinity, Infinity, -1, -1];
  for (let y = y0; y < y1; y++) for (let x = x0; x < x1; x++) if (stateAt(frame, x, y))
    [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x + 1), y + 1];
  return right < 0 ? null : [left, top, right, bottom];
}

// State of a cell, or shade of a square.
export function stateAt({ width, row, body }, x, y) {
  return row === width ? body[y * row + x] : body[y * row + (x >> 3)] >> (x & 7) & 1;
}

// Symbol of a state: b and o for two states, . A B ... X pA ... yO for more.
function signOf(state, many) {
  if (!many || !state) return many ? "." : "bo"[state];
  const [high, low] = [Math.floor((state - 1) / 24), (state - 1) % 24];
  return (high ? String.fromCharCode(111 + high) : "") + String.fromCharCode(65 + low);
}

// The cells of a frame within a rectangle, cropped to the live ones.
export function rleText(frame, within, rule) {
  const [left, top, right, bottom] = liveBox(frame, within) || [0, 0, 0, 0], words = [];
  const put = (n, sign) => n && words.push((n > 1 ? n : "") + sign);
  let ends = 0; // pending ends of rows
  for (let y = top; y < bottom; y++, ends++) for (let x = left; x < right;) {
    const state = stateAt(frame, x, y);
    let n = 1;
    while (x + n < right && stateAt(frame, x + n, y) === state) n++;
    if (state || x + n < right) {
      put(ends, "$");
      ends = 0;
      put(n, signOf(state, frame.states > 2));
    }
    x += n;
  }
  const lines = [""];
  for (const word of [...words, "!"]) lines.at(-1).length + word.length > 70 ? lines.push(word) : lines.push(lines.pop() + word);
  return `x = ${right - left}, y = ${bottom - top}, rule = ${rule}\n${lines.join("\n")}\n`;
}

// keys.js - actions of keyboard, mouse, pen and touch. The help is generated from this table.
// SPDX-License-Identifier: MIT

// [keys, label for the help, action, kinds of pictures (all if omitted)]
export const KEYS = [
  [[" "], "Pause, and go on", "pause"],
  [["."], "One step", "step"],
  [["+", "-"], "Faster, slower", "speed"],
  [["[", "]"], "One picture back, one on", "back"],
  [["End"], "Back to the present", "now"],
  [["a"], "Run again, after its end", "again"],
  [["w"], "Draw: a pen for cells, and erase; with Shift select", "draw", "cells"],
  [["Ctrl C", "Ctrl V"], "Draw: copy the selection, paste at the pointer", "", "cells"],
  [["q"], "Draw: turn what is pasted", "rotate", "cells"],
  [["Delete"], "Draw: erase the selection", "erase", "cells"],
  [["b"], "Paused: the generation before", "undo", "cells"],
  [["Home"], "Paused: the start of the run", "start", "cells"],
  [["Arrows"], "Turn (bodies), move (cells)", "arrows", "points cells"],
  [["Shift"], "with arrows or mouse: move", "", "points"],
  [["PageUp", "PageDown"], "Nearer, farther", "zoom", "points cells"],
  [["f"], "Fit all in", "fit", "points cells"],
  [["x", "y", "z"], "Look along an axis", "axis", "points"],
  [["g"], "Follow the body in the middle", "follow", "points"],
  [["c"], "Colour by speed, mass, group, age …", "colour", "points cells"],
  [["m"], "Next colours", "map"],
  [["t"], "Trails", "trails", "points"],
  [["d"], "Display: colours, speed, theme", "looks"],
  [["p"], "Plots", "charts"],
  [["l"], "Plots: powers of ten, where all values are above 0", "log"],
  [["e"], "Save the numbers of the plots as CSV", "csv"],
  [["v"], "Save the plots as SVG", "svg"],
  [["s"], "Save as PNG", "png"],
  [["o"], "Save the cells in sight as RLE", "rle", "cells"],
  [["r"], "Film: begin, end and save", "film"],
  [["h"], "Hide and show all but the picture", "hide"],
  [["?"], "Help", "help"],
];

// Rows of the help: keys and their effect.
export function helpRows(kind) {
  const rows = KEYS.filter(([, , , kinds]) => !kinds || kinds.includes(kind)).map(([keys, name]) => [keys.map((k) => k === " " ? "Space" : k), name]);
  const drag = kind === "points" ? [[["Drag"], "Turn"], [["Click"], "Look at a body, if there are few"], [["Shift + drag", "Right drag", "Two fingers"], "Move"]] : [[["Drag"], "Move"]];
  return /points|cells/.test(kind) ? [...rows, ...drag, [["Wheel", "Pinch"], "Nearer, farther"], [["Double click"], "To the place there"]] : rows;
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

// Keys of the whole page, except in text fields and controls. single(): true if keys without Ctrl
// may act.
export function listenKeys(act, single) {
  addEventListener("keydown", (e) => {
    const at = e.target;
    if (e.altKey || e.metaKey || document.querySelector("dialog[open]")) return;
    if (e.ctrlKey ? single() || "cv".includes(e.key) : !single() && !ARROWS[e.key]) return;
    if (at.matches("input:not([type])") || at.matches("select, [type=range]") && (e.key.length > 1 || at.tagName === "SELECT")) return;
    if (at.matches("button, input, [tabindex]:not(#picture)") && (e.key === " " || e.key === "Enter" || ARROWS[e.key])) return;
    if (ARROWS[e.key]) {
      act("arrows", ARROWS[e.key], e.shiftKey);
      e.preventDefault();
      return;
    }
    const key = e.key === "=" ? "+" : e.key === "_" ? "-" : e.key.length === 1 ? e.key.toLowerCase() : e.key;
    const found = KEYS.find(([keys]) => keys.includes(key));
    if (!found || !found[2] || key === "Arrows" || e.repeat && !"back step zoom speed".includes(found[2])) return;
    act(found[2], key);
    e.preventDefault();
  });
}

// Mouse, pen and touch on the picture; distances in pixels of the canvas.
export function listenPointers(canvas, on) {
  const down = new Map();
  const ratio = () => canvas.width / canvas.clientWidth;
  const place = (e) => [e.offsetX * ratio(), e.offsetY * ratio()];
  let pressed = null, takes = false; // where, until it moves; true if the pen has it
  canvas.addEventListener("pointerdown", (e) => {
    canvas.setPointerCapture(e.pointerId);
    down.set(e.pointerId, place(e));
    pressed = down.size === 1 && e.button === 0 ? place(e) : null;
    takes = Boolean(pressed) && on.take(...pressed, e.shiftKey);
  });
  const up = (e) => {
    down.delete(e.pointerId);
    if (takes) on.drop();
    else if (pressed && e.type === "pointerup") on.click(...pressed);
    pressed = null;
    takes = false;
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointermove", (e) => {
    const before = down.get(e.pointerId), here = place(e);
    if (!before) {
      on.over(...here);
      return;
    }
    down.set(e.pointerId, here);
    if (takes) {
      on.draw(...here);
      return;
    }
    const d = [here[0] - before[0], here[1] - before[1]];
    if (pressed && Math.hypot(here[0] - pressed[0], here[1] - pressed[1]) > 4 * ratio()) pressed = null;
    if (down.size === 1) on.drag(...d, e.shiftKey || e.buttons & 6);
    if (down.size !== 2) return;
    const other = [...down].find(([id]) => id !== e.pointerId)[1];
    const far = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
    on.drag(d[0] / 2, d[1] / 2, true);
    if (far(before) > 0) on.zoom(far(here) / far(before), (here[0] + other[0]) / 2, (here[1] + other[1]) / 2);
  });
  canvas.addEventListener("pointerleave", () => on.over(-1, -1));
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    on.zoom(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : e.ctrlKey ? 0.01 : 0.0015)), ...place(e));
  }, { passive: false });
  canvas.addEventListener("dblclick", (e) => on.centre(...place(e)));
}

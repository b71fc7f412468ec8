// colour_maps.js - perceptually uniform colour maps, also in grey and for colour-blind viewers.
// inferno, magma, viridis: N. Smith and S. van der Walt, 2015 (CC0); cividis: J. Nuñez, C.
// Anderton and R. Renslow, 2018; here every eighth (seventeenth) colour of 256 with linear
// interpolation. Groups: M. Okabe and K. Ito, 2002.
// SPDX-License-Identifier: MIT

const NODES = {
  inferno: "0000040403120b0724150b37210c4a2f0a5b3d09654a0c6b56106e63156e70196e7d1e6d89226a962766a32c61af315bbb3654c63d4dd14545da4f3ce35932eb6529f1721ef67f14f98c0afb9b06fcaa0ffbba1ff9c932f5d949f2e865f3f586fcffa4",
  magma: "0000040303120a0822130d341d114729115a36106b440f7650127c5d177f691c817621818226818f2a819c2e7fa9337db6367ac33b75cf4070db476ae65164ee5c5ef46a5cf9785dfb8861fd9668fea571feb47bfec287fed194fde0a1fceeb0fcfdbf",
  viridis: "440154470d6048186a482374472d7b4537814240863e49893b528b375b8d33638d2f6b8e2c728e297a8e26828e23898e21908c1f978b1f9f8821a68527ad8131b57b3ebc744dc26c5cc8636ece5882d34d95d840aadc32c0df25d5e21aeae51afde725",
  cividis: "00224e002e6c1e3a6f35456c47516c575d6d666970757575848279948e77a59c74b7a96ec8b866dbc75aeed649fee838",
  grey: "000000ffffff",
};

// Names of the maps, in the order of the key that cycles through them.
export const MAPS = Object.keys(NODES);

const GROUPS = ["56b4e9", "e69f00", "009e73", "f0e442", "cc79a7", "d55e00", "0072b2", "999999"];

function colourAtNode(hex, i) {
  return [0, 2, 4].map((c) => parseInt(hex.substr(6 * i + c, 2), 16));
}

// The colour of a map at 0 to 1; red, green, blue of 0 to 255.
export function colourAt(name, at) {
  const hex = NODES[name] || NODES.inferno;
  const last = hex.length / 6 - 1;
  const place = Math.min(1, Math.max(0, at || 0)) * last;
  const i = Math.min(last - 1, Math.floor(place));
  const above = colourAtNode(hex, i + 1);
  return colourAtNode(hex, i).map((below, c) => Math.round(below + (above[c] - below) * (place - i)));
}

// 256 pixels of colour(0) to colour(1).
export function colourTable(colour) {
  const pixels = new Uint8Array(1024).fill(255);
  for (let i = 0; i < 256; i++) pixels.set(colour(i / 255), 4 * i);
  return pixels;
}

// The colour of a group: red, green, blue.
export function groupColour(group) {
  return colourAtNode(GROUPS[group % GROUPS.length], 0);
}

// Colour of a body's value from 0 to 1, avoiding the end of the map that matches the paper.
export function shadeAt(look, at) {
  return colourAt(look.map, (look.dark ? 0.25 : 0.05) + 0.75 * at);
}

// Colour of a cell's state: the rule file's, else the map's strongest colour for state 1, fading
// for higher states.
export function stateColour(look, state) {
  const { states, colours } = look.cells, own = colours && colours[state], at = 1 - 0.8 * Math.max(0, state - 1) / (states - 1);
  return own ? colourAtNode(own, 0) : colourAt(look.map, look.dark ? at : 1 - at);
}

// A colour as CSS has it.
export function cssColour(rgb) {
  return "rgb(" + rgb.join(",") + ")";
}

// flat.js - bodies and cells without WebGL2: simpler pictures on a flat canvas, from the same frames and cameras.
// SPDX-License-Identifier: MIT
import { squareShade } from "./cells.js";
import { colourAt, cssColour, groupColour, shadeAt, stateColour } from "./colour_maps.js";
import { bodyPlace } from "./points.js";
import { stateAt } from "./rle.js";

const MOST = 20000; // bodies

export class FlatPicture {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.frame = null;
  }

  setLook(look) {
    this.look = look;
  }

  push(frame) {
    this.frame = frame;
  }

  setTrails() {}

  placeAt(k) {
    return this.frame && k < this.frame.count ? bodyPlace(this.frame, k) : null;
  }

  draw(camera) {
    const { pen, canvas, look, frame } = this;
    if (!look || !frame) return;
    pen.fillStyle = cssColour(look.paper.map((v) => Math.round(255 * v)));
    pen.fillRect(0, 0, canvas.width, canvas.height);
    if (frame.kind === "points") this.drawPoints(camera);
    else this.drawCells(camera);
  }

  drawPoints(camera) {
    const { pen, look, frame } = this, count = Math.min(MOST, frame.count), size = count < 1000 ? 4 : 2;
    for (let k = 0; k < count; k++) {
      const at = camera.project(bodyPlace(frame, k));
      if (!at) continue;
      const shade = frame.shades ? frame.shades[k] / 255 : 0.6;
      pen.fillStyle = cssColour(frame.colour === "group" ? groupColour(frame.shades[k]) : shadeAt(look, shade));
      pen.fillRect(at[0] - size / 2, at[1] - size / 2, size, size);
    }
  }

  drawCells(camera) {
    const { pen, look, frame } = this, side = 2 ** frame.zoom, image = new ImageData(frame.width, frame.height);
    for (let y = 0; y < frame.height; y++) for (let x = 0; x < frame.width; x++) {
      const state = stateAt(frame, x, y), v = frame.zoom ? squareShade(frame, state) : state && 0.8;
      image.data.set([...frame.zoom || frame.states < 3 ? colourAt(look.map, look.dark ? v : 1 - v) : stateColour(look, state), v ? 255 : 0], 4 * (y * frame.width + x));
    }
    this.spare ||= document.createElement("canvas");
    [this.spare.width, this.spare.height] = [frame.width, frame.height];
    this.spare.getContext("2d").putImageData(image, 0, 0);
    const [left, top] = camera.cell(0, 0);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(this.spare, (frame.x - left) * camera.scale, (frame.y - top) * camera.scale, frame.width * side * camera.scale, frame.height * side * camera.scale);
  }
}

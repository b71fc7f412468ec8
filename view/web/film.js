// film.js - the picture as PNG and as film: by WebCodecs into WebM, with exact times. (MediaRecorder leaves frames out.)
// SPDX-License-Identifier: MIT
import { makeWebm } from "./webm.js";

// Offers a file to the user.
export function saveBlob(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

export class Film {
  // layers: canvases, from below; even sides, as the codecs want them
  constructor(layers) {
    this.layers = layers;
    this.canvas = document.createElement("canvas");
    this.canvas.width = layers[0].width & ~1;
    this.canvas.height = layers[0].height & ~1;
    this.chunks = [];
    this.count = 0;
  }

  compose() {
    const { canvas } = this, pen = canvas.getContext("2d");
    for (const layer of this.layers) if (layer.width) pen.drawImage(layer, 0, 0, canvas.width, canvas.height);
    return canvas;
  }

  // Throws a sentence where there is no encoder.
  async begin() {
    const { width, height } = this.canvas;
    if (window.VideoEncoder) for (const codec of ["vp09.00.40.08", "vp8"]) {
      const config = { codec, width, height, bitrate: Math.min(4e7, Math.max(2e6, width * height * 8)), framerate: 30 };
      if (!(await VideoEncoder.isConfigSupported(config)).supported) continue;
      this.codec = codec;
      this.encoder = new VideoEncoder({ error: (e) => { this.error = e; }, output: (chunk) => {
        const data = new Uint8Array(chunk.byteLength);
        chunk.copyTo(data);
        this.chunks.push({ data, time: Math.round(chunk.timestamp / 1000), key: chunk.type === "key" });
      } });
      this.encoder.configure(config);
      return;
    }
    throw new Error("This browser cannot make films.");
  }

  // Takes the picture as it is now; ms since the film's beginning. A busy encoder may leave one out, unless every one counts.
  async add(ms, every = false) {
    if (this.encoder.encodeQueueSize > 8 && !every) return;
    const frame = new VideoFrame(this.compose(), { timestamp: Math.round(ms * 1000) });
    this.encoder.encode(frame, { keyFrame: this.count++ % 120 === 0 });
    frame.close();
    while (every && this.encoder.encodeQueueSize > 8) await new Promise((done) => setTimeout(done, 5));
  }

  async end() {
    await this.encoder.flush();
    this.encoder.close();
    if (this.error) throw this.error;
    return new Blob([makeWebm(this.chunks, this.canvas.width, this.canvas.height, this.codec)], { type: "video/webm" });
  }
}

// A film of the page: a run as it is seen, or a recording with every picture once.
export class Filming {
  // page: its state; layers(): canvases; act(what, more): asks the run; said(text, stay): tells the user; save(blob); pressed(on)
  constructor(to) {
    Object.assign(this, to);
    this.film = null;
  }

  async begin() {
    const film = new Film(this.layers());
    try {
      await film.begin();
    } catch (error) {
      this.said(error.message);
      return;
    }
    film.begun = performance.now();
    film.frames = 0;
    this.film = film;
    this.pressed(true);
    if (this.page.hello.live) this.said("Filming. The same button ends and saves the film.");
    else {
      this.said("Filming the recording. The same button ends it sooner.", true);
      if (!this.page.state.paused) this.act("pause");
      film.wanted = 0;
      this.act("seek", { frame: 0 });
    }
  }

  async frame() {
    const { film, page } = this;
    if (page.hello.live) film.add(performance.now() - film.begun);
    else if (page.state.frame === film.wanted) {
      film.wanted = -1;
      await film.add(film.frames++ * 1000 / (page.state.speed || 30), true);
      if (this.film !== film) return;
      if (film.frames >= page.hello.frames) this.end();
      else this.act("seek", { frame: film.wanted = film.frames });
    }
  }

  async end() {
    const { film } = this;
    this.film = null;
    this.pressed(false);
    try {
      this.save(await film.end());
      this.said("The film is saved.");
    } catch (error) {
      this.said("The film could not be made: " + error.message);
    }
  }
}

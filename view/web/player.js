// player.js - a recording inside the page, with the interface of a link: plays, pauses, steps and
// seeks.
// SPDX-License-Identifier: MIT
import { Recording, fromBase64 } from "./recording.js";

export class Player {
  // The recording in this page, or null.
  static here(on) {
    const texts = [...document.querySelectorAll(".recording")].map((e) => (e.textContent || "").trim()).filter(Boolean);
    return texts.length ? new Player(new Recording(fromBase64(texts)), on) : null;
  }

  constructor(recording, on) {
    this.recording = recording;
    this.on = on;
    this.frames = recording.pictures.length;
    this.frame = 0;
    this.speed = 0; // 0: recorded speed, 30 frames a second
    this.paused = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.waiting = false;
    const times = recording.pictures.map((p) => p.time);
    setTimeout(async () => {
      const { hello } = recording, points = hello.points; // colours are recorded
      if (points && this.frames) points.colours = [...new Set(["none", (await recording.picture(0)).colour])];
      on.hello({ ...hello, live: false, rights: "all", can: ["pause", "step", "speed", "seek"], frames: this.frames,
        from: times[0], to: times[this.frames - 1] });
      on.ready();
      for (const text of recording.said) if (text.type === "say") on.text(text);
      for (const rows of await recording.allRows()) on.frame(rows);
      await this.show(0);
      this.later();
    });
  }

  async show(i) {
    if (!this.frames || this.waiting) return;
    this.frame = Math.max(0, Math.min(this.frames - 1, i));
    this.waiting = true; // until it is drawn
    try {
      const frame = await this.recording.picture(this.frame);
      this.on.text(this.state());
      this.showProfiles();
      this.on.frame(frame);
    } catch (error) {
      this.waiting = false;
      this.pause(true);
      this.on.text({ type: "say", level: "error", text: `Picture ${this.frame + 1} cannot be read: ${error.message}.` });
    }
  }

  showProfiles() {
    const profiles = this.recording.profilesAt(this.frame);
    if (profiles && profiles !== this.profiles) this.on.text(this.profiles = profiles);
  }

  state() {
    return { type: "state", paused: this.paused, speed: this.speed, ended: false, frame: this.frame, viewers: 1 };
  }

  later() {
    clearTimeout(this.timer);
    if (this.paused) return;
    this.timer = setTimeout(async () => {
      if (this.frame >= this.frames - 1) this.pause(true);
      else if (!this.waiting) await this.show(this.frame + 1);
      this.later();
    }, 1000 / (this.speed || 30));
  }

  pause(paused) {
    this.paused = paused;
    this.on.text(this.state());
    this.later();
  }

  drawn() {
    this.waiting = false;
    if (this.sought === undefined) return;
    const frame = this.sought;
    this.sought = undefined;
    this.show(frame);
  }

  want() {}

  act(what, more = {}) {
    if (what === "pause") this.pause(true);
    if (what === "run") {
      if (this.frame >= this.frames - 1) this.frame = -1;
      this.pause(false);
    }
    if (what === "speed") {
      this.speed = more.value;
      this.on.text(this.state());
    }
    if (what !== "step" && what !== "seek") return;
    if (what === "step") this.pause(true);
    const frame = what === "seek" ? more.frame : this.frame + (more.n || 1);
    if (this.waiting) this.sought = frame;
    else this.show(frame);
  }
}

// speed_slider.js - the speed of the run: a slider over the choices of speeds.js, and keys that move it.
// SPDX-License-Identifier: MIT
import { get } from "./elements.js";
import { nearestSpeed, speedWords, speedsOf } from "./speeds.js";

export class SpeedSlider {
  // act(what, more): asks the run; said(text): tells the user
  constructor(act, said) {
    Object.assign(this, { act, said, hello: {}, speeds: [[0, ""]], speed: 0 });
    get("speed").oninput = ({ target }) => this.set(+target.value);
  }

  begin(hello) {
    this.hello = hello;
    this.speeds = speedsOf(hello);
    get("speed").max = this.speeds.length - 1;
    this.show(0);
  }

  // speed: steps a second; 0: unlimited
  show(speed) {
    const words = speedWords(this.hello, speed);
    this.speed = speed || 0;
    get("speed").value = nearestSpeed(this.speeds, this.speed);
    get("speed").setAttribute("aria-valuetext", words);
    get("pace").textContent = words;
  }

  // Take a choice; the next key does not wait for the run's answer.
  set(i) {
    const [speed] = this.speeds[i];
    this.act("speed", { value: speed });
    this.show(speed);
  }

  turn(by) {
    this.set(Math.max(0, Math.min(this.speeds.length - 1, nearestSpeed(this.speeds, this.speed) + by)));
    this.said("Speed: " + get("pace").textContent);
  }
}

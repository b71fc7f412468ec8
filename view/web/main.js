// main.js - the page: connects a run or a recording with the controls.
// SPDX-License-Identifier: MIT
import { KEYS, helpRows, listenKeys, listenPointers } from "./keys.js";
import { Film, Filming, saveBlob } from "./film.js";
import { Link, fairShare } from "./link.js";
import { MAPS } from "./colour_maps.js";
import { formatNumber, formatQuantity } from "./numbers.js";
import { Player } from "./player.js";
import { Plots } from "./plots.js";
import { Scene } from "./scene.js";
import { aliveWords, objectWords } from "./cells.js";
import { fill, get, make, name } from "./elements.js";
import { BodyPanel } from "./orbits.js";
import { SpeedSlider } from "./speed_slider.js";
import { RuleBox } from "./rule_box.js";
import { Past, Table } from "./history.js";
import { Trails } from "./trails.js";
import { bodyPlace } from "./points.js";
import { Replay } from "./replay.js";
import { Drawing } from "./draw.js";
import { first } from "./connect.js";

const system = matchMedia("(prefers-color-scheme: dark)");
const page = { past: new Past(), trails: new Trails(), hello: { can: [], time: null }, state: {}, at: -1, owed: 0, notes: 0 };
const scene = new Scene(get("picture"), get("marks"), note, redraw);
const bodies = new BodyPanel(scene, redraw);
const act = (what, more) => source.act(what, more);
const filming = new Filming({ page, layers, act, said: note, save: (blob) => saveBlob(blob, fileName("webm")),
  pressed: (on) => get("film").setAttribute("aria-pressed", String(on)) });
const drawing = new Drawing(scene, act, note);
const pace = new SpeedSlider(act, note), rules = new RuleBox(act, note);
const TRAILED = 512; // bodies, at most

// ---- drawing, when something changed

let asked = 0;

function redraw() {
  asked ||= requestAnimationFrame(drawAll);
}

function drawAll(now) {
  cancelAnimationFrame(asked);
  asked = 0;
  const early = !page.seen && now < 1000; // the first picture does not wait for axes and plots
  const moving = scene.draw(now, early);
  page.seen ||= !!scene.frame;
  if (early) redraw();
  else if (page.plots && !get("plots").hidden) page.plots.draw(scene.frame && !page.plots.log ? scene.frame.time : NaN, scene.look.dark);
  drawWords();
  if (filming.film) filming.frame();
  const owed = page.owed;
  page.owed = 0;
  if (owed) source.drawn();
  if (moving) redraw();
}

// ---- words

function note(text, stay = false) {
  get("notice").textContent = text;
  get("notice").hidden = !text;
  say(text);
  const mine = ++page.notes;
  if (text && !stay) setTimeout(() => mine === page.notes && (get("notice").hidden = true), 6000);
}

function say(text) {
  page.said = performance.now();
  if (text) get("said").textContent = text;
}

function timeWords() {
  const { name: what, unit } = page.hello.time || {};
  return scene.frame ? `${what} ${formatQuantity(scene.frame.time, unit, 5)}` : "no picture yet";
}

function drawWords() {
  const { hello, state } = page, { frame } = scene;
  if (!hello.time) return;
  const doing = page.trouble || (isOver() ? "ended" : state.paused ? "paused" : hello.live ? "running" : "playing");
  const going = /ing$/.test(doing), still = hello.frames === 1, words = still ? [] : [replay.playing ? "replaying" : page.at >= 0 ? "looking back" : doing];
  document.body.classList.toggle("still", still); // a single picture without playback
  get("dot").hidden = false;
  get("dot").classList.toggle("live", going);
  if (frame) {
    if (hello.time.name !== hello.step && (frame.time || !still)) words.push(timeWords());
    if (frame.kind !== "grid" && (frame.step || !still)) words.push(`${hello.step} ${formatNumber(frame.step)}`);
    if (state.steps > 0 && going && frame.kind !== "grid") words.push(`${formatNumber(state.steps, 3)} ${hello.step}s a second`);
    if (frame.kind === "points" && frame.flags & 2) words.push(`${formatNumber(frame.count)} of ${formatNumber(frame.total)} bodies`);
    if (frame.kind === "cells") words.push(...aliveWords(frame, page.counted), ...objectWords(frame, state.objects, !going));
    if (frame.kind === "cells" && scene.isCoarse()) words.push(`counted in squares of ${formatNumber(2 ** frame.zoom)} × ${formatNumber(2 ** frame.zoom)} cells`);
    if (scene.words && !scene.picture) words.push(scene.words);
    get("clock").textContent = formatQuantity(frame.time, hello.time.unit, 5);
  }
  if (!frame) words.push("no picture yet", ...going && state.fraction > 0 ? [`${Math.floor(100 * state.fraction)} % done`] : []);
  const text = words.join(" · ");
  if (get("words").textContent !== text) get("words").textContent = text;
  if (performance.now() - page.said > 10000) say(text);
}

// ---- messages from the run

const on = {
  hello(hello) {
    const again = hello.run && page.hello.run === hello.run;
    page.hello = { rate: 30, step: "step", time: { name: "time" }, facts: [], ...hello, can: hello.rights === "guest" ? [] : hello.can || [] };
    page.end = "";
    showTitle();
    if (!again) {
      page.past.clear();
      page.trails.clear();
      page.at = -1;
      page.state = {};
      replay.stop();
      drawing.turn(false);
      page.counted = null;
      scene.look.colour = "none";
      makePlots(); // first, because plots take part of the window
      scene.begin(page.hello);
      bodies.begin(hello.points);
      setTrails(Boolean(bodies.known)); // few bodies are known by their paths
    }
    wishNow();
    if (!again) scene.prepare();
  },
  ready() {
    setTimeout(makePanel, 100); // after the first picture
    wish();
  },
  share: wish,
  text(message) {
    if (message.type === "state") setState(message);
    if (message.type === "bodies") {
      bodies.update(message);
      page.trails.addPath(message.path);
    }
    if (message.type === "profiles") page.plots?.profiles.take(message);
    if (message.type === "say" || message.type === "refused") note(message.text, message.level === "error");
    if (message.type === "end") {
      page.end = message.text;
      note(`The run has ended: ${message.text}.`);
      setState(page.state);
    }
    redraw();
  },
  frame(frame) {
    if (frame.kind === "rows") {
      if (page.table) page.table.add(frame);
    } else {
      const live = page.hello.live, late = live && page.at >= 0;
      const alone = !live && (filming.film || frame.time < page.lastTime || page.state.paused);
      page.lastTime = frame.time;
      if (frame.population >= 0) page.counted = frame;
      if (alone) {
        page.past.clear();
        page.trails.clear();
      }
      page.past.add(frame);
      if (frame.kind === "points" && frame.count <= TRAILED && !(frame.flags & 4)) page.trails.addFrame(frame, bodyPlace);
      if (!late) {
        scene.show(frame, alone);
        drawTrails();
      }
      setHistory();
      wish();
      if (late) return; // a viewer in the history requests nothing
    }
    page.owed++;
    if (page.seen) redraw();
    else drawAll(performance.now()); // at once
  },
  over() {
    page.gone = true;
    const last = scene.frame && scene.frame.flags & 1;
    note("The run is over, and its view is closed. " + (last ? "This is its last picture." : "Its last picture did not arrive."), true);
    setState(page.state);
    redraw();
  },
  trouble(text, final = false) {
    page.trouble = text ? final ? "ended" : "not connected" : "";
    if (text || !get("notice").hidden) note(text, true);
    redraw();
  },
};

// A recording in this page, or the run that served the page.
let source = Player.here(on) || new Link(first, on);

// The run computes no more: its pictures can be replayed, and while it serves its last state, seen from elsewhere.
function isOver() {
  return Boolean(page.gone || page.end || page.state.ended);
}

function setState(state) {
  page.state = state;
  if (rules.take(state.rule, page.hello)) {
    showTitle();
    makePanel();
    note(`The rule is ${state.rule}.`);
  }
  scene.setBox(state.box);
  const { can } = page.hello, over = isOver(), stands = over ? !replay.playing : state.paused;
  document.querySelector("#pause use").setAttribute("href", stands ? "#i-run" : "#i-pause");
  name(get("pause"), over ? replay.playing ? "Stop" : "Replay the pictures so far" : stands ? "Go on" : "Pause", "Space");
  get("pause").disabled = over ? page.past.length < 2 : !can.includes("pause");
  get("step").disabled = over || !can.includes("step");
  get("speed").disabled = over;
  get("again").hidden = !over || page.gone || !can.includes("again");
  get("draw").hidden = over || !can.includes("put");
  if (over) drawing.turn(false);
  get("quit").hidden = page.gone || !can.includes("quit");
  get("quit").textContent = over ? "Close the view" : "End the run …";
  wish();
  pace.show(state.speed);
  setHistory();
}

function showTitle() {
  document.title = page.hello.title + " – stdcl view";
  get("title").textContent = page.hello.title;
}

function setHistory() {
  const slider = get("history"), { live, frames = 1 } = page.hello;
  slider.max = Math.max(0, (live ? page.past.length : frames) - 1);
  slider.value = live ? page.at < 0 ? slider.max : page.at : page.state.frame || 0;
  slider.disabled = slider.max === "0";
  get("now").hidden = page.at < 0;
  slider.setAttribute("aria-valuetext", timeWords());
}

// Request data from the run again when camera, colours or bandwidth change: a new sample of bodies
// at most ten times a second, a new part of a grid with each of its pictures.
function wish() {
  page.wishing ||= setTimeout(() => {
    page.wishing = 0;
    wishNow();
  }, scene.kind === "cells" ? 1000 / page.hello.rate : 100);
}

// A still picture has all bodies; a moving one at most what bandwidth and GPU allow.
function wishNow() {
  const total = page.hello.points ? page.hello.points.total : 0, share = fairShare(source.bytes, Math.min(total, Math.floor(2 * scene.most)));
  const what = scene.wish(page.state.paused ? { ...share, count: Math.min(total, 4e6) } : share);
  if (what) source.want(what);
}

// ---- controls

function makePlots() {
  const { rows } = page.hello;
  page.table = rows ? new Table(rows.columns, rows.x || 0) : null;
  page.plots = rows && rows.columns.length > 1 ? new Plots(get("plots"), page.table, rows.columns[page.table.x].name !== page.hello.time.name, redraw) : null;
  get("plots").hidden = !page.plots || innerHeight < 520;
  get("charts").hidden = !page.plots;
}

function colours() {
  const { points, cells } = page.hello;
  return points ? points.colours || ["none"] : cells ? cells.states > 2 ? ["none"] : ["none", "age"] : [];
}

function makePanel() {
  const { hello } = page, { can } = hello, list = colours();
  if (!page.chosen && (hello.cells || !source.bytes) && list.length > 1) scene.setLook({ colour: list[1] }); // the recording's own
  fill("by", list.map((c) => [c, c === "none" ? hello.points ? "density" : "alive or dead" : c]), scene.look.colour);
  fill("map", MAPS.map((m) => [m, m]), scene.look.map);
  pace.begin(hello);
  rules.begin(hello);
  get("by-row").hidden = list.length < 2;
  get("bright-row").hidden = get("trails-row").hidden = get("follow-row").hidden = !hello.points;
  get("speed-row").hidden = !can.includes("speed");
  get("rle").hidden = !hello.cells;
  get("csv").hidden = get("svg").hidden = get("log-row").hidden = !page.plots;
  get("fit").hidden = !hello.points && !hello.cells;
  get("facts").replaceChildren(...[...hello.facts, ["stdcl", hello.stdcl || "–"]].flatMap(([term, text]) => [make("dt", term), make("dd", text)]));
  setState(page.state);
}

function setColour(value) {
  page.chosen = true;
  scene.setLook({ colour: value });
  get("by").value = value;
  say("Colour by " + value);
  wish();
}

function setTheme(value) {
  document.documentElement.dataset.theme = value;
  scene.setLook({ dark: value ? value === "dark" : system.matches });
}

function openPanel(open) {
  get("panel").hidden = !open;
  get("looks").setAttribute("aria-expanded", String(open));
  if (open) get("panel").querySelector("label:not([hidden]) select").focus();
}

// alone: not as the picture that follows the one before
function goTo(i, alone = true) {
  if (!page.hello.live) {
    source.act("seek", { frame: i });
    return;
  }
  const { past, at: was } = page, last = past.length - 1;
  page.at = i >= last || i < 0 ? -1 : i;
  if (past.length) scene.show(past.frames[page.at < 0 ? last : i], alone);
  if (was >= 0 && page.at < 0) source.drawn();
  setHistory();
  redraw();
}

const replay = new Replay((i) => {
  goTo(i, i === 0);
  return page.at >= 0;
}, () => setState(page.state));

const ACTS = {
  pause: () => isOver() ? replay.toggle() : source.act(page.state.paused ? "run" : "pause"),
  step: () => isOver() || source.act("step", { n: 1 }),
  speed: (key) => pace.turn(key === "-" ? -1 : 1),
  back: (key) => goTo(Math.max(0, +get("history").value + (key === "[" ? -1 : 1))),
  now: () => page.hello.live && goTo(-1),
  again: () => get("again").hidden || source.act("again"),
  draw: () => get("draw").hidden || startDrawing(),
  rotate: () => drawing.on && drawing.rotate(),
  erase: () => drawing.on && drawing.erase(),
  undo: () => drawing.back(-1, page),
  start: () => drawing.back(-1e6, page),
  arrows: ([x, y], shift) => move("drag", ...[x, y].map((v) => v * (shift || scene.kind === "cells" ? -40 : 40)), shift),
  zoom: (key) => move("zoom", key === "PageUp" ? 1.25 : 0.8),
  fit: () => move("fit"),
  axis: (key) => scene.kind === "points" && (scene.orbit.along(key), scene.touched()),
  follow: () => scene.kind === "points" && (get("follow").checked = scene.setFollow(scene.follow < 0)),
  colour: () => colours().length > 1 && setColour(colours()[(colours().indexOf(scene.look.colour) + 1) % colours().length]),
  map: () => setMap(MAPS[(MAPS.indexOf(scene.look.map) + 1) % MAPS.length]),
  trails: () => scene.kind === "points" && setTrails(!scene.look.trails),
  looks: () => openPanel(get("panel").hidden),
  charts: () => page.plots && (get("plots").toggleAttribute("hidden"), redraw()),
  png: savePng,
  rle: saveRle,
  csv: () => page.plots && page.plots.csvFiles().forEach(([kind, text]) => saveBlob(new Blob([text]), fileName(kind))),
  svg: () => page.plots && saveBlob(new Blob([page.plots.svg(scene.look.dark)]), fileName("svg")),
  log: () => setLog(!get("log").checked),
  film: () => filming.film ? filming.end() : filming.begin(),
  hide: () => document.body.classList.toggle("bare"),
  help: showHelp,
};

function move(how, ...by) {
  if (!scene.picture) return;
  scene[how](...by);
  wish();
}

// The pen: the run is paused while cells are drawn.
function startDrawing() {
  drawing.turn(!drawing.on);
  if (!drawing.on) return;
  goTo(-1);
  if (!page.state.paused) source.act("pause");
  note("Drawing. Shift selects, the right button moves the picture.");
}

function setLog(on) {
  get("log").checked = on;
  if (page.plots) page.plots.setLog(on);
  redraw();
}

function setMap(map) {
  get("map").value = map;
  scene.setLook({ map });
  say("Colours: " + map);
}

function setTrails(trails) {
  get("trails").checked = trails;
  scene.setLook({ trails });
  drawTrails();
}

// As long as the last 256 pictures.
function drawTrails() {
  const { frames } = page.past;
  scene.setTrails(page.trails.since(frames[Math.max(0, frames.length - 256)]?.time));
}

function showHelp() {
  get("keys").replaceChildren(...helpRows(scene.kind).map(([keys, text]) => {
    const row = make("tr", ""), left = row.insertCell();
    keys.forEach((key) => left.append(make("kbd", key), " "));
    row.append(make("td", text));
    return row;
  }));
  get("help").showModal();
}

// ---- pictures and films

function fileName(kind) {
  return `${page.hello.program}-${scene.frame ? scene.frame.step : 0}.${kind}`;
}

function layers() {
  return [get("picture"), ...scene.picture ? [get("marks")] : []];
}

function savePng() {
  scene.draw(performance.now()); // so that the canvas holds the picture to copy
  new Film(layers()).compose().toBlob((blob) => saveBlob(blob, fileName("png")));
}

function saveRle() {
  if (scene.kind !== "cells" || !scene.frame) return;
  const text = scene.rle();
  if (text) saveBlob(new Blob([text]), fileName("rle"));
  else note("From here cells are only counted. Come nearer.");
}

// ---- hands

for (const [keys, text, act] of KEYS) {
  const button = document.querySelector(`footer [data-key="${keys[0]}"]`);
  if (!button) continue;
  name(button, text, keys[0] === " " ? "Space" : keys[0]);
  button.onclick = () => ACTS[act](keys[0]);
}
for (const id of ["now", "rle", "csv", "svg"]) get(id).onclick = ACTS[id];
const CHANGES = {
  history: (value) => {
    replay.stop();
    goTo(+value);
  },
  by: setColour,
  map: setMap,
  bright: (value) => scene.setLook({ bright: 2 ** value }),
  trails: (value, on) => setTrails(on),
  log: (value, on) => setLog(on),
  follow: (value, on) => { get("follow").checked = scene.setFollow(on); },
  theme: (value) => {
    setTheme(value);
    try { localStorage.setItem("theme", value); } catch {} // a page from a file may have no storage
  },
};
for (const id in CHANGES) get(id).oninput = ({ target }) => CHANGES[id](target.value, target.checked);
get("quit").onclick = () => isOver() ? source.act("quit", { confirm: true }) : get("sure").showModal();
get("sure").onclose = () => get("sure").returnValue === "quit" && source.act("quit", { confirm: true });
listenKeys((act, ...rest) => ACTS[act](...rest), () => get("single").checked);
listenPointers(get("picture"), {
  drag: (...d) => move("drag", ...d),
  zoom: (...z) => move("zoom", ...z),
  centre: (...c) => move("centre", ...c),
  click: (x, y) => scene.kind === "points" && bodies.known && bodies.pick(scene.nearest(x, y, 24 * scene.orbit.ratio)),
  take: (x, y, selects) => drawing.begin(x, y, selects),
  draw: (x, y) => drawing.move(x, y),
  drop: () => drawing.end(),
  over: (x, y) => {
    drawing.pointer = [x, y];
    const tip = get("tip"), text = scene.kind === "grid" && scene.under ? scene.under(x, y) : "";
    tip.hidden = !text;
    tip.textContent = text;
    [tip.style.left, tip.style.top] = [Math.min(x, innerWidth - 260) + 14 + "px", y + 14 + "px"];
  },
});
addEventListener("keydown", (e) => {
  if (e.key === "Escape" && !get("panel").hidden) {
    openPanel(false);
    get("looks").focus();
  }
});
addEventListener("pointerdown", (e) => {
  if (!get("panel").hidden && !e.target.closest("#panel, #looks")) openPanel(false);
});
system.addEventListener("change", () => setTheme(get("theme").value));
try { get("theme").value = localStorage.getItem("theme") || ""; } catch {} // as above
setTheme(get("theme").value);

// peer.test.mjs - the viewer's server with a third-party client, npm's ws: its messages, and four
// kinds of slow viewers at once, which must not affect another viewer. $STDCL_CHILD is a run
// (child.c).
// SPDX-License-Identifier: MIT
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import net from "node:net";
import { createInterface } from "node:readline";
import test from "node:test";
import { packageOf } from "./npm.mjs";

const WebSocket = packageOf("ws");
const WANT = { type: "want", points: { count: 20000, colour: "speed" } };

// A run; `steps` resolves at its end to its number of steps.
async function begin(kind) {
  const run = spawn(process.env.STDCL_CHILD, [kind], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: run.stdout })[Symbol.asyncIterator]();
  const url = new URL((await lines.next()).value);
  await lines.next();
  await lines.next();
  const ended = new Promise((done) => run.on("exit", done));
  return { url, token: url.hash.slice(3), port: +url.port,
    async end() {
      run.stdin.end();
      const said = (await lines.next()).value;
      assert.equal(await ended, 0);
      return parseInt(said, 10);
    } };
}

// A viewer with all received messages, and a way to wait for more.
function viewer({ url, token }, options = {}) {
  const socket = new WebSocket(`ws://${url.host}/live`, ["stdcl-view.1", "token." + token], { origin: `http://${url.host}`, ...options });
  const came = [], waiting = [];
  const push = (message) => waiting.length ? waiting.shift()(message) : came.push(message);
  socket.on("message", (data, binary) => push(binary ? data : JSON.parse(data)));
  socket.on("close", (code) => push({ type: "closed", code }));
  socket.on("error", () => {});
  const next = () => came.length ? Promise.resolve(came.shift()) : new Promise((done) => waiting.push(done));
  return { socket, say: (message) => socket.send(JSON.stringify(message)), next,
    opened: () => new Promise((done, fail) => { socket.on("open", done); socket.on("error", fail); }),
    async until(what) {
      for (;;) {
        const message = await next();
        if (what(message)) return message;
        if (Buffer.isBuffer(message)) socket.send('{"type":"credit","n":1}');
        assert.notEqual(message.type, "closed", "the connection was closed");
      }
    } };
}

const isPoints = (m) => Buffer.isBuffer(m) && m[0] === 1;
const isText = (type) => (m) => m.type === type;

test("a picture of every coding, pings, and the end, with compression of messages offered", { timeout: 300000 }, async () => {
  const run = await begin("points"), v = viewer(run, { perMessageDeflate: true });
  assert.equal((await v.until(isText("hello"))).points.total, 20000);
  assert.equal(v.socket.protocol, "stdcl-view.1");
  for (const coding of [0, 1, 2]) {
    v.say({ ...WANT, points: { count: 500, coding } });
    v.say({ type: "credit", n: 1 });
    const found = await v.until((m) => isPoints(m) && m.readUInt32LE(76) === 500 && (m[1] === coding || coding === 2 && m[1] === 3));
    assert.equal(found.readUInt32LE(72), 20000);
  }
  v.say({ type: "ping", id: 7 });
  assert.equal((await v.until(isText("pong"))).id, 7);
  v.socket.ping();
  await new Promise((done) => v.socket.on("pong", done));
  v.say({ type: "do", what: "quit", confirm: true });
  await v.until(isText("end"));
  assert.equal((await v.until(isText("closed"))).code, 1000);
  await run.end();
});

test("messages in pieces, and what is no message", { timeout: 300000 }, async () => {
  const run = await begin("points");
  const pieces = viewer(run);
  await pieces.opened();
  pieces.socket.send('{"type":"pi', { fin: false });
  pieces.socket.send('ng","id":', { fin: false });
  pieces.socket.send("3}", { fin: true });
  assert.equal((await pieces.until(isText("pong"))).id, 3);
  for (const [say, code] of [[(s) => s.send("{}"), 4400], [(s) => s.send(Buffer.from([1])), 1003], [(s) => s.send(" ".repeat(9000)), 1009]]) {
    const v = viewer(run);
    await v.opened();
    say(v.socket);
    assert.equal((await v.until(isText("closed"))).code, code);
  }
  pieces.socket.close();
  assert.ok(await run.end() > 0);
});

test("one that reads nothing, one that asks for nothing, half a handshake and one that vanishes: others see the run, and it ends", { timeout: 300000 }, async () => {
  const run = await begin("points"), deaf = viewer(run), silent = viewer(run), gone = viewer(run), half = net.connect(run.port, "127.0.0.1");
  half.on("error", () => {});
  half.write(`GET /live HTTP/1.1\r\nHost: 127.0.0.1:${run.port}\r\nConnection: Upgrade\r\nUpgrade: webso`);
  await Promise.all([deaf, silent, gone].map((v) => v.opened()));
  deaf.socket._socket.pause();
  for (const v of [deaf, gone]) v.say(WANT);
  for (let i = 0; i < 500; i++) deaf.say({ type: "credit", n: 8 }); // more than its way holds
  gone.say({ type: "credit", n: 8 });
  gone.socket._socket.destroy();
  const v = viewer(run);
  await v.until(isText("hello"));
  v.say(WANT);
  v.say({ type: "credit", n: 2 });
  let step = -1n;
  for (let i = 0; i < 30; i++) {
    const at = (await v.until(isPoints)).readBigUInt64LE(16);
    assert.ok(at > step, "each picture is newer");
    step = at;
    v.say({ type: "credit", n: 1 });
  }
  assert.ok(BigInt(await run.end()) >= step);
  for (const other of [deaf, silent, v]) other.socket.terminate();
  half.destroy();
});

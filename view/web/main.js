// main.js - bodies as dots, seen from above. SPDX-License-Identifier: MIT
const token = location.hash.slice(3);
history.replaceState(null, "", location.pathname);
const link = new WebSocket("ws://" + location.host + "/live", ["stdcl-view.1", "token." + token]);
link.binaryType = "arraybuffer";
const context = document.getElementById("picture").getContext("2d");
function draw(view) {
  const count = view.getUint32(76, true);
  context.fillStyle = "#000";
  context.fillRect(0, 0, 640, 640);
  context.fillStyle = "#fc8";
  for (let i = 0; i < count; i++)
    context.fillRect(view.getUint16(112 + 2 * i, true) / 102.4, 640 - view.getUint16(112 + 2 * (count + i), true) / 102.4, 1, 1);
}
link.onopen = () => link.send('{"type":"credit","n":2}');
link.onmessage = (event) => {
  if (typeof event.data === "string") {
    const message = JSON.parse(event.data);
    if (message.type === "hello") document.getElementById("title").textContent = message.title;
    return;
  }
  const view = new DataView(event.data);
  if (view.getUint8(0) === 1) draw(view);
  document.getElementById("state").textContent = "step " + view.getBigUint64(16, true);
  requestAnimationFrame(() => link.send('{"type":"credit","n":1}'));
};

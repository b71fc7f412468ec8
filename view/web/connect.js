// connect.js - connects to the run, before the other parts of the page are created.
// SPDX-License-Identifier: MIT

export function sendOver(socket, message) {
  if (socket.readyState !== 1) return false;
  socket.send(JSON.stringify(message));
  return true;
}

// Open the connection and send a first request with credits at once, before the run has described
// itself, so that no picture waits for that: a small sample of bodies. Other kinds of pictures
// ignore the request.
export function openWay(token) {
  const socket = new WebSocket("ws://" + location.host + "/live", ["stdcl-view.1", "token." + token]);
  socket.binaryType = "arraybuffer";
  const made = performance.now();
  socket.onopen = () => {
    socket.trip = performance.now() - made; // upper bound, before frames in flight lengthen it
    sendOver(socket, { type: "want", points: { count: 40000 } });
    sendOver(socket, { type: "credit", n: 2 });
  };
  return socket;
}

// The link's secret: from the address, or from before a reload. Storage is slow, so the secret is
// stored later.
function openFirst() {
  let [, token] = /^#t=([0-9a-f]{32})$/.exec(location.hash) || [];
  setTimeout(keepToken, 500, token);
  try {
    token ||= sessionStorage.getItem("token");
  } catch {
    // the run reports a missing token
  }
  return { token, socket: openWay(token) };
}

function keepToken(token) {
  try {
    if (token) sessionStorage.setItem("token", token);
    history.replaceState(null, "", location.pathname);
  } catch {
    // without storage the address keeps the token
  }
}

// Null if the page contains a recording.
export const first = globalThis.document && !document.querySelector(".recording") && openFirst();

// connect.js - the way to the run, opened before anything else of the page is made.
// SPDX-License-Identifier: MIT

export function sendOver(socket, message) {
  if (socket.readyState !== 1) return false;
  socket.send(JSON.stringify(message));
  return true;
}

// The first wish and credits are on their way before the run has said what it is, so that no picture waits for that: of bodies a small sample, and what else
// there may be does not heed it.
export function openWay(token) {
  const socket = new WebSocket("ws://" + location.host + "/live", ["stdcl-view.1", "token." + token]);
  socket.binaryType = "arraybuffer";
  const made = performance.now();
  socket.onopen = () => {
    socket.trip = performance.now() - made; // at most, and before frames make it longer
    sendOver(socket, { type: "want", points: { count: 40000 } });
    sendOver(socket, { type: "credit", n: 2 });
  };
  return socket;
}

// The secret of the link: from the address, or from before a reload. Storage is slow to come, so it gets the secret later.
function openFirst() {
  let [, token] = /^#t=([0-9a-f]{32})$/.exec(location.hash) || [];
  setTimeout(keepToken, 500, token);
  try {
    token ||= sessionStorage.getItem("token");
  } catch {
    // the run will say that there is none
  }
  return { token, socket: openWay(token) };
}

function keepToken(token) {
  try {
    if (token) sessionStorage.setItem("token", token);
    history.replaceState(null, "", location.pathname);
  } catch {
    // what has no storage keeps its address
  }
}

// Nothing where the recording lies in the page.
export const first = globalThis.document && !document.querySelector(".recording") && openFirst();

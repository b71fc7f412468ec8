"""server.py - the window's server tested by python3-websockets and by raw sockets: answers, refusals, recovery from errors.

    server.py CHILD STDCL [TEST]
    server.py CHILD STDCL ranks LAUNCHER...     with `mpirun -n 2`, say

Nothing here depends on how fast the machine is: each step waits until something happens.
SPDX-License-Identifier: MIT
"""
import asyncio
import contextlib
import fcntl
import gzip
import json
import math
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

try:
    import websockets
except ImportError:
    print("python3-websockets is not installed")
    sys.exit(77)

CHILD, STDCL = sys.argv[1:3]
PATIENCE = 120


class Run:
    """The child, and its links."""

    def __init__(self, *args):
        self.process = subprocess.Popen([CHILD, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:  # built without libwebsockets: 77
            os._exit(self.process.wait())
        self.guest = self.process.stdout.readline().strip()
        self.tunnel = self.process.stdout.readline().strip()
        self.port = int(self.url.split(":")[2].split("/")[0])
        self.before = self.held()

    def held(self):
        """Bytes of the heap."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline().split()[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        said = self.process.stdout.read()
        assert self.process.wait(PATIENCE) == 0, "the run ended with status %d" % self.process.returncode
        self.steps = int(said.split()[0])
        self.longest = int(said.split()[2])

    def token(self, guest=False):
        return (self.guest if guest else self.url).split("#t=")[1]

    def connect(self, token=None, origin=None, host=None, guest=False, **more):
        host = host or "127.0.0.1:%d" % self.port
        return websockets.connect(
            "ws://%s/live" % host, host="127.0.0.1", port=self.port, subprotocols=["stdcl-view.1", "token." + (token or self.token(guest))],
            origin=origin or "http://" + host, compression=None, max_size=1 << 26, open_timeout=PATIENCE, ping_interval=None, **more)

    async def eventually(self):
        """Connect as soon as there is room."""
        for _ in range(1000):
            try:
                async with self.connect() as ws:
                    return json.loads(await message(ws))
            except (websockets.InvalidHandshake, websockets.ConnectionClosed, OSError):
                await asyncio.sleep(0.05)
        assert False, "nobody is let in any more"

    def ask(self, text, shut=True):
        """Return the status of a raw request; None: the connection ended without one."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as s:
            try:
                s.sendall(text)
                if shut:
                    with contextlib.suppress(OSError):  # the server may have answered garbage and be gone: its answer is still there
                        s.shutdown(socket.SHUT_WR)
                answer = b""
                while b"\r\n" not in answer:
                    part = s.recv(4096)
                    if not part:
                        break
                    answer += part
            except (ConnectionResetError, BrokenPipeError):
                return None
        return int(answer.split()[1]) if answer.startswith(b"HTTP/1.") else None


async def message(ws):
    return await asyncio.wait_for(ws.recv(), PATIENCE)


async def text_of(ws, kind):
    while True:
        m = await message(ws)
        if isinstance(m, str) and json.loads(m)["type"] == kind:
            return json.loads(m)


async def frame(ws, kind):
    """Return the next frame of a kind; frames of other kinds are read and paid for."""
    while True:
        m = await message(ws)
        if not isinstance(m, str):
            if m[0] == kind:
                return m
            await ws.send('{"type":"credit","n":1}')


async def closing(ws):
    try:
        while True:
            await message(ws)
    except websockets.ConnectionClosed as e:
        return e.rcvd.code if e.rcvd else 1006


# ---- Answers. ------------------------------------------------------------------------------------

async def shows():
    with Run("points") as run:
        async with run.connect() as ws:
            assert ws.subprotocol == "stdcl-view.1"
            hello = json.loads(await message(ws))
            assert hello["type"] == "hello" and hello["version"] == 1 and hello["live"] and hello["rights"] == "all", hello
            assert hello["points"]["total"] == 20000 and hello["points"]["colours"] == ["none", "speed"], hello
            await ws.send('{"type":"want","points":{"count":500,"colour":"speed","coding":0}}')
            await ws.send('{"type":"credit","n":2}')
            first = await frame(ws, 1)
            assert struct.unpack_from("<II", first, 72) == (20000, 500) and len(first) == 112 + 7 * 500
            await ws.send('{"type":"credit","n":2}')
            second = await frame(ws, 1)
            assert struct.unpack_from("<Q", second, 16) > struct.unpack_from("<Q", first, 16)
            await ws.send('{"type":"ping","id":9007199254740992}')
            assert (await text_of(ws, "pong"))["id"] == 9007199254740992


async def credits():
    """Without a credit no frame arrives, however long a client waits."""
    with Run("points") as run:
        async with run.connect() as ws:
            await ws.send('{"type":"want","points":{"count":10}}')
            for n in range(3):
                await ws.send('{"type":"credit","n":%d}' % (n + 1))
                got = 0
                while got < n + 1:
                    got += not isinstance(await message(ws), str)
                for k in range(5):  # five turns of the server, and not a frame
                    await ws.send('{"type":"ping","id":%d}' % k)
                    while True:
                        m = await message(ws)
                        assert isinstance(m, str), "a frame that was not paid for"
                        if json.loads(m).get("id") == k:
                            break


async def asks_early():
    """A request and a credit sent before the hello is read bring the first picture."""
    with Run("points") as run:
        async with run.connect() as ws:
            await ws.send('{"type":"want","points":{"count":40000}}')
            await ws.send('{"type":"credit","n":1}')
            assert json.loads(await message(ws))["type"] == "hello"
            assert struct.unpack_from("<II", await frame(ws, 1), 72) == (20000, 20000)


async def cells():
    with Run("cells") as run:
        async with run.connect() as ws:
            await ws.send('{"type":"want","cells":{"x":-3,"y":300,"width":64,"height":8,"zoom":0,"coding":0}}')
            await ws.send('{"type":"credit","n":2}')
            m = await frame(ws, 2)
            assert struct.unpack_from("<qqIIIIQ", m, 24) == (253, 44, 64, 8, 0, 0, 17), struct.unpack_from("<qqIIIIQ", m, 24)
            step = struct.unpack_from("<Q", m, 16)[0]
            assert m[64:] == bytes((253 + 44 + k + step) & 255 for k in range(64)), "other cells than the run's"
            await ws.send('{"type":"want","cells":{"x":0,"y":0,"width":4096,"height":1000,"zoom":2,"coding":2}}')
            while struct.unpack_from("<II", m, 40) != (64, 64):
                await ws.send('{"type":"credit","n":1}')
                m = await frame(ws, 2)


async def obeys():
    """Pause stops the steps; a guest may not pause; quitting needs confirmation."""
    with Run("points") as run:
        async with run.connect() as ws, run.connect(guest=True) as guest:
            assert json.loads(await message(guest))["rights"] == "guest"
            await guest.send('{"type":"do","what":"quit","confirm":true}')
            assert (await text_of(guest, "refused"))["what"] == "quit"
            await ws.send('{"type":"do","what":"pause"}')
            while not (await text_of(ws, "state"))["paused"]:
                pass
            while not (await text_of(guest, "state"))["paused"]:
                pass
            await ws.send('{"type":"do","what":"quit"}')
            assert "confirmed" in (await text_of(ws, "refused"))["text"]
            await ws.send('{"type":"do","what":"seek","frame":1}')
            assert (await text_of(ws, "refused"))["what"] == "seek"
            await ws.send('{"type":"do","what":"quit","confirm":true}')
            assert (await text_of(guest, "end"))["text"] == "told to end"
            assert await closing(ws) == 1000 and await closing(guest) == 1000


async def seeks():
    """A paused replay shows the requested position."""
    with Run("replay") as run:
        async with run.connect() as ws:
            await ws.send('{"type":"do","what":"pause"}')
            while not (await text_of(ws, "state"))["paused"]:
                pass
            await ws.send('{"type":"want","points":{"n":100,"coding":0}}')
            for wanted in (7, 2, 3):
                await ws.send('{"type":"credit","n":1}')
                await ws.send('{"type":"do","what":"seek","frame":%d}' % wanted)
                while struct.unpack_from("<Q", await frame(ws, 1), 16)[0] != wanted:
                    await ws.send('{"type":"credit","n":1}')


async def ends_at_once():
    """A viewer that stops reading does not delay the end of a run."""
    with Run("points") as run:
        ws = await run.connect()
        await message(ws)
        await ws.send('{"type":"want","points":{"count":20000,"colour":"speed"}}')
        ws.transport.pause_reading()
        before = -1
        while waiting(ws) > before or before <= 0:  # until the way is full
            before = waiting(ws)
            for _ in range(20):
                await ws.send('{"type":"credit","n":8}')
                await asyncio.sleep(0.001)
        begun = time.monotonic()
    took = time.monotonic() - begun
    ws.transport.abort()
    assert took < PATIENCE / 2, "the end took %.1f s" % took


# ---- Refusals. -----------------------------------------------------------------------------------

async def refuses_strangers():
    with Run("points") as run:
        port = run.port
        async with run.connect(token="0" * 32) as ws:
            assert await closing(ws) == 4401
        for origin, host in ((None, "example.org:%d" % port), ("http://example.org", None), ("http://example.org:%d" % port, "example.org:%d" % port),
                             ("null", None), ("https://127.0.0.1:%d" % port, None), ("http://127.0.0.1:1", None)):
            try:
                async with run.connect(origin=origin, host=host):
                    assert False, "let in: Origin %s, Host %s" % (origin, host)
            except websockets.InvalidHandshake:
                pass
        # through a tunnel the port differs
        async with run.connect(host="localhost:8080") as ws:
            assert json.loads(await message(ws))["type"] == "hello"


async def refuses_requests():
    no = {400, 403, 404, 405, 414, 421, 431, None}  # garbage may be refused in any words, or by silence
    good = b"Host: 127.0.0.1\r\n\r\n"
    table = [
        (b"GET / HTTP/1.1\r\n" + good, {200}), (b"GET /main.js HTTP/1.1\r\n" + good, {200}), (b"GET /nothing HTTP/1.1\r\n" + good, {404}),
        (b"GET /../../etc/passwd HTTP/1.1\r\n" + good, no), (b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n" + good, no),
        (b"GET //etc/passwd HTTP/1.1\r\n" + good, no), (b"GET /?x=1 HTTP/1.1\r\n" + good, {404}),
        (b"GET /order.txt HTTP/1.1\r\n" + good, {404}), (b"POST / HTTP/1.1\r\nContent-Length: 0\r\n" + good, no),
        (b"HEAD / HTTP/1.1\r\n" + good, no), (b"PUT / HTTP/1.1\r\n" + good, no),
        (b"DELETE / HTTP/1.1\r\n" + good, no), (b"OPTIONS / HTTP/1.1\r\n" + good, no),
        (b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", {421}), (b"GET / HTTP/1.1\r\n\r\n", no),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: 127.0.0.1\r\n\r\n", no),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://example.org\r\n\r\n", {403}),
        (b"GET http://example.org/ HTTP/1.1\r\n" + good, no),
        (b"GET / HTTP/1.1\r\nHost: " + b"a" * 9000 + b"\r\n\r\n", no),
        (b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n" + good, no),
        (b"\r\n\r\n\r\n", no), (b"\x00" * 300, no), (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20, no),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", no), (b"GET\r\n\r\n", no), (b"", no),
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
         no),
        (b"GET /live HTTP/1.1\r\n" + good, {404}),
        (b"GET /other HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
         b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: stdcl-view.1\r\n\r\n", no),
        (b"GET /live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
         b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: stdcl-view.1\r\n\r\n", no),
    ]
    with Run("points") as run:
        for request, allowed in table:
            status = run.ask(request, shut=False) if allowed == {200} else run.ask(request)
            assert status in allowed, "%r: %s" % (request[:80], status)
        async with run.connect() as ws:  # and it is well
            assert json.loads(await message(ws))["type"] == "hello"


async def refuses_messages():
    bad = [("x", 4400), ('{"type":"do","what":"format"}', 4400), ('{"type":"credit","n":1e9}', 4400), ("[" * 4000, 4400), (" " * 5000, 1009),
           (b"\x00\x01", 1003)]
    with Run("points") as run:
        for text, code in bad:
            async with run.connect() as ws:
                await ws.send(text)
                assert await closing(ws) == code, text[:40]
        async with run.connect() as ws:
            assert json.loads(await message(ws))["type"] == "hello"


# ---- Recovery. -----------------------------------------------------------------------------------

async def viewers():
    """Eight viewers: some never read and one is silent; a ninth is refused
    with the reason."""
    with Run("points") as run:
        little = {} if websockets.connect.__module__.startswith("websockets.asyncio") else {"read_limit": 1024}  # before 14
        slow = [await run.connect(max_queue=1, **little) for _ in range(6)]
        for ws in slow:  # they ask for all and take nothing
            await ws.send('{"type":"want","points":{"count":20000,"colour":"speed"}}')
            await ws.send('{"type":"credit","n":8}')
        async with run.connect() as ws, run.connect():
            async with run.connect() as ninth:
                assert await closing(ninth) == 4429
            await ws.send('{"type":"credit","n":2}')
            for _ in range(20):
                await frame(ws, 1)
                await ws.send('{"type":"credit","n":1}')
        for ws in slow:
            ws.transport.abort()  # gone without a word
        async with run.connect() as ws:
            while (await text_of(ws, "state"))["viewers"] != 1:
                pass
    assert run.steps > 20


async def slow_memory():
    """A viewer costs a frame and 64 KiB, however slow it is, including the library's memory:
    seven that read nothing, against one."""
    want, size = '{"type":"want","points":{"count":1000000,"colour":"speed"}}', 7 * 10**6
    with Run("many") as run:
        async with run.connect() as ws:
            await ws.send(want)
            for _ in range(9):  # until the run shows all, and has room for it
                await ws.send('{"type":"credit","n":1}')
                while len(await frame(ws, 1)) < size:
                    await ws.send('{"type":"credit","n":1}')
            slow, held = [], []
            for n in (1, 7):
                while len(slow) < n:
                    slow.append(await run.connect())
                    slow[-1].transport.pause_reading()
                    await slow[-1].send(want)
                    await slow[-1].send('{"type":"credit","n":8}')
                while min(waiting(w) for w in slow) < 1 << 14:  # until all have a frame in flight
                    await asyncio.sleep(0.01)
                held.append(run.held())
            for w in slow:
                w.transport.abort()
    more = (held[1] - held[0]) / 6 - size
    assert more <= 1 << 16, "%.1f KiB a viewer besides its frame" % (more / 1024)


def waiting(ws):
    """Return the number of received, unread bytes."""
    return struct.unpack("i", fcntl.ioctl(ws.transport.get_extra_info("socket").fileno(), termios.FIONREAD, b"1234"))[0]


async def idlers():
    """Silent connections and partial requests keep no viewer out; nor do hundreds of short ones."""
    with Run("points") as run:
        idle = [socket.create_connection(("127.0.0.1", run.port)) for _ in range(20)]
        for s in idle[:10]:
            s.sendall(b"GET / HTTP/1.1\r\nHost: 127.")
        async with run.connect() as ws:
            assert json.loads(await message(ws))["type"] == "hello"
        for s in idle:
            s.close()
        for _ in range(300):
            s = socket.create_connection(("127.0.0.1", run.port))
            s.sendall(b"GET /main.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            s.close()  # before the answer: SIGPIPE for those who do not look
        assert (await run.eventually())["type"] == "hello"


async def idle_strangers():
    """Another user of the machine cannot take all connections: of nine the last is closed at once, before the
    time for a request is over."""
    if os.geteuid() != 0:
        return
    what = ("import os, select, socket, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
            "idle = [socket.create_connection(('127.0.0.1', int(sys.argv[1]))) for _ in range(9)]\n"
            "closed = select.select(idle, [], [])[0]\n"
            "print([idle.index(s) for s in closed], closed[0].recv(1), flush=True); sys.stdin.read()")
    with Run("points") as run:
        stranger = subprocess.Popen([sys.executable, "-c", what, str(run.port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert stranger.stdout.readline() == "[8] b''\n"
        async with run.connect() as ws:
            assert json.loads(await message(ws))["type"] == "hello"
        stranger.stdin.close()
        assert stranger.wait(PATIENCE) == 0


async def unix_socket():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "window")
        with Run("points", "unix:" + path) as run:
            assert os.stat(path).st_mode & 0o777 == 0o600
            assert path in run.tunnel
            host = "127.0.0.1:8080"
            async with websockets.unix_connect(path, "ws://%s/live" % host, subprotocols=["stdcl-view.1", "token." + run.token()],
                                               origin="http://" + host, compression=None) as ws:
                assert json.loads(await message(ws))["type"] == "hello"
        assert not os.path.exists(path)


def as_nobody(path):
    """Return the result of another user's connection to a Unix socket with a mode that permits it;
    None: users cannot be changed here."""
    if os.geteuid() != 0:
        return None
    os.chmod(path, 0o666)
    os.chmod(os.path.dirname(path), 0o755)
    what = ("import os, socket, sys; os.setgroups([]); os.setgid(65534); os.setuid(65534); s = socket.socket(socket.AF_UNIX)\n"
            "s.connect(sys.argv[1])\n"
            "try: s.sendall(b'GET / HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n'); print(len(s.recv(100)))\n"
            "except (ConnectionResetError, BrokenPipeError): print(0)")
    return int(subprocess.run([sys.executable, "-c", what, path], check=True, stdout=subprocess.PIPE, text=True, timeout=PATIENCE).stdout)


async def other_users():
    """The server checks the user at the other end of a socket, whatever its mode."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "window")
        with Run("points", "unix:" + path):
            assert as_nobody(path) in (0, None)
            with socket.socket(socket.AF_UNIX) as s: # and the run's own user is served
                s.connect(path)
                s.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                assert s.recv(100).startswith(b"HTTP/1.1 200")


async def packed_files():
    """The page is sent as gzip if the browser accepts it, with equal content."""
    def get(port, more):
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as s:
            s.sendall(b"GET /main.js HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + more + b"\r\n")
            answer = b""
            while part := s.recv(65536):
                answer += part
        return answer.split(b"\r\n\r\n", 1)

    with Run("points") as run:
        head, text = get(run.port, b"")
        packed_head, packed = get(run.port, b"Accept-Encoding: gzip, deflate\r\n")
        assert b"gzip" not in head and b"export class" not in text and b"class Link" in text
        assert packed == text if b"gzip" not in packed_head else gzip.decompress(packed) == text


# ---- The command's windows. -----------------------------------------------------------------------

class Job:
    """A run of the command that waits for a viewer."""

    def __init__(self, *args):
        self.process = subprocess.Popen([*args, "--quiet", "--view-wait"], stderr=subprocess.PIPE, text=True)
        said = self.process.stderr.readline()
        assert "view at " in said, said
        self.process.stderr.readline()
        self.use(said.split("view at ")[1].strip())

    def use(self, url):
        self.host, self.token = url.split("/")[2], url.split("#t=")[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()  # which a launcher hands on
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def connect(self):
        return websockets.connect("ws://%s/live" % self.host, subprotocols=["stdcl-view.1", "token." + self.token], origin="http://" + self.host,
                                  compression=None, open_timeout=PATIENCE, ping_interval=None, max_size=1 << 26)

    async def ended(self, ws):
        await closing(ws)
        assert self.process.wait(PATIENCE) == 0, self.process.stderr.read()


class Terminal(Job):
    """A run with a terminal as standard error, and with a browser that records the file to open."""

    BROWSER = '#!/bin/sh\nstat -c %a "$1" > "$RECORD.new"; cat "$1" >> "$RECORD.new"; mv "$RECORD.new" "$RECORD"\n'

    def __init__(self, folder, *args, **environment):
        self.record = os.path.join(folder, "opened")
        with open(os.path.join(folder, "xdg-open"), "w") as f:
            f.write(self.BROWSER)
        os.chmod(f.name, 0o755)
        given = {k: v for k, v in os.environ.items() if k != "SSH_CONNECTION"}
        given.update({"PATH": folder + ":" + os.environ["PATH"], "DISPLAY": ":0", "RECORD": self.record, "TMPDIR": folder, "TERM": "dumb", **environment})
        self.screen, own = pty.openpty()
        self.process = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=own, env=given)
        os.close(own)
        self.said = ""
        while "another machine" not in self.said:
            self.said += os.read(self.screen, 4096).decode()
        self.use(self.said.split("view at ")[1].split()[0])

    def __exit__(self, *more):
        super().__exit__(*more)
        os.close(self.screen)

    def read(self, seconds, text=None):
        """Read what the terminal shows for some seconds, or until it shows a text."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not (text and text in self.said):
            if select.select([self.screen], [], [], 0.05)[0]:
                try:
                    self.said += os.read(self.screen, 4096).decode()
                except OSError:  # the command has ended
                    return

    def opened(self):
        """Return the mode and text of the file that the browser was to open."""
        end = time.monotonic() + PATIENCE
        while not os.path.exists(self.record):
            assert time.monotonic() < end, "no browser was started"
            time.sleep(0.05)
        with open(self.record) as f:
            return f.read().split("\n", 1)


def have_device():
    return subprocess.run([STDCL, "devices"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


PROGRAMS = [  # kind of picture, the option that writes the result, and the words before the option
    (1, "-o", "a.tab", ["nbody", "-n", "300", "--steps", "400", "--dt", "0.01"]),
    (2, "-o", "a.rle", ["life", "--size", "200x100", "--seed", "7", "-n", "3000"]),
    (2, "-o", "a.rle", ["life", "--size", "40", "--seed", "7", "--until-stable"]),
    (2, "-o", "a.mc", ["life", "-p", "acorn.rle", "--engine", "hashlife", "-n", "5206"]),
    (3, "--histogram", "a.csv", ["gas", "-n", "5000", "--repeat", "30"]),
    (4, "-o", "a.npy", ["matmul", "-n", "64", "--engine", "naive", "--repeat", "3"]),
]


RANKED = [
    (1, "-o", "a.tab", ["nbody", "-n", "300", "--steps", "400", "--dt", "0.01", "--method", "direct"]),
    (1, "-o", "a.tab", ["nbody", "-n", "600", "--steps", "20", "--dt", "0.01", "--method", "tree"]),
    (2, "-o", "a.rle", ["life", "--size", "200x300", "--soup=0.3", "--seed", "7", "-n", "3000"]),
    (3, "--histogram", "a.csv", ["gas", "-n", "50000", "--repeat", "30"]),
    (4, "-o", "a.npy", ["matmul", "-n", "64", "--engine", "cpu-blocked", "--repeat", "3"]),
]


async def same_bits(programs=None, launch=(), more=()):
    """A viewed, paused and stepped run ends in the same state as one without viewers: all
    programs."""
    if not have_device():
        return
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "acorn.rle"), "w") as f:
            f.write("x = 7, y = 3, rule = B3/S23\nbo$3bo$2o2b3o!\n")
        for kind, option, name, args in programs or PROGRAMS:
            args = [os.path.join(folder, a) if a == "acorn.rle" else a for a in args]
            first, second = os.path.join(folder, "1" + name), os.path.join(folder, "2" + name)
            subprocess.run([STDCL, *args, option, first, "--quiet"], check=True, stdout=subprocess.DEVNULL)
            with Job(*launch, STDCL, *args, option, second, *more) as job:
                async with job.connect() as ws:
                    try:
                        if kind == 2:
                            await ws.send('{"type":"want","cells":{"x":-32,"y":-32,"width":64,"height":64,"zoom":1}}')
                        await ws.send('{"type":"do","what":"step","n":7}')
                        await ws.send('{"type":"credit","n":8}')
                        await frame(ws, kind)
                        await ws.send('{"type":"do","what":"run"}')
                        await ws.send('{"type":"credit","n":8}')
                    except websockets.ConnectionClosed:
                        pass  # it was over before it heard of this
                    await job.ended(ws)
            with open(first, "rb") as a, open(second, "rb") as b:
                same = [[line for line in f if name != "a.tab" or not line.startswith(b"#")] for f in (a, b)]
            assert same[0] == same[1] and len(b"".join(same[0])) > 20, args


async def ranks():
    """Two ranks: rank 0 has the viewer, and the other rank obeys it, through a pause longer than
    the timeout of ranks."""
    launch = sys.argv[4:]
    if not launch or not have_device():
        return
    await same_bits(RANKED, launch, ["--share"])
    os.environ["STDCL_TIMEOUT"] = "10"
    with Job(*launch, STDCL, "nbody", "-n", "300", "--method", "direct", "--share", "--steps", "100000000") as job:
        async with job.connect() as ws:
            assert ["bodies", "300"] in (await text_of(ws, "hello"))["facts"]
            await ws.send('{"type":"do","what":"pause"}')
            while not (await text_of(ws, "state"))["paused"]:
                pass
            await ws.send('{"type":"credit","n":8}')
            stood = struct.unpack_from("<Q", await frame(ws, 1), 16)[0]
            await asyncio.sleep(12)
            await ws.send('{"type":"do","what":"step","n":5}')
            while struct.unpack_from("<Q", await frame(ws, 1), 16)[0] < stood + 5:
                await ws.send('{"type":"credit","n":1}')
            await ws.send('{"type":"do","what":"quit","confirm":true}')
            await closing(ws)
        assert job.process.wait(PATIENCE) == 130, job.process.stderr.read()


async def standing(ws, want):
    """Return the frame of cells of a rectangle of a paused run."""
    await ws.send('{"type":"want","cells":{"x":%d,"y":%d,"width":%d,"height":%d,"zoom":%d}}' % want)
    await ws.send('{"type":"credit","n":1}')
    while True:
        f = await frame(ws, 2)
        if f[48] == want[4]:
            return f
        await ws.send('{"type":"credit","n":1}')


def generation_of(f):
    return struct.unpack_from("<Q", f, 16)[0]


async def endless_planes():
    """HashLife's cells, near and zoomed out: a glider, at every position."""
    with tempfile.TemporaryDirectory() as folder:
        glider = os.path.join(folder, "glider.rle")
        with open(glider, "w") as f:
            f.write("x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n")
        with Job(STDCL, "life", "-p", glider, "--engine", "hashlife", "-n", "2^40", "--step", "40") as job:
            async with job.connect() as ws:
                assert (await text_of(ws, "hello"))["cells"]["width"] == 0
                await ws.send('{"type":"do","what":"pause"}')
                while not (await text_of(ws, "state"))["paused"]:
                    pass
                begun = at = generation_of(await standing(ws, (-(1 << 24), -(1 << 24), 2, 2, 24)))
                await ws.send('{"type":"do","what":"step","n":400}')
                while (state := await text_of(ws, "state")).get("box", [0])[0] < (begun + 400) // 4 - 4:
                    await ws.send('{"type":"credit","n":1}')
                assert [state["box"][k + 2] - state["box"][k] for k in (0, 1)] == [3, 3], state
                whole = await standing(ws, (-(1 << 62), -(1 << 62), 1024, 1024, 53))
                assert [k for k, byte in enumerate(whole[64:]) if byte] == [512 * 1024 + 512]
                while at < begun + 400:
                    far = await standing(ws, (-(1 << 24), -(1 << 24), 2, 2, 24))
                    at = generation_of(far)
                assert [byte > 0 for byte in far[64:]] == [False, False, False, True]
                corner = at // 4 - 30
                near = await standing(ws, (corner, corner, 64, 64, 0))
                assert generation_of(near) == at and struct.unpack_from("<qq", near, 24) == (corner, corner)
                assert struct.unpack_from("<Q", near, 56)[0] == 5
                alive = [(8 * (k % 8) + b, k // 8) for k, byte in enumerate(near[64:]) for b in range(8) if byte >> b & 1]
                assert len(alive) == 5 and max(max(c) for c in alive) - min(min(c) for c in alive) <= 3, alive
                squares = await standing(ws, (corner, corner, 16, 16, 3))
                assert struct.unpack_from("<qq", squares, 24) == (corner & -8, corner & -8)  # on the tree's own lines
                want = {((corner + x) // 8 - (corner >> 3), (corner + y) // 8 - (corner >> 3)) for x, y in alive}
                assert {(k % 16, k // 16) for k, byte in enumerate(squares[64:]) if byte} == want
                await ws.send('{"type":"do","what":"quit","confirm":true}')
                await closing(ws)
            assert job.process.wait(PATIENCE) == 130


async def shown_while_it_goes():
    """On an unbounded plane pictures arrive during an endless run, and the run can be paused."""
    if not have_device():
        return
    with tempfile.TemporaryDirectory() as folder:
        glider = os.path.join(folder, "glider.rle")
        with open(glider, "w") as f:
            f.write("x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n")
        with Job(STDCL, "life", "-p", glider, "--engine", "sparse", "-n", "2^40") as job:
            async with job.connect() as ws:
                await ws.send('{"type":"want","cells":{"x":-64,"y":-64,"width":128,"height":128,"zoom":0}}')
                came = set()
                while len(came) < 4:
                    await ws.send('{"type":"credit","n":1}')
                    came.add(generation_of(await frame(ws, 2)))
                await ws.send('{"type":"do","what":"pause"}')
                while not (await text_of(ws, "state"))["paused"]:
                    pass
                await ws.send('{"type":"do","what":"quit","confirm":true}')
                await closing(ws)
            assert job.process.wait(PATIENCE) == 130


def flags_of(f):
    return struct.unpack_from("<H", f, 2)[0]


GLIDER = "x = 3, y = 3, rule = B3/S23\nbo$2bo$3o!\n"
LAST = 1  # flag of the run's last state
EVENT = [  # a program, the kind of its pictures, and the request of a viewer
    (["life"], 2, '{"type":"want","cells":{"x":0,"y":0,"width":64,"height":64,"zoom":0}}'),
    (["life", "-p", "glider.rle", "-n", "1e6"], 2, '{"type":"want","cells":{"x":-64,"y":-64,"width":128,"height":128,"zoom":0}}'),
    (["life", "-p", "glider.rle", "--engine", "hashlife", "-n", "2^45"], 2, '{"type":"want","cells":{"x":-64,"y":-64,"width":128,"height":128,"zoom":0}}'),
    (["nbody", "-n", "300", "--steps", "50"], 1, '{"type":"want","points":{"count":300}}'),
    (["matmul", "-n", "64", "--compare", "--engine", "naive", "--engine", "cpu-naive"], 4, None),
    (["gas", "-n", "5000", "--repeat", "3"], 3, None),
]


async def pictures_arrive():
    """A run that waits for its viewer shows its first and its last state, however short it is."""
    if not have_device():
        return
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "glider.rle"), "w") as f:
            f.write(GLIDER)
        for args, kind, want in EVENT:
            with Job(STDCL, *[os.path.join(folder, a) if a == "glider.rle" else a for a in args]) as job:
                async with job.connect() as ws:
                    assert (await text_of(ws, "hello"))["live"]
                    if want:
                        await ws.send(want)
                    seen = []
                    with contextlib.suppress(websockets.ConnectionClosed):
                        while True:
                            await ws.send('{"type":"credit","n":1}')
                            f = await frame(ws, kind)
                            seen.append((generation_of(f), flags_of(f) & LAST))
                    assert seen[0][0] <= 1 and seen[-1][1], (args, seen)
                    assert kind != 2 or seen[0][0] == 0, (args, seen)
                    await job.ended(ws)


async def terminal_stays():
    """On a terminal: the browser gets the link in a private file, the run begins slowly, and its
    last state is served until Ctrl-C, in any rectangle."""
    if not have_device():
        return
    with tempfile.TemporaryDirectory() as folder:
        with Terminal(folder, STDCL, "life", "--size", "64", "-n", "300", "--view") as job:
            mode, page = job.opened()
            assert mode == "600" and "http://%s/#t=%s" % (job.host, job.token) in page, (mode, page)
            async with job.connect() as ws:
                assert (await text_of(ws, "hello"))["live"]
                await ws.send(WANT)
                came, f = [], None
                while f is None or not flags_of(f) & LAST:
                    await ws.send('{"type":"credit","n":1}')
                    f = await frame(ws, 2)
                    came.append(generation_of(f))
                assert came[0] == 0 and came[-1] == 300 and len([g for g in came if 0 < g < 300]) > 4, came
                for zoom in (1, 3, 0):
                    f = await standing(ws, (0, 0, 64 >> zoom, 32 >> zoom, zoom))
                    assert flags_of(f) & LAST and generation_of(f) == 300 and any(f[64:])
                assert job.process.poll() is None
                job.read(PATIENCE, "stays open")
                job.process.send_signal(signal.SIGINT)
                await closing(ws)
            assert job.process.wait(PATIENCE) == 0
            job.read(0.2)
            assert "stays open" in job.said and "stopping after" not in job.said, job.said
            assert sorted(os.listdir(folder)) == ["opened", "xdg-open"]


async def terminal_paces():
    """On a terminal few bodies begin with a round time a second: 1, 2 or 5 times a power of ten."""
    if not have_device():
        return
    solar = os.path.join(os.path.dirname(__file__), "../../data/solar.tab")
    with tempfile.TemporaryDirectory() as folder, Terminal(folder, STDCL, "nbody", "-i", solar, "--until", "90000", "--dt", "0.3", "--view", "--no-browser") as job:
        async with job.connect() as ws:
            assert abs((await text_of(ws, "hello"))["step_time"] - 0.3) < 1e-12
            await ws.send('{"type":"credit","n":1}')
            while not (state := await text_of(ws, "state"))["speed"]:
                await ws.send('{"type":"credit","n":1}')
            assert abs(state["speed"] * 0.3 - 20) < 1e-9, state
        while job.process.poll() is None:  # without a viewer it goes on as fast as it can, and ends
            job.said += os.read(job.screen, 4096).decode()
            if "stays open" in job.said:
                break
        job.process.send_signal(signal.SIGINT)
        assert job.process.wait(PATIENCE) == 0, job.said


async def terminal_waits():
    """A run on a terminal waits for its first viewer; with --quiet it does not, and ends. No browser
    in ssh or with --no-browser."""
    if not have_device():
        return
    for more, environment, ends in ((["--no-browser"], {}, False), ([], {"SSH_CONNECTION": "1"}, False), (["--quiet"], {}, True)):
        with tempfile.TemporaryDirectory() as folder:
            with Terminal(folder, STDCL, "life", "--size", "64", "-n", "3", "--view", *more, **environment) as job:
                if ends:
                    assert job.process.wait(PATIENCE) == 0
                else:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        job.process.wait(1)
                        assert False, "the run did not wait for a viewer"
                    job.process.send_signal(signal.SIGINT)
                    assert job.process.wait(PATIENCE) == 130
                assert not os.path.exists(job.record)


WANT = '{"type":"want","cells":{"x":0,"y":0,"width":64,"height":64,"zoom":0}}'


async def terminal_says_that_it_waits():
    """A run that waits for its viewer says so, and no line of compiling kernels stays there."""
    if not have_device():
        return
    with tempfile.TemporaryDirectory() as folder:
        cold = os.path.join(folder, "cold")
        os.mkdir(cold)
        with Terminal(folder, STDCL, "nbody", "-n", "100", "--steps", "10", "--view-wait", "--no-browser", TERM="xterm", POCL_CACHE_DIR=cold) as job:
            job.read(PATIENCE, "first viewer")
            job.read(1.5)
            assert job.said.rstrip().endswith("starting with the first viewer"), job.said


async def terminal_estimates_no_paced_time():
    """While the pace of a run grows by itself, no time left is shown, and none of HashLife, whose
    steps grow. At the speed of a viewer it is shown."""
    if not have_device():
        return
    for args, want in ((["-p", "xq4_153", "--engine", "hashlife", "--generations", "2^40"], False), (["--size", "64", "--generations", "1e9"], True)):
        with tempfile.TemporaryDirectory() as folder, Terminal(folder, STDCL, "life", *args, "--view", "--no-browser", TERM="xterm") as job:
            async with job.connect() as ws:
                await text_of(ws, "hello")
                await ws.send(WANT)
                for _ in range(40):
                    await ws.send('{"type":"credit","n":1}')
                    await frame(ws, 2)
                    job.read(0.05)
                assert "generations" in job.said and " left" not in job.said, job.said
                await ws.send('{"type":"do","what":"speed","value":0}')
                job.read(PATIENCE if want else 1, " left")
                assert (" left" in job.said) == want, job.said
                await ws.send('{"type":"do","what":"quit","confirm":true}')
                await closing(ws)


async def terminal_obeys_early_speed():
    """A viewer that asks for full speed at once gets it: 2^13 generations take 7 s at the pace of
    an interactive run."""
    if not have_device():
        return
    with tempfile.TemporaryDirectory() as folder, Terminal(folder, STDCL, "life", "--size", "64", "-n", "2^13", "--view", "--no-browser") as job:
        async with job.connect() as ws:
            await text_of(ws, "hello")
            await ws.send(WANT)
            await ws.send('{"type":"do","what":"speed","value":0}')
            began, f = time.monotonic(), None
            while f is None or not flags_of(f) & LAST:
                await ws.send('{"type":"credit","n":1}')
                f = await frame(ws, 2)
            assert time.monotonic() - began < 5, time.monotonic() - began


async def names_bodies():
    """Few bodies come with the names, masses, positions and velocities of their file."""
    if not have_device():
        return
    with open(os.path.join(os.path.dirname(__file__), "../../data/solar.tab")) as f:
        lines = [line.split("#") for line in f if not line.startswith("#") and line.strip()]
    want = {name.strip(): [float(v) for v in values.split()] for values, name in lines}
    with Job(STDCL, "nbody", "-i", f.name, "--steps", "1000000") as job:
        async with job.connect() as ws:
            points = (await text_of(ws, "hello"))["points"]
            told = points["bodies"]
            assert sorted(told["names"]) == sorted(want) and "mass" in points["colours"], told
            await ws.send('{"type":"do","what":"pause"}')
            await ws.send('{"type":"credit","n":1}')
            now = await text_of(ws, "bodies")
            assert now["step"] == 0, now
            for name, mass, pos, vel in zip(told["names"], told["masses"], now["pos"], now["vel"]):
                for value, wanted in zip([mass, *pos, *vel], want[name]):
                    assert abs(value - wanted) <= 2e-6 * max(1e-3, abs(wanted)), (name, value, wanted)
            await ws.send('{"type":"do","what":"quit","confirm":true}')
            await closing(ws)
        assert job.process.wait(PATIENCE) == 130


async def replay_stays_at_its_end():
    """A step past the last frame of a recording stops there; a seek there, too."""
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "run.view")
        names = []
        for k in range(5):
            names.append(os.path.join(folder, "%d.tab" % k))
            with open(names[-1], "w") as f:
                f.write("1 %d 0 0 0 0 0\n" % k)
        subprocess.run([STDCL, "view", *names, "--record", recording, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        with Job(STDCL, "view", recording) as job:
            async with job.connect() as ws:
                assert (await text_of(ws, "hello"))["frames"] == 5
                for what in ('"step","n":1000000', '"seek","frame":1', '"step","n":7', '"seek","frame":99'):
                    await ws.send('{"type":"do","what":%s}' % what)
                    wanted = 1 if '"frame":1}' in what + "}" else 4
                    while True:
                        state = await text_of(ws, "state")
                        if state["frame"] == wanted and state["paused"]:
                            break
            job.process.send_signal(signal.SIGINT)
            assert job.process.wait(PATIENCE) in (0, 130)


async def several_states():
    """Brian's Brain: a ship of two live cells followed by two dying ones moves a cell a
    generation, also across the edges of a torus and of the rectangle."""
    with tempfile.TemporaryDirectory() as folder:
        ship = os.path.join(folder, "ship.rle")
        with open(ship, "w") as f:
            f.write("x = 2, y = 2, rule = /2/3\nBA$BA!\n")
        for engine in ("packed", "hashlife") if have_device() else ("hashlife",):
            side = 24
            with Job(STDCL, "life", "-p", ship, "--engine", engine, "-n", "2^40", *(["--size", str(side)] if engine == "packed" else ["--step", "1"])) as job:
                async with job.connect() as ws:
                    assert (await text_of(ws, "hello"))["cells"]["states"] == 3
                    await ws.send('{"type":"do","what":"pause"}')
                    while not (await text_of(ws, "state"))["paused"]:
                        pass
                    left, top = (20, 0) if engine == "packed" else (generation_of(await standing(ws, (0, 0, 8, 8, 1))) - 10, -12)
                    places, at = [], 0
                    for _ in range(9):
                        f = await standing(ws, (left, top, side, side, 0))
                        assert f[49] == 2 and len(f) == 64 + side * side
                        cells = {(k % side, k // side): s for k, s in enumerate(f[64:]) if s}
                        y = min(y for _, y in cells)
                        x = next(x for (x, row), s in cells.items() if row == y and s == 2)
                        assert cells == {(c % side, y + j): s for j in (0, 1) for c, s in ((x, 2), (x + 1, 1))}, cells
                        places.append(x - generation_of(f))
                        at = generation_of(f)
                        await ws.send('{"type":"do","what":"step","n":1}')
                        while generation_of(await standing(ws, (left, top, 12, 12, 1))) == at:
                            pass
                    assert len({p % side for p in places}) == 1, places
                    await ws.send('{"type":"do","what":"quit","confirm":true}')
                    await closing(ws)
                assert job.process.wait(PATIENCE) == 130


async def until_frame(ws, wanted):
    """Return the generation of the first frame for which wanted(generation) is true."""
    at = None
    while at is None or not wanted(at):
        await ws.send('{"type":"credit","n":1}')
        at = generation_of(await frame(ws, 2))
    return at


async def goes_back_by_one_generation():
    """Back from a pause at full speed: one generation at a time, and each picture equals that of a
    run that steps to the same generation from the start."""
    if not have_device():
        return
    args = [STDCL, "life", "--size", "64", "--soup=0.5", "--seed", "3", "-n", "1e9"]
    rectangle = (0, 0, 64, 64, 0)
    with Job(*args) as job:
        async with job.connect() as ws:
            await text_of(ws, "hello")
            await ws.send(WANT)
            await until_frame(ws, lambda at: at > 1000)
            await ws.send('{"type":"do","what":"pause"}')
            while not (await text_of(ws, "state"))["paused"]:
                await ws.send('{"type":"credit","n":1}')
            await standing(ws, (0, 0, 64, 64, 1))  # after a frame of another zoom none from before the pause comes
            at = generation_of(await standing(ws, rectangle))
            back = []
            for _ in range(3):
                await ws.send('{"type":"do","what":"step","n":-1}')
                f = await standing(ws, rectangle)
                while generation_of(f) == at:
                    f = await standing(ws, rectangle)
                assert generation_of(f) == at - 1, (at, generation_of(f))
                at = generation_of(f)
                back.append((at, bytes(f[64:])))
    for at, cells_of in back:
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "at.rle")
            subprocess.run([*args[:-1], str(at), "--engine", "reference", "--quiet", "-o", name], check=True)
            assert live_cells(name) == {(x, y) for y in range(64) for x in range(64) if cells_of[y * 8 + x // 8] >> x % 8 & 1}


def live_cells(name):
    """The live cells of an RLE file whose pattern fills the grid from its corner."""
    found, x, y, n = set(), 0, 0, ""
    with open(name) as f:
        lines = [line.strip() for line in f]
    for c in "".join(line for line in lines if line[0] not in "#x"):
        if c.isdigit():
            n += c
            continue
        many = int(n or 1)
        if c == "o":
            found |= {(x + k, y) for k in range(many)}
        x, y, n = (0, y + many, "") if c == "$" else (x + many, y, "")
    return found


async def refusals_are_all_sent():
    """Each refusal arrives, although another command follows at once; after the end a change is
    refused because the run has ended."""
    with Run("points") as run:
        async with run.connect() as ws:
            await text_of(ws, "hello")
            for what in ("seek", "again"):
                await ws.send('{"type":"do","what":"%s"%s}' % (what, ',"frame":1' if what == "seek" else ""))
            await ws.send('{"type":"do","what":"pause"}')
            assert [(await text_of(ws, "refused"))["what"] for _ in range(2)] == ["seek", "again"]
    if not have_device():
        return
    with tempfile.TemporaryDirectory() as folder, Terminal(folder, STDCL, "life", "--size", "64", "-n", "3", "--view", "--no-browser") as job:
        async with job.connect() as ws:
            await text_of(ws, "hello")
            await ws.send(WANT)
            ended = False
            while not ended:  # the last picture may come before the run has ended
                await ws.send('{"type":"credit","n":1}')
                m = await message(ws)
                ended = isinstance(m, str) and json.loads(m)["type"] == "end"
            await ws.send('{"type":"do","what":"step","n":-1}')
            assert "has ended" in (await text_of(ws, "refused"))["text"]
            job.read(PATIENCE, "stays open")
            job.process.send_signal(signal.SIGINT)
            await closing(ws)


async def interrupt_before_start_keeps_files():
    """Ctrl-C before the first step, while the run waits for a viewer or is paused, leaves older
    outputs as they were, also the first file of a series."""
    if not have_device():
        return
    bodies, life = ["nbody", "--ic", "figure8", "--steps", "300"], ["life", "--size", "64", "-n", "300"]
    for program in ([*bodies, "-o", "a.tab"], [*life, "-o", "a.rle"], [*bodies, "--csv", "a.csv"], [*bodies, "--frames", "3", "-o", "a.png"],
                    [*life, "--frames", "3", "-o", "a.png"], [*bodies, "--snapshots", "1", "-o", "a-%02d.tab"]):
        for viewed in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                name = os.path.join(folder, program[-1])
                first = name.replace("%02d", "00").replace("a.png", "a-0001.png")
                with open(first, "w") as f:
                    f.write("older\n")
                with Terminal(folder, STDCL, *program[:-1], name, "--view", "--no-browser") as job:
                    if viewed:
                        async with job.connect() as ws:
                            await ws.send('{"type":"do","what":"pause"}')
                            while not (await text_of(ws, "state"))["paused"]:
                                pass
                            job.process.send_signal(signal.SIGINT)
                            assert job.process.wait(PATIENCE) == 130
                    else:
                        job.read(PATIENCE, "first viewer")
                        job.process.send_signal(signal.SIGINT)
                        assert job.process.wait(PATIENCE) == 130
                    job.read(1)
                    assert ("is kept" if viewed else "no file was written") in job.said, job.said
                with open(first) as f:
                    assert f.read() == "older\n", program
                assert [n for n in os.listdir(folder) if n.startswith("a")] == [os.path.basename(first)], os.listdir(folder)


async def interrupted_wait_reports():
    """Ctrl-C while a run waits for its viewer leaves one JSON object: no step was made."""
    if not have_device():
        return
    with tempfile.TemporaryDirectory() as folder:
        glider = os.path.join(folder, "glider.rle")
        with open(glider, "w") as f:
            f.write(GLIDER)
        bodies = os.path.join(folder, "two.tab")
        with open(bodies, "w") as f:
            f.write("1 -0.5 0 0 0 -0.7 0\n1 0.5 0 0 0 0.7 0\n")
        for args, steps in ((["life", "--size", "64", "-n", "300"], "generations"), (["life", "-p", glider, "-n", "300"], "generations"),
                            (["nbody", "--ic", "figure8", "--steps", "300"], "steps"), (["gas", "-n", "1000"], None),
                            (["nbody", "-i", bodies, "--ensemble", "3", "--steps", "300"], "steps"),
                            (["matmul", "-n", "64", "--compare", "--engine", "naive"], None), (["matmul", "-n", "64"], None)):
            with subprocess.Popen([STDCL, *args, "--json", "--view-wait"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as job:
                while "first viewer" not in job.stderr.readline():
                    assert job.poll() is None, args
                job.send_signal(signal.SIGINT)
                said, _ = job.communicate(timeout=PATIENCE)
                assert job.returncode == 130, (args, job.returncode)
                report = json.loads(said)
                assert report["program"] == args[0] and report["interrupted"] is True, report
                assert not steps or report[steps] == 0, report


async def plane_paused_at_start_keeps_its_file():
    """Ctrl-C before the first step of a run on an unbounded plane leaves an older output as it was."""
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, n) for n in ("glider.rle", "old.rle", "old.mc")]
        for name, text in zip(names, (GLIDER, "older\n", "older\n")):
            with open(name, "w") as f:
                f.write(text)
        with Terminal(folder, STDCL, "life", "-p", names[0], "-n", "300", "-o", names[1], "-o", names[2], "--view", "--no-browser") as job:
            async with job.connect() as ws:
                await ws.send('{"type":"do","what":"pause"}')
                while not (await text_of(ws, "state"))["paused"]:
                    pass
                job.process.send_signal(signal.SIGINT)
                assert job.process.wait(PATIENCE) == 130
            job.read(1)
            assert job.said.count("is kept") == 2, job.said
        for name in names[1:]:
            with open(name) as f:
                assert f.read() == "older\n", name


class Pattern(Job):
    """stdcl view with a pattern of Life."""

    def __init__(self, *args):
        self.process = subprocess.Popen([STDCL, "view", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = self.process.stderr.readline()
        assert "view at " in said, said
        self.use(said.split("view at ")[1].strip())


def cells_of(f):
    """The live cells of a frame of bits."""
    x, y, width = *struct.unpack_from("<qq", f, 24), struct.unpack_from("<I", f, 40)[0]
    row = (width + 7) // 8
    return {(x + 8 * (k % row) + b, y + k // row) for k, byte in enumerate(f[64:]) for b in range(8) if byte >> b & 1}


async def paused(ws):
    await ws.send('{"type":"do","what":"pause"}')
    while not (await text_of(ws, "state"))["paused"]:
        await ws.send('{"type":"credit","n":1}')


async def view_plays_patterns():
    """stdcl view plays a pattern in every form that Life reads: a glider moves by a cell in four
    generations. A bad file, and one that is not there, get a sentence."""
    forms = {"glider.rle": GLIDER, "glider.cells": "!Name: glider\n.O\n..O\nOOO\n", "glider.lif": "#Life 1.06\n1 0\n2 1\n0 2\n1 2\n2 2\n",
             "glider.mc": "[M2] (test)\n#R B3/S23\n.*$..*$***$$$$$$\n4 0 0 0 1\n", "glider.rle.gz": gzip.compress(GLIDER.encode())}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in forms.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(text if isinstance(text, bytes) else text.encode())
        for name in [*(os.path.join(folder, n) for n in forms), "xq4_153", "gun"]:
            with Pattern(name, "--speed", "50") as job:
                async with job.connect() as ws:
                    hello = await text_of(ws, "hello")
                    assert hello["live"] and hello["program"] == "life" and {"speed", "put", "rule"} <= set(hello["can"]), hello
                    await ws.send('{"type":"want","cells":{"x":-64,"y":-64,"width":128,"height":128,"zoom":0}}')
                    await until_frame(ws, lambda at: at >= 3)
                    await paused(ws)
                    first = await standing(ws, (-60, -60, 128, 128, 0))
                    await ws.send('{"type":"do","what":"step","n":4}')
                    later = await standing(ws, (-64, -64, 128, 128, 0))
                    while generation_of(later) < generation_of(first) + 4:
                        later = await standing(ws, (-64, -64, 128, 128, 0))
                    if name == "gun":
                        assert len(cells_of(first)) >= 36
                    else:
                        (x, y), (u, v) = (tuple(min(c[k] for c in cells_of(f)) for k in (0, 1)) for f in (first, later))
                        assert abs(u - x) == 1 and abs(v - y) == 1 and len(cells_of(later)) == 5, (name, cells_of(first), cells_of(later))
                job.process.send_signal(signal.SIGINT)
                assert job.process.wait(PATIENCE) == 0, (name, job.process.stderr.read())
                assert job.process.stdout.read() == ""
        bad = os.path.join(folder, "bad.rle")
        with open(bad, "w") as f:
            f.write("x = 3, y = 3\nbo%2bo$3o!\n")
        for name, why in ((bad, "line 2, column 3"), (os.path.join(folder, "none.rle"), "no such file")):
            done = subprocess.run([STDCL, "view", name], capture_output=True, text=True)
            assert done.returncode == 1 and why in done.stderr and done.stderr.count("\n") == 1, done


async def rules_change_while_paused():
    """A viewer gives a paused run another rule: cells go on under it, on a grid and on a plane. Other
    texts are refused with the reason, and the run keeps its rule."""
    corner = "x = 2, y = 2, rule = B3/S23\n2o$o!\n"
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "corner.rle")
        with open(name, "w") as f:
            f.write(corner)
        grid, devices = ["--size", "32", "--engine", "packed"], have_device()
        for args in ([grid] if devices else []) + [["--engine", "hashlife", "--step", "1"]] + ([["--engine", "sparse", "--step", "1"]] if devices else []):
            rectangle = (0, 0, 32, 32, 0) if args == grid else (-16, -16, 32, 32, 0)
            with Job(STDCL, "life", "-p", name, *args, "-n", "2^40") as job:
                async with job.connect() as ws:
                    assert "rule" in (await text_of(ws, "hello"))["can"]
                    await ws.send('{"type":"do","what":"rule","rule":"B1/S"}')
                    assert "pause it first" in (await text_of(ws, "refused"))["text"]
                    await paused(ws)
                    block = await standing(ws, rectangle)
                    at = generation_of(block)
                    for rule, why in (("B9/S23", "9"), ("345/2/4", "states"), ("B3/S23:T5", "edges"), ("no such rule", "rule")):
                        await ws.send('{"type":"do","what":"rule","rule":"%s"}' % rule)
                        said = (await text_of(ws, "say"))["text"]
                        assert why in said, (rule, said)
                    await ws.send('{"type":"do","what":"rule","rule":"b1/s"}')
                    while (await text_of(ws, "state")).get("rule") != "B1/S":
                        pass
                    await ws.send('{"type":"do","what":"step","n":1}')
                    f = await standing(ws, rectangle)
                    while generation_of(f) == at:
                        f = await standing(ws, rectangle)
                    live = cells_of(block)
                    around = {(x + i, y + j) for x, y in live for i in (-1, 0, 1) for j in (-1, 0, 1)}
                    count = lambda x, y: sum((x + i, y + j) in live for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
                    assert len(live) in (3, 4) and generation_of(f) == at + 1
                    assert cells_of(f) == {c for c in around if c not in live and count(*c) == 1}, (args, cells_of(f))
                    await ws.send('{"type":"do","what":"quit","confirm":true}')
                    await closing(ws)
                assert job.process.wait(PATIENCE) == 130, job.process.stderr.read()


async def drawn_cells_stay():
    """--engine auto looks for a faster engine on a plane; cells that a viewer has drawn, off the paths of gliders, stay.
    The acorn makes HashLife slow enough for sparse to be tried."""
    if not have_device():
        return
    with tempfile.TemporaryDirectory() as folder:
        acorn = os.path.join(folder, "acorn.rle")
        with open(acorn, "w") as f:
            f.write("x = 7, y = 3, rule = B3/S23\nbo$3bo$2o2b3o!\n")
        with Job(STDCL, "life", "-p", acorn, "-n", "2^40", "--step", "64") as job:
            async with job.connect() as ws:
                await text_of(ws, "hello")
                await paused(ws)
                await standing(ws, (5000, 0, 64, 64, 0))
                await ws.send('{"type":"do","what":"put","x":5000,"y":0,"width":2,"height":2,"cells":"0303"}')
                await ws.send('{"type":"do","what":"run"}')
                await until_frame(ws, lambda at: at > 100000)
                await paused(ws)
                assert cells_of(await standing(ws, (4990, -10, 64, 64, 0))) == {(x, y) for x in (5000, 5001) for y in (0, 1)}


async def plots_are_overlaid():
    """stdcl view A B: the columns and rows of two recordings, and the pictures of the first."""
    if not have_device():
        return
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, n) for n in ("one.view", "two.view", "three.view", "both.html")]
        for name, steps in zip(names, ("20", "40")):
            subprocess.run([STDCL, "nbody", "--ic", "figure8", "--dt", "0.01", "--steps", steps, "--record", name, "--view-budget", "100", "--quiet"], check=True)
        subprocess.run([STDCL, "life", "--size", "32", "-n", "20", "--record", names[2], "--quiet"], check=True)
        with Job(STDCL, "view", names[0], names[1]) as job:
            async with job.connect() as ws:
                columns = (await text_of(ws, "hello"))["rows"]["columns"]
                assert [c.get("run") for c in columns] == [None, *["one.view"] * 4, *["two.view"] * 4], columns
                rows = []
                while not rows or abs(rows[-1][0] - 0.4) > 1e-9:
                    await ws.send('{"type":"credit","n":1}')
                    f = await frame(ws, 5)
                    count, wide = struct.unpack_from("<II", f, 28)
                    rows += [struct.unpack_from("<%dd" % wide, f, 40 + 8 * wide * k) for k in range(count)]
                known = [[v == v for v in row] for row in rows]
                assert all(k[1:5] == [not k[5]] * 4 and k[5:] == [k[5]] * 4 for k in known), rows
                assert abs(max(row[0] for row in rows if row[1] == row[1]) - 0.2) < 1e-9, rows
            job.process.send_signal(signal.SIGINT)
            assert job.process.wait(PATIENCE) == 0
        done = subprocess.run([STDCL, "view", names[0], names[2]], capture_output=True, text=True)
        assert done.returncode == 1 and "same plots" in done.stderr, done
        done = subprocess.run([STDCL, "view", *names[:3]], capture_output=True, text=True)
        assert done.returncode == 2 and "two recordings" in done.stderr, done
        subprocess.run([STDCL, "view", names[0], names[1], "-o", names[3], "--quiet"], check=True)
        assert os.path.getsize(names[3]) > 50000


def check_profile(profile, sizes, weights, volume):
    """A distribution has the weights of the sizes in each interval, per volume. Edges have six digits, and some of them are sizes."""
    edge, value = profile["edge"], profile["value"]
    assert len(edge) == len(value) + 1 and edge == sorted(edge), profile

    def weight(size):
        return sum(w for s, w in zip(sizes, weights) if s <= size)
    for k, v in enumerate(value):
        inner, outer = ((edge[k + i] * (1 - 1e-5), edge[k + i] * (1 + 1e-5)) for i in (0, 1))
        per = volume(edge[k + 1]) - volume(edge[k])
        least, most = weight(outer[0]) - weight(inner[1] if edge[k] else -1), weight(outer[1]) - weight(inner[0] if edge[k] else -1)
        assert (least - 1e-9) * (1 - 1e-3) <= v * per <= (most + 1e-9) * (1 + 1e-3), (profile["title"], k, least, v * per, most)


async def profiles_match_bodies():
    """The distributions of a recording, as a replay shows them, agree with the bodies in a file of this time."""
    if not have_device():
        return
    with tempfile.TemporaryDirectory() as folder:
        bodies, recording = (os.path.join(folder, n) for n in ("a.tab", "a.view"))
        subprocess.run([STDCL, "nbody", "--ic", "plummer", "-n", "600", "--steps", "0", "-o", bodies, "--record", recording, "--quiet"], check=True)
        with open(bodies) as f:
            mass, x, y, z, *velocity = zip(*([float(w) for w in line.split()[:7]] for line in f if line.strip() and not line.startswith("#")))
        middle = [sorted(line)[len(line) // 2] for line in (x, y, z)]
        radii = [math.dist(p, middle) for p in zip(x, y, z)]
        speeds = [math.hypot(*v) for v in zip(*velocity)]
        with Job(STDCL, "view", recording) as job:
            async with job.connect() as ws:
                await ws.send('{"type":"credit","n":1}')
                said = await text_of(ws, "profiles")
            job.process.send_signal(signal.SIGINT)
            assert job.process.wait(PATIENCE) == 0
        density, speed = said["list"]
        assert said["time"] == 0 and len(mass) == 600
        tenth = sorted(radii)
        for edge, at in ((density["edge"][1], tenth[9]), (density["edge"][-2], tenth[-10]), (density["edge"][-1], tenth[-1])):
            assert math.isclose(edge, at, rel_tol=1e-5), (edge, at)
        check_profile(density, radii, mass, lambda r: 4 / 3 * math.pi * r ** 3)
        check_profile(speed, speeds, [1 / len(mass)] * len(mass), lambda v: v)
        assert abs(sum(v * (b - a) for v, a, b in zip(speed["value"], speed["edge"], speed["edge"][1:])) - 1) < 0.02


TESTS = [shows, credits, asks_early, cells, obeys, seeks, ends_at_once, refuses_strangers, refuses_requests, refuses_messages, viewers, slow_memory, idlers, idle_strangers,
         unix_socket, other_users, packed_files, same_bits, names_bodies, pictures_arrive, terminal_stays, terminal_paces, terminal_waits, endless_planes, shown_while_it_goes,
         terminal_says_that_it_waits, terminal_estimates_no_paced_time, terminal_obeys_early_speed,
         several_states, goes_back_by_one_generation, refusals_are_all_sent, interrupt_before_start_keeps_files,
         interrupted_wait_reports, plane_paused_at_start_keeps_its_file, view_plays_patterns, rules_change_while_paused, drawn_cells_stay, plots_are_overlaid,
         replay_stays_at_its_end, profiles_match_bodies]
for test in TESTS if len(sys.argv) < 4 else [ranks, *TESTS]:
    if len(sys.argv) < 4 or sys.argv[3] == test.__name__:
        print(test.__name__, flush=True)
        asyncio.run(asyncio.wait_for(test(), 600))

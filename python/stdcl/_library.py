"""Find and load the C libraries, and convert their errors to exceptions.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import contextlib
import ctypes
import operator
import os
import struct
import zlib
from typing import Any, Iterable, TypeVar

from . import _declarations as c

_CL_EVENT_FAILED = ctypes.c_size_t(-1).value


class Error(RuntimeError):
    """A failed call. str() is the library's message; errno and opencl are its codes (0: none)."""

    def __init__(self, sentence: str, errno: int = 0, opencl: int = 0) -> None:
        super().__init__(sentence)
        self.errno, self.opencl = errno, opencl


class Library:
    """The functions of the C libraries by name, with their types; loaded at first use."""

    def __init__(self) -> None:
        self._loaded: dict[str, ctypes.CDLL] = {}
        self._folder: str | None = None
        self._forked = False

    def _folders(self) -> list[str]:
        """Directories to search: that of the first library, $STDCL_LIBRARY, this package, the system's search path."""
        if self._folder is None and "STDCL_LIBRARY" in os.environ:
            self._folder = os.path.dirname(os.path.abspath(os.environ["STDCL_LIBRARY"]))
        return [os.path.join(os.path.dirname(__file__), "lib"), ""] if self._folder is None else [self._folder]

    def _load(self, room: str) -> ctypes.CDLL:
        if room in self._loaded:
            return self._loaded[room]
        name, reason = "libstdcl.so.1" if room == "stdcl" else "libstdcl_%s.so.1" % room, ""
        for folder in self._folders():
            path = os.path.join(folder, name)
            try:
                self._loaded[room] = ctypes.CDLL(path)
                self._folder = folder
                return self._loaded[room]
            except OSError as error:
                reason = str(error)
        raise ImportError("cannot load %s (%s); install the package %s, or set the environment variable "
                          "STDCL_LIBRARY to its path" % (name, reason, "libstdcl-view1" if room == "view" else "libstdcl1"))

    def __getattr__(self, name: str) -> Any:
        if self._forked:
            raise Error("this process was forked after stdcl had been used; OpenCL works only in the process that first "
                        "used it: fork first, or use the spawn method of multiprocessing")
        room, types = c.FUNCTIONS[name]
        library = self._load(room)
        if not hasattr(library, name):
            raise ImportError("%s has no function %s, which version %s of the Python package calls; install equal versions of both"
                              % (library._name, name, c.VERSION))
        function = getattr(library, name)
        function.restype, function.argtypes = eval(types, vars(c))  # from our own file
        setattr(self, name, function)
        return function

    def _forget(self) -> None:
        """In a forked child: refuse every further call."""
        if self._loaded:
            for name in [n for n in self.__dict__ if not n.startswith("_")]:
                delattr(self, name)
            self._forked = True


lib = Library()
os.register_at_fork(after_in_child=lib._forget)


def error() -> Error:
    """Return the library's last error as an exception."""
    code, opencl = (ctypes.c_int.from_address(at()).value for at in (lib.stdcl_errno_address, lib.stdcl_oclerrno_address))
    return Error((lib.clerror() or b"unknown error").decode(errors="replace"), code, opencl)


def check(result: Any) -> Any:
    """Return the result of a C call; raise Error for -1, NULL, or an event of -1."""
    if result is None or result == -1 or result == _CL_EVENT_FAILED:
        raise error()
    return result


Self = TypeVar("Self", bound="Owner")


class Owner:
    """Owns a C object until close(), the end of a with block, or its own deletion."""

    _handle: int | None = None
    _closed = "it is closed"  # message of a later use

    def _use(self) -> int:
        if self._handle is None:
            raise Error(self._closed)
        return self._handle

    def _free(self, handle: int) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Free the object and its resources. Closing again has no effect."""
        if self._handle is not None:
            self._free(self._handle)
            self._handle = None

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()


def whole(value: Any, what: str, least: int = 0) -> int:
    """Check a number that C takes as unsigned."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if not least <= number < 2**63:
        raise TypeError("%s must be a whole number from %d to 2**63 - 1, not %r" % (what, least, value))
    return number


def nonzero(value: Any, what: str) -> None:
    """Refuse an explicit 0: in C it selects the default."""
    if value == 0:
        raise ValueError("%s must be above 0, not %r" % (what, value))


def letters(value: Any, what: str) -> bytes:
    """Encode a string for C; it must not contain a null character."""
    if not isinstance(value, str):
        raise TypeError("%s must be a string, not %r" % (what, value))
    if "\0" in value:
        raise ValueError("%s contains a null character: %r" % (what, value))
    return value.encode()


def sizes(value: Any, what: str) -> tuple[int, ...]:
    """Return one or several numbers as a tuple."""
    if isinstance(value, (str, bytes, dict)):
        raise TypeError("%s must be one or several whole numbers, not %r" % (what, value))
    return tuple(whole(one, what) for one in (value if hasattr(value, "__iter__") else (value,)))


def html_table(rows: Iterable[tuple[object, ...]]) -> str:
    """Return an HTML table for notebooks; the first item of each row is its header."""
    return "<table>%s</table>" % "".join("<tr><th>%s</th>%s</tr>" % (head, "".join("<td>%s</td>" % item for item in items)) for head, *items in rows)


def png_file(rows: Iterable[bytes], width: int, height: int, palette: bytes = b"") -> bytes:
    """Return a PNG file of black and white pixels, 8 in a byte, or of bytes that choose colours of `palette`, 3 bytes each."""
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    depth, colour = (8, 3) if palette else (1, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)) +
            (chunk(b"PLTE", palette) if palette else b"") + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) +
            chunk(b"IEND", b""))


def check_version() -> None:
    """Raise ImportError if the library's version does not match these declarations."""
    found = lib.stdcl_version().decode()
    (theirs, newer), (ours, newest) = ([int(part) for part in version.split(".")[:2]] for version in (found, c.VERSION))
    if theirs != ours or newer < newest:
        raise ImportError("the Python package stdcl has version %s, but the library libstdcl.so.1 has version "
                          "%s; install equal versions of both" % (c.VERSION, found))


check_version()

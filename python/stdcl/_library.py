"""Finds and loads the C libraries, and turns their errors into exceptions.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import ctypes
import os
from typing import Any, Iterable, Iterator

from . import _declarations as c

_CL_EVENT_FAILED = ctypes.c_size_t(-1).value


class Error(RuntimeError):
    """A call failed. str() is the library's sentence; errno and opencl are its codes (0: none)."""

    def __init__(self, sentence: str, errno: int = 0, opencl: int = 0) -> None:
        super().__init__(sentence)
        self.errno, self.opencl = errno, opencl


def _folders() -> Iterator[str]:
    """Where the libraries may be: what the user says, beside this package, the system's places."""
    if "STDCL_LIBRARY" in os.environ:
        yield os.path.dirname(os.path.abspath(os.environ["STDCL_LIBRARY"]))
        return
    yield os.path.join(os.path.dirname(__file__), "lib")
    yield ""


class Library:
    """The functions of the C libraries by name, each with its types; loaded when first used."""

    def __init__(self) -> None:
        self._loaded: dict[str, ctypes.CDLL] = {}
        self._folder: str | None = None
        self._forked = False

    def _load(self, room: str) -> ctypes.CDLL:
        if room not in self._loaded:
            name = "libstdcl.so.1" if room == "stdcl" else "libstdcl_%s.so.1" % room
            folders = [self._folder] if self._folder is not None else list(_folders())
            for folder in folders:
                path = os.path.join(folder, name)
                if folder and not os.path.exists(path):
                    continue
                try:
                    self._loaded[room] = ctypes.CDLL(path)
                    self._folder = folder
                    break
                except OSError as error:
                    reason = error
            else:
                raise ImportError("%s cannot be loaded (%s); install the package %s, or name the library in the "
                                  "environment variable STDCL_LIBRARY"
                                  % (name, locals().get("reason", "it is not in " + folders[0]),
                                     "libstdcl-view1" if room == "view" else "libstdcl1"))
        return self._loaded[room]

    def __getattr__(self, name: str) -> Any:
        if self._forked:
            raise Error("this process was forked after stdcl had been used; OpenCL works only in the process that began "
                        "with it: fork first, or use the spawn method of multiprocessing")
        room, types = c.FUNCTIONS[name]
        function = getattr(self._load(room), name)
        function.restype, function.argtypes = eval(types, vars(c))  # of our own file
        setattr(self, name, function)
        return function

    def _forget(self) -> None:
        """In a child process: every further call is refused."""
        if self._loaded:
            for name in [n for n in self.__dict__ if not n.startswith("_")]:
                delattr(self, name)
            self._forked = True


lib = Library()
os.register_at_fork(after_in_child=lib._forget)


def error() -> Error:
    """The library's last error, as an exception."""
    sentence = lib.clerror()
    code = lib.stdcl_errno_address
    code.restype = ctypes.POINTER(ctypes.c_int)
    opencl = lib.stdcl_oclerrno_address
    opencl.restype = ctypes.POINTER(ctypes.c_int)
    return Error((sentence or b"an error without a sentence").decode(errors="replace"), code()[0], opencl()[0])


def check(result: Any) -> Any:
    """The result of a C call, or the exception that it means: -1, NULL, or an event of -1."""
    if result is None or result == -1 or result == _CL_EVENT_FAILED:
        raise error()
    return result


def html_table(rows: Iterable[tuple[object, ...]]) -> str:
    """A table for notebooks: the first of each row is its head."""
    return "<table>%s</table>" % "".join("<tr><th>%s</th>%s</tr>" % (head, "".join("<td>%s</td>" % item for item in items)) for head, *items in rows)


def check_version() -> None:
    """Refuses a library of another version than these declarations."""
    found = lib.stdcl_version().decode()
    if found.split(".")[0] != c.VERSION.split(".")[0] or found.split(".")[1] < c.VERSION.split(".")[1]:
        raise ImportError("the Python package stdcl is version %s, and the library libstdcl.so.1 that was found is version "
                          "%s; install the same version of both" % (c.VERSION, found))


check_version()

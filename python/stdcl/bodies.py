"""Gravitating bodies as the class NBody, orbits, and initial models, with numpy arrays.

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import base64
import ctypes
import math
import re
import warnings
from typing import TYPE_CHECKING, Any, Callable, Generic, NamedTuple, TypeVar, Union, overload

import numpy as np
import numpy.typing as npt

from . import _declarations as c
from . import engines
from ._library import Error, check, html_table, letters, lib, nonzero, png_file, whole
from .arrays import unmasked
from .engines import Engine, Floats

if TYPE_CHECKING:
    from . import Context

Which = Union[int, str]  # a body: its number, or its name
Value = TypeVar("Value")
_MOST_ON_HOST = int(c.CONSTANTS["NBODY_FEW"])
_ON_VIEW = 0.02  # seconds of steps between two looks at the view
_EVENTS = ("encounter", "pericentre", "apocentre", "transit", "escape")  # as enum nbody_event_kind
_STILL, _FEW_DOTS = 480, 1000  # pixels of the side of a still picture; up to this number bodies are dots
_INFERNO = ((0, 0, 4), (87, 16, 110), (188, 55, 84), (249, 142, 9), (252, 255, 164))  # colours of still pictures
_PARTS = 256  # of an interval of ias15, while a view is open


class Orbit(NamedTuple):
    """Kepler elements. Angles are in radians, M is the mean anomaly, f the true anomaly, P the period."""

    a: float
    e: float
    inc: float
    Omega: float
    omega: float
    M: float
    f: float
    P: float


class Event(NamedTuple):
    """What NBody.watch found: a body, the other one (None: the origin), their relative position and velocity."""

    kind: str
    time: float
    body: int
    other: int | None
    pos: Floats
    vel: Floats


class _Setting(Generic[Value]):
    """An option of the engine. After a change the engine is made anew at the next call that needs it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, run: None, owner: type) -> _Setting[Value]: ...

    @overload
    def __get__(self, run: NBody, owner: type) -> Value: ...

    def __get__(self, run: NBody | None, owner: type) -> _Setting[Value] | Value:
        return self if run is None else run._settings[self._name]

    def __set__(self, run: NBody, value: Value) -> None:
        run._set(self._name, value)


# A body in a force of NBody.external, by name, which may be in quotes, or number.
_BODY_OF_FORCE = r'\b(body|first|last)=("[^"\n]*"|[^,\n]*)'


def _rows(values: npt.ArrayLike, n: int, name: str) -> Floats:
    """Check an array of n rows of three doubles, and copy it."""
    array = np.array(unmasked(values), dtype=np.float64)
    if array.shape != (n, 3):
        raise ValueError("%s has the shape %s, not (%d, 3)" % (name, array.shape, n))
    return array


def _true_anomaly(M: float, e: float) -> float:
    """Return f of a mean anomaly, by way of the position on an orbit of semi-major axis 1 or -1."""
    if e == 1 or not math.isfinite(M):
        return math.nan
    orbit, pos = c.nbody_elements(semi_major=1 if e < 1 else -1, eccentricity=e, mean_anomaly=M), (ctypes.c_double * 3)()
    check(lib.nbody_orbit_state(1, orbit, pos, (ctypes.c_double * 3)()))
    return math.atan2(pos[1], pos[0])


def _mean_anomaly(f: float, e: float) -> float:
    if e < 1:
        E = math.atan2(math.sqrt(1 - e * e) * math.sin(f), e + math.cos(f))
        return E - e * math.sin(E)
    if 1 + e * math.cos(f) <= 0:
        raise ValueError("f = %g is beyond the asymptotes of a hyperbola with e = %g" % (f, e))
    H = 2 * math.atanh(math.sqrt((e - 1) / (e + 1)) * math.tan(f / 2))
    return e * math.sinh(H) - H


class NBody(Engine):
    """Gravity between bodies.

        sim = stdcl.NBody()                      sim = stdcl.NBody(mass, pos, vel, dt=1/256, eps=0.05)
        sim.add(mass=1, name="Sun")              sim.step(100)
        sim.add(mass=1e-3, a=5.2, e=0.05)        sim.diagnose().total
        sim.integrate(1000)

    Without `dt` the integrator is ias15, which chooses its steps itself; with dt it is leapfrog. The precision is double for
    up to 128 bodies, which then run on the host, else single. All options are attributes and may be changed between calls.
    `external` has forces, one a line, as nbody_options.forces of nbody.h, such as "radiation:beta=0.1,body=Sun,c=1e4": bodies
    by names, in double quotes if they have a comma, or by numbers from 0 on.
    mass, pos and vel are arrays of (n), (n, 3) and (n, 3) numbers; they cannot be written in place, but be assigned.
    """

    _name, _closed = "nbody", "the simulation is closed"

    dt, G, eps = _Setting["float | None"](), _Setting[float](), _Setting["float | Floats"]()
    integrator, precision = _Setting["str | None"](), _Setting["str | None"]()
    method, accuracy, stepping, eta = _Setting[str](), _Setting[float](), _Setting[str](), _Setting[float]()
    coordinates, corrector, safe = _Setting[str](), _Setting[int](), _Setting[bool]()
    hill, megno, external = _Setting[float](), _Setting[bool](), _Setting["str | None"]()

    def __init__(self, mass: npt.ArrayLike = (), pos: npt.ArrayLike | None = None, vel: npt.ArrayLike | None = None, *,
                 dt: float | None = None, G: float = 1.0, eps: float | Floats = 0.0, integrator: str | None = None,
                 precision: str | None = None, method: str = "direct", accuracy: float = 0.0, stepping: str = "fixed",
                 eta: float = 0.0, coordinates: str = "jacobi", corrector: int = 0, safe: bool = False,
                 hill: float = 0.0, megno: bool = False, external: str | None = None,
                 context: Context | None = None) -> None:
        self._mass: Floats = np.array(unmasked(mass), dtype=np.float64)
        if self._mass.ndim != 1:
            raise ValueError("mass has %d dimensions, not one" % self._mass.ndim)
        n = self._mass.size
        if n and (pos is None or vel is None):
            raise ValueError("%d masses without %s" % (n, "positions" if pos is None else "velocities"))
        self._pos, self._vel = (np.zeros((n, 3)) if given is None else _rows(given, n, what) for given, what in ((pos, "pos"), (vel, "vel")))
        self._radius: Floats | None = None
        self._force: Any = None  # the callback, kept alive
        self._rules: list[Any] = []
        self.events: list[Event] = []
        self._stopped = False  # by an event
        self._in_force = False  # the function of set_force is running
        self.names: dict[str, int] = {}
        self._time, self._steps, self._current, self._is_closed = 0.0, 0, True, False
        self._over, self._view, self._shown = context, None, 0.0
        self._settings: dict[str, Any] = {}
        for name, value in dict(dt=dt, G=G, eps=eps, integrator=integrator, precision=precision, method=method, accuracy=accuracy,
                                stepping=stepping, eta=eta, coordinates=coordinates, corrector=corrector, safe=safe,
                                hill=hill, megno=megno, external=external).items():
            self._set(name, value)
        if n:
            self._use()

    # ---- The engine: made when it is needed, from the arrays; the arrays follow it when they are read. ----

    def _set(self, name: str, value: Any) -> None:
        known: dict[str, Any] = dict(c.CHOICES)
        choices = {**known["nbody_options"], **known["nbody_whfast_options"]}
        if value is not None and name in choices and str(value).lower() not in choices[name]:
            raise ValueError("%s must be one of %s, not %r" % (name, ", ".join(choices[name]), value))
        self._check_no_force()
        if name in ("dt", "G") and isinstance(value, (str, bytes)):
            raise TypeError("%s cannot be %r" % (name, value))
        if name == "G":
            nonzero(value, "G")
        if name == "dt" and value is not None and self._handle is not None and self._settings["dt"] is not None:
            check(lib.nbody_set_dt(self._handle, value))
        elif self._settings.get(name, self) is not value:
            self._drop(warn=name != "megno")
        self._settings[name] = value

    def _members(self) -> dict[str, Any]:
        """Return the members of struct nbody_options."""
        options = dict(self._settings)
        few = self.n <= _MOST_ON_HOST
        if options["integrator"] is None:
            options["integrator"] = "ias15" if options["dt"] is None else "leapfrog"
        if options["precision"] is None:
            options["precision"] = "double" if few or options["integrator"] in ("ias15", "whfast", "trace") else "single"
        if options["dt"] is None:
            if options["integrator"] != "ias15":
                raise ValueError("the integrator %s needs a time step: set dt" % options["integrator"])
            options["dt"] = 1.0
        if np.ndim(options["eps"]):
            self._softening = np.ascontiguousarray(unmasked(options.pop("eps")), dtype=np.float64)
            if self._softening.shape != (self.n,):
                raise ValueError("eps has the shape %s, not (%d,)" % (self._softening.shape, self.n))
            options["softening"] = self._softening.ctypes.data
        known: dict[str, Any] = dict(c.CHOICES)
        coordinates = known["nbody_whfast_options"]["coordinates"]
        options["whfast"] = c.nbody_whfast_options(coordinates[options.pop("coordinates").lower()], whole(options.pop("corrector") + 1, "corrector + 1") - 1,
                                                   bool(options.pop("safe")))
        external = options.pop("external")
        options["forces"] = self._numbered(external) if isinstance(external, str) else external
        options["trace"], options["megno"] = c.nbody_trace_options(options.pop("hill")), int(options["megno"])
        options["place"] = "on_faster" if few else "on_devices"
        return options

    def _check_no_force(self) -> None:
        if self._in_force:
            raise Error("a force must not use its simulation; it has the bodies as arguments")

    def _use(self) -> int:
        self._check_no_force()
        if self._is_closed:
            raise Error(self._closed)
        if self._handle is None:
            if not self.n:
                raise Error("the simulation has no bodies; add some")
            self._make(self._over, (self.n, self._mass.ctypes.data, self._pos.ctypes.data, self._vel.ctypes.data), **self._members())
            try:
                self._watch_again()
            except BaseException:
                super().close()
                raise
        return super()._use()

    def _watch_again(self) -> None:
        """Give a new engine its clock, and all that it watches and calls."""
        lib.nbody_set_clock(self._handle, self._time, self._steps)
        if self._radius is not None:
            check(lib.nbody_watch_contacts(self._handle, self._radius.ctypes.data))
        if self._rules:
            check(lib.nbody_watch_events(self._handle, len(self._rules), (c.nbody_event_rule * len(self._rules))(*self._rules)))
        if self._force:
            check(lib.nbody_set_force_callback(self._handle, *self._force))

    def _read(self) -> None:
        """Copy the engine's state to the arrays, if it has moved on."""
        if self._current or self._handle is None:
            return
        self._call(lib.nbody_state, self._pos.ctypes.data, self._vel.ctypes.data)
        self._time, self._steps, self._current = float(lib.nbody_time(self._handle)), int(lib.nbody_steps(self._handle)), True

    def _drop(self, warn: bool = True) -> None:
        """Free the engine; the arrays keep its state, but not the tangent vector of chaos()."""
        self._check_no_force()
        self._read()
        if warn and self._handle is not None and self._settings["megno"] and self.chaos().time:
            warnings.warn("chaos() begins again at time %g: bodies, options or events have changed" % self._time, RuntimeWarning, 3)
        super().close()

    def close(self) -> None:
        """Free the simulation and close its view. Closing again has no effect."""
        self._check_no_force()
        super().close()
        self._is_closed = True
        if self._view:
            view, self._view = self._view, None
            check(lib.view_close(view))

    # ---- Bodies. ----

    @property
    def n(self) -> int:
        return int(self._mass.size)

    def _array(self, array: Floats) -> Floats:
        self._read()
        kept: Floats = array.copy()
        kept.flags.writeable = False
        return kept

    @property
    def mass(self) -> Floats:
        return self._array(self._mass)

    @mass.setter
    def mass(self, mass: npt.ArrayLike) -> None:
        given = np.array(unmasked(mass), dtype=np.float64)
        if given.shape != (self.n,):
            raise ValueError("mass has the shape %s, not (%d,)" % (given.shape, self.n))
        self._drop()
        self._mass = given

    @property
    def pos(self) -> Floats:
        return self._array(self._pos)

    @pos.setter
    def pos(self, pos: npt.ArrayLike) -> None:
        given = _rows(pos, self.n, "pos")
        self._drop()
        self._pos = given

    @property
    def vel(self) -> Floats:
        return self._array(self._vel)

    @vel.setter
    def vel(self, vel: npt.ArrayLike) -> None:
        given = _rows(vel, self.n, "vel")
        self._drop()
        self._vel = given

    def state(self) -> list[Floats]:
        """Return positions and velocities, (n, 3) each."""
        return [self.pos, self.vel]

    @property
    def radius(self) -> Floats | None:
        """Radii of the bodies, or None. With radii, integrate() and step() end at a contact; see `contacts` and merge()."""
        return None if self._radius is None else self._array(self._radius)

    @radius.setter
    def radius(self, radius: npt.ArrayLike | None) -> None:
        given = None if radius is None else np.array(np.broadcast_to(np.asarray(unmasked(radius), dtype=np.float64), (self.n,)))
        self._drop()
        self._radius = given

    def number(self, which: Which) -> int:
        """Return the number of a body given by its name or number; negative numbers count from the end."""
        if isinstance(which, str):
            if which not in self.names:
                raise KeyError("there is no body called %r" % which)
            return self.names[which]
        if not -self.n <= which < self.n:
            raise IndexError("there is no body %d among %d" % (which, self.n))
        return which % self.n

    def _primary(self, primary: Which | None, before: int) -> tuple[float, Floats, Floats]:
        """Mass, position and velocity of a primary; None: the centre of mass of the bodies before number `before`."""
        self._read()
        if primary is not None:
            i = self.number(primary)
            return float(self._mass[i]), self._pos[i].copy(), self._vel[i].copy()
        mass = self._mass[:before]
        total = float(mass.sum())
        if total <= 0:
            raise ValueError("an orbit needs a primary with mass: add the star first, or name the primary")
        return total, mass @ self._pos[:before] / total, mass @ self._vel[:before] / total

    def add(self, mass: float = 0.0, pos: npt.ArrayLike | None = None, vel: npt.ArrayLike | None = None, *, a: float | None = None,
            e: float = 0.0, inc: float = 0.0, Omega: float = 0.0, omega: float | None = None, pomega: float | None = None,
            M: float | None = None, f: float | None = None, l: float | None = None,  # noqa: E741
            primary: Which | None = None, name: str | None = None, radius: float | None = None) -> int:
        """Add a body and return its number.

        Either by position and velocity (default 0), or by an orbit: semi-major axis a, eccentricity e, inclination inc,
        node Omega, pericentre omega or its longitude pomega, and mean anomaly M, true anomaly f or mean longitude l, about
        the body `primary`, or without one about the centre of mass of all bodies so far.
        """
        for one, other in (("omega", "pomega"), ("M", "f"), ("M", "l"), ("f", "l")):
            if locals()[one] is not None and locals()[other] is not None:
                raise ValueError("%s and %s exclude each other" % (one, other))
        if a is None and (e or inc or Omega or not omega is pomega is M is f is l is primary is None):
            raise ValueError("an orbit needs its semi-major axis a")
        if a is not None and (pos is not None or vel is not None):
            raise ValueError("a body has a position and velocity, or an orbit, not both")
        if name in self.names:
            raise ValueError("there is a body called %r already" % name)
        at, speed = (np.zeros(3) if given is None else _rows(np.asarray(unmasked(given))[np.newaxis], 1, what)[0]
                     for given, what in ((pos, "pos"), (vel, "vel")))
        if a is not None:
            centre, at, speed = self._primary(primary, self.n)
            peri = pomega - Omega if pomega is not None else omega or 0.0
            M = _mean_anomaly(f, e) if f is not None else l - Omega - peri if l is not None else M or 0.0
            orbit = c.nbody_elements(semi_major=a, eccentricity=e, inclination=inc, node=Omega, pericentre=peri, mean_anomaly=M)
            x, v = np.empty(3), np.empty(3)
            check(lib.nbody_orbit_state(self.G * (centre + mass), orbit, x.ctypes.data, v.ctypes.data))
            at, speed = at + x, speed + v
        self._drop()
        self._mass = np.append(self._mass, np.float64(mass))
        self._pos, self._vel = np.vstack([self._pos, at]), np.vstack([self._vel, speed])
        if radius is not None or self._radius is not None:
            self._radius = np.append(np.zeros(self.n - 1) if self._radius is None else self._radius, np.float64(radius or 0.0))
        if name is not None:
            self.names[name] = self.n - 1
        return self.n - 1

    def _numbered(self, external: str) -> str:
        """Replace names of bodies in forces by numbers."""
        def number(found: re.Match[str]) -> str:
            name = found[2].strip('"')
            if name in self.names:
                return "%s=%d" % (found[1], self.names[name])
            try:
                float(name)  # the library checks it, as a body or as a parameter of a file
            except ValueError:
                raise ValueError("external: there is no body called %r" % name) from None
            return found[0]
        return re.sub(_BODY_OF_FORCE, number, external)

    def _check_removable(self, gone: int) -> None:
        """Forces of `external` may have numbers of bodies, and their sources are number 0 by default."""
        if not self.external:
            return
        bodies = [self.names.get(value.strip('"')) for _, value in re.findall(_BODY_OF_FORCE, self.external)]
        if gone == 0 or None in bodies or gone in bodies:
            raise ValueError("removing a body would change the numbers in external=%r: give names, or set external to None before, "
                             "and with the new numbers after" % self.external)

    def remove(self, which: Which) -> None:
        """Remove a body, and the events that are watched of it. The numbers of later bodies decrease by one.

        ValueError if `external` refers to this body, or to any body by its number.
        """
        gone = self.number(which)
        self._check_removable(gone)
        self._drop()
        self._mass, self._pos, self._vel = (np.delete(array, gone, axis=0) for array in (self._mass, self._pos, self._vel))
        if self._radius is not None:
            self._radius = np.delete(self._radius, gone)
        self.names = {name: i - (i > gone) for name, i in self.names.items() if i != gone}
        rules, self._rules = self._rules, []
        for rule in rules:
            of_all = rule.kind in (c.CONSTANTS["NBODY_ENCOUNTER"], c.CONSTANTS["NBODY_ESCAPE"]) and rule.body == rule.other
            if not of_all:
                if gone in (rule.body, rule.other):
                    continue
                rule.body, rule.other = rule.body - (rule.body > gone), rule.other - (rule.other > gone)
            self._rules.append(rule)

    def merge(self, first: Which, second: Which) -> None:
        """Merge two bodies into the first: mass and momentum add up, and so do the volumes of their radii."""
        i, j = self.number(first), self.number(second)
        if i == j:
            raise ValueError("a body cannot merge with itself")
        self._check_removable(j)
        self._drop()
        m, total = self._mass[[i, j]], float(self._mass[[i, j]].sum())
        share = m / total if total > 0 else np.array([1.0, 0.0])
        for array in (self._pos, self._vel):
            array[i] = share @ array[[i, j]]
        self._mass[i] = total
        if self._radius is not None:
            self._radius[i] = np.cbrt((self._radius[[i, j]] ** 3).sum())
        self.remove(j)

    def move_to_centre(self) -> None:
        """Move the centre of mass to the origin, at rest."""
        _, at, speed = self._primary(None, self.n)
        self._drop()
        self._pos -= at
        self._vel -= speed

    def orbit(self, which: Which, primary: Which | None = None) -> Orbit:
        """Return a body's orbit about another, or without one about the centre of mass of the bodies before it."""
        i = self.number(which)
        mass, at, speed = self._primary(primary, i)
        x, v = self._pos[i] - at, self._vel[i] - speed
        found = lib.nbody_find_elements(self.G * (mass + float(self._mass[i])), x.ctypes.data, v.ctypes.data)
        return Orbit(found.semi_major, found.eccentricity, found.inclination, found.node, found.pericentre, found.mean_anomaly,
                     _true_anomaly(found.mean_anomaly, found.eccentricity), found.period)

    # ---- Time. ----

    @property
    def time(self) -> float:
        self._read()
        return self._time

    @time.setter
    def time(self, time: float) -> None:
        self._drop()
        self._time = float(time)

    @property
    def steps(self) -> int:
        """Steps of dt so far."""
        self._read()
        return self._steps

    @property
    def contacts(self) -> list[tuple[int, int]]:
        """Pairs of bodies at whose contact the last call ended."""
        if self._radius is None or self._handle is None:
            return []
        count = ctypes.c_size_t()
        found = lib.nbody_contacts(self._handle, ctypes.byref(count))
        return [(found[k].first, found[k].second) for k in range(count.value)]

    def watch(self, kind: str, body: Which | None = None, other: Which | None = None, *, limit: float = 0.0, axis: str = "x",
              stop: bool = False) -> None:
        """Record events of the following steps in `events`, with their times; with `stop` integrate() and step() end there.

        encounter     closest approach of two bodies, or of any without them, below the distance `limit`
        pericentre    smallest distance of a body, or without one of all others, from `other`
        apocentre     largest distance
        transit       a body passes in front of `other`, as seen from far on the axis x, y or z
        escape        a body is farther than `limit` from `other`, or without bodies any from the origin
        """
        if kind not in _EVENTS or axis not in ("x", "y", "z"):
            raise ValueError("%s must be one of %s, not %r" % (("kind", ", ".join(_EVENTS), kind) if kind not in _EVENTS else ("axis", "x, y, z", axis)))
        if kind in _EVENTS[1:4] and other is None:
            raise ValueError("%s needs the other body" % kind)
        if (body is None) != (other is None) and kind not in _EVENTS[1:4]:
            raise ValueError("%s needs both bodies, or none" % kind)
        second = 0 if other is None else self.number(other)
        first = second if body is None else self.number(body)
        if body is not None and first == second:
            raise ValueError("%s needs two different bodies" % kind)
        self._drop()
        self._rules.append(c.nbody_event_rule(_EVENTS.index(kind), first, second, limit, "xyz".index(axis), int(stop)))

    def _collect_events(self) -> None:
        """Copy the events of the last step."""
        count = ctypes.c_size_t()
        found = lib.nbody_events(self._handle, ctypes.byref(count))
        for k in range(count.value):
            one, rule = found[k], self._rules[found[k].rule]
            self._stopped = self._stopped or bool(rule.stop)
            self.events.append(Event(_EVENTS[rule.kind], one.time, one.body, None if one.body == one.other else one.other,
                                     np.array(one.pos), np.array(one.vel)))

    def _has_ended(self) -> bool:
        return self._stopped or bool(self.contacts)

    def chaos(self) -> Any:
        """Return MEGNO and the largest Lyapunov exponent, with the names of struct nbody_chaos. Needs megno=True.

        They begin again, with a warning, when bodies, options, radii, forces or watched events change: `time` is the time
        since then.
        """
        found = c.nbody_chaos()
        self._call(lib.nbody_find_chaos, found)
        return found

    def step(self, steps: int = 1) -> None:
        """Advance by `steps` steps of dt, or to the first contact or event that stops."""
        left = whole(steps, "steps")
        self._stopped = False
        if self.dt is None:
            raise ValueError("a step needs its length: set dt, or call integrate()")
        if self._view is None:
            self._advance(left)
            return
        chunk = 1
        while left and not self._has_ended():
            some = min(chunk, left)
            took = self._advance(some)
            left -= some
            chunk = 2 * chunk if took < _ON_VIEW else max(chunk // 2, 1)
            self._show(last=not left)

    def _advance(self, steps: int) -> float:
        """Make steps; return the seconds that they took."""
        from time import perf_counter
        start = perf_counter()
        self._use()
        self._current = False
        self._call(lib.nbody_step, steps)
        if self._rules:
            self._collect_events()
        return perf_counter() - start

    def _advance_to(self, time: float, exact: bool) -> None:
        """Advance to a time, or to the first contact or event that stops."""
        self._stopped = False
        if self._handle is not None and lib.nbody_elapsed(self._handle):  # the last call ended within a step
            self._read()
            lib.nbody_set_clock(self._handle, self._time, self._steps)
        span = time - self.time
        if self.dt is None:
            parts = _PARTS if self._view else 1
            for k in range(parts):
                if k == 0 or not self._has_ended():
                    check(lib.nbody_set_dt(self._use(), span / parts))
                    self._advance(1)
                    self._show(last=k + 1 == parts)
            if not self._has_ended():
                self._at(time)
            return
        dt = math.copysign(self.dt, span)
        error = 1e-9 + 4 * np.finfo(float).eps * (abs(time) + abs(self._time)) / abs(dt)
        steps = math.ceil(span / dt - error)
        rest = span - (steps - 1) * dt if exact and abs(span / dt - steps) > error else 0.0
        if dt != self.dt:
            self.dt = dt
        self.step(steps - (rest != 0))
        if rest and not self._has_ended():
            check(lib.nbody_set_dt(self._use(), time - self.time))
            try:
                self._advance(1)
            finally:
                if self._handle is not None and not lib.nbody_elapsed(self._handle):
                    check(lib.nbody_set_dt(self._handle, dt))
        if exact and not self._has_ended():
            self._at(time)

    def _at(self, time: float) -> None:
        """Set the clock to a time that has been reached but for rounding."""
        self._read()
        self._time = time
        lib.nbody_set_clock(self._use(), time, self._steps)

    def integrate(self, until: float, *, every: float | None = None, call: Callable[[NBody], Any] | None = None,
                  exact: bool = True) -> None:
        """Integrate to a time, forwards or backwards, or to the first contact or event that stops.

        call(sim) is called after each interval of `every`, by default of dt, and at the end; if it returns True, the
        integration ends. With a fixed dt the last step of an interval is shorter, unless exact is False: then the
        integration passes the time by less than dt.
        """
        until = float(until)
        if not math.isfinite(until):
            raise ValueError("until must be a finite time, not %r" % until)
        interval = every if every is not None else self.dt if call else None
        if call and interval is None:
            raise ValueError("call needs the interval between its calls: give `every`, or set dt")
        if interval is not None and not 0 < abs(interval) < math.inf:
            raise ValueError("every must be a finite number other than 0, not %r" % interval)
        start, k = self.time, 0
        while self.time != until:
            k += 1
            there = until if interval is None else start + math.copysign(k * interval, until - start)
            if abs(there - start) >= abs(until - start) * (1 - 1e-14):
                there = until
            if (there - self.time) * (until - start) > 0:
                self._advance_to(there, exact)
            if (call and call(self)) or self._has_ended():
                return
            if there == until and (not exact or (self.time - until) * (until - start) >= 0):  # call may have gone beyond
                return

    # ---- Sums, and what is seen. ----

    def set_force(self, force: Callable[[float, Floats, Floats | None, Floats, Floats], Any] | None, *, of_velocity: bool = False) -> None:
        """Add a force to gravity; None removes it.

        force(time, pos, vel, mass, acc) adds accelerations to acc, an array of (n, 3) numbers; the other arrays are for
        reading, and vel is None unless of_velocity is True. Only while force runs are these arrays valid, and it must not use
        the simulation. For ias15, whfast, and up to 128 bodies by leapfrog, yoshida4 or taylor. Potentials and energies do
        not include it.
        """
        kind, seen = lib.nbody_set_force_callback.argtypes[1], dict[Any, Floats]()

        def rows(at: int | None, *shape: int) -> Any:
            if at and (at, shape) not in seen:
                seen[at, shape] = np.ctypeslib.as_array((ctypes.c_double * math.prod(shape)).from_address(at)).reshape(shape)
            return seen[at, shape] if at else None

        def call(_arg: Any, time: float, n: int, pos: int, vel: int | None, mass: int, acc: int) -> int:
            self._in_force = True
            try:
                force(time, rows(pos, n, 3), rows(vel, n, 3), rows(mass, n), rows(acc, n, 3))  # type: ignore[misc]
                return 0
            except BaseException as failure:  # noqa: BLE001
                self._interrupt = failure
                return 1
            finally:
                self._in_force = False
        self._drop()
        self._force = (kind(call), None, int(of_velocity)) if force else None

    def forces(self) -> list[Floats]:
        """Return accelerations (n, 3) and potentials (n) at the current time."""
        acc, potential = np.empty((self.n, 3)), np.empty(self.n)
        self._call(lib.nbody_forces, acc.ctypes.data, potential.ctypes.data)
        return [acc, potential]

    def diagnose(self) -> Any:
        """Return energies, momenta and the virial ratio, with the names of struct nbody_diagnostics."""
        d = c.nbody_diagnostics()
        self._call(lib.nbody_diagnose, d)
        return d

    @property
    def energy(self) -> float:
        """Total energy."""
        return float(self.diagnose().total)

    def view(self, address: str = "") -> "Link":
        """Open a live view of the following steps in a web browser, and return its link, which a notebook shows as the view itself.

        address: a port, "unix:PATH", or "" for a free port. close() ends the view; the number of bodies must stay. Where the view
        cannot be reached, as in a notebook on another machine or one opened later, the notebook shows a still picture of the bodies
        and the link: open it there through the command of the link's `tunnel`.
        """
        if self._view is None:
            self._use()
            options = c.view_options(program=b"nbody", framed=1, title=("%d bodies" % self.n).encode(), address=letters(address, "the address"))
            options.points.total, options.points.moving = self.n, 1
            options.points.mass = self._mass.ctypes.data
            self._view, self._shown_n = check(lib.view_open(options)), self.n
            self._show()
        return Link(check(lib.view_url(self._view, 0)).decode(), check(lib.view_tunnel(self._view)).decode(), self._still_picture)

    def _show(self, last: bool = False) -> None:
        """Give the view a frame, if it is due."""
        if self._view is None or not (last or lib.view_due(self._view)):
            return
        if self.n != self._shown_n:
            raise Error("the view shows %d bodies, but there are %d now; close the simulation and open another view" % (self._shown_n, self.n))
        order = check(lib.view_sample_order(self._view))
        count = min(self.n, int(lib.view_bodies_wanted(self._view)))
        pos, vel = np.empty((count, 3), np.float32), np.empty((count, 3), np.float32)
        self._call(lib.nbody_positions, count, order, pos.ctypes.data, vel.ctypes.data)
        frame = c.view_points(count=count, pos=pos.ctypes.data, vel=vel.ctypes.data)
        frame.at.time, frame.at.step, frame.at.last = self.time, self.steps, int(last)
        check(lib.view_show_points(self._view, frame))

    def _still_picture(self) -> bytes:
        """Return a PNG file of the bodies in the x-y plane: brightness grows with the logarithm of the number of bodies in a pixel."""
        seen = self.pos[np.isfinite(self.pos).all(axis=1), :2]
        seen = seen - np.median(seen, axis=0) if len(seen) else np.zeros((1, 2))
        reach = 1.05 * float(np.quantile(np.abs(seen).max(axis=1), 1 if self.n <= _FEW_DOTS else 0.9)) or 1.0
        count = np.histogram2d(-seen[:, 1], seen[:, 0], bins=_STILL, range=[[-reach, reach]] * 2)[0]
        if self.n <= _FEW_DOTS:  # dots of 5 x 5 pixels
            count = np.max([np.roll(count, (down, right), (0, 1)) for down in range(-2, 3) for right in range(-2, 3)], axis=0)
        shade = np.where(count, 55 + 200 * np.log1p(count) / max(np.log1p(count.max()), 1e-9), 0).astype(np.uint8)
        palette = np.stack([np.interp(np.arange(256), np.linspace(0, 255, len(_INFERNO)), part) for part in zip(*_INFERNO)], axis=1)
        return png_file((row.tobytes() for row in shade), _STILL, _STILL, palette.astype(np.uint8).tobytes())

    def _repr_html_(self) -> str:
        if not self.n:
            return html_table([("bodies", 0)])
        d = self.diagnose()
        return html_table([("bodies", self.n), ("time", "%.10g" % self.time), *((name, "%.10g" % getattr(d, name)) for name in ("kinetic", "potential", "total"))])


class Link(str):
    """The link of a live view; a notebook shows the view in a frame, or a still picture where the view cannot be reached."""

    tunnel: str  # the command that makes the link work from another machine
    _still: Callable[[], bytes]

    def __new__(cls, url: str, tunnel: str, still: Callable[[], bytes]) -> "Link":
        link = super().__new__(cls, url)
        link.tunnel, link._still = tunnel, still
        return link

    def _repr_png_(self) -> bytes:
        return self._still()

    def _repr_html_(self) -> str:
        return ('<object data="%s" type="text/html" title="Live view" style="width: 100%%; height: 560px">'
                '<img src="data:image/png;base64,%s" alt="The bodies when this was shown"><br>Live view: <a href="%s">%s</a></object>'
                % (self, base64.b64encode(self._still()).decode(), self, self))


def initial(model: str, n: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Return masses (n), positions and velocities (n, 3) of a model of nbody.h, such as "plummer" or "galaxy"."""
    mass, pos, vel = np.empty(whole(n, "n")), np.empty((n, 3)), np.empty((n, 3))
    check(lib.nbody_initial(check(lib.nbody_model_by_name(letters(model, "the model"))), n, whole(seed, "seed"), mass.ctypes.data,
                            pos.ctypes.data, vel.ctypes.data))
    return mass, pos, vel

"""Soups under many rules of Life at once.

    for found in stdcl.sweep(["B3/S23", "B36/S23"], soups=16):
        print(found.rule, found.kind, found.density)

SPDX-License-Identifier: MIT
"""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable

from . import _declarations as c
from ._library import check, letters, lib, nonzero, whole

if TYPE_CHECKING:
    from . import Context


@dataclass(frozen=True)
class Sweep:
    """Soups of 64 x 64 cells under a rule: the members of struct life_sweep_result, and the class: extinct, still, periodic or active."""

    rule: str
    kind: str
    density: float
    activity: float
    extinct: int
    settled: int
    period: int


def sweep(rules: Iterable[str], *, soups: int = 4, density: float = 0.5, seed: int = 0, generations: int = 1000,
          context: Context | None = None) -> list[Sweep]:
    """Run soups under each rule: of two states on the nearest neighbours, or Generations. Rules are data, so that thousands need one program."""
    texts = list(rules)
    if not 1 <= whole(soups, "soups") <= 65536 or not 1 <= whole(generations, "generations") < 2**32:
        raise ValueError("soups are 1 to 65536 and generations 1 to 2**32 - 1, not %r and %r" % (soups, generations))
    nonzero(density, "density")
    normal, results = [], (c.life_sweep_result * len(texts))()
    for text in texts:
        rule = ctypes.create_string_buffer(c.CONSTANTS["LIFE_RULE_TEXT"])
        check(lib.life_rule_normal(letters(text, "a rule"), rule))
        normal.append(rule.value)
    options = c.life_sweep_options(context._use() if context else None, soups, density, whole(seed, "seed"), generations)
    check(lib.life_sweep(options, (ctypes.c_char_p * len(texts))(*normal), len(texts), results))
    return [Sweep(rule.decode(), lib.life_sweep_class(r).decode(), r.density, r.activity, r.extinct, r.settled, r.period)
            for rule, r in zip(normal, results)]


__all__ = ["Sweep", "sweep"]

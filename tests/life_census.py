"""life_census.py STDCL FOLDER - compares hauls of `stdcl life census` with soups computed here.

A haul is parsed as apgsearch writes it (includes/searcher.h of apgmera, A. P. Goucher): header,
census table, sample soups. Its soups are the SHA-256 digests of root and number. They are run here
on an unbounded plane, cell by cell, until they are surely periodic. Every object is read from its
apgcode and run, too. Then the cells of all soups, means over a common period, must be the cells of
all objects: alive, and dying under Generations.
SPDX-License-Identifier: MIT
"""
import base64
import collections
import fractions
import hashlib
import math
import os
import re
import subprocess
import sys

AROUND = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]  # north-west first
DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz'


def map_of(becomes):
    """Golly's MAP of a function of nine cells, north-west first."""
    bits = ''.join('01'[becomes([i >> (8 - k) & 1 for k in range(9)])] for i in range(512))
    text = base64.b64encode(int(bits, 2).to_bytes(64, 'big')).decode()
    return 'MAP' + text.rstrip('=')


def slanted(cells):
    """Life, but no birth between cells to the north-west and to the north: without symmetry."""
    count = sum(cells) - cells[4]
    return count == 3 and not (cells[0] and cells[1]) or cells[4] and count == 2


def counted(survival, birth):
    return lambda cells: (sum(cells) - cells[4]) in (survival if cells[4] else birth)


class Rule:
    def __init__(self, text, haul, becomes, states=2):
        self.text, self.haul, self.becomes, self.states = text, haul, becomes, states
        self.table = [bool(becomes([i >> (8 - k) & 1 for k in range(9)])) for i in range(512)]

    def step(self, cells):
        """The next generation of {place: state}."""
        blocks, following = collections.defaultdict(int), {}
        for (x, y), state in cells.items():
            if state == 1:
                for k, (dx, dy) in enumerate(AROUND):
                    blocks[x - dx, y - dy] |= 256 >> k
            elif state + 1 < self.states:
                following[x, y] = state + 1
        for place, block in blocks.items():
            if cells.get(place, 0) < 2 and self.table[block]:
                following[place] = 1
        for place, state in cells.items():
            if state == 1 and place not in following and self.states > 2:
                following[place] = 2
        return following

    def state(self, bits):
        """The state of a cell whose bits in a code's planes are this number (lifelib)."""
        return bits if bits < 2 else self.states - (bits + 2) // 4


def plane_of(text):
    x, y, digits, cells = 0, 0, iter(text), set()
    for c in digits:
        if c == 'z':
            x, y = 0, y + 5
        elif c == 'y':
            x += 4 + DIGITS.index(next(digits))
        elif c in 'wx':
            x += 2 if c == 'w' else 3
        else:
            cells |= {(x, y + k) for k in range(5) if DIGITS.index(c) >> k & 1}
            x += 1
    return cells


def cells_of(rule, code):
    planes = [plane_of(p) for p in code.split('_')[1:]]
    return {place: rule.state(sum((place in p) << k for k, p in enumerate(planes)))
            for place in set().union(*planes)}


def shape_of(cells):
    left, top = min(x for x, y in cells), min(y for x, y in cells)
    return {(x - left, y - top): state for (x, y), state in cells.items()}, left, top


def tally(cells):
    live = sum(state == 1 for state in cells.values())
    return live, len(cells) - live


def mean_of_object(rule, code):
    """Cells of an object, mean over its period. Its code must say what it is."""
    kind, number = re.match(r'x([spq])(\d+)_', code).groups()
    now, sums, period = cells_of(rule, code), [0, 0], 0
    begin, left, top = shape_of(now)
    while True:
        for i, n in enumerate(tally(now)):
            sums[i] += n
        now, period = rule.step(now), period + 1
        shape, x, y = shape_of(now)
        if shape == begin:
            break
        assert period < 100, f'{code} is not periodic under {rule.text}'
    assert ((x, y) != (left, top)) == (kind == 'q'), f'{code} moves by {x - left}, {y - top}'
    assert int(number) == (sums[0] if kind == 's' else period), f'{code} has period {period}'
    assert kind != 's' or period == 1, f'{code} has period {period}'
    return period, [fractions.Fraction(n, period) for n in sums]


def soup_of(root, number):
    digest = hashlib.sha256(f'{root}{number}'.encode()).digest()
    return {(8 * (i % 2) + bit, i // 2): 1 for i, byte in enumerate(digest)
            for bit in range(8) if byte >> (7 - bit) & 1}


def read_haul(path):
    head, table, samples = {}, {}, {}
    sections = open(path).read().split('\n\n')
    assert len(sections) == 3 and sections[2].endswith('\n'), 'a haul has three sections'
    for line in sections[0].split('\n'):
        key, value = re.fullmatch(r'@([A-Z0-9_]+) (.*)', line).groups()
        head[key] = value
    assert list(head) == ['VERSION', 'MD5', 'ROOT', 'RULE', 'SYMMETRY', 'NUM_SOUPS', 'NUM_OBJECTS']
    for text, title, section in ((sections[1], '@CENSUS TABLE', table),
                                 (sections[2][:-1], '@SAMPLE_SOUPIDS', samples)):
        lines = text.split('\n')
        assert lines[0] == title, f'{lines[0]} is not {title}'
        for line in lines[1:]:
            code, numbers = line.split(' ', 1)
            section[code] = [int(n) for n in numbers.split(' ')]
    return head, {code: n for code, (n,) in table.items()}, samples


def check(stdcl, folder, rule, root, soups, generations):
    path = os.path.join(folder, 'haul.txt')
    subprocess.run([stdcl, 'life', 'census', '--rule', rule.text, '--root', root, '--soups',
                    str(soups), '--haul', path, '-q'], check=True)
    head, table, samples = read_haul(path)
    assert head['MD5'] == hashlib.md5(root.encode()).hexdigest(), 'MD5 of the root'
    assert head['ROOT'] == root and head['RULE'] == rule.haul and head['SYMMETRY'] == 'C1', head
    assert head['NUM_SOUPS'] == str(soups), 'a soup is undecided'
    assert head['NUM_OBJECTS'] == str(sum(table.values())), 'number of objects'
    assert list(table.items()) == sorted(table.items(), key=lambda t: (t[1], t[0]), reverse=True)
    assert list(samples) == list(table) and all(0 <= s[0] < soups for s in samples.values())
    objects = {code: mean_of_object(rule, code) for code in table}
    common = math.lcm(*(period for period, mean in objects.values()))
    expected = [sum(table[code] * mean[i] for code, (period, mean) in objects.items())
                for i in range(2)]
    found = [0, 0]
    for number in range(soups):
        now = soup_of(root, number)
        for g in range(generations + common):
            if g >= generations:
                found = [a + b for a, b in zip(found, tally(now))]
            now = rule.step(now)
    assert [fractions.Fraction(n, common) for n in found] == expected, (rule.text, found, expected)
    print(f'{rule.text[:20]}: {soups} soups, {head["NUM_OBJECTS"]} objects of {len(table)} kinds')
    return table


def main(stdcl, folder):
    text = map_of(slanted)
    longest = 'slant' * 12 + 'root'  # 64 characters, two blocks of MD5
    check(stdcl, folder, Rule(text, text, slanted), longest, 12, 300)
    for survival, birth, states, code in ((125, 356, 4, 'xp4_156_02'), (125, 35, 5, 'xq11_255'),
                                          (34, 3, 4, 'xp8_073_3_2')):
        counts = [set(map(int, str(n))) for n in (survival, birth)]
        rule = Rule(f'{survival}/{birth}/{states}', f'g{states}b{birth}s{survival}',
                    counted(*counts), states)
        table = check(stdcl, folder, rule, 'gen', 12, 300)
        assert code in table, f'{code} under {rule.text}'


main(*sys.argv[1:])

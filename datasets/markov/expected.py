# SPDX-License-Identifier: Apache-2.0
"""Writes expected.json: the generated corpus' first words and its entropies, from README.md alone, by NumPy.

pip install numpy && python3 datasets/markov/expected.py
"""
import json
import pathlib

import numpy

KEY = (0x6F720002, 0x74657273)
MASK = 0xFFFFFFFF


def draw32(index, c1, c2):
    c, k = [index // 4, c1, c2, 0], list(KEY)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & MASK, (p0 >> 32) ^ c[3] ^ k[1], p0 & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c[index % 4]


tables = [[[draw32(4 * word + j, t, 3) * 64 >> 32 for j in range(4)] for word in range(64)] for t in (0, 1)]


def words(split, count):
    last = before = 0
    for i in range(count):
        choice = draw32(i, 0, split) >> 29
        last, before = (tables[0][last] + tables[1][before])[choice], last
        yield last


def entropy(rows):
    return -(rows * numpy.log(numpy.where(rows > 0, rows, 1))).sum(axis=1)


after = numpy.zeros((64, 64, 64))  # [before, last, next]
for before in range(64):
    for last in range(64):
        for word in tables[0][last] + tables[1][before]:
            after[before, last, word] += 1 / 8
moves = numpy.zeros((4096, 4096))  # of pairs
for before in range(64):
    for last in range(64):
        moves[64 * before + last, 64 * last:64 * last + 64] = after[before, last]
# The stationary distribution solves pi (M - 1) = 0; the last equation gives way to sum(pi) = 1.
system = moves.T - numpy.eye(4096)
system[-1] = 1
pairs = numpy.linalg.solve(system, numpy.append(numpy.zeros(4095), 1.0)).reshape(64, 64)
joint = numpy.einsum("bl,bln->ln", pairs, after)
shares = joint.sum(axis=1)
facts = {"rate": float((pairs.reshape(-1) * entropy(after.reshape(4096, 64))).sum()),
         "after_one": float((shares * entropy(joint / numpy.maximum(shares, 1e-300)[:, None])).sum()),
         "train": list(words(0, 200)), "dev": list(words(1, 200))}
pathlib.Path(__file__).with_name("expected.json").write_text(json.dumps(facts) + "\n")

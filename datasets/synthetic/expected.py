# SPDX-License-Identifier: Apache-2.0
"""Prints what synthetic_test.cpp expects: the generator of README.md written a second time, in plain Python.

pip install xxhash && python3 datasets/synthetic/expected.py
"""
import pathlib
import re
import struct

import xxhash

SEED = 0x7465_7273_6F72_0001
MASK = 0xFFFFFFFF


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & MASK, (p0 >> 32) ^ c[3] ^ k[1], p0 & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def stream(c1, c2, c3):
    block = 0
    while True:
        yield from philox((block, c1, c2, c3), (SEED & MASK, SEED >> 32))
        block += 1


header = pathlib.Path(__file__).with_name("words.hpp").read_text()
WORDS = {name: re.findall(r'"(\w+)"', body) for name, body in re.findall(r"k(\w+) = \{(.*?)\}", header, re.S)}


def text(draws, telling):
    def below(n):
        return next(draws) * n >> 32
    fillers = below(3)
    words = [telling[below(len(telling))] for _ in range(8)]
    words += [WORDS["Filling"][below(len(WORDS["Filling"]))] for _ in range(fillers)]
    for i in range(len(words) - 1, 0, -1):
        j = below(i + 1)
        words[i], words[j] = words[j], words[i]
    return " ".join(words)


for split, (name, rows) in enumerate([("train", 8192), ("dev", 1000)]):
    digest = xxhash.xxh64()
    ones = clean = 0
    for row in range(rows):
        draws = stream(row, split, 0)
        praise, is_reversed = next(draws) >> 31, int(next(draws) < 1717986918)
        a = text(draws, WORDS["Positive" if praise else "Negative"])
        b = text(draws, WORDS["Reversing" if is_reversed else "Keeping"])
        wrong = next(stream(row // 20, split, 1)) * 20 >> 32 == row % 20
        label = praise ^ is_reversed ^ wrong
        ones += label
        clean += label == praise ^ is_reversed
        digest.update(struct.pack("<qf", row, label))
        for part in (a.encode(), b.encode()):
            digest.update(struct.pack("<Q", len(part)) + part)
        if row == 0:
            print(f"first row: {label} | {a} | {b}")
    print(f"{name}: hash {digest.hexdigest()}, {ones} labels of 1, {clean} right ones of {rows}")

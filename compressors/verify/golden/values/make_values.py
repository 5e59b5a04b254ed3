#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the value files beside this file: what other programs make of the same numbers. Shares no code with tersor.

    python3 -m venv v && v/bin/pip install -r requirements.txt && v/bin/python make_values.py
    make_values.py ml_dtypes scipy     only the files of these programs

A float32 is eight hexadecimal digits of its bits; lists are cut into lines and joined by the reader.
"""
import importlib
import json
import pathlib
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent


def floats(bits):
    return np.asarray(bits, np.uint32).view(np.float32)


def hexed(array):
    text = np.ascontiguousarray(array).byteswap().tobytes().hex()
    return [text[i:i + 96] for i in range(0, len(text), 96)]


def write(name, program, content):
    version = importlib.import_module(program).__version__.split('+')[0]
    content = {'program': f'{program} {version}', **content}
    (HERE / name).write_text(json.dumps(content, indent=1) + '\n')


@np.errstate(over='ignore', invalid='ignore')
def boundaries(values, seed):
    """Every value, the middle to the next, the float32s on both sides of each; beyond the largest; signs, specials."""
    values = np.unique(np.abs(values.astype(np.float32)))
    last_gap = values[-1] - values[-2]
    ends = np.append(values, values[-1] + last_gap)
    middles = ((ends[:-1].astype(np.float64) + ends[1:].astype(np.float64)) / 2).astype(np.float32)
    points = np.concatenate([values, middles, [values[-1] + last_gap, values[-1] * np.float32(4)]]).astype(np.float32)
    points = np.concatenate([points, np.nextafter(points, np.float32(np.inf)), np.nextafter(points, np.float32(0))])
    draws = np.random.default_rng(seed).integers(0, 1 << 32, 256, dtype=np.uint32)
    spread = floats((draws & 0x807FFFFF) | (((draws >> 23 & 31) + 111) << 23))
    special = floats([0, 0x80000000, 1, 0x80000001, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F7FFFFF,
                      0xFF7FFFFF])
    return np.concatenate([points, -points, spread, floats(draws), special]).astype(np.float32)


def ml_dtypes_values():
    import ml_dtypes
    formats = {'e4m3': (ml_dtypes.float8_e4m3fn, 8), 'e5m2': (ml_dtypes.float8_e5m2, 8),
               'e2m3': (ml_dtypes.float6_e2m3fn, 6), 'e3m2': (ml_dtypes.float6_e3m2fn, 6),
               'e2m1': (ml_dtypes.float4_e2m1fn, 4)}
    content = {}
    for name, (kind, width) in formats.items():
        values = np.arange(1 << width, dtype=np.uint8).view(kind).astype(np.float32)
        inputs = boundaries(values[np.isfinite(values)], width)
        with np.errstate(all='ignore'):
            codes = inputs.astype(kind).view(np.uint8)
        content[name] = {'values': hexed(values.view(np.uint32)), 'inputs': hexed(inputs.view(np.uint32)),
                         'codes': hexed(codes)}
    write('ml_dtypes.json', 'ml_dtypes', content)


def torch_values():
    import torch
    content = {}
    for name, kind, step in (('float16', torch.float16, 61), ('bfloat16', torch.bfloat16, 251)):
        largest = 0x7BFF if kind == torch.float16 else 0x7F7F
        codes = list(range(0, largest, step)) + [largest - 1, largest]
        values = torch.tensor(codes, dtype=torch.int16).view(kind).float().numpy()
        content[name] = boundaries(values, step)
    for name, kind in (('e4m3', torch.float8_e4m3fn), ('e5m2', torch.float8_e5m2)):
        values = torch.arange(256, dtype=torch.int32).to(torch.uint8).view(kind).float().numpy()
        content[name] = boundaries(values[np.isfinite(values)], 8)
    kinds = {'float16': torch.float16, 'bfloat16': torch.bfloat16, 'e4m3': torch.float8_e4m3fn,
             'e5m2': torch.float8_e5m2}
    casts = {}
    for name, inputs in content.items():
        cast = torch.from_numpy(inputs).to(kinds[name])
        codes = cast.view(torch.uint8).numpy() if cast.element_size() == 1 else cast.view(torch.int16).numpy().view(np.uint16)
        casts[name] = {'inputs': hexed(inputs.view(np.uint32)), 'codes': hexed(codes)}
    draw = np.random.default_rng(7)
    selections = []
    for n, k, scale in ((1, 1, 1.0), (10, 3, 1.0), (257, 26, 100.0), (1000, 10, 1e-30), (1000, 500, 1.0), (64, 64, 1.0)):
        x = (draw.standard_normal(n) * scale).astype(np.float32)
        assert len(np.unique(np.abs(x))) == n  # torch promises no order of ties
        magnitudes = torch.from_numpy(x).abs()
        found = torch.topk(magnitudes, k)
        selections.append({'x': hexed(x.view(np.uint32)), 'k': k, 'indices': sorted(found.indices.tolist()),
                           'smallest': hexed(torch.kthvalue(magnitudes, n - k + 1).values.numpy().reshape(1).view(np.uint32))})
    write('torch.json', 'torch', {'casts': casts, 'topk': selections})


def scipy_values():
    from scipy.linalg import hadamard
    content = {}
    for order in (1, 2, 4, 8, 16, 32, 64, 128):
        rows = np.packbits(hadamard(order) < 0, axis=1, bitorder='big')
        content[str(order)] = [row.tobytes().hex() for row in rows]
    write('scipy.json', 'scipy', {'negative': content})


def main():
    programs = {'ml_dtypes': ml_dtypes_values, 'torch': torch_values, 'scipy': scipy_values}
    for name in sys.argv[1:] or programs:
        programs[name]()


if __name__ == '__main__':
    main()

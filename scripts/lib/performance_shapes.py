# SPDX-License-Identifier: Apache-2.0
"""Rows of every type and shape, and of recorded activations, for docs/performance.md."""
from performance_tables import bounded, by_name, load, number

TYPES = "float32", "float16", "bfloat16"


def brief(row):
    """ratio to memcpy, share of the streaming bound"""
    return f"{number(row['memcpy_ratio'])}, {number(row['bound_share'])}"


def tensors_by_size(folder):
    """[{dtype: tensor}]: 64 MiB are more values of a 16-bit type, so another shape"""
    sizes = {}
    for (_, _, dtype, tensor), row in by_name(load(folder, "shapes")).items():
        same = row["raw_bytes"] if row["raw_bytes"] >= 2**26 else tensor
        sizes.setdefault(same, {})[dtype] = tensor
    return sizes.values()


def shape_rows(folder, tensors):
    native = by_name(load(folder, "shapes"))
    for spec in dict.fromkeys(spec for _, spec, _, _ in native):
        cells = [native.get((operation, spec, dtype, tensors[dtype])) for operation in ("encode", "decode", "sum4")
                 for dtype in TYPES]
        if all(cells):
            yield [f"`{spec}`"] + [brief(cell) for cell in cells]


def recorded_rows(folder):
    recorded, made = by_name(load(folder, "recorded")), by_name(load(folder, "recorded-made"))
    tensors = sorted({tensor for *_, tensor in recorded}, reverse=True)  # in the order of the page's header
    for operation, spec in dict.fromkeys((operation, spec) for operation, spec, *_ in recorded):
        rows = [recorded[operation, spec, "float32", tensor] for tensor in tensors]
        yield [f"{operation} `{spec}`"] + [bounded(row) for row in rows] + [
            bounded(made[operation, spec, "float32", "64x64x384"])]

# SPDX-License-Identifier: Apache-2.0
"""Rows of the tables of docs/performance.md, from the JSON files of scripts/performance."""
import json
from pathlib import Path

TENSOR = "1x4096x1024"


def load(folder, name):
    path = Path(folder) / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"context": {}, "benchmarks": []}


def by_name(run):
    """{(operation, spec, dtype, tensor): row}"""
    found = {}
    for row in run["benchmarks"]:
        operation, spec, dtype, tensor = row["name"].split("/iterations:")[0].split("/", 3)
        found[operation, spec, dtype, tensor] = row
    return found


def number(value):
    return "" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def ratio(row):
    return f"**{number(row['memcpy_ratio'])}** ({number(row['memcpy_ratio_low'])}-{number(row['memcpy_ratio_high'])})"


def bounded(row):
    return f"{ratio(row)}, bound {number(row['bound_share'])}"


def table(header, rows):
    return "\n".join(["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)] +
                     ["| " + " | ".join(cells) + " |" for cells in rows]) + "\n"


def main_rows(folder, wanted, gates):
    native, avx2, eager, compiled = (by_name(load(folder, name)) for name in ("codecs", "avx2", "eager", "compiled"))
    for operation, spec, goal, goal_avx2, goal_eager, limit in wanted:
        key = operation, spec, "float32", TENSOR
        row, narrow, slow = native[key], avx2.get(key), eager.get(key)
        beside = slow and row["memcpy_ratio"] / slow["memcpy_ratio"]
        fast = compiled.get(key)
        yield [f"{operation} `{spec}`", ratio(row), goal or "-", gates.get((operation, spec), "-"),
               number(row["bound_share"]), f"{row['moved_bytes'] / 2**20:.1f}", f"{row['median_ns'] / 1e3:.0f}",
               f"{number(narrow['memcpy_ratio'])} ({goal_avx2 or '-'})" if narrow else "-",
               f"{number(beside)} ({goal_eager or '-'})" if slow else "-",
               *([number(row["memcpy_ratio"] / fast["memcpy_ratio"]) if fast else "-"] if compiled else []), limit]


def more_rows(folder, wanted):
    native = by_name(load(folder, "more"))
    for spec, *limits in wanted:
        for operation, limit in zip(("encode", "decode"), limits):
            row = native[operation, spec, "float32", TENSOR]
            yield [f"{operation} `{spec}`", ratio(row), number(row["bound_share"]), f"{row['moved_bytes'] / 2**20:.1f}",
                   f"{row['median_ns'] / 1e3:.0f}", limit]


def fbgemm_rows(folder):
    native = by_name(load(folder, "shapes")) | by_name(load(folder, "codecs"))
    for (operation, name, dtype, tensor), row in by_name(load(folder, "fbgemm")).items():
        bits = name.split()[2]
        spec = f"minmax({'' if bits == '8' else f'bits={bits},'}scope=token)"
        own = native.get((operation, spec, dtype, tensor))
        if own:
            yield [f"{operation}, {bits} bits", tensor, ratio(row), f"`{spec}`", ratio(own),
                   number(own["memcpy_ratio"] / row["memcpy_ratio"])]


def sum_rows(folder):
    native = by_name(load(folder, "codecs"))
    for spec in dict.fromkeys(spec for _, spec, _, _ in native):
        cells = [native.get((f"sum{p}", spec, "float32", TENSOR)) for p in (2, 4, 8)]
        if all(cells):
            yield [f"`{spec}`"] + [bounded(cell) for cell in cells]

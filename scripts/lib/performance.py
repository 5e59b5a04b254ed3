#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: performance.py FOLDER   docs/performance.md to standard output, from the JSON files that scripts/performance
left in FOLDER; rows, goals and what limits a codec stand in its folder (speed_rows.py)."""
import json
import statistics
import sys
from pathlib import Path

import speed_rows
from performance_shapes import TYPES, recorded_rows, shape_rows, tensors_by_size
from performance_tables import TENSOR, by_name, fbgemm_rows, load, main_rows, more_rows, sum_rows, table
from performance_texts import GPU, INTRO, MORE, RECORDED, SHAPES


def machine(folder):
    context = load(folder, "codecs")["context"]
    facts = json.loads((Path(folder) / "machine.json").read_text(encoding="utf-8"))
    rows = load(folder, "codecs")["benchmarks"]
    noisy = sum(row["noisy"] for row in rows) / sum(row["samples"] for row in rows)
    copy = statistics.median(row["memcpy_ns"] for (operation, _, dtype, tensor), row in by_name(load(folder, "codecs")).items()
                             if (operation, dtype, tensor) == ("encode", "float32", TENSOR))
    torch = load(folder, "eager")["context"].get("torch", "not run")
    return (f"Machine: {facts['cpu']}, {facts['cores']} cores (a virtual machine that others use), caches {facts['caches']}; "
            f"compiler {context.get('compiler', '?')}; build {context.get('tersor', '?')}; PyTorch {torch}. Load average "
            f"before and after: {facts['load_before']} and {facts['load_after']}; {noisy:.0%} of the samples never met "
            f"quiet copies, so allow 10 to 20 % on every ratio. memcpy of the tensor took {copy / 1e3:.0f} us, "
            f"{2 * 16.777216e6 / copy:.1f} GB/s read and written.\n\n")


def title(tensors):
    shapes = dict.fromkeys(f"[{tensor.removeprefix('1x').replace('x', ',')}]" for tensor in tensors.values())
    return "### " + " or ".join(shapes) + (", 64 MiB" if len(shapes) > 1 else "")


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        return print(__doc__)
    folder = sys.argv[1]
    wanted = speed_rows.rows(speed_rows.GOAL)
    gates = {}
    for line in (Path(folder) / "gates.txt").read_text(encoding="utf-8").splitlines():
        gate, operation, spec = line.split(" ", 2)
        gates[operation, spec] = gate
    header = ["operation", "x memcpy", "goal", "gate", "bound", "MiB moved", "us", "AVX2 only (goal)", "x eager (goal)",
              *(["x torch.compile"] if load(folder, "compiled")["benchmarks"] else []), "what limits it"]
    print(INTRO + machine(folder) + "## float32 [4096,1024]\n" + table(header, main_rows(folder, wanted, gates)))
    print(MORE + table(["operation", "x memcpy", "bound", "MiB moved", "us", "what limits it"],
                       more_rows(folder, speed_rows.rows(speed_rows.MORE))))
    print("## FBGEMM\nIts row-wise kernels, as libtorch ships them, against `minmax(scope=token)`; ratios to memcpy.\n" +
          table(["FBGEMM", "tensor", "x memcpy", "ours", "x memcpy", "ours / FBGEMM"], fbgemm_rows(folder)))
    print("## Sums of p payloads\nDecoded and added at a site (`Codec::combine`), against memcpy of the tensor.\n" +
          table(["codec", "p = 2", "p = 4", "p = 8"], sum_rows(folder)))
    print(SHAPES)
    columns = ["codec", *(f"{operation}, {dtype}" for operation in ("encode", "decode", "sum of 4") for dtype in TYPES)]
    for tensors in tensors_by_size(folder):
        print(f"{title(tensors)}\n" + table(columns, shape_rows(folder, tensors)))
    recorded = list(recorded_rows(folder))
    if recorded:
        print(RECORDED + table(["operation", "`layer5.mlp`", "`layer0.attention.backward`", "made"], recorded))
    print(GPU, end="")


main()

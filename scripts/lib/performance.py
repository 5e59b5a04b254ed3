#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: performance.py FOLDER   docs/performance.md to standard output, from the JSON files that scripts/performance
left in FOLDER; rows, goals and what limits a codec stand in performance_rows.tsv and performance_more.tsv beside this program."""
import json
import sys
from pathlib import Path

from performance_tables import (TENSOR, TYPES, by_name, fbgemm_rows, load, main_rows, more_rows, recorded_rows,
                                shape_rows, sum_rows, table, tensors_by_size)

INTRO = """# Speed of the codecs
Written by `scripts/performance`, which measures again and renders this page; nothing here is edited by hand.

One thread against `memcpy` of the same tensor: **1.0 is the speed of memcpy, higher is faster**. Every call is timed
between two copies in the thread's own CPU time, and again (at most ten times) while the copies are more than 6 % slower
than the best one; a row is the median of its samples' ratios with the 95 % interval of that median. *bound* is the share
of the streaming bound: the input read once and the output written once, at memcpy's speed; above 1 means that the
codec writes little, since reads are cheaper. *moved* are those bytes. Goals are targets, gates fail the test
`codec_gates`. Tensor: float32 [4096,1024] of made activations (normal, channels scaled log-normally) unless said.

"""
MORE = """## Codecs and wrappers without a goal
The same tensor; encode of a wrapper with a state is that of a later message. `gate` and `twostep` call their inner
codec, `twostep` on each chunk of rows; `autoencoder` is a matrix product of libtorch in the worker.
"""
RECORDED = """## Recorded activations
What rank 0 of two sends in the first step of MiniLM-L6 on SST-2, 64 sentences of 64 tokens (`tersor run
--messages-every 1`): an activation and a gradient [64,64,384], beside a made tensor of that shape; x memcpy, and
the share of the streaming bound. The tensors are 6 MiB, so they stay in the last cache, as the made one does.
"""
SHAPES = """## Types and shapes
x memcpy of the same tensor, then the share of the streaming bound. Decoding gives float32: twice the bytes of a 16-bit
tensor. [1024,384] stays in the second cache; 64 MiB is no longer held by any. The samples are fewer than above
(0.05 s of timed calls a row, one at least), so allow more.
"""
GPU = """## GPU
No GPU was at hand. Registers, occupancy, loads and bytes moved of the kernels are known without one ([kernels](kernels.md)).
| goal | measured |
| --- | --- |
| bytes of every codec equal the CPU's (`scripts/gpu-check`) | not run |
| single-pass codecs at 64 MB: 90 % of a device copy (`scripts/gpu-check --kib 65536`) | not run |
| 8 MB on an H200: 5 us; 7 us with a scale per channel, 25 us Top-K (`scripts/gpu-check --kib 8192`) | not run |
| faster than torch.compile of the same formula (`scripts/bench-rivals --device cuda`) | not run |
"""


def machine(folder):
    context = load(folder, "codecs")["context"]
    facts = json.loads((Path(folder) / "machine.json").read_text(encoding="utf-8"))
    rows = load(folder, "codecs")["benchmarks"]
    restless = sum(row["restless"] for row in rows) / sum(row["samples"] for row in rows)
    copy = by_name(load(folder, "codecs"))["encode", "quantize", "float32", TENSOR]["memcpy_ns"]
    torch = load(folder, "eager")["context"].get("torch", "not run")
    return (f"Machine: {facts['cpu']}, {facts['cores']} cores (a virtual machine that others use), caches {facts['caches']}; "
            f"compiler {context.get('compiler', '?')}; build {context.get('tersor', '?')}; PyTorch {torch}. Load average "
            f"before and after: {facts['load_before']} and {facts['load_after']}; {restless:.0%} of the samples never met "
            f"quiet copies, so allow 10 to 20 % on every ratio. memcpy of the tensor took {copy / 1e3:.0f} us, "
            f"{2 * 16.777216e6 / copy:.1f} GB/s read and written.\n\n")


def lines_of(name):
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def title(tensors):
    shapes = dict.fromkeys(f"[{tensor.removeprefix('1x').replace('x', ',')}]" for tensor in tensors.values())
    return "### " + " or ".join(shapes) + (", 64 MiB" if len(shapes) > 1 else "")


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        return print(__doc__)
    folder = sys.argv[1]
    wanted = lines_of("performance_rows.tsv")
    gates = {}
    for line in (Path(folder) / "gates.txt").read_text(encoding="utf-8").splitlines():
        gate, operation, spec = line.split(" ", 2)
        gates[operation, spec] = gate
    header = ["operation", "x memcpy", "goal", "gate", "bound", "MiB moved", "us", "AVX2 only (goal)", "x eager (goal)",
              *(["x torch.compile"] if load(folder, "compiled")["benchmarks"] else []), "what limits it"]
    print(INTRO + machine(folder) + "## float32 [4096,1024]\n" + table(header, main_rows(folder, wanted, gates)))
    print(MORE + table(["operation", "x memcpy", "bound", "MiB moved", "us", "what limits it"],
                       more_rows(folder, lines_of("performance_more.tsv"))))
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

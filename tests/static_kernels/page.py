# SPDX-License-Identifier: Apache-2.0
"""usage: page.py TRAFFIC   docs/kernels.md to standard output, from the compiled kernels and from what the traffic tests of
tests/cuda_emulator printed to TRAFFIC; scripts/kernels calls it."""
import os
import re
import sys
import tempfile

from compiled_kernels import ARCHITECTURES, Compiled, block_threads, occupancy, readable, run, sources, tool

HEAD = """# What is known of the CUDA kernels without a GPU
Written by `scripts/kernels`. **No kernel has run on a GPU**: what follows was compiled, counted or computed. The limits
that the tests hold stand in `tests/static_kernels/budget.json`; bytes equal the CPU's in the emulator (`ctest -R
emulated`), on a GPU `scripts/gpu-check` will say.

## Kernels
By kernel, over all types that it is compiled for (*with a state*: those that rewrite what `ef`, `ef21` or `aqsgd` keep):
threads of a block, registers of a thread, static shared memory of a block in bytes, and occupancy, the share of a
multiprocessor's 64 warps that fit at once, computed from them (CUDA C++ Programming Guide, technical specifications).
*16 bytes*: in how many of them the machine code of sm_90 has 16-byte loads (L) and stores (S). No kernel spills or has a
stack (the test fails otherwise).
"""
TRAFFIC = """
## Launches and bytes
Counted in the emulator on small tensors; *x bound*: against reading the tensor once and writing the payload once (sums:
the payloads and float32 values). *sectors*: 32-byte sectors a load of a warp touches, 16 where its lanes read 16 bytes each.
"""


def span(values, form="{}"):
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low}-{high}"


def widths(sass):
    """{kernel instance: (16-byte loads, 16-byte stores)}"""
    found = {}
    for part in re.split(r"\n\s*Function : ", sass)[1:]:
        found[part.split("\n", 1)[0].strip()] = (bool(re.search(r"\bLDG\.[\w.]*128\b", part)),
                                                 bool(re.search(r"\bSTG\.[\w.]*128\b", part)))
    return found


def kernel_rows(folder):
    for source in sources():
        compiled = Compiled(source, folder)
        threads = {readable(name): count for name, count in block_threads(compiled.ptx).items()}
        usage, wide = {}, {}
        for architecture in ARCHITECTURES:
            usage[architecture], sass = compiled.assemble(architecture)
            if architecture == "sm_90" and sass:
                wide = {readable(name): both for name, both in widths(sass).items()}
        groups = {}
        for name in usage["sm_90"]:
            groups.setdefault((name.split("<")[0], "Feedback" in name.partition("<")[2]), []).append(name)
        for (kernel, has_feedback), names in sorted(groups.items()):
            used = [usage["sm_90"][name] for name in names]
            cells = [os.path.basename(source).removesuffix(".cu"), f"`{kernel}`" + " with a state" * has_feedback, str(len(names)),
                     span(sorted(threads[name] for name in names)), span([one["registers"] for one in used]),
                     span([one["shared"] for one in used])]
            for architecture in ARCHITECTURES:
                cells.append(span([100 * occupancy(architecture, threads[name], usage[architecture][name]["registers"],
                                                   usage[architecture][name]["shared"])[1] for name in names], "{:.0f}") + " %")
            loads, stores = (sum(wide[name][i] for name in names) for i in (0, 1)) if wide else ("?", "?")
            yield cells + [f"{loads} L, {stores} S"]


def table(header, rows):
    print("| " + " | ".join(header) + " |\n|" + " --- |" * len(header))
    for cells in rows:
        print("| " + " | ".join(cells) + " |")


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) == 2 else 2
    with open(sys.argv[1], encoding="utf-8") as stream:
        lines = stream.read().splitlines()
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        table(["file", "kernel", "compiled for", "threads", "registers (sm_90)", "shared", *ARCHITECTURES, "16 bytes"],
              kernel_rows(folder))
    print(f"\nCompiler: {run([tool('nvcc'), '--version']).split('release ')[1].split()[0].rstrip(',')}.")
    print(TRAFFIC)
    pattern = r"(.*?) +(\d+) launches +(\d+) bytes +([\d.]+) x bound +([\d.]+) sectors/load +([\d.]+) stores"
    found = [re.fullmatch(pattern, line) for line in lines]
    table(["what", "launches", "bytes", "x bound", "sectors"],
          [[f"`{m[1]}`" if "sum of" not in m[1] else "`{}`, sum of {}".format(*m[1].split(", sum of ")), *m.groups()[1:5]]
           for m in found if m])
    for line in lines:
        if " bytes a value loaded" in line:
            print(f"\n{line[0].upper()}{line[1:]} (bound: 4 loaded in one read; two reads find the k-th value).")
    return 0


sys.exit(main())

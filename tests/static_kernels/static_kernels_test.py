# SPDX-License-Identifier: Apache-2.0
"""usage: static_kernels_test.py BUILD [--all | --update]   what can be said of the compiled kernels without a GPU.

Compiles every .cu of the codecs to PTX and, for sm_90 (--all: for every architecture of budget.json), to machine code:
no stack, no spills, registers and shared memory within budget.json; PTX without operations whose result is not the
CPU's; with cuobjdump on PATH, 16-byte loads and stores in the machine code. --update writes budget.json anew. What was
clean is not compiled again while its sources, this file and the compiler stay the same (BUILD/static-kernels)."""
import glob
import hashlib
import json
import os
import re
import sys
import tempfile
import unittest

from compiled_kernels import ARCHITECTURES, FLAGS, ROOT, Compiled, occupancy, readable, run, sources, tool

HERE = os.path.dirname(os.path.abspath(__file__))
UPDATE = "--update" in sys.argv and not sys.argv.remove("--update")
ALL = "--all" in sys.argv and not sys.argv.remove("--all")
BUILD = os.path.abspath(sys.argv.pop(1) if len(sys.argv) > 1 else "build")
# Operations whose result is not that of the CPU's correctly rounded one, or depends on the order of threads.
FORBIDDEN = {"fused multiply-add": r"\bfma\.(?!rn\.f64)", "approximate": r"\.approx", "flush to zero": r"\.ftz",
             "inexact division": r"\bdiv\.full", "double precision": r"\.f64\b",
             "float atomics": r"\b(atom|red)\.[\w.]*add[\w.]*\.f(16|32|64)", "local memory": r"\b(ld|st)\.local"}


def ptx_problems(text):
    """One line per forbidden operation and kernel."""
    found = []
    kernel = "?"
    for line in text.splitlines():
        entry = re.search(r"\.entry (\w+)", line)
        kernel = entry[1] if entry else kernel
        code = line.split("//")[0]
        found += [(kernel, f"{what}: {code.strip()}") for what, pattern in FORBIDDEN.items() if re.search(pattern, code)]
    return [f"{readable(kernel)}: {what}" for kernel, what in found]


def usage_problems(usage, budget):
    """`usage` by readable name; a kernel without a budget has none."""
    found = []
    for name, used in usage.items():
        limits = {"stack": 0, "spills": 0, "registers": 0, "shared": 0} | budget.get(name, {})
        found += [f"{name}: {used[what]} {what}, the budget is {limit}" for what, limit in limits.items() if used[what] > limit]
    return found


def sass_problems(text):
    """Kernels that read or write a tensor have 16-byte loads and stores, and no local memory."""
    found = []
    for part in re.split(r"\n\s*Function : ", text)[1:]:
        name = readable(part.split("\n", 1)[0].strip())
        kernel = name.split("<")[0]
        wanted = []
        if kernel in ("round_kernel", "sum_kernel", "copy_kernel", "encode_tiles_kernel", "encode_runs_kernel", "encode_channels_kernel"):
            wanted = ["LDG.E.128", "STG.E.128"]
        elif kernel in ("long_keys_kernel", "channel_keys_kernel"):
            wanted = ["LDG.E.128"]
        elif kernel == "decode_kernel":
            wanted = ["STG.E.128"]
        found += [f"{name}: no {one}" for one in wanted if one not in part and one.replace(".E.", ".E.EF.") not in part]
        found += [f"{name}: {one}" for one in ("LDL", "STL") if re.search(rf"\b{one}\b", part)]
    return found


def check(source, architectures, budget, folder):
    """(problems, usage by architecture)"""
    compiled = Compiled(source, folder)
    codec = os.path.basename(source).removesuffix(".cu")
    problems, usages = [f"{codec}: {one}" for one in ptx_problems(compiled.ptx)], {}
    for architecture in architectures:
        usage, sass = compiled.assemble(architecture)
        usages[architecture] = usage
        limits = budget.get(architecture, {}).get(codec, {})
        problems += [f"{codec} {architecture}: {one}" for one in usage_problems(usage, limits)]
        problems += [f"{codec} {architecture}: {one}" for one in sass_problems(sass or "")]
    return problems, usages


def fingerprint(files, architectures):
    digest = hashlib.sha256(repr((architectures, FLAGS[:-1], run([tool("nvcc"), "--version"]), bool(tool("cuobjdump")))).encode())
    headers = glob.glob(os.path.join(ROOT, "compressors", "**", "*.[ch]*"), recursive=True)
    headers += glob.glob(os.path.join(ROOT, "common", "*.hpp"))
    for path in sorted({*files, *headers, *glob.glob(os.path.join(HERE, "*"))}):
        if path.endswith((".hpp", ".cuh", ".cu", ".py", ".json")) and os.path.exists(path):
            with open(path, "rb") as stream:
                digest.update(stream.read())
    return digest.hexdigest()


def rounded(usage):
    """A budget has room for another compiler's choices: the next multiple of eight registers."""
    return {name: {"registers": -(-used["registers"] // 8) * 8, "shared": used["shared"]}
            for name, used in sorted(usage.items())}


class StaticKernels(unittest.TestCase):
    def test_kernels(self):
        files = sources()
        self.assertGreater(len(files), 5)
        architectures = ARCHITECTURES if ALL or UPDATE else ("sm_90",)
        clean = os.path.join(BUILD, "static-kernels", fingerprint(files, architectures))
        if os.path.exists(clean) and not UPDATE:
            return
        with open(os.path.join(HERE, "budget.json"), encoding="utf-8") as stream:
            budget = json.load(stream)
        problems, fresh = [], {architecture: {} for architecture in architectures}
        with tempfile.TemporaryDirectory() as folder:
            for source in files:
                found, usages = check(source, architectures, budget, folder)
                problems += found
                for architecture, usage in usages.items():
                    fresh[architecture][os.path.basename(source).removesuffix(".cu")] = rounded(usage)
        if UPDATE:
            with open(os.path.join(HERE, "budget.json"), "w", encoding="utf-8") as stream:
                json.dump(fresh, stream, indent=1)
                stream.write("\n")
            return
        if not tool("cuobjdump"):
            print("no cuobjdump: the width of loads and stores in machine code is not checked")
        self.assertEqual([], problems)
        os.makedirs(os.path.dirname(clean), exist_ok=True)
        with open(clean, "w", encoding="utf-8"):
            pass

    def test_planted(self):
        """A kernel that breaks each rule, compiled as the others are but for fused operations."""
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "planted.cu")
            with open(source, "w", encoding="utf-8") as stream:
                stream.write("__global__ void planted(float* x, double* y, int i) {\n"
                             "  float local[512];\n"
                             "  for (int j = 0; j < 512; ++j) local[j * i & 511] = x[j];\n"
                             "  x[0] = local[i & 511] + __fmaf_rn(x[1], x[2], x[3]);\n"
                             "  x[1] = __fdividef(x[1], x[2]);\n"
                             "  y[0] += 1.5;\n"
                             "  atomicAdd(x + 4, 1.0f);\n"
                             "}\n")
            compiled = Compiled(source, folder)
            found = "\n".join(ptx_problems(compiled.ptx))
            for what in ("fused multiply-add", "approximate", "double precision", "float atomics", "local memory"):
                self.assertIn(what, found)
            usage, sass = compiled.assemble("sm_90")
            found = usage_problems(usage, {"planted": {"registers": 8, "shared": 0}})
            self.assertTrue(any("stack" in one for one in found), found)
            self.assertTrue(any("registers, the budget is 8" in one for one in found), found)
            if sass is not None:
                self.assertIn("planted: LDL", sass_problems("\n" + sass))
        self.assertEqual(["k: no LDG.E.128"], [one.replace("copy_kernel", "k") for one in sass_problems(
            "\n Function : copy_kernel\n STG.E.128 [R2], R4 ;")])
        self.assertEqual(["k: 4 registers, the budget is 0"],
                         usage_problems({"k": {"stack": 0, "spills": 0, "registers": 4, "shared": 0}}, {}))

    def test_occupancy(self):
        """By hand from the limits of sm_90: 65,536 registers, 2,048 threads, 32 blocks, 228 KiB."""
        self.assertEqual((8, 1.0), occupancy("sm_90", 256, 32, 0))  # 32 * 256 = 8,192 registers: 8 blocks, all threads
        self.assertEqual((5, 0.625), occupancy("sm_90", 256, 44, 8192))  # 48 with rounding: 42 warps, 40 in fours
        self.assertEqual((2, 0.125), occupancy("sm_90", 128, 32, 100 << 10))  # twice 101 KiB
        self.assertEqual((1, 0.0625), occupancy("sm_80", 128, 32, 100 << 10))
        self.assertEqual((32, 0.5), occupancy("sm_90", 32, 16, 0))  # blocks, not threads


if __name__ == "__main__":
    if not tool("nvcc") or not tool("ptxas"):
        print("SKIPPED: no nvcc and ptxas")
        sys.exit(0)
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The compiled CUDA kernels of the codecs: PTX, what ptxas says of them, machine code, occupancy."""
import glob
import os
import re
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
FLAGS = ["-std=c++20", "-fmad=false", "-prec-div=true", "-prec-sqrt=true", "-ftz=false", "--expt-relaxed-constexpr",
         "-arch=compute_80", "-I", ROOT]
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tersor", "cuda-tools", "bin")


def tool(name):
    """Its path, or None: on PATH, beside nvcc, or what scripts/setup fetched."""
    beside = os.path.dirname(os.path.realpath(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"))
    return shutil.which(name) or next((path for folder in (beside, CACHE)
                                       if os.path.exists(path := os.path.join(folder, name))), None)


def run(command):
    # cuobjdump looks for nvdisasm on PATH.
    path = {"PATH": os.pathsep.join([os.environ.get("PATH", os.defpath), CACHE])}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | path)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}:\n{result.stderr[-3000:]}")
    return result.stdout + result.stderr


def sources():
    return sorted(glob.glob(os.path.join(ROOT, "compressors", "device", "*.cu")) +
                  glob.glob(os.path.join(ROOT, "compressors", "codecs", "*", "*.cu")))


def readable(name):
    """quantize: encode_tiles_kernel<BFloat16, QuantizeCoder>; arguments and namespaces left out."""
    text = run(["c++filt", name]).strip().removeprefix("void ")
    text = re.sub(r"\(anonymous namespace\)::|tersor::compressors::|device::", "", text)
    return text[:text.index("(")] if "(" in text else text


def parse_usage(text):
    """ptxas -v: {kernel: {registers, shared, stack, spills}}."""
    kernels, name = {}, None
    for line in text.splitlines():
        entry = re.search(r"Compiling entry function '(\w+)'", line)
        frame = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        used = re.search(r"Used (\d+) registers", line)
        if entry:
            name = entry[1]
        elif frame:
            kernels[name] = {"stack": int(frame[1]), "spills": int(frame[2]) + int(frame[3])}
        elif used:
            shared = re.search(r"(\d+) bytes smem", line)
            kernels[name] |= {"registers": int(used[1]), "shared": int(shared[1]) if shared else 0}
    return kernels


def block_threads(ptx):
    """{kernel: threads of its launch bounds}, for kernels that have them."""
    found, kernel = {}, None
    for line in ptx.splitlines():
        entry = re.search(r"\.entry (\w+)", line)
        kernel = entry[1] if entry else kernel
        bound = re.search(r"\.maxntid (\d+)", line)
        if bound:
            found[kernel] = int(bound[1])
    return found


# Of a multiprocessor (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"): shared memory;
# all three have 64 warps, 32 blocks and 65,536 registers, which warps get in pieces of 256, four warps at a time.
SHARED_BYTES = {"sm_80": 164 << 10, "sm_90": 228 << 10, "sm_100": 228 << 10}


def occupancy(architecture, threads, registers, shared):
    """Blocks of a multiprocessor, and the share of its 64 warps that they are."""
    warps = -(-threads // 32)
    by_registers = 65536 // (-(-registers * 32 // 256) * 256) // 4 * 4 // warps
    by_shared = SHARED_BYTES[architecture] // (-(-(shared + 1024) // 128) * 128)  # 1 KiB of a block is the system's
    blocks = min(64 // warps, 32, by_registers, by_shared)
    return blocks, blocks * warps / 64


class Compiled:
    """A .cu file: its PTX, and by architecture what ptxas says and its machine code."""

    def __init__(self, source, folder):
        self.ptx_file = os.path.join(folder, os.path.basename(source) + ".ptx")
        run([tool("nvcc"), *FLAGS, "-ptx", source, "-o", self.ptx_file])
        with open(self.ptx_file, encoding="utf-8") as stream:
            self.ptx = stream.read()

    def assemble(self, architecture):
        cubin = f"{self.ptx_file}.{architecture}.cubin"
        usage = parse_usage(run([tool("ptxas"), "-v", f"-arch={architecture}", self.ptx_file, "-o", cubin]))
        dump = tool("cuobjdump")
        return {readable(name): used for name, used in usage.items()}, run([dump, "-sass", cubin]) if dump else None

# SPDX-License-Identifier: Apache-2.0
"""usage: fuzz.py replay TARGET PROGRAM | fuzz.py search TARGET PROGRAM SECONDS

Unpacks a target's seeds into a folder and runs its program on them: `replay` the seeds and 200 mutations of each,
`search` libFuzzer for SECONDS (TERSOR_FUZZ_SECONDS if it is set). Seeds are the golden frames, small files made here,
and corpus/TARGET.txt: what once broke, a hexadecimal line each, with a comment line above. An input that breaks a
property stays in the folder that is printed: add its line there when it is mended."""
import json
import os
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(os.path.dirname(HERE), "golden")


def frames():
    entries = []
    for name in ("frames.json", "codec_frames.json"):
        with open(os.path.join(GOLDEN, name), encoding="utf-8") as stream:
            file = json.load(stream)
        entries += file["valid"] + file.get("rejected", [])
    return entries


def frame_seeds():
    return [bytes.fromhex(entry["frame"]) for entry in frames()]


def spec_seeds():
    texts = [entry["spec"] for entry in frames() if "spec" in entry]
    texts += ["topk( ratio = 0.10 , index=ef )", "quantize(bits={1,2},scale={rms,absmax})", "topk(ratio=0.1,k=3)",
              "aqsgd(topk(ratio=0.1),cache=quantize(bits=8))", "ef(hadamard(quantize(bits=3)))", "quickreduce4",
              "hierarchical(inner=none,outer=cast)", "powersgd(rank=4,iterations=2)", "(((((", "topk(ratio=1e-5)"]
    return [text.encode() for text in texts]


def npy(descr, order, shape, data, version=1):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + data


def npy_seeds():
    four = struct.pack("<4f", 1, -2, 3.5, 0.25)
    return [npy("<f4", False, "(4,)", four), npy("<f4", True, "(2, 2)", four), npy("<f2", False, "(1, 2, 4)", four),
            npy("<f4", False, "()", four[:4]), npy("<f4", False, "(0, 3)", b""), npy("<f4", False, "(4,)", four, 2),
            npy(">f4", False, "(4,)", four), npy("<V2", False, "(8,)", four), npy("<f4", False, "(9999999999,)", four),
            npy("<f4", True, "(2, 1, 2)", four, 3), b"", b"\x93NUMPY"]


def safetensors(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def safetensors_seeds():
    four = struct.pack("<4f", 1, -2, 3.5, 0.25)
    one = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    half = {"dtype": "BF16", "shape": [8], "data_offsets": [0, 16]}
    two = {"a": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]}, "b": {"dtype": "I64", "shape": [1, 1], "data_offsets": [4, 12]}}
    return [safetensors({"x": one}, four), safetensors({"x": half, "__metadata__": {"format": "pt"}}, four),
            safetensors(two, four[:12]), safetensors({}, b""), safetensors(b'{"x":', four), safetensors({"x": one}, four[:8]),
            safetensors({"x": {**one, "shape": [1 << 62, 4]}}, four), struct.pack("<Q", 1 << 63), b""]


SEEDS = {"frame": frame_seeds, "codec": frame_seeds, "spec": spec_seeds, "npy": npy_seeds,
         "safetensors": safetensors_seeds}


def stored_seeds(target):
    path = os.path.join(HERE, "corpus", target + ".txt")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as stream:
        return [bytes.fromhex(line) for line in stream if not line.startswith("#")]


def main():
    mode, target, program = sys.argv[1:4]
    folder = tempfile.mkdtemp(prefix=f"tersor-fuzz-{target}-")
    seeds = os.path.join(folder, "seeds")
    os.makedirs(seeds)
    for number, seed in enumerate(SEEDS[target]() + stored_seeds(target)):
        with open(os.path.join(seeds, f"{number:03d}"), "wb") as stream:
            stream.write(seed)
    if mode == "replay":
        command = [program, seeds, "200"]
    else:
        found = os.path.join(folder, "found")
        os.makedirs(found)
        seconds = os.environ.get("TERSOR_FUZZ_SECONDS", sys.argv[4])
        command = [program, f"-max_total_time={seconds}", "-malloc_limit_mb=256", "-rss_limit_mb=2048", "-timeout=60",
                   "-max_len=4096", "-print_final_stats=1", f"-artifact_prefix={folder}/", found, seeds]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    print(result.stdout[-3000:])
    if result.returncode != 0:
        print(f"{target}: status {result.returncode}; seeds and what broke: {folder}")
        return 1
    subprocess.run(["rm", "-rf", folder], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

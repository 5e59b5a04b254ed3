#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch of the formulas that the papers and their code use, between two copies of the same tensor, as tersor-bench (one
thread of the CPU) and tersor-gpu-check (--device cuda, replayed from a captured graph) measure codecs. Prints JSON whose
rows have tersor-bench's names."""
import argparse
import json
import sys

import torch

from eager_codecs import HIDDEN, ROWS, codecs
from interleaved import measure, measure_on_device


def activations(device):
    generator = torch.Generator(device).manual_seed(3)
    scale = torch.randn(HIDDEN, generator=generator).exp()
    return torch.randn(ROWS, HIDDEN, generator=generator) * scale


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.5, help="of timed calls of a row (0.5)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--compile", action="store_true", help="through torch.compile instead of eager")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("eager.py: --device cuda: PyTorch sees no GPU here; leave --device out to measure the CPU")
    torch.set_num_threads(1)
    torch.set_default_device(options.device)
    x = activations(options.device)
    copied = torch.empty_like(x)
    rows = []
    with torch.inference_mode():
        for spec, (encode, decode) in codecs().items():
            if options.compile:
                encode, decode = torch.compile(encode), torch.compile(decode)
            message = encode(x)
            for name, work in (("encode", lambda: encode(x)), ("decode", lambda: decode(message))):
                timer = measure if options.device == "cpu" else measure_on_device
                row = timer(work, lambda: copied.copy_(x), options.seconds)
                rows.append({"name": f"{name}/{spec}/float32/1x{ROWS}x{HIDDEN}", **row})
    device = torch.backends.cpu.get_cpu_capability() if options.device == "cpu" else torch.cuda.get_device_name()
    context = {"torch": torch.__version__, "capability": device, "compiled": options.compile}
    json.dump({"context": context, "benchmarks": rows}, sys.stdout, indent=1)


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: eager.py [--seconds S]   PyTorch eager, one thread, of the formulas that the papers and their code use, between
two copies of the same tensor, as tersor-bench measures codecs. Prints JSON whose rows have tersor-bench's names."""
import json
import sys

import torch

from eager_codecs import HIDDEN, ROWS, codecs
from interleaved import measure


def activations():
    generator = torch.Generator().manual_seed(3)
    scale = torch.randn(HIDDEN, generator=generator).exp()
    return torch.randn(ROWS, HIDDEN, generator=generator) * scale


def main():
    if sys.argv[1:2] in (["-h"], ["--help"]):
        return print(__doc__)
    seconds = float(sys.argv[2]) if sys.argv[1:2] == ["--seconds"] else 0.5
    torch.set_num_threads(1)
    x = activations()
    copied = torch.empty_like(x)
    rows = []
    with torch.inference_mode():
        for spec, (encode, decode) in codecs().items():
            message = encode(x)
            for name, work in (("encode", lambda: encode(x)), ("decode", lambda: decode(message))):
                row = measure(work, lambda: copied.copy_(x), seconds)
                rows.append({"name": f"{name}/{spec}/float32/1x{ROWS}x{HIDDEN}", **row})
    context = {"torch": torch.__version__, "capability": torch.backends.cpu.get_cpu_capability()}
    json.dump({"context": context, "benchmarks": rows}, sys.stdout, indent=1)


main()

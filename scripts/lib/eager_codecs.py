# SPDX-License-Identifier: Apache-2.0
"""The formulas of the papers and of their code in PyTorch eager, on a float32 tensor of ROWS x HIDDEN: codecs() gives
{spec of ours: (encode, decode)}."""
import math

import torch

from eager_quantizers import HIDDEN, ROWS, fp8, min_max, mx, quantizer, sign


def top_k(ratio, per_row):
    def encode(x):
        flat = x if per_row else x.view(1, -1)
        k = math.floor(ratio * flat.shape[1] + 0.5)
        index = flat.abs().topk(k, dim=1).indices.sort(1).values
        return index, flat.gather(1, index)

    def decode(message):
        index, values = message
        rows = index.shape[0]
        return torch.zeros(rows, ROWS * HIDDEN // rows).scatter_(1, index, values)

    return encode, decode


def random_k(ratio):
    k = math.floor(ratio * ROWS * HIDDEN + 0.5)
    starts = torch.arange(k) * (ROWS * HIDDEN / k)
    draw = lambda: (starts + torch.rand(k) * (ROWS * HIDDEN / k)).long().clamp_(max=ROWS * HIDDEN - 1)  # noqa: E731
    index = draw()
    return (lambda x: x.view(-1)[draw()]), (lambda v: torch.zeros(ROWS * HIDDEN).scatter_(0, index, v))


def walsh(size):
    matrix = torch.ones(1, 1)
    while matrix.shape[0] < size:
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    return matrix / math.sqrt(size)


def transforms():
    signs = torch.randint(0, 2, (HIDDEN,)).float() * 2 - 1
    block, sampled = walsh(128), walsh(HIDDEN)[:, torch.randperm(HIDDEN)[:102]].contiguous() * math.sqrt(HIDDEN / 102)
    hadamard = lambda x: (x * signs).view(-1, 128) @ block  # noqa: E731
    return {"hadamard(none)": (hadamard, lambda y: (y @ block).view(ROWS, HIDDEN) * signs),
            "srht(dim=102)": (lambda x: (x * signs) @ sampled, lambda y: (y @ sampled.T) * signs)}


def codecs():
    found = {"cast": (lambda x: x.bfloat16(), lambda y: y.float()), "sign": sign(),
             "fp8": (fp8, lambda m: m[1].float() * m[0]),
             "mx": (mx, lambda m: m[1].float() * m[0].float().exp2())}
    for bits in (8, 4, 2):
        found["quantize" + (f"(bits={bits})" if bits < 8 else "")] = quantizer(bits)
        name = f"bits={bits}," if bits < 8 else ""
        found[f"minmax({name}scope=group,group=512)"] = min_max(bits, 512)
    found["minmax"] = min_max(8, None)
    found["minmax(scope=token)"] = min_max(8, HIDDEN)
    for ratio in (0.1, 0.01):
        name = "ratio=0.1," if ratio == 0.1 else ""
        found[f"topk({name[:-1]})" if name else "topk"] = top_k(ratio, False)
        found[f"topk({name}scope=token)"] = top_k(ratio, True)
        found[f"randk({name}sampling=stratified)"] = random_k(ratio)
    return found | transforms()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the published code of the two papers decodes, in plain PyTorch: quantize and Top-K of Bian et al., min-max and
Top-K of Rudakov et al. Writes paper_codecs.json, which paper_codecs_test.py compares with tersor.

    pip install torch numpy
    paper_codecs.py paper_codecs.json
"""
import base64
import json
import sys

import torch

SHAPE = (2, 8, 24)  # samples, tokens, hidden


def bian_quantize(x, bits):
    """One scale a channel, kept in half precision; the arithmetic is PyTorch's type promotion."""
    scale = x.abs().amax(dim=(0, 1), keepdim=True).half()
    levels = 2 ** (bits - 1)
    codes = (x / (scale + 1e-6) * levels).round().clip(-levels, levels - 1).to(torch.int16)
    return codes.half() / levels * scale


def bian_topk(x, k):
    flat = x.flatten()
    kept = flat.abs().topk(k).indices
    return torch.zeros_like(flat).scatter(0, kept, flat[kept]).view(x.shape)


def rudakov_minmax(x, bits):
    low, high = x.min(), x.max()
    levels = 2 ** bits - 1
    codes = ((x - low) / (high - low) * levels).round()
    return low + codes / levels * (high - low)


def rudakov_topk(x, ratio):
    """By sample; everything that ties with the pivot goes."""
    flat = x.flatten(1)
    pivot = flat.abs().kthvalue(int(flat.shape[1] * (1 - ratio)), dim=1, keepdim=True).values
    return (flat * (flat.abs() > pivot)).view(x.shape)


def make_inputs():
    torch.manual_seed(20240)
    spread = torch.rand(SHAPE[2]) * 4 + 0.01
    dense = torch.randn(SHAPE) * spread
    dense[..., 3] *= 1e-7       # a scale below 1e-6
    dense[..., 5] = 0           # a scale of 0
    dense[0, 2, 7] = 900        # an outlier
    tied = (torch.randn(SHAPE) * 4).round() / 4  # many equal magnitudes
    # Bian's Top-K of equal magnitudes keeps whatever the device finds first: magnitudes differ there.
    order = torch.randperm(dense.numel()) + 1
    distinct = (order * torch.where(torch.rand(order.shape) < 0.5, -1, 1)).float().view(SHAPE) / 64
    return {"dense": dense, "tied": tied, "distinct": distinct}


def main():
    inputs, cases = make_inputs(), []

    def encoded(tensor):
        return base64.b64encode(tensor.contiguous().numpy().tobytes()).decode()

    def case(spec, name, dtype, function, *arguments):
        x = inputs[name].to(dtype)
        cases.append({"spec": spec, "input": name, "dtype": str(dtype).removeprefix("torch."),
                      "decoded": encoded(function(x, *arguments).float())})

    for dtype in (torch.float16, torch.float32):
        for preset, bits in (("Q1-bian", 2), ("Q2-bian", 4), ("Q3-bian", 8)):
            case(preset, "dense", dtype, bian_quantize, bits)
            case(preset, "tied", dtype, bian_quantize, bits)
        for preset, k in (("T1-bian", 160), ("topk(k=7,index=i64)", 7)):  # 16 tokens * 50 / 5
            case(preset, "distinct", dtype, bian_topk, k)
        for ratio in (0.5, 0.3, 0.1, 0.02):
            spec = f"topk(ratio={ratio},scope=sample,variant=rudakov)"
            for name in ("dense", "tied"):
                case(spec, name, dtype, rudakov_topk, ratio)
    for bits in (2, 4, 6, 8):
        for name in ("dense", "tied"):
            case(f"minmax(bits={bits})", name, torch.float32, rudakov_minmax, bits)
    document = {"format": 1, "torch": torch.__version__, "shape": SHAPE,
                "inputs": {f"{name} {str(t).removeprefix('torch.')}": encoded(x.to(t))
                           for name, x in inputs.items() for t in (torch.float16, torch.float32)},
                "cases": cases}
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(document, out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Quantisers of the papers in PyTorch eager: (encode, decode) for a float32 tensor of ROWS x HIDDEN."""
import torch

ROWS, HIDDEN = 4096, 1024


def quantizer(bits):
    """Bian et al., MLSys 2024: per-channel scale in float16, codes in bytes, packed by shifts."""
    half, per_byte = 2 ** (bits - 1), 8 // bits

    def encode(x):
        scale = x.abs().amax(0).half()
        codes = (x / (scale + 1e-6) * half).round().clamp(-half, half - 1).to(torch.int8)
        codes = (codes + half).to(torch.uint8)
        packed = codes[:, ::per_byte].clone()
        for i in range(1, per_byte):
            packed += codes[:, i::per_byte] << (bits * i)
        return scale, packed

    def decode(message):
        scale, packed = message
        codes = torch.stack([(packed >> (bits * i)) & (2 * half - 1) for i in range(per_byte)], -1)
        return (codes.reshape(ROWS, HIDDEN).to(torch.float32) - half) / half * scale

    return encode, decode


def min_max(bits, group):
    """Rudakov et al., 2024, per group (None: per tensor)."""
    top = 2**bits - 1

    def encode(x):
        rows = x.view(-1, group or x.numel())
        low, high = rows.amin(1, keepdim=True), rows.amax(1, keepdim=True)
        return low, high, ((rows - low) / (high - low) * top).round().to(torch.uint8)

    def decode(message):
        low, high, codes = message
        return low + codes / top * (high - low)

    return encode, decode


def sign():
    weights = 2 ** torch.arange(8, dtype=torch.uint8)

    def encode(x):
        return x.abs().mean(), ((x < 0).view(-1, 8).to(torch.uint8) * weights).sum(1, dtype=torch.uint8)

    def decode(message):
        scale, packed = message
        bits = (packed.unsqueeze(1) & weights) != 0
        return torch.where(bits, -scale, scale)

    return encode, decode


def fp8(x):
    scale = x.abs().amax() / 448
    return scale, (x / scale).clamp(-448, 448).to(torch.float8_e4m3fn)


def mx(x):
    blocks = x.view(-1, 32)
    exponent = blocks.abs().amax(1, keepdim=True).log2().floor() - 8
    return exponent.to(torch.int8), (blocks / exponent.exp2()).clamp(-448, 448).to(torch.float8_e4m3fn)

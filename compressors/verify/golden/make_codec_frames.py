#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes codec_frames.json beside this file: a framed message of every codec, its decoded tensor, and what the payload
with each single bit flipped decodes to. All of it comes from the reference program; no code is shared with tersor.

Usage: make_codec_frames.py REFERENCE_CODECS.py     then compare with git diff
A flip is four hexadecimal digits, the low 16 bits of XXH64 over the decoded tensor; "----" where it is refused.
"""
import importlib.util
import json
import pathlib
import sys

import numpy as np

from make_frames import frame, xxh64

DTYPES = ('float32', 'float16', 'bfloat16')
SMALL, WIDE, CUBE, IMAGES = (2, 2, 9), (2, 1, 37), (2, 5, 8), (4, 1, 5)
# spec, shape, dtype, context
CASES = (
    ('none', IMAGES, 1, {}),
    ('cast(format=fp16)', IMAGES, 0, {}),
    ('quantize(bits=3)', SMALL, 0, {}),
    ('quantize(bits=8,scope=token)', SMALL, 2, {}),
    ('quantize(bits=4,scope=group,group=4,scale=rms)', SMALL, 1, {}),
    ('quantize(bits=2,rounding=stochastic)', SMALL, 0, {'seed': 77, 'step': 3, 'call': 1, 'site': 9, 'rank': 1, 'ranks': 2}),
    ('quantize(bits=4,variant=bian)', SMALL, 1, {}),
    ('minmax', SMALL, 0, {}),
    ('minmax(bits=5,scope=channel)', SMALL, 2, {}),
    ('topk(ratio=0.2,index=u16)', SMALL, 0, {}),
    ('topk(k=2,scope=token,index=bitmap)', SMALL, 1, {}),
    ('topk(k=5,index=ef)', SMALL, 2, {}),
    ('topk(k=2,scope=sample,index=i64)', SMALL, 1, {}),
    ('topk(k=3,index=u32)', SMALL, 0, {}),
    ('topk(ratio=0.2,variant=rudakov)', SMALL, 0, {}),
    ('randk(ratio=0.3)', SMALL, 0, {'seed': 5, 'step': 8}),
    ('randk(k=4,sampling=stratified,shared=false)', SMALL, 1, {'seed': 5, 'rank': 3, 'ranks': 4}),
    ('randk(k=4,sampling=stratified,unbiased=true)', SMALL, 2, {'seed': 5, 'rank': 3, 'ranks': 4}),
    ('sign', SMALL, 0, {}),
    ('sign(scope=group,group=4)', SMALL, 2, {}),
    ('fp8', SMALL, 0, {}),
    ('fp8(format=e5m2,scope=token)', SMALL, 1, {}),
    ('mx', WIDE, 0, {}),
    ('mx(format=fp6_e2m3)', WIDE, 1, {}),
    ('mx(format=fp6_e3m2)', WIDE, 0, {}),
    ('mx(format=fp4_e2m1)', WIDE, 2, {}),
    ('mx(format=int8)', WIDE, 0, {}),
    ('nvfp4', WIDE, 0, {}),
    ('spike(bits=3,group=8)', SMALL, 0, {}),
    ('spike(bits=2,group=16,reserve=2)', WIDE, 1, {}),
    ('hadamard(quantize(bits=3),block=8)', SMALL, 0, {'seed': 22, 'site': 6, 'direction': 1}),
    ('srht(dim=3)', CUBE, 0, {'seed': 31, 'site': 1}),
    ('circulant(dim=3)', CUBE, 1, {'seed': 31, 'site': 1}),
    ('partial(fp8)', SMALL, 0, {'phase': 1}),
    ('ef(topk(k=3))', SMALL, 0, {}),
    ('ef21(minmax(bits=4))', SMALL, 0, {}),
    ('ef_mixed(topk(k=4))', SMALL, 0, {}),
    ('gate(sign,min_bytes=8)', SMALL, 0, {}),
    ('gate(sign)', IMAGES, 0, {}),
    ('hierarchical(minmax,quantize(bits=4,rounding=stochastic))', SMALL, 0, {'seed': 51}),
    ('twostep(quantize(bits=4,scope=token))', SMALL, 0, {'rank': 1, 'ranks': 3}),
    ('aqsgd(topk(k=2))', IMAGES, 1, {'ids': [4, 9, -2, 4]}),
)


def load(path):
    spec = importlib.util.spec_from_file_location('reference_codecs', path)
    module = importlib.util.module_from_spec(spec)
    sys.modules['reference_codecs'] = module
    spec.loader.exec_module(module)
    return module


def message(shape, number):
    """Activations with tails; an infinity, a NaN, zeros of both signs and a denormal in every third."""
    x = np.random.default_rng(number).standard_t(3, shape).astype(np.float32)
    if number % 3 == 0:
        x.reshape(-1)[:5] = [np.inf, np.nan, -0.0, 0.0, 1e-41]
    return x


def main():
    ref = load(sys.argv[1])
    frames = []
    for number, (spec, shape, dtype, fields) in enumerate(CASES):
        node = ref.parse(spec)
        canonical = ref.canonical(spec)
        fields = dict(fields)
        ids = fields.pop('ids', [])
        context = ref.Context(**fields)
        x = ref.Tensor.from_float32(message(shape, number).reshape(-1), shape, DTYPES[dtype])
        state = {'ids': ids} if ids else {}
        sent = ref.encode(node, x, context, state)
        payload = sent.data

        def decoded(data):
            return ref.decode(node, data, shape, DTYPES[dtype], context, {'ids': ids} if ids else {}).raw()

        flips = []
        for bit in range(8 * len(payload)):
            flipped = bytearray(payload)
            flipped[bit // 8] ^= 1 << bit % 8
            try:
                flips.append(f'{xxh64(decoded(bytes(flipped))) & 0xFFFF:04x}')
            except ValueError:
                flips.append('----')
        text = ''.join(flips)
        entry = {'spec': canonical, 'shape': shape, 'dtype': DTYPES[dtype], 'input': x.raw().hex(),
                 'context': {**fields, **({'ids': ids} if ids else {})},
                 'frame': frame(canonical, shape, dtype, payload, ids=ids, **fields).hex(),
                 'decoded': decoded(payload).hex(), 'flips': [text[i:i + 96] for i in range(0, len(text), 96)]}
        frames.append({'name': f'{canonical}, {DTYPES[dtype]}', **entry})
    text = json.dumps({'wire_version': 1, 'valid': frames}, indent=1)
    (pathlib.Path(__file__).parent / 'codec_frames.json').write_text(text + '\n')


if __name__ == '__main__':
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes frames.json beside this file: golden frames of docs/wire-format.md, valid and to-be-rejected.

Shares no code with tersor: header, XXH64 and payloads are written from the document (NumPy for the rounding).
Usage: make_frames.py            then compare with git diff; a change needs a new wire version
"""
import json
import pathlib
import struct

import numpy as np

M64 = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)
MAGIC = bytes([0x89]) + b'TRS\r\n\x1a\n'


def rotate(v, r):
    return ((v << r) | (v >> (64 - r))) & M64


def round64(a, lane):
    return rotate((a + lane * P2) & M64, 31) * P1 & M64


def xxh64(data):
    at, n = 0, len(data)
    if n >= 32:
        a = [(P1 + P2) & M64, P2, 0, -P1 & M64]
        while at + 32 <= n:
            a = [round64(x, w) for x, w in zip(a, struct.unpack_from('<4Q', data, at))]
            at += 32
        h = sum(rotate(x, r) for x, r in zip(a, (1, 7, 12, 18))) & M64
        for x in a:
            h = ((h ^ round64(0, x)) * P1 + P4) & M64
    else:
        h = P5
    h = (h + n) & M64
    while at + 8 <= n:
        h = (rotate(h ^ round64(0, struct.unpack_from('<Q', data, at)[0]), 27) * P1 + P4) & M64
        at += 8
    if at + 4 <= n:
        h = (rotate(h ^ (struct.unpack_from('<I', data, at)[0] * P1 & M64), 23) * P2 + P3) & M64
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ (byte * P5 & M64), 11) * P1 & M64
    h = (h ^ h >> 33) * P2 & M64
    h = (h ^ h >> 29) * P3 & M64
    return h ^ h >> 32


def frame(spec, shape, dtype, payload, ids=(), **fields):
    """The bytes; fields override header values after the checksums of a right frame would have been made."""
    f = {'version': 1, 'phase': 0, 'direction': 0, 'reserved': bytes(3), 'seed': 0, 'step': 0, 'call': 0, 'site': 0,
         'rank': 0, 'ranks': 1, 'payload_bytes': len(payload), 'spec_bytes': len(spec), 'id_count': len(ids),
         'payload_checksum': xxh64(payload), 'magic': MAGIC, **fields}
    head = f['magic'] + struct.pack('<HBBB', f['version'], dtype, f['phase'], f['direction']) + f['reserved']
    head += struct.pack('<QIHHII', f['seed'], f['step'], f['call'], f['site'], f['rank'], f['ranks'])
    head += struct.pack('<3q', *shape)
    head += struct.pack('<QIIQ', f['payload_bytes'], f['spec_bytes'], f['id_count'], f['payload_checksum'])
    assert len(head) == 88
    tail = spec.encode() + struct.pack(f'<{len(ids)}q', *ids)
    return head + struct.pack('<Q', f.get('header_checksum', xxh64(head + tail))) + tail + payload


def bits(codes, width):
    stream = 0
    for i, code in enumerate(codes):
        stream |= int(code) << (i * width)
    return stream.to_bytes((len(codes) * width + 7) // 8, 'little')


def main():
    f32 = np.float32
    x = np.array([0.5, -2.0, 0.25, 1.0, 3.0, -0.125], f32)
    raw = x.tobytes()
    valid, rejected = [], []

    def good(name, data, spec, shape, dtype, inputs, decoded, **context):
        valid.append({'name': name, 'frame': data.hex(), 'spec': spec, 'shape': shape, 'dtype': dtype,
                      'input': inputs.hex(), 'decoded': decoded.hex(), 'context': context})

    good('none', frame('none', (1, 2, 3), 0, raw), 'none', [1, 2, 3], 'float32', raw, raw)
    fields = {'seed': M64, 'step': 0xFFFFFFFF, 'call': 65535, 'site': 7, 'rank': 2, 'ranks': 3, 'direction': 1, 'phase': 1}
    good('none, every field', frame('none', (2, 1, 3), 0, raw, ids=(5, -1), **fields), 'none', [2, 1, 3], 'float32',
         raw, raw, ids=[5, -1], **fields)
    good('empty', frame('none', (0, 4, 3), 1, b''), 'none', [0, 4, 3], 'float16', b'', b'')
    upper = (x.view(np.uint32) >> np.uint32(16)).astype('<u2')  # these values are bfloat16 already
    good('cast', frame('cast', (1, 2, 3), 0, upper.tobytes()), 'cast', [1, 2, 3], 'float32', raw, raw)
    # quantize: s = 3 in float16; q = clip(rne(x / (3 + 1e-6) * 8), -8, 7) + 8, four bits
    scale = np.float16(3)
    q = np.clip(np.rint(x / (f32(3) + f32(1e-6)) * f32(8)), -8, 7).astype(int)
    y = q.astype(f32) / f32(8) * f32(3)
    payload = scale.tobytes() + bits(q + 8, 4)
    spec = 'quantize(bits=4,scope=tensor)'
    good('quantize', frame(spec, (1, 2, 3), 0, payload), spec, [1, 2, 3], 'float32', raw, y.astype('<f4').tobytes())
    # topk: the two largest magnitudes are at 1 and 4
    sent = struct.pack('<2H', 1, 4) + x[[1, 4]].tobytes()
    kept = np.where(np.isin(np.arange(6), [1, 4]), x, f32(0))
    spec = 'topk(k=2,index=u16)'
    topk = frame(spec, (1, 2, 3), 0, sent)
    good('topk', topk, spec, [1, 2, 3], 'float32', raw, kept.tobytes())
    h = x.astype('<f2').tobytes()
    spec = 'minmax(bits=2)'
    q = np.rint((x - f32(-2)) / f32(5) * f32(3))
    y = (f32(-2) + (q / f32(3)) * f32(5)).astype('<f2')
    good('minmax, float16', frame(spec, (3, 1, 2), 1, struct.pack('<2f', -2, 3) + bits(q, 2)), spec, [3, 1, 2],
         'float16', h, y.tobytes())

    def bad(name, fault, data):
        rejected.append({'name': name, 'fault': fault, 'frame': data.hex()})

    shape, ok = (1, 2, 3), frame('none', (1, 2, 3), 0, raw)
    bad('nothing', 'too-short', b'')
    bad('95 bytes', 'too-short', ok[:95])
    bad('another magic', 'magic', frame('none', shape, 0, raw, magic=b'\x89TRS\n\n\x1a\n'))
    bad('version 2', 'version', frame('none', shape, 0, raw, version=2))
    bad('a spec beyond the end', 'header-size', frame('none', shape, 0, raw, spec_bytes=60000))
    bad('ids beyond the end', 'header-size', frame('none', shape, 0, raw, id_count=0xFFFFFFFF))
    bad('a spec of 70,000 bytes', 'header-size', frame('none', shape, 0, bytes(70000), spec_bytes=70000)[:200])
    bad('header checksum', 'header-checksum', frame('none', shape, 0, raw, header_checksum=1))
    bad('reserved byte', 'reserved', frame('none', shape, 0, raw, reserved=b'\0\1\0'))
    bad('dtype 3', 'dtype', frame('none', shape, 3, raw))
    bad('phase 2', 'phase', frame('none', shape, 0, raw, phase=2))
    bad('direction 2', 'direction', frame('none', shape, 0, raw, direction=2))
    bad('rank = ranks', 'rank', frame('none', shape, 0, raw, rank=1))
    bad('no ranks', 'rank', frame('none', shape, 0, raw, ranks=0))
    bad('negative size', 'shape', frame('none', (-1, 2, -3), 0, raw))
    bad('2^60 elements', 'shape', frame('none', (1 << 20, 1 << 20, 1 << 20), 0, raw))
    bad('0 x 2^62', 'shape', frame('none', (0, 1 << 62, 1), 0, b''))
    bad('three ids', 'ids', frame('none', shape, 0, raw, ids=(1, 2, 3)))
    bad('one byte less', 'frame-size', ok[:-1])
    bad('one byte more', 'frame-size', ok + b'\0')
    bad('payload checksum', 'payload-checksum', frame('none', shape, 0, raw, payload_checksum=1))
    bad('unknown codec', 'spec', frame('nope', shape, 0, raw))
    bad('no spec', 'spec', frame('', shape, 0, raw))
    bad('not canonical', 'spec', frame('topk(index=u16,k=2)', shape, 0, sent))
    bad('2^40 elements in 12 bytes', 'too-large', frame('topk(k=2,index=u16)', (1, 1, 1 << 40), 0, sent))
    bad('payload of another shape', 'payload-size', frame('none', (1, 2, 2), 0, raw))
    bad('indices fall', 'payload', frame('topk(k=2,index=u16)', shape, 0, struct.pack('<2H', 4, 1) + sent[4:]))
    bad('index twice', 'payload', frame('topk(k=2,index=u16)', shape, 0, struct.pack('<2H', 4, 4) + sent[4:]))
    bad('index outside', 'payload', frame('topk(k=2,index=u16)', shape, 0, struct.pack('<2H', 1, 6) + sent[4:]))
    text = json.dumps({'wire_version': 1, 'valid': valid, 'rejected': rejected}, indent=1)
    (pathlib.Path(__file__).parent / 'frames.json').write_text(text + '\n')


if __name__ == '__main__':
    main()

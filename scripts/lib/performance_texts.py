# SPDX-License-Identifier: Apache-2.0
"""What docs/performance.md says above its tables."""
INTRO = """# Speed of the codecs
Written by `scripts/performance`, which measures again and renders this page; nothing here is edited by hand.

One thread against `memcpy` of the same tensor: **1.0 is the speed of memcpy, higher is faster**. Every call is timed
between two copies in the thread's own CPU time, and again (at most ten times) while the copies are more than 6 % slower
than the best one; a row is the median of its samples' ratios with the 95 % interval of that median. *bound* is the share
of the streaming bound: the input read once and the output written once, at memcpy's speed; above 1 means that the
codec writes little, since reads are cheaper. *moved* are those bytes. Goals are targets, gates fail the test
`codec_gates`. Tensor: float32 [4096,1024] of made activations (normal, channels scaled log-normally) unless said.

"""
MORE = """## Codecs and wrappers without a goal
The same tensor; encode of a wrapper with a state is that of a later message. `gate` and `twostep` call their inner
codec, `twostep` on each chunk of rows; `autoencoder` is a matrix product of libtorch in the worker.
"""
RECORDED = """## Recorded activations
What rank 0 of two sends in the first step of MiniLM-L6 on SST-2, 64 sentences of 64 tokens (`tersor run
--messages-every 1`): an activation and a gradient [64,64,384], beside a made tensor of that shape; x memcpy, and
the share of the streaming bound. The tensors are 6 MiB, so they stay in the last cache, as the made one does.
"""
SHAPES = """## Types and shapes
x memcpy of the same tensor, then the share of the streaming bound. Decoding gives float32: twice the bytes of a 16-bit
tensor. [1024,384] stays in the second cache; 64 MiB fits into none. The samples are fewer than above
(0.05 s of timed calls a row, one at least), so allow more.
"""
GPU = """## GPU
No GPU was at hand. Registers, occupancy, loads and bytes moved of the kernels are known without one ([kernels](kernels.md)).
| goal | measured |
| --- | --- |
| bytes of every codec equal the CPU's (`scripts/gpu-check`) | not run |
| single-pass codecs at 64 MB: 90 % of a device copy (`scripts/gpu-check --kib 65536`) | not run |
| 8 MB on an H200: 5 us; 7 us with a scale per channel, 25 us Top-K (`scripts/gpu-check --kib 8192`) | not run |
| faster than torch.compile of the same formula (`scripts/bench-rivals --device cuda`) | not run |
"""

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The training of one cell of matrices/sst2-small.json in plain PyTorch: a twin of tersor-worker that shares no code
with it. The encoder is transformers' BertModel, the tokenizer that of `tokenizers`, the optimiser torch.optim.AdamW,
clipping torch.nn.utils.clip_grad_norm_; Philox and the codecs are written here from their definitions.

Both tensor-parallel ranks live in this process: the input of a row-parallel linear is cut in two halves, each half's
partial product is one rank's message, and the sum of the decoded messages takes the place of the all-reduce. The
gradient passes a codec unchanged.

    pip install torch transformers tokenizers safetensors xxhash numpy
    torch_job.py --data DIR --weights DIR --codec topk --seed 1                      # 80 steps, then the dev set
    torch_job.py --data DIR --weights DIR --codec topk --seed 1 --spool rank0.jsonl  # compared with a worker's spool
    torch_job.py --data DIR --weights DIR --write torch_job.json                     # what torch_job_test.py compares
"""
import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
import xxhash
from safetensors.torch import load_file
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertModel

SEQUENCE, BATCH, TRAIN_ROWS, RANKS, COMPRESSED_LAYERS = 32, 32, 2560, 2, 3
PEAK_RATE, WARMUP, DECAY, CLIP = 1e-4, 0.065, 0.01, 1.0
PURPOSE_INIT, PURPOSE_ORDER = 1, 5
TOPK_RATIO, QUANTIZE_BITS = 0.01, 2
CODECS = {"none": "none", "topk": "topk", "quantize": "quantize(bits=2)"}  # canonical specs


def philox(seed, c1, c2, c3, count):
    """`count` 32-bit draws of Philox4x32-10 (Salmon et al., SC 2011), block = draw div 4, word = draw mod 4."""
    blocks = -(-count // 4)
    low = np.uint64(0xFFFFFFFF)
    c = [np.arange(blocks, dtype=np.uint64)] + [np.full(blocks, x, dtype=np.uint64) for x in (c1, c2, c3)]
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(keys[0]), b & low,
             (a >> np.uint64(32)) ^ c[3] ^ np.uint64(keys[1]), a & low]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, axis=1).reshape(-1)[:count].astype(np.uint32)


def check_philox():
    """Known answer of the authors' Random123 (kat_vectors): counter and key 0."""
    assert [hex(x) for x in philox(0, 0, 0, 0, 4)] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]


def start_of_classifier(seed, name, rows, columns):
    """Normal, deviation 0.02: Box-Muller pairs in binary64 on u = (draw + 0.5) / 2^32."""
    c2 = xxhash.xxh64(name.encode()).intdigest() & 0xFFFFFFFF
    u = (philox(seed, 0, c2, PURPOSE_INIT, rows * columns).astype(np.float64) + 0.5) / 2.0**32
    radius, angle = 0.02 * np.sqrt(-2.0 * np.log(u[0::2])), 2.0 * np.pi * u[1::2]
    values = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return torch.from_numpy(values.reshape(rows, columns).astype(np.float32))


def topk(x):
    """The k elements of the whole message that are largest by magnitude, ties to the lowest index; the rest is 0."""
    flat = x.reshape(-1)
    k = min(flat.numel(), max(1, math.floor(TOPK_RATIO * flat.numel() + 0.5)))
    chosen = torch.sort(flat.abs(), descending=True, stable=True).indices[:k]
    return torch.zeros_like(flat).index_copy_(0, chosen, flat[chosen]).view_as(x)


def quantize(x):
    """One float16 scale (largest magnitude) per hidden channel over all rows; integer codes -2 .. 1 at 2 bits."""
    half = 2.0 ** (QUANTIZE_BITS - 1)
    scale = x.abs().amax(dim=0).clamp(max=65504.0).half().float()
    codes = torch.clamp(torch.round(x / (scale + 1e-6) * half), -half, half - 1)
    return codes / half * scale


class Message(torch.autograd.Function):
    """Encode and decode one rank's message; the gradient is that of the identity."""

    @staticmethod
    def forward(_, x, codec):
        return {"topk": topk, "quantize": quantize}[codec](x)

    @staticmethod
    def backward(_, gradient):
        return gradient, None


class RowParallel(torch.nn.Module):
    """x W^T + b with the columns of W on RANKS ranks; the codec stands before the sum and before the bias."""

    def __init__(self, linear, codec):
        super().__init__()
        self.weight, self.bias, self.codec = linear.weight, linear.bias, codec

    def forward(self, x):
        rows = x.reshape(-1, x.shape[-1])
        total = None
        for part, weight in zip(rows.chunk(RANKS, dim=1), self.weight.chunk(RANKS, dim=1)):
            message = part @ weight.t()
            if self.codec != "none":
                message = Message.apply(message, self.codec)
            total = message if total is None else total + message
        return (total + self.bias).view(*x.shape[:-1], -1)


class Classifier(torch.nn.Module):
    def __init__(self, weights, codec, seed):
        super().__init__()
        config = BertConfig(vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
                            intermediate_size=1536, max_position_embeddings=512, type_vocab_size=2, hidden_act="gelu",
                            layer_norm_eps=1e-12, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
        config._attn_implementation = "eager"
        self.encoder = BertModel(config, add_pooling_layer=False)
        missing, unused = self.encoder.load_state_dict(weights, strict=False)
        unused = [name for name in unused if not name.startswith("pooler.") and not name.endswith("position_ids")]
        assert not missing and not unused, (missing, unused)
        for table in ("word_embeddings", "position_embeddings", "token_type_embeddings"):
            getattr(self.encoder.embeddings, table).weight.requires_grad_(False)
        layers = self.encoder.encoder.layer
        for index, layer in enumerate(layers):
            chosen = codec if index >= len(layers) - COMPRESSED_LAYERS else "none"
            layer.attention.output.dense = RowParallel(layer.attention.output.dense, chosen)
            layer.output.dense = RowParallel(layer.output.dense, chosen)
        self.classifier = torch.nn.Linear(384, 2)
        with torch.no_grad():
            self.classifier.weight.copy_(start_of_classifier(seed, "classifier.weight", 2, 384))
            self.classifier.bias.zero_()

    def forward(self, ids, mask):
        states = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        real = mask.unsqueeze(-1).float()
        return self.classifier((states * real).sum(1) / real.sum(1))


def read_split(path, vocabulary, rows):
    """The first rows of a GLUE file as padded ids, masks and labels; its fields have no quoting."""
    tokenizer = BertWordPieceTokenizer(str(vocabulary), lowercase=True)
    lines = path.read_text(encoding="utf-8").split("\n")[1:]
    examples = [line.split("\t") for line in lines if line][:rows or None]
    ids = torch.zeros(len(examples), SEQUENCE, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for row, (sentence, _) in enumerate(examples):
        tokens = tokenizer.encode(sentence).ids
        tokens = tokens[:SEQUENCE - 1] + tokens[-1:] if len(tokens) > SEQUENCE else tokens
        ids[row, :len(tokens)] = torch.tensor(tokens)
        mask[row, :len(tokens)] = 1
    return ids, mask, torch.tensor([int(label) for _, label in examples])


def evaluate(model, split, rows):
    """Batches in file order, compression on: every batch is one message, the last one may be short."""
    ids, mask, labels = (part[:rows or None] for part in split)
    logits = torch.cat([model(ids[at:at + BATCH], mask[at:at + BATCH]) for at in range(0, len(labels), BATCH)])
    predictions = logits.argmax(1)
    return {"eval_loss": torch.nn.functional.cross_entropy(logits, labels).item(), "eval_rows": len(labels),
            "correct": int((predictions == labels).sum()), "predictions": predictions.tolist()}


def train(data, weights, codec, seed, max_steps, eval_rows, decay=DECAY):
    torch.manual_seed(0)  # nothing below draws from it
    ids, mask, labels = data["train"]
    model = Classifier(weights, codec, seed)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW([{"params": [p for p in trained if p.dim() >= 2], "weight_decay": decay},
                                   {"params": [p for p in trained if p.dim() < 2], "weight_decay": 0.0}],
                                  lr=PEAK_RATE, betas=(0.9, 0.999), eps=1e-8)
    steps = min(TRAIN_ROWS // BATCH, max_steps or TRAIN_ROWS // BATCH)
    warm = math.floor(WARMUP * steps)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: (s + 1) / warm if s < warm else (steps - s) / (steps - warm))
    order = np.argsort(philox(seed, 0, 0, PURPOSE_ORDER, TRAIN_ROWS), kind="stable")
    result = {"codec": CODECS[codec], "seed": seed, "steps": steps, "weight_decay": decay, "losses": [],
              "gradient_norms": []}
    start = time.monotonic()
    for step in range(steps):
        rows = order[step * BATCH:(step + 1) * BATCH]
        loss = torch.nn.functional.cross_entropy(model(ids[rows], mask[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        norm = math.sqrt(sum(p.grad.double().square().sum().item() for p in trained))  # clip_grad_norm_'s is float32
        torch.nn.utils.clip_grad_norm_(trained, CLIP)
        optimizer.step()
        schedule.step()
        result["losses"].append(loss.item())
        result["gradient_norms"].append(norm)
    with torch.no_grad():
        result |= evaluate(model, data["dev"], eval_rows)
    result["seconds"] = round(time.monotonic() - start, 1)
    return result


def compare(result, spool):
    """Relative differences from a worker's rank0.jsonl of the same cell and seed."""
    records = [json.loads(line) for line in Path(spool).read_text().splitlines()]
    start = next(r for r in records if r["type"] == "start")
    assert (start["seed"], start["codecs"]["tp"]["spec"]) == (result["seed"], result["codec"]), "another run's spool"
    steps = [r for r in records if r["type"] == "step"]
    assert len(steps) == result["steps"], "another number of steps"
    apart = [abs(a - r["loss"]) / r["loss"] for a, r in zip(result["losses"], steps)]
    norms = [abs(a - r["gradient_norm"]) / r["gradient_norm"] for a, r in zip(result["gradient_norms"], steps)]
    found = next(r for r in records if r["type"] == "eval" and r["inference"] == "on")
    return {"loss_apart": {str(n): max(apart[:n]) for n in (1, 5, 20, 40, len(apart))},
            "norm_apart": {str(n): max(norms[:n]) for n in (1, 5, 20, 40, len(norms))},
            "eval_loss": [result["eval_loss"], found["loss"]],
            "correct": [result["correct"], sum(p == l for p, l in zip(found["predictions"], found["labels"]))],
            "predictions_apart": sum(a != b for a, b in zip(result["predictions"], found["predictions"]))}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True, help="folder that holds glue/SST-2/")
    parser.add_argument("--weights", type=Path, required=True, help="folder with model.safetensors and vocab.txt")
    parser.add_argument("--codec", choices=CODECS, default="none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--max-steps", type=int, default=0)
    parser.add_argument("--eval-rows", type=int, default=0)
    parser.add_argument("--spool", help="a worker's rank0.jsonl to compare with")
    parser.add_argument("--write", type=Path, help="run every codec for 20 steps, store the result")
    a = parser.parse_args()
    torch.set_num_threads(1)
    check_philox()
    weights = load_file(a.weights / "model.safetensors")
    vocabulary = a.weights / "vocab.txt"
    data = {"train": read_split(a.data / "glue/SST-2/train.tsv", vocabulary, TRAIN_ROWS),
            "dev": read_split(a.data / "glue/SST-2/dev.tsv", vocabulary, 0)}
    if a.write:
        # The cell's decay moves a weight by 2e-5 in 20 steps: one run has a decay that shows which weights it is for.
        runs = [train(data, weights, codec, 1, 20, 64) for codec in CODECS]
        runs.append(train(data, weights, "none", 1, 20, 64, decay=1.0))
        kept = ("codec", "seed", "steps", "weight_decay", "losses", "gradient_norms", "eval_rows", "eval_loss",
                "correct")
        text = json.dumps({"torch": torch.__version__, "runs": [{k: run[k] for k in kept} for run in runs]}, indent=1)
        a.write.write_text(text + "\n")
        return
    result = train(data, weights, a.codec, a.seed, a.max_steps, a.eval_rows)
    print(json.dumps(result))
    if a.spool:
        print(json.dumps(compare(result, a.spool)))


if __name__ == "__main__":
    main()

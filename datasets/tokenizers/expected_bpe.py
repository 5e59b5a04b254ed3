# SPDX-License-Identifier: Apache-2.0
"""Writes expected_bpe.json: a small byte-level BPE, texts, and their ids by Hugging Face tokenizers.

pip install tokenizers && python3 datasets/tokenizers/expected_bpe.py
"""
import json
import pathlib
import random

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

END = "<|endoftext|>"
CORPUS = ["the cat sat on the mat and the other cat sat there", "don't they're we've I'll he'd I'm it's",
          "caf\u00e9 na\u00efve \u5317\u4eac\u5927\u5b66 \u00fcber 12 123 1234 2024", "  two  spaces\n\nand\tlines \n",
          "aaaaaaaa aaaa aa", "!!! ... --- ?!", "The The the theThe 's 't"] * 4
TEXTS = ["", " ", "  ", "\n", " \n", "a  ", "a  b", "a \n b", "a\n\n\nb", "\t\ta", "a\u00a0\u00a0b", "a\u3000 b", "a\u2028b",
         "a\u0085b", "a\x0b\x0cb", "a\x1cb", "a\u200bb", "a\u180eb", "don't DON'T don' t", "'s's ''s", "'ll've're'd'm't",
         "l'll", "12 1234 a1b2", "\u00b2\u00b3\u2160 \u0663\u0664", "caf\u00e9 cafe\u0301", "\u5317\u4eac \u4eac\u5317",
         "\U0001f600\U0001f44d\U0001f3fd x", "the theThe THE", "!!!??? ...a", " !a !", END, "a" + END + "b", "a  " + END + " b",
         END + END, "<|endoftext", "<|endoftext|", "a" * 300, "the" * 90, "\x00a\x00", "\ufeffa", "\ufffd", "\ud7ff\ue000"]

tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
trainer = trainers.BpeTrainer(vocab_size=420, special_tokens=[END], show_progress=False,
                              initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
tokenizer.train_from_iterator(CORPUS, trainer)
pieces = ["the", " ", "  ", "\n", "'s", "'", "1", "23", "\u00e9", "cat", "T", "!", "\u5927", "\u00a0", "a", "aa", END]
draw = random.Random(3)
texts = TEXTS + ["".join(draw.choice(pieces) for _ in range(draw.randrange(1, 24))) for _ in range(200)]
model = json.loads(tokenizer.to_str())
cases = [json.dumps({"text": text, "ids": tokenizer.encode(text).ids}) for text in texts]
target = pathlib.Path(__file__).with_name("expected_bpe.json")
target.write_text('{"tokenizer": ' + json.dumps(model) + ',\n"cases": [\n' + ",\n".join(cases) + "\n]}\n")

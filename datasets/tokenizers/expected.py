# SPDX-License-Identifier: Apache-2.0
"""Writes expected.json: a small vocabulary, texts and pairs, and their ids by Hugging Face tokenizers.

pip install tokenizers && python3 datasets/tokenizers/expected.py
"""
import json
import pathlib

from tokenizers import BertWordPieceTokenizer

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["don", "'", "t", "stop", "cafe", "un", "##aff", "##able", "naive", ".", ",", "!", "-", "$", "a",
         "##a", "b", "##b", "c", "##c", "i", "##i", "s", "##s", "\u03c3", "##\u03c3", "\u4eac", "\u5927",
         "\u1100", "##\u1161", "##\u11a8", "\u00df", "##\u00df", "[", "]", "sep", "mask", "1", "##2", "##3",
         "\u2014", "\u201c", "word", "##s2", "longer", "##est", "Don", "A", "caf\u00e9", "na\u00efve", "\u5927\u4eac",
         "\u00e5", "##\u0301", "##\u0307", "##\u0323", "ST", "##OP"]
TEXTS = ["", " ", "\t", "Don't STOP!", "caf\u00e9", "cafe\u0301", "CAFE\u0301\u0323", "unaffable", "unaffables",
         "na\u00efve,na\u00efve", "\u5927\u4eac a", "a\u5927b", "\uac01", "\u1e9e", "\u0130", "\u03a3\u03a3",
         "a\u00a0b", "a\u3000b", "a\u2028b", "a\u200bb", "a\u00adb", "a\u0085b", "a\x0bb", "a\x00b", "a\ufffdb",
         "a\ue000b", "a\ufeffb", "\u201ca\u2014b", "$1", "$123", "a-b", "--", "[SEP]", "[sep]", "a[MASK]b",
         "[[SEP]]", "[SEP", "[PAD][UNK][CLS]", "a [ SEP ] b", "a" * 100, "a" * 101, "a" * 100 + " b",
         "x", "ax", "a x b", "longest", "longerest words2", "\U0001f600", "a\U0001f600", "\u0301", "a \u0301 b",
         "\u00c5\u212b", "A\u030a\u0327B", "\u1ea5", "\ufb01", "a\tb", "  a  b  "]
PAIRS = [("a " * a, "b " * b, room) for a in (0, 1, 5, 6, 7, 12) for b in (0, 1, 5, 6, 7, 12)
         for room in (3, 4, 5, 12, 15, 16, 30)]

vocabulary = SPECIAL + WORDS
tokenizer = BertWordPieceTokenizer(vocab={token: i for i, token in enumerate(vocabulary)}, lowercase=True)
tokenizer.add_special_tokens(SPECIAL)
texts = [{"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids} for text in TEXTS]
pairs = []
for a, b, length in PAIRS:
    tokenizer.enable_truncation(length, strategy="longest_first")
    encoding = tokenizer.encode(a, b)
    pairs.append({"a": a, "b": b, "length": length, "ids": encoding.ids, "types": encoding.type_ids})
cased = BertWordPieceTokenizer(vocab={token: i for i, token in enumerate(vocabulary)}, lowercase=False)
cased.add_special_tokens(SPECIAL)
texts += [{"cased": text, "ids": cased.encode(text, add_special_tokens=False).ids} for text in TEXTS]
lower = BertWordPieceTokenizer(vocab={token: i for i, token in enumerate(vocabulary)}, lowercase=True,
                               strip_accents=False, handle_chinese_chars=False)
lower.add_special_tokens(SPECIAL)
texts += [{"accented": text, "ids": lower.encode(text, add_special_tokens=False).ids} for text in TEXTS]
target = pathlib.Path(__file__).with_name("expected.json")
lines = [json.dumps(item) for item in texts + pairs]
target.write_text('{"vocabulary": ' + json.dumps(vocabulary) + ',\n"cases": [\n' + ",\n".join(lines) + "\n]}\n")

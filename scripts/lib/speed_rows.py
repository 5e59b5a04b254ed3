#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: speed_rows.py goals|more   the specs of docs/performance.md's tables, a line each, as the codecs declare them.

compressors/codecs/NAME/speed.tsv has a codec's rows. With a goal: operation, spec, goals on AVX-512, on AVX2 and against
eager PyTorch, and what limits it. Without one: spec, and what limits its encode and its decode."""
import sys
from pathlib import Path

CODECS = Path(__file__).resolve().parents[2] / "compressors" / "codecs"
GOAL, MORE = 6, 3  # columns of either kind


def rows(columns):
    found = []
    for file in sorted(CODECS.glob("*/speed.tsv")):
        lines = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
        if wrong := [line for line in lines if len(line) not in (GOAL, MORE)]:
            raise ValueError(f"{file}: {len(wrong[0])} columns, not {GOAL} or {MORE}: {wrong[0]}")
        found += [line for line in lines if len(line) == columns]
    return found


def main():
    if sys.argv[1:] == ["goals"]:
        print(*dict.fromkeys(line[1] for line in rows(GOAL)), sep="\n")
    elif sys.argv[1:] == ["more"]:
        print(*(line[0] for line in rows(MORE)), sep="\n")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()

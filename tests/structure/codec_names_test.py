# SPDX-License-Identifier: Apache-2.0
"""No codec is named outside its folder: what others must know of one, it declares (CodecInfo, Codec, Properties)."""
import os
import re
import unittest

import rooms
from includes_test import includes, read

SOURCES = (".cpp", ".hpp", ".cu", ".cuh", ".inc")
# `none` is no compression: the default of a site and the baseline of every table.
CODECS = sorted(set(os.listdir(os.path.join(rooms.ROOT, "compressors", "codecs"))) - {"none"})
# A whole string, or a spec with parameters inside one.
NAMED = re.compile(r'"(?P<whole>%s)"|\b(?P<spec>%s)\(' % (("|".join(CODECS),) * 2))
# Path or folder: why names are right there, or what is still missing.
ALLOWED = {
    "compressors/spec/paper_presets.cpp": "presets are data: what papers call these specs",
    "compressors/wire/indices.cpp": "`ef` is Elias-Fano there",
    "compressors/device/float_kernels.cu": "what messages call the user of a launcher",
    "compressors/bench/bench_main.cpp": "example of its help",
    "harness/cli/": "examples of the help",
    "compressors/tools/check_golden.cpp": "a purpose of random draws, in the golden format",
    "compressors/tools/golden_case.cpp": "a kind of case of the golden format",
    "datasets/synthetic/words.hpp": "an English word",
}
# Codec folder: codecs that it is made of.
PARTS = {"gate": {"none"}, "ef_mixed": {"topk"}}

# In scripts: a quoted name, or a spec with parameters.
IN_SCRIPTS = re.compile(r"""['"](?P<whole>%s)['"]|\b(?P<spec>%s)\(\w+=""" % (("|".join(CODECS),) * 2))
SCRIPTS_ALLOWED = {
    "scripts/lib/eager_codecs.py": "the rival: its own definitions of the codecs",
    "scripts/performance": "the counterpart of FBGEMM's kernels",
    "scripts/lib/performance.py": "the same",
    "scripts/gpu-check": "example of its help",
}


def is_product(path):
    return (path.endswith(SOURCES) and rooms.part_of(path) and not path.startswith(("compressors/codecs/", "compressors/verify/"))
            and "_test." not in path and "_for_test" not in path and "/testing/" not in path)


def names(text):
    """(line, codec) of each name in a string literal; comments do not count."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for literal in re.findall(r'"(?:[^"\\]|\\.)*"', re.sub(r"(^|\s)//.*", "", line)):
            found += [(number, match["whole"] or match["spec"]) for match in NAMED.finditer(literal)]
    return found


def problems(files):
    found = []
    for path, text in files.items():
        if is_product(path) and not path.startswith(tuple(ALLOWED)):
            found += [f"{path}:{line}: names the codec {name}" for line, name in names(text)]
        if path.startswith("compressors/codecs/") and "_test." not in path:
            own = path.split("/")[2]
            for name in includes(text):
                other = name.split("/")[2] if name.startswith("compressors/codecs/") else own
                if other != own and other not in PARTS.get(own, ()):
                    found.append(f"{path}: {own} uses the codec {other}")
        elif is_product(path):
            found += [f"{path}: includes the codec {name}" for name in includes(text) if name.startswith("compressors/codecs/")]
    return found


class CodecNames(unittest.TestCase):
    def test_tree(self):
        self.assertGreater(len(CODECS), 20)
        self.assertEqual([], problems({path: read(path) for path in rooms.tracked_files(*SOURCES)}))

    def test_exceptions_are_needed(self):
        for place in ALLOWED:
            texts = [read(path) for path in rooms.tracked_files(*SOURCES) if path.startswith(place) and is_product(path)]
            self.assertTrue(any(names(text) for text in texts), place)

    def test_scripts(self):
        found = {path for path in rooms.tracked_files("") if path.startswith("scripts/") and IN_SCRIPTS.search(read(path))}
        self.assertEqual(set(SCRIPTS_ALLOWED), found)

    def test_planted(self):
        self.assertEqual(["workloads/x.cpp:1: names the codec partial"], problems({"workloads/x.cpp": 'if (name == "partial")'}))
        self.assertEqual(["results/x.cpp:1: names the codec topk"], problems({"results/x.cpp": 'use("ef of topk(k=1)");'}))
        self.assertEqual(["workloads/x.cpp: includes the codec compressors/codecs/topk/topk.hpp"],
                         problems({"workloads/x.cpp": '#include "compressors/codecs/topk/topk.hpp"'}))
        self.assertEqual(["compressors/codecs/ef/ef.cpp: ef uses the codec topk"],
                         problems({"compressors/codecs/ef/ef.cpp": '#include "compressors/codecs/topk/topk.hpp"'}))
        self.assertEqual([], problems({"workloads/x.cpp": '// as "topk"\nf("the sign of x"); g("none");'}))


if __name__ == "__main__":
    unittest.main()

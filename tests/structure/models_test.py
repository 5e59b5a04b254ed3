# SPDX-License-Identifier: Apache-2.0
"""Model files are arithmetic: layers own ranks, sites, codecs and shards (docs/adding-a-model.md)."""
import os
import re
import unittest

import rooms

FOLDER = "workloads/models/"
LIMIT = 150  # lines
FORBIDDEN = re.compile(r"rank|site|codec|shard", re.I)


def is_model(path):
    """workloads/models/bert/bert.cpp, not the room's own files and not tests."""
    return path.startswith(FOLDER) and path.count("/") == FOLDER.count("/") + 1 and not path.endswith("_test.cpp")


def problems(files):
    """files: {path: text}. Returns one line per broken rule."""
    found = []
    for path, text in files.items():
        lines = text.splitlines()
        if len(lines) >= LIMIT:
            found.append(f"{path}: {len(lines)} lines, a model file has fewer than {LIMIT}")
        for number, line in enumerate(lines, 1):
            word = FORBIDDEN.search(line)
            if word:
                found.append(f"{path}:{number}: '{word[0]}' belongs to layers/ or messages/")
    folders = {}
    for path in files:
        folders.setdefault(os.path.dirname(path), []).append(path)
    for folder, paths in folders.items():
        if len(paths) > 1:
            found.append(f"{folder}: a model is one file, not {len(paths)}")
    return found


class ModelFiles(unittest.TestCase):
    def test_tree(self):
        files = {}
        for path in rooms.tracked_files(".cpp", ".hpp"):
            if is_model(path):
                with open(os.path.join(rooms.ROOT, path), encoding="utf-8") as stream:
                    files[path] = stream.read()
        self.assertGreater(len(files), 0)
        self.assertEqual([], problems(files))

    def test_planted(self):
        bert = FOLDER + "bert/bert.cpp"
        for line in ("const int ranks = 2;", "Site& site;", "use(codec);", "one per Shard"):
            self.assertEqual(1, len(problems({bert: line})), line)
        self.assertIn("150 lines", problems({bert: "x\n" * 150})[0])
        self.assertIn("one file, not 2", problems({bert: "x", FOLDER + "bert/parts.hpp": "x"})[0])
        self.assertEqual([], problems({bert: "x\n" * 149, FOLDER + "bag/bag.cpp": "return at::gelu(x);"}))

    def test_which_files(self):
        self.assertTrue(is_model(FOLDER + "bert/bert.cpp"))
        self.assertFalse(is_model(FOLDER + "model.cpp"))
        self.assertFalse(is_model(FOLDER + "bert/bert_test.cpp"))
        self.assertFalse(is_model("workloads/layers/mlp.cpp"))


if __name__ == "__main__":
    unittest.main()

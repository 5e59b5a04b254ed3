# SPDX-License-Identifier: Apache-2.0
"""usage: model_addition_test.py BUILD   adds the model of docs/adding-a-model.md, and runs the page's cell with it.

The page's folder is compiled and carried as CMake would do it, with the commands of the configured build: one source
and the carried manifests are compiled, then a worker of its own is linked."""
import json
import os
import re
import shlex
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "structure"))
import models_test  # noqa: E402

PAGE = os.path.join(ROOT, "docs", "adding-a-model.md")
BUILD = os.path.abspath(sys.argv.pop() if len(sys.argv) > 1 else "build")
WORK = os.path.join(BUILD, "model-addition")
WORKER = os.path.join("bin", "tersor-worker")


def run(command, folder=BUILD):
    result = subprocess.run(command, shell=isinstance(command, str), cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"{command} failed:\n{result.stdout[-4000:]}")
    return result.stdout


def write(name, text):
    path = os.path.join(WORK, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def compile_like(source, like):
    """Compiles `source` with the build's command for the file whose path ends in `like`; returns both objects."""
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as stream:
        entry = next(one for one in json.load(stream) if one["file"].endswith(like))
    words = shlex.split(entry["command"])
    old = words[words.index("-o") + 1]
    new = source + ".o"
    words[words.index("-o") + 1] = new
    words[words.index(entry["file"])] = source
    run(words, entry["directory"])
    return old, new


def page_files():
    with open(PAGE, encoding="utf-8") as stream:
        return dict(re.findall(r"^`([^`]+)`\n```\w+\n(.*?)^```$", stream.read(), re.M | re.S))


class ModelAddition(unittest.TestCase):
    def test_page(self):
        files = page_files()
        self.assertEqual({"bag/bag-tiny.json", "bag/bag.cpp", "cell.json"}, set(files))
        self.assertEqual([], models_test.problems({"workloads/models/bag/bag.cpp": files["bag/bag.cpp"]}))
        source = write("bag/bag.cpp", files["bag/bag.cpp"])
        with open(os.path.join(BUILD, "workloads", "model_manifests.cpp"), encoding="utf-8") as stream:
            carried = stream.read()
        entry = f'      {{R"_(bag/bag-tiny.json)_", R"_embed_({files["bag/bag-tiny.json"]})_embed_"}},\n'
        self.assertIn("  };\n", carried)
        manifests = write("model_manifests.cpp", carried.replace("  };\n", entry + "  };\n", 1))
        _, model = compile_like(source, "workloads/models/bert/bert.cpp")
        old, new = compile_like(manifests, "workloads/model_manifests.cpp")
        link = run(["ninja", "-t", "commands", WORKER]).splitlines()[-1]
        worker = os.path.join(WORK, "tersor-worker")
        self.assertIn(old, link)
        run(link.replace(old, f"{new} {model}").replace(f"-o {WORKER}", f"-o {worker}"))
        self.check_cell(worker, write("cell.json", files["cell.json"]))

    def check_cell(self, worker, cell):
        spool = os.path.join(WORK, "out")
        run(["rm", "-rf", spool])
        run([worker, "--cell", cell, "--spool", spool])
        with open(os.path.join(spool, "rank0.jsonl"), encoding="utf-8") as stream:
            records = [json.loads(line) for line in stream]
        start = next(one for one in records if one["type"] == "start")
        self.assertEqual("bag-tiny", start["model"]["name"])
        self.assertEqual("bag", start["model"]["arch"]["kind"])
        self.assertEqual(4, sum(one["type"] == "step" for one in records))
        messages = {(one["site"], one["site_name"]) for one in records
                    if one["type"] == "traffic" and one["spec"] == "quantize(bits=4)"}
        self.assertEqual({("tp", "layer0.mlp"), ("tp", "layer1.mlp"), ("pp", "block0")}, messages)
        self.assertEqual("ok", records[-1]["status"])


if __name__ == "__main__":
    unittest.main()

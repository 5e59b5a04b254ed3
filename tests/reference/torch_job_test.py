# SPDX-License-Identifier: Apache-2.0
"""usage: torch_job_test.py BUILD   tersor-worker's training against PyTorch's (torch_job.py, torch_job.json).

20 steps of MiniLM-L6 on SST-2 as in matrices/sst2-small.json, two emulated shards, which are bit-identical to two ranks.
The two programs differ in the order of float32 sums, and training amplifies that. Largest relative difference of the
losses seen between them: MEASURED; the tolerances leave a factor of ten or more. A learning rate off by one
step, decay of biases or a different message changes a loss by 1e-3 or more."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop() if len(sys.argv) > 1 else "build")
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
DATA = os.environ.get("TERSOR_DATA") or os.path.join(ROOT, "..", "shared", "data")
CACHE = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
MODEL = os.path.join(CACHE, "tersor", "models", "minilm-l6")
FILES = [os.path.join(DATA, "glue", "SST-2", name) for name in ("train.tsv", "dev.tsv")] + [
    os.path.join(MODEL, name) for name in ("model.safetensors", "vocab.txt")]
TOLERANCES = {"losses": 1e-4, "gradient_norms": 1e-3, "eval_loss": 1e-4}  # relative


def cell(run):
    with open(os.path.join(ROOT, "matrices", "sst2-small.json"), encoding="utf-8") as stream:
        config = json.load(stream)["defaults"]
    config |= {"dataset": "sst2", "compressor": {"tp": run["codec"]}, "max_steps": run["steps"],
               "eval_rows": run["eval_rows"], "inference": "on",
               "hardware": {"name": "cpu-emulated-tp2", "kind": "emulated", "tp": 2}}
    return {"format": 1, "cell_key": "0123456789abcdef", "seed": run["seed"], "attempt": 1, "config": config,
            "data_root": DATA, "weights": FILES[2], "vocab": FILES[3]}


def work(run):
    """Losses, gradient norms, evaluation of a worker."""
    with tempfile.TemporaryDirectory(prefix="tersor-twin-") as folder:
        path = os.path.join(folder, "cell.json")
        with open(path, "w", encoding="utf-8") as out:
            json.dump(cell(run), out)
        done = subprocess.run([os.path.join(BUILD, "bin", "tersor-worker"), "--cell", path, "--spool", folder],
                              env=os.environ | {"TERSOR_PIN": "off"}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"worker: status {done.returncode}\n{done.stderr[-2000:]}")
        with open(os.path.join(folder, "rank0.jsonl"), encoding="utf-8") as stream:
            records = [json.loads(line) for line in stream]
    steps = [r for r in records if r["type"] == "step"]
    found = next(r for r in records if r["type"] == "eval")
    return {"losses": [r["loss"] for r in steps], "gradient_norms": [r["gradient_norm"] for r in steps],
            "eval_loss": [found["loss"]], "rows": found["rows"],
            "correct": sum(p == l for p, l in zip(found["predictions"], found["labels"]))}


class TorchJob(unittest.TestCase):
    def test_training_equals_pytorch(self):
        with open(os.path.join(HERE, "torch_job.json"), encoding="utf-8") as stream:
            runs = json.load(stream)["runs"]
        self.assertEqual(["none", "topk", "quantize(bits=2)"], [run["codec"] for run in runs])
        for run in runs:
            with self.subTest(run["codec"]):
                found = work(run)
                self.assertEqual(run["eval_rows"], found["rows"])
                for key, tolerance in TOLERANCES.items():
                    expected = run[key] if isinstance(run[key], list) else [run[key]]
                    self.assertEqual(len(expected), len(found[key]), key)
                    apart = [abs(f - e) / e for e, f in zip(expected, found[key])]
                    worst = max(range(len(apart)), key=apart.__getitem__)
                    print(f"{run['codec']}: {key} at most {apart[worst]:.2e} apart, at {worst}; limit {tolerance:.0e}")
                    self.assertLess(apart[worst], tolerance, f"{key} {worst}: {found[key][worst]}, PyTorch {expected[worst]}")
                self.assertLessEqual(abs(run["correct"] - found["correct"]), 1, "correct predictions")


if __name__ == "__main__":
    absent = [path for path in FILES if not os.path.exists(path)]
    if absent:
        print(f"SKIPPED: {absent[0]} is missing", flush=True)
        sys.exit(0)
    unittest.main(verbosity=2)

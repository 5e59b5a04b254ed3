# SPDX-License-Identifier: Apache-2.0
"""usage: end_to_end_test.py BUILD   tersor and tersor-worker together, on real two-rank jobs of a few steps.

Run, resume, kill, query, report, and bad input. Expected values are facts of the job (bytes by METHODS' formulas, equal
checksums), not what an earlier version printed."""
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.path.abspath(sys.argv.pop() if len(sys.argv) > 1 else "build")
TERSOR = os.path.join(BUILD, "bin", "tersor")
STEPS, BATCH, SEQUENCE, HIDDEN = 6, 16, 16, 64
CODECS = {  # spec: payload bytes of one message (METHODS section 2), of n = BATCH * SEQUENCE * HIDDEN elements
    "none": lambda n: 4 * n,
    "cast": lambda n: 2 * n,
    "quantize(bits=2)": lambda n: n // 4 + 2 * HIDDEN,
    "randk(ratio=0.1, shared=true)": lambda n: 4 * int(0.1 * n + 0.5),
}


def matrix(name, codecs, hardware, seeds=(1,), **defaults):
    base = {"model": "bert-tiny", "stage": "finetune", "max_steps": STEPS, "micro_batch": BATCH, "sequence": SEQUENCE,
            "train_rows": 512, "eval_rows": 64, "learning_rate": 1e-3}
    return {"name": name, "defaults": base | defaults,
            "matrix": {"compressor": list(codecs), "hardware": list(hardware), "dataset": ["synthetic"],
                       "seed": list(seeds)}}


class Workplace(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tersor-e2e-")
        self.db = os.path.join(self.folder, "results.db")

    def tearDown(self):
        shutil.rmtree(self.folder)

    def write(self, value, name="matrix.json"):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(value if isinstance(value, str) else json.dumps(value))
        return path

    def tersor(self, *arguments, status=0):
        result = subprocess.run([TERSOR, *arguments], capture_output=True, text=True, check=False, timeout=500)
        self.assertEqual(status, result.returncode, f"{arguments}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}")
        return result

    def query(self, sql):
        return json.loads(self.tersor("query", sql, "--db", self.db, "--format", "json", "--limit", "0").stdout)

    def workers(self):
        """Process ids of workers whose command line names this test's folder."""
        found = []
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, "rb") as stream:
                    command = stream.read()
            except OSError:
                continue
            if b"tersor-worker" in command and self.folder.encode() in command:
                found.append(int(path.split("/")[2]))
        return found

    def wait_for(self, condition, seconds, what):
        end = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), end, f"waited {seconds} s for {what}")
            time.sleep(0.1)


class Sweep(Workplace):
    def test_run_resume_query_report(self):
        path = self.write(matrix("e2e", CODECS, ["cpu-tp2", "cpu-emulated-tp2"]))
        plan = self.tersor("run", path, "--db", self.db, "--dry-run")
        self.assertFalse(os.path.exists(self.db), "a dry run changes nothing")
        self.assertIn("quantize(bits=2)", plan.stdout)
        self.tersor("run", path, "--db", self.db)
        runs = self.query("SELECT codec, hardware, status, checksum, init_hash, steps FROM v_run")
        self.assertEqual(2 * len(CODECS), len(runs))
        self.assertEqual({"ok"}, {run["status"] for run in runs})
        self.assertEqual({STEPS}, {run["steps"] for run in runs})
        self.assertEqual(1, len({run["init_hash"] for run in runs}), "every codec starts from the same weights")

        by_codec = {}
        for run in runs:
            by_codec.setdefault(run["codec"], []).append(run["checksum"])
        self.assertEqual(len(CODECS), len(by_codec))
        for codec, sums in by_codec.items():
            self.assertEqual(1, len(set(sums)), f"{codec}: emulated shards and real ranks must be bit-identical")
        self.assertEqual(len(CODECS), len({sums[0] for sums in by_codec.values()}), "codecs must make a difference")

        self.check_traffic()
        again = self.tersor("run", path, "--db", self.db)
        self.assertEqual(len(runs), self.query("SELECT count(*) AS n FROM run")[0]["n"], again.stdout)
        self.check_readers()
        self.check_report()

    def check_traffic(self):
        n = BATCH * SEQUENCE * HIDDEN
        rows = self.query("SELECT c.codec, c.tp, t.* FROM traffic t JOIN run r ON r.id = t.run_id JOIN cell c ON c.id = r.cell_id "
                          "WHERE t.direction = 'forward' AND t.phase = 'train' AND t.site = 'tp' AND c.kind = 'measured'")
        self.assertEqual(len(CODECS) * 2 * 4, len(rows), "2 ranks, 2 layers with 2 row-parallel outputs each")
        formulas = {re.sub(r"[\s]", "", spec): bytes_of for spec, bytes_of in CODECS.items()}
        for row in rows:
            spec = re.sub(r"\s", "", row["spec"])
            with self.subTest(spec=spec, rank=row["rank"], site=row["site_name"]):
                self.assertEqual(STEPS, row["calls"])
                self.assertEqual(STEPS * 4 * n, row["raw_bytes"])
                if spec in formulas:
                    self.assertEqual(STEPS * formulas[spec](n), row["payload_bytes"])
                # p = 2: ring all-reduce sends 2 (p-1)/p = 1 buffer, all-gather p-1 = 1 payload
                self.assertEqual(row["payload_bytes"], row["sent_bytes"])
        self.assertLessEqual(3, len({re.sub(r"\s", "", row["spec"]) for row in rows} & set(formulas)))

    def check_readers(self):
        for what in ("runs", "accuracy", "speed", "traffic"):
            shown = json.loads(self.tersor("show", what, "--db", self.db, "--format", "json").stdout)
            self.assertTrue(shown, what)
        shown = json.loads(self.tersor("show", "runs", "--db", self.db, "--where", "codec = 'none'", "--format", "json").stdout)
        self.assertEqual(["ok", "ok"], [row["status"] for row in shown])
        refused = self.tersor("query", "DELETE FROM run", "--db", self.db, status=2)
        self.assertIn("read", refused.stderr.lower())
        self.assertEqual(8, self.query("SELECT count(*) AS n FROM run")[0]["n"])
        many = self.tersor("query", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 100000) "
                           "SELECT x FROM c", "--db", self.db, "--format", "csv", "--limit", "10")
        self.assertLessEqual(len(many.stdout.splitlines()), 12)
        with sqlite3.connect(f"file:{self.db}?mode=ro", uri=True) as plain:
            self.assertEqual(8, plain.execute("SELECT count(*) FROM v_run").fetchone()[0])

    def check_report(self):
        out = os.path.join(self.folder, "report")
        self.tersor("report", "--db", self.db, "--out", out)
        with open(os.path.join(out, "index.html"), encoding="utf-8") as stream:
            page = stream.read()
        self.assertNotRegex(page, r'(src|href)="(https?:)?//', "the page must be self-contained")
        self.assertIn("<svg", page)
        for spec in ("quantize(bits=2)", "none"):
            self.assertIn(spec, page)
        self.assertTrue(glob.glob(os.path.join(out, "**", "*.csv"), recursive=True))
        self.assertTrue(os.path.exists(os.path.join(out, "report.md")))

    def test_two_seeds_differ_and_repeat(self):
        for name in ("a", "b"):
            self.db = os.path.join(self.folder, name + ".db")
            self.tersor("run", self.write(matrix("seeds", ["topk(ratio=0.01)"], ["cpu-tp2"], seeds=(1, 2))), "--db", self.db)
            sums = [run["checksum"] for run in self.query("SELECT checksum FROM v_run ORDER BY seed")]
            self.assertEqual(2, len(set(sums)))
            if name == "a":
                first = sums
        self.assertEqual(first, sums, "one seed, one result")


class Interruption(Workplace):
    LONG = {"max_steps": 100000, "epochs": 100000}

    def start(self, path):
        return subprocess.Popen([TERSOR, "run", path, "--db", self.db], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                start_new_session=True)

    def is_training(self):
        """Two workers live, and the newest run's second rank has recorded a step."""
        spools = glob.glob(os.path.join(self.folder, "**", "rank1.jsonl"), recursive=True)
        if len(self.workers()) != 2 or not spools:
            return False
        with open(max(spools, key=os.path.getctime), "rb") as stream:
            return b'"step"' in stream.read().split(b"\n", 1)[-1]

    def end_of(self, process, how):
        process.send_signal(how)
        process.communicate(timeout=60)
        self.wait_for(lambda: not self.workers(), 20, "the workers to end with their harness")

    def check_signal(self, how):
        short = matrix("kill", ["none"], ["cpu-tp2"])
        self.tersor("run", self.write(short), "--db", self.db)
        finished = self.query("SELECT id, checksum, status FROM run")
        long = self.write(matrix("kill", ["cast"], ["cpu-tp2"], **self.LONG), "long.json")
        process = self.start(long)
        self.wait_for(self.is_training, 120, "the long run to train")
        self.end_of(process, how)
        self.assertEqual(finished, self.query(f"SELECT id, checksum, status FROM run WHERE id = {finished[0]['id']}"))
        plan = self.tersor("run", long, "--db", self.db, "--dry-run").stdout
        self.assertIn("cast", plan)
        self.assertRegex(plan, r"(?i)interrupt|again|killed|cut off")
        self.tersor("run", self.write(matrix("after", ["quantize(bits=8)"], ["cpu-tp2"])), "--db", self.db)
        self.assertEqual(0, self.query("SELECT count(*) AS n FROM run WHERE status = 'running'")[0]["n"])

    def test_kill_9_of_the_harness(self):
        self.check_signal(signal.SIGKILL)

    def test_ctrl_c(self):
        self.check_signal(signal.SIGINT)

    def test_kill_9_of_a_worker(self):
        process = self.start(self.write(matrix("worker", ["none"], ["cpu-tp2"], **self.LONG)))
        self.wait_for(self.is_training, 120, "two workers to train")
        os.kill(max(self.workers()), signal.SIGKILL)
        output, _ = process.communicate(timeout=120)
        self.assertEqual(1, process.returncode, output.decode())
        self.assertEqual([], self.workers())
        run = self.query("SELECT status, reason FROM run")[0]
        self.assertEqual("failed", run["status"])
        self.assertRegex(run["reason"], r"(?i)kill|signal")


class BadInput(Workplace):
    def refused(self, value, *words, extra=(), status=2):
        result = self.tersor("run", self.write(value), "--db", self.db, *extra, status=status)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertFalse(os.path.exists(self.db), "nothing may be stored of a refused matrix")

    def test_matrix(self):
        self.refused(matrix("x", ["quantise(bits=2)"], ["cpu-tp2"]), "quantise", "quantize")
        self.refused(matrix("x", ["topk(ratio=1.5)"], ["cpu-tp2"]), "topk: ratio 1.5 not in (0, 1]")
        self.refused(matrix("x", ["topk(ration=0.5)"], ["cpu-tp2"]), "ration", "ratio")
        self.refused(matrix("x", ["none"], ["cpu-tp3000"]), "cpu-tp3000")
        self.refused(matrix("x", ["none"], ["cpu-tp2"]) | {"exclude": [{"dataset": "nope"}]}, "nope")
        bad = matrix("x", ["none"], ["cpu-tp2"])
        bad["matrix"]["dataset"] = ["synthetik"]
        self.refused(bad, "synthetik", "synthetic")
        bad = matrix("x", ["none"], ["cpu-tp2"], learning_rat=1)
        self.refused(bad, "learning_rat", "learning_rate")
        self.refused("{\"name\": \"x\",\n  \"matrix\": {]}", ":2:")

    def test_ten_million_cells(self):
        many = matrix("many", ["none"], ["cpu-tp2"], seeds=range(1000))
        many["matrix"]["learning_rate"] = [i * 1e-6 for i in range(1, 101)]
        many["matrix"]["weight_decay"] = [i * 1e-3 for i in range(100)]
        self.refused(many, "10000000", "--yes")

    def test_databases(self):
        path = self.write(matrix("x", ["none"], ["cpu-tp2"]))
        content = b"this is no database" * 100
        with open(self.db, "wb") as out:
            out.write(content)
        result = self.tersor("run", path, "--db", self.db, status=2)
        self.assertIn("SQLite", result.stderr)
        with open(self.db, "rb") as stream:
            self.assertEqual(content, stream.read(), "a file that is not ours stays as it is")
        os.remove(self.db)
        self.tersor("run", path, "--db", self.db)
        with sqlite3.connect(self.db) as plain:
            plain.execute("INSERT INTO schema_migration VALUES (9999, 'future', '', '', '')")
            plain.execute("PRAGMA user_version = 9999")
        plain.close()
        result = self.tersor("run", path, "--db", self.db, status=2)
        self.assertIn("9999", result.stderr)

    def test_heads_that_tp_does_not_divide(self):
        profile = {"name": "cpu-tp3", "kind": "measured", "device": "cpu", "tp": 3, "pp": 1, "threads": 1}
        os.mkdir(os.path.join(self.folder, "profiles"))
        self.write(profile, "profiles/cpu-tp3.json")
        result = subprocess.run([TERSOR, "run", self.write(matrix("x", ["none"], ["cpu-tp3"])), "--db", self.db, "--profiles",
                                 os.path.join(self.folder, "profiles")], capture_output=True, text=True, check=False)
        self.assertIn(result.returncode, (2, 3), result.stderr)
        self.assertRegex(result.stdout + result.stderr, r"4 (attention )?heads|heads.*(3|4)")


if __name__ == "__main__":
    unittest.main()

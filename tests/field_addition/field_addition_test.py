# SPDX-License-Identifier: Apache-2.0
"""usage: field_addition_test.py BUILD   adds the field of docs/adding-a-field.md as a reader would, and uses it.

tersor is built with the page's line in a copy of the table and no other change; results of BUILD's tersor stay good."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv.pop() if len(sys.argv) > 1 else "build")
TABLE = os.path.join("protocol", "cell_fields.def")
WORK = BUILD + "-field-addition"  # beside BUILD, where paths are as deep: a compiler cache then serves both
OLD = os.path.join(BUILD, "bin", "tersor")
NEW = os.path.join(WORK, "bin", "tersor")
WORKER = os.path.join(WORK, "tests", "tersor-fake-worker")
FIELD = "label_smoothing"


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()


def build():
    block = re.search(r"^```diff\n (.*\n)\+(.*\n)```$", text_of("docs/adding-a-field.md"), re.M)
    table = text_of(TABLE)
    assert table.count(block[1]) == 1, "the line above the new one is not in " + TABLE
    overlay = os.path.join(WORK, "overlay")
    os.makedirs(os.path.join(overlay, "protocol"), exist_ok=True)
    with open(os.path.join(overlay, TABLE), "w", encoding="utf-8") as out:
        out.write(table.replace(block[1], block[1] + block[2]))
    # -iquote comes before the project's folder, so that the copy is read in place of the table.
    for command in (["cmake", "-S", ROOT, "-B", WORK, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                     "-DTERSOR_TORCH=OFF", "-DTERSOR_CUDA=OFF", "-DTERSOR_WERROR=ON", f"-DCMAKE_CXX_FLAGS=-iquote {overlay}",
                     "-DTERSOR_ROOMS=common;protocol;compressors;datasets;results;reports;harness"],
                    ["cmake", "--build", WORK, "-j", "2", "--target", "tersor", "tersor-fake-worker"]):
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert result.returncode == 0, f"{' '.join(command)} failed:\n{result.stdout[-4000:]}"


class FieldAddition(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="tersor-field-")
        self.db = os.path.join(self.folder, "results.db")
        self.addCleanup(shutil.rmtree, self.folder)

    def tersor(self, program, *arguments, status=0):
        result = subprocess.run([program, *arguments], capture_output=True, text=True, check=False,
                                env=os.environ | {"TERSOR_WORKER": WORKER, "TERSOR_DATA": "", "TERSOR_WEIGHTS": ""})
        self.assertEqual(status, result.returncode, f"{arguments}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}")
        return result.stdout + result.stderr

    def matrix(self, **axes):
        path = os.path.join(self.folder, "matrix.json")
        axes = {"compressor": ["none", "ef(topk)"], "hardware": "cpu-emulated-tp2", "dataset": "synthetic"} | axes
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"name": "m", "matrix": axes}, out)
        return path

    def query(self, sql, program=NEW):
        return json.loads(self.tersor(program, "query", sql, "--db", self.db, "--format", "json"))

    def test_stored_results_stay(self):
        self.tersor(OLD, "run", self.matrix(), "--db", self.db)
        keys = self.query("SELECT cell_key, group_hash FROM cell ORDER BY id", OLD)
        self.assertEqual(2, len(keys))
        self.assertIn("2 runs, 0 to do, 2 in the database", self.tersor(NEW, "run", self.matrix(), "--db", self.db))
        self.assertIn("4 runs, 2 to do, 2 in the database",
                      self.tersor(NEW, "run", self.matrix(**{FIELD: [0, 0.1]}), "--db", self.db))
        self.assertEqual(keys, self.query("SELECT cell_key, group_hash FROM cell WHERE id <= 2 ORDER BY id"))
        # The column, in the table and in views; what was stored has what cells had before the field existed.
        self.assertEqual([{FIELD: 0.0, "n": 2}, {FIELD: 0.1, "n": 2}],
                         self.query(f"SELECT {FIELD}, count(*) AS n FROM v_run WHERE status = 'ok' GROUP BY 1"))
        self.assertEqual([{"n": 2}], self.query("SELECT count(DISTINCT group_hash) AS n FROM cell"))
        shown = json.loads(self.tersor(NEW, "show", "runs", "--db", self.db, "--where", f"{FIELD} > 0", "--format", "json"))
        self.assertEqual(2, len(shown))
        # The worker got it, and the old program still reads and resumes the database.
        cells = [json.loads(text_of(path))["config"] for path in glob.glob(self.db + ".runs/*/cell.json")]
        self.assertEqual([0.1, 0.1], [cell[FIELD] for cell in cells if FIELD in cell])
        self.assertIn("2 runs, 0 to do, 2 in the database", self.tersor(OLD, "run", self.matrix(), "--db", self.db))

    def test_reading_an_older_file_changes_nothing(self):
        self.tersor(OLD, "run", self.matrix(), "--db", self.db)
        with open(self.db, "rb") as stream:
            before = stream.read()
        self.assertEqual([{FIELD: 0.0}], self.query(f"SELECT DISTINCT {FIELD} FROM v_latest"))
        with open(self.db, "rb") as stream:
            self.assertEqual(before, stream.read())

    def test_axis_and_filter(self):
        many = self.matrix(**{FIELD: [0, 0.1, 0.2]})
        plan = self.tersor(NEW, "run", many, "--db", self.db, "--dry-run", "--filter", f"{FIELD}=0.1,2e-1",
                           "--filter", "compressor=none")
        self.assertEqual(2, len(re.findall(rf"^run .* {FIELD}=0\.[12] .*new$|^run .* {FIELD}=0\.[12]:? new$", plan, re.M)), plan)
        self.assertIn(f"unknown key '{FIELD}'", self.tersor(OLD, "run", many, "--db", self.db, "--dry-run", status=2))
        for value, words in ((1, f"{FIELD} 1 not in [0, 1)"), ("x", f"{FIELD} must be a number")):
            with self.subTest(value=value):
                self.assertIn(words, self.tersor(NEW, "run", self.matrix(**{FIELD: value}), "--db", self.db, "--dry-run", status=2))
        wrong = self.tersor(NEW, "run", self.matrix(label_smoothin=0), "--db", self.db, "--dry-run", status=2)
        self.assertIn(f"did you mean '{FIELD}'?", wrong)

    def test_help_and_page(self):
        page = text_of("docs/cell-fields.md").splitlines()
        new = self.tersor(NEW, "list", "fields", "--markdown").splitlines()
        self.assertEqual([], [line for line in page if line not in new])
        added = [line for line in new if line not in page]
        self.assertEqual(1, len(added), added)
        self.assertTrue(added[0].startswith(f"| `{FIELD}` | numbers in [0, 1) | `0.0` |"), added)
        self.assertIn(f"{FIELD}: numbers in [0, 1); default 0.0", self.tersor(NEW, "list", "fields"))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""usage: table_addition_test.py BUILD   adds the table of docs/adding-a-table.md as a reader would, and reports with it.

The page's files become a folder outside the tree; the rooms of the report are built with it, with no edit elsewhere."""
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "adding-a-table.md")
BUILD = os.path.abspath(sys.argv.pop() if len(sys.argv) > 1 else "build")
WORK = BUILD + "-table-addition"  # beside BUILD, where paths are as deep: a compiler cache then serves both


def run(*command, **environment):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=ROOT,
                            env={**os.environ, **environment})
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(command)} failed:\n{result.stdout[-4000:]}")
    return result.stdout


class TableAddition(unittest.TestCase):
    def test_page(self):
        with open(PAGE, encoding="utf-8") as stream:
            files = re.findall(r"^`(tables/loss/[^`]+)`\n```\w+\n(.*?)^```$", stream.read(), re.M | re.S)
        self.assertEqual({"README.md", "query.sql", "loss.cpp", "loss_test.cpp"}, {os.path.basename(name) for name, _ in files})
        for name, text in files:
            path = os.path.join(WORK, "pages", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        run("cmake", "-S", ROOT, "-B", WORK, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTERSOR_TORCH=OFF",
            "-DTERSOR_CUDA=OFF", "-DTERSOR_WERROR=ON", "-DTERSOR_ROOMS=common;protocol;results;reports",
            f"-DTERSOR_EXTRA_REPORTS={os.path.join(WORK, 'pages')}")
        run("cmake", "--build", WORK, "-j", "2", "--target", "test_reports")
        program = os.path.join(WORK, "tests", "test_reports")
        self.assertRegex(run(program, "[loss]"), r"All tests passed \(\d+ assertions in 1 test case\)")
        report = os.path.join(WORK, "page")
        run(program, "[.sample]", TERSOR_SAMPLE_OUT=report, TERSOR_PYTHON="/bin/false")
        with open(os.path.join(report, "index.html"), encoding="utf-8") as stream:
            page = stream.read()
        self.assertIn('<section id="loss">\n<h2>Training loss</h2>', page)
        self.assertIn('<a href="loss.csv">', page)


if __name__ == "__main__":
    unittest.main()

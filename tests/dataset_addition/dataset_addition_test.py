# SPDX-License-Identifier: Apache-2.0
"""usage: dataset_addition_test.py BUILD   adds the data set of docs/adding-a-dataset.md as a reader would, and tests it.

The page's files become a folder outside the tree; the datasets room is built with it, with no edit elsewhere."""
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "adding-a-dataset.md")
BUILD = os.path.abspath(sys.argv.pop() if len(sys.argv) > 1 else "build")
WORK = BUILD + "-dataset-addition"  # beside BUILD, where paths are as deep: a compiler cache then serves both


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(command)} failed:\n{result.stdout[-4000:]}")
    return result.stdout


class DatasetAddition(unittest.TestCase):
    def test_page(self):
        with open(PAGE, encoding="utf-8") as stream:
            files = re.findall(r"^`(sick/[^`]+)`\n```\w+\n(.*?)^```$", stream.read(), re.M | re.S)
        self.assertEqual({"sick.cpp", "sick_test.cpp"}, {name.split("/")[1] for name, _ in files})
        for name, text in files:
            path = os.path.join(WORK, "sets", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        run("cmake", "-S", ROOT, "-B", WORK, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTERSOR_TORCH=OFF",
            "-DTERSOR_CUDA=OFF", "-DTERSOR_WERROR=ON", "-DTERSOR_ROOMS=common;datasets",
            f"-DTERSOR_EXTRA_DATASETS={os.path.join(WORK, 'sets')}")
        run("cmake", "--build", WORK, "-j", "2", "--target", "test_datasets")
        own = run(os.path.join(WORK, "tests", "test_datasets"), "[sick]")
        self.assertRegex(own, r"All tests passed \(\d+ assertions in 2 test cases\)")
        room = run(os.path.join(WORK, "tests", "test_datasets"), "manifests are complete")
        self.assertRegex(room, r"All tests passed")


if __name__ == "__main__":
    unittest.main()

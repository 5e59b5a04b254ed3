# SPDX-License-Identifier: Apache-2.0
"""usage: codec_addition_test.py BUILD   adds the codec of docs/adding-a-compressor.md as a reader would, and tests it.

The page's files become a folder outside the tree; the compressors room is built with it, with no edit elsewhere."""
import os
import re
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "adding-a-compressor.md")
BUILD = os.path.abspath(sys.argv.pop() if len(sys.argv) > 1 else "build")
WORK = BUILD + "-codec-addition"  # beside BUILD, where paths are as deep: a compiler cache then serves both


def run(*command):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(command)} failed:\n{result.stdout[-4000:]}")
    return result.stdout


class CodecAddition(unittest.TestCase):
    def test_page(self):
        with open(PAGE, encoding="utf-8") as stream:
            files = re.findall(r"^`(truncate/[^`]+)`\n```\w+\n(.*?)^```$", stream.read(), re.M | re.S)
        self.assertEqual({"README.md", "truncate.hpp", "truncate.cpp", "truncate_test.cpp"},
                         {name.split("/")[1] for name, _ in files})
        for name, text in files:
            path = os.path.join(WORK, "codecs", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        run("cmake", "-S", ROOT, "-B", WORK, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DTERSOR_TORCH=OFF",
            "-DTERSOR_CUDA=OFF", "-DTERSOR_WERROR=ON", "-DTERSOR_ROOMS=common;compressors",
            f"-DTERSOR_EXTRA_COMPRESSORS={os.path.join(WORK, 'codecs')}")
        run("cmake", "--build", WORK, "-j", "2", "--target", "test_compressors", "test_codec_suite")
        own = run(os.path.join(WORK, "tests", "test_compressors"), "[truncate]")
        self.assertRegex(own, r"All tests passed \(\d+ assertions in 2 test cases\)")
        suite = run(os.path.join(WORK, "tests", "test_codec_suite"), "*truncate*")
        self.assertRegex(suite, r"All tests passed \(\d+ assertions in \d+ test case")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""usage: paper_codecs_test.py BUILD   tersor's published variants against PyTorch (paper_codecs.py, .json), bit by bit."""
import base64
import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest

BUILD = os.path.abspath(sys.argv.pop() if len(sys.argv) > 1 else "build")
HERE = os.path.dirname(os.path.abspath(__file__))
CODES = {"float16": "<f2", "float32": "<f4"}


def write_npy(path, shape, dtype, data):
    header = f"{{'descr': '{CODES[dtype]}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def read_npy_data(path):
    with open(path, "rb") as stream:
        content = stream.read()
    return content[10 + struct.unpack("<H", content[8:10])[0]:]


class PaperCodecs(unittest.TestCase):
    def test_decoded_values_are_those_of_the_published_code(self):
        with open(os.path.join(HERE, "paper_codecs.json"), encoding="utf-8") as stream:
            document = json.load(stream)
        self.assertGreater(len(document["cases"]), 30)
        with tempfile.TemporaryDirectory(prefix="tersor-paper-") as folder:
            given, found = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
            for case in document["cases"]:
                name = f"{case['input']} {case['dtype']}"
                write_npy(given, document["shape"], case["dtype"], base64.b64decode(document["inputs"][name]))
                subprocess.run([os.path.join(BUILD, "bin", "tersor"), "codec", "roundtrip", case["spec"], given,
                                "-o", found, "--json"], check=True, capture_output=True)
                count = len(base64.b64decode(case["decoded"])) // 4
                wanted = struct.unpack(f"<{count}f", base64.b64decode(case["decoded"]))
                values = struct.unpack(f"<{count}f", read_npy_data(found))
                # Equal as numbers: a value that is not chosen is +0 here and may be -0 there.
                wrong = [i for i in range(count) if wanted[i] != values[i]]
                with self.subTest(spec=case["spec"], of=name):
                    self.assertEqual(wrong, [], f"first: {wanted[wrong[0]] if wrong else 0} wanted, "
                                                f"{values[wrong[0]] if wrong else 0} found")


if __name__ == "__main__":
    unittest.main()

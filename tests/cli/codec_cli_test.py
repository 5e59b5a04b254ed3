# SPDX-License-Identifier: Apache-2.0
"""usage: codec_cli_test.py BUILD   what `tersor codec inspect` says, against numbers worked out by hand, and what the
codec tools refuse."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

BUILD = sys.argv.pop() if len(sys.argv) > 1 else "build"


def run(program, *arguments):
    return subprocess.run([os.path.join(BUILD, "bin", program), *arguments], capture_output=True, text=True, check=False)


def inspect(spec, shape="4,16,64"):
    command = [os.path.join(BUILD, "bin", "tersor"), "codec", "inspect", spec, "--shape", shape, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


class Inspect(unittest.TestCase):
    def test_state(self):
        """Error feedback keeps a float32 for each of 4 * 16 * 64 values; quantize keeps nothing."""
        self.assertEqual(4 * 4096, inspect("ef(quantize)")["state_bytes"])
        self.assertEqual(0, inspect("quantize")["state_bytes"])
        self.assertGreater(inspect("powersgd")["state_bytes"], 0)
        self.assertIsNone(inspect("ef(quantize)", "4096,128,1024")["state_bytes"])  # too large to try

    def test_closed_gate(self):
        """Below its limit a gate sends the raw message by one all-reduce: a ring of two sends it once."""
        for spec in ("gate(powersgd)", "gate(ef(quantize))"):
            facts = inspect(spec)
            self.assertEqual("none", facts["sent_as"])
            self.assertEqual([("all-reduce", 4 * 4096)], [(r["crosses_by"], r["payload_bytes"]) for r in facts["rounds"]])
            self.assertEqual(4 * 4096, facts["sent_bytes_per_rank"][0]["all_reduce"])
            self.assertEqual(0, facts["state_bytes"])

    def test_open_gate(self):
        facts = inspect("gate(ef(quantize),min_bytes=1000)")
        self.assertEqual("gather", facts["rounds"][0]["crosses_by"])
        self.assertEqual(4 * 4096, facts["state_bytes"])


class Refused(unittest.TestCase):
    def test_message_that_nobody_could_decode(self):
        with tempfile.TemporaryDirectory() as folder:
            tensor, frame = os.path.join(folder, "x.npy"), os.path.join(folder, "x.frame")
            header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4, 8), }".ljust(117) + "\n"
            with open(tensor, "wb") as stream:
                stream.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(256))
            refused = run("tersor", "codec", "encode", "powersgd", tensor, "-o", frame)
            self.assertEqual(2, refused.returncode)
            self.assertIn("powersgd crosses in 2 rounds of all-reduce", refused.stderr)
            self.assertFalse(os.path.exists(frame))
            closed = run("tersor", "codec", "encode", "gate(powersgd)", tensor, "-o", frame)
            self.assertEqual((0, ""), (closed.returncode, closed.stderr))

    def test_bench(self):
        for arguments, complaint in ((("--operation", "foo"), "--operation foo: neither encode, decode"),
                                     (("--threads", "1e9"), "--threads 1e9: not above 0 and at most 1e6")):
            refused = run("tersor-bench", *arguments)
            self.assertEqual(2, refused.returncode)
            self.assertIn(complaint, refused.stderr)


if __name__ == "__main__":
    unittest.main()

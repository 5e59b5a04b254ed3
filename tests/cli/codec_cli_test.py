# SPDX-License-Identifier: Apache-2.0
"""usage: codec_cli_test.py BUILD   what `tersor codec inspect` says, against numbers worked out by hand, and what the
codec tools refuse."""
import json
import os
import struct
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

    def test_two_steps(self):
        """4 bits and a scale of two bytes for each of 64 rows of 64 values: 34 bytes a row; a rank of p sends
        (p - 1) / p of them in each step. Groups of 32: 36 bytes a row. cast: two bytes a value."""
        for spec, row in (("twostep(quantize(bits=4,scope=token))", 34), ("quickreduce4", 36),
                          ("gate(twostep(cast),min_bytes=0)", 128)):
            for ranks, sent in zip((2, 4, 8), inspect(spec)["sent_bytes_per_rank"]):
                self.assertEqual((ranks, None, None, 2 * (ranks - 1) * 64 * row / ranks),
                                 (sent["ranks"], sent["all_reduce"], sent["gather"], sent["two_step"]), spec)
        self.assertIn(f"{'-':>24} {'-':>24} {64 * 34:>14}", run(
            "tersor", "codec", "inspect", "twostep(quantize(bits=4,scope=token))", "--shape", "4,16,64").stdout)

    def test_visits(self):
        """A sample goes raw at first (4 bytes a value), then as what its codec makes of the change."""
        for spec in ("aqsgd(quantize(bits=4,scope=token))", "gate(aqsgd(quantize(bits=4,scope=token)),min_bytes=0)"):
            facts = inspect(spec)
            later = facts["later_visits"]
            self.assertEqual([(4 * 4096, 0), (64 * 34, 64 * 2)], [
                (of["rounds"][0]["payload_bytes"], of["rounds"][0]["metadata_bytes"]) for of in (facts, later)])
            self.assertEqual([3 * 4 * 4096, 3 * 64 * 34], [of["sent_bytes_per_rank"][1]["gather"] for of in (facts, later)])
            text = run("tersor", "codec", "inspect", spec, "--shape", "4,16,64").stdout
            self.assertEqual(2, text.count(", first visit of each sample"))
            self.assertEqual(2, text.count(", later visits"))
        self.assertNotIn("later_visits", inspect("ef(quantize)"))

    def test_open_gate(self):
        facts = inspect("gate(ef(quantize),min_bytes=1000)")
        self.assertEqual("gather", facts["rounds"][0]["crosses_by"])
        self.assertEqual(4 * 4096, facts["state_bytes"])


class Files(unittest.TestCase):
    """Commands on tensor files of a folder of their own."""
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.tensor = self.write("x.npy", (2, 4, 8), [float(i % 7 - 3) for i in range(64)])
        self.empty = self.write("empty.npy", (0, 4, 8), [])

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, shape, values):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
        with open(self.path(name), "wb") as stream:
            stream.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
            stream.write(struct.pack(f"<{len(values)}f", *values))
        return self.path(name)

    def assert_refused(self, complaint, *command, status=2):
        refused = run(*command)
        self.assertEqual(status, refused.returncode, refused.stderr)
        self.assertIn(complaint, refused.stderr)
        self.assertEqual("", refused.stdout)


class Refused(Files):
    def test_message_that_nobody_could_decode(self):
        frame = self.path("x.frame")
        self.assert_refused("powersgd crosses in 2 rounds of all-reduce",
                            "tersor", "codec", "encode", "powersgd", self.tensor, "-o", frame)
        self.assertFalse(os.path.exists(frame))
        closed = run("tersor", "codec", "encode", "gate(powersgd)", self.tensor, "-o", frame)
        self.assertEqual((0, ""), (closed.returncode, closed.stderr))

    def test_outputs_before_the_work(self):
        """A wrong output is named before the input, which is not there, is read."""
        for command in (("sweep", "none", "missing.npy", "--figure"), ("roundtrip", "none", "missing.npy", "-o"),
                        ("encode", "none", "missing.npy", "-o"), ("decode", "missing", "-o")):
            name = "figure.svg" if command[0] == "sweep" else "y.npy"
            self.assert_refused(f"no/{name}: cannot be written: there is no folder {self.path('no')}; make it first",
                                "tersor", "codec", *command, self.path("no/" + name))
            folder = self.path(name)
            os.makedirs(folder, exist_ok=True)
            self.assert_refused("it is a folder; name a file in it", "tersor", "codec", *command, folder)
        self.assert_refused("x.png: .svg or .json is written, not '.png'; name it " + self.path("x.svg"),
                            "tersor", "codec", "sweep", "none", "missing.npy", "--figure", self.path("x.png"))
        self.assert_refused("y.safetensors: .npy is written, not '.safetensors'; name it " + self.path("y.npy"),
                            "tersor", "codec", "roundtrip", "none", "missing.npy", "-o", self.path("y.safetensors"))

    def test_own_input(self):
        """Neither a frame in the place of a tensor file, nor anything in the place of the input."""
        with open(self.tensor, "rb") as stream:
            before = stream.read()
        self.assert_refused(f"y.npy: a frame is written, no tensor file; name it {self.path('y.frame')}",
                            "tersor", "codec", "encode", "none", self.tensor, "-o", self.path("y.npy"))
        self.assert_refused("a frame is written", "tersor", "codec", "encode", "none", self.tensor, "-o", self.tensor)
        linked = self.path("linked.frame")
        os.link(self.tensor, linked)
        self.assert_refused("linked.frame is the input; name another file",
                            "tersor", "codec", "encode", "none", self.tensor, "-o", linked)
        self.assert_refused("x.npy is the input", "tersor", "codec", "roundtrip", "sign", self.tensor, "-o", self.tensor)
        self.assert_refused("x.npy is the input", "tersor", "codec", "decode", self.tensor, "-o", self.tensor)
        with open(self.tensor, "rb") as stream:
            self.assertEqual(before, stream.read())

    def test_figure_without_points(self):
        figure = self.path("f.svg")
        swept = run("tersor", "codec", "sweep", "none", self.tensor, "--figure", figure)
        self.assertEqual(2, swept.returncode)
        self.assertIn(f"--figure {figure}: not written, since no row has a finite error above 0", swept.stderr)
        self.assertFalse(os.path.exists(figure))

    def test_manifest_of_something_else(self):
        for text, why in (('{"a": 1}', "key 'format' not found"), ("[]", "it is no JSON object"), ("x", "parse error"),
                          ('{"format": 1}', "key 'cases' not found")):
            with open(self.path("manifest.json"), "w", encoding="utf-8") as stream:
                stream.write(text)
            self.assert_refused(f"manifest.json: no manifest of golden cases ({why}", "tersor", "codec", "check", self.folder)
        self.assertNotIn("json.exception", run("tersor", "codec", "check", self.folder).stderr)

    def test_numbers(self):
        for value in ("-1", "0", "99999999999999999999", "1e9"):
            self.assert_refused(f"--max-elements: '{value}' is no whole number from 1 to 72057594037927936",
                                "tersor", "codec", "decode", "x.frame", "--max-elements", value)
        for shape, complaint in (("-1,2,3", "'-1' is no whole number from 0 to 1099511627776"),
                                 ("1,99999999999999999999,1", "'99999999999999999999' is no whole number from 0"),
                                 ("16777217,1,1", "--shape 16777217,1,1: more than 16777216 samples"),
                                 ("1,1099511627776,1048576", "more than 2^56 elements; give smaller sizes")):
            self.assert_refused(complaint, "tersor", "codec", "inspect", "topk", "--shape=" + shape)
        self.assert_refused("one of 1099511627776; use shorter scopes or a smaller tensor",
                            "tersor", "codec", "inspect", "topk", "--shape", "1,1,1099511627776")

    def test_message(self):
        """What was typed is named, not what is left of it in 64 bits."""
        many = "1" + 23 * "0"
        for option, limits in (("--step", "0 to 4294967295"), ("--call", "0 to 65535"), ("--site", "0 to 65535"),
                               ("--rank", "0 to 65535"), ("--ranks", "1 to 65536"), ("--tokens", "1 to 2147483648"),
                               ("--ids", "-9223372036854775808 to 9223372036854775807; ids have 64 bits, number")):
            self.assert_refused(f"{option}: '{many}' is no whole number from {limits}",
                                "tersor", "codec", "roundtrip", "none", self.tensor, option, many)
        self.assert_refused("--ids: '9223372036854775808' is no whole", "tersor", "codec", "roundtrip", "none",
                            self.tensor, "--ids", "1,9223372036854775808")
        self.assert_refused("--rank 2: --ranks 2 has ranks 0 to 1", "tersor", "codec", "roundtrip", "none", self.tensor,
                            "--rank", "2", "--ranks", "2")
        kept = run("tersor", "codec", "roundtrip", "none", "--ids", "-9223372036854775808,9223372036854775807", self.tensor)
        self.assertEqual((0, ""), (kept.returncode, kept.stderr))

    def test_bench(self):
        for arguments, complaint in (
                (("--operation", "foo"), "--operation foo: neither encode, decode"),
                (("--threads", "1e9"), "--threads 1e9: not above 0 and at most 1e6"),
                (("--shape", "3037000500x3037000500"), "--shape 3037000500x3037000500: more than 2^40 elements"),
                (("\x1bfoo",), "unknown argument '\\x1bfoo'; --help lists"),
                (("--data", "no.npy"), "--data no.npy: there is no such file; give a .npy or .safetensors file"),
                (("--data", self.folder), "it is a folder; give a .npy or .safetensors file"),
                (("--data", __file__), "codec_cli_test.py: it is neither .npy nor .safetensors; give"),
                (("--data", self.empty), "it has no float32, float16 or bfloat16 tensor with elements; give")):
            refused = run("tersor-bench", *arguments)
            self.assertEqual(2, refused.returncode)
            self.assertIn(complaint, refused.stderr)

    def test_gates(self):
        for arguments, complaint in ((["foo"], "unknown argument 'foo'\nusage: "), (["--target", "foo"], "foo: not avx2"),
                                     (["--target"], "--target needs a value"), (["--list", "\x1bx"], "'\\x1bx' after"),
                                     (["--target", "avx2", "foo"], "unknown argument 'foo'")):
            self.assert_refused(complaint, "tersor-bench-gates", *arguments)


class Sweep(Files):
    def rows(self, *arguments, status=0):
        swept = run("tersor", "codec", "sweep", *arguments, "--json")
        self.assertEqual(status, swept.returncode, swept.stderr)
        return json.loads(swept.stdout, parse_constant=self.fail)

    def test_rounds(self):
        """All rounds of powersgd: rank * (tokens + hidden) float32 of each of 2 samples; 4 is the rank of 4 x 8."""
        rows = self.rows("powersgd(rank={1,4})", self.tensor)
        self.assertEqual([2 * 1 * 12 * 4, 2 * 4 * 12 * 4], [row["payload_bytes"] for row in rows])
        self.assertGreater(rows[0]["relative_l2_error"], 0.1)
        self.assertLess(rows[1]["relative_l2_error"], 1e-5)

    def test_nothing_measured(self):
        rows = self.rows("srht(dim=100)", self.tensor, status=1)
        self.assertIn("srht: dim 100 is above", rows[0]["reason"])
        self.assertEqual(2, len(self.rows("srht(dim=100)", self.tensor, "--also", "none")))

    def test_also(self):
        """One spec each, wherever the files stand."""
        for arguments in (("none", "--also", "sign", "--also", "cast", self.tensor), ("none", self.tensor, "--also", "sign",
                          "--also", "cast"), ("--also", "sign", "--also", "cast", "none", self.tensor)):
            self.assertEqual(["none", "sign", "cast"], [row["spec"] for row in self.rows(*arguments)])

    def test_empty(self):
        row = self.rows("quantize", self.empty)[0]
        self.assertEqual(0, row["payload_bytes"])
        for name in ("ratio", "bits_per_value", "cosine", "encode_gb_per_s", "decode_gb_per_s"):
            self.assertIsNone(row[name], name)
        described = run("tersor", "codec", "inspect", "quantize", "--shape", "0,4,8").stdout
        self.assertIn("codes; ratio -\n", described)
        self.assertIn("(x     -)", described)
        self.assertNotIn("nan", described)

    def test_control_bytes(self):
        name = self.path("\x1b[31m.npy")
        os.rename(self.tensor, name)
        swept = run("tersor", "codec", "sweep", "none", name)
        self.assertEqual(0, swept.returncode, swept.stderr)
        self.assertIn("\\x1b[31m.npy", swept.stdout)
        self.assertNotIn("\x1b", swept.stdout)


if __name__ == "__main__":
    unittest.main()

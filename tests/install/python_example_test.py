# SPDX-License-Identifier: Apache-2.0
"""usage: python_example_test.py BUILD   examples/python with NumPy, which scripts/setup installs; skipped without."""
import json
import os
import sys
import unittest

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tersor")
PYTHON = os.path.join(CACHE, "venv", "bin", "python3")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")

try:
    import numpy as np
except ImportError:
    if os.path.exists(PYTHON) and os.path.realpath(sys.prefix) != os.path.realpath(os.path.dirname(os.path.dirname(PYTHON))):
        os.execv(PYTHON, [PYTHON, "-B", *sys.argv])
    print("SKIPPED: no NumPy")
    sys.exit(0)

sys.path.insert(0, os.path.join(ROOT, "examples", "python"))
import tersor_codecs  # noqa: E402

tersor_codecs.load(os.path.join(BUILD, "lib", "libtersor_codecs.so"))


class PythonExample(unittest.TestCase):
    def setUp(self):
        self.x = np.random.default_rng(3).standard_normal((2, 5, 16)).astype(np.float32)

    def test_minmax_is_its_formula(self):
        codec = tersor_codecs.Codec("minmax(bits=8)")
        payload = codec.encode(self.x)
        low, high = self.x.min(), self.x.max()
        q = np.rint((self.x - low) / (high - low) * np.float32(255))
        self.assertEqual(np.float32(low).tobytes() + np.float32(high).tobytes() + q.astype(np.uint8).tobytes(), payload)
        expected = low + (q / np.float32(255)) * (high - low)
        np.testing.assert_array_equal(expected, codec.decode(payload, self.x.shape, np.float32))

    def test_topk_keeps_the_largest(self):
        codec = tersor_codecs.Codec("topk(k=10)")
        half = self.x.astype(np.float16)
        y = codec.decode(codec.encode(half), half.shape, np.float16)
        limit = np.sort(np.abs(half).ravel())[-10]
        np.testing.assert_array_equal(np.where(np.abs(half) >= limit, half, 0), y)

    def test_state_is_kept(self):
        codec = tersor_codecs.Codec("ef(topk(k=1))")
        x = np.array([1.0, 0.75], np.float32)
        shown = [codec.decode(codec.encode(x), x.shape, x.dtype).tolist() for _ in range(3)]
        self.assertEqual([[1.0, 0.0], [0.0, 1.5], [2.0, 0.0]], shown)

    def test_errors(self):
        with self.assertRaisesRegex(tersor_codecs.TersorError, "did you mean 'topk'"):
            tersor_codecs.Codec("topc")
        with self.assertRaises(tersor_codecs.TersorError) as caught:
            tersor_codecs.Codec("none").decode(b"123", (1, 1, 4), np.float32)
        self.assertEqual(3, caught.exception.status)

    def test_list_and_plugin(self):
        tersor_codecs.load_plugin(os.path.join(BUILD, "tests", "hold.so"))
        listed = {codec["name"]: codec for codec in json.loads(tersor_codecs.list_json())["codecs"]}
        self.assertIn("quantize", listed)
        self.assertEqual("hold.so", listed["hold"]["prototype"])
        codec = tersor_codecs.Codec("hold(step=16)")
        y = codec.decode(codec.encode(self.x), self.x.shape, np.float32)
        np.testing.assert_array_equal(np.broadcast_to(self.x[:, :, :1], self.x.shape), y)


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The scripts' median interval against the cases that test the C++ one."""
import json
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "scripts", "lib"))
from medians import median_interval  # noqa: E402


class Medians(unittest.TestCase):
    def test_cases(self):
        with open(os.path.join(ROOT, "common", "median_intervals.json"), encoding="utf-8") as stream:
            cases = json.load(stream)
        self.assertEqual(5, len(cases))
        for case in cases:
            with self.subTest(case=case):
                for found, name in zip(median_interval(case["values"]), ("median", "low", "high")):
                    self.assertAlmostEqual(1, found / case[name], delta=1e-14)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""What harness, worker and database agree on is said in protocol/ alone: format, exit codes, statuses, causes."""
import re
import unittest

import rooms
from includes_test import read

STATUS = read("protocol/status.cpp")
NAMES = set(re.findall(r'"([a-z_]+)"', STATUS[:STATUS.index("template")])) - {"none", "ok", "running", "system", "unknown"}
RULES = {
    "a format": re.compile(r'\\?"format\\?"\s*[,:]\s*\d'),
    "an exit code": re.compile(r"\b(?:_?[eE]xit\(|exit_code\s*[=!]=|exit_status\()\s*[1-9]\d*|\b130\b"),
    "a status or a cause as text": re.compile('"(?:' + "|".join(sorted(NAMES)) + ')"'),
    "a cause by a message": re.compile("DefaultCPUAllocator"),
}
EXCEPT = {("workloads/worker/failure.cpp", "a cause by a message"),  # says why
          ("results/ingest/measured_file.cpp", "a status or a cause as text")}  # a key of Google Benchmark's, "skipped"


def problems(path, text):
    if not path.startswith(("harness/", "results/", "workloads/")) or path.startswith("harness/cli/commands/"):
        return []
    if path.endswith("_test.cpp") or "/testing/" in path:
        return []
    text = re.sub(r"//.*", "", text)
    text = re.sub(r'"Exit status: .*', "", text)
    return [f"{path}: {what}: {match[0]}" for what, rule in RULES.items() for match in rule.finditer(text)
            if (path, what) not in EXCEPT]


class Protocol(unittest.TestCase):
    def test_tree(self):
        self.assertGreater(len(NAMES), 15)
        files = rooms.tracked_files(".cpp", ".hpp")
        self.assertEqual([], [problem for path in files for problem in problems(path, read(path))])

    def test_planted(self):
        for line in ('record["format"] = 0; x = {{"format", 1}};', "exit(3);", "_exit(130);", "end.exit_code == 4", 'if (status == "oom")',
                     'cause = "lost_peer";', 'text.find("DefaultCPUAllocator")'):
            self.assertTrue(problems("harness/run/x.cpp", line), line)
        for line in ("_exit(0);", "return 3;", "// exits with 130", 'reason = "interrupted by SIGINT"'):
            self.assertEqual([], problems("harness/run/x.cpp", line))
        self.assertEqual([], problems("protocol/exit_code.hpp", "kInterrupted = 130;"))


if __name__ == "__main__":
    unittest.main()

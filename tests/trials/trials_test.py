# SPDX-License-Identifier: Apache-2.0
"""usage: trials_test.py BUILD   runs the trials that lie beside the project (TERSOR_TRIALS, else ../shared/trials/trials.py).

They are small inputs of the kind that people report against programs like this one. SKIPPED where they are missing."""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRIALS = os.environ.get("TERSOR_TRIALS", os.path.join(ROOT, "..", "shared", "trials", "trials.py"))


def main():
    if not os.path.exists(TRIALS):
        print(f"SKIPPED: no {TRIALS}")
        return 0
    command = [sys.executable, "-B", TRIALS, "--bin", os.path.join(sys.argv[1], "bin")]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

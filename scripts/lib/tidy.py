# SPDX-License-Identifier: Apache-2.0
"""usage: tidy.py BUILD [SECONDS]   clang-tidy over the torch-free rooms; a finding is an error.

A file that was clean is not checked again until it, a project header that it includes, or .clang-tidy changes: what
was clean is kept in the user's cache, so that a run checks what changed since the last. After SECONDS no further file
is begun; how many are left is printed. Without SECONDS every file is checked, whatever the cache says."""
import concurrent.futures
import hashlib
import math
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ROOMS = ("common", "protocol", "compressors", "datasets", "results", "reports", "harness")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tersor", "tidy")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()


def closure(path, seen):
    """`path` and the project headers that it includes, directly or not."""
    if path not in seen and os.path.exists(os.path.join(ROOT, path)):
        seen.add(path)
        for name in INCLUDE.findall(read(path)):
            closure(name, seen)
    return seen


def key(path):
    digest = hashlib.sha256(read(".clang-tidy").encode())
    for name in sorted(closure(path, set())):
        digest.update(f"{name}\0{read(name)}\0".encode())
    return digest.hexdigest()


def check(build, path):
    """The findings of one file, empty where it is clean."""
    command = ["clang-tidy-19", "-p", build, "--quiet", os.path.join(ROOT, path)]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    if result.returncode == 0:
        open(os.path.join(CACHE, key(path)), "w").close()
    return result.stdout if result.returncode else ""


def main(build, seconds=None):
    end = time.monotonic() + float(seconds) if seconds else math.inf
    os.makedirs(CACHE, exist_ok=True)
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "--", *ROOMS],
                             capture_output=True, text=True, check=True)
    files = [path for path in listing.stdout.splitlines() if path.endswith(".cpp") and "/bench/" not in path
             and not path.endswith("_test.cpp")]
    todo = [path for path in files if not seconds or not os.path.exists(os.path.join(CACHE, key(path)))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda path: check(build, path) if time.monotonic() < end else None, todo))
    findings = [text for text in results if text]
    print("\n".join(findings), end="")
    print(f"clang-tidy: {len(files)} files, {len(todo) - results.count(None)} checked, {len(findings)} with findings, "
          f"{results.count(None)} left for the next run")
    return 1 if findings else 0


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv) or len(sys.argv) not in (2, 3):
        print(__doc__)
        sys.exit(0 if {"-h", "--help"} & set(sys.argv) else 2)
    sys.exit(main(*sys.argv[1:]))

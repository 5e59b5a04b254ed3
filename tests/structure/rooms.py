# SPDX-License-Identifier: Apache-2.0
"""The arrows of docs/architecture.md: which room may use which. The only place that says so to the tests."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

HARNESS_PARTS = {"harness/matrix", "harness/hardware", "harness/launch", "harness/run"}
# A room may always use itself. A key with a slash is a part of a room with arrows of its own.
ARROWS = {
    "common": set(),
    "compressors": {"common"},
    "compressors/bench": {"common", "compressors"},
    "datasets": {"common"},
    "results": {"common"},
    "reports": {"common", "results"},
    "workloads": {"common", "compressors", "datasets"},
    "harness/hardware": {"common"} | HARNESS_PARTS,
    "harness/launch": {"common"} | HARNESS_PARTS,
    "harness/matrix": {"common", "compressors", "datasets"} | HARNESS_PARTS,
    "harness/run": {"common", "results"} | HARNESS_PARTS,
    "harness/testing": {"common", "results"} | HARNESS_PARTS,  # for tests only
    "harness/cli": {"common", "compressors", "datasets", "results", "reports"} | HARNESS_PARTS,
}
ROOMS = sorted({name.split("/")[0] for name in ARROWS})
TORCH_ROOMS = {"workloads"}
# The one program outside those rooms that links libtorch, and its sources.
TORCH_PROGRAM = "tersor-bench-rivals"
TORCH_SOURCES = ("compressors/bench/rivals",)


def part_of(path):
    """compressors/topk/topk.cpp -> compressors; harness/run/x.cpp -> harness/run; None outside the rooms."""
    pieces = path.split("/")
    two = "/".join(pieces[:2])
    return two if two in ARROWS else pieces[0] if pieces[0] in ROOMS else None


def may_use(user, used, is_test=False):
    """`user` and `used` are parts. A part of a room with one set of arrows (compressors/bench) may use the room."""
    allowed = ARROWS.get(user, set()) | ({"harness/testing"} if is_test and user.startswith("harness/") else set())
    return used == user or used.split("/")[0] == user or used in allowed or used.split("/")[0] in allowed


def tracked_files(*suffixes):
    """The project's files: what git tracks or would track; all files below ROOT where there is no git."""
    command = ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        names = listing.stdout.splitlines()
    else:
        names = [os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, files in os.walk(ROOT) for name in files]
    return sorted(name for name in names if name.endswith(suffixes) and os.path.exists(os.path.join(ROOT, name)))

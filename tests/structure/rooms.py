# SPDX-License-Identifier: Apache-2.0
"""The arrows of docs/architecture.md: which room may use which. The only place that says so to the tests."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

HARNESS_PARTS = {f"harness/{part}" for part in ("input", "hardware", "matrix", "feasibility", "launch", "run")}
# A room may always use itself. A key with a slash is a part of a room with arrows of its own.
ARROWS = {
    "common": set(),
    "protocol": {"common"},
    "compressors": {"common"},
    "compressors/bench": {"common", "compressors"},
    "datasets": {"common"},
    "results": {"common", "protocol"},
    "reports": {"common", "results"},
    "workloads": {"common", "protocol", "compressors", "datasets"},
    "harness/input": {"common"},
    "harness/hardware": {"common", "protocol"} | HARNESS_PARTS,
    "harness/launch": {"common", "protocol"} | HARNESS_PARTS,
    "harness/matrix": {"common", "protocol", "compressors", "datasets"} | HARNESS_PARTS,
    "harness/feasibility": {"common", "protocol", "compressors", "datasets"} | HARNESS_PARTS,
    "harness/run": {"common", "protocol", "results"} | HARNESS_PARTS,
    "harness/testing": {"common", "protocol", "results"} | HARNESS_PARTS,  # for tests only
    "harness/cli": {"common", "protocol", "compressors", "datasets", "results", "reports"} | HARNESS_PARTS,
}
ROOMS = sorted({name.split("/")[0] for name in ARROWS})
# The arrows inside a room: which folder may use which; "." is the room's own files, "*" any folder that has no line of
# its own (compressors/codecs/*, reports/tables/*). A room without an entry may draw its arrows as it likes, but no two
# folders may use each other, in a circle of any length. Tests and `testing` folders are free.
INNER = {
    "compressors": {
        "api": set(), "wire": {"api"}, "host": {"api", "wire"}, "device": {"api", "wire"},
        "base": {"api", "wire", "host", "device"}, "spec": {"api"},
        "codecs": {"api", "wire", "host", "device", "base", "spec"},
        "tools": {"api", "spec"}, "bench": {"api", "spec"}, "c_api": {"api", "base", "spec", "tools"},
        "verify": {"api", "wire", "host", "device", "base", "spec", "codecs", "tools", "bench"},
    },
    "datasets": {".": {"text", "tokenizers"}, "metrics": set(), "text": set(), "tokenizers": {"text"}, "*": {"."}},
    "harness": {"input": set(), "hardware": {"input"}, "matrix": {"input", "hardware"}, "feasibility": {"hardware", "matrix"},
                "launch": set(), "run": {"input", "hardware", "matrix", "feasibility", "launch"},
                "cli": {"input", "hardware", "matrix", "feasibility", "launch", "run"}},
    "reports": {"engine": set(), "figures": {"engine"}, "tables": {"engine"}},
    "results": {".": set(), "schema": {".", "stats"}, "db": {".", "schema"}, "ingest": {".", "db", "stats"}, "query": {".", "db"},
                "stats": set()},
    "workloads": {"comm": set(), "messages": {"comm"}, "layers": {"comm", "messages"},
                  "models": {"comm", "messages", "layers"},
                  "tasks": {"comm", "messages", "layers", "models"}, "optim": set(),
                  "pipeline": {"comm", "messages", "layers"},
                  "stages": {"comm", "messages", "layers", "models", "tasks", "optim", "pipeline"},
                  "worker": {"comm", "messages", "layers", "models", "tasks", "optim", "stages"}},
}
TORCH_ROOMS = {"workloads"}
# The one program outside those rooms that links libtorch, and its sources.
TORCH_PROGRAM = "tersor-bench-rivals"
TORCH_SOURCES = ("compressors/bench/rivals",)


def part_of(path):
    """compressors/codecs/topk/topk.cpp -> compressors; harness/run/x.cpp -> harness/run; None outside the rooms."""
    pieces = path.split("/")
    two = "/".join(pieces[:2])
    return two if two in ARROWS else pieces[0] if pieces[0] in ROOMS else None


def may_use(user, used, is_test=False):
    """`user` and `used` are parts. A part of a room with one set of arrows (compressors/bench) may use the room."""
    allowed = ARROWS.get(user, set()) | ({"harness/testing"} if is_test and user.startswith("harness/") else set())
    return used == user or used.split("/")[0] == user or used in allowed or used.split("/")[0] in allowed


def folder_of(path):
    """compressors/codecs/topk/topk.cpp -> ("compressors", "codecs"); common/x.hpp -> ("common", ".")."""
    pieces = path.split("/")
    return pieces[0], pieces[1] if len(pieces) > 2 else "."


def inner_arrow(user, used):
    """(room, folder, folder) where a file of one folder includes one of another folder of its room, else None."""
    (room, folder), (other_room, other) = folder_of(user), folder_of(used)
    is_free = user.endswith("_test.cpp") or "_for_test" in user or folder == "testing"
    return (room, folder, other) if room == other_room and room in ROOMS and folder != other and not is_free else None


def may_use_inside(room, folder, other):
    arrows = INNER.get(room)
    return arrows is None or other in arrows.get(folder, arrows.get("*", set()))


def cycle(arrows):
    """The folders of one circle of {folder: {folders used}}, or None."""
    done = set()

    def walk(folder, way):
        if folder in way:
            return way[way.index(folder):] + [folder]
        if folder in done:
            return None
        for other in sorted(arrows.get(folder, ())):
            found = walk(other, way + [folder])
            if found:
                return found
        done.add(folder)
        return None

    for folder in sorted(arrows):
        found = walk(folder, [])
        if found:
            return found
    return None


def tracked_files(*suffixes):
    """The project's files: what git tracks or would track; all files below ROOT where there is no git."""
    command = ["git", "-C", ROOT, "ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        names = listing.stdout.splitlines()
    else:
        names = [os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, files in os.walk(ROOT) for name in files]
    return sorted(name for name in names if name.endswith(suffixes) and os.path.exists(os.path.join(ROOT, name)))

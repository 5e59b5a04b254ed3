# SPDX-License-Identifier: Apache-2.0
"""usage: headers_test.py BUILD   every header compiles alone.

A header that some source includes first is compiled alone by that source already; the others are compiled here, twice
in one file (so that #pragma once is tested too), with the flags of a source of the same room."""
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import unittest

import rooms
from includes_test import TORCH, includes, read

BUILD = sys.argv.pop() if len(sys.argv) > 1 else "build"
OUT = os.path.join(BUILD, "header-tests")


def flags_by_room():
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as stream:
        commands = json.load(stream)
    flags = {}
    for entry in commands:
        path = os.path.relpath(entry["file"], rooms.ROOT)
        if not path.endswith(".cpp") or path.startswith(".."):
            continue
        arguments = shlex.split(entry["command"])
        wanted = []
        for place, argument in enumerate(arguments):
            if re.match(r"-(I|D|std=|f(?!diag))", argument):
                wanted.append(argument)
            elif argument == "-isystem":
                wanted += arguments[place:place + 2]
        room = path.split("/")[0]
        if len(wanted) > len(flags.get(room, [])):
            flags[room] = wanted
    return flags


def untested_headers():
    first = set()
    for path in rooms.tracked_files(".cpp"):
        named = includes(read(path))
        first.update(named[:1])
    return [path for path in rooms.tracked_files(".hpp") if rooms.part_of(path) and path not in first]


def compile_alone(header, flags):
    source = os.path.join(OUT, header.replace("/", "_") + ".cpp")
    with open(source, "w", encoding="utf-8") as stream:
        stream.write(f'#include "{header}"\n#include "{header}"\n')
    ccache = [shutil.which("ccache")] if shutil.which("ccache") else []
    command = ccache + ["c++", "-std=c++20", *flags, "-I", rooms.ROOT, "-c", source, "-o", source + ".o"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else f"{header} does not compile alone:\n{result.stderr[:2000]}"


class Headers(unittest.TestCase):
    def test_alone(self):
        os.makedirs(OUT, exist_ok=True)
        flags = flags_by_room()
        headers = [path for path in untested_headers() if path.split("/")[0] in flags]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda path: compile_alone(path, flags[path.split("/")[0]]), headers))
        self.assertEqual([], [result for result in results if result])

    def test_light_torch_in_headers(self):
        """A header costs every file that includes it: at most at::Tensor's (2 s), and in the torch rooms only."""
        torch = [path for path in rooms.tracked_files(".hpp", ".cuh") for name in includes(read(path))
                 if TORCH.match(name) and not name.startswith(("ATen/core/", "c10/"))]
        self.assertEqual([], torch)

    def test_planted(self):
        os.makedirs(OUT, exist_ok=True)
        bad = os.path.join(OUT, "planted.hpp")
        with open(bad, "w", encoding="utf-8") as stream:
            stream.write("#pragma once\ninline std::string f() { return {}; }\n")
        self.assertIn("does not compile alone", compile_alone("planted.hpp", ["-I", OUT]))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""usage: links_test.py BUILD   link graph: arrows between targets, and what the built programs load."""
import os
import re
import subprocess
import sys
import unittest

import rooms

BUILD = sys.argv.pop() if len(sys.argv) > 1 else "build"
TARGET = re.compile(r"\b(?:tersor|test)[_a-z0-9-]*\b")
# Room-less helpers that any target may link.
HELPERS = {"tersor_flags", "tersor_catch_main"}


def parse(graph):
    """{target: (room, [targets linked])}; a program or library of the tests has room `tests`."""
    rows = [line.split(" ") for line in graph.splitlines() if line]
    return {row[1]: (row[0], [name for item in row[3:] for name in TARGET.findall(item)]) for row in rows}


def room_arrows(room):
    parts = [part for part in rooms.ARROWS if part.split("/")[0] == room]
    return {used.split("/")[0] for part in parts for used in rooms.ARROWS[part]} | {room}


def problems(graph):
    targets = parse(graph)
    found = []
    for name, (room, linked) in targets.items():
        for other in linked:
            if other in HELPERS or room.split("/")[0] in (".", "tests"):
                continue
            if other == "tersor_torch":
                if room.split("/")[0] not in rooms.TORCH_ROOMS and name != rooms.TORCH_PROGRAM:
                    found.append(f"{name} of {room} may not link libtorch")
            elif other in targets and targets[other][0].split("/")[0] not in room_arrows(room.split("/")[0]):
                found.append(f"{name} of {room} may not link {other} of {targets[other][0]}")
    return found


def loads(program):
    listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listing.splitlines() if line.strip()]


class LinkGraph(unittest.TestCase):
    def test_targets(self):
        with open(os.path.join(BUILD, "link-graph.txt"), encoding="utf-8") as stream:
            graph = stream.read()
        self.assertGreater(len(parse(graph)), 5)
        self.assertEqual([], problems(graph))

    def test_programs_load_no_torch(self):
        for name in ("tersor", "tersor-bench"):
            program = os.path.join(BUILD, "bin", name)
            with self.subTest(program=name):
                self.assertTrue(os.path.exists(program), program)
                heavy = [lib for lib in loads(program) if re.match(r"lib(torch|c10|cublas|cusolver|cuda\b|cudnn|nccl)", lib)]
                self.assertEqual([], heavy)

    def test_planted(self):
        graph = ("common tersor_common STATIC_LIBRARY tersor_flags\n"
                 "results tersor_results STATIC_LIBRARY tersor_common\n"
                 "compressors tersor_codec_x OBJECT_LIBRARY tersor_common $<LINK_ONLY:tersor_results>\n"
                 "harness tersor EXECUTABLE tersor_results tersor_torch\n"
                 "workloads tersor-worker EXECUTABLE tersor_torch tersor_common\n")
        self.assertEqual(["tersor_codec_x of compressors may not link tersor_results of results",
                          "tersor of harness may not link libtorch"], problems(graph))


if __name__ == "__main__":
    unittest.main()

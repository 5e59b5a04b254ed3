# SPDX-License-Identifier: Apache-2.0
"""Include graph: arrows, where torch may stand, what no file may include, SPDX lines."""
import os
import re
import unittest

import rooms

SOURCES = (".cpp", ".hpp", ".cu", ".cuh")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
TORCH = re.compile(r"(torch|ATen|c10|c10d|caffe2)/")
HEAVY_TORCH = re.compile(r"torch/|c10d/|ATen/ATen\.h")  # 7 to 22 s a file, see STYLE in docs/architecture.md
HEAVY_LIMIT = 8


def includes(text):
    return [match[2] for match in INCLUDE.finditer(text)]


def problems(files):
    """files: {path: text}. Returns one line per broken rule."""
    found = []
    heavy = []
    inside = {}
    for path, text in files.items():
        user = rooms.part_of(path)
        named = includes(text)
        if "SPDX-License-Identifier: Apache-2.0" not in text.split("\n", 1)[0]:
            found.append(f"{path}: line 1 has no SPDX identifier")
        if path.endswith((".hpp", ".cuh")) and "#pragma once" not in text:
            found.append(f"{path}: no #pragma once")
        for name in named:
            if name.startswith(("fmt/", "spdlog/")):
                found.append(f"{path}: includes {name}; libtorch brings its own fmt, and they clash")
            used = rooms.part_of(name)
            if user and used and not rooms.may_use(user, used, path.endswith("_test.cpp")):
                found.append(f"{path}: {user} may not use {used} ({name})")
            arrow = rooms.inner_arrow(path, name)
            if arrow:
                inside.setdefault(arrow[0], {}).setdefault(arrow[1], set()).add(arrow[2])
                if not rooms.may_use_inside(*arrow):
                    found.append(f"{path}: inside {arrow[0]}, {arrow[1]} may not use {arrow[2]} ({name})")
            if user and name.startswith("tests/") and not path.endswith("_test.cpp"):
                found.append(f"{path}: only tests may use tests/ ({name})")
        torch = [name for name in named if TORCH.match(name)]
        if torch and not path.startswith(rooms.TORCH_SOURCES + ("tests/",)) and user not in rooms.TORCH_ROOMS:
            found.append(f"{path}: only {', '.join(rooms.TORCH_ROOMS)} may include torch ({torch[0]})")
        if torch and path.endswith((".cu", ".cuh")):
            found.append(f"{path}: nvcc with a torch header takes two minutes ({torch[0]})")
        if any(HEAVY_TORCH.match(name) for name in torch) and not path.endswith("_test.cpp"):
            heavy.append(path)
    for room, arrows in inside.items():
        circle = rooms.cycle(arrows)
        if circle:
            found.append(f"{room}: folders use each other: {' -> '.join(circle)}")
    if len(heavy) > HEAVY_LIMIT:
        found.append(f"{len(heavy)} files include all of torch, at most {HEAVY_LIMIT} may: {', '.join(heavy)}")
    return found


def read(path):
    with open(os.path.join(rooms.ROOT, path), encoding="utf-8") as stream:
        return stream.read()


class IncludeGraph(unittest.TestCase):
    def test_tree(self):
        files = {path: read(path) for path in rooms.tracked_files(*SOURCES)}
        self.assertGreater(len(files), 20)
        self.assertEqual([], problems(files))

    def check(self, path, line, expected):
        found = problems({path: f"// SPDX-License-Identifier: Apache-2.0\n#pragma once\n{line}\n"})
        self.assertEqual(bool(expected), bool(found), found)
        for one in found:
            self.assertIn(expected, one)

    def test_planted(self):
        self.check("compressors/codecs/topk/topk.cpp", '#include "results/db/store.hpp"', "compressors may not use results")
        self.check("common/error.cpp", '#include "harness/cli/command.hpp"', "common may not use harness/cli")
        self.check("harness/matrix/x.cpp", '#include "results/db/store.hpp"', "harness/matrix may not use results")
        self.check("harness/run/x.cpp", '#include "workloads/worker/x.hpp"', "harness/run may not use workloads")
        self.check("harness/run/x.cpp", '#include "harness/cli/command.hpp"', "run may not use ")
        self.check("harness/run/x.cpp", '#include "harness/testing/program.hpp"', "run may not use ")
        self.check("reports/x.cpp", '#include "compressors/api/codec.hpp"', "reports may not use compressors")
        self.check("datasets/x.cpp", "#include <ATen/core/Tensor.h>", "may include torch")
        self.check("workloads/comm/x.cu", "#include <torch/torch.h>", "nvcc with a torch header")
        self.check("results/db/x.cpp", "#include <fmt/core.h>", "libtorch brings its own fmt")

    def test_planted_inside(self):
        self.check("reports/engine/x.cpp", '#include "reports/tables/cost/cost.hpp"', "inside reports, engine may not use")
        self.check("harness/hardware/x.cpp", '#include "harness/matrix/axis.hpp"', "inside harness, hardware may not use")
        self.check("harness/launch/x.cpp", '#include "harness/run/plan.hpp"', "inside harness, launch may not use")
        self.check("reports/tables/cost/cost.cpp", '#include "reports/engine/context.hpp"', None)
        self.check("reports/engine/x_test.cpp", '#include "reports/tables/cost/cost.hpp"', None)
        self.check("compressors/host/x.cpp", '#include "compressors/device/device_plan.hpp"', "host may not use device")
        self.check("compressors/codecs/x/x.cu", '#include "compressors/verify/on_device.hpp"', "codecs may not use verify")
        line = "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n"
        self.assertEqual(["common: folders use each other: a -> b -> c -> a"],
                         problems({"common/a/x.hpp": line + '#include "common/b/x.hpp"\n',
                                   "common/b/x.hpp": line + '#include "common/c/x.hpp"\n',
                                   "common/c/x.hpp": line + '#include "common/a/x.hpp"\n'}))

    def test_allowed(self):
        self.check("compressors/codecs/topk/topk.cpp", '#include "compressors/api/codec.hpp"', None)
        self.check("compressors/bench/main.cpp", '#include "compressors/spec/registry.hpp"', None)
        self.check("harness/run/x.cpp", '#include "results/db/store.hpp"', None)
        self.check("harness/run/x_test.cpp", '#include "harness/testing/program.hpp"', None)
        self.check("harness/cli/x.cpp", '#include "harness/run/run.hpp"', None)
        self.check("workloads/comm/x.cpp", "#include <torch/torch.h>", None)
        self.check("workloads/comm/x.cpp", '#include "datasets/dataset.hpp"', None)


if __name__ == "__main__":
    unittest.main()

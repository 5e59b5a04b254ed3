# SPDX-License-Identifier: Apache-2.0
"""usage: install_test.py BUILD   the codecs as another project gets them: installed, found, built against, run."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(sys.argv.pop() if len(sys.argv) > 1 else "build")
WORK = os.path.join(BUILD, "install-test")
PREFIX = os.path.join(WORK, "prefix")
TERSOR = os.path.join(BUILD, "bin", "tersor")


def run(*command, expect=0, **environment):
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                            env={**os.environ, **environment})
    if (result.returncode == 0) != (expect == 0):
        raise AssertionError(f"{' '.join(command)} gave {result.returncode}:\n{result.stdout[-4000:]}")
    return result.stdout


def build_example(name):
    """A copy outside the tree, so that nothing of it can be found by accident."""
    source, build = os.path.join(WORK, name), os.path.join(WORK, name, "build")
    shutil.copytree(os.path.join(ROOT, "examples", name), source)
    run("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={PREFIX}", "-DCMAKE_BUILD_TYPE=Release")
    run("cmake", "--build", build, "-j", "2")
    return build


def registered(**environment):
    return json.loads(run(TERSOR, "list", "codecs", "--json", **environment))["codecs"]


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        shutil.rmtree(WORK, ignore_errors=True)
        run("cmake", "--install", BUILD, "--prefix", PREFIX, "--component", "codecs")

    def test_example_uses_every_codec(self):
        program = os.path.join(build_example("codecs"), "codecs_example")
        out = run(program, "none", "quantize(bits=8)", "ef(topk(ratio=0.1))")
        self.assertIn(f"{len(registered())} codecs\n", out)
        self.assertIn("none: 8192 bytes a rank, relative error 0.000000\n", out)
        self.assertIn("quantize: 2176 bytes a rank", out)  # 2,048 codes and 64 float16 scales
        self.assertIn("did you mean", run(program, "quantise", expect=1))

    def test_headers_stand_alone(self):
        include = os.path.join(PREFIX, "include")
        headers = [os.path.join(folder, name) for folder, _, names in os.walk(include) for name in names]
        self.assertEqual(17, len(headers))
        for header in headers:
            c = header.endswith(".h")
            flags = ["cc", "-std=c99", "-pedantic", "-x", "c"] if c else ["c++", "-std=c++20", "-x", "c++"]
            with self.subTest(header=header):
                run(*flags, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", os.path.join(include, "tersor"),
                    "-include", header, "-include", header, os.devnull)
                with open(header, encoding="utf-8") as stream:
                    for name in re.findall(r'#include "([^"]+)"', stream.read()):
                        self.assertTrue(any(h.endswith("/" + name) for h in headers), name)

    def test_no_path_of_the_build(self):
        for folder, _, names in os.walk(os.path.join(PREFIX, "lib", "cmake")):
            for name in names:
                with open(os.path.join(folder, name), encoding="utf-8") as stream:
                    self.assertNotIn(ROOT, stream.read(), name)

    def test_wrong_version_and_component_are_refused(self):
        source = os.path.join(WORK, "refused")
        os.makedirs(source)
        for request, reason in (("9.9", "9.9"), ("0.1 COMPONENTS nothing", "nothing")):
            with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as out:
                out.write(f"cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES CXX)\nfind_package(tersor {request} REQUIRED)\n")
            text = run("cmake", "-S", source, "-B", os.path.join(source, "build"), f"-DCMAKE_PREFIX_PATH={PREFIX}", expect=1)
            self.assertIn(reason, text)

    def test_plugin(self):
        plugin = os.path.join(build_example("plugin"), "hold.so")
        entry = [codec for codec in registered(TERSOR_PLUGINS=plugin) if codec["name"] == "hold"]
        self.assertEqual("hold.so", entry[0]["prototype"])
        self.assertEqual("hold.so", entry[0]["properties"]["prototype"])
        self.assertFalse([codec for codec in registered() if codec["name"] == "hold" or "prototype" in codec])
        self.assertIn("prototype: from hold.so", run(TERSOR, "list", "codecs", TERSOR_PLUGINS=plugin))
        inspected = json.loads(run(TERSOR, "codec", "inspect", "hold(step=4)", "--shape", "2,3,10", "--json",
                                   TERSOR_PLUGINS=plugin))
        self.assertEqual(2 * 3 * 3 * 4, inspected["rounds"][0]["payload_bytes"])
        self.assertIn("no such file", run(TERSOR, "list", "codecs", expect=1, TERSOR_PLUGINS="nowhere.so"))

    def test_library_exports_its_interface_only(self):
        listing = run("nm", "-D", "--defined-only", os.path.join(PREFIX, "lib", "libtersor_codecs.so"))
        names = {line.split()[2] for line in listing.splitlines()}
        with open(os.path.join(PREFIX, "include", "tersor_codecs.h"), encoding="utf-8") as stream:
            declared = set(re.findall(r"^TERSOR_API [^(]*?(tersor_\w+)\(", stream.read(), re.M))
        self.assertEqual(declared, names)
        self.assertIn("libtersor_codecs.so.1]", run("readelf", "-d", os.path.join(PREFIX, "lib", "libtersor_codecs.so")))


if __name__ == "__main__":
    unittest.main()

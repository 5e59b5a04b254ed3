# SPDX-License-Identifier: Apache-2.0
"""usage: docs_test.py BUILD   the documents name only what exists: links, paths, commands and their options."""
import json
import os
import re
import subprocess
import sys
import unittest

import rooms
from includes_test import read

BUILD = sys.argv.pop() if len(sys.argv) > 1 else "build"
TERSOR = os.path.join(BUILD, "bin", "tersor")
CODEC_SECTIONS = ("source", "definition", "payload", "bytes", "error bound", "state", "differences")
WRAPPER_SECTIONS = ("source", "definition", "payload", "differences")  # the rest is that of the wrapped codec


def documents():
    return rooms.tracked_files(".md")


def broken_links(path, text):
    found = []
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if "://" not in target and not os.path.exists(os.path.join(rooms.ROOT, os.path.dirname(path), target)):
            found.append(f"{path}: no file {target}")
    for target in re.findall(r"`((?:scripts|docs|cmake|matrices|tests)/[A-Za-z0-9_./-]+)`", text):
        if not os.path.exists(os.path.join(rooms.ROOT, target)):
            found.append(f"{path}: no file {target}")
    return found


def commands(text):
    """(subcommands, options) of each `tersor ...` command in code blocks and code spans."""
    blocks = re.findall(r"^```(?:sh|bash|console)?\n(.*?)^```", text, re.M | re.S)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`((?:build/bin/)?tersor [^`]+)`", text)
    for line in lines:
        match = re.match(r"^\s*\$?\s*(?:build/bin/)?tersor\s+(.*)$", line)
        if match:
            words = re.sub(r"'[^']*'|\"[^\"]*\"", "Q", match[1].split(" #")[0]).split()
            names = []
            for word in words:
                if not re.fullmatch(r"[a-z]+", word) or len(names) == 2:
                    break
                names.append(word)
            yield names, [word.split("=")[0] for word in words if word.startswith("--")]


def help_of(names):
    result = subprocess.run([TERSOR, *names, "--help"], capture_output=True, text=True, check=False)
    return result.stdout if f"Usage: tersor {' '.join(names)} " in result.stdout else ""


def command_problems(path, text):
    found = []
    for names, options in commands(text):
        page = help_of(names) or help_of(names[:1])  # a second word may be an argument: tersor show runs
        if not page:
            found.append(f"{path}: tersor {' '.join(names)}: no such command")
        found += [f"{path}: tersor {' '.join(names)} has no option {option}" for option in options
                  if not re.search(rf"(?<![\w-]){option}(?![\w-])", page) and option != "--help"]
    return found


def codec_folders():
    folder = os.path.join(rooms.ROOT, "compressors", "codecs")
    return [name for name in os.listdir(folder) if os.path.exists(os.path.join(folder, name, name + ".cpp"))]


def registered_codecs():
    """{name: its entry of `tersor list codecs --json`}"""
    listing = subprocess.run([TERSOR, "list", "codecs", "--json"], capture_output=True, text=True, check=True)
    return {codec["name"]: codec for codec in json.loads(listing.stdout)["codecs"]}


def is_wrapper(codec):
    return any(parameter["kind"] == "codec" and parameter["required"] for parameter in codec["parameters"])


class Documents(unittest.TestCase):
    def test_links(self):
        self.assertEqual([], [problem for path in documents() for problem in broken_links(path, read(path))])

    def test_commands(self):
        pages = ["README.md"] + [path for path in documents() if path.startswith("docs/") or path.endswith("/README.md")]
        self.assertEqual([], [problem for path in dict.fromkeys(pages) for problem in command_problems(path, read(path))])

    def test_every_room_has_a_page(self):
        for room in rooms.ROOMS + ["matrices", "tests"]:
            with self.subTest(room=room):
                self.assertTrue(os.path.exists(os.path.join(rooms.ROOT, room, "README.md")))

    def test_codec_pages(self):
        for name, codec in registered_codecs().items():
            text = read(f"compressors/codecs/{name}/README.md").lower()
            sections = WRAPPER_SECTIONS if is_wrapper(codec) else CODEC_SECTIONS
            with self.subTest(codec=name):
                self.assertEqual([], [section for section in sections if section not in text])

    def test_registry_equals_folders(self):
        self.assertEqual(set(codec_folders()), set(registered_codecs()))

    def test_table_of_codecs(self):
        table = subprocess.run([TERSOR, "list", "codecs", "--markdown"], capture_output=True, text=True, check=True).stdout
        self.assertGreater(table.count("\n"), 20)
        self.assertIn("## Codecs\n" + table + "\n", read("README.md"))

    def test_page_of_fields(self):
        page = subprocess.run([TERSOR, "list", "fields", "--markdown"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(page, read("docs/cell-fields.md"))

    def test_scripts(self):
        for name in ("setup", "test", "demo", "fetch", "performance", "bench-rivals"):
            path = os.path.join("scripts", name)
            result = subprocess.run([os.path.join(rooms.ROOT, path), "--help"], capture_output=True, text=True, check=False)
            with self.subTest(script=name):
                self.assertEqual((0, ""), (result.returncode, result.stderr))
                self.assertIn(f"usage: scripts/{name}", result.stdout)
        long = [path for path in rooms.tracked_files("") if path.startswith("scripts/") and sum(map(bool, read(path).splitlines())) > 80]
        self.assertEqual([], long)

    def test_no_absolute_path_of_one_machine(self):
        suffixes = (".md", ".cpp", ".hpp", ".cu", ".cuh", ".py", ".txt", ".json", ".cmake", ".sql")
        pattern = re.compile(r"(?<![\w.~])/(?:root|work|home)/[a-z]")
        self.assertEqual([], [path for path in rooms.tracked_files(*suffixes) if pattern.search(read(path))])

    def test_help_starts_fast(self):
        """Under 20 ms of processor time, the best of 10: wall time is the neighbours' too."""
        def once():
            silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
            _, status, usage = os.wait4(os.posix_spawn(TERSOR, [TERSOR, "--help"], os.environ, file_actions=silent), 0)
            self.assertEqual(0, status)
            return usage.ru_utime + usage.ru_stime

        self.assertLess(min(once() for _ in range(10)), 0.020)

    def test_planted(self):
        self.assertEqual(["x.md: no file no/where.md"], broken_links("x.md", "[a](no/where.md) [b](README.md)"))
        self.assertEqual(["x.md: no file scripts/none"], broken_links("x.md", "`scripts/none` `scripts/test`"))
        self.assertTrue(command_problems("x.md", "```\nbuild/bin/tersor frobnicate --db x\n```\n"))
        self.assertTrue(command_problems("x.md", "`tersor run FILE --no-such-option`"))


if __name__ == "__main__":
    unittest.main()

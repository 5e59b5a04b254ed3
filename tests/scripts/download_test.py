# SPDX-License-Identifier: Apache-2.0
"""The download code of scripts/ against a local server: resume, retry, wrong hash, trust on first use, MRPC's split."""
import contextlib
import functools
import hashlib
import http.server
import io
import os
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock
import zipfile

SCRIPTS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "scripts", "lib")
sys.path.insert(0, SCRIPTS)
import download  # noqa: E402

CONTENT = bytes(range(256)) * 20000  # 5 MB: several blocks


class Server(http.server.BaseHTTPRequestHandler):
    """Serves `files`; `cut`: close after so many bytes, once each; `ranges`: whether Range is honoured."""
    files, cuts, ranges, seen = {}, [], True, []

    def do_GET(self):
        self.seen.append(self.headers.get("Range"))
        if self.path not in self.files:
            self.send_error(404)
            return
        body, start = self.files[self.path], 0
        if self.ranges and self.headers.get("Range"):
            start = int(self.headers["Range"][6:-1])
        if start >= len(body) > 0:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        end = start + self.cuts.pop() if self.cuts else len(body)
        self.wfile.write(body[start:end])

    def log_message(self, *_):
        pass


class Download(unittest.TestCase):
    def setUp(self):
        Server.files, Server.cuts, Server.ranges, Server.seen = {"/f": CONTENT}, [], True, []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "f")
        self.digest = hashlib.sha256(CONTENT).hexdigest()
        self.fetch = functools.partial(download.fetch, self.base + "/f", self.path, wait_s=0)
        self.quiet = contextlib.redirect_stderr(io.StringIO())
        self.quiet.__enter__()

    def tearDown(self):
        self.quiet.__exit__(None, None, None)
        self.server.shutdown()
        self.server.server_close()
        self.folder.cleanup()

    def content(self):
        with open(self.path, "rb") as stream:
            return stream.read()

    def test_whole(self):
        self.fetch(self.digest)
        self.assertEqual(CONTENT, self.content())
        self.fetch(self.digest)
        self.assertEqual([None], Server.seen, "the second call must not ask the server")

    def test_broken_connection_resumes(self):
        Server.cuts = [1500000, 2000000]
        self.fetch(self.digest)
        self.assertEqual(CONTENT, self.content())
        self.assertEqual([None, "bytes=2000000-", "bytes=3500000-"], Server.seen)

    def test_resumes_what_an_earlier_run_left(self):
        with open(self.path + ".part", "wb") as part:
            part.write(CONTENT[:1234567])
        self.fetch(self.digest)
        self.assertEqual(["bytes=1234567-"], Server.seen)
        self.assertEqual(CONTENT, self.content())

    def test_server_without_ranges(self):
        Server.ranges = False
        with open(self.path + ".part", "wb") as part:
            part.write(b"old")
        self.fetch(self.digest)
        self.assertEqual(CONTENT, self.content())

    def test_wrong_hash_keeps_nothing(self):
        with self.assertRaisesRegex(download.DownloadError, f"SHA-256 is {self.digest}, expected 00"):
            self.fetch("00" * 32)
        self.assertEqual([], os.listdir(self.folder.name))

    def test_damaged_part_is_found(self):
        with open(self.path + ".part", "wb") as part:
            part.write(b"x" * 1000)
        with self.assertRaises(download.DownloadError):
            self.fetch(self.digest)
        self.fetch(self.digest)
        self.assertEqual(CONTENT, self.content())

    def test_part_longer_than_the_file(self):
        with open(self.path + ".part", "wb") as part:
            part.write(CONTENT + b"more")
        with self.assertRaisesRegex(download.DownloadError, "SHA-256"):
            self.fetch(self.digest)

    def test_missing_file_is_not_retried(self):
        with self.assertRaisesRegex(download.DownloadError, "404"):
            download.fetch(self.base + "/none", self.path, wait_s=0)
        self.assertEqual(1, len(Server.seen))

    def test_gives_up_and_keeps_the_part(self):
        Server.cuts = [10] * 3
        with self.assertRaisesRegex(download.DownloadError, "resume"):
            self.fetch(self.digest, tries=3)
        self.assertEqual(30, os.path.getsize(self.path + ".part"))

    def glue(self, *names):
        command = [sys.executable, os.path.join(SCRIPTS, "glue.py"), self.folder.name, *names]
        return subprocess.run(command, capture_output=True, text=True, check=False,
                              env=os.environ | {"TERSOR_GLUE_MIRROR": self.base})

    @staticmethod
    def archive(**files):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as out:
            for name, text in files.items():
                out.writestr(f"SET/{name}.tsv", text)
            out.writestr("SET/original/raw.tsv", "no")
        return archive.getvalue()

    def test_glue_without_a_hash_is_fetched_on_demand_alone_and_then_recorded(self):
        Server.files = {"/glue/data/QNLIv2.zip": self.archive(train="a\n", dev="b\n")}
        refused = self.glue("qnli")
        self.assertEqual(1, refused.returncode)
        self.assertIn("no SHA-256", refused.stderr)
        self.assertIn("train.tsv", refused.stderr)
        self.assertIn("--trust-first", refused.stderr)
        self.assertEqual([], Server.seen)
        other = self.glue("--trust-first", "qnli")  # its dev.tsv is a known one
        self.assertEqual(1, other.returncode)
        self.assertIn("SHA-256 of its dev.tsv", other.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "data/SHA256SUMS")))

    def fetch_with(self, known, trusts_first=False):
        import glue
        rows = [["cola", "CoLA", "-", "http://example.org/glue/data/CoLA.zip", *known]]
        with unittest.mock.patch.object(glue, "table", lambda _: rows), \
                unittest.mock.patch.dict(os.environ, {"TERSOR_GLUE_MIRROR": self.base}), contextlib.redirect_stdout(io.StringIO()) as out:
            glue.main(self.folder.name, ["cola"], trusts_first)
        return out.getvalue()

    def test_glue_known_content_needs_no_trust(self):
        known = [f"{name}.tsv={hashlib.sha256(text).hexdigest()}" for name, text in (("train", b"a\n"), ("dev", b"b\n"))]
        Server.files = {"/glue/data/CoLA.zip": self.archive(train="a\n", dev="changed\n")}
        with self.assertRaisesRegex(download.DownloadError, "its dev.tsv is .* expected"):
            self.fetch_with(known)
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "data/glue/CoLA")))
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "downloads/CoLA.zip")))
        Server.files = {"/glue/data/CoLA.zip": self.archive(train="a\n", dev="b\n")}
        self.assertNotIn("trusted", self.fetch_with(known))
        with open(os.path.join(self.folder.name, "data/glue/CoLA/train.tsv"), encoding="utf-8") as stream:
            self.assertEqual("a\n", stream.read())

    def test_glue_first_use_is_recorded_and_then_demanded(self):
        Server.files = {"/glue/data/CoLA.zip": self.archive(train="a\n", dev="b\n")}
        self.assertIn("trusted", self.fetch_with([], trusts_first=True))
        os.rename(os.path.join(self.folder.name, "data/glue/CoLA"), os.path.join(self.folder.name, "gone"))
        os.remove(os.path.join(self.folder.name, "downloads/CoLA.zip"))
        Server.files["/glue/data/CoLA.zip"] += b"!"
        with self.assertRaisesRegex(download.DownloadError, "SHA-256 is"):
            self.fetch_with([])

    def test_glue_known_hash_is_demanded(self):
        Server.files = {"/glue/data/SST-2.zip": b"not the archive"}
        result = self.glue("sst2")
        self.assertEqual(1, result.returncode)
        self.assertIn("expected d67e16fb", result.stderr)
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "data/glue/SST-2")))

    def test_mrpc_split(self):
        import glue
        rows = ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n", '1\t10\t11\t"a\tb\n', "0\t20\t21\tc\td\n"]
        for name, text in (("rows", "\ufeff" + "".join(rows)), ("ids", "20\t21\n")):
            with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as out:
                out.write(text)
        glue.split_mrpc(os.path.join(self.folder.name, "rows"), os.path.join(self.folder.name, "ids"), self.folder.name)
        for name, expected in (("train.tsv", "\ufeff" + rows[0] + rows[1]), ("dev.tsv", "\ufeff" + rows[0] + rows[2])):
            with open(os.path.join(self.folder.name, name), encoding="utf-8") as stream:
                self.assertEqual(expected, stream.read())


if __name__ == "__main__":
    unittest.main()

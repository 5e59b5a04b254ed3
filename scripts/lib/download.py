# SPDX-License-Identifier: Apache-2.0
"""Downloads one file: resumes what an earlier try left, retries, and keeps the file only if its SHA-256 is right."""
import hashlib
import os
import shutil
import ssl
import sys
import time
import urllib.error
import urllib.request


class DownloadError(Exception):
    pass


def table(name):
    """The rows of a list beside this file."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as lines:
        return [line.split() for line in lines if line.strip() and not line.startswith("#")]


def sha256(path):
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def open_url(url, offset=0, accept="*/*"):
    headers = {"User-Agent": "tersor-setup", "Accept": accept} | ({"Range": f"bytes={offset}-"} if offset else {})
    tls = ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or os.environ.get("SSL_CERT_FILE") or None)
    return urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60, context=tls)


def transfer(url, part):
    """Appends to `part` what the server still has; starts anew where it does not honour the range."""
    have = os.path.getsize(part) if os.path.exists(part) else 0
    with open_url(url, have) as answer:
        if answer.status != 206:
            have = 0
        total = have + int(answer.headers.get("Content-Length") or 0)
        shown = -1
        with open(part, "ab" if have else "wb") as out:
            while block := answer.read(1 << 20):
                out.write(block)
                have += len(block)
                tenth = have * 10 // max(total, 1)
                if tenth != shown:
                    shown = tenth
                    print(f"  {os.path.basename(part)[:-5]}: {tenth * 10} % of {total / 1e6:.1f} MB", file=sys.stderr)
    if have < total:
        raise ConnectionError(f"the connection closed after {have} of {total} bytes")


def fetch(url, path, digest=None, tries=5, wait_s=2.0):
    """Makes `path` from `url`. `digest` None: any content. Raises DownloadError; a broken part file is kept to resume."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    if os.path.exists(path) and (digest is None or sha256(path) == digest):
        return
    part = path + ".part"
    for attempt in range(tries):
        try:
            transfer(url, part)
            break
        except urllib.error.HTTPError as error:
            if error.code == 416:  # nothing is left to send: the part is whole, or longer than the file
                break
            problem = error
            if error.code < 500:
                raise DownloadError(f"{url}: {error}") from error
        except OSError as error:
            problem = error
        if attempt + 1 == tries:
            raise DownloadError(f"{url}: {problem}; {tries} tries failed, run the same command to resume")
        time.sleep(wait_s * (attempt + 1))
    if digest is not None and sha256(part) != digest:
        actual = sha256(part)
        os.remove(part)
        raise DownloadError(f"{url}: SHA-256 is {actual}, expected {digest}; the file was removed")
    shutil.move(part, path)

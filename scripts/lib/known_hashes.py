# SPDX-License-Identifier: Apache-2.0
"""What is known of a download: the hash of its first one (SHA256SUMS in the cache) and those of the files in it."""
import os

from download import DownloadError, sha256


def recorded_hash(cache, url):
    """The hash of the first download of `url`, for files whose hash nobody publishes."""
    path = os.path.join(cache, "data", "SHA256SUMS")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as lines:
            return dict(reversed(line.split()) for line in lines).get(url)
    return None


def record_hash(cache, url, path):
    os.makedirs(os.path.join(cache, "data"), exist_ok=True)
    with open(os.path.join(cache, "data", "SHA256SUMS"), "a", encoding="utf-8") as sums:
        sums.write(f"{sha256(path)} {url}\n")
    print(f"note: no hash of {url} is known; this first download is trusted (--trust-first) and its hash recorded")


def check_content(folder, known, url, archive):
    """Removes the download where a file of it is not the known one."""
    for name, digest in known.items():
        path = os.path.join(folder, name)
        actual = sha256(path) if os.path.exists(path) else "missing"
        if actual != digest:
            os.remove(archive)
            raise DownloadError(f"{url}: SHA-256 of its {name} is {actual}, expected {digest}; the file was removed")

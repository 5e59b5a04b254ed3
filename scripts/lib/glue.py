# SPDX-License-Identifier: Apache-2.0
"""usage: glue.py CACHE NAME...   fetches GLUE sets into CACHE/data/glue/FOLDER/{train,dev,test}.tsv."""
import os
import shutil
import sys
import urllib.parse
import zipfile

from download import DownloadError, fetch, sha256, table


def recorded_hash(cache, url):
    """The hash of the first download of `url`, for files whose hash nobody publishes."""
    path = os.path.join(cache, "data", "SHA256SUMS")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as lines:
            return dict(reversed(line.split()) for line in lines).get(url)
    return None


def download(cache, url, digest):
    """The local copy of `url`; TERSOR_GLUE_MIRROR replaces scheme and host (a mirror of one's own)."""
    path = os.path.join(cache, "downloads", os.path.basename(url))
    known = digest if digest != "-" else recorded_hash(cache, url)
    mirror = os.environ.get("TERSOR_GLUE_MIRROR")
    fetch(mirror.rstrip("/") + urllib.parse.urlparse(url).path if mirror else url, path, known)
    if known is None:
        os.makedirs(os.path.join(cache, "data"), exist_ok=True)
        with open(os.path.join(cache, "data", "SHA256SUMS"), "a", encoding="utf-8") as sums:
            sums.write(f"{sha256(path)} {url}\n")
        print(f"note: no published hash of {url} is known; this first download is trusted and its hash recorded")
    return path


def split_mrpc(train_path, ids_path, folder):
    """GLUE's own rule: pairs of the corpus's training file that dev_ids lists are dev, the rest train."""
    with open(ids_path, encoding="utf-8") as lines:
        dev_ids = {tuple(line.strip().split("\t")) for line in lines}
    with open(train_path, encoding="utf-8") as rows, \
            open(os.path.join(folder, "train.tsv"), "w", encoding="utf-8") as train, \
            open(os.path.join(folder, "dev.tsv"), "w", encoding="utf-8") as dev:
        header = next(rows)
        train.write(header)
        dev.write(header)
        for row in rows:
            fields = row.split("\t")
            if len(fields) != 5:
                raise DownloadError(f"{train_path}: a row has {len(fields)} fields, expected 5: {row[:60]!r}")
            (dev if (fields[1], fields[2]) in dev_ids else train).write(row)


def unzip(path, folder):
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            if os.path.basename(member) in ("train.tsv", "dev.tsv", "test.tsv") and "original" not in member:
                with archive.open(member) as source, open(os.path.join(folder, os.path.basename(member)), "wb") as out:
                    shutil.copyfileobj(source, out)


def main(cache, *names):
    for name in names:
        rows = [row for row in table("glue.txt") if row[0] == name]
        final = os.path.join(cache, "data", "glue", rows[0][1])
        if os.path.isdir(final):
            continue
        paths = [download(cache, url, digest) for _, _, digest, url in rows]
        folder = final + ".new"
        os.makedirs(folder, exist_ok=True)
        split_mrpc(*paths, folder) if name == "mrpc" else unzip(*paths, folder)
        os.rename(folder, final)
        print(f"{name}: {final}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (DownloadError, OSError, zipfile.BadZipFile) as error:
        sys.exit(f"error: {error}")

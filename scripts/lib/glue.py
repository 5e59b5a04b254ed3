# SPDX-License-Identifier: Apache-2.0
"""usage: glue.py [--trust-first] CACHE NAME...   fetches GLUE sets into CACHE/data/glue/FOLDER/{train,dev,test}.tsv.

--trust-first accepts the first download of a set of which no hash is known, and records its hash."""
import argparse
import os
import shutil
import sys
import urllib.parse
import zipfile

from download import DownloadError, fetch, table
from known_hashes import check_content, record_hash, recorded_hash


def download(cache, url, digest):
    """The local copy of `url`; TERSOR_GLUE_MIRROR replaces scheme and host (a mirror of one's own)."""
    path = os.path.join(cache, "downloads", os.path.basename(url))
    mirror = os.environ.get("TERSOR_GLUE_MIRROR")
    fetch(mirror.rstrip("/") + urllib.parse.urlparse(url).path if mirror else url, path, digest)
    return path


def fetch_zip(cache, name, folder, row, trusts_first):
    """Unpacks a set whose download or content is verified."""
    digest, url, known = row[2], row[3], dict(item.split("=") for item in row[4:])
    expected = digest if digest != "-" else recorded_hash(cache, url)
    missing = [file for file in ("train.tsv", "dev.tsv") if file not in known]
    if expected is None and missing and not trusts_first:
        raise DownloadError(f"{name}: no SHA-256 of {url} or of its {' and '.join(missing)} is known, so it is not fetched; "
                            "--trust-first takes the first download and demands its hash from then on")
    archive = download(cache, url, expected)
    unzip(archive, folder)
    check_content(folder, known, url, archive)
    if expected is None and missing:
        record_hash(cache, url, archive)


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


def main(cache, names, trusts_first):
    for name in names:
        rows = [row for row in table("glue.txt") if row[0] == name]
        final = os.path.join(cache, "data", "glue", rows[0][1])
        if os.path.isdir(final):
            continue
        folder = final + ".new"
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        if name == "mrpc":
            split_mrpc(*[download(cache, row[3], row[2]) for row in rows], folder)
        else:
            fetch_zip(cache, name, folder, rows[0], trusts_first)
        os.rename(folder, final)
        print(f"{name}: {final}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("cache")
    parser.add_argument("names", nargs="+")
    parser.add_argument("--trust-first", action="store_true")
    options = parser.parse_args()
    try:
        main(options.cache, options.names, options.trust_first)
    except (DownloadError, OSError, zipfile.BadZipFile) as error:
        sys.exit(f"error: {error}")

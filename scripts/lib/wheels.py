# SPDX-License-Identifier: Apache-2.0
"""usage: wheels.py CACHE SET...   fetches the sets of wheels.txt that CACHE lacks, from pip's package index, and unpacks
them: torch and gpu to CACHE/libtorch-2.11.0/{torch,nvidia}, cuda-tools to CACHE/cuda-tools/bin, weights to
CACHE/models/SET/."""
import os
import re
import shutil
import subprocess
import sys
import urllib.parse
import zipfile

from download import DownloadError, fetch, open_url, sha256, table

LIBTORCH = "libtorch-2.11.0"
WANTED = re.compile(r"torch/include/|torch/lib/lib(?!torch_python|shm)[^/]*\.so|nvidia/[^/]+/lib/[^/]+\.so|"
                    r"nvidia/nccl/include/|[^/]+\.dist-info/(licenses/|METADATA)")


def index_url():
    listing = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True).stdout
    configured = dict(re.findall(r"^(\S+[.]index-url)='(.*)'$", listing, re.M))
    from pip._internal.models.index import PyPI  # pip's own default
    return configured.get(":env:.index-url") or next(iter(configured.values()), PyPI.simple_url)


def address(project, file):
    page = f"{index_url().rstrip('/')}/{project}/"
    with open_url(page, accept="text/html") as answer:
        found = re.search(rf'href="([^"]*/{re.escape(file)})["#]', answer.read().decode())
    if not found:
        raise DownloadError(f"{file} is not listed at {page}")
    return urllib.parse.urljoin(page, found[1])


def unpack(archive, member, target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with archive.open(member) as source, open(target + ".new", "wb") as out:
        shutil.copyfileobj(source, out, 1 << 22)
    os.replace(target + ".new", target)


def folder(set_name):
    return {"torch": LIBTORCH, "gpu": LIBTORCH, "cuda-tools": "cuda-tools"}.get(set_name, os.path.join("models", set_name))


def install(cache, set_name, path):
    with zipfile.ZipFile(path) as archive:
        wanted = filter(WANTED.match, archive.namelist()) if set_name in ("torch", "gpu") else ()
        for member in (name for name in wanted if not name.endswith("/")):
            unpack(archive, member, os.path.join(cache, LIBTORCH, member))
        for member in (name for name in archive.namelist() if set_name == "cuda-tools" and "/bin/" in name):
            target = os.path.join(cache, folder(set_name), "bin", os.path.basename(member))
            unpack(archive, member, target)
            os.chmod(target, 0o755)
        for _, digest, member, name in (row for row in table("weights.txt") if row[0] == set_name):
            target = os.path.join(cache, "models", set_name, name)
            unpack(archive, member, target)
            if sha256(target) != digest:
                raise DownloadError(f"{member} of {path}: SHA-256 is not {digest}")


def stamp(cache, set_name, file):
    return os.path.join(cache, folder(set_name), ".have-" + file.split("-")[0])


def is_needed(cache, set_name, project, _, __, file):
    has_cudnn = project == "nvidia-cudnn-cu13" and "libcudnn.so.9" in subprocess.getoutput("/sbin/ldconfig -p")
    return not has_cudnn and not os.path.exists(stamp(cache, set_name, file))


def main(cache, *sets):
    missing = [row for row in table("wheels.txt") if row[0] in sets and is_needed(cache, *row)]
    if missing:
        print(f"fetching {len(missing)} files, {sum(int(row[2]) for row in missing) / 1e6:.1f} MB:",
              ", ".join(row[1] for row in missing), flush=True)
    for set_name, project, _, digest, file in missing:
        path = os.path.join(cache, "downloads", file)
        if not os.path.exists(path) or sha256(path) != digest:
            fetch(address(project, file), path, digest)
        install(cache, set_name, path)
        open(stamp(cache, set_name, file), "w").close()
        os.remove(path)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (DownloadError, OSError, zipfile.BadZipFile) as error:
        sys.exit(f"error: {error}")

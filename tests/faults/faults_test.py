# SPDX-License-Identifier: Apache-2.0
"""usage: faults_test.py BUILD [--errors N] [--kills N] [--real-kills N] [--only WORD] [--list]

Lets system calls of `tersor` fail, and kills it at them, one at a time, by strace's injection. After each, the same
sweep is started again and must end with every run stored once. N faults are taken evenly from all that there are;
"all" takes each. Ends with its figures and status 1 where one was not survived, and says SKIPPED without strace."""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

SEEDS = (1, 2)
MATRIX = {"name": "m", "defaults": {"model": "bert-tiny", "max_steps": 3, "train_rows": 64, "eval_rows": 32},
          "matrix": {"compressor": ["none"], "hardware": ["cpu-tp2"], "dataset": ["synthetic"], "seed": list(SEEDS)}}
IMPORT = {"context": {"num_cpus": 1}, "benchmarks": [{"name": "encode/cast/float32/1x4x8", "run_type": "iteration", "iterations": 1,
                                                     "real_time": 1, "cpu_time": 1, "time_unit": "us"}]}
# What each call can meet in practice, and how a message may say so: SQLite tells no more than the kind of some.
ERRORS = {
    "openat": ("EMFILE", "EACCES", "EIO"), "read": ("EIO",), "pread64": ("EIO",), "write": ("ENOSPC", "EIO"),
    "pwrite64": ("ENOSPC", "EIO"), "writev": ("ENOSPC",), "fsync": ("EIO", "ENOSPC"), "fdatasync": ("EIO", "ENOSPC"),
    "rename": ("EACCES", "ENOSPC"), "mkdir": ("EACCES", "ENOSPC"), "mkdirat": ("EACCES", "ENOSPC"), "unlink": ("EACCES",),
    "unlinkat": ("EACCES",), "ftruncate": ("ENOSPC",),
    "flock": ("ENOLCK", "EIO"), "fcntl": ("ENOLCK",), "getdents64": ("EIO",), "newfstatat": ("EACCES", "EIO"), "statx": ("EACCES",),
    "clone": ("EAGAIN",), "clone3": ("EAGAIN",), "vfork": ("EAGAIN",), "pipe2": ("EMFILE",), "socket": ("EMFILE",),
    "bind": ("EADDRINUSE",), "link": ("EACCES",), "linkat": ("EACCES",), "fchmod": ("EACCES",), "execve": (),
}
SAID = {
    "ENOSPC": r"no space left|disk (is )?full|full disk|disk i/o error", "EIO": r"i/o error|input/output error|unable to open",
    "EMFILE": r"too many open files|descriptors|unable to open", "EACCES": r"permission|access|unable to open|read-?only|disk i/o error",
    "ENOLCK": r"lock|i/o error", "EAGAIN": r"temporarily unavailable|processes", "EADDRINUSE": r"in use|port",
}
# The loader, the C library and SQLite's own probes of the machine fail before or beside tersor's work.
FOREIGN = re.compile(r"\.so\b|/etc/(ld|localtime|nsswitch|passwd)|/locale|gconv|/dev/u?random|/proc/self/maps")

Fault = collections.namedtuple("Fault", "command call at error")


class Place:
    """A folder with a matrix, and a database where `db` is given."""

    def __init__(self, build, db=None, matrix=None):
        self.build = build
        self.folder = tempfile.mkdtemp(prefix="tersor-faults-")
        with open(self.path("m.json"), "w", encoding="utf-8") as out:
            json.dump(matrix or MATRIX, out)
        with open(self.path("import.json"), "w", encoding="utf-8") as out:
            json.dump(IMPORT, out)
        if db:
            shutil.copy(db, self.path("a.db"))
        self.environment = dict(os.environ, TERSOR_DATA="", TERSOR_WEIGHTS="", TERSOR_PYTHON="/bin/false", TERSOR_FAKE="ok",
                                TERSOR_WORKER=os.path.join(build, "tests", "tersor-fake-worker"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, name):
        words = {"run": ["run", "m.json", "--retry-failed"], "import": ["import", "import.json"], "query": ["query", "select * from run"],
                 "show": ["show", "runs"], "report": ["report", "--out", "r"]}[name]
        return [os.path.join(self.build, "bin", "tersor"), *words, "--db", "a.db"]

    def run(self, name, *strace):
        done = subprocess.run([*strace, *self.command(name)], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, check=False)
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def calls_of(build, name, db):
    """The injectable calls of one run of a command: (call, how many of its kind came before), foreign ones left out."""
    place = Place(build, db)
    try:
        log = place.path("strace.log")
        status, text = place.run(name, "strace", "-y", "-o", log)
        if status != 0:
            raise RuntimeError(f"{name} under strace: status {status}: {text[-500:]}")
        seen, found = collections.Counter(), []
        with open(log, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                call = re.match(r"(\w+)\(", line)
                if not call or call[1] not in ERRORS:
                    continue
                seen[call[1]] += 1
                if not FOREIGN.search(line):
                    found.append((call[1], seen[call[1]]))
        return found
    finally:
        place.remove()


def take(items, count):
    if count == "all" or int(count) >= len(items):
        return items
    return [items[i * len(items) // int(count)] for i in range(int(count))]


def judge_after(place, name, before):
    """None, or what is wrong once the command has run again undisturbed."""
    status, text = place.run(name)
    if status != 0:
        return f"the command after it: status {status}: {text[-300:]}"
    with sqlite3.connect(place.path("a.db")) as db:
        if (found := db.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
            return f"the database is damaged: {found}"
        runs = db.execute("SELECT seed, sum(status = 'ok'), sum(status = 'running') FROM run GROUP BY seed ORDER BY seed").fetchall()
        rows = db.execute("SELECT count(*) FROM v_imported").fetchone()[0] if name == "import" else 0
    if runs != [(seed, 1, 0) for seed in SEEDS]:
        return f"runs (seed, stored as ok, as running): {runs}"
    if name == "import" and rows != before:
        return f"{rows} imported rows, not {before}"
    left = [name for _, folders, files in os.walk(place.folder) for name in folders + files if "part" in name]
    return f"left behind: {left}" if left else None


def try_fault(build, fault, db, before):
    place = Place(build, db)
    try:
        effect = f"error={fault.error}" if fault.error else "signal=SIGKILL"
        status, text = place.run(fault.command, "strace", "-qq", "-o", "/dev/null", "-e", f"trace={fault.call}", "-e",
                                 f"inject={fault.call}:{effect}:when={fault.at}")
        if not fault.error:
            return judge_after(place, fault.command, before)
        if status not in (0, 1, 2, 3):
            return f"status {status}: {text[-300:]}"
        if "internal error" in text or "std::" in text or "terminate called" in text:
            return text[-300:]
        if status != 0 and not re.search(SAID[fault.error], text, re.I):
            return f"status {status}, the cause is not said: {text[-300:]}"
        return judge_after(place, fault.command, before)
    except subprocess.TimeoutExpired:
        return "no end within 120 s"
    finally:
        place.remove()


def try_real_kill(build, seed):
    """A sweep of the real worker, killed at a random moment and started again until it ends."""
    rng = random.Random(seed)
    matrix = json.loads(json.dumps(MATRIX))
    matrix["matrix"]["hardware"] = ["cpu-tp2" if seed % 2 else "cpu-emulated-tp2"]
    place = Place(build, matrix=matrix)
    place.environment["TERSOR_WORKER"] = os.path.join(build, "bin", "tersor-worker")
    try:
        with subprocess.Popen(place.command("run"), cwd=place.folder, env=place.environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as process:
            time.sleep(rng.uniform(0, 3))
            process.send_signal(signal.SIGKILL)
        return judge_after(place, "run", 0)
    finally:
        place.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=os.path.abspath)
    for name in ("errors", "kills", "real-kills"):
        parser.add_argument(f"--{name}", default="0", metavar="N")
    parser.add_argument("--only", default="", help="faults whose line holds this")
    parser.add_argument("--list", action="store_true", help="print the faults, and stop")
    options = parser.parse_args()
    works = shutil.which("strace") and subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], check=False).returncode == 0
    if not works:
        print("SKIPPED: strace is missing, or may not trace")
        return 0
    base = Place(options.build)
    try:
        status, text = base.run("run")
        assert status == 0, text
        base.run("import")
        db = base.path("a.db")
        with sqlite3.connect(db) as connection:
            before = connection.execute("SELECT count(*) FROM v_imported").fetchone()[0]
        errors, kills = [], []
        for name in ("run", "import", "query", "show", "report"):
            start = None if name == "run" else db
            calls = calls_of(options.build, name, start)
            errors += [Fault(name, call, at, error) for call, at in calls for error in ERRORS[call]]
            if name in ("run", "import", "report"):
                kills += [Fault(name, call, at, None) for call, at in calls]
        def chosen(faults, count):
            return take([f for f in faults if options.only in " ".join(map(str, f))], count)
        faults = chosen(errors, options.errors) + chosen(kills, options.kills)
        if options.list:
            print(*(" ".join(map(str, fault)) for fault in faults), sep="\n")
            return 0
        print(f"{len(errors)} errors and {len(kills)} kills are possible; {len(faults)} are tried", flush=True)
        broken, survived = [], collections.Counter()
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            jobs = {pool.submit(try_fault, options.build, f, None if f.command == "run" else db, before): f for f in faults}
            jobs |= {pool.submit(try_real_kill, options.build, seed): Fault("run", "real worker", seed, None)
                     for seed in range(int(options.real_kills))}
            for done, job in enumerate(concurrent.futures.as_completed(jobs), 1):
                fault, wrong = jobs[job], job.result()
                kind = "errors" if fault.error else "kills of a real sweep" if fault.call == "real worker" else "kills"
                survived[kind] += wrong is None
                if wrong:
                    broken.append(fault)
                    print("FAILED", *fault, "|", re.sub(r"\s+", " ", wrong), flush=True)
                if done % 100 == 0:
                    print(f"{done} of {len(jobs)}", flush=True)
    finally:
        base.remove()
    print("survived: " + ", ".join(f"{count} {kind}" for kind, count in sorted(survived.items())) + f"; not survived: {len(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

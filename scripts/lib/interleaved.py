# SPDX-License-Identifier: Apache-2.0
"""The timer of compressors/bench/interleaved.hpp for Python: one thread's CPU time, each call between two copies."""
import time

from medians import median_interval

TRIES, NOISY = 10, 1.06


def measure(work, copy, seconds):
    def timed(call):
        begin = time.thread_time_ns()
        call()
        return time.thread_time_ns() - begin

    timed(work)
    best, taken, rows = min(timed(copy) for _ in range(5)), 0, []
    while (len(rows) < 25 and taken < seconds * 1e9) or len(rows) < 3:
        for attempt in range(1, TRIES + 1):
            before, between, after = timed(copy), timed(work), timed(copy)
            best, taken = min(best, before, after), taken + before + between + after
            if max(before, after) <= NOISY * best or attempt == TRIES or taken > seconds * 1e9:
                rows.append((between, (before + after) / 2))
                break
    return summary(rows)


def summary(rows):
    """Of (nanoseconds of the work, of the copies beside it)."""
    ns, low, high = median_interval([work_ns for work_ns, _ in rows])
    ratio, ratio_low, ratio_high = median_interval([copy_ns / work_ns for work_ns, copy_ns in rows])
    return {"median_ns": ns, "low_ns": low, "high_ns": high, "memcpy_ns": median_interval([c for _, c in rows])[0],
            "memcpy_ratio": ratio, "memcpy_ratio_low": ratio_low, "memcpy_ratio_high": ratio_high,
            "samples": len(rows)}


def measure_on_device(work, copy, seconds):
    """The same on a GPU: each call and each copy is a captured graph, timed by events."""
    import torch

    def captured(call):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            call()  # compiles and allocates before the capture
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            call()
        return graph

    def nanoseconds(graph):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e6

    graphs = captured(copy), captured(work)
    for graph in graphs * 3:
        nanoseconds(graph)
    rows, taken = [], 0
    while (len(rows) < 200 and taken < seconds * 1e9) or len(rows) < 3:
        before, between, after = nanoseconds(graphs[0]), nanoseconds(graphs[1]), nanoseconds(graphs[0])
        taken += before + between + after
        rows.append((between, (before + after) / 2))
    return summary(rows)

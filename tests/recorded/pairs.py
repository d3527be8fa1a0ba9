#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What undoing each fault of record.py brings, and what the profiler costs, by the clock.

    tests/recorded/pairs.py OUT

Two processes differ by how fast their host happens to be, by up to a fifth of a step. So both sides of a
pair run in one process, in turns, in short blocks. Writes OUT/pairs.json: per fault the median step with and
without it, the median gain of the pairs of blocks and its standard error; and per job the same for steps
while the profiler records, with the operators and calls it recorded of each.
"""

import dataclasses
import json
import statistics
import sys
import tempfile
from pathlib import Path

import record
from torch.profiler import ProfilerActivity, profile

STEPS, PAIRS = 8, 14
# What is different in the healthy job; None: needs its own model.
SWITCHES = {"starved": "load_ms", "pageable": "pageable_mb", "items": "items", "unfused": "fused_attention",
            "fp32": "precision", "odd_vocabulary": None, "small": None}
OTHERS = {"odd_vocabulary": "healthy", "small": "small_graph"}


def paired(first, second):
    """Median of both, and of the gain of each pair of blocks; the order changes from pair to pair."""
    for block in (first, second, first, second):
        block()
    pairs = []
    for at in range(PAIRS):
        a = first() if at % 2 else None
        b = second()
        pairs.append((first() if a is None else a, b))
    gains = sorted(a - b for a, b in pairs)
    middle = statistics.median(gains)
    spread = statistics.median(abs(gain - middle) for gain in gains)
    return {"with_ns": statistics.median(a for a, _ in pairs), "without_ns": statistics.median(b for _, b in pairs),
            "gain_ns": middle, "standard_error_ns": 1.2533 * 1.4826 * spread / PAIRS ** 0.5}


def steps_of(training, job):
    def block():
        for field in dataclasses.fields(job):
            setattr(training.job, field.name, getattr(job, field.name))
        return record.block_ns(training, steps=STEPS)
    return block


def fault(name):
    wrong, right = record.JOBS[name], record.JOBS[OTHERS.get(name, "healthy")]
    training = record.Training(dataclasses.replace(wrong))
    other = training if SWITCHES[name] else record.Training(dataclasses.replace(right))
    return paired(steps_of(training, wrong), steps_of(other, right))


def recorded(name, shapes):
    """Steps while the profiler records, against those without."""
    job = record.JOBS[name]
    training = record.Training(dataclasses.replace(job))
    counts = []

    def with_profiler():
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=shapes) as profiler:
            for _ in range(2):
                training.step()
            ns = record.block_ns(training, steps=4)
        if not counts:
            with tempfile.NamedTemporaryFile(suffix=".json") as file:
                profiler.export_chrome_trace(file.name)
                events = json.loads(Path(file.name).read_text())["traceEvents"]
            counts.extend(sum(event.get("cat") in kinds for event in events) / 6
                          for kinds in (("cpu_op",), ("cuda_runtime", "cuda_driver")))
        return ns

    answer = paired(with_profiler, lambda: record.block_ns(training, steps=STEPS))
    return {**answer, "operators": counts[0], "calls": counts[1]}


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    answers = {"gpu": record.torch.cuda.get_device_name(), "torch": record.torch.__version__,
               "faults": {}, "profiler": {}}
    for name in SWITCHES:
        answers["faults"][name] = fault(name)
        print(name, {key: round(value / 1e6, 3) for key, value in answers["faults"][name].items()}, flush=True)
        record.torch.cuda.empty_cache()
    for name in ("healthy", "small", "fp32", "small_graph"):
        for shapes in (True, False) if name in ("healthy", "small") else (True,):
            key = name if shapes else f"{name}_without_shapes"
            answers["profiler"][key] = recorded(name, shapes)
            print(key, {key: round(value / 1e6, 6) for key, value in answers["profiler"][key].items()}, flush=True)
            (out / "pairs.json").write_text(json.dumps(answers, indent=1) + "\n")
    (out / "pairs.json").write_text(json.dumps(answers, indent=1) + "\n")


if __name__ == "__main__":
    main()

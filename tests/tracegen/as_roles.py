#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names the parts of a generated job's steps as the roles of a reinforcement learning job.

usage: as_roles.py OUT TRACE.json...

Cuts every step of each trace into five ranges, one for each role, and writes the traces of the same
names and roles.json, what each rank did for each role in each step since the start of its window,
which starts at window_ns, into the folder OUT. For
--strategy ddp, whose compute never overlaps itself.
"""
import json
import os
import re
import sys
from decimal import Decimal

RANGES = [("generate_sequences", "generation"), ("compute_rm_score", "reward"),
          ("compute_ref_log_prob", "reference"), ("compute_values", "critic"),
          ("update_actor", "policy")]
CLASSES = {"kernel": 0, "gpu_memcpy": 2, "gpu_memset": 2}
GAP_NS = 500  # between two ranges
NAMES = ["compute_ns", "communication_ns", "copy_ns"]


def ns(microseconds):
    return int(microseconds * 1000)


def span(event):
    begin = ns(event["ts"])
    return begin, begin + ns(event["dur"])


def class_of(event):
    is_nccl = re.match(r"(nccl|rccl)", event["name"], re.I)
    return 1 if is_nccl else CLASSES[event["cat"]]


def owned_times(devices):
    """Owned time of each: compute before communication before copies, then the earliest start."""
    times = sorted({t for begin, end, _ in devices for t in (begin, end)})
    place = {t: i for i, t in enumerate(times)}
    owner = [None] * len(times)
    for index, (begin, end, kind) in enumerate(devices):
        key = (kind, begin, index)
        for i in range(place[begin], place[end]):
            if owner[i] is None or key < owner[i]:
                owner[i] = key
    owned = [0] * len(devices)
    busy = []
    for i, key in enumerate(owner[:-1]):
        if key:
            owned[key[2]] += times[i + 1] - times[i]
            busy.append((times[i], times[i + 1]))
    return owned, busy


def idle_between(busy, begin, end):
    return end - begin - sum(min(e, end) - max(b, begin) for b, e in busy
                             if b < end and e > begin)


def cuts_of(step, others, launched):
    """Times that part the launches of a step, none of them inside another range of its thread."""
    begin, end = span(step)
    cuts = [begin]
    times = [at for at in launched if begin <= at < end]
    for part in range(1, len(RANGES)):
        at = times[len(times) * part // len(RANGES)]
        while True:
            around = [e for b, e in others if b < at + GAP_NS and e > at]
            if not around:
                break
            at = max(around)
        cuts.append(max(at, cuts[-1] + 2 * GAP_NS))
    return cuts + [end - GAP_NS]


def name_roles(document):
    events = [e for e in document["traceEvents"] if e.get("ph") == "X" and "dur" in e]
    notes = [e for e in events if e.get("cat") == "user_annotation"]
    steps = [e for e in notes if e["name"].startswith("ProfilerStep#")]
    main = (steps[0]["pid"], steps[0]["tid"])
    launches = {}
    for e in events:
        if e.get("cat") in ("cuda_runtime", "cuda_driver", "hip_runtime"):
            launches[e["args"].get("correlation")] = e
    devices = [e for e in events if e.get("cat") in CLASSES]
    devices.sort(key=lambda e: e["ts"])
    owned, busy = owned_times([(*span(e), class_of(e)) for e in devices])
    elsewhere = {}
    for e in notes:
        elsewhere.setdefault((e["pid"], e["tid"]), []).append(span(e))
    launched = sorted(ns(e["ts"]) for e in launches.values())

    def started(launch):
        """When the launch started, or the range of a collective around it on another thread."""
        at = ns(launch["ts"])
        thread = (launch["pid"], launch["tid"])
        around = [b for b, f in elsewhere.get(thread, []) if b <= at < f]
        return min(around) if around and thread != main else at

    added, truth = [], []
    others = [span(e) for e in notes if (e["pid"], e["tid"]) == main and e not in steps]
    for step in steps:
        cuts = cuts_of(step, others, launched)
        for part, (name, role) in enumerate(RANGES):
            begin, end = cuts[part] + GAP_NS, cuts[part + 1]
            row = dict(role=role, step=int(step["name"].split("#")[1]), calls=1,
                       host_ns=end - begin, begin_ns=None, end_ns=None,
                       compute_ns=0, communication_ns=0, copy_ns=0, idle_ns=0)
            added.append({"ph": "X", "cat": "user_annotation", "name": name, "pid": main[0],
                          "tid": main[1], "ts": Decimal(begin) / 1000,
                          "dur": Decimal(end - begin) / 1000, "args": {}})
            for e, own in zip(devices, owned):
                launch = launches.get(e["args"].get("correlation"))
                if not launch or not begin <= started(launch) < end:
                    continue
                first, last = span(e)
                row[NAMES[class_of(e)]] += own
                row["begin_ns"] = first if row["begin_ns"] is None else min(row["begin_ns"], first)
                row["end_ns"] = last if row["end_ns"] is None else max(row["end_ns"], last)
            if row["begin_ns"] is not None:
                row["idle_ns"] = idle_between(busy, row["begin_ns"], row["end_ns"])
            truth.append(row)
    document["traceEvents"].extend(added)
    base = document.get("baseTimeNanoseconds", 0)
    window = min(ns(e["ts"]) for e in devices)
    return {"window_ns": base + window, "rows": [
        dict(row, **{key: None if row[key] is None else row[key] - window
                     for key in ("begin_ns", "end_ns")}) for row in truth]}


class Exact(json.JSONEncoder):
    """Times as they are, not as floats."""

    def default(self, value):
        return float(value) if isinstance(value, Decimal) else super().default(value)


def main():
    out, paths = sys.argv[1], sys.argv[2:]
    truths = {}
    os.makedirs(out, exist_ok=True)
    for path in paths:
        with open(path, encoding="utf-8") as file:
            document = json.load(file, parse_float=Decimal)
        name = os.path.basename(path)
        truths[name] = name_roles(document)
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            json.dump(document, file, cls=Exact)
    first = min(truth["window_ns"] for truth in truths.values())
    for truth in truths.values():
        truth["window_ns"] -= first
    with open(os.path.join(out, "roles.json"), "w", encoding="utf-8") as file:
        json.dump(truths, file)


main()

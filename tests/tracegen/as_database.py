#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a Kineto trace of tracegen as the database that another profiler would have recorded.

usage: as_database.py nsys|rocpd TRACE.json OUT

nsys: an SQLite export of Nsight Systems with operators as emit_nvtx writes them.
rocpd: a database of rocprofv3 (layout 3); it has no operators, and steps as roctx ranges.
Same job, same nanoseconds: what both can say must be equal.
"""
import json
import re
import sqlite3
import sys
from decimal import Decimal

DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
CALLS = {"cuda_runtime", "cuda_driver", "hip_runtime"}


def ns(microseconds):
    return int(microseconds * 1000)


class Trace:
    """Events of a trace in nanoseconds after its base, sorted by start."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            document = json.load(file, parse_float=Decimal)
        found = [e for e in document["traceEvents"] if e.get("ph") == "X" and "dur" in e]
        self.base = min(ns(e["ts"]) for e in found)
        self.utc = document.get("baseTimeNanoseconds", 0) + self.base
        self.devices = document["deviceProperties"]
        self.distributed = document["distributedInfo"]
        self.events = sorted(found, key=lambda e: e["ts"])

    def of(self, *categories):
        for e in self.events:
            if e.get("cat") in categories:
                start = ns(e["ts"]) - self.base
                yield e, start, start + ns(e["dur"])


class Texts:
    """Numbers texts from 1."""

    def __init__(self):
        self.ids = {}

    def id(self, text):
        return self.ids.setdefault(text, len(self.ids) + 1)

    def rows(self):
        return [(number, text) for text, number in self.ids.items()]


def fill(database, table, columns, rows):
    names = columns.split()
    database.execute(f'CREATE TABLE "{table}" ({", ".join(names)})')
    marks = ", ".join("?" * len(names))
    database.executemany(f'INSERT INTO "{table}" VALUES ({marks})', rows)


# --- Nsight Systems ------------------------------------------------------------------------------

COPY_KINDS = {"HtoD": 1, "DtoH": 2, "DtoD": 8, "HtoH": 9, "PtoP": 10}
MEMORY_KINDS = {"Pageable": 0, "Pinned": 1, "Device": 2}


def global_id(pid, tid=0):
    return pid << 24 | tid


def nsys_kernels(trace, texts, process):
    for e, start, end in trace.of("kernel"):
        a = e["args"]
        yield (start, end, a["device"], a["stream"], a["correlation"], process,
               texts.id(e["name"]), *a["grid"], *a["block"], a["registers per thread"],
               a["shared memory"], 0)


def nsys_copies(trace, process):
    for e, start, end in trace.of("gpu_memcpy"):
        a = e["args"]
        kind, source, target = re.match(r"Memcpy (\w+) \((\w+) -> (\w+)\)", e["name"]).groups()
        yield (start, end, a["device"], a["stream"], a["correlation"], process, a["bytes"],
               COPY_KINDS[kind], MEMORY_KINDS[source], MEMORY_KINDS[target])


def nsys_memsets(trace, process):
    for e, start, end in trace.of("gpu_memset"):
        a = e["args"]
        kind = MEMORY_KINDS[re.match(r"Memset \((\w+)\)", e["name"]).group(1)]
        yield (start, end, a["device"], a["stream"], a["correlation"], process, a["bytes"], kind)


def nsys_calls(trace, texts):
    for e, start, end in trace.of(*CALLS):
        yield (start, end, 1 if e["cat"] == "cuda_driver" else 0, global_id(e["pid"], e["tid"]),
               e["args"].get("correlation"), texts.id(e["name"]))


def range_text(event):
    """As torch.autograd.profiler.emit_nvtx(record_shapes=True) writes it."""
    args = event.get("args", {})
    if event["cat"] != "cpu_op":
        return event["name"]
    text = event["name"]
    if "Sequence number" in args:
        text += f", seq = {args['Sequence number']}"
    if "Input Dims" in args:
        text += f", sizes = {json.dumps(args['Input Dims'])}"
    return text + f", op_id = {args.get('External id', 0)}"


def nsys_ranges(trace):
    for e, start, end in trace.of("cpu_op", "user_annotation"):
        yield (start, end, 59, range_text(e), None, global_id(e["pid"], e["tid"]), 0)


def as_nsys(trace, database):
    texts = Texts()
    process = global_id(next(e["pid"] for e, _, _ in trace.of(*CALLS)))
    activity = "start end deviceId streamId correlationId globalPid "
    fill(database, "META_DATA_EXPORT", "name value", [("EXPORT_SCHEMA_VERSION", "3.25.0")])
    fill(database, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", [(trace.utc,)])
    fill(database, "TARGET_INFO_GPU", "id cuDevice name totalMemory smCount computeMajor "
         "computeMinor", [(d["id"], d["id"], d["name"], d["totalGlobalMem"], d["numSms"],
                           d["computeMajor"], d["computeMinor"]) for d in trace.devices])
    fill(database, "CUPTI_ACTIVITY_KIND_KERNEL", activity + "demangledName gridX gridY gridZ "
         "blockX blockY blockZ registersPerThread staticSharedMemory dynamicSharedMemory",
         nsys_kernels(trace, texts, process))
    fill(database, "CUPTI_ACTIVITY_KIND_MEMCPY", activity + "bytes copyKind srcKind dstKind",
         nsys_copies(trace, process))
    fill(database, "CUPTI_ACTIVITY_KIND_MEMSET", activity + "bytes memKind",
         nsys_memsets(trace, process))
    fill(database, "CUPTI_ACTIVITY_KIND_RUNTIME", "start end eventClass globalTid correlationId "
         "nameId", nsys_calls(trace, texts))
    fill(database, "NVTX_EVENTS", "start end eventType text textId globalTid domainId",
         nsys_ranges(trace))
    fill(database, "MPI_RANKS", "globalTid rank", [(process, trace.distributed["rank"])])
    fill(database, "StringIds", "id value", texts.rows())


# --- rocpd ---------------------------------------------------------------------------------------

SUFFIX = "_00000000_0000_4000_8000_000000000000"
COPY_NAMES = {"HtoD": "MEMORY_COPY_HOST_TO_DEVICE", "DtoH": "MEMORY_COPY_DEVICE_TO_HOST",
              "DtoD": "MEMORY_COPY_DEVICE_TO_DEVICE"}
CPU_AGENT = 1


def gpu_agent(device):
    return device + 2


def queue_of(args):
    """Queues count from 1. rocprofv3 writes 0 for copies, as it does not know theirs; here they
    have one, so that all else can be compared."""
    return args["stream"] + 1


class Events:
    """Rows of rocpd_event: what a record belongs to."""

    def __init__(self, texts):
        self.texts = texts
        self.rows = []

    def id(self, category, stack, note=None):
        number = len(self.rows) + 1
        self.rows.append((number, self.texts.id(category), stack, json.dumps(note or {})))
        return number


def rocpd_kernels(trace, symbols, events):
    # Whose grids are in work items already.
    extended = {e["args"].get("correlation") for e, _, _ in trace.of(*CALLS)
                if e["name"] == "hipExtModuleLaunchKernel"}
    for e, start, end in trace.of("kernel"):
        a = e["args"]
        items = a["grid"] if a["correlation"] in extended else [
            blocks * block for blocks, block in zip(a["grid"], a["block"])]
        yield (start, end, events.id("KERNEL_DISPATCH", a["correlation"]),
               gpu_agent(a["device"]), queue_of(a), symbols.id(e["name"]),
               a.get("shared memory", 0), *items, *a["block"])
    for e, start, end in trace.of("gpu_memset"):  # the runtime treats it as a kernel like any other
        a = e["args"]
        yield (start, end, events.id("KERNEL_DISPATCH", a["correlation"]),
               gpu_agent(a["device"]), queue_of(a), symbols.id("__amd_rocclr_fillBufferAligned"),
               0, 256, 1, 1, 256, 1, 1)


def rocpd_copies(trace, texts, events):
    for e, start, end in trace.of("gpu_memcpy"):
        a = e["args"]
        kind = re.match(r"(?:Memcpy )?(?:Copy)?(\w+)", e["name"]).group(1)
        kind = {"HostToDevice": "HtoD", "DeviceToHost": "DtoH", "DeviceToDevice": "DtoD"}.get(
            kind, kind)
        gpu = gpu_agent(a["device"])
        source = CPU_AGENT if kind[0] == "H" else gpu
        target = CPU_AGENT if kind[-1] == "H" else gpu
        yield (start, end, events.id("MEMORY_COPY", a["correlation"]), queue_of(a),
               texts.id(COPY_NAMES[kind]), target, source, a.get("bytes"))


def rocpd_regions(trace, texts, events):
    for e, start, end in trace.of(*CALLS):
        yield (start, end, events.id("HIP_RUNTIME_API_EXT", e["args"].get("correlation", 0)),
               e["tid"], texts.id(e["name"]))
    for e, start, end in trace.of("user_annotation"):
        note = {"message": e["name"]}
        yield (start, end, events.id("MARKER_CORE_RANGE_API", 0, note), e["tid"],
               texts.id("roctxThreadRangeA"))


def as_rocpd(trace, database):
    texts, symbols = Texts(), Texts()
    events = Events(texts)
    gpus = [(gpu_agent(d["id"]), "GPU", d["id"], d["name"]) for d in trace.devices]

    def put(table, columns, rows):
        fill(database, f"rocpd_{table}{SUFFIX}", columns, rows)

    put("metadata", "tag value", [("schema_version", "3")])
    put("info_agent", "id type type_index product_name", [(CPU_AGENT, "CPU", 0, "host"), *gpus])
    put("kernel_dispatch", "start end event_id agent_id queue_id kernel_id group_segment_size "
        "grid_size_x grid_size_y grid_size_z workgroup_size_x workgroup_size_y workgroup_size_z",
        rocpd_kernels(trace, symbols, events))
    put("memory_copy", "start end event_id queue_id name_id dst_agent_id src_agent_id size",
        rocpd_copies(trace, texts, events))
    put("region", "start end event_id tid name_id", rocpd_regions(trace, texts, events))
    put("info_kernel_symbol", "id display_name", symbols.rows())
    put("event", "id category_id stack_id extdata", events.rows)
    put("string", "id string", texts.rows())


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("nsys", "rocpd"):
        sys.exit(__doc__)
    trace = Trace(sys.argv[2])
    database = sqlite3.connect(sys.argv[3])
    with database:
        (as_nsys if sys.argv[1] == "nsys" else as_rocpd)(trace, database)
    database.close()


if __name__ == "__main__":
    main()

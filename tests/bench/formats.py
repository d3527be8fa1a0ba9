#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures how other profilers' files are read, against what the readers promise.

usage: formats.py STEPSCOPE [--kernels N] [--snapshot-mb N] [--processes N] [--only NAME,...]

nsys, rocpd   N kernels with their calls: processor time beside a dump of the same columns by SQLite,
              and memory per kernel or call
rocprofv3     N kernels as JSON: bytes per second beside Kineto's JSON of as many kernels
snapshot      a memory snapshot of N MB: memory
processes     an export of N processes: time per process beside that of a tenth of them

Files are written to TMPDIR and removed. Times are processor times of one process.
"""
import argparse
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile

NAMES = 200


def measure(command):
    """Processor seconds and peak bytes of a command."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        child = subprocess.Popen(command, stdout=nowhere, stderr=subprocess.PIPE)
        said = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{command[0]} failed: {said.decode()[-400:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def database(path, statements):
    base = sqlite3.connect(path)
    base.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + statements)
    base.commit()
    base.close()


COUNTED = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {n}) "


def write_nsys(path, kernels, processes=1):
    pid = "((i % {p}) + 1) << 24".format(p=processes)
    database(path, """
CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '3.25.0');
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
""" + (COUNTED + "INSERT INTO StringIds SELECT i + 1, 'kernel_' || i FROM n;").format(n=NAMES) + """
INSERT INTO StringIds VALUES (1000, 'cudaLaunchKernel_v7000');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT,
  streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT, gridX INT,
  gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT, registersPerThread INT,
  staticSharedMemory INT, dynamicSharedMemory INT, graphNodeId INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT,
  correlationId INT, nameId INT, returnValue INT);
""" + (COUNTED + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 5000 + 1000 * i, 5800 + 1000 * i, "
       "i % {p}, 1, 7, i + 1, {pid}, i % {m} + 1, i % {m} + 1, 64, 1, 1, 256, 1, 1, 32, 0, 0, NULL "
       "FROM n;" + COUNTED + "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 1000 * i, "
       "1000 * i + 300, 0, ({pid}) | 1, i + 1, 1000, 0 FROM n;").format(
           n=kernels, m=NAMES, p=processes, pid=pid))


def write_rocpd(path, kernels):
    database(path, """
CREATE TABLE rocpd_metadata (id INTEGER PRIMARY KEY, tag TEXT, value TEXT);
INSERT INTO rocpd_metadata VALUES (1, 'schema_version', '3');
CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);
INSERT INTO rocpd_string VALUES (1, 'HIP_RUNTIME_API_EXT'), (2, 'hipLaunchKernel');
CREATE TABLE rocpd_info_agent (id INTEGER PRIMARY KEY, type TEXT, type_index INT,
  product_name TEXT, name TEXT);
INSERT INTO rocpd_info_agent VALUES (1, 'GPU', 0, 'AMD Instinct MI300X', 'gfx942');
CREATE TABLE rocpd_info_kernel_symbol (id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT);
CREATE TABLE rocpd_event (id INTEGER PRIMARY KEY, category_id INT, stack_id INT, extdata TEXT);
CREATE TABLE rocpd_kernel_dispatch (id INTEGER PRIMARY KEY, tid INT, agent_id INT, kernel_id INT,
  queue_id INT, start INT, end INT, group_segment_size INT, workgroup_size_x INT,
  workgroup_size_y INT, workgroup_size_z INT, grid_size_x INT, grid_size_y INT, grid_size_z INT,
  event_id INT);
CREATE TABLE rocpd_region (id INTEGER PRIMARY KEY, tid INT, start INT, end INT, name_id INT,
  event_id INT);
""" + (COUNTED + "INSERT INTO rocpd_info_kernel_symbol SELECT i + 1, 'kernel_' || i || '.kd', "
       "'kernel_' || i FROM n;").format(n=NAMES)
             + (COUNTED + "INSERT INTO rocpd_event SELECT i + 1, 1, i / 2 + 1, '{{}}' FROM n;"
                ).format(n=2 * kernels)
             + (COUNTED + "INSERT INTO rocpd_kernel_dispatch SELECT i + 1, 5, 1, i % {m} + 1, 1, "
                "5000 + 1000 * i, 5800 + 1000 * i, 0, 256, 1, 1, 16384, 1, 1, 2 * i + 1 FROM n;"
                + COUNTED + "INSERT INTO rocpd_region SELECT i + 1, 5, 1000 * i, 1000 * i + 300, 2, "
                "2 * i + 2 FROM n;").format(n=kernels, m=NAMES))


def write_rocprofv3(path, kernels):
    with open(path, "w", encoding="utf-8") as out:
        out.write('{"rocprofiler-sdk-tool": [{"metadata": {"pid": 5}, "agents": [{"id": {"handle": '
                  '1}, "type": 2, "logical_node_type_id": 0, "product_name": "MI300X"}], '
                  '"kernel_symbols": [')
        out.write(", ".join('{"kernel_id": %d, "formatted_kernel_name": "kernel_%d"}' % (i + 1, i)
                            for i in range(NAMES)))
        out.write('], "strings": {"buffer_records": []}, "buffer_records": {"kernel_dispatch": [')
        for i in range(kernels):
            out.write("%s\n        {\n            \"size\": 176,\n            \"kind\": 11,\n"
                      "            \"operation\": 2,\n            \"thread_id\": 5,\n"
                      "            \"correlation_id\": {\n                \"internal\": %d,\n"
                      "                \"external\": 0\n            },\n"
                      "            \"start_timestamp\": %d,\n            \"end_timestamp\": %d,\n"
                      "            \"dispatch_info\": {\n                \"size\": 80,\n"
                      "                \"agent_id\": {\n                    \"handle\": 1\n"
                      "                },\n                \"queue_id\": {\n"
                      "                    \"handle\": 1\n                },\n"
                      "                \"kernel_id\": %d,\n                \"dispatch_id\": %d,\n"
                      "                \"private_segment_size\": 0,\n"
                      "                \"group_segment_size\": 0,\n"
                      "                \"workgroup_size\": {\n                    \"x\": 256,\n"
                      "                    \"y\": 1,\n                    \"z\": 1\n"
                      "                },\n                \"grid_size\": {\n"
                      "                    \"x\": 16384,\n                    \"y\": 1,\n"
                      "                    \"z\": 1\n                }\n            }\n        }"
                      % ("," if i else "", i + 1, 5000 + 1000 * i, 5800 + 1000 * i, i % NAMES + 1,
                         i + 1))
        out.write("]}}]}")


def write_kineto(path, kernels):
    with open(path, "w", encoding="utf-8") as out:
        out.write('{\n  "schemaVersion": 1,\n  "traceEvents": [')
        for i in range(kernels):
            out.write('%s\n  {\n    "ph": "X", "cat": "kernel", "name": "kernel_%d", "pid": 0, '
                      '"tid": 7,\n    "ts": %d.000, "dur": 0.800,\n    "args": {\n      '
                      '"External id": %d,\n      "queued": 0, "device": 0, "context": 1,\n      '
                      '"stream": 7, "correlation": %d,\n      "registers per thread": 32,\n      '
                      '"shared memory": 0,\n      "blocks per SM": 0.48,\n      '
                      '"warps per SM": 3.87,\n      "grid": [64, 1, 1],\n      '
                      '"block": [256, 1, 1],\n      "est. achieved occupancy %%": 6\n    }\n  }'
                      % ("," if i else "", i % NAMES, 5 + i, i + 1, i + 1))
        out.write("\n  ]\n}\n")


def text(value):
    return b"\x8c" + bytes([len(value)]) + value.encode()


def number(value):
    return b"\x8a\x08" + struct.pack("<q", value)


def write_snapshot(path, megabytes):
    """As PyTorch pickles one: frames are shared, their lists and the records are not."""
    memo, out = {}, open(path, "wb")

    def keep(key, code):
        memo[key] = b"j" + struct.pack("<I", len(memo))
        return code + b"\x94"
    words = ["action", "addr", "size", "stream", "time_us", "frames", "alloc", "free_completed",
             "name", "filename", "line"]
    segment = b"".join(text(key) + number(value) for key, value in (
        ("address", 1 << 40), ("total_size", 1 << 30), ("allocated_size", 0), ("active_size", 0),
        ("stream", 0), ("device", 0)))
    out.write(b"\x80\x04}(" + text("segments") + b"](}(" + segment + text("blocks") + b"]ue"
              + text("texts") + b"](")
    for word in words:
        out.write(keep(word, text(word)))
    for i in range(2000):
        out.write(keep(i, b"}(" + memo["name"] + text(f"layer_{i}") + memo["filename"]
                       + text(f"/src/model_{i % 50}.py") + memo["line"] + b"M"
                       + struct.pack("<H", i) + b"u"))
    out.write(b"e" + text("device_traces") + b"](](")
    stacks = [b"](" + b"".join(memo[(i * 7 + f) % 2000] for f in range(30)) + b"e"
              for i in range(500)]
    i = 0
    while out.tell() < megabytes << 20:
        block = []
        for _ in range(5000):
            for word in ("alloc", "free_completed"):
                block.append(b"}(" + memo["action"] + memo[word] + memo["addr"]
                             + number(1 << 40 | i << 9) + memo["size"] + b"M\x00\x02"
                             + memo["stream"] + b"K\x00" + memo["time_us"]
                             + number(10 ** 15 + i) + memo["frames"] + stacks[i % 500] + b"u")
            i += 1
        out.write(b"".join(block) + b"e(")
    out.write(b"eeu.")
    out.close()
    return os.path.getsize(path)


def dump(path, tables):
    """The dump in its own process, by the SQLite that Python has."""
    code = ("import sqlite3,sys\nb=sqlite3.connect(sys.argv[1])\nw=sys.stdout.write\n"
            "for q in sys.argv[2:]:\n  for r in b.execute(q): w('|'.join(map(str,r))+'\\n')\n")
    shell = subprocess.run(["which", "sqlite3"], capture_output=True, check=False)
    if shell.returncode == 0:
        return measure(["sqlite3", path] + tables)[0]
    return measure([sys.executable, "-c", code, path] + tables)[0]


NSYS_DUMP = ["SELECT start, end, deviceId, streamId, correlationId, globalPid, demangledName, gridX, "
             "gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, "
             "dynamicSharedMemory, graphNodeId FROM CUPTI_ACTIVITY_KIND_KERNEL",
             "SELECT start, end, globalTid, correlationId, nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME"]
ROCPD_DUMP = ["SELECT id, stack_id, category_id, extdata FROM rocpd_event",
              "SELECT start, end, event_id, tid, agent_id, queue_id, kernel_id, group_segment_size, "
              "grid_size_x, grid_size_y, grid_size_z, workgroup_size_x, workgroup_size_y, "
              "workgroup_size_z FROM rocpd_kernel_dispatch",
              "SELECT start, end, event_id, tid, name_id FROM rocpd_region"]


def judge(name, figures, ok):
    print(f"{name:<10} {figures}  {'ok' if ok else 'MISSED'}", flush=True)
    return ok


def main():
    arguments = argparse.ArgumentParser(description=__doc__,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("stepscope")
    arguments.add_argument("--kernels", type=int, default=1000000)
    arguments.add_argument("--snapshot-mb", type=int, default=256)
    arguments.add_argument("--processes", type=int, default=300)
    arguments.add_argument("--only", default="nsys,rocpd,rocprofv3,snapshot,processes")
    given = arguments.parse_args()
    only, ok = given.only.split(","), True
    read = [given.stepscope, "inspect", "--job-memory", "16G"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        for name, write, tables in (("nsys", write_nsys, NSYS_DUMP),
                                    ("rocpd", write_rocpd, ROCPD_DUMP)):
            if name not in only:
                continue
            file = path + ".db"
            write(file, given.kernels)
            plain = dump(file, tables)
            seconds, peak = measure(read + [file])
            each = peak / (2 * given.kernels)
            ok &= judge(name, f"{given.kernels} kernels: {seconds:.2f} s, dump {plain:.2f} s; "
                        f"{each:.0f} bytes for each kernel or call", seconds <= plain and
                        (each <= 100 or given.kernels < 10 ** 7))
            os.remove(file)
        if "rocprofv3" in only:
            rates = []
            for write in (write_rocprofv3, write_kineto):
                write(path + ".json", given.kernels)
                seconds, _ = measure(read + [path + ".json"])
                rates.append(os.path.getsize(path + ".json") / seconds / 1e6)
            os.remove(path + ".json")
            ok &= judge("rocprofv3", f"{rates[0]:.0f} MB/s, Kineto {rates[1]:.0f} MB/s",
                        rates[0] >= rates[1] / 2)
        if "snapshot" in only:
            size = write_snapshot(path + ".pickle", given.snapshot_mb)
            seconds, peak = measure(read + [path + ".pickle"])
            os.remove(path + ".pickle")
            ok &= judge("snapshot", f"{size / 2**20:.0f} MB: {seconds:.2f} s, {peak / 2**20:.0f} MB",
                        peak <= 512 << 20)
        if "processes" in only:
            each = []
            for count in (max(1, given.processes // 10), given.processes):
                write_nsys(path + ".sqlite", 1000 * count, count)
                seconds, _ = measure(read + [path + ".sqlite"])
                each.append(seconds / count)
                os.remove(path + ".sqlite")
            ok &= judge("processes", f"{each[1] * 1e3:.1f} ms each of {given.processes}, "
                        f"{each[0] * 1e3:.1f} ms of a tenth", each[1] <= 2 * each[0])
    sys.exit(0 if ok else 1)


main()

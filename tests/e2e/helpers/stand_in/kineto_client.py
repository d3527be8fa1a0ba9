# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the client of PyTorch's Kineto: asks a daemon over its datagrams what to record,
and writes a trace as Kineto does, .tmp first. Prints each answer. One that has counted no step
yet drops what it is to record (argv[2]: how often)."""
import json
import os
import socket
import struct
import sys
import time
import uuid

folder = os.environ.get("KINETO_IPC_SOCKET_DIR", "")
name = f"dynoconfigclient{uuid.uuid4()}"
place = (lambda text: f"{folder}/{text}") if folder else (lambda text: f"\0{text}\0")
sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
sock.bind(place(name))
sock.settimeout(30)


def ask(kind):
    pids = [os.getpid(), os.getppid()]
    job = int(os.environ.get("SLURM_JOB_ID", "0"))
    body = struct.pack(f"=iiq{len(pids)}i", kind, len(pids), job, *pids)
    sock.sendto(struct.pack("=Q32s", len(body), b"req") + body, place("dynolog"))
    frame, sender = sock.recvfrom(65536)
    if isinstance(sender, bytes):
        sender = sender.decode()
    assert sender.rstrip("\0") == place("dynolog").rstrip("\0"), sender  # else Kineto aborts
    size, word = struct.unpack("=Q32s", frame[:40])
    assert len(frame) == 40 + size and word.rstrip(b"\0") == b"req", frame
    return frame[40:].decode()


def write(settings):
    keys = dict(line.split("=") for line in settings.strip().split("\n"))
    path = keys["ACTIVITIES_LOG_FILE"].replace(".json", f"_{os.getpid()}.json", 1)
    events = []
    for step in range(int(keys["ACTIVITIES_ITERATIONS"])):
        events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1,
                    "tid": 1, "ts": 1000 * step, "dur": 990},
                   {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                    "ts": 1000 * step + 10, "dur": 500, "args": {"device": 0, "stream": 7}}]
    with open(path + ".tmp", "w", encoding="utf-8") as out:
        json.dump({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H100"}],
                   "trace_id": keys["REQUEST_TRACE_ID"], "pid": os.getpid(),
                   "traceEvents": events}, out)
        out.flush()
        time.sleep(0.3)
    os.rename(path + ".tmp", path)


# What must neither be answered nor disturb: damaged frames.
for wrong in (b"x", struct.pack("=Q32s", 99, b"req"), struct.pack("=Q32s", 0, b"zzz"), b"y" * 5000):
    sock.sendto(wrong, place("dynolog"))
end = time.monotonic() + float(sys.argv[1])
drops = int(sys.argv[2])
while time.monotonic() < end:
    text = ask(2)
    print(json.dumps({"text": text}), flush=True)
    drops -= bool(text)
    if text and drops < 0:
        ask(0)
        write(text)
        sys.exit(0)
    time.sleep(0.05)

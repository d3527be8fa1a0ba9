# SPDX-License-Identifier: Apache-2.0
"""As torch.profiler calls on_trace_ready: within step(), and at stop() while it records."""
import json
import os
import sys

FAIL = os.environ.get("STAND_IN_FAIL", "")  # which call raises


class Broken(RuntimeError):
    pass


def _may_fail(call):
    if FAIL == call:
        raise Broken(call)


def _numbers_of_job():
    group = sys.modules.get("torch.distributed")
    if group and group.is_initialized():
        return group.get_rank(), group.get_world_size()
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def schedule(*, wait, warmup, active, repeat=0, skip_first=0):
    cycle = wait + warmup + active

    def action(step):
        if step < skip_first or (repeat and (step - skip_first) // cycle >= repeat):
            return "none"
        at = (step - skip_first) % cycle
        if at < wait:
            return "none"
        if at < wait + warmup:
            return "warmup"
        return "save" if at == cycle - 1 else "record"

    return action


class profile:
    def __init__(self, schedule=None, on_trace_ready=None, record_shapes=False, with_stack=False):
        _may_fail("init")
        self.schedule, self.on_trace_ready = schedule or (lambda step: "record"), on_trace_ready
        self.number, self.steps, self.calls, self.members = 0, [], [], {}

    def start(self):
        _may_fail("start")
        self.calls.append("start")

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *why):
        self.stop()

    def _end_step(self):
        action = self.schedule(self.number)
        if action in ("record", "save"):
            self.steps.append(self.number)
        self.number += 1
        return action

    def add_metadata_json(self, key, value):
        """Which the real one forgets unless it records."""
        if self.schedule(self.number) in ("record", "save"):
            self.members[key] = json.loads(value)

    def step(self):
        _may_fail("step")
        if self._end_step() == "save" and self.on_trace_ready:
            self.on_trace_ready(self)
            self.steps = []

    def stop(self):
        _may_fail("stop")
        self.calls.append("stop")
        if self.steps and self.on_trace_ready:
            self.on_trace_ready(self)
            self.steps = []

    def export_chrome_trace(self, path):
        _may_fail("export")
        events = []
        for i, step in enumerate(self.steps):
            ts = 1000 * i
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}",
                           "pid": 1, "tid": 1, "ts": ts, "dur": 990})
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1,
                           "tid": 1, "ts": ts + 1, "dur": 2, "args": {"correlation": i + 1}})
            events.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
                           "ts": ts + 10, "dur": 500,
                           "args": {"device": 0, "stream": 7, "correlation": i + 1}})
        rank, world_size = _numbers_of_job()
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank,
                       "world_size": world_size},
                       "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}],
                       **self.members, "traceEvents": events}, out)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records real training runs on one GPU, each with what a clock says about it.

    tests/recorded/record.py OUT [JOB...]

Needs PyTorch with CUDA or ROCm. Per job a folder OUT/JOB: the trace (rank0.json.gz), and truth.json: the
mean time of a step in blocks of steps without any profiler, which is what the trace's figures and
promises of what-if are checked against, and the same while the profiler runs.
The jobs are one small GPT, and the same with one thing wrong: pairs whose difference has one cause.
"""

import dataclasses
import json
import math
import os
import statistics
import sys
import time
import traceback
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, record_function, schedule
from torch.utils.data import DataLoader, IterableDataset

BLOCKS, STEPS_PER_BLOCK = 5, 20


@dataclasses.dataclass
class Job:
    """What is special about a job; the defaults are the healthy one."""
    batch: int = 16
    length: int = 512
    width: int = 768
    layers: int = 4
    vocabulary: int = 8192
    precision: str = "bf16"        # of autocast; "fp32": none
    load_ms: float = 0             # work of the loader per batch, in the training's own process
    pageable_mb: int = 0           # copied to the GPU each step from memory that is not pinned
    items: int = 0                 # how often a step reads a number back from the GPU
    fused_attention: bool = True
    compiled: bool = False
    graph: bool = False            # the whole step is one CUDA graph
    options: dict = dataclasses.field(default_factory=dict)  # of the profiler


JOBS = {
    "healthy": Job(),
    "starved": Job(load_ms=15),
    "pageable": Job(pageable_mb=64),
    "items": Job(items=40),
    "unfused": Job(fused_attention=False),
    "odd_vocabulary": Job(vocabulary=8191),
    "fp32": Job(precision="fp32"),
    "small": Job(batch=1, length=64),
    "small_graph": Job(batch=1, length=64, graph=True),
    "compiled": Job(compiled=True),
    "stacks": Job(layers=2, options=dict(with_stack=True, with_modules=True, profile_memory=True)),
}


class Block(nn.Module):
    def __init__(self, job: Job):
        super().__init__()
        self.job = job
        self.norm1, self.norm2 = nn.LayerNorm(job.width), nn.LayerNorm(job.width)
        self.qkv = nn.Linear(job.width, 3 * job.width)
        self.out = nn.Linear(job.width, job.width)
        self.mlp = nn.Sequential(nn.Linear(job.width, 4 * job.width), nn.GELU(),
                                 nn.Linear(4 * job.width, job.width))

    def attention(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, -1, 64).transpose(1, 2)
                   for part in self.qkv(x).split(width, dim=2))
        if self.job.fused_attention:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(-2, -1) / math.sqrt(64)
            mask = torch.ones(length, length, dtype=torch.bool, device=x.device).triu(1)
            y = F.softmax(scores.masked_fill(mask, float("-inf")), dim=-1).to(v.dtype) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, job: Job):
        super().__init__()
        self.tokens = nn.Embedding(job.vocabulary, job.width)
        self.places = nn.Embedding(job.length, job.width)
        self.blocks = nn.ModuleList(Block(job) for _ in range(job.layers))
        self.norm = nn.LayerNorm(job.width)
        self.head = nn.Linear(job.width, job.vocabulary, bias=False)

    def forward(self, ids: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.places.weight[: ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        return F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())


class Batches(IterableDataset):
    """Random tokens; preparing a batch keeps the processor busy for load_ms."""

    def __init__(self, job: Job):
        self.job = job

    def __iter__(self):
        job = self.job
        while True:
            until = time.perf_counter() + job.load_ms / 1e3
            ids = torch.randint(job.vocabulary, (job.batch, job.length + 1))
            while time.perf_counter() < until:
                sum(range(1000))
            yield ids


class Training:
    def __init__(self, job: Job):
        torch.manual_seed(1)
        self.job = job
        self.model = Gpt(job).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True,
                                           capturable=job.graph)
        self.loss_of = torch.compile(self.model) if job.compiled else self.model
        self.batches = iter(DataLoader(Batches(job), batch_size=None, pin_memory=True))
        self.ballast = torch.empty(job.pageable_mb << 20, dtype=torch.uint8)
        self.graph = self.captured() if job.graph else None

    def forward_backward(self, ids: torch.Tensor) -> torch.Tensor:
        use = self.job.precision != "fp32"
        with record_function("forward"), torch.autocast("cuda", torch.bfloat16, enabled=use):
            loss = self.loss_of(ids[:, :-1], ids[:, 1:])
        with record_function("backward"):
            loss.backward()
        return loss

    def captured(self) -> torch.cuda.CUDAGraph:
        self.static_ids = next(self.batches).cuda()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.update(self.static_ids)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.update(self.static_ids)
        return graph

    def update(self, ids: torch.Tensor) -> torch.Tensor:
        loss = self.forward_backward(ids)
        with record_function("optimizer"):
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=not self.job.graph)
        return loss

    def step(self) -> None:
        ids = next(self.batches)
        if self.graph:
            self.static_ids.copy_(ids, non_blocking=True)
            self.graph.replay()
            return
        ids = ids.cuda(non_blocking=True)
        if self.job.pageable_mb:
            self.ballast.cuda()
        loss = self.update(ids)
        for _ in range(self.job.items):
            loss = loss + loss.item() * 1e-9


def block_ns(training: Training, after_step=lambda: None, steps: int = STEPS_PER_BLOCK) -> int:
    """Mean of a block's steps; the device is waited for at its ends only, as a training runs."""
    torch.cuda.synchronize()
    start = time.perf_counter_ns()
    for _ in range(steps):
        training.step()
        after_step()
    torch.cuda.synchronize()
    return (time.perf_counter_ns() - start) // steps


def profiled_ns(training: Training, folder: Path, options: dict) -> int:
    """Mean of the recorded steps by the clock."""
    wait, warmup, active = 1, 3, 4
    stamps = []
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 schedule=schedule(wait=wait, warmup=warmup, active=active, repeat=1),
                 on_trace_ready=lambda p: p.export_chrome_trace(str(folder / "rank0.json.gz")),
                 **options) as profiler:
        for at in range(wait + warmup + active):
            if at == wait + warmup:
                torch.cuda.synchronize()
                stamps.append(time.perf_counter_ns())
            training.step()
            if at == wait + warmup + active - 1:
                torch.cuda.synchronize()
                stamps.append(time.perf_counter_ns())
            profiler.step()
    return (stamps[1] - stamps[0]) // active


def record(name: str, job: Job, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    training = Training(job)
    for _ in range(2):
        block_ns(training)  # clocks, caches, compilation
    blocks = [block_ns(training) for _ in range(BLOCKS)]
    truth = {
        "job": {**dataclasses.asdict(job), "name": name},
        "parameters": sum(p.numel() for p in training.model.parameters()),
        "gpu": torch.cuda.get_device_name(), "torch": torch.__version__,
        "steps_per_block": STEPS_PER_BLOCK, "block_mean_step_ns": blocks,
        "peak_allocated_bytes": torch.cuda.max_memory_allocated(),
    }
    truth["profiled_mean_step_ns"] = profiled_ns(training, folder, job.options)
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    print(f"{name:16} {statistics.median(blocks) / 1e6:9.3f} ms a step, "
          f"{truth['profiled_mean_step_ns'] / 1e6:9.3f} while recorded", flush=True)


def main() -> int:
    out, names = Path(sys.argv[1]), sys.argv[2:] or list(JOBS)
    failed = 0
    for name in names:
        try:
            record(name, JOBS[name], out / name)
        except Exception:
            traceback.print_exc()
            failed += 1
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    return min(failed, 125)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what else a job of tracegen would have left: a training log, what a monitor recorded, a
test of the links and its configuration.

usage: as_evidence.py FOLDER [--price PRICE]

Reads rank0.json and truth.json in FOLDER and writes train.log (Megatron-LM), monitor.csv
(nvidia-smi, or amd-smi for ROCm), all_reduce.txt (nccl-tests), ds_config.json (DeepSpeed) and
figures.json: what a report must say about the job, computed here from what was written.
"""
import json
import statistics
import sys
from datetime import datetime, timedelta
from pathlib import Path

STEPS = 200          # of the log
MICRO_BATCH = 4      # tracegen's products have 8192 = 4 * 2048 rows
SEQ_LENGTH = 2048
SAMPLE_S = 1         # of the monitor
ZONE_S = 9 * 3600    # of nvidia-smi's times, which are local
GIB = 1 << 30


def step_ms(truth):
    """The median step of the trace's first rank in tenths of a millisecond, as logs print it."""
    steps = [s["end_ns"] - s["begin_ns"] for s in truth["ranks"][0]["steps"]]
    return round(statistics.median_low(sorted(steps)) / 1e6, 1)


def tflops(truth, ms):
    rank = truth["ranks"][0]
    flops = sum((row["flops"] or 0) * row["calls"] for row in rank["work"]) / rank["step_count"]
    return round(flops / (ms / 1e3) / 1e12, 1)


def times_of(ms):
    """The first step compiles; the others spread evenly around their median."""
    return [30 * ms] + [round(ms + (i % 5 - 2) * 0.1, 1) for i in range(1, STEPS)]


def losses():
    return [round(2 + 8 / (1 + i / 25), 6) for i in range(STEPS)]


def write_log(folder, ranks, ms, rate):
    batch = MICRO_BATCH * ranks
    lines = [f"using world size: {ranks}, data-parallel size: {ranks}",
             "------------------------ arguments ------------------------",
             f"  seq_length ................................... {SEQ_LENGTH}",
             f"  world_size ................................... {ranks}",
             "-------------------- end of arguments ---------------------"]
    for i, (time, loss) in enumerate(zip(times_of(ms), losses()), 1):
        lines.append(
            f" [2026-11-20 10:{i // 60:02d}:{i % 60:02d}] iteration {i:8d}/{STEPS:8d} | "
            f"consumed samples: {i * batch:12d} | elapsed time per iteration (ms): {time:.1f} | "
            f"throughput per GPU (TFLOP/s/GPU): {rate:.1f} | learning rate: 3.000000E-04 | "
            f"global batch size: {batch:5d} | lm loss: {loss:.6E} | grad norm: 1.000 | "
            "number of skipped iterations:   0 | number of nan iterations:   0 |")
    (folder / "train.log").write_text("\n".join(lines) + "\n")


def power_of(sample, gpu):
    return 600 + sample % 5 + 10 * gpu


def monitor_begin_s(base_ns, truth, samples):
    """Unix time of the first sample: the trace is in the middle."""
    begin_ns = min(rank["steps"][0]["begin_ns"] for rank in truth["ranks"])
    return (base_ns + begin_ns) // 10**9 - samples * SAMPLE_S // 2


def energies(base_ns, rank, begin_s):
    """Joules of each step of a rank's GPU, whose power is linear between samples."""
    def power(time_s):
        sample = int(time_s // SAMPLE_S)
        low, high = power_of(sample, rank["rank"]), power_of(sample + 1, rank["rank"])
        return low + (high - low) * (time_s / SAMPLE_S - sample)

    def energy(begin_ns, end_ns):
        begin, end = ((ns + base_ns - begin_s * 10**9) / 1e9 for ns in (begin_ns, end_ns))
        bends = [s * SAMPLE_S for s in range(int(begin // SAMPLE_S) + 1, int(end // SAMPLE_S) + 1)]
        times = [begin, *bends, end]
        return sum((power(a) + power(b)) / 2 * (b - a) for a, b in zip(times, times[1:]))

    return {step["step"]: energy(step["begin_ns"], step["end_ns"]) for step in rank["steps"]}


def local_text(unix_s):
    return (datetime(1970, 1, 1) + timedelta(seconds=unix_s + ZONE_S)).strftime("%Y/%m/%d %H:%M:%S")


def write_nvidia(folder, name, ranks, samples, begin_s):
    rows = ["timestamp, index, name, uuid, utilization.gpu [%], power.draw [W], clocks.sm [MHz], "
            "clocks.max.sm [MHz], temperature.gpu, memory.used [MiB], memory.total [MiB]"]
    for i in range(samples):
        time = local_text(begin_s + i * SAMPLE_S)
        rows += [f"{time}.000, {gpu}, {name}, GPU-{gpu:08x}, "
                 f"98 %, {power_of(i, gpu):.2f} W, 1755 MHz, 1980 MHz, 60, 70000 MiB, 81559 MiB"
                 for gpu in range(ranks)]
    (folder / "monitor.csv").write_text("\n".join(rows) + "\n")


def write_amd(folder, ranks, samples, begin_s):
    rows = ["timestamp,gpu,gfx_activity,umc_activity,socket_power,gfx_0_clk,mem_0_clk,edge,"
            "hotspot,mem,total_vram,used_vram,free_vram"]
    for i in range(samples):
        rows += [f"{begin_s + i * SAMPLE_S},{gpu},98,40,{power_of(i, gpu)},2100,1300,N/A,60,50,196592,"
                 "70000,126592" for gpu in range(ranks)]
    (folder / "monitor.csv").write_text("\n".join(rows) + "\n")


def write_link_test(folder, name, ranks):
    head = [f"# nThread 1 nGpus {ranks} minBytes 1048576 maxBytes 1073741824 step: 2(factor) "
            "warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0",
            "#", "# Using devices"]
    head += [f"#  Rank {rank:2d} Group  0 Pid  10{rank:02d} on node0 device {rank:2d} "
             f"[0x{rank:02x}] {name}" for rank in range(ranks)]
    head += ["#", "#" + " " * 62 + "out-of-place                       in-place",
             "#       size         count      type   redop    root     time   algbw   busbw "
             "#wrong     time   algbw   busbw #wrong",
             "#        (B)    (elements)                               (us)  (GB/s)  (GB/s) "
             "           (us)  (GB/s)  (GB/s)"]
    rows = []
    for power in range(20, 31):
        size = 1 << power
        bandwidth = 300 * size / (size + (4 << 20))
        algorithm = bandwidth / (2 * (ranks - 1) / ranks)
        time = size / algorithm / 1e3
        cells = f"{time:8.1f} {algorithm:7.2f} {bandwidth:7.2f}      0"
        rows.append(f"{size:12d} {size // 4:13d}     float     sum      -1 {cells} {cells}")
    tail = ["# Out of bounds values : 0 OK", "# Avg bus bandwidth    : 200.0", "#"]
    (folder / "all_reduce.txt").write_text("\n".join(head + rows + tail) + "\n")


def write_config(folder, ranks):
    config = {"train_batch_size": MICRO_BATCH * ranks,
              "train_micro_batch_size_per_gpu": MICRO_BATCH, "gradient_accumulation_steps": 1,
              "bf16": {"enabled": True}, "zero_optimization": {"stage": 1}}
    (folder / "ds_config.json").write_text(json.dumps(config, indent=2) + "\n")


def race(found):
    """The step of a loss, from 1, that is reached by the mean of those up to it."""
    window = min(20, len(found) // 20)
    smoothed = [sum(found[max(0, i + 1 - window):i + 1]) / len(found[max(0, i + 1 - window):i + 1])
                for i in range(len(found))]
    loss = min(smoothed)
    return loss, next(i for i, one in enumerate(smoothed, 1) if one <= loss)


def convergence_of(ranks):
    """What a report says about losses, by the words of its rows."""
    found = losses()
    loss, step = race(found)
    rows = {f"Loss after step {step}": found[step - 1]
            for step in range(STEPS // 4, STEPS + 1, STEPS // 4)}
    rows[f"Steps to loss {loss:.4g}"] = step
    rows[f"Tokens to loss {loss:.4g}"] = step * MICRO_BATCH * SEQ_LENGTH * ranks
    rows[f"Time to loss {loss:.4g}"] = (step - 1) * 1e9
    return rows


def link_peak():
    """The highest bus bandwidth that write_link_test prints."""
    size = 1 << 30
    return round(300 * size / (size + (4 << 20)), 2)


def figures_of(truth, device, ms, rate, samples, price):
    ranks = len(truth["ranks"])
    step_s = ms / 1e3
    tokens = MICRO_BATCH * SEQ_LENGTH / step_s
    power = statistics.median_low(sorted(power_of(i, 0) for i in range(samples)))
    reserved = max(rank["memory"]["peak_reserved_bytes"] for rank in truth["ranks"])
    found = {
        "Step time": ms * 1e6, "Tokens/s": tokens * ranks, "Tokens/s per GPU": tokens,
        "Samples/s": MICRO_BATCH * ranks / step_s, "TFLOP/s per GPU": rate,
        "Peak memory per GPU": reserved,
        "Peak memory, of capacity": reserved / device["totalGlobalMem"],
        "Loss": losses()[-1], "Lowest loss": min(losses()), "GPUs": ranks,
    }
    # The lower median of two GPUs is the first one's.
    found["Power per GPU"] = power
    found["Energy per step and GPU"] = power * step_s
    found["Tokens per joule"] = tokens / power
    if price:
        found["Cost per million tokens"] = price / 3600 / tokens * 1e6
    return {"report": found, "convergence": convergence_of(ranks),
            "links": {"all_reduce": link_peak()}}


def main():
    folder = Path(sys.argv[1])
    price = float(sys.argv[3]) if sys.argv[2:3] == ["--price"] else 0
    truth = json.loads((folder / "truth.json").read_text())
    trace = json.loads((folder / "rank0.json").read_text())
    device = trace["deviceProperties"][0]
    base_ns = trace["baseTimeNanoseconds"]
    ranks = len(truth["ranks"])
    ms = step_ms(truth)
    rate = tflops(truth, ms)
    samples = 60 // SAMPLE_S
    write_log(folder, ranks, ms, rate)
    begin_s = monitor_begin_s(base_ns, truth, samples)
    if truth["flavour"] == "rocm":
        write_amd(folder, ranks, samples, begin_s)
    else:
        write_nvidia(folder, device["name"], ranks, samples, begin_s)
    write_link_test(folder, device["name"], ranks)
    write_config(folder, ranks)
    found = figures_of(truth, device, ms, rate, samples, price)
    found["step_energy_j"] = {rank["rank"]: energies(base_ns, rank, begin_s)
                              for rank in truth["ranks"]}
    found["zone_ns"] = None if truth["flavour"] == "rocm" else ZONE_S * 10**9
    (folder / "figures.json").write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole way on a machine with a GPU: a service, its hook, its agent and PyTorch's own Kineto.

    tests/recorded/service.py STEPSCOPE OUT

STEPSCOPE: the program. Prints one JSON object, and keeps it in OUT/service.json, with the traces that
the service received: what the hook costs a step, how long from the end of a recording to figures,
and what became of a capture that was asked for while two ranks trained.
"""

import json
import os
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve()
BASE = "http://127.0.0.1:8123"
GONE = "http://127.0.0.1:9"
sys.path[:0] = [str(HERE.parent), str(HERE.parents[2] / "web/client")]


def api(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(BASE + path, data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


def until(what, found, seconds=60):
    end = time.time() + seconds
    while time.time() < end:
        try:
            value = found()
        except (OSError, KeyError, IndexError):
            value = None
        if value:
            return value
        time.sleep(0.1)
    raise TimeoutError(what)


def settled(run):
    return until(f"figures of {run}", lambda: (
        lambda info: info if info["status"] in ("done", "failed", "partial") else None)(api(f"/api/v1/runs/{run}")))


def hook_cost(out):
    """What the hook adds to a step outside of captures, as shares of the step: the time inside its
    calls, and the median of pairs of short blocks with and without it, in turns, with its standard error."""
    import record as jobs
    import stepscope
    training = jobs.Training(jobs.JOBS["small"])
    for _ in range(3):
        jobs.block_ns(training)
    shares = {}
    for name, url in (("hub", BASE), ("hub_gone", GONE)):
        hook, inside = stepscope.Recorder(), []
        hook.start(f"cost-{name}", url=url, spool=str(out / "spool"), wait=10 ** 9)

        def mark():
            start = time.perf_counter_ns()
            for stage in ("data", "forward", "backward"):
                hook.stage(stage)
            hook.step()
            inside.append(time.perf_counter_ns() - start)

        pairs = []
        for at in range(60):
            # The order changes, so that what drifts does not count for one of the two.
            first, second = (lambda: None, mark) if at % 2 else (mark, lambda: None)
            a, b = jobs.block_ns(training, first, 10), jobs.block_ns(training, second, 10)
            pairs.append((a, b) if at % 2 else (b, a))
        added = sorted(with_hook / without - 1 for without, with_hook in pairs)
        middle = statistics.median(added)
        spread = statistics.median(abs(one - middle) for one in added)
        start = time.perf_counter()
        hook.close(timeout=1)
        shares[name] = {
            "step_ns": statistics.median(without for without, _ in pairs),
            "inside_share": statistics.mean(inside) / statistics.mean(without for without, _ in pairs),
            "paired_share": middle, "paired_standard_error": 1.2533 * 1.4826 * spread / len(added) ** 0.5,
            "close_s": time.perf_counter() - start}
    return shares


def train(name, steps, run, url):
    """A process that records itself; ends when all is sent."""
    import record as jobs
    import stepscope
    training = jobs.Training(jobs.JOBS[name])
    jobs.block_ns(training)
    stepscope.record.start(run, url=url, wait=5, warmup=2, active=4)
    for _ in range(steps):
        training.step()
        stepscope.record.step()
    start = time.time()
    stepscope.record.close(timeout=30)
    print(f"closed in {time.time() - start:.2f} s: {stepscope.record!r} {stepscope.record.error!r}", flush=True)


def recorded_by_hook(out):
    from stepscope import Hub
    subprocess.run([sys.executable, str(HERE), "train", "healthy", "30", "hook", BASE], check=True, timeout=90,
                   cwd=out)
    start = time.time()
    run = settled("hook")
    hub = Hub(BASE)
    kernels = hub.run("hook").kernels()
    found = {"status": run["status"], "figures_after_close_s": time.time() - start, "kernels": len(kernels),
             "meta": run["meta"]}
    found["arrow"] = str(kernels.arrow().schema)
    found["arrow_rows"] = kernels.arrow().num_rows
    found["pandas"] = [str(kind) for kind in kernels.df().dtypes]
    return found


def rank_of_two(rank, seconds):
    """One of two ranks over gloo on the same GPU; rank 1 loads its data more slowly."""
    import datetime
    import dataclasses
    import torch.distributed as dist
    import record as jobs
    from torch.nn.parallel import DistributedDataParallel
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:29511", rank=rank, world_size=2,
                            timeout=datetime.timedelta(seconds=60))
    training = jobs.Training(dataclasses.replace(jobs.JOBS["healthy"], batch=4, layers=2, load_ms=30 if rank else 0))
    training.loss_of = DistributedDataParallel(training.model)
    end, steps = time.time() + seconds, 0
    start = time.perf_counter()
    while True:
        training.step()
        steps += 1
        Path("stepping").touch()  # in OUT
        # Both have to stop at the same step.
        go = jobs.torch.tensor([float(time.time() < end)])
        dist.all_reduce(go)
        if go[0] < 2:
            break
    print(f"rank {rank}: {steps} steps, {(time.perf_counter() - start) / steps * 1e3:.2f} ms each", flush=True)


def recorded_on_request(out, binary):
    sockets = out / "sockets"
    sockets.mkdir(mode=0o700)
    agent = subprocess.Popen([binary, "agent", "--url", BASE, "--node", "node1", "--socket-dir", sockets,
                              "--traces", "/tmp/stepscope-agent", "--poll", "1"],
                             stderr=(out / "agent.log").open("w"))
    ranks = [subprocess.Popen([sys.executable, str(HERE), "rank", str(rank), "50"], cwd=out,
                              stdout=(out / f"rank{rank}.log").open("w"), stderr=subprocess.STDOUT,
                              env={**os.environ, "KINETO_USE_DAEMON": "1", "KINETO_IPC_SOCKET_DIR": str(sockets),
                                   "KINETO_LOG_LEVEL": "0", "SLURM_JOB_ID": "4242", "RANK": str(rank), "WORLD_SIZE": "2"})
             for rank in range(2)]
    try:
        nodes = until("both processes", lambda: (
            lambda known: known if len(known["nodes"][0]["processes"]) == 2 else None)(api("/api/v1/agents")))
        until("a counted step", (out / "stepping").exists)
        pressed = time.time()
        asked = api("/api/v1/captures", {"run": "captured", "job": "4242", "steps": 4})
        run = until("the run", lambda: (
            lambda info: info if len(info["traces"]) == 2 and info["status"] in ("done", "failed", "partial") else None)(
                api("/api/v1/runs/captured")), 60)
        found = {"seconds_from_press_to_figures": time.time() - pressed, "asked": asked, "status": run["status"],
                 "processes": nodes["nodes"][0]["processes"], "traces": run["traces"]}
    finally:
        for one in ranks:
            one.wait(timeout=90)
        found_status = [one.returncode for one in ranks]
        agent.terminate()
        agent.wait(timeout=10)
    found["exit_status_of_ranks"] = found_status
    found["findings"] = [{key: one.get(key) for key in ("rule", "id", "title", "severity", "cost_ns")}
                         for one in api("/api/v1/runs/captured/findings?limit=20")["items"]]
    for rank in range(2):
        with urllib.request.urlopen(f"{BASE}/api/v1/runs/captured/ranks/{rank}/trace") as reply:
            kind = reply.headers.get("Content-Disposition", "")
            (out / f"captured_rank{rank}.{'json.zst' if 'zst' in kind else 'json.gz' if 'gz' in kind else 'json'}"
             ).write_bytes(reply.read())
    return found


def main():
    if sys.argv[1] == "train":
        return train(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
    if sys.argv[1] == "rank":
        return rank_of_two(int(sys.argv[2]), float(sys.argv[3]))
    binary, out = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    hub = subprocess.Popen([binary, "serve", "--data", out / "data", "--listen", "127.0.0.1:8123"],
                           stdout=(out / "hub.log").open("w"), stderr=subprocess.STDOUT)
    answers = {}
    try:
        until("the service", lambda: urllib.request.urlopen(BASE + "/healthz", timeout=2).status == 200)
        for name, part in (("hook", recorded_by_hook), ("capture", lambda out: recorded_on_request(out, binary)),
                           ("hook_cost", hook_cost)):
            start = time.time()
            try:
                answers[name] = part(out)
            except Exception as error:
                answers[name] = {"error": f"{type(error).__name__}: {error}"}
            print(f"{name}: {time.time() - start:.1f} s", flush=True)
    finally:
        hub.terminate()
        hub.wait(timeout=20)
    (out / "service.json").write_text(json.dumps(answers, indent=1) + "\n")
    print(json.dumps({name: {key: value for key, value in answer.items() if key != "arrow"}
                      for name, answer in answers.items()}, indent=1))


if __name__ == "__main__":
    main()

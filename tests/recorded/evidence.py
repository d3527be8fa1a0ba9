#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records what else says something of a training, on a machine with one GPU.

    tests/recorded/evidence.py OUT [KIND...]

Each kind runs in its own process and is left out, with the reason, where its package is not
there. Files go to OUT.
"""

import os
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve()
NCU = shutil.which("ncu") or next(map(str, Path("/opt/nvidia").glob("nsight-compute/*/ncu")), "ncu")


def training(name):
    sys.path.insert(0, str(HERE.parent))
    import record
    return record.Training(record.JOBS[name])


def snapshot(out):
    """The allocator's history and state, as pickle."""
    import torch
    torch.cuda.memory._record_memory_history(max_entries=4000)
    job = training("healthy")
    for _ in range(2):
        job.step()
    torch.cuda.synchronize()
    torch.cuda.memory._dump_snapshot(str(out / "memory_snapshot.pickle"))
    stats = torch.cuda.memory_stats()
    (out / "memory_snapshot.txt").write_text("".join(
        f"{key} {stats[key]}\n" for key in ("allocated_bytes.all.current", "allocated_bytes.all.peak",
                                            "reserved_bytes.all.current", "active_bytes.all.current")))


def out_of_memory(out):
    """The same after an allocation that did not fit."""
    import torch
    torch.cuda.memory._record_memory_history(max_entries=2000)
    torch.cuda.set_per_process_memory_fraction(0.05)
    kept = []
    try:
        while True:
            kept.append(torch.empty(256 << 20, dtype=torch.uint8, device="cuda"))
    except torch.cuda.OutOfMemoryError as error:
        torch.cuda.memory._dump_snapshot(str(out / "oom_snapshot.pickle"))
        (out / "oom.txt").write_text(f"{error}\n")


def execution_trace(out):
    """What Chakra reads."""
    import torch
    from torch.profiler import ExecutionTraceObserver
    job = training("small")
    job.step()
    observer = ExecutionTraceObserver().register_callback(str(out / "execution_trace.json"))
    observer.start()
    job.step()
    torch.cuda.synchronize()
    observer.stop()
    observer.unregister_callback()


def flight_rank(rank, out, fault):
    """Four ranks over gloo, on the processor; rank 2 does what `fault` says at the sixth call."""
    os.environ.update(TORCH_FR_BUFFER_SIZE="200", TORCH_NCCL_TRACE_BUFFER_SIZE="200",
                      TORCH_NCCL_DUMP_ON_TIMEOUT="1")
    import datetime
    import torch
    import torch.distributed as dist
    dist.init_process_group("gloo", init_method=f"file://{out}/.store_{fault}", rank=rank,
                            world_size=4, timeout=datetime.timedelta(seconds=8))
    value = torch.ones(1000)
    try:
        for at in range(10):
            if rank == 2 and at == 5 and fault == "skips":
                continue
            if rank == 2 and at == 5 and fault == "hangs":
                time.sleep(12)
            dist.all_reduce(value[: 500 if rank == 2 and at == 5 and fault == "size" else 1000])
    except RuntimeError as error:
        print(f"rank {rank}: {str(error).splitlines()[0]}", flush=True)
    module = torch._C._distributed_c10d
    for name in ("_dump_fr_trace", "_dump_nccl_trace"):
        if hasattr(module, name):
            data = getattr(module, name)()
            (out / f"flight_{fault}{name}_{rank}").write_bytes(data if isinstance(data, bytes) else pickle.dumps(data))
    os._exit(0)


def flight(out):
    """Dumps of the flight recorder of a job that hangs."""
    import torch
    print([name for name in dir(torch._C._distributed_c10d) if "dump" in name.lower()])
    running = [subprocess.Popen([sys.executable, str(HERE), str(out), f"flight_rank:{rank}:{fault}"])
               for fault in ("skips", "hangs") for rank in range(4)]
    for one in running:
        one.wait(timeout=60)


def logged(out, name, text):
    path = out / name
    path.write_text(text)
    subprocess.run([sys.executable, str(path)], check=False, timeout=100, cwd=out,
                   stdout=(out / f"{name[:-3]}.log").open("w"), stderr=subprocess.STDOUT)


def hugging_face(out):
    """Console and event file of transformers' Trainer."""
    logged(out, "hugging_face.py", '''
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
class Data(torch.utils.data.Dataset):
    def __len__(self): return 8 * 60
    def __getitem__(self, i):
        ids = torch.randint(2000, (128,), generator=torch.Generator().manual_seed(i))
        return {"input_ids": ids, "labels": ids}
model = GPT2LMHeadModel(GPT2Config(vocab_size=2000, n_layer=4, n_embd=256, n_head=4, n_positions=128))
Trainer(model=model, train_dataset=Data(), eval_dataset=torch.utils.data.Subset(Data(), range(32)),
        args=TrainingArguments("hf_out", per_device_train_batch_size=8, logging_steps=5, max_steps=60,
                               eval_strategy="steps", eval_steps=20, save_steps=30, bf16=True,
                               include_num_input_tokens_seen="all", report_to="tensorboard")).train()
''')
    for path in (out / "hf_out").rglob("events.out*"):
        shutil.copy(path, out / "hugging_face.tfevents")
    for path in (out / "hf_out").rglob("trainer_state.json"):
        shutil.copy(path, out / "trainer_state.json")
    shutil.rmtree(out / "hf_out", ignore_errors=True)


def lightning(out):
    """Console, CSV and event file of Lightning."""
    logged(out, "lightning_job.py", '''
import torch, lightning
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 1))
    def training_step(self, batch, at):
        loss = self.net(batch[0]).square().mean()
        self.log("train_loss", loss, prog_bar=True)
        return loss
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), 1e-3)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(3200, 256)), batch_size=32)
lightning.Trainer(max_epochs=2, accelerator="gpu", devices=1, log_every_n_steps=10,
                  logger=[CSVLogger("lightning_out"), TensorBoardLogger("lightning_out")]).fit(Model(), data)
''')
    for path in (out / "lightning_out").rglob("metrics.csv"):
        shutil.copy(path, out / "lightning_metrics.csv")
    for path in (out / "lightning_out").rglob("events.out*"):
        shutil.copy(path, out / "lightning.tfevents")
    shutil.rmtree(out / "lightning_out", ignore_errors=True)
    shutil.rmtree(out / "checkpoints", ignore_errors=True)


def xplane(out):
    """JAX's profile of a jitted training step."""
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    import jax.numpy as jnp

    def loss(weights, x):
        for w in weights:
            x = jax.nn.gelu(x @ w)
        return (x * x).mean()

    weights = [jax.random.normal(jax.random.PRNGKey(i), (1024, 1024), jnp.bfloat16) for i in range(4)]
    x = jax.random.normal(jax.random.PRNGKey(9), (2048, 1024), jnp.bfloat16)
    step = jax.jit(lambda w, x: jax.tree.map(lambda a, g: a - g, w, jax.grad(loss)(w, x)))
    jax.block_until_ready(step(weights, x))
    with jax.profiler.trace(str(out / "jax")):
        for at in range(5):
            with jax.profiler.StepTraceAnnotation("train", step_num=at):
                weights = step(weights, x)
        jax.block_until_ready(weights)
    for path in (out / "jax").rglob("*.xplane.pb"):
        shutil.copy(path, out / "jax.xplane.pb")
    for path in (out / "jax").rglob("*.trace.json.gz"):
        shutil.copy(path, out / "jax.trace.json.gz")
    shutil.rmtree(out / "jax")


def small_steps(_):
    """What Nsight Compute is shown."""
    import torch
    job = training("small")
    for _ in range(2):
        job.step()
    torch.cuda.synchronize()


def nsight_compute(out):
    """Details and raw page of the first kernels of a step, as CSV."""
    report = out / "kernels.ncu-rep"
    subprocess.run([NCU, "--set", "full", "--clock-control", "none", "--launch-skip", "60", "--launch-count", "24",
                    "-f", "-o", str(report.with_suffix("")), sys.executable, str(HERE), str(out), "small_steps"],
                   check=False, timeout=120, stdout=subprocess.DEVNULL)
    for page in ("details", "raw"):
        with (out / f"ncu_{page}.csv").open("w") as file:
            subprocess.run([NCU, "--import", str(report), "--csv", "--page", page], stdout=file, check=False)


QUERY = ("timestamp,index,uuid,name,pci.bus_id,utilization.gpu,utilization.memory,memory.used,memory.total,"
         "power.draw,power.limit,clocks.sm,clocks.mem,temperature.gpu,clocks_event_reasons.active,pstate")
MONITORS = {
    "nvidia_smi_query.csv": ["--query-gpu=" + QUERY, "--format=csv", "-lms", "200"],
    "nvidia_smi_query_nounits.csv": ["--query-gpu=timestamp,index,utilization.gpu,power.draw,clocks.sm",
                                     "--format=csv,noheader,nounits", "-l", "1"],
    "nvidia_smi_dmon.txt": ["dmon", "-s", "pucvmet", "-o", "DT", "-d", "1"],
    "nvidia_smi_dmon.csv": ["dmon", "-s", "pucm", "--format", "csv", "-d", "1"],
    "nvidia_smi_pmon.txt": ["pmon", "-s", "um", "-o", "DT", "-d", "1"],
}


def monitors(out):
    """nvidia-smi in its forms, beside a training that pauses in the middle; what the clock said."""
    import torch
    job = training("healthy")
    job.step()
    running = [subprocess.Popen(["nvidia-smi", *words], stdout=(out / name).open("w"))
               for name, words in MONITORS.items()]
    marks = []
    for busy in (False, True, False, True, False):
        marks.append(f"{time.time():.3f} {'busy' if busy else 'idle'}\n")
        until = time.time() + 3
        while time.time() < until:
            if busy:
                job.step()
                torch.cuda.synchronize()
            else:
                time.sleep(0.05)
    (out / "monitors_truth.txt").write_text("".join(marks) + f"{time.time():.3f} end\n")
    for one in running:
        one.terminate()
    for name, words in {"nvidia_smi_q.txt": ["-q"], "nvidia_smi.txt": [], "topo.txt": ["topo", "-m"]}.items():
        subprocess.run(["nvidia-smi", *words], stdout=(out / name).open("w"), check=False)
    with (out / "collect_env.txt").open("w") as file:
        subprocess.run([sys.executable, "-m", "torch.utils.collect_env"], stdout=file, check=False)


KINDS = [monitors, snapshot, out_of_memory, execution_trace, flight, hugging_face, lightning, xplane, nsight_compute]
OTHERS = [small_steps]


def main():
    out, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    out.mkdir(parents=True, exist_ok=True)
    if len(names) == 1 and names[0].startswith("flight_rank:"):
        _, rank, fault = names[0].split(":")
        return flight_rank(int(rank), out, fault)
    known = {kind.__name__: kind for kind in KINDS + OTHERS}
    if len(names) == 1:
        return known[names[0]](out)
    for name in names or [kind.__name__ for kind in KINDS]:
        start = time.time()
        try:
            status = subprocess.run([sys.executable, str(HERE), str(out), name], timeout=150).returncode
        except subprocess.TimeoutExpired:
            status = "timed out"
        print(f"{name}: {'done' if status == 0 else status}, {time.time() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main()

// SPDX-License-Identifier: Apache-2.0
// The guide: how to record a trace that answers your questions, and what that costs.
import { html } from "../../base/ui.mjs";
import { use_title } from "../../base/hooks.mjs";
import { Card, Command } from "../../widgets/widgets.mjs";

const origin = () => location.origin;

/** The recording that answers most questions. */
export const RECORD = `import os
from torch.profiler import ProfilerActivity, profile, schedule

rank = int(os.environ.get("RANK", "0"))

with profile(
    # ProfilerActivity.CUDA is the name on ROCm, too
    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
    schedule=schedule(wait=10, warmup=2, active=8, repeat=1),
    on_trace_ready=lambda p: p.export_chrome_trace(f"rank{rank}.json.gz"),
    record_shapes=True,
) as prof:
    for batch in loader:
        train_step(batch)
        prof.step()`;

const DEEP = `with profile(
    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
    schedule=schedule(wait=10, warmup=2, active=3, repeat=1),
    on_trace_ready=lambda p: p.export_chrome_trace(f"rank{rank}.json.gz"),
    record_shapes=True,
    profile_memory=True,
    with_stack=True,
    experimental_config=torch._C._profiler._ExperimentalConfig(
        enable_cuda_sync_events=True),  # CUDA only
) as prof:
    ...`;

const SOME_RANKS = `import contextlib

chosen = {0, 1, world_size // 2, world_size - 1}
context = profile(...) if rank in chosen else contextlib.nullcontext()
with context as prof:
    for batch in loader:
        train_step(batch)
        if prof:
            prof.step()`;

const OWN_STEPS = `from torch.profiler import record_function

with record_function("train_step"):
    train_step(batch)`;

const LIGHTNING = `from lightning.pytorch.profilers import PyTorchProfiler

profiler = PyTorchProfiler(
    dirpath="traces", filename="run", record_shapes=True,
    schedule=schedule(wait=10, warmup=2, active=8, repeat=1))
trainer = Trainer(profiler=profiler, ...)`;

const NSYS = `nsys profile --trace=cuda,nvtx --pytorch=autograd-shapes-nvtx \\
  --capture-range=cudaProfilerApi --capture-range-end=stop -o rank%q{RANK} python train.py
nsys export --type sqlite --include-blobs=true --include-json=true rank0.nsys-rep`;

const ROCPROF = `rocprofv3 --kernel-trace --memory-copy-trace --hip-runtime-trace --marker-trace \\
  --output-format rocpd -d traces -o rank%env{RANK}% -- python train.py`;

const RPD = `runTracer.sh -o rank0.rpd python train.py`;

const EXTRAE = () => `curl -F run=my-run -F trace=@job.prv -F trace=@job.pcf \\
  -F trace=@job.row ${origin()}/upload`;

const SAMPLES = `py-spy record -f speedscope -o rank0.speedscope.json --pid PID
perf record -g python train.py; perf script > perf.txt`;

const JAX_OPTIONS = `options = jax.profiler.ProfileOptions()
options.python_tracer_level = 1  # the line of Python; slow
with jax.profiler.trace("traces", profiler_options=options):
    ...`;

const JAX = `with jax.profiler.trace("traces"):
    for step in range(10, 20):
        with jax.profiler.StepTraceAnnotation("train", step_num=step):
            train_step(batch)`;

const HF_TRAINER = `from transformers import TrainerCallback

class StepProfiler(TrainerCallback):
    def __init__(self, prof):
        self.prof = prof

    def on_step_end(self, args, state, control, **kwargs):
        self.prof.step()

with profile(...) as prof:
    trainer.add_callback(StepProfiler(prof))
    trainer.train()`;

const MEGATRON = `--profile --use-pytorch-profiler --tensorboard-dir traces \\
--profile-step-start 20 --profile-step-end 28 --profile-ranks 0 1 8`;

const TORCHTITAN = `--profiling.enable_profiling --profiling.profile_freq 100 \\
--profiling.save_traces_folder traces`;

const HOOK = () => `curl -sSO ${origin()}/client/stepscope.py
export STEPSCOPE_URL=${origin()} STEPSCOPE_RUN=my-run     # and STEPSCOPE_TOKEN

from stepscope import record
for batch in loader:
    train_step(batch)
    record.step()`;

const PUSH = () => `stepscope watch traces --run my-run --url ${origin()}   # while the job runs
stepscope push traces --run my-run --url ${origin()}    # afterwards`;

/** Each option, what it shows, what it costs. */
const OPTIONS = [
  ["ProfilerActivity.CUDA", "Kernels and copies: the breakdown and everything built on it. "
    + "The name is the same on ROCm.", "540 to 830 bytes of JSON per kernel."],
  ["ProfilerActivity.CPU", "Operators and launches: which operator a kernel belongs to, why the "
    + "device idles, sizes and groups of collectives.",
  "Host time for each operator and launch. 200 bytes per operator and per launch."],
  ["schedule, prof.step()", "Step marks. Without a schedule PyTorch writes none.",
    "Nothing."],
  ["record_shapes", "FLOPs, bytes, roofline, operators by shape.",
    "About 190 bytes per operator, 10 to 15 % of the file. A little host time. Inputs are kept "
    + "alive slightly longer, which can raise peak memory."],
  ["with_stack", "The line of Python that launches and idle time come from; time per nn.Module.",
    "About 230 bytes per Python call, a fifth to half of the file. It slows Python down, so idle "
    + "time waiting for the host grows: record it in a separate run."],
  ["with_modules", "Modules of TorchScript models; other models need with_stack.",
    "Little."],
  ["profile_memory", "Memory over time, the peak and what holds it, leaks.",
    "About 280 bytes per allocation and release, 10 to 13 % of the file, and host time for each."],
  ["enable_cuda_sync_events", "Which stream or event was waited for. CUDA only.",
    "An event per synchronization."],
  ["with_flops", "Nothing here: FLOPs are computed from shapes.", "Leave it off."],
];

function Options() {
  return html`<dl class="definitions">${OPTIONS.map(([name, tells, costs]) => html`
      <div key=${name}><dt><code>${name}</code></dt><dd>${tells} <em>Costs:</em> ${costs}</dd>
      </div>`)}</dl>
    <p class="faint">Sizes are of uncompressed JSON, measured on traces of a plain and a
      distributed training run and of inference, on H100 and MI300X; gzip and zstd compress them
      to about a tenth. Host time was not measured: it depends on how short the operators are.
      Compare your step time with and without the profiler.</p>`;
}

function Schedule() {
  return html`<ul class="notes">
    <li><code>wait</code> lets the job settle: allocator, autotuning, compilation, data
      loader.</li>
    <li><code>warmup</code> runs the profiler and discards what it records: starting it takes time
      that would otherwise be in the first step. Use at least one; two are safe.</li>
    <li><code>active</code> is recorded: eight or more steps give a confidence interval once the
      first is excluded. A trace of a few seconds shows as much as one of several minutes.</li>
    <li><code>repeat=1</code> stops after one cycle. Without it the cycle repeats and overwrites a
      file of the same name.</li>
    <li>Call <code>prof.step()</code> once per optimizer step, after all micro-batches.</li>
  </ul>
  <p>No schedule? Name your own annotation, and give its name when
    uploading: <code>step=train_step</code>, or <code>step=train*</code> for all that start
    so.</p>
  <${Command} text=${OWN_STEPS} />
  <p><code>warmup=N</code> excludes the first N steps; without it, those that differ from the
    later ones. Both can be changed on the run later, which reanalyzes it.</p>`;
}

function Ranks() {
  return html`<ul class="notes">
    <li>All ranks, when you look for stragglers, imbalance or waiting: one missing rank may be the
      one all others wait for.</li>
    <li>Otherwise a few: rank 0, its neighbor, one on another node, and the last; with pipeline
      parallelism, one per stage. Give the size of the job as <code>world_size=</code> when you
      upload.</li>
    <li>All ranks that record must record the same steps. Ranks that do not record wait for the
      slower ones that do.</li>
    <li>Start the profiler after <code>init_process_group</code>, so that the trace contains its
      rank, the size of the job and its groups.</li>
  </ul><${Command} text=${SOME_RANKS} />`;
}

function Files() {
  return html`<ul class="notes">
    <li><code>export_chrome_trace("rank3.json.gz")</code> writes the file you name, compressed when
      it ends in <code>.gz</code>. <code>tensorboard_trace_handler(folder, f"rank{rank}",
      use_gzip=True)</code> writes <code>rank3.TIME.pt.trace.json.gz</code>; without a worker name
      the file's name says host and process, not the rank.</li>
    <li>The rank is taken from the field <code>rank=</code>, else from the trace, else from a name
      such as <code>rank3</code>, <code>rank-3</code> or <code>rank_3</code>.</li>
    <li>Writing takes a while and stops the rank. Plain <code>.json</code> to a local disk is
      fastest; <code>zstd rank3.json</code> afterwards makes the upload small.</li>
    <li>A killed job leaves a truncated file. It can be uploaded: what is there is read, and the
      trust report says where it ends.</li>
  </ul>
  <${Command} text=${`curl -F run=my-run -F world_size=8 \\
  $(printf -- '-F trace=@%s ' rank*.json.gz) ${origin()}/upload`} />
  <${Command} text=${`curl -F run=my-run -F step='train*' -F warmup=2 \\
  -F trace=@rank0.json.gz '${origin()}/upload?wait=60'`} />`;
}

function Vendors() {
  return html`<ul class="notes">
    <li>The code is the same. PyTorch for ROCm calls its GPU <code>cuda</code>, its runtime
      calls <code>hip…</code> and RCCL's kernels <code>nccl…</code>.</li>
    <li>NVIDIA: grid, block, registers, shared memory and occupancy are always recorded. Only one
      profiler can hold the GPU: stop Nsight and DCGM's profiling counters first.</li>
    <li>AMD: grid and block only, and with older ROCm not even these for every kernel. Some
      durations overrun the next kernel; they are cut there, and the trust report counts them.</li>
    <li>RCCL's kernels are often named <code>ncclDevKernel_Generic</code>. Their operation is
      recorded with the operator: enable <code>ProfilerActivity.CPU</code>.</li>
    <li>CUDA and HIP graphs: the kernels of a graph belong to its one launch. To see operators,
      record once without graphs.</li>
  </ul>`;
}

function Frameworks() {
  return html`
    <h3>Lightning</h3><${Command} text=${LIGHTNING} />
    <h3>Hugging Face Trainer</h3><${Command} text=${HF_TRAINER} />
    <h3>Megatron-LM</h3><${Command} text=${MEGATRON} />
    <p class="faint">It records with stacks; edit its training loop to turn them off.</p>
    <h3>torchtitan</h3><${Command} text=${TORCHTITAN} />
    <p class="faint">Option names differ between versions: <code>--help</code> has yours. Traces
      taken for Holistic Trace Analysis, TraceLens, TensorBoard or Perfetto can be uploaded as they
      are.</p>`;
}

function Others() {
  return html`
    <h3>Nsight Systems</h3><${Command} text=${NSYS} />
    <p>Upload the <code>.sqlite</code> file; only nsys can read a <code>.nsys-rep</code>. Each
      process in it becomes a rank. Call <code>torch.cuda.profiler.start()</code> after the
      warm-up and <code>stop()</code> at the end; without <code>--capture-range-end=stop</code> that
      ends the job. nsys goes inside the launcher, once per rank:
      ${" "}<code>torchrun --no-python nsys profile ...</code>, or
      ${" "}<code>srun nsys profile ...</code> with
      ${" "}<code>%q{SLURM_PROCID}</code>. A version without <code>--pytorch</code>:
      ${" "}<code>torch.autograd.profiler.emit_nvtx(record_shapes=True)</code> around the steps.
      NVTX ranges appear on the <em>Ranges</em> page;
      ${" "}<code>step=</code> makes one of them the step. By default a CUDA graph is recorded as a
      whole; <code>--cuda-graph-trace=node</code> records its kernels.</p>
    <p class="faint">Shapes come without types: FLOPs of matrix products are known, bytes and MFU
      are not. Where one nsys recorded all processes of a node, ranks are taken from MPI or, with
      the options above, from NCCL. Otherwise they are numbered by file name and device, and the
      trust report says so: name the files by node.</p>
    <h3>rocprofv3</h3><${Command} text=${ROCPROF} />
    <p>Upload the <code>.db</code> files; each process in one becomes a rank. They need ROCm 7;
      earlier versions have <code>--output-format json</code>. rocprofv3 goes inside the launcher,
      too; under srun the rank is <code>%env{SLURM_PROCID}%</code>. To leave out the warm-up, add
      ${" "}<code>--selected-regions</code>, and call <code>roctxProfilerResume(0)</code> before and
      ${" "}<code>roctxProfilerPause(0)</code> after the steps. With CSV output,
      send all files of a process in one request: they become one trace. Push a roctx range of
      the same name around each step and give that name as <code>step=</code>.</p>
    <p class="faint">On older ROCm: <code>rocprofv2 --hip-trace --plugin file -d DIR</code>
      ${" "}or <code>rocprof --timestamp on</code>, as CSV; not all of their kernels name
      their GPU.</p>
    <h3>rocmProfileData</h3><${Command} text=${RPD} />
    <p>Upload the <code>.rpd</code> file of each rank.</p>
    <h3>JAX</h3><${Command} text=${JAX} />
    <p>Upload <code>plugins/profile/TIME/HOST.xplane.pb</code> with
      ${" "}<code>step=train</code>. <code>host_tracer_level</code> 1 has the steps, 2 (the
      default) also calls and operators. On TPUs, only the waits for transfers are recorded.</p>
    <${Command} text=${JAX_OPTIONS} />
    <h3>Extrae and other Paraver traces</h3><${Command} text=${EXTRAE()} />
    <p>Send the three files in one request. Thread states become host ranges. Extrae with its
      library for CUDA or HIP also records kernels and copies, and so does
      ${" "}<code>nsys2prv</code>. Tasks of one file count as one rank.</p>
    <h3>Samples and graphs</h3><${Command} text=${SAMPLES} />
    <p>These contain no device work: they are kept with the run and counted on its
      ${" "}<em>Data</em> page. So are execution traces of PyTorch
      (<code>ExecutionTraceObserver</code>) and of Chakra.</p>`;
}

const LOG_UPLOAD = () => `curl -F run=my-run -F trace=@train.log ${origin()}/upload`;

function Logs() {
  return html`<p>Upload the log of the job to the run with its traces, or to a new one: the
      ${" "}<em>Training</em> page then shows loss, step time and throughput over the whole job,
      slow steps next to what the log says, checkpoints, evaluations, restarts and faults, and the
      job's settings. A comparison overlays the curves of both runs.</p>
    <${Command} text=${LOG_UPLOAD()} />
    <p class="faint">Logs of Megatron-LM and Primus, torchtitan, DeepSpeed, NeMo 2 and Automodel,
      torchtune, Hugging Face Trainer, axolotl and LLaMA-Factory (<code>trainer_log.jsonl</code>),
      MaxText and nanotron, as printed: with colors, progress bars and the prefixes of mpirun, srun,
      torchrun, Docker or Kubernetes. For a log with tokens/s but no TFLOP/s, MFU is
      computed from the model's size if the log or an uploaded configuration states it.
      This includes mixtures of experts (those that a token uses), adapters (LoRA, whose frozen
      weights take 4 operations instead of 6) and models split over ranks. The figure's help lists
      the numbers used; where there is no figure, the page says what is missing. A log sent again
      under the same name replaces the earlier one, so it can be sent while it grows.
      Logs inside archives are read, too.</p>`;
}

const MONITOR = () => `nvidia-smi --query-gpu=timestamp,index,name,uuid,pci.bus_id,power.draw,\\
power.limit,clocks.sm,clocks.max.sm,temperature.gpu,utilization.gpu,memory.used,memory.total,\\
clocks_throttle_reasons.active --format=csv -l 1 > gpus.csv
curl -F run=my-run -F trace=@gpus.csv ${origin()}/upload`;

function MonitorFiles() {
  return html`<p>Run a monitor alongside the job and upload what it recorded: the
      ${" "}<em>Training</em> page then shows power, clocks, temperature and what throttled them,
      and lists of runs and reports show power, energy per step and tokens per joule.</p>
    <${Command} text=${MONITOR()} />
    <p class="faint">Supported: <code>nvidia-smi</code> (query, <code>dmon</code>),
      ${" "}<code>dcgmi dmon</code>, <code>rocm-smi</code>,
      ${" "}<code>amd-smi</code>, and Prometheus metrics of DCGM's and AMD's exporters.</p>`;
}

const SNAPSHOT = () => `torch.cuda.memory._record_memory_history(max_entries=1_000_000)
...                                        # some steps, or until memory runs out
torch.cuda.memory._dump_snapshot(f"rank{rank}_memory_snapshot.pickle")

curl -F run=my-run -F trace=@rank0_memory_snapshot.pickle ${origin()}/upload`;

function MemorySnapshots() {
  return html`<p>Upload a memory snapshot of PyTorch's allocator to the run: the
      ${" "}<em>Memory</em> page then shows allocated and reserved memory over time, what held it at
      the peak by category and by the calls that allocated it, fragmentation and the largest free
      block, why a request failed, and what each step leaves behind.</p>
    <${Command} text=${SNAPSHOT()} />
    <p class="faint">Start recording before the model is built, so that its weights have names, too;
      Python's calls are recorded by default. Growth needs the marks of six steps, which a profiler
      or, in newer versions, an optimizer's <code>step()</code> leaves. Pickles of any size are
      read, and so are JSON and the pages that
      ${" "}<code>python -m torch.cuda._memory_viz trace_plot</code> makes. torchtitan writes
      them with
      ${" "}<code>--profiling.enable_memory_snapshot</code>, newer versions with
      ${" "}<code>--profiler.enable_memory_snapshot</code>.</p>`;
}

const CONFIG_UPLOAD = () => `env > env.txt; pip freeze > packages.txt
scontrol show job $SLURM_JOB_ID > slurm.txt
curl -F run=my-run -F trace=@pretrain.yaml -F trace=@env.txt -F trace=@packages.txt \\
  -F trace=@slurm.txt -F trace=@results.json ${origin()}/upload`;

function Configuration() {
  return html`<p>Upload the files that say how the job was configured and what it achieved. Settings
      that frameworks name differently get one name and unit; comparisons list those that differ
      first, each with its file, and say where files contradict each other. Results are on
      the <em>Training</em> page, with lists of losses and step times as curves.</p>
    <${Command} text=${CONFIG_UPLOAD()} />
    <p class="faint">YAML of Primus, NeMo, axolotl, accelerate or MaxText (<code>.yaml</code>),
      TOML of torchtitan (<code>.toml</code>), JSON of DeepSpeed and Hugging Face, result files of
      benchmarks as JSON; what <code>env</code>, <code>pip freeze</code>,
      ${" "}<code>torch.utils.collect_env</code>, <code>scontrol show job</code> and
      ${" "}<code>sacct -P</code> print, and batch scripts. Of the environment variables, only those
      of NCCL, CUDA, ROCm, PyTorch and the sizes of the Slurm job become settings; never tokens,
      names or paths. Other files of these kinds in an archive stay attachments.</p>`;
}

const LINK_TEST = () => `all_reduce_perf -b 8 -e 8G -f 2 -g 8 > all_reduce.txt
nvidia-smi topo -m > topo.txt
ibstat > ibstat.txt
curl -F run=my-run -F trace=@all_reduce.txt -F trace=@topo.txt \\
  -F trace=@ibstat.txt ${origin()}/upload`;

function Links() {
  return html`<p>Run <code>all_reduce_perf</code> of nccl-tests or rccl-tests once, with as many
      ranks and nodes as the job's groups have, and upload its output to the run: each collective
      on the <em>Communication</em> page then says what share of the measured bandwidth it
      reaches. The same holds for <code>all_gather_perf</code>,${" "}
      <code>reduce_scatter_perf</code> and the others; one file may hold several tests.</p>
    <${Command} text=${LINK_TEST()} />
    <p class="faint">Text and JSON (<code>-J</code>; for rccl-tests <code>-x FILE -Z json</code>)
      are read, with the prefixes of mpirun, srun or pdsh. So are perftest
      (<code>ib_write_bw</code>), nvbandwidth, <code>nvidia-smi topo -m</code>,${" "}
      <code>ibstat</code>, logs of NCCL Inspector and <code>ncclras -f json</code>.</p>`;
}

const NCU = () => `ncu --set full --launch-skip 200 --launch-count 50 -o gemm python train.py
ncu --import gemm.ncu-rep --csv --page raw > gemm.csv
curl -F run=my-run -F trace=@gemm.csv ${origin()}/upload`;

function KernelProfiles() {
  return html`<p>Measure a few launches with Nsight Compute and upload its CSV to the run with the
      traces: the <em>Kernels</em> page then shows achieved occupancy, DRAM and tensor pipe use and
      what warps waited for next to the trace's own times, and the <em>Roofline</em> has
      the launches as measured points. Launches are found by name, grid and block.</p>
    <${Command} text=${NCU()} />
    <p class="faint">Both pages are read, <code>raw</code> and <code>details</code>; operations and
      bytes are in <code>raw</code>. Nsight Compute locks the clocks and empties the caches, so its
      durations are not those of the job. On AMD GPUs, send the folder of rocprof-compute as an
      archive: its <code>pmc_perf.csv</code> has the launches.</p>`;
}

function Hook() {
  return html`<div class="columns-2 guide"><div><${Command} text=${HOOK()} /></div><div>
      <p>One line in the loop: eight steps after the first twelve are recorded, sent in the
        background with the commit, arguments, driver and Slurm job, and the run appears here.
        Without <code>STEPSCOPE_URL</code> the files stay in <code>./stepscope</code>. It never
        raises an error or waits for this service.</p>
      <p>With a profiler of your own: <code>on_trace_ready=record.on_trace_ready</code>. If you
        only have files, this sends each of them once:</p>
      <${Command} text=${PUSH()} /></div></div>`;
}

function Compare() {
  return html`<ul class="notes">
    <li>Keep the schedule, profiler options, batch size and number of ranks the same.</li>
    <li>Record each side several times, as <code>name@1</code>, <code>name@2</code>: one run per
      side cannot tell a change from noise.</li>
    <li>Lock the clocks, or warm the GPU up for a minute; run nothing else alongside.</li>
  </ul>`;
}

export default function Recording() {
  use_title("Recording");
  return html`<header class="page-head"><h1 tabindex="-1">Recording a trace</h1>
      <p class="page-note">With the profiler of PyTorch 2, on CUDA and ROCm, or another
        one</p></header>
    <${Card} title="In one line" className="guide"><${Hook} /><//>
    <div class="columns-2 guide">
      <div><${Card} title="For timing"><${Command} text=${RECORD} />
          <p>This is enough for the breakdown, steps, kernels, operators, roofline, communication
            and idle time. After the upload, the run's <em>Data</em> page lists what is
            missing.</p>
        <//><${Card} title="Schedule and steps"><${Schedule} /><//></div>
      <div><${Card} title="For causes"><${Command} text=${DEEP} />
          <p>A second, shorter recording with stacks and memory shows which line and which module.
            The profiler's overhead inflates its times: do not use it for timing.</p><//>
        <${Card} title="Which ranks"><${Ranks} /><//></div>
    </div>
    <${Card} title="What each option records and costs" className="guide"><${Options} /><//>
    <div class="columns-2 guide">
      <div><${Card} title="Files and upload"><${Files} /><//>
        <${Card} title="NVIDIA and AMD"><${Vendors} /><//>
        <${Card} title="To compare runs"><${Compare} /><//></div>
      <div><${Card} title="In frameworks"><${Frameworks} /><//>
        <${Card} title="With other profilers"><${Others} /><//>
        <${Card} title="Training logs"><${Logs} /><//>
        <${Card} title="Monitors"><${MonitorFiles} /><//>
        <${Card} title="Memory snapshots"><${MemorySnapshots} /><//>
        <${Card} title="Settings and results"><${Configuration} /><//>
        <${Card} title="Link tests"><${Links} /><//>
        <${Card} title="Single kernels"><${KernelProfiles} /><//></div>
    </div>`;
}

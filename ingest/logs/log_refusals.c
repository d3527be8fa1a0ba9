// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_refusals.h"

#define NVIDIA_SMI                                                                                \
    "record it while the job runs: nvidia-smi --query-gpu=timestamp,index,uuid,pci.bus_id,"       \
    "utilization.gpu,memory.used,memory.total,power.draw,clocks.sm,temperature.gpu --format=csv " \
    "-l 1 > FILE.csv"

#define AMD_SMI                                                                              \
    "record it while the job runs: amd-smi metric -u -p -c -t -m --csv -w 1 > FILE.csv, or " \
    "while sleep 1; do rocm-smi -u -P --showmemuse --json >> FILE.json; done"

#define HOST ": send the log of the job, and monitors of its GPUs (nvidia-smi, DCGM, amd-smi)"
#define LINKS                                                                          \
    ": for links, send the output of nccl-tests, rccl-tests, nvbandwidth or perftest " \
    "(ib_write_bw -a)"

#define SERVER \
    ": send a trace of it by torch.profiler, and monitors of its GPUs (nvidia-smi, DCGM, amd-smi)"

// What each looks like, and what to send instead.
static const struct {
    const char *has, *message;
} known[] = {
    {"==PROF== ", "found text that Nsight Compute prints, expected its CSV: use ncu --csv "
                  "--page raw, or ncu --import FILE.ncu-rep --csv --page raw > FILE.csv"},
    {"| NVIDIA-SMI ", "found a single nvidia-smi snapshot: " NVIDIA_SMI},
    {"NVSMI LOG", "found a single nvidia-smi -q snapshot: " NVIDIA_SMI},
    {"GFX_ACTIVITY: ", "found a single amd-smi metric snapshot: " AMD_SMI},
    {"| AMD-SMI ", "found a single amd-smi snapshot: " AMD_SMI},
    {"ROCm System Management Interface", "found a single rocm-smi snapshot: " AMD_SMI},
    {"GPU available: ", "found a log of Lightning in which no progress bar has a step: "
                        "upload what its logger writes, metrics.csv or "
                        "events.out.tfevents.*, usually in lightning_logs/version_N"},
    {" NCCL INFO ", "found what NCCL_DEBUG=INFO prints, and no training step: send a log of the "
                    "job that has its steps; for links, the output of nccl-tests; for a hang, "
                    "Flight Recorder dumps"},
    {"P2P Connectivity Matrix", "found what p2pBandwidthLatencyTest prints" LINKS},
    {"# OSU MPI", "found what OSU micro-benchmarks print" LINKS},
    {"Time, us      ", "found what ucc_perftest prints" LINKS},
    {"procs -----------memory", "found samples of vmstat" HOST},
    {"avg-cpu:  %user", "found samples of iostat" HOST},
    {" %system  %guest ", "found samples of pidstat" HOST},
    {"     %user     %nice   %system", "found samples of sar or mpstat" HOST},
    {"CPU Efficiency: ", "found what seff prints of a Slurm job: use sacct -P -j JOB "
                         "--format=JobID,JobName,State,ExitCode,Elapsed,NNodes,NodeList "
                         "> sacct.txt"},
    {":::MLLOG ", "found records of MLPerf (:::MLLOG) without steps or evaluations: send what "
                  "the framework prints about its steps"},
    {"Running DLIO ", "found a log of DLIO, a storage benchmark" HOST},
    {"): \"MainThread\"", "found stacks as py-spy dump prints them: use py-spy record "
                          "-f speedscope -o FILE.json --pid PID; for a hang, send Flight "
                          "Recorder dumps"},
    {";<module> (", "found collapsed stacks, as of py-spy record -f raw: use py-spy record "
                    "-f speedscope -o FILE.json --pid PID"},
    {"Train epoch [", "found progress bars of OpenRLHF, which are not read: send what it "
                      "writes with --use_tensorboard, events.out.tfevents.*"},
    {" updt_s:", "found a log of LeRobot, which rounds the numbers of its steps: send its metrics, "
                 "run.scan_history() of W&B as JSON lines"},
    {"Progress on:train ",
     "found a log of Levanter, which rounds the numbers of its steps: send its metrics, "
     "run.scan_history() of W&B as JSON lines"},
    {"epoch:train:", "found a log of ESPnet, which counts the batches of an epoch: send the "
                     "events.out.tfevents.* that it writes to its folder tensorboard"},
    {"_microstep: ", "found times of parts of steps as DeepSpeed prints them, and no step: "
                     "set steps_per_print, so that it prints step numbers"},
    {"Avg generation throughput: ",
     "found a log of vLLM's server, which has no training step" SERVER},
    {"gen throughput (token/s): ",
     "found a log of SGLang's server, which has no training step" SERVER},
    {"Serving Benchmark Result",
     "found the result of a server benchmark, which has no training step" SERVER},
    {"/step - ", "found progress bars of Keras, which count the batches of an epoch: send what "
                 "its CSVLogger or TensorBoard callback writes"},
    {"GPU_mem ", "found the table of epochs that Ultralytics prints, without a step: send "
                 "monitors of its GPUs, or what it writes with yolo settings tensorboard=True"},
};

const char *log_refusal_of(struct str head)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_find(head, str_of(known[i].has)) != SIZE_MAX)
            return known[i].message;
    return "found text without a training step in it, expected the log of a training job: where "
           "the log of a program is not read, send its metrics, as events.out.tfevents.* or as "
           "JSON lines with a step";
}

// SPDX-License-Identifier: Apache-2.0
// One row per format; if two are equally likely, the first wins.
#include "ingest/formats_unread.h"
#include "ingest/csv/csv.h"
#include "ingest/json/json_outline.h"

#define MAGIC(bytes) .magic = {.at = "" bytes, .len = sizeof(bytes) - 1}

// Recognized by its first bytes, or by a member of its JSON.
#define BYTES(word, of_kind, bytes, words, instead)                                   \
    {                                                                                 \
        .name = word, .kind = of_kind, MAGIC(bytes), .what = words, .advice = instead \
    }
#define JSON(word, of_kind, has, words, instead)                                       \
    {                                                                                  \
        .name = word, .kind = of_kind, .member = has, .what = words, .advice = instead \
    }
// Text, recognized by words in it; also where the log of a job has no step.
#define PRINTED(word, has, text, instead)                                                   \
    {                                                                                       \
        .name = word, .kind = FORMAT_RECORDS, .words = has, .what = text, .advice = instead \
    }
#define PICKLE(bytes)                                               \
    BYTES("pickle", FORMAT_RECORDS, bytes, "a Python pickle",       \
          "upload the output of prof.export_chrome_trace(), or of " \
          "torch.cuda.memory._dump_snapshot()")
#define UTF_16(bytes)       BYTES("utf-16", FORMAT_TEXT, bytes, "UTF-16 text", "save it as UTF-8")
#define IMAGE(bytes, words) BYTES("image", FORMAT_OTHER, bytes, words, NULL)
#define TRACE_HEAD(has)                                                              \
    JSON("kineto-head", FORMAT_TRACE, has, "the head of a trace without its events", \
         "upload the whole file")
#define NSYS_EXPORT "nsys export --type sqlite --include-blobs=true --include-json=true "
// An event in its export as JSON or JSON lines.
#define NSYS_JSON(has)                                                      \
    JSON("nsys-json", FORMAT_TRACE, has, "a JSON export of Nsight Systems", \
         "use " NSYS_EXPORT "FILE.nsys-rep")
#define NSYS_STATS_IS     "a table of nsys stats"
#define NSYS_STATS_SEND   "use " NSYS_EXPORT "FILE.nsys-rep"
#define NSYS_STATS(bytes) BYTES("nsys-stats", FORMAT_RECORDS, bytes, NSYS_STATS_IS, NSYS_STATS_SEND)

#define NSYS_TABLES "for Nsight Systems, use " NSYS_EXPORT "FILE.nsys-rep"
#define LINK_TESTS  "for links, send the output of nccl-tests, rccl-tests, perftest or nvbandwidth"
#define HOST        "send the log of the job, and monitors of its GPUs (nvidia-smi, DCGM, amd-smi)"
#define RECORD_GPUS "record the GPUs: nvidia-smi --query-gpu=... --format=csv -l 1 > FILE.csv"
#define BY_STEP     "send metrics of steps: events.out.tfevents.*, or JSON lines with a step"
#define SACCT       "use sacct -P -j JOB --format=JobID,JobName,State,Elapsed,NodeList > sacct.txt"
#define RECOMPRESS  "compress the trace with zstd or gzip"

// UTF-8 text that is neither blank nor possibly JSON.
static enum format_likeness probe_text(const struct format_sample *sample)
{
    enum { CUT = 3 }; // of a character at the end
    struct str head = sample->head;
    bool blank = true;
    size_t mark = str_starts_with(head, STR("\xEF\xBB\xBF")) ? 3 : 0;
    head = (struct str){head.at + mark, head.len - mark};
    if (str_valid_utf8(head) + CUT < head.len)
        return FORMAT_UNLIKE;
    for (size_t i = 0; i < head.len; i++) {
        unsigned char c = (unsigned char)head.at[i];
        if (c == 0x7F || (c < 0x20 && !memchr("\t\r\n\f\b\x1b", c, 6)) ||
            (blank && memchr("{[", c, 2)))
            return FORMAT_UNLIKE;
        blank = blank && memchr(" \t\r\n", c, 4);
    }
    return blank || str_valid_utf8(head) == 0 ? FORMAT_UNLIKE : FORMAT_PERHAPS;
}

// Cells between semicolons or tabs, as spreadsheets save them where the comma is the decimal mark.
static enum format_likeness probe_other_csv(const struct format_sample *sample)
{
    enum { FEW = 4 }; // cells
    size_t semicolons = 0, tabs = 0, i = 0;
    for (; i < sample->head.len && sample->head.at[i] != '\n' && sample->head.at[i] != ','; i++) {
        semicolons += sample->head.at[i] == ';';
        tabs += sample->head.at[i] == '\t';
    }
    bool cells = (semicolons > FEW && tabs == 0) || (tabs > FEW && semicolons == 0);
    return cells && i < sample->head.len && sample->head.at[i] == '\n' ? FORMAT_PERHAPS
                                                                       : FORMAT_UNLIKE;
}

// "2026/11/26 19:33:26.525, 0, 5, 137.40, 1980"
static enum format_likeness probe_headless(const struct format_sample *sample)
{
    static const char form[] = "0000/00/00 00:00:00.000, ";
    for (size_t i = 0; form[i]; i++)
        if (i >= sample->head.len ||
            (form[i] == '0' ? !str_is_digit(sample->head.at[i]) : sample->head.at[i] != form[i]))
            return FORMAT_UNLIKE;
    return FORMAT_SURE;
}

// Tables below their title or the lines in which nsys stats reports its progress, or in columns for
// people.
static enum format_likeness probe_nsys_stats(const struct format_sample *sample)
{
    static const char *const firsts[] = {"Generating SQLite file ", "Processing [",
                                         "NOTICE: Existing SQLite export found"};
    struct str head = sample->head;
    while (head.len && memchr(" \r\n", head.at[0], 3))
        head = (struct str){head.at + 1, head.len - 1};
    bool title = str_find(head, STR("_sum):\n")) != SIZE_MAX ||
                 str_find(head, STR("_trace):\n")) != SIZE_MAX;
    if (str_starts_with(head, STR("** ")) && title)
        return FORMAT_SURE;
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        if (str_starts_with(head, str_of(firsts[i])))
            return title || str_find(head, STR("Processing [")) != SIZE_MAX ? FORMAT_SURE
                                                                            : FORMAT_UNLIKE;
    return FORMAT_UNLIKE;
}

// Events of NCCL's example of a profiler plugin, in the form of Chrome's traces.
static enum format_likeness probe_nccl_plugin(const struct format_sample *sample)
{
    static const char *const categories[] = {"\"cat\": \"GROUP", "\"cat\": \"COLL",
                                             "\"cat\": \"P2P", "\"cat\": \"PROXY"};
    struct str head = sample->head;
    bool is = sample->outline->root == '[' && str_find(head, STR("\"ph\": \"b\"")) != SIZE_MAX;
    for (size_t i = 0; is && i < sizeof categories / sizeof *categories; i++)
        if (str_find(head, str_of(categories[i])) != SIZE_MAX)
            return FORMAT_SURE;
    return FORMAT_UNLIKE;
}

// Tables beside trace_view.json of torch_npu, and of msprof.
static enum format_likeness probe_ascend(const struct format_sample *sample)
{
    static const char *const columns[] = {"Accelerator Core", "OP Type", "Host Self Duration(us)",
                                          "Communication(Not Overlapped)"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (csv_head_has(sample->head, columns[i]))
            return FORMAT_SURE;
    return FORMAT_UNLIKE;
}

// "-----  -----", and below it the names of the columns of prof.key_averages().table().
static enum format_likeness probe_averages(const struct format_sample *sample)
{
    bool is = str_starts_with(sample->head, STR("-----")) &&
              str_find(sample->head, STR(" Self CPU %  ")) != SIZE_MAX;
    return is ? FORMAT_SURE : FORMAT_UNLIKE;
}

// What ncclras prints without -f json; logs of jobs may begin with the same words.
static enum format_likeness probe_ras_text(const struct format_sample *sample)
{
    bool is = str_starts_with(sample->head, STR("NCCL version ")) &&
              str_find(sample->head, STR("\nJob summary\n")) != SIZE_MAX;
    return is ? FORMAT_SURE : FORMAT_UNLIKE;
}

// A chart as W&B and TensorBoard export it: "\"Step\",\"run-1 - train/loss\",", "Wall
// time,Step,Value".
static enum format_likeness probe_chart_csv(const struct format_sample *sample)
{
    struct str head = sample->head;
    bool is = str_starts_with(head, STR("\"Step\",\"")) ||
              str_starts_with(head, STR("\"Relative Time (Process)\",\"")) ||
              str_starts_with(head, STR("Wall time,Step,Value"));
    return is ? FORMAT_SURE : FORMAT_UNLIKE;
}

// The same as TensorBoard exports it as JSON: "[[1773237600.5, 0, 2.5], ...", a time and a step
// before each value.
static enum format_likeness probe_chart_json(const struct format_sample *sample)
{
    static const char form[] = "[[1000000000.";
    for (size_t i = 0; form[i]; i++)
        if (i >= sample->head.len || (str_is_digit(form[i]) ? !str_is_digit(sample->head.at[i])
                                                            : sample->head.at[i] != form[i]))
            return FORMAT_UNLIKE;
    return FORMAT_SURE;
}

// A file of mlruns/: "1773237600000 2.5 10", a time in ms, the value and the step.
static enum format_likeness probe_mlflow(const struct format_sample *sample)
{
    enum { DIGITS = 13 };
    size_t at = 0, blanks = 0, end = 0;
    while (end < sample->head.len && sample->head.at[end] != '\n')
        end++;
    while (at < end && str_is_digit(sample->head.at[at]))
        at++;
    bool timed = at == DIGITS && end < sample->head.len;
    for (; at < end && memchr(" 0123456789.eE+-", sample->head.at[at], 16); at++)
        blanks += sample->head.at[at] == ' ';
    return timed && at == end && blanks == 2 ? FORMAT_SURE : FORMAT_UNLIKE;
}

static enum format_likeness probe_smi_xml(const struct format_sample *sample)
{
    bool is = str_find(sample->head, STR("<nvidia_smi_log>")) != SIZE_MAX;
    return is ? FORMAT_SURE : FORMAT_UNLIKE;
}

static enum format_likeness probe_json(const struct format_sample *sample)
{
    return sample->outline->json ? FORMAT_PERHAPS : FORMAT_UNLIKE;
}

const struct format formats_unread[] = {
    IMAGE("\x89PNG", "a PNG image"),
    IMAGE("\xFF\xD8\xFF", "a JPEG image"),
    IMAGE("GIF8", "a GIF image"),
    BYTES("pdf", FORMAT_OTHER, "%PDF", "a PDF document", NULL),
    BYTES("7z", FORMAT_ARCHIVE, "7z\xBC\xAF", "a 7z archive",
          "unpack it and upload the traces in it"),
    BYTES("xz", FORMAT_COMPRESSION, "\xFD\x37zXZ", "an xz file", RECOMPRESS),
    BYTES("bzip2", FORMAT_COMPRESSION, "BZh", "a bzip2 file", RECOMPRESS),
    BYTES("elf", FORMAT_OTHER, "\x7F\x45LF", "a program", NULL),
    BYTES("parquet", FORMAT_RECORDS, "PAR1", "a Parquet file", NSYS_TABLES),
    BYTES("arrow", FORMAT_RECORDS, "ARROW1", "an Arrow file", NSYS_TABLES),
    BYTES("hdf5", FORMAT_RECORDS, "\x89HDF\r\n", "an HDF5 file", NSYS_TABLES),
    BYTES("git-lfs", FORMAT_OTHER, "version https://git-lfs", "a Git LFS pointer",
          "fetch the real file with git lfs pull"),
    PICKLE("\x80\x02"),
    PICKLE("\x80\x03"),
    PICKLE("\x80\x04"),
    PICKLE("\x80\x05"),
    UTF_16("\xFF\xFE"),
    UTF_16("\xFE\xFF"),
    UTF_16("{\0"),
    UTF_16("[\0"),
    UTF_16("\0{"),
    UTF_16("\0["),
    {.name = "nvidia-smi-xml",
     .kind = FORMAT_RECORDS,
     .probe = probe_smi_xml,
     .what = "XML of nvidia-smi -q",
     .advice = RECORD_GPUS},
    BYTES("markup", FORMAT_OTHER, "<", "HTML or XML, perhaps an error page in place of the trace",
          NULL),
    // JSON
    JSON("opentelemetry", FORMAT_RECORDS, "resourceSpans", "OpenTelemetry spans", NULL),
    JSON("notebook", FORMAT_OTHER, "nbformat", "a Jupyter notebook", NULL),
    JSON("weight-index", FORMAT_OTHER, "weight_map", "an index of weights", NULL),
    JSON("model-settings", FORMAT_RECORDS, "model_type", "settings of a model", NULL),
    JSON("model-settings", FORMAT_RECORDS, "architectures", "settings of a model", NULL),
    JSON("iperf3", FORMAT_RECORDS, "intervals", "results of iperf3", LINK_TESTS),
    JSON("fio", FORMAT_RECORDS, "fio version", "results of fio, a storage benchmark", HOST),
    JSON("dcgm-diag", FORMAT_RECORDS, "DCGM Diagnostic", "results of dcgmi diag", HOST),
    JSON("gpustat", FORMAT_RECORDS, "query_time", "a single gpustat snapshot", RECORD_GPUS),
    JSON("sysstat", FORMAT_RECORDS, "sysstat", "samples of sysstat (mpstat, sar, iostat)", HOST),
    NSYS_JSON("CudaEvent"),
    NSYS_JSON("NvtxEvent"),
    NSYS_JSON("TraceProcessEvent"),
    NSYS_JSON("CompositeEvent"),
    TRACE_HEAD("schemaVersion"),
    TRACE_HEAD("baseTimeNanoseconds"),
    // by name only
    {.name = "nsys-rep",
     .kind = FORMAT_TRACE,
     .ending = ".nsys-rep",
     .what = "a report of Nsight Systems",
     .advice = "use " NSYS_EXPORT "FILE.nsys-rep"},
    {.name = "qdrep",
     .kind = FORMAT_TRACE,
     .ending = ".qdrep",
     .what = "a report of Nsight Systems before 2021.4",
     .advice = "use " NSYS_EXPORT "FILE.qdrep"},
    {.name = "ncu-rep",
     .kind = FORMAT_RECORDS,
     .ending = ".ncu-rep",
     .what = "a report of Nsight Compute",
     .advice = "use ncu --import FILE.ncu-rep --csv --page raw > FILE.csv"},
    {.name = "nvidia-smi-headless",
     .kind = FORMAT_RECORDS,
     .probe = probe_headless,
     .what = "samples of nvidia-smi without column names",
     .advice = "record without noheader, or add the header line on top"},
    NSYS_STATS("Time (%),Total Time (ns),"),
    NSYS_STATS("\"Time (%)\",\"Total Time (ns)\","),
    NSYS_STATS("Start (ns),Duration (ns),"),
    NSYS_STATS("Start (ns),End (ns),Duration (ns),"),
    NSYS_STATS("API Start (ns),API Dur (ns),"),
    NSYS_STATS("Total (MB),Count,"),
    NSYS_STATS("Range,Style,Total Proj Time (ns),"),
    {.name = "nsys-stats",
     .kind = FORMAT_RECORDS,
     .probe = probe_nsys_stats,
     .what = NSYS_STATS_IS,
     .advice = NSYS_STATS_SEND},
    BYTES("ncu-summary", FORMAT_RECORDS, "\"Process ID\",\"Process Name\",\"Host Name\",",
          "a summary of Nsight Compute, without its launches",
          "use ncu --import FILE.ncu-rep --csv --page raw > FILE.csv"),
    BYTES("nvidia-smi-processes", FORMAT_RECORDS, "timestamp, gpu_uuid, pid,",
          "the processes that nvidia-smi lists", RECORD_GPUS),
    BYTES("influx-gpus", FORMAT_RECORDS, "nvidia_smi,", "samples of Telegraf", RECORD_GPUS),
    BYTES("prometheus-other", FORMAT_RECORDS, "# HELP ",
          "Prometheus metrics of which none is of a GPU",
          "send those of dcgm-exporter, or of AMD's device-metrics-exporter"),
    BYTES("nvidia-smi-error", FORMAT_OTHER, "Failed to initialize NVML",
          "an nvidia-smi error instead of samples",
          "record again once nvidia-smi works on that host"),
    {.name = "chart-csv",
     .kind = FORMAT_RECORDS,
     .probe = probe_chart_csv,
     .what = "a chart that W&B or TensorBoard exported",
     .advice = "send all metrics: events.out.tfevents.*, or run.scan_history() as JSON lines"},
    {.name = "chart-json",
     .kind = FORMAT_RECORDS,
     .probe = probe_chart_json,
     .what = "a chart that TensorBoard exported",
     .advice = BY_STEP},
    {.name = "mlflow-metric",
     .kind = FORMAT_RECORDS,
     .probe = probe_mlflow,
     .what = "a metric of MLflow",
     .advice = BY_STEP},
    {.name = "nccl-plugin",
     .kind = FORMAT_TRACE,
     .probe = probe_nccl_plugin,
     .what = "a trace of NCCL's example profiler plugin",
     .advice = "send a trace of PyTorch's profiler, or the logs of NCCL Inspector"},
    {.name = "ascend-table",
     .kind = FORMAT_RECORDS,
     .probe = probe_ascend,
     .what = "a table from the Ascend profiler",
     .advice = "send trace_view.json, whose host operators and steps are read"},
    {.name = "torch-averages",
     .kind = FORMAT_RECORDS,
     .probe = probe_averages,
     .what = "a table of averages that PyTorch's profiler printed",
     .advice = "send the output of prof.export_chrome_trace()"},
    {.name = "nccl-ras-text",
     .kind = FORMAT_RECORDS,
     .probe = probe_ras_text,
     .what = "the text of ncclras",
     .advice = "use ncclras -f json > FILE.json"},
    PRINTED("wandb-system", "\"system.gpu.", "system metrics of W&B",
            "send those of nvidia-smi, DCGM or amd-smi; for metrics, run.scan_history() as JSON "
            "lines"),
    PRINTED("ray-results", "training_iteration", "results of Ray Tune or Train", BY_STEP),
    PRINTED("mscclpp-test", "\"ranksPerNode\": ", "results of MSCCL++'s tests", LINK_TESTS),
    PRINTED("bandwidth-test", "[CUDA Bandwidth Test]", "what bandwidthTest prints", LINK_TESTS),
    PRINTED("transferbench", "TransferBench v", "what TransferBench prints", LINK_TESTS),
    PRINTED("rocm-bandwidth", "RocmBandwidthTest Version", "what rocm_bandwidth_test prints",
            LINK_TESTS),
    PRINTED("perfquery", "# Port counters: Lid ", "a snapshot of a port's counters", LINK_TESTS),
    PRINTED("ethtool", "NIC statistics:", "a snapshot of a network card's counters", LINK_TESTS),
    PRINTED("gpu-burn", " Gflop/s)   errors: ", "what gpu-burn prints, a stress test", HOST),
    PRINTED("dcgm-diag", "| Diagnostic                | Result", "results of dcgmi diag", HOST),
    PRINTED("hipblaslt-bench", "hipBLASLt version: ", "what hipblaslt-bench prints",
            "send a trace of the job, which has the times of its matrix products"),
    PRINTED("memory-test", "function,num_times,n_elements,sizeof,", "results of BabelStream", HOST),
    PRINTED("memory-test", "STREAM version $Revision", "what STREAM prints", HOST),
    PRINTED("memory-test", "Intel(R) Memory Latency Checker", "what Intel's mlc prints", HOST),
    PRINTED("mpstat", "    %usr   %nice    %sys", "samples of mpstat", HOST),
    PRINTED("iostat", "  %rrqm ", "samples of iostat", HOST),
    PRINTED("sstat", "     MaxRSS   AveCPU ", "what sstat prints", SACCT),
    PRINTED("nvtop", "\"gpu_util\": \"", "a single nvtop snapshot", RECORD_GPUS),
    PRINTED("rocprof-output", "ROCProfiler: input from ", "what rocprof prints",
            "send its results.csv, recorded with --timestamp on"),
    // last, as formats above are JSON or text as well
    {.name = "json", .kind = FORMAT_RECORDS, .probe = probe_json, .what = "JSON without events"},
    {.name = "separated",
     .kind = FORMAT_RECORDS,
     .probe = probe_other_csv,
     .what = "a table with semicolons or tabs between its cells",
     .advice = "save it with commas, or send the file as the profiler wrote it"},
    {.name = "text",
     .kind = FORMAT_TEXT,
     .probe = probe_text,
     .what = "text that is not JSON, perhaps a log",
     .advice = "if it is the log of a job, give it a name that ends in .log"},
};
const size_t formats_unread_count = sizeof formats_unread / sizeof *formats_unread;

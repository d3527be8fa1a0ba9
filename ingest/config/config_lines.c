// SPDX-License-Identifier: Apache-2.0
#include "ingest/config/config_lines.h"

#include "ingest/logs/log_text.h"
#include "ingest/source/lines.h"

enum { MOST_BYTES = 16 << 20 };

static bool take_lines(const struct config_dialect *dialect, struct lines *from,
                       struct config_lines *lines, struct err *err)
{
    struct line line = {.pos = 0};
    *err = (struct err){.pos = ERR_NO_POS};
    while (lines_next(from, &line, err)) {
        if (line.pos > MOST_BYTES)
            return err_set(err, ERR_FORMAT, "found %s of more than 16 MiB", dialect->what);
        if (!dialect->take(lines, log_trim(line.text), err))
            return false;
        lines->line++;
    }
    return err->code == ERR_NONE;
}

bool config_read_lines(const struct config_dialect *dialect, const struct format_input *input,
                       struct err *err)
{
    struct lines from;
    struct config_lines lines = {.settings.evidence = input->evidence};
    input->evidence->source = str_of(dialect->source);
    bool ok = lines_open(&from, input->source, input->budget, err) &&
              take_lines(dialect, &from, &lines, err) &&
              config_settings_ended(&lines.settings, dialect->least, dialect->what, err);
    lines_close(&from);
    config_settings_free(&lines.settings);
    buf_free(&lines.pending);
    return ok;
}

// --- texts --------------------------------------------------------------------------------------

bool config_split(struct str text, struct str mark, struct str *before, struct str *after)
{
    size_t at = str_find(text, mark);
    if (at == SIZE_MAX)
        return false;
    *before = log_trim((struct str){text.at, at});
    *after = log_trim(log_from(text, at + mark.len));
    return true;
}

struct str config_unquoted(struct str text)
{
    bool quoted = text.len >= 2 && memchr("\"'", *text.at, 2) && text.at[text.len - 1] == *text.at;
    return quoted ? (struct str){text.at + 1, text.len - 2} : text;
}

// The next line of *rest, which moves to the one after it; false at the end.
static bool next_line(struct str *rest, struct str *line)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->at, '\n', rest->len);
    size_t len = end ? (size_t)(end - rest->at) : rest->len;
    *line = log_trim((struct str){rest->at, len});
    *rest = log_from(*rest, len + 1);
    return true;
}

bool config_has_line(struct str head, struct str start)
{
    struct str line;
    while (next_line(&head, &line))
        if (str_starts_with(line, start))
            return true;
    return false;
}

// --- variables ----------------------------------------------------------------------------------

// Libraries whose variables change how fast a job is.
static const char *const telling[] = {
    "NCCL_*",
    "RCCL_*",
    "CUDA_*",
    "CUBLAS_*",
    "CUDNN_*",
    "HIP_*",
    "HIPBLASLT_*",
    "HSA_*",
    "ROCR_*",
    "ROCM_*",
    "ROCBLAS_*",
    "MIOPEN_*",
    "AMD_*",
    "GPU_MAX_HW_QUEUES",
    "TORCH_*",
    "TORCHINDUCTOR_*",
    "TORCHDYNAMO_*",
    "PYTORCH_*",
    "NVTE_*",
    "NVIDIA_*",
    "TRITON_*",
    "FLASH_ATTENTION_*",
    "XLA_*",
    "JAX_*",
    "OMP_*",
    "MKL_NUM_THREADS",
    "UCX_*",
    "FI_*",
    "GLOO_*",
    "SHARP_*",
    "PRIMUS_*",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "NNODES",
    "NPROC_PER_NODE",
    "GPUS_PER_NODE",
    "SLURM_NNODES",
    "SLURM_JOB_NUM_NODES",
    "SLURM_NTASKS*",
    "SLURM_NPROCS",
    "SLURM_TASKS_PER_NODE",
    "SLURM_CPUS_*",
    "SLURM_GPUS*",
    "SLURM_JOB_GPUS",
    "SLURM_MEM_PER_*",
    "SLURM_JOB_PARTITION",
    "SLURM_CPU_BIND*",
    "SLURM_DISTRIBUTION",
    NULL,
};

// Parts of names of variables whose values are someone's secrets or identity rather than settings.
static const char *const private[] = {"TOKEN", "KEY",  "SECRET", "PASS", "USER", "TEAM",
                                      "HOME",  "ADDR", "HOST",   "NAME", "ROOT", "CRED"};

// Whether a variable says how the job ran on its GPUs, by its name and value: neither a path nor an
// address, and nothing that names people or hosts.
static bool is_telling_variable(struct str name, struct str value)
{
    if (!config_is_listed(name, telling) || value.len > CONFIG_MOST_LIST)
        return false;
    for (size_t i = 0; i < sizeof private / sizeof *private; i++)
        if (str_find(name, str_of(private[i])) != SIZE_MAX)
            return false;
    for (size_t i = 0; i < value.len; i++)
        if (memchr("/\\@~", value.at[i], 4))
            return false;
    return value.len > 0;
}

static bool is_letter(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_';
}

static bool is_variable(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_letter(name.at[i]) && !(i && str_is_digit(name.at[i])))
            return false;
    return name.len > 0;
}

bool config_split_variable(struct str line, struct str *name, struct str *value)
{
    static const char *const starts[] = {"declare -x ", "export "};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (str_starts_with(line, str_of(starts[i])))
            line = log_from(line, strlen(starts[i]));
    if (!config_split(line, STR("="), name, value))
        return false;
    *value = config_unquoted(*value);
    return is_variable(*name);
}

bool config_take_variable(struct config_lines *lines, struct str line, struct err *err)
{
    struct str name, value;
    return !config_split_variable(line, &name, &value) || !is_telling_variable(name, value) ||
           config_set(&lines->settings, name, value, err);
}

bool config_take_package(struct config_lines *lines, struct str line, struct err *err)
{
    struct str name, version;
    if (!config_split(line, STR("=="), &name, &version) || name.len == 0 || *name.at == '#' ||
        str_find(version, STR(" ")) != SIZE_MAX)
        return true;
    size_t outer = config_enter(&lines->settings, STR("pip"));
    bool ok = config_set(&lines->settings, name, version, err);
    config_leave(&lines->settings, outer);
    return ok;
}

// --- recognition --------------------------------------------------------------------------------

// The last line may be cut.
enum format_likeness config_like_lines(const struct format_sample *sample,
                                       bool (*is)(struct str line))
{
    struct str head = sample->head;
    size_t good = 0, all = 0;
    struct str line;
    while (next_line(&head, &line)) {
        all += line.len > 0;
        good += line.len > 0 && is(line);
    }
    bool are = good >= 2 && all - good <= 1 + all / 8;
    return are && !config_is_named_like_log(sample->filename) ? FORMAT_PERHAPS : FORMAT_UNLIKE;
}

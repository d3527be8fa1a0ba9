// SPDX-License-Identifier: Apache-2.0
// What Slurm says about a job: `scontrol show job`, `sacct -P`, and the options in a batch script,
// whose exported variables count as well. Who ran it and where its files are is left out.
#include "ingest/config/config_lines.h"

enum part { PART_NONE, PART_JOB, PART_TABLE, PART_SCRIPT };

// --- scontrol -----------------------------------------------------------------------------------

static const char *const facts[] = {
    "JobState",    "Restarts",    "RunTime",  "TimeLimit",     "Partition",
    "NumNodes",    "NumCPUs",     "NumTasks", "CPUs/Task",     "TRES",
    "ReqTRES",     "AllocTRES",   "TresPer*", "Gres",          "MinMemoryNode",
    "MinCPUsNode", "NtasksPerN*", "Features", "OverSubscribe", "ExitCode",
    "Reason",      "Requeue",     "CoreSpec", "BatchFlag",     NULL};

// "NumNodes=4 NumCPUs=512 NumTasks=32": a value ends at a blank.
static bool take_facts(struct config_lines *lines, struct str line, struct err *err)
{
    struct str item, name, value;
    while (line.len) {
        if (!config_split(line, STR(" "), &item, &line)) {
            item = line;
            line = STR("");
        }
        if (config_split(item, STR("="), &name, &value) && config_is_listed(name, facts) &&
            !config_set(&lines->settings, name, value, err))
            return false;
    }
    return true;
}

// --- sacct --------------------------------------------------------------------------------------

static const char *const columns[] = {"State",     "Elapsed",   "NNodes",         "NTasks",
                                      "NCPUS",     "AllocCPUS", "AllocNodes",     "AllocTRES",
                                      "ReqTRES",   "ReqMem",    "MaxRSS",         "ExitCode",
                                      "Partition", "Timelimit", "ConsumedEnergy", NULL};

static struct str next_cell(struct str *line)
{
    struct str cell;
    if (!config_split(*line, STR("|"), &cell, line)) {
        cell = *line;
        *line = STR("");
    }
    return cell;
}

// The first row is the job; its steps follow.
static bool take_row(struct config_lines *lines, struct str line, struct err *err)
{
    struct str header = {lines->pending.at, lines->pending.len};
    lines->part = PART_NONE;
    while (header.len) {
        struct str name = next_cell(&header), value = next_cell(&line);
        if (config_is_listed(name, columns) && !config_set(&lines->settings, name, value, err))
            return false;
    }
    return true;
}

static bool keep_header(struct config_lines *lines, struct str line, struct err *err)
{
    lines->part = PART_TABLE;
    buf_clear(&lines->pending);
    buf_add_str(&lines->pending, line);
    return buf_ok(&lines->pending, err);
}

// --- batch scripts ------------------------------------------------------------------------------

static const struct {
    const char *brief, *name;
} options[] = {
    {"-N", "nodes"},         {"-n", "ntasks"},      {"-c", "cpus-per-task"}, {"-G", "gpus"},
    {"-t", "time"},          {"-p", "partition"},   {"-C", "constraint"},    {"", "gres"},
    {"", "ntasks-per-node"}, {"", "gpus-per-node"}, {"", "gpus-per-task"},   {"", "mem"},
    {"", "exclusive"},       {"", "gpu-bind"},      {"", "cpu-bind"},        {"", "distribution"},
    {"", "switches"},        {"", "segment"},       {"", "container-image"},
};

// The long name of an option; "" if it is none of those.
static struct str option_of(struct str word)
{
    bool is_long = str_starts_with(word, STR("--"));
    struct str name = is_long ? (struct str){word.at + 2, word.len - 2} : word;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (str_equal(name, str_of(is_long ? options[i].name : options[i].brief)))
            return str_of(options[i].name);
    return STR("");
}

// "--nodes=4", "--nodes 4", "-N 4", "--exclusive"; a comment may follow.
static bool take_option(struct config_lines *lines, struct str text, struct err *err)
{
    struct str word, value = STR(""), comment, option;
    if (config_split(text, STR(" #"), &option, &comment))
        text = option;
    if (!config_split(text, STR("="), &word, &value) &&
        !config_split(text, STR(" "), &word, &value))
        word = text;
    struct str name = option_of(word);
    return name.len == 0 || config_set(&lines->settings, name,
                                       value.len ? config_unquoted(value) : STR("true"), err);
}

// --- all of them --------------------------------------------------------------------------------

static bool take_slurm(struct config_lines *lines, struct str line, struct err *err)
{
    struct str ignored, option;
    if (lines->part == PART_TABLE)
        return take_row(lines, line, err);
    if (str_starts_with(line, STR("JobID|")))
        return keep_header(lines, line, err);
    if (str_starts_with(line, STR("JobId=")))
        lines->part = lines->part == PART_NONE ? PART_JOB : PART_SCRIPT;
    if (str_starts_with(line, STR("#SBATCH ")) &&
        config_split(line, STR("#SBATCH "), &ignored, &option))
        return take_option(lines, option, err);
    if (str_starts_with(line, STR("export ")))
        return config_take_variable(lines, line, err);
    return lines->part != PART_JOB || take_facts(lines, line, err);
}

static bool gather_slurm(const struct format_input *input, struct err *err)
{
    static const struct config_dialect dialect = {"slurm", "facts of a Slurm job", 0, take_slurm};
    return config_read_lines(&dialect, input, err);
}

extern const struct format format_slurm;

static bool count_slurm(const struct format_input *input, struct err *err)
{
    return config_count(input, &format_slurm, err);
}

static enum format_likeness probe_slurm(const struct format_sample *sample)
{
    if (str_starts_with(sample->head, STR("JobID|"))) // whatever it is called
        return FORMAT_SURE;
    bool is = config_has_line(sample->head, STR("#SBATCH ")) ||
              config_has_line(sample->head, STR("JobID|")) ||
              (str_starts_with(sample->head, STR("JobId=")) &&
               config_has_line(sample->head, STR("JobState=")));
    return is && !config_is_named_like_log(sample->filename) ? FORMAT_PERHAPS : FORMAT_UNLIKE;
}

const struct format format_slurm = {
    .name = "slurm",
    .what = "facts of a Slurm job",
    .kind = FORMAT_RECORDS,
    .probe = probe_slurm,
    .count = count_slurm,
    .gather = gather_slurm,
};

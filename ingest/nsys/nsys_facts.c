// SPDX-License-Identifier: Apache-2.0
// What the export says of the machine, the processes and itself.
#include "ingest/nsys/nsys_gpus.h"
#include "ingest/nsys/nsys_nccl.h"

#include <inttypes.h>
#include <stdio.h>

// --- time ---------------------------------------------------------------------------------------

static bool read_start(struct nsys *nsys, struct err *err)
{
    struct rows rows;
    int64_t base_ns = VALUE_ABSENT;
    bool ok = rows_open(nsys->database, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", &rows, err);
    if (ok && rows_next(&rows))
        base_ns = rows_i64_or(&rows, 0, VALUE_ABSENT);
    trace_builder_base(nsys->builder, base_ns);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// --- devices ------------------------------------------------------------------------------------

#define DEVICE_COLUMNS "id name totalMemory smCount computeMajor computeMinor"
enum { ID, NAME, MEMORY, SM_COUNT, MAJOR, MINOR };

// Events have the ordinal; a GPU that the process does not see has none.
static bool add_device(struct nsys *nsys, const struct rows *rows, const struct nsys_gpus *gpus,
                       struct err *err)
{
    struct str name = STR("");
    struct trace_device device = {
        .memory_bytes = rows_i64_or(rows, MEMORY, VALUE_ABSENT),
        .multiprocessors = rows_i64_or(rows, SM_COUNT, VALUE_ABSENT),
        .compute_major = rows_i64_or(rows, MAJOR, VALUE_ABSENT),
        .compute_minor = rows_i64_or(rows, MINOR, VALUE_ABSENT),
    };
    (void)rows_text(rows, NAME, &name);
    return !nsys_gpus_ordinal(gpus, rows_i64_or(rows, ID, 0), &device.id) ||
           (trace_builder_text(nsys->builder, name, ERR_NO_POS, &device.name, err) &&
            trace_builder_device(nsys->builder, &device, err));
}

static bool read_devices(struct nsys *nsys, struct err *err)
{
    struct rows rows = {0};
    struct nsys_gpus gpus;
    bool ok = nsys_gpus_read(nsys, &gpus, err) &&
              rows_open(nsys->database, "TARGET_INFO_GPU", DEVICE_COLUMNS, &rows, err);
    while (ok && rows_next(&rows))
        ok = add_device(nsys, &rows, &gpus, err);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// --- threads ------------------------------------------------------------------------------------

static bool read_threads(struct nsys *nsys, struct err *err)
{
    struct rows rows;
    int64_t thread, name;
    str_id text;
    bool ok = rows_open(nsys->database, "ThreadNames", "globalTid nameId", &rows, err);
    while (ok && rows_next(&rows)) {
        if (!rows_i64(&rows, 0, &thread) || !nsys_is_own(nsys, thread) ||
            !rows_i64(&rows, 1, &name))
            continue;
        ok = text_table_intern(&nsys->texts, name, &text, err) &&
             trace_builder_name_thread(nsys->builder, (struct label){nsys_pid(thread), 0},
                                       (struct label){nsys_tid(thread), 0}, text, err);
    }
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// --- rank ---------------------------------------------------------------------------------------

static bool read_mpi(struct nsys *nsys, int64_t *rank, struct err *err)
{
    struct rows rows;
    bool ok = rows_open(nsys->database, "MPI_RANKS", "globalTid rank", &rows, err);
    while (ok && rows_next(&rows))
        if (nsys_is_own(nsys, rows_i64_or(&rows, 0, VALUE_ABSENT)) && *rank < 0)
            *rank = rows_i64_or(&rows, 1, -1);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// Of the environment only these numbers are looked at: the rest may hold secrets. The first that is
// set counts; Slurm's is last, since it may be that of a launcher of several ranks.
static const struct {
    const char *rank, *size;
} variables[] = {
    {"RANK", "WORLD_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},
    {"SLURM_PROCID", "SLURM_NTASKS"},
};
enum { VARIABLES = sizeof variables / sizeof *variables };

// The number in RANK="3".
static void take_variable(struct str text, const char *name, int64_t *number)
{
    size_t len = strlen(name);
    if (text.len <= len || memcmp(text.at, name, len) != 0 || text.at[len] != '=')
        return;
    struct str value = {text.at + len + 1, text.len - len - 1};
    if (value.len > 1 && value.at[0] == '"' && value.at[value.len - 1] == '"')
        value = (struct str){value.at + 1, value.len - 2};
    (void)str_to_i64(value, number);
}

static bool read_environment(struct nsys *nsys, int64_t *rank, int64_t *size, struct err *err)
{
    struct rows rows;
    struct str name, text;
    int64_t ranks[VARIABLES] = {-1, -1, -1, -1}, sizes[VARIABLES] = {0};
    bool ok = rows_open(nsys->database, "META_DATA_CAPTURE", "name value", &rows, err);
    while (ok && rows_next(&rows)) {
        if (!rows_text(&rows, 0, &name) || !rows_text(&rows, 1, &text) ||
            str_find(name, STR("ENVIRONMENT_VARIABLE")) == SIZE_MAX)
            continue;
        for (size_t i = 0; i < VARIABLES; i++) {
            take_variable(text, variables[i].rank, &ranks[i]);
            take_variable(text, variables[i].size, &sizes[i]);
        }
    }
    for (size_t i = 0; i < VARIABLES && *rank < 0; i++)
        if (ranks[i] >= 0 && ranks[i] < sizes[i]) {
            *rank = ranks[i];
            *size = sizes[i];
        }
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// The environment is that of the command, whose processes share it.
static bool is_only_process(const struct nsys *nsys)
{
    return nsys->input->part == FORMAT_WHOLE;
}

static bool read_rank(struct nsys *nsys, struct err *err)
{
    int64_t rank = -1, size = VALUE_ABSENT, nccl_rank, nccl_size;
    nccl_world(nsys->nccl, &nccl_rank, &nccl_size);
    if (!read_mpi(nsys, &rank, err))
        return false;
    if (rank < 0)
        rank = nccl_rank;
    if (rank >= 0 && rank < nccl_size)
        size = nccl_size;
    if (rank < 0 && is_only_process(nsys) && !read_environment(nsys, &rank, &size, err))
        return false;
    if (rank >= 0)
        trace_builder_rank(nsys->builder, rank, size);
    return true;
}

// --- settings -----------------------------------------------------------------------------------

static bool add_setting(struct nsys *nsys, const char *key, struct str text, struct err *err)
{
    struct trace_setting setting = {.number = VALUE_ABSENT};
    (void)str_to_i64(text, &setting.number);
    return trace_builder_text(nsys->builder, str_of(key), ERR_NO_POS, &setting.key, err) &&
           trace_builder_text(nsys->builder, text, ERR_NO_POS, &setting.text, err) &&
           trace_builder_setting(nsys->builder, &setting, err);
}

// The value of a name in a table of names and values; the first one counts. In some versions it is
// a number.
static bool find_value(struct nsys *nsys, const char *table, const char *wanted, char value[64],
                       struct err *err)
{
    struct rows rows;
    struct str name, text;
    int64_t number;
    bool ok = rows_open(nsys->database, table, "name value", &rows, err);
    value[0] = '\0';
    while (ok && !value[0] && rows_next(&rows)) {
        if (!rows_text(&rows, 0, &name) || !str_equal(name, str_of(wanted)))
            continue;
        if (rows_text(&rows, 1, &text))
            snprintf(value, 64, "%.*s", (int)(text.len < 63 ? text.len : 63), text.at);
        else if (rows_i64(&rows, 1, &number))
            snprintf(value, 64, "%" PRId64, number);
    }
    return rows_close(&rows, ok ? err : NULL) && ok;
}

static bool add_profiler(struct nsys *nsys, struct err *err)
{
    static const char version[] = "EXPORT_PRODUCT_VERSION";
    char value[64], text[96];
    if (!find_value(nsys, "META_DATA_EXPORT", version, value, err) ||
        (!value[0] && !find_value(nsys, "EXPORT_META_DATA", version, value, err)))
        return false;
    snprintf(text, sizeof text, "Nsight Systems%s%s", value[0] ? " " : "", value);
    return add_setting(nsys, "profiler", str_of(text), err);
}

// The machine's table also has its environment, which is not looked at.
static bool add_driver(struct nsys *nsys, struct err *err)
{
    static const char table[] = "TARGET_INFO_SYSTEM_ENV";
    char driver[64], cuda[64], text[64];
    int64_t version;
    if (!find_value(nsys, table, "NvDriverVersion", driver, err) ||
        !find_value(nsys, table, "CudaDriverVersion", cuda, err))
        return false;
    bool known = str_to_i64(str_of(cuda), &version) && version >= 1000; // 12040 is 12.4
    snprintf(text, sizeof text, "%" PRId64 ".%" PRId64, known ? version / 1000 : 0,
             known ? version % 1000 / 10 : 0);
    return (!driver[0] || add_setting(nsys, "driver", str_of(driver), err)) &&
           (!known || add_setting(nsys, "runtime", str_of(text), err));
}

static bool add_capture(struct nsys *nsys, struct err *err)
{
    struct rows rows;
    int64_t duration_ns = -1;
    char text[24];
    bool ok = rows_open(nsys->database, "ANALYSIS_DETAILS", "duration", &rows, err);
    if (ok && rows_next(&rows))
        duration_ns = rows_i64_or(&rows, 0, -1);
    if (!rows_close(&rows, ok ? err : NULL) || !ok)
        return false;
    snprintf(text, sizeof text, "%" PRId64, duration_ns);
    return duration_ns < 0 || add_setting(nsys, "capture_ns", str_of(text), err);
}

// "Not all CUDA events might have been collected."
static bool read_warnings(struct nsys *nsys, struct err *err)
{
    enum { WARNING = 2, ERROR = 3 };
    struct rows rows;
    struct str text;
    bool ok = rows_open(nsys->database, "DIAGNOSTIC_EVENT", "severity text", &rows, err);
    while (ok && rows_next(&rows)) {
        int64_t severity = rows_i64_or(&rows, 0, 0);
        if ((severity == WARNING || severity == ERROR) && rows_text(&rows, 1, &text) &&
            (str_starts_with(text, STR("Not all CUDA events")) ||
             str_starts_with(text, STR("Not all NVTX events")) ||
             str_find(text, STR("events were lost")) != SIZE_MAX ||
             str_find(text, STR("dropped")) != SIZE_MAX))
            trace_builder_repair(nsys->builder, REPAIR_LOST, ERR_NO_POS);
    }
    return rows_close(&rows, ok ? err : NULL) && ok;
}

bool nsys_read_facts(struct nsys *nsys, struct err *err)
{
    return read_start(nsys, err) && read_devices(nsys, err) && read_threads(nsys, err) &&
           read_rank(nsys, err) && add_profiler(nsys, err) && add_driver(nsys, err) &&
           add_capture(nsys, err) && read_warnings(nsys, err);
}

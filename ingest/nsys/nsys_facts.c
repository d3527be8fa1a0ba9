// SPDX-License-Identifier: Apache-2.0
// What the export says about the machine, the processes and itself.
#include "ingest/nsys/nsys_gpus.h"
#include "ingest/nsys/nsys_nccl.h"

#include <inttypes.h>
#include <stdio.h>

// --- time ---------------------------------------------------------------------------------------

// After the events. Those of an export with --ts-normalize count from 1970 already.
static bool read_start(struct nsys *nsys, struct err *err)
{
    int64_t base_ns = VALUE_ABSENT;
    bool ok = rows_first(nsys->tables.database, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs",
                         &base_ns, err);
    if (base_ns > 0 && trace_builder_last_ns(nsys->builder) >= base_ns)
        base_ns = 0;
    trace_builder_base(nsys->builder, base_ns);
    return ok;
}

bool nsys_capture_ns(struct nsys *nsys, int64_t *capture_ns, struct err *err)
{
    return rows_first(nsys->tables.database, "ANALYSIS_DETAILS", "duration", capture_ns, err);
}

// --- devices ------------------------------------------------------------------------------------

#define DEVICE_COLUMNS "id name totalMemory smCount computeMajor computeMinor uuid busLocation"
enum { ID, NAME, MEMORY, SM_COUNT, MAJOR, MINOR, UUID, BUS };

struct device_walk {
    struct nsys *nsys;
    struct nsys_gpus gpus;
};

static bool intern_address(struct trace_builder *builder, const struct rows *rows, str_id *address,
                           struct err *err)
{
    char text[128];
    struct str uuid = STR(""), bus = STR("");
    (void)rows_text(rows, UUID, &uuid);
    (void)rows_text(rows, BUS, &bus);
    if (uuid.len + bus.len == 0 || uuid.len > 60 || bus.len > 60)
        return true;
    int len = snprintf(text, sizeof text, "%.*s%s%.*s", (int)uuid.len, uuid.at,
                       uuid.len && bus.len ? " " : "", (int)bus.len, bus.at);
    return trace_builder_text(builder, (struct str){text, (size_t)len}, ERR_NO_POS, address, err);
}

// Events name a device by its ordinal; a GPU that the process does not see has none.
static bool take_device(void *context, const struct rows *rows, struct err *err)
{
    const struct device_walk *walk = context;
    struct trace_builder *builder = walk->nsys->builder;
    struct str name = STR("");
    struct trace_device device = {
        .memory_bytes = rows_i64_or(rows, MEMORY, VALUE_ABSENT),
        .multiprocessors = rows_i64_or(rows, SM_COUNT, VALUE_ABSENT),
        .compute_major = rows_i64_or(rows, MAJOR, VALUE_ABSENT),
        .compute_minor = rows_i64_or(rows, MINOR, VALUE_ABSENT),
    };
    (void)rows_text(rows, NAME, &name);
    return !nsys_gpus_ordinal(&walk->gpus, rows_i64_or(rows, ID, 0), &device.id) ||
           (trace_builder_text(builder, name, ERR_NO_POS, &device.name, err) &&
            intern_address(builder, rows, &device.address, err) &&
            trace_builder_device(builder, &device, err));
}

static bool read_devices(struct nsys *nsys, struct err *err)
{
    struct device_walk walk = {.nsys = nsys};
    return nsys_gpus_read(nsys, &walk.gpus, err) &&
           rows_each(nsys->tables.database, "TARGET_INFO_GPU", DEVICE_COLUMNS, take_device, &walk,
                     err);
}

// --- threads ------------------------------------------------------------------------------------

static bool take_thread(void *context, const struct rows *rows, struct err *err)
{
    struct nsys *nsys = context;
    int64_t thread, name;
    str_id text;
    if (!rows_i64(rows, 0, &thread) || !nsys_is_own(nsys, thread) || !rows_i64(rows, 1, &name))
        return true;
    return text_table_intern(&nsys->texts, nsys->builder, name, &text, err) &&
           trace_builder_name_thread(nsys->builder, (struct label){nsys_pid(thread), 0},
                                     (struct label){nsys_tid(thread), 0}, text, err);
}

// --- rank ---------------------------------------------------------------------------------------

struct rank_walk {
    const struct nsys *nsys;
    int64_t rank; // -1: not found
};

static bool take_mpi(void *context, const struct rows *rows, struct err *err)
{
    struct rank_walk *walk = context;
    (void)err;
    if (nsys_is_own(walk->nsys, rows_i64_or(rows, 0, VALUE_ABSENT)) && walk->rank < 0)
        walk->rank = rows_i64_or(rows, 1, -1);
    return true;
}

// Only these numbers are read from the environment: the rest may hold secrets. The first that is
// set counts; Slurm's comes last, since it may belong to a launcher of several ranks.
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

struct environment {
    int64_t ranks[VARIABLES], sizes[VARIABLES];
};

static bool take_environment(void *context, const struct rows *rows, struct err *err)
{
    struct environment *found = context;
    struct str name, text;
    (void)err;
    if (!rows_text(rows, 0, &name) || !rows_text(rows, 1, &text) ||
        str_find(name, STR("ENVIRONMENT_VARIABLE")) == SIZE_MAX)
        return true;
    for (size_t i = 0; i < VARIABLES; i++) {
        take_variable(text, variables[i].rank, &found->ranks[i]);
        take_variable(text, variables[i].size, &found->sizes[i]);
    }
    return true;
}

static bool read_environment(struct nsys *nsys, int64_t *rank, int64_t *size, struct err *err)
{
    struct environment found = {.ranks = {-1, -1, -1, -1}};
    if (!rows_each(nsys->tables.database, "META_DATA_CAPTURE", "name value", take_environment,
                   &found, err))
        return false;
    for (size_t i = 0; i < VARIABLES && *rank < 0; i++)
        if (found.ranks[i] >= 0 && found.ranks[i] < found.sizes[i]) {
            *rank = found.ranks[i];
            *size = found.sizes[i];
        }
    return true;
}

// The environment is that of the command; its processes share it.
static bool is_only_process(const struct nsys *nsys)
{
    return nsys->tables.input->part == FORMAT_WHOLE;
}

// The environment may be of a launcher and say less than a communicator, which may be of a few
// ranks: the larger one is the job.
static bool read_rank(struct nsys *nsys, struct err *err)
{
    struct rank_walk mpi = {nsys, -1};
    int64_t rank, size = VALUE_ABSENT, nccl_rank, nccl_size;
    nccl_world(nsys->nccl, &nccl_rank, &nccl_size);
    if (!rows_each(nsys->tables.database, "MPI_RANKS", "globalTid rank", take_mpi, &mpi, err))
        return false;
    rank = mpi.rank;
    if (rank < 0 && is_only_process(nsys) && !read_environment(nsys, &rank, &size, err))
        return false;
    if (mpi.rank < 0 && nccl_size > size)
        rank = nccl_rank;
    if (rank < nccl_size && nccl_size > size)
        size = nccl_size;
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

struct named_value {
    const char *name;
    char value[64]; // empty: not found
};

// The first value of a name counts. In some versions it is a number.
static bool take_value(void *context, const struct rows *rows, struct err *err)
{
    struct named_value *wanted = context;
    struct str name, text;
    int64_t number;
    (void)err;
    if (wanted->value[0] || !rows_text(rows, 0, &name) || !str_equal(name, str_of(wanted->name)))
        return true;
    if (rows_text(rows, 1, &text))
        snprintf(wanted->value, sizeof wanted->value, "%.*s",
                 (int)(text.len < sizeof wanted->value ? text.len : sizeof wanted->value - 1),
                 text.at);
    else if (rows_i64(rows, 1, &number))
        snprintf(wanted->value, sizeof wanted->value, "%" PRId64, number);
    return true;
}

static bool find_value(struct nsys *nsys, const char *table, struct named_value *wanted,
                       struct err *err)
{
    return rows_each(nsys->tables.database, table, "name value", take_value, wanted, err);
}

static bool add_profiler(struct nsys *nsys, struct err *err)
{
    struct named_value version = {.name = "EXPORT_PRODUCT_VERSION"};
    char text[96];
    if (!find_value(nsys, "META_DATA_EXPORT", &version, err) ||
        !find_value(nsys, "EXPORT_META_DATA", &version, err))
        return false;
    snprintf(text, sizeof text, "Nsight Systems%s%s", version.value[0] ? " " : "", version.value);
    return add_setting(nsys, "profiler", str_of(text), err);
}

// The machine's table also holds its environment, which is not read.
static bool add_driver(struct nsys *nsys, struct err *err)
{
    static const char table[] = "TARGET_INFO_SYSTEM_ENV";
    struct named_value driver = {.name = "NvDriverVersion"}, cuda = {.name = "CudaDriverVersion"};
    char text[64];
    int64_t version;
    if (!find_value(nsys, table, &driver, err) || !find_value(nsys, table, &cuda, err))
        return false;
    bool known = str_to_i64(str_of(cuda.value), &version) && version >= 1000; // 12040 is 12.4
    snprintf(text, sizeof text, "%" PRId64 ".%" PRId64, known ? version / 1000 : 0,
             known ? version % 1000 / 10 : 0);
    return (!driver.value[0] || add_setting(nsys, "driver", str_of(driver.value), err)) &&
           (!known || add_setting(nsys, "runtime", str_of(text), err));
}

static bool add_capture(struct nsys *nsys, struct err *err)
{
    int64_t capture_ns = -1;
    char text[24];
    if (!nsys_capture_ns(nsys, &capture_ns, err))
        return false;
    snprintf(text, sizeof text, "%" PRId64, capture_ns);
    return capture_ns < 0 || add_setting(nsys, "capture_ns", str_of(text), err);
}

// "Not all CUDA events might have been collected."
static bool tells_of_loss(struct str text)
{
    return str_starts_with(text, STR("Not all CUDA events")) ||
           str_starts_with(text, STR("Not all NVTX events")) ||
           str_find(text, STR("events were lost")) != SIZE_MAX ||
           str_find(text, STR("dropped")) != SIZE_MAX;
}

static bool take_warning(void *context, const struct rows *rows, struct err *err)
{
    enum { WARNING = 2, ERROR = 3 };
    struct nsys *nsys = context;
    struct str text;
    int64_t severity = rows_i64_or(rows, 0, 0);
    (void)err;
    if ((severity == WARNING || severity == ERROR) && rows_text(rows, 1, &text) &&
        tells_of_loss(text))
        trace_builder_repair(nsys->builder, REPAIR_LOST, ERR_NO_POS);
    return true;
}

bool nsys_read_facts(struct nsys *nsys, struct err *err)
{
    struct database *database = nsys->tables.database;
    return read_start(nsys, err) && read_devices(nsys, err) &&
           rows_each(database, "ThreadNames", "globalTid nameId", take_thread, nsys, err) &&
           read_rank(nsys, err) && add_profiler(nsys, err) && add_driver(nsys, err) &&
           add_capture(nsys, err) &&
           rows_each(database, "DIAGNOSTIC_EVENT", "severity text", take_warning, nsys, err);
}

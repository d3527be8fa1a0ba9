// SPDX-License-Identifier: Apache-2.0
// Figures of a whole export, for inspect. Counted in the tables themselves: a trace holds only the
// events of one process.
#include "ingest/nsys/nsys_payload.h"

#include <stdio.h>
#include <stdlib.h>

// --- rows ---------------------------------------------------------------------------------------

static const struct {
    const char *table, *path;
} counted[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "api_calls"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "synchronizations"},
    {"OSRT_API", "osrt_calls"},
    {"GPU_METRICS", "gpu_metric_samples"},
    {"NET_NIC_METRIC", "nic_samples"},
    {"MPI_COLLECTIVES_EVENTS", "mpi_collectives"},
    {"MPI_P2P_EVENTS", "mpi_p2p"},
};

static bool count_tables(struct table_reader *tables, struct err *err)
{
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        int64_t count;
        if (!database_has(tables->database, counted[i].table))
            continue;
        if (!rows_count(tables->database, counted[i].table, &count, err))
            return false;
        figures_add(tables->input->figures, count, "%s", counted[i].path);
    }
    return true;
}

// --- device -------------------------------------------------------------------------------------

#define LENGTH_COLUMNS "start end bytes copyKind"
enum { START, END, BYTES, COPY_KIND };

struct total {
    int64_t count, ns, bytes;
};

enum { COUNTED_KINDS = 128 }; // newer versions have more than those that are known

struct lengths {
    struct total by_kind[COUNTED_KINDS]; // tables other than that of copies use only 0
};

static bool take_length(void *context, const struct rows *rows, struct err *err)
{
    struct lengths *lengths = context;
    int64_t start_ns = rows_i64_or(rows, START, 0), kind = rows_i64_or(rows, COPY_KIND, 0), ns;
    struct total *total = &lengths->by_kind[kind > 0 && kind < COUNTED_KINDS ? kind : 0];
    (void)err;
    total->count++;
    if (!__builtin_sub_overflow(rows_i64_or(rows, END, start_ns), start_ns, &ns))
        figures_sum(&total->ns, ns);
    figures_sum(&total->bytes, rows_i64_or(rows, BYTES, 0));
    return true;
}

static bool count_copies(struct table_reader *tables, struct err *err)
{
    struct figures *figures = tables->input->figures;
    struct lengths lengths = {0};
    if (!rows_each(tables->database, "CUPTI_ACTIVITY_KIND_MEMCPY", LENGTH_COLUMNS, take_length,
                   &lengths, err))
        return false;
    figures_add(figures, 0, "copies" IN);
    for (int kind = 0; kind < COUNTED_KINDS; kind++) {
        const struct total *total = &lengths.by_kind[kind];
        char word[16];
        if (!total->count)
            continue;
        if (kind < NSYS_COPY_KINDS)
            snprintf(word, sizeof word, "%s", nsys_copy_word(kind));
        else
            snprintf(word, sizeof word, "%d", kind);
        figures_add(figures, total->count, "copies" IN "%s" IN "count", word);
        figures_add(figures, total->ns, "copies" IN "%s" IN "ns", word);
        figures_add(figures, total->bytes, "copies" IN "%s" IN "bytes", word);
    }
    return true;
}

static bool count_lengths(struct table_reader *tables, const char *table, const char *path,
                          bool has_bytes, struct err *err)
{
    struct figures *figures = tables->input->figures;
    struct lengths lengths = {0};
    const struct total *total = &lengths.by_kind[0];
    if (!rows_each(tables->database, table, "start end bytes", take_length, &lengths, err))
        return false;
    figures_add(figures, total->count, "%s" IN "count", path);
    figures_add(figures, total->ns, "%s" IN "ns", path);
    if (has_bytes)
        figures_add(figures, total->bytes, "%s" IN "bytes", path);
    return true;
}

// --- ranges -------------------------------------------------------------------------------------

#define RANGE_COLUMNS "end eventType text textId domainId binaryData"
enum { RANGE_END, RANGE_TYPE, RANGE_TEXT, RANGE_DOMAIN = RANGE_TEXT + 2, RANGE_PAYLOAD };

struct range_count {
    struct figures *figures;
    struct text_table texts;
    struct strtab names; // with their domains
    struct nccl_schemas schemas;
    int64_t open;
};

// Only for ranges with names of NCCL: a file may have any number of others.
static void add_payload(const struct range_count *ranges, const struct rows *rows, struct str label)
{
    enum { LONGEST = 64 };
    struct str bytes;
    struct nccl_payload payload;
    int len = (int)label.len;
    if (!rows_text(rows, RANGE_PAYLOAD, &bytes) ||
        !nccl_payload_read(&ranges->schemas, rows_i64_or(rows, RANGE_DOMAIN, 0), bytes, &payload) ||
        payload.values[NCCL_BYTES] == VALUE_ABSENT || !str_starts_with(label, STR("nccl")) ||
        label.len >= LONGEST || memchr(label.at, IN[0], label.len))
        return;
    figures_add(ranges->figures, 1, "nccl_payload" IN "%.*s" IN "count", len, label.at);
    figures_add(ranges->figures, payload.values[NCCL_BYTES], "nccl_payload" IN "%.*s" IN "bytes",
                len, label.at);
}

static bool add_name(struct range_count *ranges, int64_t domain, struct str label, struct err *err)
{
    enum { MOST = 1 << 16 };
    struct buf key = {0};
    str_id id;
    buf_i64(&key, domain);
    buf_putc(&key, ' ');
    buf_add(&key, label.at, label.len < MOST ? label.len : MOST);
    bool ok =
        buf_ok(&key, err) && strtab_intern(&ranges->names, (struct str){key.at, key.len}, &id, err);
    buf_free(&key);
    return ok;
}

static bool take_range(void *context, const struct rows *rows, struct err *err)
{
    struct range_count *ranges = context;
    int64_t end_ns;
    struct str label = STR("");
    (void)nsys_label(&ranges->texts, rows, RANGE_TEXT, &label);
    add_payload(ranges, rows, label);
    if (!nsys_is_range(rows_i64_or(rows, RANGE_TYPE, 0)))
        return true;
    bool open = !rows_i64(rows, RANGE_END, &end_ns);
    ranges->open += open;
    return open || add_name(ranges, rows_i64_or(rows, RANGE_DOMAIN, 0), label, err);
}

static bool walk_ranges(struct table_reader *tables, struct range_count *ranges, struct err *err)
{
    struct budget *budget = tables->input->budget;
    struct database *database = tables->database;
    if (!strtab_init(&ranges->names, budget, err) ||
        !text_table_load(&ranges->texts, budget, database, "StringIds", "id value", err) ||
        !nccl_schemas_read(database, &ranges->schemas, err))
        return false;
    if (ranges->schemas.exported)
        figures_add(ranges->figures, 0, "nccl_payload" IN);
    uint32_t before = ranges->names.count;
    if (!rows_each(database, "NVTX_EVENTS", RANGE_COLUMNS, take_range, ranges, err))
        return false;
    figures_add(ranges->figures, ranges->open, "nvtx_open_ranges");
    figures_add(ranges->figures, ranges->names.count - before, "nvtx_distinct_ranges");
    return true;
}

static bool count_ranges(struct table_reader *tables, struct err *err)
{
    struct range_count *ranges = calloc(1, sizeof *ranges);
    if (!ranges)
        return err_set(err, ERR_MEMORY, "out of memory");
    ranges->figures = tables->input->figures;
    bool ok = walk_ranges(tables, ranges, err);
    text_table_free(&ranges->texts);
    strtab_free(&ranges->names);
    free(ranges);
    return ok;
}

// --- the export itself --------------------------------------------------------------------------

static bool take_version(void *context, const struct rows *rows, struct err *err)
{
    struct str name, value;
    (void)err;
    if (!rows_text(rows, 0, &name) || !rows_text(rows, 1, &value) ||
        str_valid_utf8(value) != value.len)
        return true;
    if (str_equal(name, STR("EXPORT_SCHEMA_VERSION")))
        figures_text(context, value, "schema");
    if (str_equal(name, STR("EXPORT_PRODUCT_VERSION")))
        figures_text(context, value, "product");
    return true;
}

static bool count_all(struct table_reader *tables, struct err *err)
{
    struct database *database = tables->database;
    struct figures *figures = tables->input->figures;
    return rows_each(database, "META_DATA_EXPORT", "name value", take_version, figures, err) &&
           rows_each(database, "EXPORT_META_DATA", "name value", take_version, figures, err) &&
           count_tables(tables, err) && count_copies(tables, err) &&
           count_lengths(tables, "CUPTI_ACTIVITY_KIND_MEMSET", "memsets", true, err) &&
           count_lengths(tables, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "graph_launches", false, err) &&
           count_ranges(tables, err);
}

bool nsys_count(const struct format_input *input, struct err *err)
{
    struct table_reader tables;
    bool ok = table_reader_open(&tables, input, err) && count_all(&tables, err) &&
              table_reader_counted(&tables, err);
    table_reader_close(&tables);
    return ok;
}

// SPDX-License-Identifier: Apache-2.0
// What people who inspect an export are shown of it. A process's trace has its own events only, so
// these are counted in the tables themselves.
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

static bool count_rows(struct nsys *nsys, const char *table, const char *path, struct err *err)
{
    struct rows rows;
    int64_t count = 0;
    if (!database_has(nsys->database, table))
        return true;
    bool ok = rows_open(nsys->database, table, "start", &rows, err);
    while (ok && rows_next(&rows)) {
        count++;
        ok = nsys_go_on(nsys, err);
    }
    figures_add(nsys->input->figures, count, "%s", path);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

static bool count_tables(struct nsys *nsys, struct err *err)
{
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        if (!count_rows(nsys, counted[i].table, counted[i].path, err))
            return false;
    return true;
}

// --- device -------------------------------------------------------------------------------------

enum { BYTES, START, END, KIND };

static int64_t length_of(const struct rows *rows)
{
    int64_t start_ns = rows_i64_or(rows, START, 0), length_ns;
    bool over = __builtin_sub_overflow(rows_i64_or(rows, END, start_ns), start_ns, &length_ns);
    return over ? 0 : length_ns;
}

static bool add_lengths(struct nsys *nsys, const char *table, const char *columns, const char *path,
                        struct err *err)
{
    struct figures *figures = nsys->input->figures;
    struct rows rows;
    bool bytes = columns[0] == 'b', kinds = strstr(columns, "copyKind");
    bool ok = rows_open(nsys->database, table, columns, &rows, err);
    figures_add(figures, 0, "%s" IN, path);
    while (ok && rows_next(&rows)) {
        char of[64];
        snprintf(of, sizeof of, "%s%s%s", path, kinds ? IN : "",
                 kinds ? nsys_copy_word(rows_i64_or(&rows, KIND, 0)) : "");
        figures_add(figures, 1, "%s" IN "count", of);
        figures_add(figures, length_of(&rows), "%s" IN "ns", of);
        if (bytes)
            figures_add(figures, rows_i64_or(&rows, BYTES, 0), "%s" IN "bytes", of);
        ok = nsys_go_on(nsys, err);
    }
    return rows_close(&rows, ok ? err : NULL) && ok;
}

static bool add_device(struct nsys *nsys, struct err *err)
{
    struct figures *figures = nsys->input->figures;
    figures_add(figures, 0, "memsets" IN "count");
    figures_add(figures, 0, "memsets" IN "bytes");
    figures_add(figures, 0, "memsets" IN "ns");
    figures_add(figures, 0, "graph_launches" IN "count");
    figures_add(figures, 0, "graph_launches" IN "ns");
    return add_lengths(nsys, "CUPTI_ACTIVITY_KIND_MEMCPY", "bytes start end copyKind", "copies",
                       err) &&
           add_lengths(nsys, "CUPTI_ACTIVITY_KIND_MEMSET", "bytes start end", "memsets", err) &&
           add_lengths(nsys, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "graphId start end",
                       "graph_launches", err);
}

// --- ranges -------------------------------------------------------------------------------------

#define RANGE_COLUMNS "end eventType text textId domainId binaryData"
enum { RANGE_END, RANGE_TYPE, RANGE_TEXT, RANGE_DOMAIN = RANGE_TEXT + 2, RANGE_PAYLOAD };

struct ranges {
    struct strtab names; // with their domains
    struct nccl_schemas schemas;
};

// Names a file as it likes, so only those of NCCL are shown.
static void add_payload(struct nsys *nsys, const struct rows *rows, const struct ranges *ranges,
                        struct str label)
{
    struct str bytes;
    struct nccl_payload payload;
    char name[64];
    if (!rows_text(rows, RANGE_PAYLOAD, &bytes) ||
        !nccl_payload_read(&ranges->schemas, rows_i64_or(rows, RANGE_DOMAIN, 0), bytes, &payload) ||
        payload.values[NCCL_BYTES] == VALUE_ABSENT || !str_starts_with(label, STR("nccl")) ||
        label.len >= sizeof name || memchr(label.at, IN[0], label.len))
        return;
    snprintf(name, sizeof name, "%.*s", (int)label.len, label.at);
    figures_add(nsys->input->figures, 1, "nccl_payload" IN "%s" IN "count", name);
    figures_add(nsys->input->figures, payload.values[NCCL_BYTES], "nccl_payload" IN "%s" IN "bytes",
                name);
}

static bool add_name(struct nsys *nsys, struct ranges *ranges, int64_t domain, struct str label,
                     struct err *err)
{
    enum { MOST = 1 << 16 };
    struct buf key = {0};
    str_id id;
    uint32_t before = ranges->names.count;
    buf_i64(&key, domain);
    buf_putc(&key, ' ');
    buf_add(&key, label.at, label.len < MOST ? label.len : MOST);
    bool ok =
        buf_ok(&key, err) && strtab_intern(&ranges->names, (struct str){key.at, key.len}, &id, err);
    figures_add(nsys->input->figures, ok && ranges->names.count > before, "nvtx_distinct_ranges");
    buf_free(&key);
    return ok;
}

static bool add_range(struct nsys *nsys, const struct rows *rows, struct ranges *ranges,
                      struct err *err)
{
    int64_t end_ns;
    struct str label = STR("");
    (void)nsys_label(nsys, rows, RANGE_TEXT, &label);
    add_payload(nsys, rows, ranges, label);
    if (!nsys_is_range(rows_i64_or(rows, RANGE_TYPE, 0)))
        return true;
    bool open = !rows_i64(rows, RANGE_END, &end_ns);
    figures_add(nsys->input->figures, open, "nvtx_open_ranges");
    return open || add_name(nsys, ranges, rows_i64_or(rows, RANGE_DOMAIN, 0), label, err);
}

static bool walk_ranges(struct nsys *nsys, struct ranges *ranges, struct err *err)
{
    struct rows rows;
    figures_add(nsys->input->figures, 0, "nvtx_open_ranges");
    figures_add(nsys->input->figures, 0, "nvtx_distinct_ranges");
    if (ranges->schemas.exported)
        figures_add(nsys->input->figures, 0, "nccl_payload" IN);
    bool ok = rows_open(nsys->database, "NVTX_EVENTS", RANGE_COLUMNS, &rows, err);
    while (ok && rows_next(&rows))
        ok = add_range(nsys, &rows, ranges, err) && nsys_go_on(nsys, err);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

static bool add_ranges(struct nsys *nsys, struct err *err)
{
    struct ranges *ranges = calloc(1, sizeof *ranges);
    bool ok = ranges || err_set(err, ERR_MEMORY, "out of memory");
    ok = ok && strtab_init(&ranges->names, nsys->input->budget, err) &&
         nccl_schemas_read(nsys, &ranges->schemas, err) && walk_ranges(nsys, ranges, err);
    if (ranges)
        strtab_free(&ranges->names);
    free(ranges);
    return ok;
}

// --- the export itself --------------------------------------------------------------------------

static bool add_version(struct nsys *nsys, const char *table, struct err *err)
{
    struct rows rows;
    struct str name, value;
    bool ok = rows_open(nsys->database, table, "name value", &rows, err);
    while (ok && rows_next(&rows)) {
        if (!rows_text(&rows, 0, &name))
            continue;
        bool schema = str_equal(name, STR("EXPORT_SCHEMA_VERSION"));
        bool product = str_equal(name, STR("EXPORT_PRODUCT_VERSION"));
        if ((schema || product) && rows_text(&rows, 1, &value) &&
            str_valid_utf8(value) == value.len)
            figures_text(nsys->input->figures, value, schema ? "schema" : "product");
    }
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// Several processes are read one after the other.
static bool is_first(struct nsys *nsys, bool *first, struct err *err)
{
    struct format_parts *parts = malloc(sizeof *parts);
    bool ok = parts || err_set(err, ERR_MEMORY, "out of memory");
    ok = ok && nsys_processes(nsys->database, parts, err);
    *first = ok && (nsys->input->part == FORMAT_WHOLE || parts->count == 0 ||
                    parts->at[0] == nsys->input->part);
    free(parts);
    return ok;
}

bool nsys_count(struct nsys *nsys, struct err *err)
{
    bool first;
    if (!nsys->input->figures)
        return true;
    return is_first(nsys, &first, err) &&
           (!first || (add_version(nsys, "META_DATA_EXPORT", err) &&
                       add_version(nsys, "EXPORT_META_DATA", err) && count_tables(nsys, err) &&
                       add_device(nsys, err) && add_ranges(nsys, err)));
}

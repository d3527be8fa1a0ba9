// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/link_tables.h"

#include "analysis/evidence/link_cells.h"
#include "analysis/report/table_limit.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"

#include <stdio.h>

struct link_tables {
    const struct link_tests *links;
    struct str file;
    struct report *report;
    size_t left_out;
};

// How many items of a part get a row, for which there is room then; SIZE_MAX on failure.
static size_t make_room(struct link_tables *tables, enum link_part part,
                        const struct table_desc *desc, struct err *err)
{
    size_t all = tables->links->parts[part].count;
    size_t kept = all < LINK_TABLE_ROWS ? all : LINK_TABLE_ROWS;
    tables->left_out += all - kept;
    return kept == 0 || report_room(tables->report, desc, kept, err) ? kept : SIZE_MAX;
}

// --- tests --------------------------------------------------------------------------------------

// The collective by the file's name, where the file does not say it: "all_reduce_perf.log",
// "allreduce-8n.txt".
static struct str operation_by_name(struct str file)
{
    static const char *const names[][3] = {
        {"all_reduce", "allreduce", "all-reduce"},
        {"all_gather", "allgather", "all-gather"},
        {"reduce_scatter", "reducescatter", "reduce-scatter"},
        {"alltoall", "all_to_all", "all-to-all"},
        {"sendrecv", "send_recv", "send-recv"},
        {"broadcast", "broadcast", "broadcast"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t j = 0; j < 3; j++)
            if (str_contains_nocase(file, str_of(names[i][j])))
                return str_of(names[i][0]);
    return STR("");
}

static void row_operation(struct row *row, const struct link_tables *tables,
                          const struct link_run *run)
{
    bool is_test = link_run_is_collective(run);
    if (is_test && !run->collective.len && tables->links->parts[LINK_RUNS].count == 1) {
        struct str operation = operation_by_name(tables->file);
        row_link_text(row, LINK_TESTS_OPERATION, operation);
        row_link_kind(row, LINK_TESTS_KIND, operation);
        row_bool(row, LINK_TESTS_GUESSED, run->guessed || operation.len);
        return;
    }
    row_link_text(row, LINK_TESTS_OPERATION, run->collective);
    if (is_test)
        row_link_kind(row, LINK_TESTS_KIND, run->collective);
    row_bool(row, LINK_TESTS_GUESSED, run->guessed);
}

static void row_setup(struct row *row, const struct link_run *run)
{
    row_link_text(row, LINK_TESTS_TOOL, run->tool);
    row_link_text(row, LINK_TESTS_VERSION, run->version);
    row_i64_if(row, LINK_TESTS_RANKS, run->ranks > 0, run->ranks);
    row_i64_if(row, LINK_TESTS_NODES, run->nodes > 0, run->nodes);
}

static bool add_test(const struct link_tables *tables, const struct link_row *measured,
                     struct err *err)
{
    const struct link_run *runs = tables->links->parts[LINK_RUNS].items;
    struct row row = {.desc = &table_link_tests};
    row_text(&row, LINK_TESTS_FILE, tables->file);
    row_i64(&row, LINK_TESTS_TEST, measured->run);
    row_operation(&row, tables, &runs[measured->run]);
    row_setup(&row, &runs[measured->run]);
    row_link_text(&row, LINK_TESTS_DTYPE, measured->type);
    row_text_if(&row, LINK_TESTS_REDUCTION,
                measured->reduction.len && !str_equal(measured->reduction, STR("none")),
                measured->reduction);
    row_i64_if(&row, LINK_TESTS_BYTES, measured->bytes >= 0, measured->bytes);
    row_bool(&row, LINK_TESTS_IN_PLACE, measured->in_place);
    row_link_ns(&row, LINK_TESTS_TIME_NS, measured->time_ns);
    row_link_ns(&row, LINK_TESTS_MIN_NS, measured->least_ns);
    row_link_ns(&row, LINK_TESTS_P99_NS, measured->tail_ns);
    row_link_gbps(&row, LINK_TESTS_ALGO_GBPS, measured->algorithm_bps);
    row_link_gbps(&row, LINK_TESTS_BUS_GBPS, measured->bus_bps);
    row_i64_if(&row, LINK_TESTS_WRONG, measured->wrong >= 0, measured->wrong);
    return row_end(&row, tables->report, err);
}

static bool add_tests(struct link_tables *tables, struct err *err)
{
    const struct link_row *rows = tables->links->parts[LINK_ROWS].items;
    size_t count = make_room(tables, LINK_ROWS, &table_link_tests, err);
    bool ok = count != SIZE_MAX;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_test(tables, &rows[i], err);
    return ok;
}

// --- topology -----------------------------------------------------------------------------------

// What nvidia-smi's abbreviations of paths mean, in its words; NULL: unknown.
static const char *meaning_of(struct str kind)
{
    static const char *const meanings[][2] = {
        {"PIX", "at most one PCIe bridge"},
        {"PSB", "a PCIe switch on one board"},
        {"PXB", "several PCIe bridges, but no host bridge"},
        {"PHB", "PCIe and a host bridge, which mostly means the CPU"},
        {"NODE", "PCIe and the links between host bridges of one NUMA node"},
        {"SYS", "PCIe and the link between the CPUs (NUMA nodes)"},
        {"C2C", "NVLink-C2C between CPU and GPU"},
    };
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (str_equal(kind, str_of(meanings[i][0])))
            return meanings[i][1];
    return NULL;
}

static void row_meaning(struct row *row, struct str kind, char text[32])
{
    if (!str_starts_with(kind, STR("NV"))) {
        row_word(row, LINK_TOPOLOGY_MEANING, meaning_of(kind));
        return;
    }
    int digits = (int)(kind.len - 2);
    bool one = str_equal(kind, STR("NV1"));
    snprintf(text, 32, "%.*s %s", digits, kind.at + 2, one ? "NVLink" : "bonded NVLinks");
    row_text(row, LINK_TOPOLOGY_MEANING, str_of(text));
}

// Counts the matrices up to a place: each starts with the first GPU.
struct matrices {
    size_t next; // place
    int64_t count;
};

static int64_t matrix_of(const struct link_tables *tables, struct matrices *matrices, size_t place)
{
    const struct link_place *places = tables->links->parts[LINK_PLACES].items;
    for (; matrices->next <= place; matrices->next++)
        matrices->count += str_equal(places[matrices->next].name, STR("GPU0"));
    return matrices->count - 1;
}

static bool add_path(const struct link_tables *tables, const struct link_path *path, int64_t matrix,
                     struct err *err)
{
    const struct link_place *places = tables->links->parts[LINK_PLACES].items;
    const struct link_place *from = &places[path->from], *to = &places[path->to];
    struct row row = {.desc = &table_link_topology};
    char meaning[32];
    row_text(&row, LINK_TOPOLOGY_FILE, tables->file);
    row_text(&row, LINK_TOPOLOGY_FROM_NAME, from->name);
    row_link_text(&row, LINK_TOPOLOGY_FROM_DEVICE, from->device);
    row_link_text(&row, LINK_TOPOLOGY_FROM_NUMA, from->numa);
    row_text(&row, LINK_TOPOLOGY_TO_NAME, to->name);
    row_link_text(&row, LINK_TOPOLOGY_TO_DEVICE, to->device);
    row_text(&row, LINK_TOPOLOGY_KIND, path->kind);
    row_meaning(&row, path->kind, meaning);
    row_i64_if(&row, LINK_TOPOLOGY_MATRIX, matrix >= 0, matrix);
    return row_end(&row, tables->report, err);
}

static bool add_paths(struct link_tables *tables, struct err *err)
{
    const struct link_path *paths = tables->links->parts[LINK_PATHS].items;
    size_t count = make_room(tables, LINK_PATHS, &table_link_topology, err);
    bool ok = count != SIZE_MAX;
    struct matrices matrices = {0};
    for (size_t i = 0; ok && i < count; i++)
        ok = add_path(tables, &paths[i], matrix_of(tables, &matrices, paths[i].from), err);
    return ok;
}

// --- ports --------------------------------------------------------------------------------------

static bool add_port(const struct link_tables *tables, const struct link_port *port,
                     struct err *err)
{
    struct row row = {.desc = &table_link_ports};
    row_text(&row, LINK_PORTS_FILE, tables->file);
    row_text(&row, LINK_PORTS_DEVICE, port->device);
    row_i64_if(&row, LINK_PORTS_PORT, port->number >= 0, port->number);
    row_link_text(&row, LINK_PORTS_STATE, port->state);
    row_link_text(&row, LINK_PORTS_LAYER, port->layer);
    row_link_gbps(&row, LINK_PORTS_RATE_GBPS, port->rate_bps);
    return row_end(&row, tables->report, err);
}

static bool add_ports(struct link_tables *tables, struct err *err)
{
    const struct link_port *ports = tables->links->parts[LINK_PORTS].items;
    size_t count = make_room(tables, LINK_PORTS, &table_link_ports, err);
    bool ok = count != SIZE_MAX;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_port(tables, &ports[i], err);
    return ok;
}

// --- the trust report ---------------------------------------------------------------------------

static const struct {
    const char *item, *severity, *effect;
} doubts[LINK_WARNINGS] = {
    [LINK_BAD_ROW] = {"link_bad_rows", "info", "the tables of links lack these lines"},
    [LINK_LEFT_OUT] = {"link_shortened", "info", "sizes or ranks are missing from the test"},
    [LINK_WRONG] = {"link_wrong_results", "error",
                    "the links or the library corrupt data; these rows are no reference"},
    [LINK_SINGLE_RANK] = {"link_single_rank", "warning",
                          "such a test says nothing about links and is no reference"},
    [LINK_APART] = {"link_apart", "warning",
                    "each tests only the GPUs of one process; built with MPI=1, nccl-tests has "
                    "one run of all processes"},
    [LINK_FAILED] = {"link_test_failed", "warning", "the test may be incomplete"},
    [LINK_CUT] = {"link_cut", "warning", "the rest of the file is missing from the tables"},
};

static bool doubt_warning(const struct link_tables *tables, enum link_warning warning,
                          struct err *err)
{
    uint64_t count = tables->links->warnings[warning].count;
    const char *detail =
        arena_printf(tables->report->arena, err, "%s in %.*s", link_warning_words(warning),
                     (int)tables->file.len, tables->file.at);
    return detail &&
           doubt_add(tables->report,
                     &(struct doubt){.item = doubts[warning].item,
                                     .severity = doubts[warning].severity,
                                     .count = (int64_t)count,
                                     .placed = true,
                                     .position = (int64_t)tables->links->warnings[warning].pos,
                                     .detail = detail,
                                     .effect = doubts[warning].effect},
                     err);
}

static bool doubt_left_out(const struct link_tables *tables, struct err *err)
{
    const char *detail =
        arena_printf(tables->report->arena, err, "a table of links keeps %d rows of %.*s",
                     LINK_TABLE_ROWS, (int)tables->file.len, tables->file.at);
    return detail && doubt_add(tables->report,
                               &(struct doubt){.item = TRUST_ROWS_LEFT_OUT,
                                               .severity = "warning",
                                               .count = (int64_t)tables->left_out,
                                               .detail = detail,
                                               .effect = "later rows of the file are missing"},
                               err);
}

static bool add_doubts(const struct link_tables *tables, struct err *err)
{
    for (int i = 0; i < LINK_WARNINGS; i++)
        if (tables->links->warnings[i].count && !doubt_warning(tables, (enum link_warning)i, err))
            return false;
    return tables->left_out == 0 || doubt_left_out(tables, err);
}

bool link_tables_add(const struct evidence *evidence, struct str file, struct report *report,
                     struct err *err)
{
    struct link_tables tables = {.links = &evidence->links, .file = file, .report = report};
    return add_tests(&tables, err) && add_paths(&tables, err) && add_ports(&tables, err) &&
           link_records_add(tables.links, file, report, &tables.left_out, err) &&
           add_doubts(&tables, err);
}

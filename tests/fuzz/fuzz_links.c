// SPDX-License-Identifier: Apache-2.0
// Any bytes as tests and records of links: whichever format they look like reads or refuses them,
// and what was read becomes tables.
#include <stdint.h>

#include "analysis/evidence/link_tables.h"
#include "analysis/run/run_link_shares.h"
#include "tests/fuzz/gathered.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static uint64_t sum_of_rows(const struct link_tests *links)
{
    uint64_t sum = 0;
    const struct link_row *rows = links->parts[LINK_ROWS].items;
    const struct link_device *devices = links->parts[LINK_DEVICES].items;
    for (size_t i = 0; i < links->parts[LINK_ROWS].count; i++) {
        check(rows[i].run < links->parts[LINK_RUNS].count);
        sum = sum * 31 + rows[i].type.len + (uint64_t)rows[i].bytes;
    }
    for (size_t i = 0; i < links->parts[LINK_DEVICES].count; i++) {
        check(devices[i].run < links->parts[LINK_RUNS].count);
        sum = sum * 31 + devices[i].host.len + (uint64_t)devices[i].rank;
    }
    return sum;
}

static uint64_t sum_of_records(const struct link_tests *links)
{
    uint64_t sum = 0;
    const struct link_record *records = links->parts[LINK_RECORDS].items;
    const struct link_member *members = links->parts[LINK_MEMBERS].items;
    const struct link_op_count *counts = links->parts[LINK_OP_COUNTS].items;
    for (size_t i = 0; i < links->parts[LINK_RECORDS].count; i++) {
        check(records[i].comm < links->parts[LINK_COMMS].count);
        sum = sum * 31 + records[i].operation.len + (uint64_t)records[i].bytes;
    }
    for (size_t i = 0; i < links->parts[LINK_MEMBERS].count; i++) {
        check(members[i].comm < links->parts[LINK_COMMS].count);
        sum = sum * 31 + members[i].host.len + (uint64_t)members[i].rank;
    }
    for (size_t i = 0; i < links->parts[LINK_OP_COUNTS].count; i++) {
        check(counts[i].member < links->parts[LINK_MEMBERS].count);
        sum = sum * 31 + counts[i].operation.len + (uint64_t)counts[i].count;
    }
    return sum;
}

static uint64_t sum_of_paths(const struct link_tests *links)
{
    uint64_t sum = 0;
    const struct link_path *paths = links->parts[LINK_PATHS].items;
    for (size_t i = 0; i < links->parts[LINK_PATHS].count; i++) {
        check(paths[i].from < links->parts[LINK_PLACES].count);
        check(paths[i].to < links->parts[LINK_PLACES].count);
        sum = sum * 31 + paths[i].kind.len;
    }
    return sum;
}

static void show(const struct evidence *evidence)
{
    struct err err;
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    check(link_tables_add(evidence, STR("a"), &report, &err));
    check(run_link_shares(&report, &err));
    for (unsigned i = 0; i < report.table_count; i++)
        check(report.tables[i].row_count <= LINK_TABLE_ROWS);
    arena_free(&arena);
}

static uint64_t sum_of(const struct evidence *evidence)
{
    const struct link_tests *links = &evidence->links;
    show(evidence);
    return (sum_of_rows(links) * 31 + sum_of_records(links)) * 31 + sum_of_paths(links);
}

// Other formats have their own targets.
static bool is_of_links(const struct format *format)
{
    static const char *const names[] = {"nccl-tests",       "nccl-tests-json", "nccl-inspector",
                                        "nccl-ras-json",    "perftest",        "nvbandwidth",
                                        "nvbandwidth-json", "nvidia-smi-topo", "ibstat"};
    for (size_t i = 0; format && i < sizeof names / sizeof *names; i++)
        if (strcmp(format->name, names[i]) == 0)
            return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    struct str head = {text.at, text.len < FORMAT_HEAD_BYTES ? text.len : FORMAT_HEAD_BYTES};
    const struct format *format = format_find(head, STR(""));
    if (is_of_links(format))
        gathered_check(format, text, (size_t)data[0] + 1, sum_of);
    return 0;
}

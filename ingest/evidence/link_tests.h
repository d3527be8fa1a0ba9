// SPDX-License-Identifier: Apache-2.0
// What tests and records of links say: how fast collectives were on this machine, between which
// devices, and what communicators report about themselves. Figures are as printed, in the order of
// the file.
#ifndef INGEST_EVIDENCE_LINK_TESTS_H
#define INGEST_EVIDENCE_LINK_TESTS_H

#include "ingest/base/arena.h"
#include "ingest/base/str.h"

#include <stdint.h>

// One run of a test program.
struct link_run {
    struct str tool, version; // "nccl-tests"; "" unknown
    struct str collective;    // as the tool names it: "all_reduce", "AllReduce"; "" unknown
    bool guessed;             // the collective or the ranks, by columns and bandwidths
    int64_t ranks, nodes;     // 0 unknown
    bool devices_cut;         // not all were listed
    double average_bus_bps;   // bytes/s; NAN: not printed
    int64_t out_of_bounds;    // sizes with wrong results; -1: not printed
    bool concluded;           // it printed its end
    uint64_t pos;             // where it starts
};

// One size in one mode. Times in ns, bandwidths in bytes/s; NAN: not printed, or "nan".
struct link_row {
    uint32_t run;         // index
    struct str type;      // of elements: "float"
    struct str reduction; // "sum"; "" none
    int64_t root;         // -1 none, or every rank in turn
    int64_t bytes, count; // the message, and its elements or a perftest's iterations; -1 unknown
    bool in_place;
    double time_ns;           // mean of the iterations
    double least_ns, tail_ns; // the fastest iteration; that of 99 %
    double algorithm_bps, bus_bps;
    double peak_bps; // of a perftest
    int64_t wrong;   // results; -1: not checked
    uint64_t pos;    // of its line; both modes of a size share one
};

struct link_device {
    uint32_t run;
    int64_t rank, group, pid, device; // -1 unknown
    struct str host, bus_id, name;
};

// A communicator, by its records.
struct link_comm {
    struct str id, name;   // "0xad56c683b0c4ef", "DP Group 0"; "" unknown
    int64_t ranks, nodes;  // 0 unknown
    int64_t missing_ranks; // that did not answer; -1: not asked
};

// One operation of one rank, in NCCL Inspector's log. Only some are recorded.
struct link_record {
    uint32_t comm;        // index
    struct str operation; // "AllReduce", "Send"
    struct str timing;    // which clock: "kernel_gpu", "kernel_cpu", "collective_cpu"
    struct str host;
    int64_t rank, pid, peer; // -1 unknown or none
    int64_t sequence;        // of the operations of that kind in the communicator; -1
    int64_t bytes;           // -1
    double time_ns, algorithm_bps, bus_bps; // NAN
    int64_t written_ns;                     // when the record was written, Unix time; -1
    uint64_t pos;
};

// A rank of a communicator, as NCCL's RAS reports it.
struct link_member {
    uint32_t comm;
    int64_t rank, pid, device; // -1 unknown
    struct str host;
    bool missing, dead,
        unresponsive;                // missing: it did not answer; the others: why, as far as known
    int64_t init_state, async_error; // ncclResult_t; 0 is fine, -1 unknown
    bool finalized, destroyed, aborted;
};

// How many of a kind a member has started.
struct link_op_count {
    uint32_t member;
    struct str operation;
    int64_t count;
};

// A GPU or network card of one host, and how two of them are connected.
struct link_place {
    struct str name;   // as in the matrix: "GPU0", "NIC3"
    struct str device; // "mlx5_3"; "" not said
    struct str cpus;   // near it: "0-55,112-167"; ""
    struct str numa;   // "0"; ""
};

struct link_path {
    uint32_t from, to; // places
    struct str kind;   // "NV18", "PIX", "SYS", ...
};

// A port of a network card.
struct link_port {
    struct str device; // "mlx5_0"
    int64_t number;    // from 1; -1 unknown
    struct str state;  // "Active", "Down"; "" unknown
    struct str layer;  // "InfiniBand", "Ethernet"; ""
    double rate_bps;   // as negotiated, in bytes/s; NAN unknown
};

// Tables of link_tests, and what they hold.
enum link_part {
    LINK_RUNS,      // struct link_run
    LINK_ROWS,      // struct link_row
    LINK_DEVICES,   // struct link_device
    LINK_COMMS,     // struct link_comm
    LINK_RECORDS,   // struct link_record
    LINK_MEMBERS,   // struct link_member
    LINK_OP_COUNTS, // struct link_op_count
    LINK_PLACES,    // struct link_place
    LINK_PATHS,     // struct link_path
    LINK_PORTS,     // struct link_port
    LINK_PARTS
};

enum link_warning {
    LINK_BAD_ROW,     // a line among the rows does not fit the header, or is no record
    LINK_LEFT_OUT,    // rows or ranks were replaced by "..."
    LINK_WRONG,       // results were wrong
    LINK_SINGLE_RANK, // one rank: its bandwidths say nothing about links
    LINK_APART,       // processes that ran beside each other, each a test by itself
    LINK_FAILED,      // the test reported an error
    LINK_CUT,         // the file ends early
    LINK_WARNINGS
};

struct link_tests {
    struct {
        void *items;
        size_t count, cap;
    } parts[LINK_PARTS];
    struct {
        uint64_t count, pos; // pos: of the first
    } warnings[LINK_WARNINGS];
};

struct evidence;

// Whether a tool measures collectives; perftest and nvbandwidth measure pairs.
static inline bool link_run_is_collective(const struct link_run *run)
{
    return !str_equal(run->tool, STR("perftest")) && !str_equal(run->tool, STR("nvbandwidth"));
}

void link_tests_free(struct link_tests *tests, struct budget *budget);

// Adds a copy of an item, whose texts are fit to be stored (evidence_text). ERR_LIMIT past the
// budget.
MUST_CHECK bool link_tests_add(struct evidence *evidence, enum link_part part, const void *item,
                               struct err *err);

void link_tests_warn(struct evidence *evidence, enum link_warning warning, uint64_t pos);

// "rows that do not fit the header", ...
const char *link_warning_words(enum link_warning warning);

#endif

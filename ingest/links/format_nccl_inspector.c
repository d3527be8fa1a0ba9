// SPDX-License-Identifier: Apache-2.0
// NCCL Inspector's log: an object a line, each one operation of one rank. Only some operations are
// recorded, and the last line may be cut.
#include "ingest/json/json_outline.h"
#include "ingest/links/link_figures.h"
#include "ingest/links/link_json.h"
#include "ingest/links/link_settle.h"

#include "ingest/trace/strtab.h"

#include <math.h>

// The members of a line.
struct one {
    struct link_record record;
    struct link_comm comm;
    bool performed; // it has an operation
    bool starts;    // it counts what a dump holds, whose lines follow
    bool other;     // it is of something else that is recorded
};

struct inspector {
    struct link_json json;
    struct strtab ids; // of communicators, whose places follow from them
    struct str id;     // of the last one
    struct one dump;   // of lines without a header
};

// --- a line -------------------------------------------------------------------------------------

static const struct link_field header_fields[] = {
    LINK_FIELD("id", LINK_TEXT, one, comm.id, 0),
    LINK_FIELD("comm_name", LINK_TEXT, one, comm.name, 0),
    LINK_FIELD("rank", LINK_WHOLE, one, record.rank, 0),
    LINK_FIELD("n_ranks", LINK_WHOLE, one, comm.ranks, 0),
    LINK_FIELD("nnodes", LINK_WHOLE, one, comm.nodes, 0),
};
static const struct link_field metadata_fields[] = {
    LINK_FIELD("dump_timestamp_us", LINK_WHOLE, one, record.written_ns, 0),
    LINK_FIELD("hostname", LINK_TEXT, one, record.host, 0),
    LINK_FIELD("pid", LINK_WHOLE, one, record.pid, 0),
};
static const struct link_field operation_fields[] = {
    LINK_FIELD("coll", LINK_TEXT, one, record.operation, 0),
    LINK_FIELD("p2p", LINK_TEXT, one, record.operation, 0),
    LINK_FIELD("coll_sn", LINK_WHOLE, one, record.sequence, 0),
    LINK_FIELD("p2p_sn", LINK_WHOLE, one, record.sequence, 0),
    LINK_FIELD("p2p_peer", LINK_WHOLE, one, record.peer, 0),
    LINK_FIELD("coll_msg_size_bytes", LINK_WHOLE, one, record.bytes, 0),
    LINK_FIELD("p2p_msg_size_bytes", LINK_WHOLE, one, record.bytes, 0),
    LINK_FIELD("coll_exec_time_us", LINK_REAL, one, record.time_ns, LINK_US),
    LINK_FIELD("p2p_exec_time_us", LINK_REAL, one, record.time_ns, LINK_US),
    LINK_FIELD("coll_timing_source", LINK_TEXT, one, record.timing, 0),
    LINK_FIELD("p2p_timing_source", LINK_TEXT, one, record.timing, 0),
    LINK_FIELD("coll_algobw_gbs", LINK_REAL, one, record.algorithm_bps, LINK_GB),
    LINK_FIELD("p2p_algobw_gbs", LINK_REAL, one, record.algorithm_bps, LINK_GB),
    LINK_FIELD("coll_busbw_gbs", LINK_REAL, one, record.bus_bps, LINK_GB),
    LINK_FIELD("p2p_busbw_gbs", LINK_REAL, one, record.bus_bps, LINK_GB),
};

static bool take_part(struct link_json *json, struct str key, const struct json_value *value,
                      void *target)
{
    static const struct {
        const char *name;
        struct link_shape shape;
    } parts[] = {
        {"header", LINK_SHAPE(header_fields, NULL)},
        {"metadata", LINK_SHAPE(metadata_fields, NULL)},
        {"coll_perf", LINK_SHAPE(operation_fields, NULL)},
        {"p2p_perf", LINK_SHAPE(operation_fields, NULL)},
    };
    struct one *one = target;
    one->starts = one->starts || str_equal(key, STR("dump_stats"));
    one->other = one->other || str_equal(key, STR("proxy_trace"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts && value->type == JSON_OBJECT; i++) {
        if (!str_equal(key, str_of(parts[i].name)))
            continue;
        one->performed = one->performed || i >= 2;
        link_json_object(json, &parts[i].shape, target);
        return true;
    }
    return false;
}

static const struct link_shape line_shape = {NULL, 0, take_part};

static struct one empty_line(void)
{
    const struct str none = STR("");
    return (struct one){
        .record = {.operation = none,
                   .timing = none,
                   .host = none,
                   .rank = -1,
                   .pid = -1,
                   .peer = -1,
                   .sequence = -1,
                   .bytes = -1,
                   .time_ns = NAN,
                   .algorithm_bps = NAN,
                   .bus_bps = NAN,
                   .written_ns = -1},
        .comm = {.id = none, .name = none, .missing_ranks = -1},
    };
}

// The place of its communicator, which is added if it is new.
static bool find_comm(struct inspector *inspector, struct one *one, struct err *err)
{
    struct evidence *evidence = inspector->json.evidence;
    str_id id;
    size_t count = evidence->links.parts[LINK_COMMS].count;
    if (one->comm.id.len == 0)
        one->comm.id = STR("unknown");
    if (!strtab_intern(&inspector->ids, one->comm.id, &id, err))
        return false;
    one->record.comm = id - 1;
    return id <= count || link_tests_add(evidence, LINK_COMMS, &one->comm, err);
}

// Of what ranks gather or scatter a record has one rank's part; 0 in place of a bandwidth is one
// that was not computed.
static void tidy_sizes(struct one *one)
{
    static const char *const of_one_rank[] = {"AllGather", "AllGatherV", "ReduceScatter"};
    struct link_record *record = &one->record;
    for (size_t i = 0; i < sizeof of_one_rank / sizeof *of_one_rank; i++)
        if (str_equal(record->operation, str_of(of_one_rank[i])) &&
            (record->bytes < 0 || one->comm.ranks < 1 ||
             __builtin_mul_overflow(record->bytes, one->comm.ranks, &record->bytes)))
            record->bytes = -1;
    record->algorithm_bps = record->algorithm_bps > 0 ? record->algorithm_bps : NAN;
    record->bus_bps = record->bus_bps > 0 ? record->bus_bps : NAN;
}

static void tidy(struct one *one)
{
    tidy_sizes(one);
    one->comm.ranks = one->comm.ranks < 0 ? 0 : one->comm.ranks;
    one->comm.nodes = one->comm.nodes < 0 ? 0 : one->comm.nodes;
    if (one->record.written_ns >= 0 &&
        __builtin_mul_overflow(one->record.written_ns, 1000, &one->record.written_ns))
        one->record.written_ns = -1;
}

// Lines since version 4.3 have no header: it is that of the line before them which counts them.
static void begin_dump(struct inspector *inspector, const struct one *line)
{
    inspector->dump = empty_line();
    inspector->dump.comm = line->comm;
    inspector->dump.record.rank = line->record.rank;
    inspector->dump.record.host = line->record.host;
    inspector->dump.record.pid = line->record.pid;
    inspector->dump.record.written_ns = line->record.written_ns;
}

static bool take_record(struct inspector *inspector, struct err *err)
{
    struct link_json *json = &inspector->json;
    struct one one = inspector->dump;
    one.record.pos = json_cursor_pos(&json->cursor);
    link_json_object(json, &line_shape, &one);
    if (json->cursor.stop == JSON_CUT)
        link_tests_warn(json->evidence, LINK_CUT, one.record.pos);
    else if (!json->cursor.stop && !one.performed && !one.starts && !one.other)
        link_tests_warn(json->evidence, LINK_BAD_ROW, one.record.pos);
    if (!json->cursor.stop && one.starts)
        begin_dump(inspector, &one);
    if (json->cursor.stop || !one.performed)
        return true;
    tidy(&one);
    return find_comm(inspector, &one, err) &&
           link_tests_add(json->evidence, LINK_RECORDS, &one.record, err);
}

// --- the file -----------------------------------------------------------------------------------

// The next object; what is not JSON is passed up to the end of its line.
static bool next_line(struct inspector *inspector)
{
    struct json_cursor *cursor = &inspector->json.cursor;
    struct json_value value;
    for (;;) {
        while (json_cursor_item(cursor, &value)) {
            if (json_cursor_enter(cursor, &value, JSON_OBJECT))
                return true;
            link_tests_warn(inspector->json.evidence, LINK_BAD_ROW, json_cursor_pos(cursor));
        }
        if (cursor->stop != JSON_BROKEN)
            return false;
        link_tests_warn(inspector->json.evidence, LINK_BAD_ROW, json_cursor_pos(cursor));
        if (!json_cursor_next_line(cursor))
            return false;
    }
}

static bool take_lines(struct inspector *inspector, const struct format_input *input,
                       struct err *err)
{
    bool ok = true;
    do
        ok = take_record(inspector, err) &&
             progress_report(input->progress, source_consumed(input->source), err);
    while (ok && next_line(inspector));
    if (ok && inspector->json.cursor.stop == JSON_FAILED) {
        *err = inspector->json.cursor.err;
        ok = false;
    }
    return ok && buf_ok(&inspector->json.text, err);
}

static bool gather_inspector(const struct format_input *input, struct err *err)
{
    struct inspector inspector = {.dump = empty_line()};
    if (!strtab_init(&inspector.ids, input->budget, err))
        return false;
    bool ok = link_json_open(&inspector.json, input, err) && take_lines(&inspector, input, err);
    link_json_close(&inspector.json);
    strtab_free(&inspector.ids);
    input->evidence->source = STR("nccl-inspector");
    if (ok && input->evidence->links.parts[LINK_RECORDS].count == 0)
        return err_set(err, ERR_FORMAT, "found a log of NCCL Inspector without a single operation");
    return ok;
}

static bool count_inspector(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_inspector, link_report_records}, input,
                          err);
}

static enum format_likeness probe_inspector(const struct format_sample *sample)
{
    bool is_line = json_outline_has(sample->outline, "coll_perf") ||
                   json_outline_has(sample->outline, "p2p_perf") ||
                   json_outline_has(sample->outline, "dump_stats");
    return is_line && sample->outline->root == '{' ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_nccl_inspector = {
    .name = "nccl-inspector",
    .what = "a log of NCCL Inspector",
    .kind = FORMAT_RECORDS,
    .probe = probe_inspector,
    .count = count_inspector,
    .gather = gather_inspector,
};

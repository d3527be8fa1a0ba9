// SPDX-License-Identifier: Apache-2.0
// What NCCL's RAS says about a job (ncclras -f json): the communicators, their ranks, those that
// did not answer, and how many collectives each has started. NCCL 2.28.9 omits a comma, which the
// JSON reader tolerates.
#include "ingest/json/json_outline.h"
#include "ingest/links/link_figures.h"
#include "ingest/links/link_json.h"
#include "ingest/links/link_settle.h"

// A communicator while its ranks are read.
struct ras_comm {
    struct link_comm comm;
    bool missing; // of the list that is read
};

// --- ranks --------------------------------------------------------------------------------------

static const struct link_field status_fields[] = {
    LINK_FIELD("init_state", LINK_WHOLE, link_member, init_state, 0),
    LINK_FIELD("async_error", LINK_WHOLE, link_member, async_error, 0),
    LINK_FIELD("finalize_called", LINK_FLAG, link_member, finalized, 0),
    LINK_FIELD("destroy_flag", LINK_FLAG, link_member, destroyed, 0),
    LINK_FIELD("abort_flag", LINK_FLAG, link_member, aborted, 0),
    LINK_FIELD("considered_dead", LINK_FLAG, link_member, dead, 0),
    LINK_FIELD("unresponsive", LINK_FLAG, link_member, unresponsive, 0),
};
static const struct link_shape status_shape = LINK_SHAPE(status_fields, NULL);

static void take_counts(struct link_json *json)
{
    struct err err;
    struct str key;
    struct json_value value;
    struct link_op_count one = {.member =
                                    (uint32_t)json->evidence->links.parts[LINK_MEMBERS].count};
    while (json_cursor_member(&json->cursor, &key, &value)) {
        link_json_keep(json, key, &one.operation);
        one.count = link_json_whole(json, &value);
        if (one.count >= 0)
            link_json_check(json, link_tests_add(json->evidence, LINK_OP_COUNTS, &one, &err), &err);
        json_cursor_pass(&json->cursor, &value);
    }
}

static bool take_inside_rank(struct link_json *json, struct str key, const struct json_value *value,
                             void *target)
{
    if (value->type != JSON_OBJECT)
        return false;
    if (str_equal(key, STR("status")))
        link_json_object(json, &status_shape, target);
    else if (str_equal(key, STR("collective_counts")))
        take_counts(json);
    else
        return false;
    return true;
}

static const struct link_field rank_fields[] = {
    LINK_FIELD("rank", LINK_WHOLE, link_member, rank, 0),
    LINK_FIELD("host", LINK_TEXT, link_member, host, 0),
    LINK_FIELD("pid", LINK_WHOLE, link_member, pid, 0),
    LINK_FIELD("cuda_dev", LINK_WHOLE, link_member, device, 0),
    LINK_FIELD("considered_dead", LINK_FLAG, link_member, dead, 0),
    LINK_FIELD("unresponsive", LINK_FLAG, link_member, unresponsive, 0),
};
static const struct link_shape rank_shape = LINK_SHAPE(rank_fields, take_inside_rank);

static void take_rank(struct link_json *json, void *context)
{
    struct err err;
    const struct ras_comm *ras = context;
    struct link_member member = {.rank = -1,
                                 .pid = -1,
                                 .device = -1,
                                 .host = STR(""),
                                 .init_state = -1,
                                 .async_error = -1,
                                 .missing = ras->missing};
    member.comm = (uint32_t)json->evidence->links.parts[LINK_COMMS].count;
    link_json_object(json, &rank_shape, &member);
    link_json_check(json, link_tests_add(json->evidence, LINK_MEMBERS, &member, &err), &err);
}

// --- communicators ------------------------------------------------------------------------------

static bool take_ranks(struct link_json *json, struct str key, const struct json_value *value,
                       void *target)
{
    struct ras_comm *ras = target;
    ras->missing = str_equal(key, STR("missing_ranks"));
    if (value->type != JSON_ARRAY || !(ras->missing || str_equal(key, STR("ranks"))))
        return false;
    link_json_objects(json, take_rank, ras);
    return true;
}

static const struct link_field comm_fields[] = {
    LINK_FIELD("hash", LINK_TEXT, ras_comm, comm.id, 0),
    LINK_FIELD("size", LINK_WHOLE, ras_comm, comm.ranks, 0),
    LINK_FIELD("missing_ranks_count", LINK_WHOLE, ras_comm, comm.missing_ranks, 0),
};
static const struct link_shape comm_shape = LINK_SHAPE(comm_fields, take_ranks);

// Also one that is cut: some of its ranks may have been read.
static void take_comm(struct link_json *json, void *context)
{
    struct err err;
    struct ras_comm ras = {.comm = {.id = STR(""), .name = STR(""), .missing_ranks = -1}};
    (void)context;
    link_json_object(json, &comm_shape, &ras);
    ras.comm.ranks = ras.comm.ranks < 0 ? 0 : ras.comm.ranks;
    link_json_check(json, link_tests_add(json->evidence, LINK_COMMS, &ras.comm, &err), &err);
}

// --- the document -------------------------------------------------------------------------------

// Versions, and the time of the query, become settings.
static bool take_root(struct link_json *json, struct str key, const struct json_value *value,
                      void *target)
{
    static const char *const settings[] = {"nccl_version", "cuda_runtime_version",
                                           "cuda_driver_version", "timestamp"};
    struct err err;
    (void)target;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct str text = value->type == JSON_TEXT ? link_json_text(json, value) : value->text;
        if (value->type <= JSON_SCALAR && str_equal(key, str_of(settings[i])))
            link_json_check(json, evidence_set(json->evidence, key, text, &err), &err);
    }
    if (value->type != JSON_ARRAY || !str_equal(key, STR("communicators")))
        return false;
    link_json_objects(json, take_comm, NULL);
    return true;
}

static const struct link_shape root_shape = {NULL, 0, take_root};

static bool gather_ras(const struct format_input *input, struct err *err)
{
    bool ok = link_json_read(input, &root_shape, NULL, err);
    input->evidence->source = STR("nccl-ras");
    if (ok && input->evidence->links.parts[LINK_COMMS].count == 0)
        return err_set(err, ERR_FORMAT, "found a status of NCCL RAS without a communicator");
    return ok;
}

static bool count_ras(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_ras, link_report_members}, input, err);
}

static enum format_likeness probe_ras(const struct format_sample *sample)
{
    return json_outline_has(sample->outline, "communicators_count") ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_nccl_ras = {
    .name = "nccl-ras-json",
    .what = "a status of NCCL RAS",
    .kind = FORMAT_RECORDS,
    .probe = probe_ras,
    .count = count_ras,
    .gather = gather_ras,
};

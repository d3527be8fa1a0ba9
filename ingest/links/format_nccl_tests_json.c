// SPDX-License-Identifier: Apache-2.0
// What nccl-tests writes with -J: one run. The devices are in its settings, and without MPI only
// the first of each process; numbers that are missing are texts; the environment is there, too, but
// not kept.
#include "ingest/json/json_outline.h"
#include "ingest/links/link_figures.h"
#include "ingest/links/link_json.h"
#include "ingest/links/link_settle.h"
#include "ingest/links/link_text.h"

#include <math.h>

struct document {
    struct link_run run;
    int64_t threads, gpus;
};

// A size in one mode, and how its iterations differ.
struct mode {
    double time_ns, algorithm_bps, bus_bps, least_ns, tail_ns, wrong;
};

struct result {
    struct link_row row;
    struct mode modes[2]; // out of place, in place
};

static bool is(struct str key, const char *name)
{
    return str_equal(key, str_of(name));
}

// --- results ------------------------------------------------------------------------------------

static const struct link_field mode_fields[] = {
    LINK_FIELD("time", LINK_REAL, mode, time_ns, LINK_US),
    LINK_FIELD("cpu_time", LINK_REAL, mode, time_ns, LINK_US),
    LINK_FIELD("alg_bw", LINK_REAL, mode, algorithm_bps, LINK_GB),
    LINK_FIELD("bus_bw", LINK_REAL, mode, bus_bps, LINK_GB),
    LINK_FIELD("nwrong", LINK_REAL, mode, wrong, 1),
    LINK_FIELD("min_us", LINK_REAL, mode, least_ns, LINK_US),
    LINK_FIELD("p99_us", LINK_REAL, mode, tail_ns, LINK_US),
};
static const struct link_shape mode_shape = LINK_SHAPE(mode_fields, NULL);

static bool take_mode(struct link_json *json, struct str key, const struct json_value *value,
                      void *target)
{
    struct result *result = target;
    bool in_place = str_starts_with(key, STR("in_place"));
    bool out = str_starts_with(key, STR("out_of_place"));
    if ((!in_place && !out) || value->type != JSON_OBJECT)
        return false;
    link_json_object(json, &mode_shape, &result->modes[in_place]);
    return true;
}

static const struct link_field result_fields[] = {
    LINK_FIELD("size", LINK_WHOLE, result, row.bytes, 0),
    LINK_FIELD("count", LINK_WHOLE, result, row.count, 0),
    LINK_FIELD("type", LINK_TEXT, result, row.type, 0),
    LINK_FIELD("redop", LINK_TEXT, result, row.reduction, 0),
    LINK_FIELD("root", LINK_WHOLE, result, row.root, 0),
};
static const struct link_shape result_shape = LINK_SHAPE(result_fields, take_mode);

static void add_mode(struct link_json *json, const struct result *result, bool in_place)
{
    struct err err;
    struct link_row row = result->row;
    const struct mode *mode = &result->modes[in_place];
    row.in_place = in_place;
    row.time_ns = mode->time_ns;
    row.algorithm_bps = mode->algorithm_bps;
    row.bus_bps = mode->bus_bps;
    row.least_ns = mode->least_ns;
    row.tail_ns = mode->tail_ns;
    row.wrong = mode->wrong < 1e18 ? (int64_t)mode->wrong : -1;
    link_json_check(json, link_add_row(json->evidence, &row, &err), &err);
}

static void take_result(struct link_json *json, void *context)
{
    (void)context;
    const struct mode none = {NAN, NAN, NAN, NAN, NAN, NAN};
    struct result result = {link_empty_row(0, json_cursor_pos(&json->cursor)), {none, none}};
    link_json_object(json, &result_shape, &result);
    if (result.row.bytes < 0) {
        link_tests_warn(json->evidence, LINK_BAD_ROW, result.row.pos);
        return;
    }
    add_mode(json, &result, false);
    add_mode(json, &result, true);
}

// --- devices ------------------------------------------------------------------------------------

static const struct link_field device_fields[] = {
    LINK_FIELD("rank", LINK_WHOLE, link_device, rank, 0),
    LINK_FIELD("group", LINK_WHOLE, link_device, group, 0),
    LINK_FIELD("pid", LINK_WHOLE, link_device, pid, 0),
    LINK_FIELD("hostname", LINK_TEXT, link_device, host, 0),
    LINK_FIELD("device", LINK_WHOLE, link_device, device, 0),
    LINK_FIELD("device_hex", LINK_TEXT, link_device, bus_id, 0),
    LINK_FIELD("device_info", LINK_TEXT, link_device, name, 0),
};
static const struct link_shape device_shape = LINK_SHAPE(device_fields, NULL);

static void take_device(struct link_json *json, void *context)
{
    struct err err;
    const struct str none = STR("");
    struct link_device device = {0, -1, -1, -1, -1, none, none, none};
    (void)context;
    link_json_object(json, &device_shape, &device);
    link_json_check(json, link_tests_add(json->evidence, LINK_DEVICES, &device, &err), &err);
}

// --- the document -------------------------------------------------------------------------------

static const struct link_field bounds_fields[] = {
    LINK_FIELD("count", LINK_WHOLE, document, run.out_of_bounds, 0),
};
static const struct link_field average_fields[] = {
    LINK_FIELD("bandwidth", LINK_REAL, document, run.average_bus_bps, LINK_GB),
};
static const struct link_shape bounds_shape = LINK_SHAPE(bounds_fields, NULL);
static const struct link_shape average_shape = LINK_SHAPE(average_fields, NULL);

static void take_arguments(struct link_json *json, struct document *document)
{
    struct err err;
    struct json_value item;
    while (json_cursor_item(&json->cursor, &item)) {
        struct str name = link_test_name(link_json_text(json, &item));
        if (name.len && document->run.collective.len == 0)
            link_json_check(
                json, evidence_text(json->evidence, name, &document->run.collective, &err), &err);
        json_cursor_pass(&json->cursor, &item);
    }
}

static void take_errors(struct link_json *json)
{
    struct json_value item;
    while (json_cursor_item(&json->cursor, &item)) {
        if (link_json_text(json, &item).len)
            link_tests_warn(json->evidence, LINK_FAILED, json_cursor_pos(&json->cursor));
        json_cursor_pass(&json->cursor, &item);
    }
}

static bool take_list(struct link_json *json, struct str key, struct document *document)
{
    if (is(key, "args"))
        take_arguments(json, document);
    else if (is(key, "errors"))
        take_errors(json);
    else if (is(key, "devices"))
        link_json_objects(json, take_device, document);
    else if (is(key, "results"))
        link_json_objects(json, take_result, document);
    else
        return false;
    return true;
}

static void keep_version(struct link_json *json, const struct json_value *value)
{
    struct err err;
    if (value->type == JSON_SCALAR)
        link_json_check(json, evidence_set(json->evidence, STR("nccl_version"), value->text, &err),
                        &err);
}

static bool take_config(struct link_json *json, struct str key, const struct json_value *value,
                        void *target);

static const struct link_field config_fields[] = {
    LINK_FIELD("nthreads", LINK_WHOLE, document, threads, 0),
    LINK_FIELD("ngpus", LINK_WHOLE, document, gpus, 0),
};
static const struct link_shape config_shape = LINK_SHAPE(config_fields, take_config);

static bool take_config(struct link_json *json, struct str key, const struct json_value *value,
                        void *target)
{
    return value->type == JSON_ARRAY && is(key, "devices") && take_list(json, key, target);
}

static bool take_root(struct link_json *json, struct str key, const struct json_value *value,
                      void *target)
{
    if (value->type == JSON_ARRAY)
        return take_list(json, key, target);
    if (is(key, "nccl_version"))
        keep_version(json, value);
    if (value->type != JSON_OBJECT)
        return false;
    if (is(key, "config"))
        link_json_object(json, &config_shape, target);
    else if (is(key, "out_of_bounds"))
        link_json_object(json, &bounds_shape, target);
    else if (is(key, "average_bus_bandwidth"))
        link_json_object(json, &average_shape, target);
    else
        return false;
    return true;
}

static const struct link_shape root_shape = {NULL, 0, take_root};

// Of a process with several devices, only the first is listed. Where processes were split into
// groups, each is one test's ranks.
static int64_t ranks_of(const struct document *document, const struct link_tests *links)
{
    int64_t of_process, processes = 0;
    const struct link_device *devices = links->parts[LINK_DEVICES].items;
    int64_t count = (int64_t)links->parts[LINK_DEVICES].count;
    if (document->threads < 1 || document->gpus < 1 || count == 0 ||
        __builtin_mul_overflow(document->threads, document->gpus, &of_process) ||
        of_process > 1 << 20)
        return 0;
    for (int64_t i = 0; i < count; i++) {
        if (devices[i].rank % of_process != 0)
            return 0;
        processes += devices[i].group == devices[0].group;
    }
    return processes * of_process;
}

static bool gather_json(const struct format_input *input, struct err *err)
{
    struct document document = {.run = link_empty_run("nccl-tests", 0)};
    bool ok = link_json_read(input, &root_shape, &document, err);
    document.run.ranks = ranks_of(&document, &input->evidence->links);
    document.run.concluded = !isnan(document.run.average_bus_bps);
    input->evidence->source = STR("nccl-tests");
    return ok && link_tests_add(input->evidence, LINK_RUNS, &document.run, err) &&
           link_settle(input->evidence, err);
}

static bool count_json(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_json, link_report_sizes}, input, err);
}

static enum format_likeness probe_json(const struct format_sample *sample)
{
    bool names = json_outline_has(sample->outline, "start_time") &&
                 json_outline_has(sample->outline, "args");
    return names && str_find(sample->head, STR("_perf")) != SIZE_MAX ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_nccl_tests_json = {
    .name = "nccl-tests-json",
    .what = "results of nccl-tests in JSON",
    .kind = FORMAT_RECORDS,
    .probe = probe_json,
    .count = count_json,
    .gather = gather_json,
};

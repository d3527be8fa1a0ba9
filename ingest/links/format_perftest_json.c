// SPDX-License-Identifier: Apache-2.0
// What perftest's programs write with --out_json: the settings and the result of one size. The unit
// of bandwidths is not always there, but follows from the rate of messages.
#include "ingest/json/json_outline.h"
#include "ingest/links/link_figures.h"
#include "ingest/links/link_json.h"
#include "ingest/links/link_settle.h"

#include <math.h>

struct document {
    struct link_run run;
    struct link_row row;
    double average, peak, messages; // in the file's unit; messages/s
};

static const struct link_field info_fields[] = {
    LINK_FIELD("test", LINK_TEXT, document, run.collective, 0),
};
static const struct link_field result_fields[] = {
    LINK_FIELD("MsgSize", LINK_WHOLE, document, row.bytes, 0),
    LINK_FIELD("n_iterations", LINK_WHOLE, document, row.count, 0),
    LINK_FIELD("BW_peak", LINK_REAL, document, peak, 1),
    LINK_FIELD("BW_average", LINK_REAL, document, average, 1),
    LINK_FIELD("MsgRate", LINK_REAL, document, messages, 1e6),
    LINK_FIELD("t_min", LINK_REAL, document, row.least_ns, LINK_US),
    LINK_FIELD("t_avg", LINK_REAL, document, row.time_ns, LINK_US),
    LINK_FIELD("percentile_99", LINK_REAL, document, row.tail_ns, LINK_US),
};
static const struct link_shape info_shape = LINK_SHAPE(info_fields, NULL);
static const struct link_shape result_shape = LINK_SHAPE(result_fields, NULL);

static bool take_root(struct link_json *json, struct str key, const struct json_value *value,
                      void *target)
{
    bool info = str_equal(key, STR("test_info"));
    if (value->type != JSON_OBJECT || (!info && !str_equal(key, STR("results"))))
        return false;
    link_json_object(json, info ? &info_shape : &result_shape, target);
    return true;
}

static const struct link_shape root_shape = {NULL, 0, take_root};

// In bytes/s; NAN: it fits neither unit.
static double unit_of(const struct document *document)
{
    static const double units[] = {1 << 20, 1e9 / 8}; // MiB/s, Gb/s
    double bps = document->messages * (double)document->row.bytes, near = 0.05;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (document->average > 0 && fabs(document->average * units[i] / bps - 1) < near)
            return units[i];
    return NAN;
}

static bool gather_json(const struct format_input *input, struct err *err)
{
    struct document document = {.run = link_empty_run("perftest", 0),
                                .row = link_empty_row(0, 0),
                                .average = NAN,
                                .peak = NAN,
                                .messages = NAN};
    bool ok = link_json_read(input, &root_shape, &document, err);
    double unit = unit_of(&document);
    document.run.ranks = 2; // client and server
    document.row.algorithm_bps = document.row.bus_bps = document.average * unit;
    document.row.peak_bps = document.peak > 0 ? document.peak * unit : NAN; // 0: not measured
    input->evidence->source = STR("perftest");
    if (!ok || !link_tests_add(input->evidence, LINK_RUNS, &document.run, err) ||
        !link_add_row(input->evidence, &document.row, err))
        return false;
    return input->evidence->links.parts[LINK_ROWS].count ||
           err_set(err, ERR_FORMAT, "found a test of perftest without a single result");
}

static bool count_json(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_json, link_report_tests}, input, err);
}

static enum format_likeness probe_json(const struct format_sample *sample)
{
    bool names = json_outline_has(sample->outline, "test_info") &&
                 str_find(sample->head, STR("\"Transport_type\"")) != SIZE_MAX;
    return names ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_perftest_json = {
    .name = "perftest-json",
    .what = "results of perftest in JSON",
    .kind = FORMAT_RECORDS,
    .probe = probe_json,
    .count = count_json,
    .gather = gather_json,
};

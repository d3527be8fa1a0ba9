// SPDX-License-Identifier: Apache-2.0
// Where and how the trace was made, according to the trace, as keys and values.
#include "analysis/trace/analyses.h"
#include "analysis/trace/platform.h"
#include "analysis/report/trust.h"
#include "analysis/report/tables.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_ROWS  256 // settings come from the file; further ones are left out
#define MAX_VALUE 400 // bytes kept of a value

struct writer {
    struct report *report;
    unsigned rows;
};

static bool add(struct writer *writer, struct str key, struct str value, struct err *err)
{
    if (writer->rows++ >= MAX_ROWS)
        return true;
    if (value.len > MAX_VALUE) {
        value.len = MAX_VALUE;
        value.len = str_valid_utf8(value);
    }
    struct row row = {.desc = &table_environment};
    row_text(&row, ENVIRONMENT_KEY, key);
    row_text(&row, ENVIRONMENT_VALUE, value);
    return row_end(&row, writer->report, err);
}

static bool add_number(struct writer *writer, const char *key, int64_t number, struct err *err)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    return number == VALUE_ABSENT || add(writer, str_of(key), str_of(text), err);
}

static bool add_recorder(struct writer *writer, const struct trace *trace, struct err *err)
{
    enum trace_recorder recorder = (enum trace_recorder)trace->job.recorder;
    return add(writer, STR("recorder"), str_of(trace_recorder_name(recorder)), err);
}

// One device represents them all, as those of a node are mostly alike.
static bool add_gpu(struct writer *writer, const struct facts *facts, struct err *err)
{
    const struct trace_device *device = identity_device(facts->trace);
    return !device ||
           ((facts->identity.gpu.len == 0 || add(writer, STR("gpu"), facts->identity.gpu, err)) &&
            add_number(writer, "gpu_memory_bytes", device->memory_bytes, err) &&
            add_number(writer, "gpu_multiprocessors", device->multiprocessors, err) &&
            add_number(writer, "gpu_compute_major", device->compute_major, err) &&
            add_number(writer, "gpu_compute_minor", device->compute_minor, err));
}

static bool add_setting(struct writer *writer, const struct trace *trace, uint32_t index,
                        struct err *err)
{
    const struct trace_setting *setting = &trace->settings[index];
    struct str key = trace_text(trace, setting->key);
    struct doubt unread = {.item = "metadata",
                           .severity = "info",
                           .count = 1,
                           .detail = key.at,
                           .effect = "this member of the file is not JSON and was not read"};
    if (str_equal(key, STR(TRUST_PLAIN_STEP)) || str_equal(key, STR(TRACE_MESSAGES)))
        return true; // in the trust report
    return setting->unread ? doubt_add(writer->report, &unread, err)
                           : add(writer, key, trace_text(trace, setting->text), err);
}

// The user's options, so that comparisons show where they differ.
static bool add_options(struct writer *writer, const struct analysis_options *options,
                        struct err *err)
{
    char text[16];
    if (options && options->step_pattern &&
        !add(writer, STR("stepscope.step"), str_of(options->step_pattern), err))
        return false;
    if (!options || options->warmup_steps < 0)
        return true;
    snprintf(text, sizeof text, "%d", options->warmup_steps);
    return add(writer, STR("stepscope.warmup"), str_of(text), err);
}

// The file's own entry takes precedence.
static bool add_flavour(struct writer *writer, const struct facts *facts, struct err *err)
{
    const char *flavour = platform_flavour(facts);
    return !flavour || trace_setting_find(facts->trace, STR("flavour")) ||
           add(writer, STR("flavour"), str_of(flavour), err);
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    (void)scratch;
    const struct trace *trace = facts->trace;
    struct writer writer = {report, 0};
    bool ok = add_options(&writer, facts->options, err) && add_flavour(&writer, facts, err) &&
              add_recorder(&writer, trace, err) && add_gpu(&writer, facts, err);
    for (uint32_t i = 0; ok && i < trace->setting_count; i++)
        ok = add_setting(&writer, trace, i, err);
    return ok;
}

const struct analysis environment_analysis = {"environment", run};

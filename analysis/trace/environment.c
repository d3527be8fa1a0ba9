// SPDX-License-Identifier: Apache-2.0
// Where and how the trace was made, according to the trace, as keys and values.
#include "analysis/trace/analyses.h"
#include "analysis/facts/member_json.h"
#include "analysis/trace/platform.h"
#include "analysis/report/trust.h"
#include "analysis/report/tables.h"

#include <stdio.h>

#define MAX_ROWS  256 // members come from the file; further ones are left out
#define MAX_VALUE 400 // bytes kept of a value

struct writer {
    struct report *report;
    struct arena *arena;
    struct str gpu; // the name as recognized
    unsigned rows;
};

// Members that differ from file to file without meaning, and those read elsewhere.
static bool is_left_out(struct str key)
{
    static const char *const keys[] = {"traceEvents",    "traceName",           "trace_id",
                                       "group_trace_id", "baseTimeNanoseconds", "displayTimeUnit",
                                       "rank",           "pg_config",           "timestamp"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_equal(key, str_of(keys[i])))
            return true;
    return false;
}

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

static bool add_value(struct writer *writer, struct str key, const json_t *value, struct err *err)
{
    if (json_is_string(value))
        return add(writer, key, (struct str){json_string_value(value), json_string_length(value)},
                   err);
    if (!json_is_number(value) && !json_is_boolean(value))
        return true;
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(10));
    bool ok = text ? add(writer, key, str_of(text), err)
                   : err_set(err, ERR_MEMORY, "out of memory for a member");
    free(text);
    return ok;
}

static bool add_object(struct writer *writer, struct str prefix, json_t *object, struct err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (is_left_out(str_of(key)))
            continue;
        char *name = arena_printf(writer->arena, err, "%.*s.%s", (int)prefix.len, prefix.at, key);
        if (!name || !add_value(writer, str_of(name), value, err))
            return false;
    }
    return true;
}

// The devices of a node are alike; the first one represents them.
static bool add_gpu(struct writer *writer, json_t *devices, struct err *err)
{
    static const char *const names[][2] = {
        {"totalGlobalMem", "gpu_memory_bytes"},
        {"numSms", "gpu_multiprocessors"},
        {"computeMajor", "gpu_compute_major"},
        {"computeMinor", "gpu_compute_minor"},
    };
    const json_t *device = json_array_get(devices, 0);
    if (writer->gpu.len && !add(writer, STR("gpu"), writer->gpu, err))
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *value = json_object_get(device, names[i][0]);
        if (value && !add_value(writer, str_of(names[i][1]), value, err))
            return false;
    }
    json_t *count = json_integer((json_int_t)json_array_size(devices));
    bool ok = add_value(writer, STR("gpus_visible"), count, err);
    json_decref(count);
    return ok;
}

static bool add_member(struct writer *writer, const struct trace *trace, uint32_t index,
                       struct err *err)
{
    struct str key = trace_text(trace, trace->members[index].key);
    if (is_left_out(key))
        return true;
    json_t *value = member_json_parse(trace_text(trace, trace->members[index].text));
    bool ok;
    if (!value)
        ok = doubt_add(
            writer->report,
            &(struct doubt){.item = "metadata",
                            .severity = "info",
                            .count = 1,
                            .detail = key.at,
                            .effect = "this member of the file is not JSON and was not read"},
            err);
    else if (str_equal(key, STR("deviceProperties")))
        ok = add_gpu(writer, value, err);
    else if (json_is_object(value))
        ok = add_object(writer, str_equal(key, STR("distributedInfo")) ? STR("distributed") : key,
                        value, err);
    else
        ok = add_value(writer, key, value, err);
    json_decref(value);
    return ok;
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

// Under keys common to all vendors' traces, so that comparisons align them. The file's own entry
// under such a key takes precedence.
static bool add_platform(struct writer *writer, const struct facts *facts, struct err *err)
{
    struct platform platform;
    if (!platform_of(facts, writer->arena, &platform, err))
        return false;
    const struct {
        const char *key;
        struct str value;
    } rows[] = {{"flavour", platform.flavour ? str_of(platform.flavour) : STR("")},
                {"framework", platform.framework},
                {"driver", platform.driver},
                {"runtime", platform.runtime}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value.len && !trace_member_text(facts->trace, str_of(rows[i].key)).len &&
            !add(writer, str_of(rows[i].key), rows[i].value, err))
            return false;
    return true;
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    struct writer writer = {report, &scratch, facts->identity.gpu, 0};
    bool ok = add_options(&writer, facts->options, err) && add_platform(&writer, facts, err);
    for (uint32_t i = 0; ok && i < facts->trace->member_count; i++)
        ok = add_member(&writer, facts->trace, i, err);
    arena_free(&scratch);
    return ok;
}

const struct analysis environment_analysis = {"environment", run};

// SPDX-License-Identifier: Apache-2.0
// Everything needed for the first look at a run, in one answer.
#include "server/api/api.h"

#include "analysis/report/tables.h"
#include "server/api/table_reply.h"
#include "server/store/store_care.h"

// A section of the answer: a table, and which of its rows.
struct section {
    const char *name;
    const struct table_desc *desc;
    struct table_query query;
};

#define ALL                           \
    {                                 \
        .limit = TABLE_QUERY_NO_LIMIT \
    }

static const struct section sections[] = {
    {"breakdown", &table_run_breakdown, ALL},
    {"step_stats", &table_run_step_stats, ALL},
    // All, few as they are: which matter most is said by their severity, not by their costs alone.
    {"findings", &table_run_findings, ALL},
    {"trust",
     &table_run_trust,
     {.filters = {{{"severity", 8}, {"warning", 7}}, {{"severity", 8}, {"error", 5}}},
      .filter_count = 2,
      .limit = TABLE_QUERY_NO_LIMIT}},
    // Ranks without marks of steps, of which the whole recording counts as one.
    {"no_steps",
     &table_run_trust,
     {.filters = {{{"item", 4}, {"no_steps", 8}}},
      .filter_count = 1,
      .limit = TABLE_QUERY_NO_LIMIT}},
    {"kernels",
     &table_run_kernels,
     {.sorts = {{{"total_ns", 8}, true}, {{"name", 4}, false}}, .sort_count = 2, .limit = 10}},
};

static void figures_json(const struct table_page *page, struct buf *out)
{
    buf_puts(out, ",\"summary\":");
    if (page->table.row_count)
        report_row_json(&page->table, 0, out);
    else
        buf_puts(out, "null");
}

// Notes that more ranks are expected. A file that could not be read is no rank.
static void partial_json(const struct run *run, struct buf *out)
{
    int64_t here = run->received - run->failed;
    buf_puts(out, ",\"partial\":");
    if (run->world_size > 0 && here < run->world_size)
        buf_printf(out, "{\"received\":%lld,\"world_size\":%lld}", (long long)here,
                   (long long)run->world_size);
    else
        buf_puts(out, "null");
}

// A rate per headline step, null if unknown.
static void rate_json(const char *name, const struct run *run, int64_t tokens, int64_t devices,
                      struct buf *out)
{
    bool known = tokens > 0 && devices > 0 && run->no_steps.null && !run->step_median_ns.null &&
                 run->step_median_ns.i > 0;
    buf_printf(out, ",\"%s\":", name);
    if (known)
        buf_f64(out, (double)tokens * 1e9 / (double)run->step_median_ns.i / (double)devices);
    else
        buf_puts(out, "null");
}

static const struct run_tag *find_pair(const struct run_tag *pairs, size_t count, struct str key)
{
    for (size_t i = 0; i < count; i++)
        if (str_equal(pairs[i].key, key))
            return &pairs[i];
    return NULL;
}

// Throughput from tokens_per_step and the headline step: from the metadata, else the tag, as in
// comparisons. Computed on reading, so that it may be added or changed at any time.
static void throughput_json(const struct run *run, struct buf *out)
{
    int64_t tokens = 0, devices = run->world_size > 0 ? run->world_size : run->received;
    const struct run_tag *given = find_pair(run->meta, run->meta_count, STR("tokens_per_step"));
    if (!given)
        given = find_pair(run->tags, run->tag_count, STR("tokens_per_step"));
    buf_puts(out, ",\"throughput\":");
    if (!given) {
        buf_puts(out, "null");
        return;
    }
    bool valid = str_to_i64(given->value, &tokens) && tokens > 0;
    buf_puts(out, "{\"tokens_per_step\":");
    if (valid)
        buf_i64(out, tokens);
    else
        buf_puts(out, "null");
    rate_json("tokens_per_second", run, valid ? tokens : 0, 1, out);
    rate_json("tokens_per_second_per_gpu", run, valid ? tokens : 0, devices, out);
    buf_puts(out, ",\"reason\":");
    if (!valid)
        buf_json(out, STR("the tag tokens_per_step is not a positive integer"));
    else if (run->step_median_ns.null)
        buf_json(out, STR("the run has no analyzed step yet"));
    else if (!run->no_steps.null)
        buf_json(out, STR("no step is marked in the recording"));
    else
        buf_puts(out, "null");
    buf_putc(out, '}');
}

static bool reply_json(struct request *request, struct response *response, const struct run *run,
                       const struct table_page *summary, struct err *err)
{
    struct buf *out = &response->body;
    int64_t damaged;
    if (!store_count_damaged(request->services->intake->store, run->id, &damaged, err))
        return false;
    buf_puts(out, "{\"run\":");
    if (!api_run_json(request, run, out, err))
        return false;
    buf_putc(out, '}');
    figures_json(summary, out);
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
        struct table_page page;
        if (!api_read_run_table(request, run, sections[i].desc, &sections[i].query, &page, err))
            return false;
        buf_printf(out, ",\"%s\":", sections[i].name);
        api_rows_json(&page.table, out);
    }
    partial_json(run, out);
    throughput_json(run, out);
    buf_printf(out, ",\"damaged_files\":%lld}", (long long)damaged);
    char *tag = arena_printf(request->arena, err, "%.*s.%lld-%d", (int)run->id.len, run->id.at,
                             (long long)run->revision, ANALYSIS_VERSION);
    return tag && api_finish_json(request, response, tag, err);
}

bool api_get_summary(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"fields", "format", NULL};
    struct table_request table;
    struct table_page page;
    struct run run;
    if (!query_allow(&request->query, known, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        !table_request_parse(request, &table_run_summary, NULL, &table, err) ||
        !api_read_run_table(request, &run, &table_run_summary, &table.query, &page, err))
        return false;
    api_locate_run(request, response, &run, "/summary");
    response->lasts = run.active <= 0; // otherwise it contains the progress
    if (table.export == &export_json && !table.chosen)
        return reply_json(request, response, &run, &page, err);
    return table_reply_tagged(request, response, &table, &page, run.name, err);
}

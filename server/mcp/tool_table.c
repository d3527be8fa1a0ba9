// SPDX-License-Identifier: Apache-2.0
// table: rows of one table of a run, filtered and sorted, with what its columns mean.
#include "analysis/report/tables.h"
#include "server/api/api.h"
#include "server/mcp/mcp_rows.h"
#include "server/mcp/mcp_text.h"

enum { MEANING_MAX = 110, COLUMN_NAME_MAX = 64, FIELDS_MAX = 1000 };

// The tables that help, with the columns and the order to begin with; NULL: all, as they are.
static const struct shown_table {
    const struct table_desc *desc;
    const char *fields, *sort;
} tables[] = {
    {&table_run_kernels, "name,category,op,calls_per_step,per_step_ns,busy_share,median_ns",
     "-per_step_ns"},
    {&table_operators, "name,category,calls,owned_ns,host_ns,busy_share,median_ns", "-owned_ns"},
    {&table_op_shapes, "name,dims,types,module,kernels,owned_ns,median_ns", "-owned_ns"},
    {&table_modules, "path,calls,forward_ns,backward_ns,self_owned_ns,total_owned_ns",
     "-self_owned_ns"},
    {&table_ranges, "name,depth,calls,host_ns,total_owned_ns,idle_ns", "-total_owned_ns"},
    {&table_categories, "bar,category,calls,steady_owned_ns,busy_share", "-steady_owned_ns"},
    {&table_roofline, "op,dims,precision,calls,busy_ns,tflops,bound,efficiency,lost_ns",
     "-lost_ns"},
    {&table_utilization, "metric,value,unit,help", NULL},
    {&table_run_steps,
     "rank,step,window_ns,steady,reason,compute_ns,exposed_comm_ns,idle_host_wait_ns", NULL},
    {&table_run_step_stats, "metric,median_ns,p95_ns,max_ns,ci_low_ns,ci_high_ns", NULL},
    {&table_run_ranks,
     "rank,node,step_median_ns,exposed_wait_ns,exposed_transfer_ns,idle_host_wait_ns,lateness_ns",
     "-step_median_ns"},
    {&table_run_rank_steps, NULL, NULL},
    {&table_run_lateness, "rank,caused_wait_ns,lateness_ns,late_calls,calls,reason,reason_share",
     "-caused_wait_ns"},
    {&table_run_collectives, "kind,group_size,calls,total_ns,median_ns,bytes,reference_share",
     "-total_ns"},
    {&table_run_comm_waits,
     "process_group,kind,dimension,bytes,calls,exposed_wait_ns,exposed_transfer_ns,bus_gbps",
     "-exposed_wait_ns"},
    {&table_process_groups, "process_group,description,size,ranks,span,calls,total_ns,exposed_ns",
     "-total_ns"},
    {&table_idle_causes, "cause,bar,gaps,steady_ns,median_ns,max_ns,host_event", "-steady_ns"},
    {&table_idle_gaps, "begin_ns,dur_ns,cause,step,host_event,before,after", "-dur_ns"},
    {&table_launch_delays, NULL, NULL},
    {&table_critical_path, "by,part,name,path_ns,path_share,total_ns,slack_ns,breakpoint_ns",
     "-path_ns"},
    {&table_run_short_kernels, NULL, "-short_ns"},
    {&table_copies, "direction,host_memory,blocking,calls,bytes,total_ns,gbps,exposed_ns",
     "-total_ns"},
    {&table_memory, "device,peak_allocated_bytes,peak_reserved_bytes,peak_step,peak_op", NULL},
    {&table_peak_allocations, "device,op,module,allocations,bytes,peak_share", "-bytes"},
    {&table_run_pipeline, NULL, NULL},
    {&table_run_strategy, NULL, NULL},
    {&table_run_efficiency, "metric,value,unit,help", NULL},
    {&table_run_figures, "metric,value,unit,source,preferred,help", NULL},
    {&table_run_clocks, NULL, NULL},
    {&table_run_trust, "rank,item,severity,count,time_ns,detail,effect", NULL},
    {&table_recording, "item,state,shows,how", NULL},
    {&table_run_environment, "key,value,ranks", NULL},
    {&table_job_settings, "file,standard,standard_value,name,value", NULL},
    {&table_logs, "file,framework,steps,step_median_ns,tokens_per_s,restarts,last_loss", NULL},
    {&table_log_events, "kind,after_step,dur_ns,text", NULL},
    {&table_log_slow_steps, "step,step_ns,lost_ns,kind,text", "-lost_ns"},
    {&table_host_phases, "rank,phase,calls,median_ns,max_ns,max_step,unfinished", "-total_ns"},
    {&table_monitors, "gpu,name,utilization_share,power_w,clock_mhz,energy_j", NULL},
    {&table_run_rank_monitors,
     "rank,gpu,joined_by,aligned_by,doubt,covers,power_w,energy_j_per_step,tokens_per_j,clock_mhz,"
     "clock_state,temperature_c,throttled_share,throttle_reason,throttle_cost_ns",
     NULL},
    {&table_run_link_curves, NULL, NULL},
    {&table_hang_ranks, NULL, NULL},
};
enum { TABLE_COUNT = sizeof tables / sizeof *tables };

static const char *table_word(size_t i)
{
    return i < TABLE_COUNT ? tables[i].desc->name : NULL;
}

static const struct shown_table *find_table(const char *name)
{
    size_t i = 0;
    while (strcmp(tables[i].desc->name, name) != 0)
        i++;
    return &tables[i];
}

// --- columns by the names that answers show -----------------------------------------------------

// "total_ms" is the column total_ns, and "-total_ms" its order.
static void put_column(const struct table_desc *desc, const char *name, struct buf *out)
{
    char stored[COLUMN_NAME_MAX];
    const char *bare = name + (*name == '-');
    size_t len = strlen(bare);
    bool is_time = len > 3 && len < sizeof stored && strcmp(bare + len - 3, "_ms") == 0;
    if (is_time) {
        memcpy(stored, bare, len + 1);
        stored[len - 2] = 'n';
        stored[len - 1] = 's';
        is_time = table_column(desc, str_of(stored)) >= 0;
    }
    buf_puts(out, *name == '-' ? "-" : "");
    buf_puts(out, is_time ? stored : bare);
}

static const char *keep(struct mcp_call *call, struct buf *text)
{
    const char *kept = text->failed || !text->at
                           ? NULL
                           : arena_strdup(call->request->arena, str_of(text->at), NULL);
    buf_free(text);
    return kept;
}

static const char *stored_column(struct mcp_call *call, const struct table_desc *desc,
                                 const char *name)
{
    struct buf text = {0};
    put_column(desc, name, &text);
    return keep(call, &text);
}

// The columns to show, joined by commas; NULL: the usual ones.
static const char *chosen_fields(struct mcp_call *call, const struct table_desc *desc)
{
    json_t *columns = json_object_get(call->arguments, "columns"), *one = NULL;
    struct buf text = {0};
    size_t i = 0;
    json_array_foreach(columns, i, one)
    {
        buf_puts(&text, i ? "," : "");
        put_column(desc, json_string_value(one), &text);
    }
    return keep(call, &text);
}

static const char *value_text(struct mcp_call *call, json_t *value)
{
    struct arena *arena = call->request->arena;
    if (json_is_integer(value))
        return arena_printf(arena, NULL, "%lld", (long long)json_integer_value(value));
    if (json_is_real(value))
        return arena_printf(arena, NULL, "%.17g", json_real_value(value));
    if (json_is_boolean(value))
        return json_is_true(value) ? "true" : "false";
    return json_string_value(value);
}

// Of all names that the API accepts only columns are: others are arguments of the tool.
static bool check_filter(struct mcp_call *call, const struct table_desc *desc, const char *name,
                         const char *column, struct err *err)
{
    if (table_column(desc, str_of(column)) < 0) {
        call->advice = "name a column; other_columns of an answer without where lists more";
        return err_set(err, ERR_USAGE, "found '%.60s' in where, expected a column of %s", name,
                       desc->name);
    }
    if (strcmp(name, column) != 0) {
        call->advice = "sort by them instead";
        return err_set(err, ERR_USAGE, "found '%.60s' in where: times are rounded here", name);
    }
    return true;
}

static bool add_filters(struct mcp_call *call, const struct table_desc *desc,
                        struct mcp_question *question, struct err *err)
{
    json_t *value = NULL;
    const char *name = NULL;
    json_object_foreach(json_object_get(call->arguments, "where"), name, value)
    {
        const char *column = stored_column(call, desc, name);
        if (!column)
            return err_set(err, ERR_MEMORY, "out of memory");
        if (!check_filter(call, desc, name, column, err))
            return false;
        mcp_with(question, column, value_text(call, value));
    }
    return true;
}

// --- the answer ---------------------------------------------------------------------------------

static bool is_shown(json_t *columns, const char *name)
{
    json_t *column = NULL;
    size_t i = 0;
    json_array_foreach(columns, i,
                       column) if (strcmp(json_string_value(json_object_get(column, "name")),
                                          name) == 0) return true;
    return false;
}

static json_t *other_columns(const struct table_desc *desc, json_t *columns)
{
    json_t *others = json_array();
    for (unsigned i = 0; i < desc->column_count; i++)
        if (!is_shown(columns, desc->columns[i].name))
            json_array_append_new(others, mcp_column_name(desc->columns[i].name));
    return others;
}

static json_t *meaning(json_t *columns)
{
    json_t *all = json_object(), *column = NULL;
    size_t i = 0;
    json_array_foreach(columns, i, column)
    {
        json_t *name = mcp_column_name(json_string_value(json_object_get(column, "name")));
        if (name)
            json_object_set_new(all, json_string_value(name),
                                mcp_sentence(json_object_get(column, "help"), MEANING_MAX));
        json_decref(name);
    }
    return all;
}

static void set_table(json_t *answer, const struct shown_table *table, json_t *reply)
{
    json_t *columns = json_object_get(reply, "columns");
    json_object_set_new(answer, "table", json_string(table->desc->name));
    json_object_set_new(answer, "rows", mcp_rows(reply));
    json_object_set_new(answer, "meaning", meaning(columns));
    json_t *others = other_columns(table->desc, columns);
    if (json_array_size(others))
        json_object_set(answer, "other_columns", others);
    json_decref(others);
    if (!json_integer_value(json_object_get(reply, "total")))
        mcp_set_cannot(answer, "what the table holds",
                       "no row matches, or the recording lacks what it is made of; see explain "
                       "with the topic recording");
}

static bool answer_table(struct mcp_call *call, json_t *answer, struct err *err)
{
    static const char *const plain[] = {"q", "rank", "cursor", NULL};
    const struct shown_table *table = find_table(mcp_text_argument(call, "table"));
    const char *sort = mcp_text_argument(call, "sort");
    const char *run = mcp_run_id(call, mcp_text_argument(call, "run"), err);
    if (!run)
        return false;
    const char *fields = chosen_fields(call, table->desc);
    struct mcp_question question = mcp_question(api_get_table, table->desc, run);
    mcp_with_integer(call, &question, "limit", call->limit);
    mcp_with(&question, "fields", fields ? fields : table->fields);
    mcp_with(&question, "sort", sort ? stored_column(call, table->desc, sort) : table->sort);
    mcp_with_arguments(call, &question, plain);
    json_t *reply =
        add_filters(call, table->desc, &question, err) ? mcp_ask(call, &question, err) : NULL;
    if (!reply)
        return false;
    set_table(answer, table, reply);
    json_decref(reply);
    mcp_set_link(call, answer, "/runs/%s/data", run);
    return true;
}

const struct mcp_tool tool_table = {
    .name = "table",
    .title = "A table of a run",
    .help = "Rows of one table, with what its columns mean. Tables of details are of the headline "
            "rank, or of the one that rank names. For what overview, findings and explain do not "
            "show.",
    .rows = {10, 40},
    .arguments = {MCP_RUN_ARGUMENT,
                  {.name = "table", .help = "Its name", .required = true, .word = table_word},
                  {.name = "columns",
                   .help = "Columns to show, by the names in answers",
                   .type = MCP_NAMES},
                  {.name = "where",
                   .help = "Exact values of columns, such as {\"op\": \"aten::mm\"}",
                   .type = MCP_VALUES},
                  {.name = "rank", .help = "A rank", .type = MCP_INTEGER, .most = INT32_MAX},
                  {.name = "sort", .help = "A column; with '-' before it the largest come first"},
                  {.name = "q", .help = "Text that a row contains"},
                  {.name = "cursor", .help = "next_cursor of the previous answer"}},
    .answer = answer_table,
};

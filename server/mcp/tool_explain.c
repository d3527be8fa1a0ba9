// SPDX-License-Identifier: Apache-2.0
// explain: one question about a run, answered by the tables that hold its evidence.
#include "analysis/report/tables.h"
#include "server/mcp/mcp_rows.h"
#include "server/mcp/mcp_text.h"

enum { MOST_PARTS = 3, MOST_NOTES = 2 };

// A topic: its tables, of which the first must have rows.
static const struct topic {
    const char *word, *page;
    const char *what, *note;
    const char *because; // why there is no answer without rows
    struct mcp_wanted parts[MOST_PARTS];
} topics[] = {
    {"late_rank",
     "ranks",
     "which rank is late",
     "sums over the steady steps; a rank whose reason is communication was kept waiting itself and "
     "is no cause; without a finding here no rank is late enough to matter",
     "no collective could be matched between ranks; that needs traces of several ranks of a job",
     {{.name = "lateness",
       .table = &table_run_lateness,
       .fields = "rank,caused_wait_ns,lateness_ns,late_calls,calls,reason,reason_share,"
                 "excess_data_loading_ns,excess_compute_ns,excess_host_ns",
       .sort = "-caused_wait_ns"},
      {.name = "finding",
       .table = &table_run_findings,
       .fields = "id,title,cost_ns,confidence,ranks",
       .filter = "rule",
       .value = "straggler",
       .most = 2},
      {.name = "slowest_steps",
       .table = &table_run_ranks,
       .fields = "rank,node,step_median_ns,exposed_wait_ns,exposed_transfer_ns,idle_host_wait_ns",
       .sort = "-step_median_ns",
       .most = 3}}},
    {"idle",
     "idle",
     "why the GPU is idle",
     "of the headline rank; steady_ms sums over its steady steps",
     "no gaps between device events were found",
     {{.name = "idle_causes",
       .table = &table_idle_causes,
       .fields = "cause,bar,gaps,steady_ns,median_ns,max_ns,host_event",
       .sort = "-steady_ns"},
      {.name = "longest_gaps",
       .table = &table_idle_gaps,
       .fields = "begin_ns,dur_ns,cause,step,host_event,before,after",
       .sort = "-dur_ns",
       .most = 4}}},
    {"communication",
     "collectives",
     "what communication costs",
     "sums over the steady steps and ranks; waiting is for later ranks, transfer is the network",
     "no collective was recorded",
     {{.name = "collectives",
       .table = &table_run_collectives,
       .fields = "kind,group_size,calls,total_ns,median_ns,bytes,reference_share",
       .sort = "-total_ns"},
      {.name = "waits",
       .table = &table_run_comm_waits,
       .fields = "kind,dimension,group_size,bytes,calls,exposed_wait_ns,exposed_transfer_ns,"
                 "bus_gbps,latest_rank,latest_share",
       .sort = "-exposed_wait_ns",
       .most = 5}}},
    {"compute",
     "kernels",
     "what the GPU computes",
     "operators and categories are of the headline rank; owned time is counted once",
     "no compute kernel was recorded",
     {{.name = "kernels",
       .table = &table_run_kernels,
       .fields = "name,category,op,calls_per_step,per_step_ns,busy_share",
       .sort = "-per_step_ns"},
      {.name = "categories",
       .table = &table_categories,
       .fields = "bar,category,calls,steady_owned_ns,busy_share",
       .sort = "-steady_owned_ns",
       .most = 5},
      {.name = "operators",
       .table = &table_operators,
       .fields = "name,calls,owned_ns,host_ns",
       .sort = "-owned_ns",
       .most = 5}}},
    {"memory",
     "memory",
     "what takes the GPU's memory",
     "of the headline rank",
     "memory was not recorded (profile_memory=True)",
     {{.name = "devices",
       .table = &table_memory,
       .fields = "device,peak_allocated_bytes,peak_reserved_bytes,capacity_bytes,peak_step,peak_op,"
                 "fragmentation_share,leak,leak_bytes_per_step"},
      {.name = "at_the_peak",
       .table = &table_peak_allocations,
       .fields = "device,op,module,allocations,bytes,peak_share",
       .sort = "-bytes",
       .most = 6}}},
    {"steps",
     "",
     "which steps are slow",
     "steps of all ranks, the longest first; those with a reason do not count for the median",
     "no steps were found",
     {{.name = "longest_steps",
       .table = &table_run_steps,
       .fields = "rank,step,window_ns,steady,reason,compute_ns,exposed_comm_ns,idle_host_wait_ns",
       .sort = "-window_ns"},
      {.name = "distribution",
       .table = &table_run_step_stats,
       .fields = "metric,median_ns,p95_ns,max_ns,ci_low_ns,ci_high_ns",
       .most = 6}}},
    {"strategy",
     "ranks",
     "how the model is split over ranks",
     "inferred from the communication",
     "no communication was recorded that shows it",
     {{.name = "strategy",
       .table = &table_run_strategy,
       .fields = "dimension,variant,degree,groups,confidence,evidence"},
      {.name = "pipeline",
       .table = &table_run_pipeline,
       .fields = "stage,ranks,micro_batches,interval_ns,compute_ns,bubble_ns,bubble_share",
       .most = 6}}},
    {"hang",
     "",
     "which ranks made the job hang",
     "from the Flight Recorder dumps of the run",
     "the run has no Flight Recorder dumps",
     {{.name = "verdict",
       .table = &table_hang_verdict,
       .fields = "kind,ranks,confidence,verdict,why,operation,sequence",
       .most = 2},
      {.name = "ranks",
       .table = &table_hang_ranks,
       .fields = "rank,unfinished,behind_in,absent_in,waits_in,last_completed,first_unfinished"}}},
    {"training",
     "training",
     "how the training went",
     "from the log of the job",
     "the run has no log",
     {{.name = "logs",
       .table = &table_logs,
       .fields = "file,framework,steps,step_median_ns,step_max_ns,tokens_per_s,restarts,last_loss",
       .most = 3},
      {.name = "slow_steps",
       .table = &table_log_slow_steps,
       .fields = "step,step_ns,lost_ns,kind,text",
       .sort = "-lost_ns"},
      {.name = "events",
       .table = &table_log_events,
       .fields = "kind,after_step,dur_ns,text",
       .most = 6}}},
    {"recording",
     "data",
     "what the recording lacks",
     "state missing or partial: how says what would record it, shows what that would answer",
     "the run has no trace",
     {{.name = "recording",
       .table = &table_recording,
       .fields = "item,state,shows,how",
       .sort = "state"}}},
};
enum { TOPIC_COUNT = sizeof topics / sizeof *topics };

static const char *topic_word(size_t i)
{
    return i < TOPIC_COUNT ? topics[i].word : NULL;
}

static const struct topic *find_topic(const char *word)
{
    size_t i = 0;
    while (strcmp(topics[i].word, word) != 0)
        i++;
    return &topics[i];
}

static bool set_parts(struct mcp_call *call, json_t *answer, const struct topic *topic,
                      const char *run, struct err *err)
{
    bool is_empty = true;
    for (int i = 0; i < MOST_PARTS && topic->parts[i].name; i++) {
        size_t count = 0;
        if (!mcp_set_rows(call, answer, &topic->parts[i], run, &count, err))
            return false;
        is_empty = is_empty && !count;
        if (i == 0 && !count)
            mcp_set_cannot(answer, topic->what, topic->because);
    }
    if (!is_empty)
        json_object_set_new(answer, "note", json_string(topic->note));
    return true;
}

static bool answer_explain(struct mcp_call *call, json_t *answer, struct err *err)
{
    const struct topic *topic = find_topic(mcp_text_argument(call, "topic"));
    const char *run = mcp_run_id(call, mcp_text_argument(call, "run"), err);
    if (!run || !set_parts(call, answer, topic, run, err))
        return false;
    mcp_set_link(call, answer, "/runs/%s%s%s", run, *topic->page ? "/" : "", topic->page);
    return mcp_set_trust(call, answer, run, MOST_NOTES, err);
}

const struct mcp_tool tool_explain = {
    .name = "explain",
    .title = "Explain one aspect of a run",
    .help = "Evidence for one question: late_rank (for whom the others wait, and why), idle, "
            "communication, compute, memory, steps, strategy, hang, training (from the job's log), "
            "recording (what it lacks, and how to record it).",
    .rows = {6, 12},
    .arguments = {MCP_RUN_ARGUMENT,
                  {.name = "topic", .help = "The question", .required = true, .word = topic_word}},
    .answer = answer_explain,
};

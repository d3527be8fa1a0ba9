// SPDX-License-Identifier: Apache-2.0
// What the job was like, in exact integers, written next to its traces.
#include "tests/tracegen/mesh.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"all_reduce", "all_gather", "reduce_scatter",
                                    "all_to_all", "send",       "recv"};

enum figure { CALLS, WAIT, TRANSFER, EXPOSED_WAIT, EXPOSED_TRANSFER, COMPUTE, FIGURES };

static const char *const figure_names[FIGURES] = {
    "calls", "wait_ns", "transfer_ns", "exposed_wait_ns", "exposed_transfer_ns", "compute_ns"};

static void count_event(const struct mesh_event *event, int64_t figures[FIGURES])
{
    int64_t dur_ns = event->end_ns - event->begin_ns;
    if (event->kind == MESH_COMPUTE)
        figures[COMPUTE] += dur_ns;
    if (event->kind >= MESH_COMPUTE || event->dropped || event->joined)
        return;
    figures[CALLS]++;
    figures[WAIT] += event->wait_ns;
    figures[TRANSFER] += dur_ns - event->wait_ns;
    figures[EXPOSED_WAIT] += event->exposed_wait_ns;
    figures[EXPOSED_TRANSFER] += event->exposed_ns - event->exposed_wait_ns;
}

static void say_steps(FILE *out, const struct mesh_job *job, int64_t (*steps)[FIGURES])
{
    for (int figure = 0; figure < FIGURES; figure++) {
        fprintf(out, ", \"%s\": [", figure_names[figure]);
        for (int32_t step = 0; step < job->mesh->options->steps; step++)
            fprintf(out, "%s%" PRId64, step ? ", " : "", steps[step][figure]);
        fprintf(out, "]");
    }
}

static void clear(const struct mesh_job *job, int64_t (*steps)[FIGURES])
{
    memset(steps, 0, (size_t)job->mesh->options->steps * sizeof *steps);
}

// A rank's parts belong to the steps in which they happen, not to those that launched them.
static void follow_time(const struct mesh_rank *record, int64_t (*steps)[FIGURES])
{
    for (int32_t s = 0; s < record->step_count; s++) {
        steps[s][WAIT] = record->parts[s].wait_ns;
        steps[s][TRANSFER] = record->parts[s].transfer_ns;
        steps[s][EXPOSED_WAIT] = record->parts[s].exposed_wait_ns;
        steps[s][EXPOSED_TRANSFER] = record->parts[s].exposed_transfer_ns;
    }
}

static void say_ranks(FILE *out, const struct mesh_job *job, const uint64_t *bytes,
                      int64_t (*steps)[FIGURES])
{
    static const char *const suffixes[] = {"", ".gz", ".zst"};
    const struct mesh_options *o = job->mesh->options;
    fprintf(out, "\"ranks\": [");
    for (int32_t rank = 0; rank < job->mesh->world; rank++) {
        const struct mesh_rank *record = &job->ranks[rank];
        clear(job, steps);
        for (size_t i = 0; i < record->count; i++)
            count_event(&record->events[i], steps[record->events[i].step]);
        follow_time(record, steps);
        fprintf(out,
                "%s\n{\"rank\": %d, \"stage\": %d, \"node\": %d, \"clock_offset_ns\": %" PRId64
                ", \"drift_ppm\": %" PRId64 ", \"jump_ns\": %" PRId64 ", \"json_bytes\": %" PRIu64
                ", \"file\": ",
                rank ? "," : "", rank, mesh_stage_of(job->mesh, rank),
                mesh_node_of(job->mesh, rank), record->clock_ns, record->drift_ppm, record->jump_ns,
                bytes[rank]);
        if (rank == o->without)
            fprintf(out, "null");
        else
            fprintf(out, "\"rank%d.json%s\"", rank, suffixes[o->format]);
        say_steps(out, job, steps);
        fprintf(out, "}");
    }
    fprintf(out, "]");
}

// --- groups -------------------------------------------------------------------------------------

static void count_group(const struct mesh_job *job, int32_t group, int kind,
                        int64_t (*steps)[FIGURES], int64_t *calls)
{
    const struct mesh_group *members = &job->mesh->groups[group];
    *calls = 0;
    for (int32_t m = 0; m < members->size; m++) {
        const struct mesh_rank *record = &job->ranks[members->ranks[m]];
        for (size_t i = 0; i < record->count; i++) {
            const struct mesh_event *event = &record->events[i];
            if (event->kind != kind || event->group != group || !event->matched)
                continue;
            count_event(event, steps[event->step]);
            *calls += m == 0;
        }
    }
}

static void say_group(FILE *out, const struct mesh_job *job, int32_t index, bool *first,
                      int64_t (*steps)[FIGURES])
{
    static const char *const dimensions[] = {"world", "tensor", "data", "expert", "pipeline"};
    const struct mesh_group *group = &job->mesh->groups[index];
    for (int kind = 0; kind < MESH_COMPUTE; kind++) {
        int64_t calls;
        clear(job, steps);
        count_group(job, index, kind, steps, &calls);
        if (!calls)
            continue;
        fprintf(out,
                "%s\n{\"process_group\": \"%d\", \"dimension\": \"%s\", \"kind\": \"%s\", "
                "\"collectives\": %" PRId64 ", \"spans_nodes\": %s, \"slow\": %s, \"ranks\": [",
                *first ? "" : ",", group->name, dimensions[group->dimension], kinds[kind], calls,
                group->spans_nodes ? "true" : "false", group->slow ? "true" : "false");
        for (int32_t m = 0; m < group->size; m++)
            fprintf(out, "%s%d", m ? ", " : "", group->ranks[m]);
        fprintf(out, "]");
        say_steps(out, job, steps);
        fprintf(out, "}");
        *first = false;
    }
}

// --- pipeline -----------------------------------------------------------------------------------

struct span {
    int64_t begin_ns, end_ns;
};

static struct span span_of_step(const struct mesh_rank *record, int32_t step)
{
    struct span span = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < record->count; i++) {
        const struct mesh_event *event = &record->events[i];
        if (event->step != step || event->kind != MESH_COMPUTE || event->phase == MESH_OPTIMIZER)
            continue;
        span.begin_ns = event->begin_ns < span.begin_ns ? event->begin_ns : span.begin_ns;
        span.end_ns = event->end_ns > span.end_ns ? event->end_ns : span.end_ns;
    }
    return span;
}

// What the rank computes in the span, including its own optimizer while other stages are still
// busy.
static int64_t computed(const struct mesh_rank *record, int32_t step, struct span span)
{
    int64_t ns = 0;
    for (size_t i = 0; i < record->count; i++) {
        const struct mesh_event *event = &record->events[i];
        int64_t from = event->begin_ns > span.begin_ns ? event->begin_ns : span.begin_ns;
        int64_t to = event->end_ns < span.end_ns ? event->end_ns : span.end_ns;
        if (event->step == step && event->kind == MESH_COMPUTE && to > from)
            ns += to - from;
    }
    return ns;
}

// From the start of the first micro-batch on any stage of a pipeline to the end of the last one.
static struct span interval_of(const struct mesh_job *job, const struct mesh_group *group,
                               int32_t step)
{
    struct span all = {INT64_MAX, INT64_MIN};
    for (int32_t i = 0; i < group->size; i++) {
        struct span own = span_of_step(&job->ranks[group->ranks[i]], step);
        all.begin_ns = own.begin_ns < all.begin_ns ? own.begin_ns : all.begin_ns;
        all.end_ns = own.end_ns > all.end_ns ? own.end_ns : all.end_ns;
    }
    return all;
}

// Over the pipelines: their intervals, or what their ranks of a stage compute during them.
static int64_t sum_pipelines(const struct mesh_job *job, int32_t stage, int32_t step, bool computes)
{
    const struct mesh *mesh = job->mesh;
    int64_t sum = 0;
    for (int32_t g = 0; g < mesh->group_count; g++) {
        const struct mesh_group *group = &mesh->groups[g];
        if (group->dimension != MESH_PIPELINE)
            continue;
        struct span span = interval_of(job, group, step);
        sum += computes ? computed(&job->ranks[group->ranks[stage]], step, span)
                        : span.end_ns - span.begin_ns;
    }
    return sum;
}

static void say_stage(FILE *out, const struct mesh_job *job, int32_t stage)
{
    fprintf(out, "%s{\"stage\": %d", stage ? ", " : "", stage);
    for (int computes = 0; computes < 2; computes++) {
        fprintf(out, computes ? ", \"compute_ns\": [" : ", \"interval_ns\": [");
        for (int32_t step = 0; step < job->mesh->options->steps; step++)
            fprintf(out, "%s%" PRId64, step ? ", " : "", sum_pipelines(job, stage, step, computes));
        fprintf(out, "]");
    }
    fprintf(out, "}");
}

static void say_pipeline(FILE *out, const struct mesh_job *job)
{
    const struct mesh_options *o = job->mesh->options;
    fprintf(out, ",\n\"micro_batches\": %d, \"ideal_share\": %.9f, \"pipeline\": [",
            o->micro_batches, (double)(o->pp - 1) / (o->micro_batches + o->pp - 1));
    for (int32_t stage = 0; o->pp > 1 && stage < o->pp; stage++)
        say_stage(out, job, stage);
    fprintf(out, "]");
}

// --- the job ------------------------------------------------------------------------------------

// How people name such a job.
static void say_strategy(FILE *out, const struct mesh_options *o)
{
    static const char *const datas[] = {"DDP", "FSDP", "ZeRO-1", "ZeRO-2"};
    fprintf(out, ",\n\"strategy\": {\"tensor\": %d, \"pipeline\": %d, \"data\": %d, \"expert\": %d",
            o->tp, o->pp, o->dp, o->ep);
    fprintf(out, ", \"variant\": \"%s\", \"micro_batches\": %d}", o->dp > 1 ? datas[o->data] : "",
            o->micro_batches);
}

static void say_straggler(FILE *out, const struct mesh_job *job)
{
    const struct mesh_options *o = job->mesh->options;
    fprintf(out, ",\n\"straggler\": ");
    if (o->straggler < 0) {
        fprintf(out, "null");
        return;
    }
    fprintf(out, "{\"rank\": %d, \"cause\": \"%s\", \"caused_wait_ns\": [", o->straggler,
            mesh_cause_name(o->cause));
    for (int32_t step = 0; step < o->steps; step++)
        fprintf(out, "%s%" PRId64, step ? ", " : "", job->caused_wait_ns[step]);
    fprintf(out, "]}");
}

// What slow devices, or extra work, add to a step of each of those ranks, before noise.
static void say_planted(FILE *out, const struct mesh_job *job)
{
    const struct mesh_options *o = job->mesh->options;
    const struct mesh_some *some = o->slow.percent ? &o->slow : &o->more;
    if (!some->percent) {
        fprintf(out, ",\n\"planted\": null");
        return;
    }
    struct mesh_program program;
    mesh_program_build(job->mesh, some->first, &program);
    fprintf(out,
            ",\n\"planted\": {\"ranks\": [%d, %d], \"percent\": %d, \"ns_per_step\": %" PRId64 "}",
            some->first, some->last, some->percent, program.planted_ns);
    free(program.at);
}

static void say_missing(FILE *out, const struct mesh_options *o)
{
    if (o->drop_rank < 0)
        fprintf(out, ",\n\"missing_calls\": null");
    else
        fprintf(out, ",\n\"missing_calls\": {\"rank\": %d, \"count\": %d}", o->drop_rank,
                o->drop_count);
    if (o->without < 0)
        fprintf(out, ", \"missing_rank\": null");
    else
        fprintf(out, ", \"missing_rank\": %d", o->without);
}

void mesh_truth(const struct mesh_job *job, const uint64_t *bytes)
{
    char path[PATH_MAX];
    const struct mesh_options *o = job->mesh->options;
    snprintf(path, sizeof path, "%s/truth.json", o->out);
    FILE *out = fopen(path, "w");
    if (!out)
        outfile_die("cannot write %s: %s", path, strerror(errno));
    int64_t(*steps)[FIGURES] = outfile_memory((size_t)o->steps, sizeof *steps);
    fprintf(out, "{\"seed\": %" PRIu64 ", \"world_size\": %d, \"steps\": %d,\n", o->seed,
            job->mesh->world, o->steps);
    say_ranks(out, job, bytes, steps);
    fprintf(out, ",\n\"groups\": [");
    bool first = true;
    for (int32_t g = 0; g < job->mesh->group_count; g++)
        say_group(out, job, g, &first, steps);
    fprintf(out, "]");
    say_pipeline(out, job);
    say_strategy(out, o);
    say_straggler(out, job);
    say_planted(out, job);
    say_missing(out, o);
    if (o->slow_nodes[0] < 0)
        fprintf(out, ",\n\"slow_link\": null}\n");
    else
        fprintf(out, ",\n\"slow_link\": {\"nodes\": [%d, %d], \"percent\": %d}}\n",
                o->slow_nodes[0], o->slow_nodes[1], o->slow_percent);
    free(steps);
    if (fclose(out) != 0)
        outfile_die("cannot write %s: %s", path, strerror(errno));
}

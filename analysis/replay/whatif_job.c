// SPDX-License-Identifier: Apache-2.0
#include "analysis/replay/whatif_job.h"

#include "analysis/report/tables.h"
#include "ingest/base/figures.h"
#include "ingest/trace/trace.h"

#include <stdlib.h>

bool whatif_job_open(struct whatif_job *job, uint32_t most, struct budget *budget, struct err *err)
{
    *job = (struct whatif_job){.count = 0};
    arena_init(&job->arena, budget);
    job->ranks = arena_array(&job->arena, most, sizeof *job->ranks, err);
    job->joined = arena_array(&job->arena, most, sizeof *job->joined, err);
    return job->ranks && job->joined && run_comm_open(&job->comm, most, budget, err);
}

void whatif_job_close(struct whatif_job *job)
{
    run_comm_close(&job->comm);
    for (uint32_t i = 0; i < job->count; i++) {
        arena_free(&job->ranks[i]->arena);
        arena_free(&job->ranks[i]->edges);
        trace_free(job->ranks[i]->trace);
    }
    arena_free(&job->arena);
}

bool whatif_job_add(struct whatif_job *job, const struct whatif_source *source,
                    const struct analysis_options *options, struct err *err)
{
    struct whatif_rank *rank = arena_alloc(&job->arena, sizeof *rank, err);
    if (!rank) {
        trace_free(source->trace);
        return false;
    }
    *rank =
        (struct whatif_rank){.name = source->name, .number = source->rank, .trace = source->trace};
    arena_init(&rank->arena, source->trace->budget);
    arena_init(&rank->edges, source->trace->budget);
    job->ranks[job->count++] = rank;
    if (!facts_make(source->trace, options, &rank->arena, &rank->facts, err))
        return false;
    return whatif_open(&rank->facts, &rank->arena, &rank->edges, &rank->whatif, err);
}

static int by_number(const void *left, const void *right)
{
    const struct whatif_rank *const *a = left, *const *b = right;
    return ((*a)->number > (*b)->number) - ((*a)->number < (*b)->number);
}

bool whatif_job_sort(struct whatif_job *job, struct err *err)
{
    qsort(job->ranks, job->count, sizeof(struct whatif_rank *), by_number);
    for (uint32_t i = 0; i < job->count; i++) {
        const struct whatif_rank *rank = job->ranks[i];
        bool alone = job->count == 1;
        if (!alone && (rank->number < 0 || (i > 0 && rank->number == job->ranks[i - 1]->number)))
            return err_set(err, ERR_USAGE, "%s: expected traces of different ranks of one job",
                           rank->name);
        job->joined[i] = (struct job_rank){.rank = rank->number, .whatif = &rank->whatif};
        if (!alone && rank->whatif.refused && !job->refused &&
            !(job->refused = arena_printf(&job->arena, err, "rank %lld: %s",
                                          (long long)rank->number, rank->whatif.refused)))
            return false;
    }
    return true;
}

// --- several ranks ------------------------------------------------------------------------------

const struct table_desc *const whatif_job_tables[] = {&table_comm_ops,
                                                      &table_comm_calls,
                                                      &table_summary,
                                                      &table_steps,
                                                      &table_process_groups,
                                                      &table_step_rates,
                                                      NULL};

bool whatif_job_is_joint(const struct whatif_job *job)
{
    return job->count > 1 && !job->refused;
}

bool whatif_job_add_tables(struct whatif_job *job, uint32_t rank, const struct report *report,
                           struct err *err)
{
    return run_comm_add(&job->comm, job->joined[rank].rank, report, err);
}

// The joint graph has them, too.
static void drop_edges(struct whatif_rank *rank)
{
    struct replay_graph *graph = &rank->whatif.graph.graph;
    *graph = (struct replay_graph){graph->node_count, graph->edge_count, NULL, NULL, NULL, NULL};
    arena_free(&rank->edges);
}

bool whatif_job_join(struct whatif_job *job, struct err *err)
{
    if (!run_comm_solve(&job->comm, err))
        return false;
    if (job_replay_make(job->joined, &job->comm, &job->arena, &job->replay, err)) {
        for (uint32_t i = 0; i < job->count; i++)
            drop_edges(job->ranks[i]);
        return true;
    }
    if (err->code == ERR_FORMAT)
        job->refused = arena_strdup(&job->arena, str_of(err->msg), err);
    return job->refused != NULL;
}

// --- answers ------------------------------------------------------------------------------------

// Each rank that is to be balanced must be there, and others with it.
static bool check_balanced(const struct whatif_job *job, const struct change_list *list,
                           struct err *err)
{
    if (list->balanced && job->count == 1)
        return err_set(err, ERR_USAGE, "balanced compares ranks, expected several, found one");
    for (uint32_t i = 0; i < list->balanced_count; i++) {
        uint32_t r = 0;
        while (r < job->count && job->ranks[r]->number != list->balanced_ranks[i])
            r++;
        if (r == job->count)
            return err_set(err, ERR_USAGE, "found balanced=%lld, but no trace of rank %lld",
                           (long long)list->balanced_ranks[i], (long long)list->balanced_ranks[i]);
    }
    return true;
}

bool whatif_job_ask(const struct whatif_job *job, const struct change_list *list,
                    struct arena *arena, struct whatif_answer *answers, struct job_path *path,
                    struct err *err)
{
    if (!check_balanced(job, list, err))
        return false;
    if (job->count == 1)
        return whatif_change(&job->ranks[0]->whatif, list, arena, answers,
                             path ? &path->sums : NULL, err);
    if (!job->refused)
        return job_replay_change(&job->replay, list, arena, answers, path, err);
    for (uint32_t i = 0; i < job->count; i++)
        answers[i] = (struct whatif_answer){.refused = job->refused};
    return true;
}

bool whatif_job_view(const struct whatif_job *job, const struct change_list *list,
                     struct arena *arena, struct replay_view *view, struct err *err)
{
    if (!check_balanced(job, list, err))
        return false;
    if (job->count == 1)
        return whatif_view(&job->ranks[0]->whatif, list, arena, view, err);
    return job_replay_view(&job->replay, list, arena, view, err);
}

int64_t whatif_job_missing(const struct whatif_job *job)
{
    return job_replay_missing(job->joined, job->count);
}

bool whatif_job_hides_waits(const struct whatif_job *job, const struct change_list *list,
                            const int64_t *dur)
{
    bool hides = false;
    if (whatif_job_missing(job) == 0)
        return false;
    for (uint32_t i = 0; !hides && i < job->count; i++) {
        uint32_t first = job->count > 1 ? job->joined[i].first : 0;
        hides = whatif_is_of_communication(&job->ranks[i]->whatif, list, dur + first);
    }
    return hides;
}

int64_t whatif_job_touched(const struct whatif_job *job, const struct whatif_answer *answers,
                           uint32_t change)
{
    int64_t sum_ns = 0;
    for (uint32_t i = 0; i < job->count; i++)
        figures_sum(&sum_ns, answers[i].touched_ns[change]);
    return sum_ns;
}

uint32_t whatif_job_headline(const struct whatif_job *job, const struct whatif_answer *base)
{
    for (uint32_t i = 0; i < job->count; i++) {
        uint32_t below = 0;
        for (uint32_t k = 0; k < job->count; k++)
            below += base[k].measured_ns < base[i].measured_ns ||
                     (base[k].measured_ns <= base[i].measured_ns && k < i);
        if (below == (job->count - 1) / 2)
            return i;
    }
    return 0;
}

const char *whatif_job_refusal(const struct whatif_job *job, const struct whatif_answer *base)
{
    for (uint32_t i = 0; i < job->count; i++)
        if (base[i].refused)
            return base[i].refused;
    return NULL;
}

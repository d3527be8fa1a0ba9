// SPDX-License-Identifier: Apache-2.0
#include "analysis/plan/plan_search.h"

#include <math.h>
#include <stdlib.h>

// --- the largest model --------------------------------------------------------------------------

static struct plan_model scaled(const struct plan_model *model, double parameters)
{
    struct plan_model other = *model;
    double width = (double)model->hidden * sqrt(parameters / model->parameters);
    int64_t heads = model->heads ? model->heads : 1;
    double per_head = fmin(fmax(width / (double)heads, 1), 1e9);
    other.parameters = parameters;
    other.hidden = model->hidden ? (int64_t)llround(per_head) * heads : 0;
    return other;
}

// Whether the plan fits; one that makes no sense does not.
static bool fits(const struct plan_model *model, const struct plan_job *job, int64_t bytes,
                 bool *is, struct err *err)
{
    struct arena arena;
    struct memory_plan plan;
    struct err own = {.pos = ERR_NO_POS};
    arena_init(&arena, NULL);
    bool ok = memory_plan_make(model, job, &arena, &plan, &own);
    *is = ok && plan.total_bytes <= bytes;
    arena_free(&arena);
    if (ok || own.code == ERR_USAGE)
        return true;
    *err = own;
    return false;
}

bool plan_largest(const struct plan_model *model, const struct plan_job *job, int64_t bytes,
                  double *parameters, struct err *err)
{
    enum { HALVINGS = 48 };
    double low = 0, high = log2(1e14); // of parameters
    bool any = false;
    for (int i = 0; i < HALVINGS; i++) {
        bool is;
        double middle = low + (high - low) / 2;
        struct plan_model other = scaled(model, floor(exp2(middle)));
        if (!fits(&other, job, bytes, &is, err))
            return false;
        any = any || is;
        *(is ? &low : &high) = middle;
    }
    *parameters = any ? floor(exp2(low)) : 0;
    return true;
}

// --- ways to share it out -----------------------------------------------------------------------

struct search {
    const struct plan_model *model;
    int64_t gpus, bytes;
    struct plan_setup *setups;
    size_t count;
};

static bool try_setup(struct search *search, const struct plan_job *job, struct err *err)
{
    struct arena arena;
    struct memory_plan plan;
    struct err own = {.pos = ERR_NO_POS};
    arena_init(&arena, NULL);
    bool ok = memory_plan_make(search->model, job, &arena, &plan, &own);
    if (ok)
        search->setups[search->count++] =
            (struct plan_setup){*job, plan.total_bytes, plan.complete};
    arena_free(&arena);
    if (ok || own.code == ERR_USAGE)
        return true;
    *err = own;
    return false;
}

// With one GPU there is nothing to shard, and without training nothing to recompute.
static bool try_kinds(struct search *search, struct plan_job job, struct err *err)
{
    bool trains = job.optimizer != PLAN_NO_OPTIMIZER;
    for (int recompute = PLAN_KEEP_ALL; recompute <= (trains ? PLAN_FULL : PLAN_KEEP_ALL);
         recompute++)
        for (int strategy = PLAN_DDP; strategy <= (job.dp > 1 ? PLAN_ZERO3 : PLAN_DDP);
             strategy++) {
            bool same = !trains && (strategy == PLAN_ZERO1 || strategy == PLAN_ZERO2);
            job.recompute = (enum plan_recompute)recompute;
            job.strategy = (enum plan_strategy)strategy;
            if (search->count == PLAN_MOST_SETUPS)
                return true;
            if (!same && !try_setup(search, &job, err))
                return false;
        }
    return true;
}

static bool try_all(struct search *search, const struct plan_job *job, struct err *err)
{
    enum { MOST_TENSOR = 8, MOST_STAGES = 64 };
    const struct plan_model *model = search->model;
    for (int64_t tp = 1; tp <= MOST_TENSOR; tp *= 2)
        for (int64_t pp = 1; pp <= MOST_STAGES; pp *= 2) {
            bool divides =
                search->gpus % (tp * pp) == 0 && model->heads % tp == 0 && model->layers % pp == 0;
            struct plan_job one = *job;
            one.tp = tp;
            one.pp = pp;
            one.dp = search->gpus / (tp * pp);
            one.interleave = 1;
            if (divides && !try_kinds(search, one, err))
                return false;
        }
    return true;
}

// --- their order --------------------------------------------------------------------------------

struct placed {
    struct plan_setup setup;
    bool fits;
};

static int compare_i64(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_preference(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    const struct plan_job *p = &x->setup.job, *q = &y->setup.job;
    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    if (!x->fits)
        return compare_i64(x->setup.total_bytes, y->setup.total_bytes);
    int order = compare_i64(p->recompute, q->recompute);
    order = order ? order : compare_i64(p->tp * p->pp, q->tp * q->pp);
    order = order ? order : compare_i64(p->strategy, q->strategy);
    return order ? order : compare_i64(p->pp, q->pp);
}

static bool sort_setups(struct search *search, struct arena *arena, struct err *err)
{
    struct placed *placed = arena_array(arena, search->count + 1, sizeof *placed, err);
    if (!placed)
        return false;
    for (size_t i = 0; i < search->count; i++)
        placed[i] =
            (struct placed){search->setups[i], search->setups[i].total_bytes <= search->bytes};
    qsort(placed, search->count, sizeof *placed, by_preference);
    for (size_t i = 0; i < search->count; i++)
        search->setups[i] = placed[i].setup;
    return true;
}

bool plan_setups(const struct plan_search *asked, struct arena *arena, struct plan_setup **setups,
                 size_t *count, struct err *err)
{
    struct search search = {.model = asked->model, .gpus = asked->gpus, .bytes = asked->bytes};
    search.setups = arena_array(arena, PLAN_MOST_SETUPS, sizeof *search.setups, err);
    if (!search.setups || !try_all(&search, asked->job, err) || !sort_setups(&search, arena, err))
        return false;
    *setups = search.setups;
    *count = search.count;
    return true;
}

// SPDX-License-Identifier: Apache-2.0
// Finds copies of a run by the hashes of their files. Only runs with the same figures are looked
// at, as copies have.
#include "server/compare/same_files.h"

#include "server/store/store_inputs.h"

#include <math.h>
#include <stdlib.h>

// Hashes of a run's files, ascending; unread as long as `at` is NULL.
struct hashes {
    struct str *at;
    size_t count;
};

static bool is_same_figure(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool may_be_copies(const struct run *a, const struct run *b)
{
    bool same = a->received == b->received && (a->received || a->evidence == b->evidence) &&
                a->step_median_ns.null == b->step_median_ns.null &&
                (a->step_median_ns.null || a->step_median_ns.i == b->step_median_ns.i);
    for (size_t i = 0; same && !a->received && i < RUN_FIGURE_COUNT; i++)
        same = is_same_figure(a->figures[i], b->figures[i]);
    return same;
}

static int by_hash(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static bool read_traces(struct request *request, const struct run *run, struct hashes *hashes,
                        struct err *err)
{
    struct trace_row *traces;
    if (!store_list_traces(request->services->intake->store, run->id, request->arena, &traces,
                           &hashes->count, err))
        return false;
    hashes->at = arena_array(request->arena, hashes->count + 1, sizeof *hashes->at, err);
    for (size_t i = 0; hashes->at && i < hashes->count; i++)
        hashes->at[i] = traces[i].sha256;
    return hashes->at;
}

static bool read_inputs(struct request *request, const struct run *run, struct hashes *hashes,
                        struct err *err)
{
    struct input_row *inputs;
    if (!store_list_inputs(request->services->intake->store, run->id, request->arena, &inputs,
                           &hashes->count, err))
        return false;
    hashes->at = arena_array(request->arena, hashes->count + 1, sizeof *hashes->at, err);
    for (size_t i = 0; hashes->at && i < hashes->count; i++)
        hashes->at[i] = inputs[i].blob;
    return hashes->at;
}

static bool read_hashes(struct request *request, const struct run *run, struct hashes *hashes,
                        struct err *err)
{
    if (hashes->at)
        return true;
    if (!(run->received ? read_traces : read_inputs)(request, run, hashes, err))
        return false;
    qsort(hashes->at, hashes->count, sizeof *hashes->at, by_hash);
    return true;
}

static bool are_same(const struct hashes *a, const struct hashes *b)
{
    bool same = a->count == b->count && a->count > 0;
    for (size_t i = 0; same && i < a->count; i++)
        same = a->at[i].len && str_equal(a->at[i], b->at[i]);
    return same;
}

// Whether one of the runs before is the same.
static bool find_copy(struct request *request, const struct compared_side *side, size_t index,
                      struct hashes *hashes, bool *found, struct err *err)
{
    *found = false;
    for (size_t i = 0; i < index && !*found; i++) {
        if (!may_be_copies(&side->runs[i], &side->runs[index]))
            continue;
        if (!read_hashes(request, &side->runs[i], &hashes[i], err) ||
            !read_hashes(request, &side->runs[index], &hashes[index], err))
            return false;
        *found = are_same(&hashes[i], &hashes[index]);
    }
    return true;
}

static bool leave_out(struct request *request, struct compared_side *side, struct err *err)
{
    size_t kept = 0;
    struct hashes *hashes =
        arena_array(request->arena, COMPARE_MAX_RUNS, sizeof *hashes, err); // of the runs kept
    for (size_t i = 0; hashes && i < side->count; i++) {
        bool is_copy;
        side->runs[kept] = side->runs[i];
        hashes[kept] = (struct hashes){0};
        if (!find_copy(request, side, kept, hashes, &is_copy, err))
            return false;
        kept += !is_copy;
    }
    side->copies = side->count - kept;
    side->count = kept;
    return hashes;
}

bool same_files_leave_out(struct request *request, struct compared *compared, struct err *err)
{
    for (size_t i = 0; i < compared->side_count; i++)
        if (!leave_out(request, &compared->sides[i], err))
            return false;
    return true;
}

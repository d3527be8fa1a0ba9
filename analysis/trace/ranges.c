// SPDX-License-Identifier: Apache-2.0
// The table of named ranges.
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"
#include "analysis/stats/stats.h"
#include "analysis/trace/analyses.h"
#include "analysis/trace/range_parts.h"
#include "analysis/trace/range_rows.h"
#include "analysis/trace/role_steps.h"

// --- rows ---------------------------------------------------------------------------------------

// The calls of each node, together: node n's are first[n] .. first[n + 1] - 1.
struct samples {
    uint32_t *first, *calls;
    int64_t *values, *scratch;
};

static bool sort_calls(const struct range_tree *tree, struct samples *samples, struct err *err)
{
    uint32_t count = tree->node_count;
    samples->first = arena_array(tree->arena, count + 2, sizeof *samples->first, err);
    samples->calls = arena_array(tree->arena, tree->call_count, sizeof *samples->calls, err);
    samples->values = arena_array(tree->arena, tree->call_count, sizeof *samples->values, err);
    samples->scratch = arena_array(tree->arena, tree->call_count, sizeof *samples->scratch, err);
    if (!samples->first || !samples->calls || !samples->values || !samples->scratch)
        return false;
    for (uint32_t i = 0; i < tree->call_count; i++)
        samples->first[tree->calls[i].node + 2]++;
    for (uint32_t n = 2; n < count + 2; n++)
        samples->first[n] += samples->first[n - 1];
    for (uint32_t i = 0; i < tree->call_count; i++)
        samples->calls[samples->first[tree->calls[i].node + 1]++] = i;
    return true;
}

static struct quantiles quantiles_of(const struct range_tree *tree, struct samples *samples,
                                     uint32_t node, bool of_device)
{
    uint32_t first = samples->first[node], count = samples->first[node + 1] - first;
    for (uint32_t i = 0; i < count; i++) {
        const struct range_call *call = &tree->calls[samples->calls[first + i]];
        samples->values[i] = of_device ? call->owned_ns : call->host_ns;
    }
    return stats_quantiles(samples->values, samples->scratch, count);
}

static void put_calls(const struct range_tree *tree, struct samples *samples, uint32_t index,
                      struct row *row)
{
    const struct range_node *node = &tree->nodes[index];
    struct quantiles host = quantiles_of(tree, samples, index, false);
    struct quantiles device = quantiles_of(tree, samples, index, true);
    row_i64(row, RANGES_CALLS, node->calls);
    row_i64_if(row, RANGES_STEPS, tree->facts->marked, node->steps);
    row_i64(row, RANGES_HOST_NS, node->host_ns);
    row_i64(row, RANGES_HOST_MEDIAN_NS, host.median);
    row_i64(row, RANGES_HOST_P95_NS, host.p95);
    row_i64(row, RANGES_OWNED_MEDIAN_NS, device.median);
    row_i64(row, RANGES_OWNED_P95_NS, device.p95);
    row_i64(row, RANGES_IDLE_NS, node->idle_ns);
}

static bool add_row(const struct range_tree *tree, struct samples *samples, uint32_t index,
                    struct report *report, struct err *err)
{
    const struct range_node *node = &tree->nodes[index];
    struct row row = {.desc = &table_ranges};
    const char *text = index ? range_tree_name(tree, node, tree->arena, err) : "";
    if (!text)
        return false;
    row_i64(&row, RANGES_ID, index);
    row_i64_if(&row, RANGES_PARENT, index != 0, node->parent);
    row_i64(&row, RANGES_DEPTH, node->depth);
    row_i64(&row, RANGES_CHILDREN, node->children);
    row_text_if(&row, RANGES_NAME, index != 0, str_of(text));
    if (index)
        put_calls(tree, samples, index, &row);
    row_i64(&row, RANGES_TOTAL_OWNED_NS, range_node_ns(node));
    row_i64(&row, RANGES_COMPUTE_NS, node->class_ns[CLASS_COMPUTE]);
    row_i64(&row, RANGES_COMMUNICATION_NS, node->class_ns[CLASS_COMMUNICATION]);
    row_i64(&row, RANGES_COPY_NS, node->class_ns[CLASS_MEMORY]);
    if (index)
        row_share(&row, RANGES_PARENT_SHARE, range_node_ns(node),
                  range_node_ns(&tree->nodes[node->parent]));
    return row_end(&row, report, err);
}

// The root first, then by device time.
static bool add_rows(struct range_tree *tree, struct report *report, struct err *err)
{
    struct samples samples;
    struct ranked *ranked = arena_array(tree->arena, tree->node_count, sizeof *ranked, err);
    if (!ranked || !sort_calls(tree, &samples, err))
        return false;
    for (uint32_t n = 0; n < tree->node_count; n++) {
        const struct range_node *node = &tree->nodes[n];
        struct str name = n ? tree->names[node->name].text : STR("");
        ranked[n] = (struct ranked){range_node_ns(node), name, n};
    }
    ranked_sort(ranked + 1, tree->node_count - 1);
    for (uint32_t i = 0; i < tree->node_count; i++)
        if (!add_row(tree, &samples, ranked[i].index, report, err))
            return false;
    return true;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct range_tree tree;
    if (!range_tree_has_ranges(facts->trace))
        return true;
    bool ok = range_tree_make(facts, scratch, &tree, err) && add_rows(&tree, report, err) &&
              range_parts_add(&tree, report, err) && range_rows_add(&tree, report, err) &&
              role_steps_add(&tree, report, err);
    range_tree_free(&tree);
    return ok;
}

const struct analysis ranges_analysis = {"ranges", run};

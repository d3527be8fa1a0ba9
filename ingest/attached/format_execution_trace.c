// SPDX-License-Identifier: Apache-2.0
// Execution traces of PyTorch and Chakra in JSON: graphs of operators without times. Counted and
// kept.
#include "ingest/attached/name_tally.h"
#include "ingest/source/format.h"
#include "ingest/json/json_cursor.h"
#include "ingest/json/json_number.h"
#include "ingest/json/json_outline.h"

struct graph {
    struct json_cursor json;
    int64_t nodes, process_groups, communication, with_shapes;
    struct name_tally names;
    struct buf name;
    bool found;
};

static bool is(struct str key, const char *name)
{
    return str_equal(key, str_of(name));
}

// Of {"values": ..., "shapes": [[8, 4]], "types": ...}: whether a shape is given.
static bool has_shapes(struct graph *graph, const struct json_value *value)
{
    struct str key;
    struct json_value member;
    bool given = false;
    if (!json_cursor_enter(&graph->json, value, JSON_OBJECT))
        return false;
    while (json_cursor_member(&graph->json, &key, &member)) {
        bool shapes = is(key, "shapes") && member.type == JSON_ARRAY;
        while (shapes && json_cursor_item(&graph->json, &member)) {
            given = true;
            json_cursor_pass(&graph->json, &member);
        }
        if (!shapes)
            json_cursor_pass(&graph->json, &member);
    }
    return given;
}

// Older traces have the list beside the name.
static bool take_shapes(struct graph *graph, struct str key, const struct json_value *value)
{
    if (is(key, "inputs") && value->type == JSON_OBJECT)
        return has_shapes(graph, value);
    bool given =
        is(key, "input_shapes") && value->type == JSON_ARRAY; // the key is overwritten next
    json_cursor_pass(&graph->json, value);
    return given;
}

static bool is_communication(struct str name)
{
    return str_find(name, STR("record_param_comms")) != SIZE_MAX ||
           str_find(name, STR("nccl:")) != SIZE_MAX || str_find(name, STR("c10d::")) != SIZE_MAX ||
           str_find(name, STR("COMM_")) != SIZE_MAX;
}

static void take_node(struct graph *graph)
{
    struct str key;
    struct json_value value;
    struct err err = {.pos = ERR_NO_POS};
    bool shapes = false;
    buf_clear(&graph->name);
    while (json_cursor_member(&graph->json, &key, &value)) {
        if ((is(key, "name") || is(key, "Name")) && value.type == JSON_TEXT)
            (void)json_text_decode(value.text, &graph->name);
        shapes |= take_shapes(graph, key, &value);
    }
    struct str name = {graph->name.len ? graph->name.at : "", graph->name.len};
    graph->nodes++;
    graph->with_shapes += shapes;
    graph->process_groups += str_find(name, STR("process_group:init")) != SIZE_MAX;
    graph->communication += is_communication(name);
    if (!buf_ok(&graph->name, &err) || !name_tally_add(&graph->names, name, &err))
        json_cursor_fail(&graph->json, &err);
}

static void take_nodes(struct graph *graph)
{
    struct json_value node;
    graph->found = true;
    while (json_cursor_item(&graph->json, &node))
        if (json_cursor_enter(&graph->json, &node, JSON_OBJECT))
            take_node(graph);
}

static void take_root(struct graph *graph, struct figures *figures)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&graph->json, &key, &value)) {
        bool nodes = is(key, "nodes") || is(key, "workload_graph");
        if (nodes && value.type == JSON_ARRAY) {
            take_nodes(graph);
            continue;
        }
        if (is(key, "schema") && value.type == JSON_TEXT && value.text.len < 64 &&
            str_valid_utf8(value.text) == value.text.len)
            figures_text(figures, value.text, "schema");
        json_cursor_pass(&graph->json, &value);
    }
}

static void report(const struct graph *graph, struct figures *figures)
{
    figures_add(figures, graph->nodes, "nodes");
    figures_add(figures, name_tally_count(&graph->names), "names");
    figures_add(figures, graph->process_groups, "process_groups");
    figures_add(figures, graph->communication, "communication_nodes");
    figures_add(figures, graph->with_shapes, "nodes_with_shapes");
    name_tally_report(&graph->names, figures, "most_frequent");
}

static bool count(struct graph *graph, const struct format_input *input, struct err *err)
{
    struct json_value root;
    if (!json_cursor_open(&graph->json, input->source, input->budget, &root, err))
        return false;
    if (root.type == JSON_OBJECT)
        take_root(graph, input->figures);
    if (graph->json.stop == JSON_FAILED) {
        *err = graph->json.err;
        return false;
    }
    if (!graph->found)
        return err_set(err, ERR_FORMAT, "found no nodes in it, expected an execution trace");
    report(graph, input->figures);
    return true;
}

static bool count_graph(const struct format_input *input, struct err *err)
{
    struct graph *graph = budget_zalloc(input->budget, sizeof *graph, err);
    if (!graph)
        return false;
    bool ok = name_tally_init(&graph->names, input->budget, err);
    if (ok) {
        ok = count(graph, input, err);
        json_cursor_close(&graph->json);
        name_tally_free(&graph->names);
    }
    buf_free(&graph->name);
    budget_free(input->budget, graph, sizeof *graph);
    return ok;
}

#define NO_TIMES "it has no times; upload the profiler's trace beside it"

// Other JSON has nodes, too.
static enum format_likeness probe_execution_trace(const struct format_sample *sample)
{
    bool both =
        json_outline_has(sample->outline, "nodes") && json_outline_has(sample->outline, "schema");
    return both ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_execution_trace = {
    .name = "execution-trace",
    .what = "an execution trace",
    .kind = FORMAT_RECORDS,
    .probe = probe_execution_trace,
    .count = count_graph,
    .advice = NO_TIMES,
};

const struct format format_chakra = {
    .name = "chakra",
    .what = "a Chakra execution trace",
    .kind = FORMAT_RECORDS,
    .member = "workload_graph",
    .count = count_graph,
    .advice = NO_TIMES,
};

// SPDX-License-Identifier: Apache-2.0
// timeline_cut: the longest events of a rank in one step or window.
#include "server/api/api.h"
#include "server/mcp/mcp_rows.h"
#include "server/mcp/mcp_text.h"

#include <stdio.h>

enum { LEAST_PX = 100, WINDOW_PX = 1600, MOST_STEPS = 12 };

// A window of the trace; times since its first event.
struct window {
    int64_t from_ns, to_ns; // to_ns 0: to the end
    bool is_found;
};

// --- the window ---------------------------------------------------------------------------------

static json_t *ask_window(struct mcp_call *call, const char *run, const struct window *window,
                          int px, struct err *err)
{
    static const char *const plain[] = {"rank", "lanes", NULL};
    struct mcp_question question = mcp_question(api_get_timeline, NULL, run);
    mcp_with_integer(call, &question, "px", px);
    mcp_with_integer(call, &question, "from_ns", window->from_ns);
    if (window->to_ns)
        mcp_with_integer(call, &question, "to_ns", window->to_ns);
    if (!mcp_text_argument(call, "lanes"))
        mcp_with(&question, "lanes", "device");
    mcp_with_arguments(call, &question, plain);
    return mcp_ask(call, &question, err);
}

static void find_step(json_t *whole, int64_t number, struct window *window)
{
    json_t *step = NULL;
    size_t i = 0;
    json_array_foreach(json_object_get(whole, "steps"), i, step)
    {
        if (json_integer_value(json_object_get(step, "number")) != number || window->is_found)
            continue;
        window->from_ns = json_integer_value(json_object_get(step, "begin_ns"));
        window->to_ns = json_integer_value(json_object_get(step, "end_ns"));
        window->is_found = true;
    }
}

static int64_t nanoseconds(const struct mcp_call *call, const char *name)
{
    return (int64_t)(json_number_value(json_object_get(call->arguments, name)) * 1e6);
}

static bool choose_window(struct mcp_call *call, const char *run, struct window *window,
                          struct err *err)
{
    int64_t step = mcp_integer_argument(call, "step", -1);
    *window = (struct window){.from_ns = nanoseconds(call, "from_ms"),
                              .to_ns = nanoseconds(call, "to_ms")};
    if (step < 0)
        return true;
    struct window all = {0};
    json_t *whole = ask_window(call, run, &all, LEAST_PX, err);
    if (!whole)
        return false;
    find_step(whole, step, window);
    json_decref(whole);
    call->advice = "table steps lists the steps";
    return window->is_found ||
           err_set(err, ERR_NOT_FOUND, "the rank has no step %lld", (long long)step);
}

// --- the events ---------------------------------------------------------------------------------

static json_int_t number_at(json_t *slices, const char *name, size_t i)
{
    return json_integer_value(json_array_get(json_object_get(slices, name), i));
}

// Events that contain the whole window say nothing about it, nor do annotations on the device.
static bool is_distinct(json_t *reply, size_t i)
{
    json_t *slices = json_object_get(reply, "slices");
    json_int_t begin_ns = number_at(slices, "begin_ns", i);
    json_int_t end_ns = begin_ns + number_at(slices, "dur_ns", i);
    json_t *class =
        json_array_get(json_object_get(reply, "classes"), (size_t)number_at(slices, "class", i));
    bool is_note = json_is_string(class) && strcmp(json_string_value(class), "gpu_annotation") == 0;
    return !is_note && (begin_ns > json_integer_value(json_object_get(reply, "from_ns")) ||
                        end_ns < json_integer_value(json_object_get(reply, "to_ns")));
}

// The longest slices, as places in the reply, from the longest on.
static size_t find_longest(json_t *reply, size_t *places, size_t most)
{
    json_t *slices = json_object_get(reply, "slices");
    size_t all = json_array_size(json_object_get(slices, "dur_ns")), count = 0;
    for (size_t i = 0; i < all; i++) {
        json_int_t own = number_at(slices, "dur_ns", i);
        if (!is_distinct(reply, i))
            continue;
        size_t at = count < most ? count : most;
        while (at && number_at(slices, "dur_ns", places[at - 1]) < own)
            at--;
        if (at == most)
            continue;
        count += count < most;
        memmove(places + at + 1, places + at, (count - 1 - at) * sizeof *places);
        places[at] = i;
    }
    return count;
}

static json_t *lane_name(json_t *reply, size_t lane)
{
    json_t *lanes = json_object_get(reply, "lanes");
    return mcp_name(json_object_get(json_array_get(lanes, lane), "name"));
}

static json_t *named(json_t *reply, const char *list, json_int_t i)
{
    return mcp_name(json_array_get(json_object_get(reply, list), (size_t)i));
}

static json_t *event_json(json_t *reply, size_t i)
{
    json_t *slices = json_object_get(reply, "slices");
    json_t *begin = json_array_get(json_object_get(slices, "begin_ns"), i);
    json_t *dur = json_array_get(json_object_get(slices, "dur_ns"), i);
    json_t *busy = json_array_get(json_object_get(slices, "busy_ns"), i);
    return json_pack("[o,o,o,o,o,o,I]", lane_name(reply, (size_t)number_at(slices, "lane", i)),
                     named(reply, "names", number_at(slices, "name", i)),
                     named(reply, "classes", number_at(slices, "class", i)), mcp_value(begin, "ns"),
                     mcp_value(dur, "ns"), mcp_value(busy, "ns"), number_at(slices, "count", i));
}

static json_t *events_json(const struct mcp_call *call, json_t *reply)
{
    json_t *slices = json_object_get(reply, "slices"), *rows = json_array();
    size_t total = json_array_size(json_object_get(slices, "dur_ns"));
    size_t *places = arena_array(call->request->arena, call->limit + 1, sizeof *places, NULL);
    size_t count = places ? find_longest(reply, places, call->limit) : 0;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(rows, event_json(reply, places[i]));
    return json_pack("{s:[s,s,s,s,s,s,s],s:o,s:i}", "columns", "lane", "name", "class", "begin_ms",
                     "dur_ms", "busy_ms", "events", "rows", rows, "total", (int)total);
}

static json_t *steps_json(json_t *reply)
{
    json_t *steps = json_array(), *step = NULL;
    size_t i = 0;
    json_array_foreach(json_object_get(reply, "steps"), i, step)
    {
        if (i < MOST_STEPS)
            json_array_append_new(steps, json_pack("[O,o,o]", json_object_get(step, "number"),
                                                   mcp_member(step, "begin_ns"),
                                                   mcp_member(step, "end_ns")));
    }
    return json_pack("{s:[s,s,s],s:o,s:i}", "columns", "step", "begin_ms", "end_ms", "rows", steps,
                     "total", (int)i);
}

static void set_cut(const struct mcp_call *call, json_t *answer, json_t *reply)
{
    static const char *const names[] = {"rank", "from_ns", "to_ns", "end_ns", "resolution_ns"};
    json_t *window = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        mcp_set_member(window, reply, names[i]);
    json_object_set_new(answer, "window", window);
    json_object_set_new(answer, "steps", steps_json(reply));
    json_object_set_new(answer, "longest_events", events_json(call, reply));
    json_object_set_new(answer, "note",
                        json_string("times since the first event of the rank's trace; events "
                                    "shorter than resolution_ms are joined and counted, ask for a "
                                    "shorter window to see each; those that contain the whole "
                                    "window are left out"));
    if (!json_array_size(json_object_get(json_object_get(reply, "slices"), "dur_ns")))
        mcp_set_cannot(answer, "what ran in this window", "it holds no events of these lanes");
}

static bool answer_timeline_cut(struct mcp_call *call, json_t *answer, struct err *err)
{
    struct window window;
    const char *run = mcp_run_id(call, mcp_text_argument(call, "run"), err);
    if (!run || !choose_window(call, run, &window, err))
        return false;
    call->advice = NULL;
    json_t *reply = ask_window(call, run, &window, WINDOW_PX, err);
    if (!reply)
        return false;
    set_cut(call, answer, reply);
    mcp_set_link(call, answer, "/runs/%s/timeline?rank=%lld", run,
                 (long long)json_integer_value(json_object_get(reply, "rank")));
    json_decref(reply);
    return true;
}

static const char *lanes_word(size_t i)
{
    static const char *const words[] = {"device", "all"};
    return i < sizeof words / sizeof *words ? words[i] : NULL;
}

const struct mcp_tool tool_timeline_cut = {
    .name = "timeline_cut",
    .title = "Events of a window",
    .help = "The longest events of one rank in a step or a window of its trace, by lane. The last "
            "look, when findings and explain have said where.",
    .rows = {12, 30},
    .arguments = {MCP_RUN_ARGUMENT,
                  {.name = "rank", .help = "A rank", .type = MCP_INTEGER, .most = INT32_MAX},
                  {.name = "step",
                   .help = "Number of a step, instead of from_ms and to_ms",
                   .type = MCP_INTEGER,
                   .most = INT32_MAX},
                  {.name = "from_ms",
                   .help = "Start of the window since the first event",
                   .type = MCP_NUMBER,
                   .most = 9e12},
                  {.name = "to_ms", .help = "Its end", .type = MCP_NUMBER, .most = 9e12},
                  {.name = "lanes",
                   .help = "Streams of the device, or threads of the host as well",
                   .word = lanes_word}},
    .answer = answer_timeline_cut,
};

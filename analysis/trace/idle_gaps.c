// SPDX-License-Identifier: Apache-2.0
// The longest idle gaps with their context on device and host.
#include "analysis/trace/analyses.h"
#include "analysis/facts/gaps.h"
#include "analysis/facts/host_places.h"
#include "analysis/facts/steps.h"
#include "analysis/stats/sort.h"
#include "analysis/report/tables.h"
#include "analysis/facts/track_pairs.h"

#define MERGED_ROWS 200
#define DEVICE_ROWS 50

// A gap of the table.
struct choice {
    const struct gap *gap;
    uint32_t gpu; // FACTS_NONE: all merged
    uint32_t place;
};

struct choices {
    struct choice *items;
    struct host_place *places;
    uint32_t count, place_count;
};

static const char *kind_word(enum event_kind kind)
{
    switch (kind) {
    case EVENT_CPU_OP: return "op";
    case EVENT_ANNOTATION: return "annotation";
    case EVENT_PYTHON: return "frame";
    case EVENT_OVERHEAD: return "overhead";
    default: return "call";
    }
}

// Takes the longest gaps of a list; of equal ones the earlier.
static bool choose(const struct facts *facts, const struct gap_list *list, uint32_t gpu,
                   uint32_t most, struct choices *choices, struct err *err)
{
    size_t size = 2 * (size_t)list->count * sizeof(struct keyed);
    struct keyed *items = budget_alloc(facts->budget, size, err);
    if (!items)
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        items[i] = (struct keyed){list->gaps[i].begin_ns - list->gaps[i].end_ns, i, 0};
    sort_keyed(items, items + list->count, list->count);
    for (uint32_t i = 0; i < list->count && i < most; i++) {
        const struct gap *gap = &list->gaps[items[i].a];
        uint32_t place = FACTS_NONE;
        if (gap->host_event != FACTS_NONE) {
            place = choices->place_count++;
            choices->places[place].event = gap->host_event;
        }
        choices->items[choices->count++] = (struct choice){gap, gpu, place};
    }
    budget_free(facts->budget, items, size);
    return true;
}

static bool choose_all(const struct facts *facts, struct choices *choices, struct err *err)
{
    if (!choose(facts, &facts->gaps, FACTS_NONE, MERGED_ROWS, choices, err))
        return false;
    for (uint32_t g = 0; facts->gpu_gaps && g < facts->gpu_count && g < GAPS_MAX_DEVICES; g++)
        if (!choose(facts, &facts->gpu_gaps[g], g, DEVICE_ROWS, choices, err))
            return false;
    return true;
}

static void add_host(struct row *row, const struct facts *facts, uint32_t event)
{
    const struct trace *trace = facts->trace;
    if (event == FACTS_NONE)
        return;
    row_text(row, IDLE_GAPS_HOST_EVENT, trace_text(trace, trace->name[event]));
    row_word(row, IDLE_GAPS_HOST_KIND, kind_word((enum event_kind)trace->kind[event]));
}

// The thread that launched; text has room for a number.
static struct str thread_of(const struct facts *facts, uint32_t launch, char text[32])
{
    uint32_t track = track_of_event(facts->trace, facts->launches[launch].event);
    const struct track *thread = &facts->trace->tracks[track];
    return thread->name ? trace_text(facts->trace, thread->name)
                        : facts_label(facts->trace, thread->tid, text);
}

static void add_device(struct row *row, unsigned column, const struct facts *facts, uint32_t device)
{
    bool known = device != FACTS_NONE;
    str_id name = known ? facts_device_name(facts, device) : 0;
    row_text_if(row, column, known, trace_text(facts->trace, name));
}

static void add_next(struct row *row, const struct facts *facts, uint32_t next)
{
    const struct device_event *device = next == FACTS_NONE ? NULL : &facts->devices[next];
    str_id op = device ? facts_device_op(facts, next) : 0;
    add_device(row, IDLE_GAPS_AFTER, facts, next);
    row_text_if(row, IDLE_GAPS_AFTER_OP, op != 0, trace_text(facts->trace, op));
    if (!device || device->launch == FACTS_NONE)
        return;
    uint32_t launch = facts->launches[device->launch].event;
    int64_t returned_ns = facts_event_end(facts->trace, launch);
    row_i64(row, IDLE_GAPS_LAUNCH_DELAY_NS,
            device->begin_ns > returned_ns ? device->begin_ns - returned_ns : 0);
}

static void add_place(struct row *row, const struct facts *facts, const struct host_place *place)
{
    const struct trace *trace = facts->trace;
    uint32_t op = FACTS_NONE, frame = FACTS_NONE, note = place ? place->note : FACTS_NONE;
    if (place && event_kind_is_launch((enum event_kind)trace->kind[place->event]))
        op = place->op;
    if (place && trace->kind[place->event] != EVENT_PYTHON)
        frame = place->frame;
    row_text_if(row, IDLE_GAPS_HOST_OP, op != FACTS_NONE,
                trace_text(trace, op == FACTS_NONE ? 0 : trace->name[op]));
    row_text_if(row, IDLE_GAPS_HOST_FRAME, frame != FACTS_NONE,
                trace_text(trace, frame == FACTS_NONE ? 0 : trace->name[frame]));
    row_text_if(row, IDLE_GAPS_HOST_RANGE, note != FACTS_NONE,
                trace_text(trace, note == FACTS_NONE ? 0 : trace->name[note]));
}

static bool add_row(const struct facts *facts, const struct choice *choice,
                    const struct host_place *place, struct report *report, struct err *err)
{
    const struct gap *gap = choice->gap;
    uint32_t launch = gap->next == FACTS_NONE ? FACTS_NONE : facts->devices[gap->next].launch;
    uint32_t step = steps_at(facts, gap->begin_ns);
    bool merged = choice->gpu == FACTS_NONE, launched = launch != FACTS_NONE;
    char device[32], thread[32];
    struct row row = {.desc = &table_idle_gaps};
    row_text_if(&row, IDLE_GAPS_DEVICE, !merged,
                facts_label(facts->trace, facts->gpus[merged ? 0 : choice->gpu], device));
    row_i64(&row, IDLE_GAPS_BEGIN_NS, gap->begin_ns - facts->begin_ns);
    row_i64(&row, IDLE_GAPS_DUR_NS, gap->end_ns - gap->begin_ns);
    row_word(&row, IDLE_GAPS_CAUSE, idle_cause_word((enum idle_cause)gap->cause));
    row_i64_if(&row, IDLE_GAPS_STEP, step != FACTS_NONE,
               step == FACTS_NONE ? 0 : facts->steps[step].number);
    add_host(&row, facts, gap->host_event);
    row_text_if(&row, IDLE_GAPS_THREAD, launched,
                launched ? thread_of(facts, launch, thread) : STR(""));
    add_device(&row, IDLE_GAPS_BEFORE, facts, gap->before);
    add_next(&row, facts, gap->next);
    add_place(&row, facts, place);
    return row_end(&row, report, err);
}

static bool make_room(struct choices *choices, size_t cap, struct arena *arena, struct err *err)
{
    choices->items = arena_array(arena, cap, sizeof *choices->items, err);
    choices->places = arena_array(arena, cap, sizeof *choices->places, err);
    return choices->items && choices->places;
}

static bool add_rows(const struct facts *facts, const struct choices *choices,
                     struct report *report, struct err *err)
{
    bool ok = host_places_fill(facts->trace, choices->places, choices->place_count, err);
    for (uint32_t i = 0; ok && i < choices->count; i++) {
        const struct choice *choice = &choices->items[i];
        ok = add_row(facts, choice,
                     choice->place == FACTS_NONE ? NULL : &choices->places[choice->place], report,
                     err);
    }
    return ok;
}

static bool run(const struct facts *facts, struct arena *arena, struct report *report,
                struct err *err)
{
    uint32_t gpus = facts->gpu_count < GAPS_MAX_DEVICES ? facts->gpu_count : GAPS_MAX_DEVICES;
    struct choices choices = {0};
    return make_room(&choices, MERGED_ROWS + (size_t)gpus * DEVICE_ROWS, arena, err) &&
           choose_all(facts, &choices, err) && add_rows(facts, &choices, report, err);
}

const struct analysis idle_gaps_analysis = {"idle_gaps", run};

static bool run_list(const struct facts *facts, struct arena *arena, struct report *report,
                     struct err *err)
{
    struct choices choices = {0};
    return make_room(&choices, facts->gaps.count, arena, err) &&
           choose(facts, &facts->gaps, FACTS_NONE, facts->gaps.count, &choices, err) &&
           add_rows(facts, &choices, report, err);
}

const struct analysis idle_gap_list_analysis = {"idle_gaps", run_list};

// SPDX-License-Identifier: Apache-2.0
// The rule about idle time that no other finding covers: many small causes, or unknown ones.
#include "analysis/findings/findings.h"

#include "analysis/report/tables.h"
#include <stdio.h>

// The findings before this one.
struct others {
    const struct finding *found;
    size_t count;
};

// Unrecorded time is not known to be idle; the trust report covers it.
static bool is_idle(const struct atom *atom)
{
    return atom->gap && atom->gap->cause != IDLE_UNRECORDED;
}

// What other findings leave of a gap.
static int64_t claim_rest(const struct finding_case *the_case, const void *context,
                          const struct atom *atom)
{
    const struct others *others = context;
    int64_t most_ns = 0;
    if (!is_idle(atom))
        return 0;
    for (size_t f = 0; f < others->count; f++) {
        const struct finding *other = &others->found[f];
        int64_t ns = other->claim ? other->claim(the_case, other->context, atom) : 0;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    return most_ns < atom->ns ? atom->ns - most_ns : 0;
}

// The rest by cause.
struct rests {
    const struct finding_case *the_case;
    const struct others *others;
    int64_t idle_ns; // including what others explain
    int64_t ns[IDLE_CAUSE_COUNT];
    struct atom longest; // of the rest
    int64_t longest_ns;
};

static void add_rest(void *context, const struct atom *atom)
{
    struct rests *rests = context;
    if (!is_idle(atom))
        return;
    int64_t rest_ns = claim_rest(rests->the_case, rests->others, atom);
    rests->idle_ns += atom->ns;
    rests->ns[atom->gap->cause] += rest_ns;
    if (rest_ns <= rests->longest_ns)
        return;
    rests->longest_ns = rest_ns;
    rests->longest = *atom;
}

// Causes, largest first.
static void order_causes(const struct rests *rests, enum idle_cause order[IDLE_CAUSE_COUNT])
{
    for (int c = 0; c < IDLE_CAUSE_COUNT; c++) {
        int at = c;
        for (; at > 0 && rests->ns[order[at - 1]] < rests->ns[c]; at--)
            order[at] = order[at - 1];
        order[at] = (enum idle_cause)c;
    }
}

enum { TOLD = 3 };

static double share_of(const struct rests *rests, enum idle_cause cause)
{
    const struct finding_case *the_case = rests->the_case;
    return findings_percent(the_case, rests->ns[cause] / the_case->steps);
}

// Whether a cause rounds to more than nothing.
static bool counts(const struct rests *rests, enum idle_cause cause)
{
    return share_of(rests, cause) >= 0.05;
}

// A cause for people: "cold start".
struct cause_text {
    char text[40];
};

static struct cause_text cause_text(enum idle_cause cause)
{
    struct cause_text words;
    snprintf(words.text, sizeof words.text, "%s", idle_cause_word(cause));
    for (char *c = words.text; *c; c++)
        *c = *c == '_' ? ' ' : *c;
    return words;
}

// "event wait 12.0 %, dispatch 3.1 %".
static void list_causes(const struct rests *rests, const enum idle_cause *order, char text[160])
{
    size_t at = 0;
    snprintf(text, 160, "its cause is not recorded");
    if (order[0] == IDLE_UNKNOWN && !counts(rests, order[1]))
        return;
    for (int i = 0; i < TOLD && (i == 0 || counts(rests, order[i])) && at < 120; i++)
        at += (size_t)snprintf(text + at, 160 - at, "%s%s %.1f %%", i ? ", " : "",
                               cause_text(order[i]).text, share_of(rests, order[i]));
}

// Whether the table of recorded items has the item, at least in part.
static bool is_recorded(const struct report *report, const char *item)
{
    const struct table *table = report_find(report, "recording");
    for (size_t i = 0; table && i < table->row_count; i++)
        if (table_is(table, i, RECORDING_ITEM, str_of(item)))
            return !table_is(table, i, RECORDING_STATE, STR("missing"));
    return false;
}

static void tell_longest(const struct rests *rests, struct evidence *evidence)
{
    const struct facts *facts = rests->the_case->facts;
    const struct gap *gap = rests->longest.gap;
    char href[80];
    snprintf(href, sizeof href, "timeline?at=%lld-%lld",
             (long long)(gap->begin_ns - facts->begin_ns),
             (long long)(gap->end_ns - facts->begin_ns));
    struct str next = gap->next == FACTS_NONE
                          ? STR("the recording's end")
                          : facts_short_name(facts->trace, facts_device_name(facts, gap->next));
    evidence_add(evidence, href, "the longest such gap, %s (%s), ends with %.*s",
                 time_text(rests->longest_ns).text, cause_text((enum idle_cause)gap->cause).text,
                 (int)next.len, next.at);
}

static const char *tell(const struct rests *rests, const enum idle_cause *order, struct err *err)
{
    const struct finding_case *the_case = rests->the_case;
    struct evidence evidence = {0};
    for (int i = 0; i < TOLD && (i == 0 || counts(rests, order[i])); i++) {
        struct href_text href = href_to("idle_gaps");
        href_add(&href, "cause", str_of(idle_cause_word(order[i])));
        evidence_add(&evidence, href.text, "%s, %.1f %%: %s", cause_text(order[i]).text,
                     share_of(rests, order[i]), idle_cause_help(order[i]));
    }
    if (rests->longest.gap)
        tell_longest(rests, &evidence);
    bool waits = order[0] == IDLE_UNKNOWN || order[0] == IDLE_EVENT_WAIT;
    if (waits && !is_recorded(the_case->report, "sync_events"))
        evidence_add(&evidence, "recording", "waits between streams were not recorded");
    if (!is_recorded(the_case->report, "launches"))
        evidence_add(&evidence, "recording",
                     "launches were not recorded, so almost no cause is known");
    return evidence_end(&evidence, the_case->arena, err);
}

static const char *advice_for(enum idle_cause cause)
{
    switch (cause) {
    case IDLE_EVENT_WAIT:
        return "Check in the timeline what the stream waits for: work of another stream or "
               "process, a transfer, a library lock. Start it earlier, or schedule independent "
               "work in between.";
    case IDLE_GRAPH_REPLAY:
        return "Gaps inside a replayed graph are dependencies between its nodes, or host nodes: "
               "capture fewer streams, fuse short kernels, and avoid host functions.";
    case IDLE_DISPATCH:
        return "The device needs a few microseconds between events: fuse short kernels to have "
               "fewer of them.";
    case IDLE_PROFILER: return "Record less at once (stacks, shapes, memory), or fewer steps.";
    case IDLE_COLD_START:
        return "One-time cost: start recording some steps later to keep it out of the measurement.";
    case IDLE_UNKNOWN:
        return "Record launches and, on CUDA, waits between streams: the recording table says "
               "how. Check for other processes on this device.";
    default: return "See the idle gaps table: each cause is small, so start with the longest gaps.";
    }
}

static bool check(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err)
{
    struct others *others = arena_room(the_case->arena, 1, sizeof *others, err);
    struct rests rests = {.the_case = the_case, .others = others};
    enum idle_cause order[IDLE_CAUSE_COUNT];
    char causes[160];
    if (!others)
        return false;
    *others = (struct others){the_case->found, the_case->found_count};
    findings_visit(the_case, add_rest, &rests);
    if (!findings_costs(the_case, rests.idle_ns / the_case->steps, FINDING_IDLE_SHARE))
        return true;
    if (!findings_cost(the_case, finding, claim_rest, others, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_IDLE_REST);
    if (!*fires)
        return true;
    order_causes(&rests, order);
    list_causes(&rests, order, causes);
    finding->confidence = order[0] == IDLE_UNKNOWN ? "low" : "medium";
    finding->advice = advice_for(order[0]);
    finding->title =
        arena_printf(the_case->arena, err,
                     "the device is idle %s %s (%.1f %%) that no other finding explains: %s",
                     time_text(finding->cost_ns).text, the_case->per,
                     findings_percent(the_case, finding->cost_ns), causes);
    finding->evidence = tell(&rests, order, err);
    return finding->title && finding->evidence;
}

const struct finding_rule finding_unexplained_idle = {
    .name = "unexplained_idle",
    .why = "The device is idle for a good part of the step, and no other finding explains it: each "
           "cause is small, or not visible in the recording.",
    .advice = "See the idle gaps table and start with the longest.",
    .method =
        "Idle time of the typical step minus the part that other findings explain, by cause; "
        "reported from 5 % of the step when 10 % are idle overall. Unrecorded time does not count.",
    .false_alarms =
        "A server without requests; pauses between measurements when no steps are annotated.",
    .reads_found = true,
    .check = check,
};

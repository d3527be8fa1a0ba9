// SPDX-License-Identifier: Apache-2.0
// What the file says about the recording: how long steps took before it, by the clock of the hook,
// and the profiler's errors.
#include "analysis/facts/steps.h"
#include "analysis/report/recorded.h"
#include "analysis/trace/trust_host.h"

static bool add_messages(const struct facts *facts, struct report *report, struct err *err)
{
    const struct trace_setting *messages = trace_setting_find(facts->trace, STR(TRACE_MESSAGES));
    struct doubt doubt = {.item = "profiler_messages",
                          .severity = "warning",
                          .effect = "what they warn about may be missing from all figures"};
    if (!messages)
        return true;
    doubt.count = messages->number;
    doubt.detail = arena_printf(report->arena, err, "errors and warnings of the profiler: %s",
                                trace_text(facts->trace, messages->text).at);
    return doubt.detail && doubt_add(report, &doubt, err);
}

static bool add_slower(const struct facts *facts, struct report *report, struct err *err)
{
    const struct trace_setting *hook = trace_setting_find(facts->trace, STR(TRUST_PLAIN_STEP));
    struct recorded_steps steps = {.other =
                                       "the median step that the hook timed without the profiler"};
    struct doubt slower;
    if (!hook || hook->number == VALUE_ABSENT || !facts->marked || !facts->steady_count)
        return true;
    steps.other_ns = hook->number;
    return steps_median_ns(facts, STEADY_ALL, &steps.recorded_ns, err) &&
           recorded_doubt(report, &steps, &slower, err) &&
           (!slower.count || doubt_add(report, &slower, err));
}

bool doubts_add_recorded(const struct facts *facts, struct report *report, struct err *err)
{
    return add_messages(facts, report, err) && add_slower(facts, report, err);
}

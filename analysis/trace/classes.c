// SPDX-License-Identifier: Apache-2.0
// Device events by class.
#include "analysis/trace/analyses.h"
#include "analysis/report/tables.h"

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    (void)scratch;
    int64_t events[DEVICE_CLASS_COUNT] = {0}, sum_ns[DEVICE_CLASS_COUNT] = {0};
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        events[device->class]++;
        sum_ns[device->class] += device->end_ns - device->begin_ns;
    }
    for (int c = 0; c < DEVICE_CLASS_COUNT; c++) {
        if (events[c] == 0)
            continue;
        struct row row = {.desc = &table_classes};
        row_word(&row, CLASSES_CLASS, event_device_class_word((enum device_class)c));
        row_i64(&row, CLASSES_EVENTS, events[c]);
        row_i64(&row, CLASSES_SUM_NS, sum_ns[c]);
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

const struct analysis classes_analysis = {"classes", run};

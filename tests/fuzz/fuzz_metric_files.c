// SPDX-License-Identifier: Apache-2.0
// Any bytes as each kind of file of metrics: the same in pieces as in one, and figures of it.
#include "tests/fuzz/gathered.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t add_text(uint64_t sum, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        sum = sum * 31 + (unsigned char)text.at[i];
    return sum;
}

// Reads all that was gathered.
static uint64_t sum_of(const struct evidence *evidence)
{
    const struct metric_book *book = &evidence->metrics;
    uint64_t sum = (uint64_t)book->records * 7 + (uint64_t)book->damaged;
    for (size_t i = 0; i < book->series_count; i++)
        sum = add_text(sum, book->series[i].name) + (uint64_t)book->series[i].count;
    for (size_t i = 0; i < book->span_count; i++)
        sum = add_text(sum, book->spans[i].name) + (uint64_t)book->spans[i].dur_ns;
    for (size_t i = 0; i < evidence->log.step_count; i++)
        sum = sum * 31 + (uint64_t)evidence->log.steps[i].step + evidence->log.steps[i].has;
    for (size_t i = 0; i < evidence->log.event_count; i++)
        sum = add_text(sum, evidence->log.events[i].text);
    for (size_t i = 0; i < evidence->setting_count; i++)
        sum = add_text(sum, evidence->settings[i].value);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"jsonl", "torchtitan-structured", "trainer_state",
                                        "tfevents", "metrics-csv"};
    if (size == 0)
        return 0;
    const struct format *format = format_named(str_of(names[(unsigned char)(data[0] - '0') % 5]));
    struct str bytes = {(const char *)data + 1, size - 1};
    if (!format)
        abort();
    gathered_check(format, bytes, 7, sum_of);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/log_slow.h"

#include "analysis/report/ranked.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"

enum { MOST_SLOW = 100, SLOW_SHARE = 5 }; // slow: more than 1 / SLOW_SHARE above the median

static const char *const event_words[LOG_EVENT_KINDS] = {
    [LOG_CHECKPOINT] = "checkpoint",
    [LOG_EVALUATION] = "evaluation",
    [LOG_GARBAGE] = "garbage_collection",
    [LOG_PROFILER] = "profiler",
    [LOG_FAULT] = "fault",
};

const char *log_event_word(enum log_event_kind kind)
{
    return event_words[kind];
}

// The first event with a position above one: events are in the order of the file.
static size_t event_after(const struct log_book *book, uint64_t pos)
{
    size_t low = 0, high = book->event_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (book->events[middle].pos <= pos)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// What the log says between a step and the one before, the longest of several; NULL: nothing.
static const struct log_event *event_beside(const struct log_book *book,
                                            const struct log_line *line)
{
    const struct log_event *longest = NULL;
    for (size_t i = event_after(book, line[-1].printed->pos); i < book->event_count; i++) {
        const struct log_event *event = &book->events[i];
        if (event->pos >= line->printed->pos)
            break;
        longest = longest && longest->dur_ns >= event->dur_ns ? longest : event;
    }
    return longest;
}

struct slow_steps {
    const struct log_book *book;
    const struct log_sequence *sequence;
    struct str file;
    struct report *report;
};

static bool add_row(const struct slow_steps *slow, const struct log_line *line, struct err *err)
{
    const struct log_event *event = event_beside(slow->book, line);
    struct row row = {.desc = &table_log_slow_steps};
    row_text(&row, LOG_SLOW_STEPS_FILE, slow->file);
    row_i64(&row, LOG_SLOW_STEPS_SEGMENT, line->segment);
    row_i64(&row, LOG_SLOW_STEPS_STEP, line->step);
    row_i64_if(&row, LOG_SLOW_STEPS_TIME_NS, line->since_ns >= 0, line->since_ns);
    row_i64(&row, LOG_SLOW_STEPS_STEP_NS, line->step_ns);
    row_i64(&row, LOG_SLOW_STEPS_LOST_NS, line->step_ns - slow->sequence->median_ns);
    if (event) {
        row_word(&row, LOG_SLOW_STEPS_KIND, log_event_word(event->kind));
        row_text(&row, LOG_SLOW_STEPS_TEXT, event->text);
    }
    return row_end(&row, slow->report, err);
}

// How many there are; written to `slow` unless it is NULL.
static size_t find_slow(const struct log_sequence *sequence, struct ranked *slow)
{
    int64_t median_ns = sequence->median_ns;
    size_t count = 0;
    for (size_t i = 1; i < sequence->count; i++) {
        const struct log_line *line = &sequence->lines[i];
        if (!line->steady || line->step_ns <= median_ns + median_ns / SLOW_SHARE)
            continue;
        if (slow)
            slow[count] = (struct ranked){.total_ns = line->step_ns, .index = (uint32_t)i};
        count++;
    }
    return count;
}

bool log_slow_add(const struct log_book *book, const struct log_sequence *sequence, struct str file,
                  struct report *report, struct err *err)
{
    struct slow_steps slow = {book, sequence, file, report};
    size_t count = find_slow(sequence, NULL);
    struct ranked *ranked = arena_array(report->arena, count + 1, sizeof *ranked, err);
    if (!ranked)
        return false;
    find_slow(sequence, ranked);
    ranked_sort(ranked, count);
    for (size_t i = 0; i < count && i < MOST_SLOW; i++)
        if (!add_row(&slow, &sequence->lines[ranked[i].index], err))
            return false;
    return true;
}

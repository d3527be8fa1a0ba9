// SPDX-License-Identifier: Apache-2.0
// The search of Wu and Manber (1994): two bytes say how far the next mark is away at least.
#include "ingest/logs/log_marks.h"

#include <assert.h>

// Two bytes have a number below FIRST_MARK, how far to go on, or from there on that of the mark
// which they may end.
enum { PAIRS = 1 << 16, FIRST_MARK = LOG_MARK_BYTES, LAST = 0xFF };
_Static_assert(FIRST_MARK + LOG_MOST_MARKS <= LAST, "marks and ways to go on share a byte");

static unsigned pair_at(const char *at)
{
    return (unsigned char)at[0] | (unsigned)(unsigned char)at[1] << 8;
}

static uint64_t start_of(const char *at)
{
    uint64_t start;
    _Static_assert(sizeof start == LOG_MARK_BYTES, "that many bytes are compared at once");
    memcpy(&start, at, sizeof start);
    return start;
}

bool log_marks_open(struct log_marks *marks, struct budget *budget, struct err *err)
{
    *marks = (struct log_marks){.budget = budget, .skips = budget_alloc(budget, PAIRS, err)};
    if (marks->skips)
        memset(marks->skips, (int)LOG_MARK_BYTES - 1, PAIRS);
    return marks->skips;
}

void log_marks_close(struct log_marks *marks)
{
    budget_free(marks->budget, marks->skips, marks->skips ? PAIRS : 0);
    marks->skips = NULL;
}

// Marks that end in the same two bytes, as far as those decide, are chained in the order in which
// they were added.
static void chain(struct log_marks *marks, unsigned char *skip, unsigned char mark)
{
    if (*skip < FIRST_MARK) {
        *skip = (unsigned char)(FIRST_MARK + mark);
        return;
    }
    unsigned char at = (unsigned char)(*skip - FIRST_MARK);
    while (marks->next[at] != LAST)
        at = marks->next[at];
    marks->next[at] = mark;
}

void log_marks_add(struct log_marks *marks, struct str text)
{
    assert(marks->count < LOG_MOST_MARKS && text.len >= LOG_MARK_BYTES);
    unsigned char mark = (unsigned char)marks->count++;
    marks->texts[mark] = text;
    marks->starts[mark] = start_of(text.at);
    marks->next[mark] = LAST;
    for (size_t i = 0; i + 2 < LOG_MARK_BYTES; i++) {
        unsigned char *skip = &marks->skips[pair_at(text.at + i)];
        unsigned char far = (unsigned char)(LOG_MARK_BYTES - 2 - i);
        if (*skip < FIRST_MARK && far < *skip)
            *skip = far;
    }
    chain(marks, &marks->skips[pair_at(text.at + LOG_MARK_BYTES - 2)], mark);
}

// Of a text of at least LOG_MARK_BYTES.
static int mark_at(const struct log_marks *marks, unsigned char first, struct str text)
{
    uint64_t start = start_of(text.at);
    for (unsigned char mark = first; mark != LAST; mark = marks->next[mark])
        if (marks->starts[mark] == start && str_starts_with(text, marks->texts[mark]))
            return mark;
    return -1;
}

int log_marks_find(const struct log_marks *marks, struct str text, size_t *at)
{
    const size_t back = LOG_MARK_BYTES - 2;
    for (size_t i = *at + back; i + 1 < text.len;) {
        unsigned char skip = marks->skips[pair_at(text.at + i)];
        if (skip < FIRST_MARK) {
            i += skip;
            continue;
        }
        struct str from = {text.at + i - back, text.len - (i - back)};
        int mark = mark_at(marks, (unsigned char)(skip - FIRST_MARK), from);
        if (mark >= 0) {
            *at = i - back;
            return mark;
        }
        i++;
    }
    return -1;
}

// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_has_step.h"

#include "ingest/logs/log_dialects.h"
#include "ingest/logs/log_marks.h"
#include "ingest/logs/log_text.h"
#include "ingest/source/format.h"

// Marks the dialects whose lines may be in a text; false: none. Colors may be within a mark.
static bool mark_dialects(struct str text, bool *may_be)
{
    bool any = false, colored = text.len && memchr(text.at, '\x1b', text.len);
    for (size_t i = 0; i < log_dialect_count; i++) {
        may_be[i] = !log_dialects[i].heads &&
                    (colored || str_find(text, str_of(log_dialects[i].mark)) != SIZE_MAX);
        any = any || may_be[i];
    }
    return any;
}

bool log_has_step(struct str text)
{
    struct log_hints hints = {0};
    struct log_step step;
    char room[FORMAT_HEAD_BYTES];
    bool utc, may_be[LOG_MOST_MARKS];
    if (!mark_dialects(text, may_be))
        return false;
    for (const char *end; text.len; text = log_from(text, (size_t)(end - text.at) + 1)) {
        end = memchr(text.at, '\n', text.len);
        struct str line = {text.at, end ? (size_t)(end - text.at) : text.len};
        struct log_written plain = {log_uncolored(line, room, sizeof room), end};
        for (size_t i = 0; i < log_dialect_count; i++)
            if (may_be[i] && str_find(plain.text, str_of(log_dialects[i].mark)) != SIZE_MAX &&
                (log_dialects[i].records ||
                 log_dialect_read(&log_dialects[i], &plain, &hints, &step, &utc)))
                return true;
        if (!end)
            break;
    }
    return false;
}

// SPDX-License-Identifier: Apache-2.0
#include "server/exports/event_source.h"

#include <stdio.h>

const struct event_export *const event_exports[] = {&export_perfetto,       &export_chrome,
                                                    &export_paraver,        &export_arrow_events,
                                                    &export_parquet_events, NULL};

const struct event_export *event_export_find(struct str word)
{
    for (size_t i = 0; event_exports[i]; i++)
        if (str_equal(word, str_of(event_exports[i]->word)))
            return event_exports[i];
    return NULL;
}

bool event_export_refuse(struct str word, struct err *err)
{
    char known[200] = "";
    for (size_t i = 0, len = 0; event_exports[i] && len < sizeof known; i++)
        len += (size_t)snprintf(known + len, sizeof known - len, "%s%s",
                                i == 0                 ? ""
                                : event_exports[i + 1] ? ", "
                                                       : " or ",
                                event_exports[i]->word);
    return err_set(err, ERR_USAGE, "found format '%.*s', expected %s",
                   (int)(word.len < 40 ? word.len : 40), word.at, known);
}

// SPDX-License-Identifier: Apache-2.0
// Runs a check on the report of every real trace next to the source tree.
#ifndef TESTS_UNIT_REAL_TRACES_H
#define TESTS_UNIT_REAL_TRACES_H

#include "ingest/ingest.h"
#include "tests/unit/hand_trace.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static inline int real_traces_is_one(const struct dirent *entry)
{
#ifdef __SANITIZE_THREAD__ // takes 15 times as long, and these do nothing that others do not
    static const char *const large[] = {"owlv2", "v100_test", "a100_queue", "sglang_prefill",
                                        "epoch_ns"};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        if (strstr(entry->d_name, large[i]))
            return 0;
#endif
    return strstr(entry->d_name, ".json.gz") != NULL;
}

// check looks at hand->trace and hand->report of each trace. Skips the test, loudly, if there are
// none.
static inline void real_traces_each(void (*check)(const struct hand *hand))
{
    static const char folder[] = "../shared/traces";
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, real_traces_is_one, alphasort);
    if (count < 1) {
        print_message("no real traces: %s is absent\n", folder);
        skip();
    }
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        struct hand hand = {.options = {.warmup_steps = -1}};
        arena_init(&hand.arena, &hand.budget);
        hand.report.arena = &hand.arena;
        hand.trace = ingest_file(path, &hand.budget, NULL, &hand.err);
        if (!hand.trace || !analyze_trace(hand.trace, &hand.options, &hand.report, &hand.err))
            fail_msg("%s: %s", path, hand.err.msg);
        check(&hand);
        hand_end(&hand);
        free(entries[i]);
    }
    free(entries);
}

#endif

// SPDX-License-Identifier: Apache-2.0
// Settings of the runs of a side while they are compared.
#ifndef ANALYSIS_COMPARE_SETTINGS_H
#define ANALYSIS_COMPARE_SETTINGS_H

#include "analysis/compare/compare.h"

enum setting_source { FROM_TRACE, FROM_FILE, FROM_PEOPLE }; // the later one counts

// One value of a setting in one run.
struct setting {
    struct str key, value;
    enum setting_source source;
    int64_t weight;   // ranks that have it
    struct str file;  // the one that says so; "" for another source
    struct str unit;  // "" none
    bool standard;    // its name is the same for all frameworks
    bool contradicts; // another file of the run says something else
};

struct settings {
    struct setting *at;
    size_t count;
};

// How many settings compare_take_files may add.
size_t compare_count_files(const struct compare_run *run);

// Adds what the run's files say, under standard names where there are any. Leaves out what people
// or traces say already. Of settings without a standard name, also leaves out paths, what differs
// with each execution, and those on which files disagree, as they may be two settings.
MUST_CHECK bool compare_take_files(struct settings *settings, const struct compare_run *run,
                                   struct arena *arena, struct err *err);

// Whether one of the runs has a file of that name that says something about the job.
bool compare_has_file(const struct compare_side *side, struct str file);

#endif

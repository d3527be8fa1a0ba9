// SPDX-License-Identifier: Apache-2.0
// What a file says about a run besides a timeline of events. A reader fills the kinds that its
// format has; analysis/evidence makes tables of them.
#ifndef INGEST_EVIDENCE_EVIDENCE_H
#define INGEST_EVIDENCE_EVIDENCE_H

#include "ingest/evidence/flight.h"
#include "ingest/evidence/kernel_profiles.h"
#include "ingest/evidence/link_tests.h"
#include "ingest/evidence/log_book.h"
#include "ingest/evidence/memory_snapshot.h"
#include "ingest/evidence/metric_book.h"
#include "ingest/evidence/samples.h"
#include "ingest/trace/strtab.h"

// A setting of the job: "global_batch_size" "128". Names and values as the file has them, cut at
// 1 KiB, valid UTF-8 and without secrets.
struct evidence_setting {
    struct str name, value;
};

// A figure that the job reached, as the file has it: "tokens_per_second" 53943.6 "tokens/s".
struct evidence_result {
    struct str name;  // fit to be stored
    const char *unit; // "" unknown; a static string
    double value;     // finite
};

struct evidence {
    struct budget *budget;
    struct arena arena;  // texts
    struct str source;   // what wrote it: "megatron-lm", "nvidia-smi"; "" unknown
    struct log_book log; // of a training log
    struct metric_book metrics;
    struct flight flight;
    struct memory_snapshot *memory; // NULL unless the file is one
    struct link_tests links;
    struct sample_set samples; // of a monitor
    struct kernel_profiles profiles;
    struct evidence_setting *settings;
    size_t setting_count, setting_cap;
    struct strtab names; // of settings: that of id i is settings[i - 1]
    struct evidence_result *results;
    size_t result_count, result_cap;
};

// The budget outlives the evidence.
void evidence_init(struct evidence *evidence, struct budget *budget);
void evidence_free(struct evidence *evidence);

// A copy of untrusted text that is fit to be stored, as above. ERR_LIMIT past the budget.
MUST_CHECK bool evidence_text(struct evidence *evidence, struct str raw, struct str *text,
                              struct err *err);

// Adds a setting, or replaces the one of that name. One more than 10,000 is left out, and one
// without a name.
MUST_CHECK bool evidence_set(struct evidence *evidence, struct str name, struct str value,
                             struct err *err);

// Adds a figure; the name is untrusted. One more than 10,000 is left out, and one that is no
// number. unit is a static string.
MUST_CHECK bool evidence_add_result(struct evidence *evidence, struct str name, double value,
                                    const char *unit, struct err *err);

#endif

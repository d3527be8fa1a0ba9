// SPDX-License-Identifier: Apache-2.0
// One name for what each framework calls differently: "global_batch_size" for Megatron-LM's
// global_batch_size, DeepSpeed's train_batch_size and so on, with its unit and its value in one
// form, so that runs of different frameworks can be compared.
#ifndef INGEST_EVIDENCE_STANDARD_SETTINGS_H
#define INGEST_EVIDENCE_STANDARD_SETTINGS_H

#include "ingest/base/str.h"

enum { STANDARD_VALUE_BYTES = 256, STANDARD_MOST = 128 };

struct standard_setting {
    const char *name; // "global_batch_size"; NULL: the setting is none of them
    size_t place;     // among the standard names, below STANDARD_MOST; what matters most is first
    const char *unit; // "samples"; NULL: it has none
    bool overrides;   // it counts, whatever others of its name and level say
    size_t len;
    char value[STANDARD_VALUE_BYTES]; // "128", "true", "bf16"; not NUL-terminated
};

// What a setting of a file means. source: what wrote it, "megatron-lm", or ""; name: as the file
// has it, with dots between the names of levels. Nothing if the value is missing or left to a
// default ("None", "auto", -1), refers to a variable, or is too long.
struct standard_setting standard_setting_of(struct str source, struct str name, struct str value);

// The place of a standard name; SIZE_MAX: it is none.
size_t standard_setting_place(struct str standard);

static inline struct str standard_setting_value(const struct standard_setting *setting)
{
    return (struct str){setting->value, setting->len};
}

#endif

// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's names of metrics and units, on either page, and its numbers.
#ifndef INGEST_NCU_METRICS_H
#define INGEST_NCU_METRICS_H

#include "ingest/evidence/kernel_profiles.h"

// What a metric is kept as.
struct ncu_target {
    bool known;
    bool is_stall;
    enum profile_figure figure;
    unsigned stall;
    enum profile_stall_family family;
    double factor; // to the base unit, times the operations of an instruction
    bool adds;     // to other metrics of the figure
};

// The target of a metric by its name and unit; not `known` if the metric is not kept.
struct ncu_target ncu_target_of(struct str name, struct str unit);

// "1,234.56" or "1.234,56", by the decimal mark; thousands may be separated in other ways as well.
// False if it is no number.
bool ncu_number(struct str text, char mark, double *value);

// Whether a comma is the decimal mark for sure: "1.234,5", "0,25" or "1.234.567", but not "1,234".
bool ncu_has_comma(struct str text);

#endif

// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's names of metrics and units, on either page, and its numbers.
#ifndef INGEST_NCU_METRICS_H
#define INGEST_NCU_METRICS_H

#include "ingest/evidence/kernel_profiles.h"

// What several metrics of one figure give.
enum ncu_join {
    NCU_LAST, // they are the same
    NCU_SUM,
    NCU_LARGEST, // a whole and its parts: the whole
};

// What a metric is kept as.
struct ncu_target {
    bool known;
    bool is_stall;
    enum profile_figure figure;
    unsigned stall;
    enum profile_stall_family family;
    double factor; // to the base unit, times the operations of an instruction
    enum ncu_join join;
};

// The target of a metric by its name and unit; not `known` if the metric is not kept.
struct ncu_target ncu_target_of(struct str name, struct str unit);

// The metric that counts the operations of the tensor pipe of which another one counts a part: of
// "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum" the same without "_sparsity_off", or
// without "_dst_fp32_sparsity_off". "" if there is none.
enum { NCU_SPLITS = 2, NCU_NAME_BYTES = 256 };
struct str ncu_whole_of(struct str part, unsigned split, char text[NCU_NAME_BYTES]);

// "1,234.56" or "1.234,56", by the decimal mark; thousands may be separated in other ways as well.
// False if it is no number.
bool ncu_number(struct str text, char mark, double *value);

// Whether a comma is the decimal mark for sure: "1.234,5", "0,25" or "1.234.567", but not "1,234".
bool ncu_has_comma(struct str text);

#endif

// SPDX-License-Identifier: Apache-2.0
// Why two steps differ: the parts of the difference under names that people know, and the sentence
// that explains each.
#ifndef ANALYSIS_COMPARE_REASONS_H
#define ANALYSIS_COMPARE_REASONS_H

#include "analysis/compare/compare_pair.h"
#include "analysis/compare/words.h"
#include "analysis/stats/time_text.h"

#define REASON_NONE SIZE_MAX

enum reason_kind {
    REASON_OPERATOR, // or a kernel without one
    REASON_SHAPE,
    REASON_ATTENTION,
    REASON_COLLECTIVE,
    REASON_WORK, // all of the device's, where graphs hide the kernels of one side
    REASON_CAUSE
};

// A part of the difference.
struct reason {
    enum reason_kind kind;
    size_t row, end;   // of compare_waterfall: its own row, and where those below it end
    size_t shape;      // the row of REASON_SHAPE
    size_t joined;     // the candidate's own row if it replaces the base's; else REASON_NONE
    size_t sizes;      // of compare_collectives: the row of its kind that changed most
    size_t size_count; // rows of its kind
    struct str title;
    int64_t ns[SIDES]; // per step
};

// Gains first, then losses, each by size.
struct reasons {
    struct reason *at;
    size_t count;
    int64_t gains_ns, losses_ns; // of all parts; gains are negative
};

// Gathers all parts from the pair's waterfall and collectives, which must be written already
// (reason_parts.c).
MUST_CHECK bool reasons_gather(const struct pair *pair, struct reasons *reasons, struct err *err);

// Work per time of the device events below some rows of the waterfall; NaN if unknown.
struct reason_rate {
    double tflops, tbps, efficiency;
    double peak_tflops, peak_tbps;
    double memory_share; // of its time that memory limits
};

// Rates of both sides for the rows from `row` to `end`. Of attention, the operations of its
// products are divided by its whole time (reason_rates.c).
MUST_CHECK bool reason_rates(const struct pair *pair, const struct reason *reason,
                             struct reason_rate rates[SIDES], struct err *err);

// The time of a kernel's calls with equal work on both sides.
struct kernel_pace {
    struct str kernel;
    double base_ns, cand_ns;
};

// A rank and its compute per step.
struct rank_change {
    int64_t rank;
    double ns[SIDES];
};

// The rank whose compute changed most beside that of the median rank.
struct moved_rank {
    struct rank_change own;
    double beyond_ns; // its change beyond that of the median rank
    bool alone;       // no other one changed half as much beyond that
    size_t ranks;     // 0 unless both sides have the same ranks, several ones
};

// What a sentence may be based on.
struct reason_case {
    const struct pair *pair;
    const struct table *waterfall;
    const struct reason *reason;
    const struct reason *detail; // of attention: its operator that changed most; else the reason
    struct reason_rate rates[SIDES]; // of the detail
    bool same_gpu;                   // or unknown
    struct str gpus[SIDES];          // short names; "" if unknown
    char names[SIDES][48];           // "H100" and "MI300X", or "the base" and "the candidate"
    struct kernel_pace *paces;       // of the same GPU
    size_t pace_count;
    struct moved_rank moved;
};

// What the sentences of all reasons of a pair have in common (reason_case.c).
MUST_CHECK bool reason_case_make(const struct pair *pair, struct reason_case *the_case,
                                 struct err *err);

// Says why, without a full stop, and returns the word of the rule that applied: of device work
// (reason_words.c), of collectives, idle time and work that graphs hide (reason_waits.c).
const char *reason_say_work(const struct reason_case *the_case, struct words *words);
const char *reason_say_collective(const struct reason_case *the_case, struct words *words);
const char *reason_say_cause(const struct reason_case *the_case, struct words *words);
const char *reason_say_graphs(const struct reason_case *the_case, struct words *words);

// --- helpers of the rules -----------------------------------------------------------------------

// The side that takes longer.
static inline int reason_slow_side(const struct reason *reason)
{
    return reason->ns[CAND] > reason->ns[BASE] ? CAND : BASE;
}

// Device events per step of a reason, scaled as times are.
double reason_calls(const struct reason_case *the_case, const struct reason *reason, int side);

// By which factor kernels other than this one take longer in the candidate at equal work, as a
// median. NaN if they are few.
double reason_pace(const struct reason_case *the_case, struct str kernel);

// The device event with the most time of a reason on a side.
struct str reason_main_kernel(const struct reason_case *the_case, const struct reason *reason,
                              int side);

// Whether the slow side's kernel is of an older generation than its GPU, or of alignment 1, and the
// other side's is not: says so (reason_kind.c).
bool reason_say_kind(const struct reason_case *the_case, struct words *words);

// A text of a row of the waterfall.
struct str reason_text(const struct reason_case *the_case, size_t row, unsigned column);

// Part of a sentence, of at most 63 bytes.
struct name_text {
    char text[64];
};

// A kernel's name without return type, namespaces and arguments, its middle left out if long.
struct name_text reason_kernel(struct str name);

// What a kernel is, decoded from its name: "GEMM bf16 tn 128x128x64 sm90"; else as above.
struct name_text reason_label(struct str kernel);

// Any name, its middle left out if long.
struct name_text reason_shown(struct str name);

// Shapes as "8x4096, 4096x4096": the first tensors only.
struct name_text reason_shapes(struct str dims);

// "12" or "1,234.5".
struct count_text reason_count(double count);

// "2 calls per step instead of 1,275".
void reason_say_calls(const struct reason_case *the_case, double base, double cand,
                      struct words *words);

#endif

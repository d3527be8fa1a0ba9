// SPDX-License-Identifier: Apache-2.0
// Rules that look for time a step could save.
#ifndef ANALYSIS_FINDINGS_H
#define ANALYSIS_FINDINGS_H

#include "analysis/findings/findings_text.h"
#include "analysis/facts/gaps.h"

// What a rule looks at.
struct finding_case {
    const struct facts *facts;
    const struct report *report; // the tables so far
    struct arena *arena;         // for texts and contexts of claims
    int64_t steps;               // steady steps, 1 or more
    int64_t step_ns;             // the typical one: their mean without odd ones
    int64_t mean_ns;             // the mean of all of them
    const char *per;             // "per step", or "in the recording" without step marks
    const struct finding *found; // by the rules above, for those that read it; they do not move
    size_t found_count;
    const int64_t *gap_ns;           // of each gap in facts.gaps: its time in steady steps
    const struct finding_work *work; // rows that rules share; see findings_work.h
};

// A stretch of the steady steps that a finding may explain: what a device event owns, or a gap.
struct atom {
    uint32_t device;       // index into facts.devices; FACTS_NONE for a gap
    const struct gap *gap; // NULL for a device event
    int64_t ns;            // in the steady steps, above 0
};

// How much of an atom a finding explains: 0 .. atom->ns.
typedef int64_t claim_fn(const struct finding_case *the_case, const void *context,
                         const struct atom *atom);

// What a finding's gain is.
enum finding_gain {
    FINDING_GAIN_OF_CHANGE, // of the rule's change; of the claim where it has none
    FINDING_GAIN_OF_CLAIM,  // the change would undo more than what is claimed
    FINDING_GAIN_DROPS,     // of the claim, and of the host's time for kernels it claims
    FINDING_GAIN_FREE_HOST, // of a host that takes no time, in steps without the profiler
    FINDING_GAIN_UNKNOWN,
};

// What a rule found. Texts live in the case's arena or are constant.
struct finding {
    const char *title;
    int64_t cost_ns; // per typical step, an upper bound
    const char *confidence;
    const char *severity;     // NULL: by the cost's share of the step
    const char *evidence;     // JSON array
    const char *advice;       // NULL: the rule's
    const char *steps;        // affected ones as "3-5,9", NULL: all
    const char *ranks;        // same for ranks
    const char *subject;      // what it is about, part of its id; NULL: only one per rule
    claim_fn *claim;          // the time it explains; NULL: none
    const void *context;      // of claim
    const int64_t *step_ns;   // per step: what it claims; NULL: cost_ns is a mean over all
    const bool *odd;          // per step: left out of the mean; NULL: none
    unsigned bars;            // of a run's rule: parts of the step other than the rule's; 0: the
                              // rule's
    const char *explained_by; // of a run's rule: the one that explains all of the time; NULL: none
    enum finding_gain gain;
    bool of_all; // the cost is a mean over all steady steps, odd ones too, and a share of mean_ns
};

// The cost of a finding in relation to the others.
struct finding_cost {
    int64_t step_ns;        // the typical step, or the mean one of a finding of_all
    int64_t own_ns;         // part of the cost that no costlier finding explains
    const char *overlaps;   // the rule that explains most of the rest, NULL: none
    const int64_t *gain_ns; // simulated; NULL: not known
};

struct finding_rule {
    const char *name;
    const char *why, *advice, *method, *false_alarms;
    const char *advice_jax; // instead of any other in JAX's recordings; NULL: none
    const char *change;     // ready-made one of analysis/replay that undoes it, NULL: none
    bool reads_found;       // looks at what the rules above it found; else `found` is empty
    // Sets *fires and, if it does, *finding, which is zeroed before.
    bool (*check)(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err);
};

// Simulates the steps without the time that findings claim.
struct finding_simulator {
    // *known: whether it can tell what a steady step gains.
    bool (*gain)(const void *context, const struct finding_case *the_case,
                 const struct finding *finding, bool *known, int64_t *gain_ns, struct err *err);
    const void *context;
};

// Adds the findings of a trace to its report, costliest first; scratch is freed by the caller.
MUST_CHECK bool findings_of_trace(const struct facts *facts,
                                  const struct finding_simulator *simulator, struct arena *scratch,
                                  struct report *report, struct err *err);

// Thresholds for traces and runs, all in one place. Shares are of the typical step.
#define FINDING_STARVED_SHARE   0.03    // idle time waiting for the host with one cause
#define FINDING_LONG_WAIT_NS    1000000 // more than launching takes
#define FINDING_RECORDING_NS    3300    // the profiler's time per operator, see tests/recorded
#define FINDING_LOADER_RATIO    2       // a rank's waits for data over the others'
#define FINDING_IDLE_SHARE      0.10    // idle time, from which on some finding mentions it
#define FINDING_IDLE_REST       0.05    // idle time that no other finding explains
#define FINDING_WAIT_NS         100000  // counted per wait, at most: a launch takes no longer
#define FINDING_GRAPHS_SHARE    0.10    // waits that replaying a graph would save
#define FINDING_GRAPHS_STEPS    3       // steady steps, all alike
#define FINDING_GRAPHS_LAUNCHES 50      // kernels in each
#define FINDING_GRAPHS_REPLAYED \
    0.10                                      // share already launched by graphs, from which on it
                                              // is silent
#define FINDING_EXPOSED_SHARE      0.05       // communication that nothing hides
#define FINDING_TINY_CALLS         20         // short compute kernels per step
#define FINDING_TINY_CALLS_SHARE   0.50       // share of compute kernels that are short
#define FINDING_TINY_SHARE         0.05       // short kernels and the waits for them
#define FINDING_OVERLAP_SHARE      0.50       // of communication is hidden, below which it is low
#define FINDING_OVERLAP_COMM       0.05       // communication, below which overlap does not matter
#define FINDING_IDLE_DEVICES       0.30       // devices that idle while others work
#define FINDING_DEVICE_WORK        0.10       // of the busiest device's compute; less is a helper
#define FINDING_COPY_SHARE         0.01       // blocking copies and the waits after them
#define FINDING_COPIES_SHARE       0.05       // other copies that nothing hides
#define FINDING_OTHER_COPIES       0.10       // over a rule's own: more are not its gain
#define FINDING_SYNC_CALLS         5          // synchronizing ones per step
#define FINDING_SYNCS_SHARE        0.02       // waits around them
#define FINDING_PRECISION_LOW      0.10       // of matrix products run in 16 bits or fewer
#define FINDING_PRECISION_WIDE     0.50       // of matrix products run in fp32 or tf32
#define FINDING_PRECISION_SHARE    0.01       // what the others cost
#define FINDING_PRECISION_GUESS    0.50       // saved if shapes or peaks are unknown
#define FINDING_FP8_USED           0.05       // of matrix products run in fp8
#define FINDING_FP8_UNUSED         0.20       // of matrix products run in 16 bits
#define FINDING_BUILT_SHARE        0.01       // what kernels for other devices or shapes cost
#define FINDING_OLDER_SAVED        0.40       // of the time of an older device's kernel, at most
#define FINDING_ALIGNMENT_GUESS    0.50       // saved by alignment if shapes or peaks are unknown
#define FINDING_ROOFLINE_SHARE     0.01       // what inefficient products or attention cost
#define FINDING_ROOFLINE_BELOW     0.70       // of what is attainable, below which it is low
#define FINDING_ROOFLINE_EXAMPLE   0.75       // of what another shape in the trace reaches
#define FINDING_ROOFLINE_GEMM      0.45       // of the roofline is attainable for products
#define FINDING_ROOFLINE_ATTENTION 0.30       // and for attention
#define FINDING_ROOFLINE_TIME      0.05       // of its kind's time makes a shape an example
#define FINDING_ATTENTION_SHARE    0.01       // kernels between two batched products
#define FINDING_OPTIMIZER_SHARE    0.02       // what fusing the optimizer would save
#define FINDING_OPTIMIZER_KERNELS  20         // unfused, per step
#define FINDING_OPTIMIZER_PASSES   1.75       // time of a fused one over the heaviest operator's
#define FINDING_RECOMPUTE_SHARE    0.02       // repeated forward passes
#define FINDING_SLOW_STEP_SHARE    0.08       // above the median, as a share of it: a slow step
#define FINDING_SLOW_STEP_MADS     3          // and of 1.4826 median absolute deviations
#define FINDING_ODD_STEPS          3          // steady ones; fewer cannot show which is odd
#define FINDING_CROSSED            (1u << 20) // bounds of steps, see findings_add_to_steps
#define FINDING_ODD_OF             10         // one in this many may be odd, and one of fewer
#define FINDING_SLOW_STEPS_SHARE   0.01       // what slow steps cost
#define FINDING_UNSTABLE_RATIO     1.10       // 95th percentile of steps over their median
#define FINDING_UNSTABLE_STEPS     5          // steady ones; fewer prove nothing
#define FINDING_MORE_WORK          1.30       // device events of slow steps over those of others
#define FINDING_PERIODIC_STEPS     3          // slow steps equally far apart
#define FINDING_SLOW_CALL_RATIO    1.30       // a call over the median call of its kind
#define FINDING_SLOW_CALL_CALLS    10         // fewest calls of a kind
#define FINDING_SLOW_CALLS_SHARE   0.01       // what slow calls cost
#define FINDING_LEAK_HIGH_BYTES    1e8        // per step: severity high from here
#define FINDING_LEAK_MEDIUM_BYTES  1e6        // severity medium from here
#define FINDING_MEMORY_FULL_SHARE  0.92       // of a device's memory was reserved
#define FINDING_HEADROOM_SHARE     0.50       // of a device's memory was never reserved
#define FINDING_FRAGMENT_SHARE     0.20       // of reserved memory unused at the peak
#define FINDING_FRAGMENT_BYTES     1000000000 // same in bytes
#define FINDING_STRAGGLER_PART     0.50       // of the waits that one rank causes
#define FINDING_STRAGGLER_SHARE    0.02       // exposed wait for it
#define FINDING_RUN_WAIT_SHARE     0.03       // exposed wait for all
#define FINDING_RUN_TRANSFER_SHARE 0.05       // exposed transfer
#define FINDING_SLOW_LINK_RATIO    1.50       // a group's transfer over the median group's
#define FINDING_SLOW_LINK_SHARE    0.01       // what it costs
#define FINDING_SMALL_BYTES        1000000    // of a message; smaller ones are small
#define FINDING_SMALL_CALLS        20         // small messages per step
#define FINDING_SMALL_SHARE        0.02       // what they cost
#define FINDING_BALANCE            0.95       // mean over largest compute of the ranks
#define FINDING_BALANCE_SHARE      0.03       // largest minus mean compute
#define FINDING_BUBBLE_BEYOND      0.03       // bubble minus the ideal one, of the interval
#define FINDING_BUBBLE_SHARE       0.30       // the ideal bubble of the interval
#define FINDING_RANK_KERNEL_RATIO  1.05       // time for the same work over that of fast ranks
#define FINDING_RANK_KERNELS       2          // different kernels that take longer
#define FINDING_RANK_KERNELS_TIME  0.50       // of the comparable time is in those
#define FINDING_RANK_KERNELS_SHARE 0.01       // what such kernels of one rank cost
#define FINDING_HIGH_SHARE         0.20       // severity high from here
#define FINDING_MEDIUM_SHARE       0.05       // severity medium from here

extern const struct finding_rule finding_data_loading;
extern const struct finding_rule finding_sync;
extern const struct finding_rule finding_allocator;
extern const struct finding_rule finding_launch_bound;
extern const struct finding_rule finding_no_graphs;
extern const struct finding_rule finding_tiny_kernels;
extern const struct finding_rule finding_exposed_communication;
extern const struct finding_rule finding_small_messages;
extern const struct finding_rule finding_low_overlap;
extern const struct finding_rule finding_idle_devices;
extern const struct finding_rule finding_blocking_copies;
extern const struct finding_rule finding_exposed_copies;
extern const struct finding_rule finding_frequent_syncs;
extern const struct finding_rule finding_host_collectives;
extern const struct finding_rule finding_gemm_precision;
extern const struct finding_rule finding_bf16_unused;
extern const struct finding_rule finding_fp8_unused;
extern const struct finding_rule finding_fp32_simt;
extern const struct finding_rule finding_older_architecture;
extern const struct finding_rule finding_misaligned_products;
extern const struct finding_rule finding_gemm_roofline;
extern const struct finding_rule finding_attention_roofline;
extern const struct finding_rule finding_unfused_attention;
extern const struct finding_rule finding_unfused_optimizer;
extern const struct finding_rule finding_recompute;
extern const struct finding_rule finding_periodic_steps;
extern const struct finding_rule finding_unstable_steps;
extern const struct finding_rule finding_slow_calls;
extern const struct finding_rule finding_unexplained_idle;
extern const struct finding_rule finding_memory_leak;
extern const struct finding_rule finding_memory_full;
extern const struct finding_rule finding_memory_headroom;
extern const struct finding_rule finding_memory_fragmentation;
extern const struct finding_rule finding_data_quality;

// The case of a trace; gap_ns lives in arena. *the_case is only filled if some time is covered.
MUST_CHECK bool findings_case_make(const struct facts *facts, const struct report *report,
                                   struct arena *arena, struct finding_case *the_case,
                                   struct err *err);

// Sets claim and context of a finding, and its cost in the typical step. A step is odd if its claim
// is further from the median than slow steps are (8 %, and 3 x 1.4826 MADs), and no more than one
// step in ten is: more are a pattern. Linear.
MUST_CHECK bool findings_cost(const struct finding_case *the_case, struct finding *finding,
                              claim_fn *claim, const void *context, struct err *err);

// *odd: per step whether it is; NULL if none is, or more than a few. For a figure per step.
MUST_CHECK bool findings_odd_steps(const struct facts *facts, const int64_t *step_ns,
                                   struct arena *arena, const bool **odd, struct err *err);

// Mean over the steady steps that are not odd (NULL: none is).
int64_t findings_typical(const struct facts *facts, const int64_t *step_ns, const bool *odd);

// Adds to the evidence which steps were left out, and what they cost.
MUST_CHECK bool findings_tell_odd(const struct finding_case *the_case, struct finding *finding,
                                  struct err *err);

// The position of findings_visit among the steps: for device events, and for gaps.
struct step_cursor {
    uint32_t at[2];
    uint32_t crossed; // bounds of steps crossed by atoms
};

// Adds a part of an atom to the steps it is in; only to the first of them once atoms have crossed
// FINDING_CROSSED step bounds, as happens only in crafted traces. Atoms must come in the order of
// findings_visit.
void findings_add_to_steps(const struct finding_case *the_case, struct step_cursor *cursor,
                           const struct atom *atom, int64_t ns, int64_t *step_ns);

// Visits what the steady steps consist of: device events, then gaps, in time order.
typedef void atom_fn(void *context, const struct atom *atom);
void findings_visit(const struct finding_case *the_case, atom_fn *visit, void *context);
void findings_visit_gaps(const struct finding_case *the_case, atom_fn *visit, void *context);

// Indices of findings, costliest first; equal ones keep their order. O(n * n), for few.
void findings_order(const struct finding *findings, size_t count, uint32_t *order);

// For findings, costliest first: time per step that none before explains, and the index of the
// earlier one that explains most of the rest (FACTS_NONE: none). Linear for each finding.
MUST_CHECK bool findings_share_out(const struct finding_case *the_case,
                                   const struct finding *const *findings, size_t count,
                                   int64_t *own_ns, uint32_t *overlaps, struct err *err);

// Where the column group finding starts in the table of a trace or of a run.
unsigned findings_group(const struct table_desc *desc);

// Fills that group; overlaps: a rule's name or NULL. The id's text lives in arena.
MUST_CHECK bool findings_row(struct row *row, const struct finding_rule *rule,
                             const struct finding *finding, const struct finding_cost *cost,
                             struct arena *arena, struct err *err);

// Whether a cost per step is at least that share of the step, and above 0.
bool findings_costs(const struct finding_case *the_case, int64_t cost_ns, double share);

// A wait for the host before a device event, limited to what a launch takes: 0 for other atoms.
int64_t findings_wait(const struct atom *atom);

// Whether the host ran a collective itself, such as Gloo's, during the gap.
bool findings_is_host_collective(const struct facts *facts, const struct gap *gap);

// Whether a backward was recorded, as in training.
bool findings_has_backward(const struct facts *facts);

#endif

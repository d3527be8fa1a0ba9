// SPDX-License-Identifier: Apache-2.0
// What would be different: a selection of a rank's work, and how long it takes then.
#ifndef ANALYSIS_CHANGE_H
#define ANALYSIS_CHANGE_H

#include "analysis/replay/rank_graph.h"
#include "analysis/report/report.h"
#include "ingest/base/str.h"

enum change_action {
    CHANGE_SCALE,       // takes `factor` times as long
    CHANGE_SET,         // takes `set_ns`
    CHANGE_DROP,        // is not done at all: neither the device's part nor the host's
    CHANGE_ADD,         // each takes `set_ns` more, or less
    CHANGE_ROOFLINE,    // takes what that share of the device's peaks allows for its work, where
                        // that is known, but no longer than now
    CHANGE_COUNTERPART, // takes what another run's kernels take for the same operator and shapes
    CHANGE_OVERLAP,     // other streams and threads do not wait for it
};

enum change_of {
    CHANGE_OF_KERNEL,   // device events by name
    CHANGE_OF_OPERATOR, // device events launched below operators of a name
    CHANGE_OF_CATEGORY,
    CHANGE_OF_CLASS,
    CHANGE_OF_GROUP,     // communication by name or description of its process group
    CHANGE_OF_LINK,      // communication by whether its group leaves the node
    CHANGE_OF_RECOMPUTE, // device events of repeated forwards
    CHANGE_OF_HOST,      // time of threads below operators, calls, ranges or frames of a name
    CHANGE_OF_LOADING,   // time of threads in a data loader
    CHANGE_OF_PROFILER,  // time of threads that recording took
};

// A pattern matches whole names; '*' is any text.
struct change {
    enum change_action action;
    enum change_of of;
    double factor;
    int64_t set_ns;
    struct str pattern;
};

enum { CHANGE_MOST = 32 };

struct change_list {
    struct change at[CHANGE_MOST];
    uint32_t count;
    bool balanced; // also, no rank has more to do than the median rank; needs several ranks
    int64_t balanced_ranks[CHANGE_MOST]; // only these have not
    uint32_t balanced_count;             // 0: none has
    const struct table *counterpart;     // the other run's roofline; needed by CHANGE_COUNTERPART
};

// Adds a change such as "scale=0.5:category=GEMM", or those that a ready-made name stands for
// ("host_free", "balanced=5"). The text must outlive the list. ERR_USAGE.
MUST_CHECK bool change_parse(struct str text, struct change_list *list, struct err *err);

// Adds all changes of another list. ERR_USAGE: too many.
MUST_CHECK bool change_join(struct change_list *list, const struct change_list *other,
                            struct err *err);

// Whether that rank is to be balanced.
bool change_balances(const struct change_list *list, int64_t rank);

// What can be said, for help.
extern const char change_syntax[];

// A common change; help: one plain sentence.
struct change_ready {
    const char *name, *change, *title, *help;
    bool of_ranks;  // needs several ranks
    bool on_demand; // costs too much to be answered for each trace
    bool of_pairs;  // needs another run
};

// Ended by one without a name.
extern const struct change_ready change_ready_made[];

// The one of that name; NULL: none.
const struct change_ready *change_ready_find(struct str name);

// Whether one of them takes times of another run, which has to be in list.counterpart.
bool change_needs_counterpart(const struct change_list *list);

// Whether one of them overlaps work fully; if so, its device events are marked in loose.
bool change_overlaps(const struct change_list *list);
MUST_CHECK bool change_overlapped(const struct change_list *list, const struct facts *facts,
                                  const struct rank_graph *graph, bool *loose, struct err *err);

// Fills the time that each node takes after all changes, whose order does not matter. *touched_ns
// is the recorded time of what they select, by change.
MUST_CHECK bool change_apply(const struct change_list *list, const struct facts *facts,
                             const struct rank_graph *graph, int64_t *dur, int64_t *touched_ns,
                             struct err *err);

#endif

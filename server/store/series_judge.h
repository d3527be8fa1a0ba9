// SPDX-License-Identifier: Apache-2.0
// What stands out in a series of runs: levels of step time or of another figure, single runs
// outside the usual range, and the resulting alerts. Runs are compared only with those that are
// alike: on the same GPU and number of ranks, with the figure from the same source. README.md in
// this folder has the rules.
#ifndef SERVER_SERIES_JUDGE_H
#define SERVER_SERIES_JUDGE_H

#include "analysis/stats/verdict.h"
#include "ingest/base/arena.h"

enum alert_kind { ALERT_OUTLIER, ALERT_CHANGE };
enum alert_status { ALERT_NEW, ALERT_ACKNOWLEDGED, ALERT_EXPECTED, ALERT_NOISE, ALERT_FIXED };

#define SERIES_NONE SIZE_MAX

struct series_point {
    struct str run_id, gpu; // "" unknown
    int64_t ranks;          // 0 unknown
    struct str source;      // of the figure: "trace", "log", ...
    double step_ns;         // above 0
    int64_t created_ns;
    // Set by series_judge: by how much the usual runs before it differ (NaN unknown), and how many
    // there are.
    double fence_share;
    size_t usual;
    size_t level; // index of the first point of its level, which is of runs that are alike
    bool outlier;
};

struct series_alert {
    struct str id; // "": new
    size_t at;     // index of its point
    enum alert_kind kind;
    enum alert_status status;
    bool handled;    // someone decided on it
    size_t previous; // index of the previous point on the same hardware, or SERIES_NONE
    double before_ns, after_ns;
    bool dropped; // it no longer applies and nobody has looked at it
};

// A new level of step time, or the first run on other hardware.
struct series_change {
    size_t at, previous;
    const char *reason; // "step_time", "gpu", "ranks"
    double before_ns, after_ns;
    double p_value; // NaN for other hardware
};

// How another figure than step time is judged as one. NULL: it is step time.
struct figure_scale {
    bool inverse;       // more is better: points have the inverse
    double least_share; // smaller differences do not matter
    double least;       // the same, in its unit
};

// Points oldest first, and the stored alerts.
struct series_state {
    const struct figure_scale *scale;
    struct series_point *points;
    size_t point_count;
    struct series_alert *alerts;
    size_t alert_count;
};

struct series_judgement {
    struct series_change *changes; // ascending by at
    size_t change_count;
    struct series_alert *alerts; // the state's alerts after judging, then new ones
    size_t alert_count;
    double change_share; // of the last point relative to the median of up to 8 before; NaN unknown
};

// Whether the two may be compared.
bool series_is_alike(const struct series_point *a, const struct series_point *b);

// after relative to before, as a share: 0.02 is 2 % slower.
double series_share(double before_ns, double after_ns);

// The same state gives the same result. ERR_LIMIT if memory runs out.
MUST_CHECK bool series_judge(const struct series_state *state, struct arena *arena,
                             struct series_judgement *judgement, struct err *err);

// Compares two points: changed if the level changed between them and they show at least half of it,
// or if one of them is an outlier and they differ by more than the fence; unless an alert of the
// later one, with the earlier as its previous run, was marked as noise. The fence is that of the
// later point, or of all points where too few came before it.
MUST_CHECK bool series_judge_pair(const struct series_state *state, size_t a, size_t b,
                                  struct arena *arena, struct series_evidence *evidence,
                                  struct err *err);

#endif

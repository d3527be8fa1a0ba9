// SPDX-License-Identifier: Apache-2.0
// What stands out in a series of runs: levels of step time, single runs beyond the usual, and which
// alerts follow. Runs are held against those on the same GPU and as many ranks alone. README.md of
// this folder has the rules.
#ifndef SERVER_SERIES_JUDGE_H
#define SERVER_SERIES_JUDGE_H

#include "analysis/stats/verdict.h"
#include "ingest/base/arena.h"

enum alert_kind { ALERT_OUTLIER, ALERT_CHANGE };
enum alert_status { ALERT_NEW, ALERT_ACKNOWLEDGED, ALERT_EXPECTED, ALERT_NOISE, ALERT_FIXED };

#define SERIES_NONE SIZE_MAX

struct series_point {
    struct str run_id, gpu;
    int64_t ranks;
    double step_ns; // above 0
    // Set by series_judge: what usual runs before it differ by (NaN unknown), and how many there
    // are.
    double fence_share;
    size_t usual;
    bool outlier;
};

struct series_alert {
    struct str id; // "": new
    size_t at;     // index of its point
    enum alert_kind kind;
    enum alert_status status;
    bool handled;    // someone decided on it
    size_t previous; // index of the point before on the same hardware, or SERIES_NONE
    double before_ns, after_ns;
    bool dropped; // it holds no more and nobody looked at it
};

// A new level of step time, or the first run on other hardware.
struct series_change {
    size_t at, previous;
    const char *reason; // "step_time", "gpu", "ranks"
    double before_ns, after_ns;
    double p_value; // NaN for other hardware
};

// Points oldest first, and alerts as they are stored.
struct series_state {
    struct series_point *points;
    size_t point_count;
    struct series_alert *alerts;
    size_t alert_count;
};

struct series_judgement {
    struct series_change *changes; // ascending by at
    size_t change_count;
    struct series_alert *alerts; // all of the state's as they are now, and new ones
    size_t alert_count;
    double change_share; // of the last point against the median of up to 8 before; NaN unknown
};

// after against before as a share: 0.02 is 2 % slower.
double series_share(double before_ns, double after_ns);

// The same state gives the same judgement. ERR_LIMIT when memory is short.
MUST_CHECK bool series_judge(const struct series_state *state, struct arena *arena,
                             struct series_judgement *judgement, struct err *err);

// What it says of the way from one point to another: changed where an alert of the later names the
// earlier as the run before, unless someone called it noise; else where levels of different height
// or an outlier lie between them.
MUST_CHECK bool series_judge_pair(const struct series_state *state, size_t a, size_t b,
                                  struct arena *arena, struct series_evidence *evidence,
                                  struct err *err);

#endif

// SPDX-License-Identifier: Apache-2.0
// Runs over time: baselines, series with their points and levels, and alerts. Part of the store;
// the rules in store.h apply. Rows come as tables, with the columns of tracking_tables.h.
#ifndef SERVER_STORE_TRACKING_H
#define SERVER_STORE_TRACKING_H

#include "server/store/series_judge.h"
#include "server/store/store.h"

#define STORE_MAX_SERIES ((size_t)1000) // in a list, those with the newest runs
#define STORE_MAX_POINTS ((size_t)500)  // of a series that count, the newest
#define STORE_MAX_ALERTS ((size_t)1000) // in a list, the newest

// --- baselines: runs that others are compared with; the key "@baseline:name" finds one
// ------------

// By name; if name is not "": only that one.
MUST_CHECK bool store_list_baselines(struct store *store, struct str name, struct arena *arena,
                                     struct table *table, struct err *err);

// Pins the name to the run, and unpins it from any other. ERR_USAGE for an invalid name,
// ERR_NOT_FOUND if the run is gone, ERR_CONFLICT if there are too many.
MUST_CHECK bool store_set_baseline(struct store *store, struct str name, struct str run_id,
                                   struct err *err);

// ERR_NOT_FOUND.
MUST_CHECK bool store_drop_baseline(struct store *store, struct str name, struct err *err);

// --- series -------------------------------------------------------------------------------------

struct series_query {
    struct str project;         // equal; "" all
    struct str search;          // substring of project or series; "" all
    const struct run_tag *tags; // one of its runs has them; an empty value: any value
    size_t tag_count;
};

// Newest first.
MUST_CHECK bool store_list_series(struct store *store, const struct series_query *query,
                                  struct arena *arena, struct table *table, struct err *err);

// A series is identified by its project and its name.
struct series_key {
    struct str project, series;
};

// Fills key->project if it is "". ERR_NOT_FOUND; ERR_CONFLICT if several projects have it.
MUST_CHECK bool store_find_series(struct store *store, struct series_key *key, struct arena *arena,
                                  struct err *err);

// Runs with a step time, oldest first. metric: the figure in their column value; "" none.
MUST_CHECK bool store_list_points(struct store *store, const struct series_key *key,
                                  struct str metric, struct arena *arena, struct table *table,
                                  struct err *err);

// Which figures, and which numbers that people gave, the runs of a series have; with key->series ""
// the newest runs of all series, of one project unless key->project is "".
MUST_CHECK bool store_list_known_figures(struct store *store, const struct series_key *key,
                                         struct arena *arena, struct table *table, struct err *err);

// Where new levels start among these, oldest first.
MUST_CHECK bool store_list_level_changes(struct store *store, const struct series_key *key,
                                         struct arena *arena, struct table *table, struct err *err);

// --- alerts -------------------------------------------------------------------------------------

struct alert_query {
    struct str project, series, status, metric; // equal; "" all
};

// Slower runs first.
MUST_CHECK bool store_list_alerts(struct store *store, const struct alert_query *query,
                                  struct arena *arena, struct table *table, struct err *err);

// A table with only that alert. ERR_NOT_FOUND.
MUST_CHECK bool store_find_alert(struct store *store, struct str id, struct arena *arena,
                                 struct table *table, struct err *err);

// A person's decision on an alert; NULL: unchanged. ERR_NOT_FOUND; ERR_USAGE for an unknown status
// or an invalid comment.
struct alert_patch {
    const struct str *status, *comment;
};
MUST_CHECK bool store_patch_alert(struct store *store, struct str id,
                                  const struct alert_patch *patch, struct err *err);

// Judges all series whose points changed since, and raises, changes and closes their alerts. Cheap
// if there is none. The result depends only on what is stored, so it may be interrupted or run
// twice at any time.
MUST_CHECK bool store_judge_series(struct store *store, struct err *err);

// Which runs of a series are of one level.
struct level_query {
    struct series_key key;
    struct str metric;         // whose levels; "", or one that is not judged: step time
    const struct str *without; // ids of runs that are left out, as if the series had none of them
    size_t without_count;
};

// Judges the series as of now: its points, oldest first, with their levels.
MUST_CHECK bool store_judge_levels(struct store *store, const struct level_query *query,
                                   struct arena *arena, struct series_state *judged,
                                   struct err *err);

// Compares two of the series' runs, as of now: known is false if one is not a point of it.
MUST_CHECK bool store_judge_pair(struct store *store, const struct series_key *key,
                                 const struct str run_ids[2], struct arena *arena,
                                 struct series_evidence *evidence, struct err *err);

#endif

// SPDX-License-Identifier: Apache-2.0
// Handlers of this room. A handler fills the response and returns true, or fails with an error that
// becomes problem+json.
#ifndef SERVER_API_H
#define SERVER_API_H

#include "server/api/api_parts.h"

// Health, version, description, metrics (api_misc.c, api_metrics.c).
bool api_get_health(struct request *request, struct response *response, struct err *err);
bool api_get_ready(struct request *request, struct response *response, struct err *err);
bool api_get_storage(struct request *request, struct response *response, struct err *err);
bool api_get_version(struct request *request, struct response *response, struct err *err);
bool api_get_metrics(struct request *request, struct response *response, struct err *err);
bool api_get_openapi(struct request *request, struct response *response, struct err *err);

// Runs (api_runs.c, api_changes.c, api_summary.c).
bool api_list_runs(struct request *request, struct response *response, struct err *err);
bool api_get_run(struct request *request, struct response *response, struct err *err);
bool api_create_run(struct request *request, struct response *response, struct err *err);
bool api_patch_run(struct request *request, struct response *response, struct err *err);
bool api_delete_run(struct request *request, struct response *response, struct err *err);
bool api_reanalyze_run(struct request *request, struct response *response, struct err *err);
bool api_cancel_run(struct request *request, struct response *response, struct err *err);
bool api_finalize_run(struct request *request, struct response *response, struct err *err);
bool api_get_summary(struct request *request, struct response *response, struct err *err);

// The bin of deleted runs, and retention (api_bin.c).
bool api_list_bin(struct request *request, struct response *response, struct err *err);
bool api_restore_run(struct request *request, struct response *response, struct err *err);
bool api_purge_run(struct request *request, struct response *response, struct err *err);
bool api_empty_bin(struct request *request, struct response *response, struct err *err);
bool api_get_retention(struct request *request, struct response *response, struct err *err);

// Dismissed findings (api_dismissals.c).
bool api_list_dismissals(struct request *request, struct response *response, struct err *err);
bool api_put_dismissal(struct request *request, struct response *response, struct err *err);
bool api_delete_dismissal(struct request *request, struct response *response, struct err *err);

// Comments on runs, and saved pages (api_said.c).
bool api_list_promises(struct request *request, struct response *response, struct err *err);
bool api_post_promise(struct request *request, struct response *response, struct err *err);
bool api_delete_promise(struct request *request, struct response *response, struct err *err);
bool api_list_comments(struct request *request, struct response *response, struct err *err);
bool api_post_comment(struct request *request, struct response *response, struct err *err);
bool api_delete_comment(struct request *request, struct response *response, struct err *err);
bool api_list_views(struct request *request, struct response *response, struct err *err);
bool api_get_view(struct request *request, struct response *response, struct err *err);
bool api_post_view(struct request *request, struct response *response, struct err *err);
bool api_delete_view(struct request *request, struct response *response, struct err *err);

// Baselines (api_baselines.c).
bool api_list_baselines(struct request *request, struct response *response, struct err *err);
bool api_get_baseline(struct request *request, struct response *response, struct err *err);
bool api_put_baseline(struct request *request, struct response *response, struct err *err);
bool api_delete_baseline(struct request *request, struct response *response, struct err *err);

// Runs over time (api_series.c, api_alerts.c).
bool api_list_series(struct request *request, struct response *response, struct err *err);
bool api_list_known_figures(struct request *request, struct response *response, struct err *err);
bool api_get_points(struct request *request, struct response *response, struct err *err);
bool api_get_level_changes(struct request *request, struct response *response, struct err *err);
bool api_list_alerts(struct request *request, struct response *response, struct err *err);
bool api_patch_alert(struct request *request, struct response *response, struct err *err);

// The table in the route's row (api_tables.c).
bool api_get_table(struct request *request, struct response *response, struct err *err);

// A window of a rank's trace (api_timeline.c).
bool api_get_timeline(struct request *request, struct response *response, struct err *err);
// All ranks, or groups of them (api_timeline_ranks.c).
bool api_get_timeline_ranks(struct request *request, struct response *response, struct err *err);

// What if: the effect of changes (api_whatif.c).
bool api_get_whatif(struct request *request, struct response *response, struct err *err);
bool api_get_whatif_graph(struct request *request, struct response *response, struct err *err);
bool api_post_whatif(struct request *request, struct response *response, struct err *err);

// All calls of a kernel or operator (api_calls.c).
bool api_get_calls(struct request *request, struct response *response, struct err *err);

// The next or previous event whose name has a text (api_find.c).
bool api_find_event(struct request *request, struct response *response, struct err *err);

// One event: its arguments, and what it is linked with (api_event.c).
bool api_get_event(struct request *request, struct response *response, struct err *err);

// Events of ranks in the formats of other tools (api_events.c).
bool api_get_events(struct request *request, struct response *response, struct err *err);
bool api_get_event_sizes(struct request *request, struct response *response, struct err *err);

// How large its tables become in a format (api_table_sizes.c).
bool api_get_table_sizes(struct request *request, struct response *response, struct err *err);

// All tables of a run as a spreadsheet, and figures of the newest runs for monitoring
// (api_workbook.c, api_run_metrics.c).
bool api_get_workbook(struct request *request, struct response *response, struct err *err);
bool api_get_run_metrics(struct request *request, struct response *response, struct err *err);

// Memory plans (api_plan.c).
bool api_get_plan(struct request *request, struct response *response, struct err *err);
bool api_get_plan_setups(struct request *request, struct response *response, struct err *err);

// The caller's identity, tokens, and the audit log (api_session.c, api_tokens.c, api_audit.c).
bool api_get_session(struct request *request, struct response *response, struct err *err);
bool api_post_session(struct request *request, struct response *response, struct err *err);
bool api_delete_session(struct request *request, struct response *response, struct err *err);
bool api_list_tokens(struct request *request, struct response *response, struct err *err);
bool api_create_token(struct request *request, struct response *response, struct err *err);
bool api_revoke_token(struct request *request, struct response *response, struct err *err);
bool api_list_audit(struct request *request, struct response *response, struct err *err);

// Uploads, and traces as uploaded (api_uploads.c).
bool api_get_upload(struct request *request, struct response *response, struct err *err);
bool api_get_trace(struct request *request, struct response *response, struct err *err);

// Archives and their members (api_inputs.c).
bool api_list_inputs(struct request *request, struct response *response, struct err *err);
bool api_get_input_file(struct request *request, struct response *response, struct err *err);

#endif

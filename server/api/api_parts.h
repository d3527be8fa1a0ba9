// SPDX-License-Identifier: Apache-2.0
// What handlers share (api.c, api_json.c): the run that a key names, runs and uploads as JSON.
#ifndef SERVER_API_PARTS_H
#define SERVER_API_PARTS_H

#include "server/base/services.h"
#include "server/care/intake.h"
#include "server/http/response.h"
#include "server/store/store_promises.h"

#include <jansson.h>

// Finds the run that a key names (id, name, project/name, series~latest): the one that the request
// is about, as the audit log has it, or another that is read beside it.
MUST_CHECK bool api_find_run(struct request *request, struct response *response, struct str key,
                             struct run *run, struct err *err);
MUST_CHECK bool api_find_other_run(const struct request *request, struct response *response,
                                   struct str key, struct run *run, struct err *err);
// Whether the request is for a page of a run that is not there, or has no trace to show on it.
bool api_page_lacks_run(const struct request *request);
// Says which it was in Content-Location; `rest` is what follows "/api/v1/runs/{id}".
void api_locate_run(struct request *request, struct response *response, const struct run *run,
                    const char *rest);

// Sets the ETag of an answer made from the run's present data and this query: `what` names it,
// `form` stands for whatever else its bytes depend on. True if the client has it already, as
// response_data_unchanged.
bool api_run_unchanged(const struct request *request, struct response *response,
                       const struct run *run, const char *what, uint64_t form);

// The rows of a run's table that a query selects; they live as long as the request.
MUST_CHECK bool api_read_run_table(const struct request *request, const struct run *run,
                                   const struct table_desc *desc, const struct table_query *query,
                                   struct table_page *page, struct err *err);

// The headline rank, -1 while no trace is done (api_tables.c).
MUST_CHECK bool api_headline_rank(const struct request *request, const struct run *run,
                                  int64_t *rank, struct err *err);

// The trace whose tables are a rank's details, "" while there is none; rank -1 becomes the headline
// rank (api_tables.c).
MUST_CHECK bool api_find_details(const struct request *request, const struct run *run,
                                 int64_t *rank, struct str *trace_id, struct err *err);

// Whether a table of traces is one of a rank's details: the run has none of that name, and it can
// be asked for.
bool api_is_detail(const struct table_desc *desc);

// The sealed trace of a rank, and whether only lanes of devices are asked for (api_timeline.c).
MUST_CHECK struct trace_file *api_open_trace(struct request *request, struct response *response,
                                             const struct trace_row *trace, struct err *err);
MUST_CHECK bool api_read_lanes(const struct request *request, bool *device_only, struct err *err);

// Who sent a body: its "author" where everyone is let in, otherwise whoever signed in (api_said.c).
MUST_CHECK bool api_find_author(struct request *request, json_t *object, struct str *author,
                                struct err *err);

// What the changes of a body, as of POST whatif, would bring together (api_whatif.c). ERR_CONFLICT:
// the run cannot be replayed.
MUST_CHECK bool api_ask_promise(struct request *request, struct response *response, json_t *object,
                                struct promise *promise, struct err *err);

// Says what to do about a trace file that is missing, damaged or of another version.
void api_explain_trace(struct response *response, int64_t rank, struct err *err);

// Adds "Stepscope-Storage", which says whether stored data is intact, to responses that every page
// requests, so that pages can report damage without another request.
void api_tell_storage(struct request *request, struct response *response);

// Waits for a turn to make a large answer. Fails with 503 and the word that such an answer gets
// where there is no room to send it. Pair with reply_room_end when true.
MUST_CHECK bool api_take_turn(const struct request *request, struct response *response,
                              struct err *err);

// ERR_USAGE: no such figure.
bool api_refuse_metric(struct str metric, struct err *err);

// Ends a JSON answer: line end, type, and an ETag of prefix and content (prefix NULL: no ETag). If
// the client already has that, the answer is 304.
MUST_CHECK bool api_finish_json(struct request *request, struct response *response,
                                const char *prefix, struct err *err);

// A run as every endpoint shows it, without the closing brace so that members can follow.
MUST_CHECK bool api_run_json(const struct request *request, const struct run *run, struct buf *out,
                             struct err *err);

// Answers with a run's current state (api_changes.c), or with one in the bin (api_bin.c).
MUST_CHECK bool api_reply_run(struct request *request, struct response *response, struct str id,
                              struct err *err);
MUST_CHECK bool api_reply_deleted(struct request *request, struct response *response, struct str id,
                                  struct err *err);

// A table's rows, or none for NULL, as a JSON array.
void api_rows_json(const struct table *table, struct buf *out);

// A text, null if empty; a count, null if negative.
void api_text_json(struct str text, struct buf *out);
void api_count_json(int64_t count, struct buf *out);

// A trace's progress, 0..1.
double api_trace_progress(const struct request *request, const struct trace_row *trace);

// One trace as runs and uploads show it.
void api_trace_json(const struct request *request, const struct trace_row *trace, struct buf *out);

// An upload, with the state of its traces. Refused parts follow the others.
struct api_refused_part {
    struct str filename;
    char reason[240];
};
struct api_upload {
    const struct upload *upload;
    const struct run *run;
    const struct api_refused_part *refused;
    size_t refused_count;
};
MUST_CHECK bool api_upload_json(const struct request *request, const struct api_upload *what,
                                struct buf *out, struct err *err);

// Sends a stored file as an attachment. 403 if it may hold secrets and the sender is no admin.
struct api_file {
    struct str sha256, name;
    int64_t secrets; // that it holds; -1 unknown
};
MUST_CHECK bool api_send_file(struct request *request, struct response *response,
                              const struct api_file *file, struct err *err);

// An archive or a member of one (api_inputs.c).
struct input_row;
void api_input_json(const struct request *request, const struct input_row *input, struct buf *out);

// "key=value" of a tag or of metadata (what), from a query or form field. ERR_USAGE.
MUST_CHECK bool api_parse_pair(const char *what, struct str text, struct run_tag *pair,
                               struct err *err);

// All tag=key=value and tag=key (any value) of a query. ERR_USAGE.
MUST_CHECK bool api_read_tags(const struct request *request, struct run_tag **tags, size_t *count,
                              struct err *err);

// Judges series that have changed before they are shown (api_series.c).
bool api_judge_series(const struct request *request);

#endif

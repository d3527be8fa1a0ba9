// SPDX-License-Identifier: Apache-2.0
// Parts that answers share: tables with units in their columns' names, trust, links, and what
// cannot be answered.
#ifndef SERVER_MCP_ROWS_H
#define SERVER_MCP_ROWS_H

#include "server/mcp/mcp_ask.h"

// A value of a column as an agent reads it: nanoseconds as milliseconds, fractions with four
// digits, texts as names. The unit is the column's.
json_t *mcp_value(json_t *value, const char *unit);

// A column's name in answers: "total_ns" is "total_ms".
json_t *mcp_column_name(const char *name);

// The same for a member of an object of the API, whose unit is the end of its name: "_ns".
json_t *mcp_member(json_t *object, const char *name);

// Sets that member under its name in the answer: "step_median_ns" becomes "step_median_ms".
void mcp_set_member(json_t *answer, json_t *object, const char *name);

// {"columns":[...],"rows":[[...]],"total":N,"next_cursor":"..."} of a table as the API sends it.
json_t *mcp_rows(json_t *reply);

// Rows of a table of a run.
struct mcp_wanted {
    const char *name;               // of the member of the answer
    mcp_handler *handle;            // NULL: that of tables of a run
    const struct table_desc *table; // of the run
    const char *fields, *sort;      // NULL: all, as they are
    const char *filter, *value;     // of one column; NULL: none
    unsigned most;                  // rows, 0: as the call's limit
};

// Sets the rows in the answer; *count is how many match.
MUST_CHECK bool mcp_set_rows(struct mcp_call *call, json_t *answer, const struct mcp_wanted *wanted,
                             const char *run, size_t *count, struct err *err);

// Sets "trust": what the recording lacks or had to be repaired, grouped, the worst first.
MUST_CHECK bool mcp_set_trust(struct mcp_call *call, json_t *answer, const char *run, size_t most,
                              struct err *err);

// Sets "links", to a page below the service's address. Nothing where there are no pages.
void mcp_set_link(struct mcp_call *call, json_t *answer, const char *fmt, ...) PRINTF_LIKE(3, 4);

// Sets "cannot_answer": what, and why.
void mcp_set_cannot(json_t *answer, const char *what, const char *because);

// The run's identifier, from its key. NULL if it failed.
MUST_CHECK const char *mcp_run_id(struct mcp_call *call, const char *key, struct err *err);

#endif

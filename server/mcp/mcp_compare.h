// SPDX-License-Identifier: Apache-2.0
// What tools that compare runs share: their arguments, and the link to the comparison's page.
#ifndef SERVER_MCP_COMPARE_H
#define SERVER_MCP_COMPARE_H

#include "server/mcp/mcp_ask.h"

extern const char *const mcp_compare_names[]; // base, cand, per, rank, NULL

const char *mcp_compare_per(size_t i);
const char *mcp_compare_rank(size_t i);

// Arguments of a tool.
#define MCP_COMPARE_SIDES                                                         \
    {.name = "base", .help = "Run or repeats to compare with", .required = true}, \
    {                                                                             \
        .name = "cand", .help = "Run or repeats to judge", .required = true       \
    }
#define MCP_COMPARE_CHOICES                                                            \
    {.name = "per",                                                                    \
     .help = "Per step, or per token where runs have other batch sizes",               \
     .word = mcp_compare_per},                                                         \
    {                                                                                  \
        .name = "rank", .help = "Rank that represents a run", .word = mcp_compare_rank \
    }

// Links to the page with the runs of both sides by their identifiers.
void mcp_compare_link(struct mcp_call *call, json_t *answer, json_t *base, json_t *cand);

#endif

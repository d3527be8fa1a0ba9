// SPDX-License-Identifier: Apache-2.0
// The graph of a job in few bytes, so that a page can replay it as often as a control moves.
#ifndef ANALYSIS_REPLAY_PACK_H
#define ANALYSIS_REPLAY_PACK_H

#include "analysis/replay/whatif_job.h"
#include "ingest/base/buf.h"

enum {
    REPLAY_PACK_VERSION = 2,
    REPLAY_PACK_CONTROLS = 16,   // at most
    REPLAY_PACK_NODES = 3000000, // at most
};

// What is packed: the steps of one rank after changes, and what each control scales.
struct replay_pack {
    const struct whatif_job *job;
    uint32_t rank;
    const struct whatif_answer *base; // without any change; not refused
    const struct change_list *list;
    const struct change_list *controls; // each removes what its control scales
    uint32_t control_count;
};

// Adds the bytes that web/views/whatif/graph.mjs reads; schema/openapi.json has their form.
// ERR_LIMIT for a graph that is too large for a page.
MUST_CHECK bool replay_pack_write(const struct replay_pack *pack, struct arena *arena,
                                  struct buf *out, struct err *err);

#endif

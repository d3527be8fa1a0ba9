// SPDX-License-Identifier: Apache-2.0
// Roles of a reinforcement learning job, as names of ranges say them.
#ifndef ANALYSIS_ROLE_NAME_H
#define ANALYSIS_ROLE_NAME_H

#include "ingest/base/str.h"

// "generation" of "generate_sequences" or "rollout", NAME of "role=NAME"; NULL text if the name
// says none. Lives as long as the name.
struct str role_name_of(struct str range);

#endif

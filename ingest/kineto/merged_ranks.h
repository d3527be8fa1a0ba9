// SPDX-License-Identifier: Apache-2.0
// Traces of several ranks in one file, as SGLang's profile_merger.py writes them: each process got
// its rank's label, "[TP00] 4321", "[TP01-DP00-PP01] 0".
#ifndef INGEST_KINETO_MERGED_RANKS_H
#define INGEST_KINETO_MERGED_RANKS_H

#include "ingest/base/hash.h"
#include "ingest/base/str.h"

// "[TP00]" of "[TP00] 4321".
static inline bool merged_rank_label(struct str pid, struct str *label)
{
    const char *end = pid.len && *pid.at == '[' ? memchr(pid.at, ']', pid.len) : NULL;
    size_t len = end ? (size_t)(end - pid.at) + 1 : 0;
    *label = (struct str){pid.at, len};
    return len > 2 && len < pid.len && pid.at[len] == ' ';
}

// Never 0.
static inline uint32_t merged_rank_hash(struct str label)
{
    uint32_t hash = (uint32_t)hash_bytes(label.at, label.len);
    return hash ? hash : 1;
}

#endif

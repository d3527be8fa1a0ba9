// SPDX-License-Identifier: Apache-2.0
// Reads lists that S3 sends: of objects and of uploads in parts.
#ifndef SERVER_FILES_S3_LIST_H
#define SERVER_FILES_S3_LIST_H

#include "ingest/base/str.h"

#include <stdint.h>

struct s3_entry {
    struct str key;
    struct str upload_id; // of an upload in parts
    struct str time;      // "2026-01-02T03:04:05.000Z": changed, or begun
    uint64_t bytes;
};

// The next entry of a list, whose tag is "Contents" or "Upload"; *rest is what follows it. False at
// the end. Texts are as they were sent, with their entities.
bool s3_list_next(struct str *rest, struct str tag, struct s3_entry *entry);

// The text between <tag> and </tag>, "" if there is none.
struct str s3_list_text(struct str xml, struct str tag);

// Whether a time is before another one of the form "2026-01-02T03:04:05".
bool s3_list_is_before(struct str time, const char *limit);

#endif

// SPDX-License-Identifier: Apache-2.0
// Lists of S3: of objects and of uploads in parts.
#ifndef SERVER_FILES_S3_LIST_H
#define SERVER_FILES_S3_LIST_H

#include "server/files/s3_client.h"

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

// Is given each page of a list; false with an error ends the visits.
struct s3_page_visitor {
    bool (*visit)(void *ctx, struct str xml, struct err *err);
    void *ctx;
};

// Asks for the objects in a folder below the place's prefix: "blobs%2F", as in a query.
MUST_CHECK bool s3_list_pages(struct s3_client *client, const char *folder,
                              const struct s3_page_visitor *visitor, struct err *err);

// Writes the prefix of such a folder to a query: others in the bucket may have more than a page.
void s3_list_put_prefix(const struct s3_client *client, const char *folder, struct buf *query);

#endif

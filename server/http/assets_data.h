// SPDX-License-Identifier: Apache-2.0
// The dashboard's files as packed by web/bundle.sh; web/embed.sh generates the definitions.
#pragma once

#include <stddef.h>

struct asset {
    const char *path;          // below web/, with '/': "index.html", "css/all.css"
    const char *type;          // value for Content-Type, with charset where it is text
    const unsigned char *data; // size bytes
    size_t size;
    const unsigned char *gz; // the same bytes as one gzip member
    size_t gz_size;
    const char *etag; // quotes included; changes exactly when the bytes do
};

// Sorted by path in strcmp order for binary search.
extern const struct asset assets_table[];
extern const size_t assets_count;

// Twelve hex digits over all paths and contents. Static files are served under /static/{tree}/,
// and `{{tree}}` in index.html stands for it, so that a file's address changes with its content.
extern const char assets_tree_hash[];

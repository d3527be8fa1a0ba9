// SPDX-License-Identifier: Apache-2.0
// A streaming reader of multipart/form-data: the caller pulls part after part and block after
// block; memory is one buffer of fixed size.
#ifndef SERVER_MULTIPART_H
#define SERVER_MULTIPART_H

#include "ingest/base/err.h"
#include "ingest/base/fuzzed.h"
#include "ingest/base/str.h"

#define MULTIPART_BUFFER_BYTES  ((size_t)FUZZED_SIZE(256, 16) * 1024)
#define MULTIPART_MAX_PARTS     128
#define MULTIPART_HEADER_BYTES  ((size_t)8 * 1024) // of one part
#define MULTIPART_MARGIN_BYTES  ((size_t)4 * 1024) // before the first and after the last delimiter
#define MULTIPART_BOUNDARY_MAX  70
#define MULTIPART_NAME_BYTES    256
#define MULTIPART_FILENAME_SIZE 1024

struct multipart;

// The source of the body; *got 0 is its true end.
struct multipart_source {
    bool (*read)(void *ctx, void *bytes, size_t cap, size_t *got, struct err *err);
    void *ctx;
};

struct multipart_part {
    char name[MULTIPART_NAME_BYTES];
    char filename[MULTIPART_FILENAME_SIZE]; // display only; cut if longer; any bytes but NUL
    bool is_file;                           // a filename was present, though it may be ""
};

// The boundary of a Content-Type value: 1 to 70 characters. ERR_USAGE if it is not
// multipart/form-data with one.
MUST_CHECK bool multipart_boundary(struct str content_type,
                                   char boundary[MULTIPART_BOUNDARY_MAX + 1], struct err *err);

// NULL with ERR_LIMIT if memory runs out.
MUST_CHECK struct multipart *multipart_open(const char *boundary, struct multipart_source source,
                                            struct err *err);
void multipart_close(struct multipart *multipart); // NULL is allowed

// Advances to the next part, skipping the rest of the current one. *found false: the last delimiter
// was seen and the source ended after it. Any other end is ERR_FORMAT.
MUST_CHECK bool multipart_next(struct multipart *multipart, struct multipart_part *part,
                               bool *found, struct err *err);

// The next bytes of the current part, valid until the next call; empty at its end.
MUST_CHECK bool multipart_read(struct multipart *multipart, struct str *bytes, struct err *err);

#endif

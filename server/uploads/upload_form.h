// SPDX-License-Identifier: Apache-2.0
// The contents of an upload: its files, each sealed in a spool, and the other fields.
#ifndef SERVER_UPLOAD_FORM_H
#define SERVER_UPLOAD_FORM_H

#include "server/api/api_parts.h"

#define UPLOAD_MAX_FILES ((size_t)64)
#define UPLOAD_MAX_TAGS  ((size_t)32)

struct upload_form {
    struct run_request run; // tags and meta point into this form
    struct run_tag tags[UPLOAD_MAX_TAGS];
    struct run_tag meta[STORE_MAX_META];
    bool replace;
    struct str coding;               // Content-Encoding that the file must match; "" none
    bool is_repeat;                  // its key was used: its bytes are compared, not stored
    int64_t warmup_steps;            // what run.warmup_steps points to, when given
    int64_t ranks[UPLOAD_MAX_FILES]; // of rank fields, in order
    size_t rank_count;
    struct str role; // of all traces; "" unknown
    struct intake_part parts[UPLOAD_MAX_FILES];
    size_t part_count;
    struct api_refused_part refused[UPLOAD_MAX_FILES]; // files that cannot be traces
    size_t refused_count;
};

// A form without files, in the request's arena. Always close it with upload_form_close.
MUST_CHECK struct upload_form *upload_form_new(struct request *request, struct err *err);
void upload_form_close(struct upload_form *form); // NULL is allowed

// Reads a multipart body to its end. Fields may come before or after the files. Files that cannot
// be traces are set aside; if there are no others the first one's reason is the error.
MUST_CHECK bool upload_form_read(struct request *request, struct response *response,
                                 struct upload_form *form, struct err *err);

// Reads the whole body as the one file.
MUST_CHECK bool upload_form_read_raw(struct request *request, struct upload_form *form,
                                     struct str filename, struct err *err);

// Sets a field, like a part of that name in a multipart body; text must stay valid. ERR_USAGE.
MUST_CHECK bool upload_form_set(struct upload_form *form, struct str name, struct str text,
                                struct err *err);

// Takes over a sealed spool as the one file, and gives it the rank that a field named. archive: as
// sniff_upload says.
MUST_CHECK bool upload_form_take(struct upload_form *form, struct spool *spool, struct str filename,
                                 struct str archive, struct err *err);

// Takes "key=value". ERR_USAGE for everything else.
MUST_CHECK bool upload_form_add_meta(struct upload_form *form, struct str text, struct err *err);

// Takes "true" or "false". ERR_USAGE for everything else.
MUST_CHECK bool upload_form_set_replace(struct upload_form *form, struct str text, struct err *err);

// Replacing a trace changes a run's results: 403 without that scope.
MUST_CHECK bool upload_form_check_scope(const struct request *request, struct response *response,
                                        const struct upload_form *form, struct err *err);

// Adds advice for ERR_DENIED, which adding to another owner's run returns.
void upload_form_explain_denial(struct response *response);

// A file name for display: at most 255 bytes of UTF-8, control characters as \xNN.
MUST_CHECK bool upload_display_name(struct str name, struct arena *arena, struct str *display,
                                    struct err *err);

#endif

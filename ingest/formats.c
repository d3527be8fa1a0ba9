// SPDX-License-Identifier: Apache-2.0
// The table of input formats, and what to say about files that are none of them.
#include "ingest/format_kineto.h"

// One line per format, in the order in which they are tried.
static const struct format *const formats[] = {
    &format_kineto,
};

// Files that people upload by mistake, by their first bytes.
struct stranger {
    const char *magic;
    size_t len;
    const char *advice;
};

#define STRANGER(magic, advice)          \
    {                                    \
        magic, sizeof(magic) - 1, advice \
    }

static const struct stranger strangers[] = {
    STRANGER("\x89PNG", "this is a PNG picture"),
    STRANGER("\xFF\xD8\xFF", "this is a JPEG picture"),
    STRANGER("%PDF", "this is a PDF document"),
    STRANGER("PK\x03\x04", "this is a zip archive; unpack it and upload the traces in it"),
    STRANGER("\xFD"
             "7zXZ",
             "this is xz-compressed; compress the trace with zstd or gzip"),
    STRANGER("BZh", "this is bzip2-compressed; compress the trace with zstd or gzip"),
    STRANGER("SQLite format 3",
             "this is a SQLite database; Nsight Systems exports are not read yet"),
    STRANGER("version https://git-lfs",
             "this is a Git LFS pointer; fetch the real file with git lfs pull"),
    STRANGER("\xFF\xFE", "this is UTF-16 text; save the trace as UTF-8"),
    STRANGER("\xFE\xFF", "this is UTF-16 text; save the trace as UTF-8"),
    STRANGER("{\0", "this is UTF-16 text; save the trace as UTF-8"),
    STRANGER("[\0", "this is UTF-16 text; save the trace as UTF-8"),
    STRANGER("\0{", "this is UTF-16 text; save the trace as UTF-8"),
    STRANGER("\0[", "this is UTF-16 text; save the trace as UTF-8"),
    STRANGER("<", "this is HTML or XML, perhaps an error page saved in place of the trace"),
};

const struct format *format_probe(struct str head, struct err *err)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i]->probe(head))
            return formats[i];
    if (head.len == 0) {
        err_set_at(err, ERR_FORMAT, 0, "the file is empty; expected a PyTorch trace in JSON");
        return NULL;
    }
    const char *advice = "it begins with no known format";
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++)
        if (str_starts_with(head, (struct str){strangers[i].magic, strangers[i].len}))
            advice = strangers[i].advice;
    err_set_at(err, ERR_UNSUPPORTED, 0,
               "%s (first bytes %02x %02x %02x %02x); expected a PyTorch trace: .json, .json.gz or "
               ".json.zst",
               advice, (unsigned char)head.at[0], (unsigned char)(head.len > 1 ? head.at[1] : 0),
               (unsigned char)(head.len > 2 ? head.at[2] : 0),
               (unsigned char)(head.len > 3 ? head.at[3] : 0));
    return NULL;
}

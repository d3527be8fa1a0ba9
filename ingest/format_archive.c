// SPDX-License-Identifier: Apache-2.0
// The format descriptors of archives.
#include "ingest/format.h"

#include <archive.h>

enum { TAR_BLOCK = 512, TAR_SUM_AT = 148, TAR_SUM_BYTES = 8, TAR_MAGIC_AT = 257 };

// Octal digits among blanks.
static unsigned long octal(const char *at, size_t len)
{
    unsigned long value = 0;
    for (size_t i = 0; i < len; i++)
        if (at[i] >= '0' && at[i] <= '7')
            value = value * 8 + (unsigned long)(at[i] - '0');
    return value;
}

// The sum over a header, in which the field of the sum itself counts as blanks.
static bool has_sum(struct str head)
{
    unsigned long sum = 0;
    for (size_t i = 0; i < TAR_BLOCK; i++) {
        bool own = i >= TAR_SUM_AT && i < TAR_SUM_AT + TAR_SUM_BYTES;
        sum += own ? ' ' : (unsigned char)head.at[i];
    }
    return sum == octal(head.at + TAR_SUM_AT, TAR_SUM_BYTES);
}

// Archives of before 1988 have no magic.
static enum format_likeness probe_tar(struct str head, struct str filename)
{
    (void)filename;
    if (head.len < TAR_BLOCK)
        return FORMAT_UNLIKE;
    return memcmp(head.at + TAR_MAGIC_AT, "ustar", 5) == 0 || has_sum(head) ? FORMAT_SURE
                                                                            : FORMAT_UNLIKE;
}

// The second is one without members, the third one of several parts.
static enum format_likeness probe_zip(struct str head, struct str filename)
{
    (void)filename;
    return str_starts_with(head, STR("PK\x03\x04")) || str_starts_with(head, STR("PK\x05\x06")) ||
                   str_starts_with(head, STR("PK\x07\x08"))
               ? FORMAT_SURE
               : FORMAT_UNLIKE;
}

const struct format format_tar = {
    .name = "tar",
    .what = "a tar archive",
    .advice = "unpack it and upload the traces in it",
    .kind = FORMAT_ARCHIVE,
    .ending = ".tar",
    .probe = probe_tar,
    .unpack = archive_read_support_format_tar,
};

const struct format format_zip = {
    .name = "zip",
    .what = "a zip archive",
    .advice = "unpack it and upload the traces in it",
    .kind = FORMAT_ARCHIVE,
    .access = FORMAT_SEEK, // its list of members is at the end
    .ending = ".zip",
    .probe = probe_zip,
    .unpack = archive_read_support_format_zip_seekable,
};

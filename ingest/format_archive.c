// SPDX-License-Identifier: Apache-2.0
// Archive formats.
#include "ingest/source/format.h"

#include <archive.h>

enum { TAR_BLOCK = 512, TAR_SUM_AT = 148, TAR_SUM_BYTES = 8 };

// Octal digits after blanks and before a blank or NUL; -1: something else.
static long octal(const char *at, size_t len)
{
    long value = 0;
    size_t i = 0;
    while (i < len && at[i] == ' ')
        i++;
    if (i == len || at[i] < '0' || at[i] > '7')
        return -1;
    for (; i < len && at[i] >= '0' && at[i] <= '7'; i++)
        value = value * 8 + (at[i] - '0');
    return i == len || at[i] == ' ' || at[i] == '\0' ? value : -1;
}

// The checksum of a header, with its own field counted as blanks. Some programs summed signed
// bytes.
static bool has_sum(struct str head)
{
    long sum = 0, signed_sum = 0, said = octal(head.at + TAR_SUM_AT, TAR_SUM_BYTES);
    for (size_t i = 0; i < TAR_BLOCK; i++) {
        bool own = i >= TAR_SUM_AT && i < TAR_SUM_AT + TAR_SUM_BYTES;
        sum += own ? ' ' : (unsigned char)head.at[i];
        signed_sum += own ? ' ' : (signed char)head.at[i];
    }
    return said >= 0 && (said == sum || said == signed_sum);
}

// Archives from before 1988 have no magic number, so the checksum decides.
static enum format_likeness probe_tar(const struct format_sample *sample)
{
    return sample->head.len >= TAR_BLOCK && has_sum(sample->head) ? FORMAT_SURE : FORMAT_UNLIKE;
}

// The second is an empty archive, the third a multi-part one.
static enum format_likeness probe_zip(const struct format_sample *sample)
{
    return str_starts_with(sample->head, STR("PK\x03\x04")) ||
                   str_starts_with(sample->head, STR("PK\x05\x06")) ||
                   str_starts_with(sample->head, STR("PK\x07\x08"))
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

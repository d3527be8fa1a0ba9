// SPDX-License-Identifier: Apache-2.0
// First bytes of the files that people send.
#include "server/uploads/sniff.h"

// What takes part in a conversation about it; NULL: it may be a trace.
struct signature {
    struct str bytes;
    const char *what;
};

#define BYTES(text)               \
    {                             \
        "" text, sizeof(text) - 1 \
    }

static const struct signature signatures[] = {
    {BYTES("\x28\xB5\x2F\xFD"), NULL}, // zstd
    {BYTES("\x1F\x8B"), NULL},         // gzip
    {BYTES("\x89PNG"), "a PNG image"},
    {BYTES("\xFF\xD8\xFF"), "a JPEG image"},
    {BYTES("GIF8"), "a GIF image"},
    {BYTES("%PDF"), "a PDF document"},
    {BYTES("PK\x03\x04"), "a zip archive"},
    {BYTES("BZh"), "a bzip2 file"},
    {BYTES("\xFD\x37zXZ"), "an xz file"},
    {BYTES("\x7F\x45LF"), "a program"},
    {BYTES("SQLite format 3"), "an SQLite database"},
    {BYTES("<"), "HTML or XML"},
    {BYTES("\xFF\xFE"), "UTF-16 text"},
    {BYTES("\xFE\xFF"), "UTF-16 text"},
};

static bool refuse(const char *what, struct err *err)
{
    return err_set(err, ERR_FORMAT, "found %s, expected a trace as .json, .json.gz or .json.zst",
                   what);
}

// A frame that decoders skip: 0x184D2A50 to 0x184D2A5F, little-endian.
static bool is_skippable_frame(struct str head)
{
    return head.len >= 4 && ((unsigned char)head.at[0] & 0xF0) == 0x50 &&
           memcmp(head.at + 1, "\x2A\x4D\x18", 3) == 0;
}

bool sniff_trace(struct str head, struct err *err)
{
    if (head.len == 0)
        return refuse("an empty file", err);
    for (size_t i = 0; i < sizeof(signatures) / sizeof(*signatures); i++)
        if (str_starts_with(head, signatures[i].bytes))
            return !signatures[i].what || refuse(signatures[i].what, err);
    if (is_skippable_frame(head))
        return true;
    size_t i = str_starts_with(head, STR("\xEF\xBB\xBF")) ? 3 : 0;
    while (i < head.len && memchr(" \t\r\n", head.at[i], 4))
        i++;
    if (i == head.len)
        return head.len == SNIFF_BYTES || refuse("nothing but blanks", err);
    if (head.at[i] == '{' || head.at[i] == '[')
        return true;
    return refuse("content that is neither JSON nor a known compression", err);
}

// SPDX-License-Identifier: Apache-2.0
// Compressed or JSON; the rest is named.
#include "server/uploads/sniff.h"
#include "ingest/stranger.h"

static bool refuse(const char *what, struct err *err)
{
    return stranger_refuse(&(struct stranger){what, NULL}, err);
}

// A frame that decoders skip: 0x184D2A50 to 0x184D2A5F, little-endian.
static bool is_skippable_frame(struct str head)
{
    return head.len >= 4 && ((unsigned char)head.at[0] & 0xF0) == 0x50 &&
           memcmp(head.at + 1, "\x2A\x4D\x18", 3) == 0;
}

static bool is_zstd(struct str head)
{
    return str_starts_with(head, STR("\x28\xB5\x2F\xFD")) || is_skippable_frame(head);
}

static bool is_gzip(struct str head)
{
    return str_starts_with(head, STR("\x1F\x8B"));
}

bool sniff_is_coded(struct str head, struct str coding)
{
    return str_equal_nocase(coding, STR("zstd")) ? is_zstd(head) : is_gzip(head);
}

bool sniff_trace(struct str head, struct err *err)
{
    if (head.len == 0)
        return refuse("an empty file", err);
    const struct stranger *stranger = stranger_by_bytes(head);
    if (stranger)
        return stranger_refuse(stranger, err);
    if (is_zstd(head) || is_gzip(head))
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

// SPDX-License-Identifier: Apache-2.0
#include "server/exports/tar_write.h"

#include <stdio.h>
#include <string.h>

enum {
    AT_MODE = 100,
    AT_OWNER = 108,
    AT_GROUP = 116,
    AT_SIZE = 124,
    AT_TIME = 136,
    AT_SUM = 148,
    AT_TYPE = 156,
    AT_MAGIC = 257
};
enum { SIZE_DIGITS = 11 };

// Octal digits, or for large ones 8 bytes in base 256.
static void put_size(char *at, uint64_t size)
{
    if (size < (uint64_t)1 << 3 * SIZE_DIGITS) {
        snprintf(at, SIZE_DIGITS + 1, "%011llo", (unsigned long long)size);
        return;
    }
    at[0] = (char)0x80;
    for (int i = 0; i < 8; i++)
        at[SIZE_DIGITS - i] = (char)(size >> 8 * i);
}

void tar_head(struct buf *out, const char *name, uint64_t size)
{
    char head[TAR_BLOCK] = "";
    unsigned sum = 0;
    snprintf(head, 100, "%s", name);
    snprintf(head + AT_MODE, 8, "%07o", 0644);
    snprintf(head + AT_OWNER, 8, "%07o", 0);
    snprintf(head + AT_GROUP, 8, "%07o", 0);
    put_size(head + AT_SIZE, size);
    snprintf(head + AT_TIME, 12, "%011o", 0);
    head[AT_TYPE] = '0';
    memcpy(head + AT_MAGIC, "ustar\00000", 8);
    memset(head + AT_SUM, ' ', 8);
    for (size_t i = 0; i < TAR_BLOCK; i++)
        sum += (unsigned char)head[i];
    snprintf(head + AT_SUM, 8, "%06o", sum);
    buf_add(out, head, sizeof head);
}

void tar_pad(struct buf *out, uint64_t size)
{
    static const char zeros[TAR_BLOCK] = "";
    buf_add(out, zeros, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

void tar_end(struct buf *out)
{
    const char zeros[2 * TAR_BLOCK] = "";
    buf_add(out, zeros, sizeof zeros);
}

uint64_t tar_size(const char head[TAR_BLOCK])
{
    const char *at = head + AT_SIZE;
    uint64_t size = 0;
    bool large = at[0] & 0x80;
    for (int i = large ? 4 : 0; i < SIZE_DIGITS + large; i++)
        size = large ? size << 8 | (unsigned char)at[i] : size << 3 | (uint64_t)(at[i] - '0');
    return size;
}

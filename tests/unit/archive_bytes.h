// SPDX-License-Identifier: Apache-2.0
// Archives for tests, written byte by byte; include after cmocka.h.
#ifndef TESTS_UNIT_ARCHIVE_BYTES_H
#define TESTS_UNIT_ARCHIVE_BYTES_H

#include "tests/unit/compress.h"

#include <stdio.h>

// --- tar ----------------------------------------------------------------------------------------

#define TAR_BLOCK ((size_t)512)

// A header: type '0' is a file, '1' and '2' are links, '5' a folder, 'L' a long name, 'x' of pax.
static inline void put_tar_header(struct buf *out, const char *name, char type, uint64_t size)
{
    char header[TAR_BLOCK] = {0}, sum[8];
    unsigned total = 0;
    snprintf(header, 100, "%s", name);
    memcpy(header + 100, "0000644", 8);
    snprintf(header + 124, 12, "%011llo", (unsigned long long)size);
    memcpy(header + 136, "00000000000", 12);
    memset(header + 148, ' ', 8);
    header[156] = type;
    if (type == '1' || type == '2')
        memcpy(header + 157, "target", 7);
    memcpy(header + 257,
           "ustar\0"
           "00",
           8);
    for (size_t i = 0; i < TAR_BLOCK; i++)
        total += (unsigned char)header[i];
    snprintf(sum, sizeof sum, "%06o", total);
    memcpy(header + 148, sum, 7); // followed by a blank
    buf_add(out, header, sizeof header);
}

static inline void put_zeros(struct buf *out, size_t count)
{
    static const char zeros[4096];
    for (size_t part; count; count -= part) {
        part = count < sizeof zeros ? count : sizeof zeros;
        buf_add(out, zeros, part);
    }
}

static inline void put_tar(struct buf *out, const char *name, char type, struct str text)
{
    put_tar_header(out, name, type, text.len);
    buf_add_str(out, text);
    put_zeros(out, (TAR_BLOCK - text.len % TAR_BLOCK) % TAR_BLOCK);
}

static inline void put_tar_file(struct buf *out, const char *name, const char *text)
{
    put_tar(out, name, '0', str_of(text));
}

static inline void put_tar_end(struct buf *out)
{
    put_zeros(out, 2 * TAR_BLOCK);
}

// --- zip ----------------------------------------------------------------------------------------

struct zip_member {
    const char *name;
    struct str text;
    bool deflated, encrypted;
    uint32_t size_off,
        crc_off; // added to the written size and checksum to make them wrong
};

static inline void put_le(struct buf *out, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        buf_putc(out, (char)(value >> (8 * i) & 0xFF));
}

static inline void put_deflated(struct buf *out, struct str text)
{
    z_stream z = {0};
    unsigned char block[4096];
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (const unsigned char *)text.at;
    z.avail_in = (uInt)text.len;
    for (int code = Z_OK; code != Z_STREAM_END;) {
        z.next_out = block;
        z.avail_out = sizeof block;
        code = deflate(&z, Z_FINISH);
        buf_add(out, block, sizeof block - z.avail_out);
    }
    deflateEnd(&z);
}

// The fields common to both headers of a member, from the flags to the length of its name.
static inline void put_zip_facts(struct buf *out, const struct zip_member *member, size_t packed)
{
    uLong crc = crc32(0, (const unsigned char *)member->text.at, (uInt)member->text.len);
    put_le(out, member->encrypted, 2);
    put_le(out, member->deflated ? 8 : 0, 2);
    put_le(out, 0, 4); // time
    put_le(out, (uint32_t)crc + member->crc_off, 4);
    put_le(out, packed, 4);
    put_le(out, member->text.len + member->size_off, 4);
    put_le(out, strlen(member->name), 2);
}

static inline void put_zip(struct buf *out, const struct zip_member *members, size_t count)
{
    struct buf central = {0};
    size_t first = out->len;
    for (size_t i = 0; i < count; i++) {
        struct buf packed = {0};
        size_t at = out->len - first;
        if (members[i].deflated)
            put_deflated(&packed, members[i].text);
        else
            buf_add_str(&packed, members[i].text);
        buf_add(out, "PK\x03\x04\x14\0", 6);
        put_zip_facts(out, &members[i], packed.len);
        put_le(out, 0, 2);
        buf_puts(out, members[i].name);
        buf_add(out, packed.at, packed.len);
        buf_add(&central, "PK\x01\x02\x14\x03\x14\0", 8);
        put_zip_facts(&central, &members[i], packed.len);
        put_le(&central, 0, 8);
        put_le(&central, (uint64_t)0100644 << 16, 4);
        put_le(&central, at, 4);
        buf_puts(&central, members[i].name);
        buf_free(&packed);
    }
    size_t at = out->len - first;
    buf_add(out, central.at, central.len);
    buf_add(out, "PK\x05\x06\0\0\0\0", 8);
    put_le(out, count, 2);
    put_le(out, count, 2);
    put_le(out, central.len, 4);
    put_le(out, at, 4);
    put_le(out, 0, 2);
    buf_free(&central);
}

#endif

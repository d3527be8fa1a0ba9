// SPDX-License-Identifier: Apache-2.0
// Lists of network addresses.
#include "server/access/peers.h"

#include <arpa/inet.h>

static bool read_address(struct str text, unsigned char address[16], unsigned *width)
{
    static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
    char copy[INET6_ADDRSTRLEN];
    if (text.len == 0 || text.len >= sizeof(copy))
        return false;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    *width = 128;
    if (inet_pton(AF_INET6, copy, address) == 1)
        return true;
    *width = 32;
    memcpy(address, mapped, sizeof(mapped));
    return inet_pton(AF_INET, copy, address + sizeof(mapped)) == 1;
}

static bool read_range(struct str text, struct peer_range *range)
{
    unsigned width = 0;
    size_t slash = str_find(text, STR("/"));
    struct str address = {text.at, slash == SIZE_MAX ? text.len : slash};
    if (!read_address(address, range->address, &width))
        return false;
    int64_t bits = width;
    if (slash != SIZE_MAX &&
        (!str_to_i64((struct str){text.at + slash + 1, text.len - slash - 1}, &bits) || bits < 0 ||
         bits > width))
        return false;
    range->bits = 128 - width + (unsigned)bits;
    return true;
}

bool peers_parse(struct str text, struct peers *peers, struct err *err)
{
    *peers = (struct peers){.count = 0};
    for (bool more = text.len > 0; more;) {
        size_t comma = str_find(text, STR(","));
        struct str one = {text.at, comma == SIZE_MAX ? text.len : comma};
        if (peers->count == PEERS_MAX)
            return err_set(err, ERR_USAGE, "found more than %d addresses", PEERS_MAX);
        if (!read_range(one, &peers->ranges[peers->count++]))
            return err_set(err, ERR_USAGE,
                           "found '%.*s', expected addresses such as 127.0.0.1 or 10.0.0.0/8, "
                           "joined by commas",
                           (int)(one.len < 60 ? one.len : 60), one.at);
        more = comma != SIZE_MAX;
        size_t used = one.len + more;
        text = (struct str){text.at + used, text.len - used};
    }
    return true;
}

static bool same_bits(const unsigned char *a, const unsigned char *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(a, b, whole) != 0)
        return false;
    return rest == 0 || (a[whole] ^ b[whole]) >> (8 - rest) == 0;
}

bool peers_hold(const struct peers *peers, struct str address)
{
    unsigned char bytes[16];
    unsigned width;
    if (peers->count == 0 || !read_address(address, bytes, &width))
        return false;
    for (size_t i = 0; i < peers->count; i++)
        if (same_bits(peers->ranges[i].address, bytes, peers->ranges[i].bits))
            return true;
    return false;
}

bool peers_is_address(struct str text)
{
    unsigned char bytes[16];
    unsigned width;
    return read_address(text, bytes, &width);
}

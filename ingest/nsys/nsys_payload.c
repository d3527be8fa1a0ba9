// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsys/nsys_payload.h"

// --- schemas ------------------------------------------------------------------------------------

static const char *const field_names[NCCL_FIELDS] = {
    [NCCL_COMMUNICATOR] = "NCCL communicator ID",
    [NCCL_PARENT] = "Parent NCCL communicator ID",
    [NCCL_BYTES] = "Message size [bytes]",
    [NCCL_RANKS] = "No. of ranks",
    [NCCL_RANK] = "Rank",
    [NCCL_PEER] = "Peer rank",
    [NCCL_ROOT] = "Root",
};

// NVTX's number types; others, such as enumerations, are not used.
static unsigned size_of(int64_t type)
{
    switch (type) {
    case 5:  // int
    case 6:  // unsigned int
    case 15: // int32
    case 16: return 4;
    case 7: // long
    case 8:
    case 9:
    case 10:
    case 17: // int64
    case 18:
    case 22: return 8; // size_t
    default: return 0;
    }
}

static enum nccl_field field_of(struct str name)
{
    int field = 0;
    while (field < NCCL_FIELDS && !str_equal_nocase(name, str_of(field_names[field])))
        field++;
    return (enum nccl_field)field;
}

static bool take_place(void *context, const struct rows *rows, struct err *err)
{
    enum { DOMAIN, SCHEMA, TYPE, NAME, OFFSET };
    struct nccl_schemas *schemas = context;
    struct nccl_place place = {.offset = rows_i64_or(rows, OFFSET, 0),
                               .size = size_of(rows_i64_or(rows, TYPE, 0))};
    struct str name;
    (void)err;
    if (!rows_i64(rows, DOMAIN, &place.domain) || !rows_i64(rows, SCHEMA, &place.schema) ||
        !rows_text(rows, NAME, &name) || !place.size || place.offset < 0)
        return true;
    place.field = field_of(name);
    for (uint32_t i = 0; i < schemas->count; i++) // all rows are repeated for each process
        if (schemas->at[i].domain == place.domain && schemas->at[i].schema == place.schema &&
            schemas->at[i].field == place.field)
            return true;
    if (place.field < NCCL_FIELDS && schemas->count < NCCL_MAX_PLACES)
        schemas->at[schemas->count++] = place;
    return true;
}

bool nccl_schemas_read(struct database *database, struct nccl_schemas *schemas, struct err *err)
{
    schemas->count = 0;
    schemas->exported = database_has(database, "NVTX_PAYLOAD_SCHEMA_ENTRIES") &&
                        database_has_column(database, "NVTX_EVENTS", "binaryData");
    return rows_each(database, "NVTX_PAYLOAD_SCHEMA_ENTRIES", "domainId schemaId type name offset",
                     take_place, schemas, err);
}

// --- payloads -----------------------------------------------------------------------------------

// Before the payload: u32 domain, 0, schema, 0; u64 size of the payload, size with this head.
enum { HEAD = 32, SCHEMA_AT = 8, SIZE_AT = 16, MAX_PAYLOAD = 256 };

static uint64_t little_endian(const unsigned char *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

// Copies as much as a payload needs; some versions write it as hexadecimal text.
static size_t take_bytes(struct str from, unsigned char to[MAX_PAYLOAD])
{
    size_t len = 0;
    bool hex = from.len >= (size_t)2 * HEAD;
    for (size_t i = 0; hex && i < HEAD; i++)
        hex = digit_of(from.at[i]) >= 0;
    if (!hex) {
        len = from.len < MAX_PAYLOAD ? from.len : MAX_PAYLOAD;
        memcpy(to, from.at, len);
        return len;
    }
    for (; len < MAX_PAYLOAD && 2 * len + 1 < from.len; len++) {
        int high = digit_of(from.at[2 * len]), low = digit_of(from.at[2 * len + 1]);
        if (high < 0 || low < 0)
            break;
        to[len] = (unsigned char)(high << 4 | low);
    }
    return len;
}

static void take_field(const struct nccl_place *place, const unsigned char *at, size_t len,
                       struct nccl_payload *payload)
{
    if (place->offset > MAX_PAYLOAD || (size_t)place->offset + place->size > len)
        return;
    uint64_t raw = little_endian(at + place->offset, place->size);
    payload->values[place->field] = place->size == 4 ? (int32_t)raw : (int64_t)raw;
}

bool nccl_payload_read(const struct nccl_schemas *schemas, int64_t domain, struct str bytes,
                       struct nccl_payload *payload)
{
    unsigned char head[MAX_PAYLOAD];
    size_t len = take_bytes(bytes, head);
    bool known = false;
    for (int i = 0; i < NCCL_FIELDS; i++)
        payload->values[i] = VALUE_ABSENT;
    if (len <= HEAD)
        return false;
    int64_t schema = (int64_t)little_endian(head + SCHEMA_AT, 4);
    uint64_t size = little_endian(head + SIZE_AT, 8);
    size_t there = size < len - HEAD ? (size_t)size : len - HEAD;
    for (uint32_t i = 0; i < schemas->count; i++)
        if (schemas->at[i].domain == domain && schemas->at[i].schema == schema) {
            take_field(&schemas->at[i], head + HEAD, there, payload);
            known = true;
        }
    return known;
}

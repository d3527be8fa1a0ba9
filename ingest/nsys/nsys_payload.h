// SPDX-License-Identifier: Apache-2.0
// What NCCL adds to its NVTX ranges: message size, communicator, peer.
#ifndef INGEST_NSYS_NSYS_PAYLOAD_H
#define INGEST_NSYS_NSYS_PAYLOAD_H

#include "ingest/nsys/nsys.h"

enum nccl_field {
    NCCL_COMMUNICATOR,
    NCCL_PARENT, // the communicator that was split
    NCCL_BYTES,  // of one rank
    NCCL_RANKS,
    NCCL_RANK,
    NCCL_PEER,
    NCCL_ROOT,
    NCCL_FIELDS
};

// Where a field is in the payloads of a schema. Schemas are numbered by domain, differently in each
// file.
struct nccl_place {
    int64_t domain, schema, offset;
    enum nccl_field field;
    unsigned size; // of the number: 4 or 8 bytes
};

enum { NCCL_MAX_PLACES = 1024 };

struct nccl_schemas {
    uint32_t count;
    bool exported; // the file says what payloads look like
    struct nccl_place at[NCCL_MAX_PLACES];
};

// VALUE_ABSENT for what a payload does not give.
struct nccl_payload {
    int64_t values[NCCL_FIELDS];
};

MUST_CHECK bool nccl_schemas_read(struct database *database, struct nccl_schemas *schemas,
                                  struct err *err);
// bytes: those in binaryData, as they are or in hexadecimal. False if they are not NCCL's.
bool nccl_payload_read(const struct nccl_schemas *schemas, int64_t domain, struct str bytes,
                       struct nccl_payload *payload);

#endif

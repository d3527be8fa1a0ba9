// SPDX-License-Identifier: Apache-2.0
// Finds the collectives of NCCL kernels: a kernel's launch is a call within a range of NCCL,
// whose payload has the size of the message.
#ifndef INGEST_NSYS_NSYS_NCCL_H
#define INGEST_NSYS_NSYS_NCCL_H

#include "ingest/nsys/nsys_payload.h"

struct nccl;

MUST_CHECK struct nccl *nccl_new(struct nsys *nsys, struct err *err);
void nccl_free(struct nccl *nccl); // NULL is allowed

// Keeps a kernel until nccl_finish adds it.
MUST_CHECK bool nccl_kernel(struct nccl *nccl, const struct event_record *kernel, struct err *err);
// Notes a call that may have launched kernels. After all kernels.
void nccl_call(struct nccl *nccl, int64_t thread, int64_t start_ns, int64_t correlation);

// An NCCL range; payload: as in binaryData, empty if it has none.
struct nccl_label {
    int64_t thread, start_ns, end_ns, domain;
    struct str name, payload;
};
MUST_CHECK bool nccl_range(struct nccl *nccl, const struct nccl_label *label, struct err *err);

// Adds the kernels to the trace. After all calls and ranges.
MUST_CHECK bool nccl_finish(struct nccl *nccl, struct err *err);

// Rank and size of the largest communicator that was made; VALUE_ABSENT if none was seen, or one is
// used that was made before. After nccl_finish.
void nccl_world(const struct nccl *nccl, int64_t *rank, int64_t *size);

#endif

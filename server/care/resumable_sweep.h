// SPDX-License-Identifier: Apache-2.0
// Gives up uploads in pieces that nobody went on with.
#ifndef SERVER_RESUMABLE_SWEEP_H
#define SERVER_RESUMABLE_SWEEP_H

#include "server/care/intake.h"

// Drops what has expired, and its files. Cheap when there is nothing.
MUST_CHECK bool resumable_sweep(const struct intake *intake, struct err *err);

// Removes files that belong to no upload: at start, before anything else has them.
MUST_CHECK bool resumable_sweep_files(const struct intake *intake, struct err *err);

#endif

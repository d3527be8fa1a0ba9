// SPDX-License-Identifier: Apache-2.0
// Drops resumable uploads that were abandoned.
#ifndef SERVER_RESUMABLE_SWEEP_H
#define SERVER_RESUMABLE_SWEEP_H

#include "server/care/intake.h"

// Drops expired ones and their files. Cheap if there are none.
MUST_CHECK bool resumable_sweep(const struct intake *intake, struct err *err);

// Removes files that belong to no upload: at startup, before anything else uses them.
MUST_CHECK bool resumable_sweep_files(const struct intake *intake, struct err *err);

#endif

// SPDX-License-Identifier: Apache-2.0
// Drops resumable uploads that were abandoned.
#ifndef SERVER_RESUMABLE_SWEEP_H
#define SERVER_RESUMABLE_SWEEP_H

#include "server/care/intake.h"

// Drops expired ones and their files. Cheap if there are none.
MUST_CHECK bool resumable_sweep(const struct intake *intake, struct err *err);

// Removes files on this service's disk that belong to no upload, also what it received of those
// that ended at another one.
MUST_CHECK bool resumable_sweep_own(const struct intake *intake, struct err *err);

// The same, and those where services share files: at startup, before anything else uses them.
MUST_CHECK bool resumable_sweep_files(const struct intake *intake, struct err *err);

#endif

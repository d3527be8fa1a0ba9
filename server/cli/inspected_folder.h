// SPDX-License-Identifier: Apache-2.0
// What the files of a folder are, and what they say together.
#ifndef SERVER_INSPECTED_FOLDER_H
#define SERVER_INSPECTED_FOLDER_H

#include "server/cli/inspected.h"

// Inspects a file, or the files in a folder and those within, by name, as an archive of it; links
// and special files are named but not followed. Flight Recorder dumps of several ranks are
// diagnosed together: then *file has a verdict and tables. Otherwise as inspected_file.
MUST_CHECK bool inspected_path(const char *path, uint64_t memory_bytes, struct arena *arena,
                               struct inspected *file, struct err *err);

#endif

// SPDX-License-Identifier: Apache-2.0
// Which host names are those of data loaders. A closed vocabulary of whole words: an iterator alone
// (`__next__`) does not count, because generators enclose whole forwards in one.
#ifndef ANALYSIS_LOADER_NAMES_H
#define ANALYSIS_LOADER_NAMES_H

#include "ingest/base/str.h"

#include <stdbool.h>

// An operator, an annotation or a Python frame "path/file.py(12): function". Linear in the first
// 512 bytes.
bool loader_names_have(struct str name);

#endif

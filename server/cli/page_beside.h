// SPDX-License-Identifier: Apache-2.0
// The page that analyzes in the browser, where packages put it.
#ifndef SERVER_PAGE_BESIDE_H
#define SERVER_PAGE_BESIDE_H

#include "ingest/base/arena.h"

// Its folder: standalone/ beside the program, or of the share/ next to the program's bin/; NULL:
// there is none.
const char *page_beside_program(struct arena *arena);

#endif

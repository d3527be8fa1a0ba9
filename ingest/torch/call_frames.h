// SPDX-License-Identifier: Apache-2.0
// Calls of Python around an operation or allocation, as PyTorch records them: the few that a reader
// wants to see.
#ifndef INGEST_TORCH_CALL_FRAMES_H
#define INGEST_TORCH_CALL_FRAMES_H

#include "ingest/base/str.h"

struct call_frame {
    struct str name, filename;
    int64_t line;
};

// Whether it is a call of compiled code, which PyTorch records between those of Python by
// default.
bool call_frame_is_native(struct str filename);

// Whether it is a call within Python, PyTorch or another installed package, or of compiled code.
bool call_frame_is_of_library(struct str filename);

// Whether the file is in such folders: "torch/optim/", whichever system wrote the path.
bool call_frame_is_in(struct str filename, const char *mark);

// The name of the file without its folders, whichever system wrote it.
struct str call_frame_file(struct str filename);

#endif

// SPDX-License-Identifier: Apache-2.0
// Mangled names ("_ZN2at6native...") in the spelling of demangled ones, as far as names of kernels
// need it: the function and its template arguments, not its parameters.
#ifndef ANALYSIS_KERNEL_MANGLED_H
#define ANALYSIS_KERNEL_MANGLED_H

#include "ingest/base/str.h"

// Whether name is a mangled one.
bool kernel_is_mangled(struct str name);

// Writes the demangled name into text, at most room bytes, and returns its length. Anonymous
// namespaces are left out. *cut: the name ended early or has a form that is not read here; what
// precedes that place is in the text.
size_t kernel_demangle(struct str name, char *text, size_t room, bool *cut);

#endif

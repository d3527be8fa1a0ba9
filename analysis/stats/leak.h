// SPDX-License-Identifier: Apache-2.0
// From when on growth of memory is a leak, whatever recorded it.
#ifndef ANALYSIS_LEAK_H
#define ANALYSIS_LEAK_H

#define LEAK_BYTES 1000000 // growth up to this over all steps is none

#endif

// SPDX-License-Identifier: Apache-2.0
// What counts as a short kernel.
#ifndef ANALYSIS_SHORT_KERNELS_H
#define ANALYSIS_SHORT_KERNELS_H

#define SHORT_KERNEL_NS 10000 // shorter ones take about as long to launch as to run

#endif

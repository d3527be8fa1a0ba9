// SPDX-License-Identifier: Apache-2.0
// The stored form of a report, shared by report_save.c and report_load.c; little-endian.
//
//   magic, tables: u32
//   per table: name, length of the rest: u64, columns: u32, rows: u64
//     per column: type: u8, name, length of the rest: u64, whether no row is null: u8
//       if some are: a bit per row, set if it is not null
//       if any is not null: form: u8, [first value: u64,] least: u64, values
//         for texts, the values are lengths; the texts follow
//
// A name is its length in 4 bytes, then its bytes. A reader takes the columns it knows by name and
// skips others.
#ifndef ANALYSIS_REPORT_FORM_H
#define ANALYSIS_REPORT_FORM_H

#include "analysis/report/report.h"

#define REPORT_MAGIC     "SSREP\0\0\2"
#define REPORT_MAGIC_LEN 8

// The form of values: bytes of each, and whether they are differences.
#define REPORT_WIDTH 0x0f
#define REPORT_DELTA 0x10

// Values of a column without its nulls, as they are in memory.
struct column_values {
    uint64_t *at;
    size_t count;
};

#endif

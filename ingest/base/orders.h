// SPDX-License-Identifier: Apache-2.0
// Ascending orders of plain values, for qsort and bsearch.
#ifndef INGEST_BASE_ORDERS_H
#define INGEST_BASE_ORDERS_H

int order_doubles(const void *a, const void *b);
int order_i64(const void *a, const void *b);
int order_texts(const void *a, const void *b); // const char *, by bytes

#endif

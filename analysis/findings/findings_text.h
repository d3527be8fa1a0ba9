// SPDX-License-Identifier: Apache-2.0
// Texts of findings: facts with links to filtered views, lists of steps and ranks.
#ifndef ANALYSIS_FINDINGS_TEXT_H
#define ANALYSIS_FINDINGS_TEXT_H

#include "analysis/report/row.h"
#include "analysis/stats/time_text.h"

struct finding_case;

// Facts of a finding, one after another: [{"fact": ..., "href": ...}].
struct evidence {
    struct buf json;
};

// Adds a fact; href is a table of the API or a page of the run, with its query. Long facts are cut.
void evidence_add(struct evidence *evidence, const char *href, const char *fact, ...)
    PRINTF_LIKE(3, 4);

// The array, in arena; frees the facts. NULL with ERR_LIMIT.
const char *evidence_end(struct evidence *evidence, struct arena *arena, struct err *err);

// One fact in the case's arena; NULL with ERR_LIMIT.
const char *findings_fact(const struct finding_case *the_case, const char *href, struct err *err,
                          const char *fact, ...) PRINTF_LIKE(4, 5);

// A table or page, and the filter of its rows: values are cut and encoded.
struct href_text {
    char text[320];
};
struct href_text href_to(const char *table);
void href_add(struct href_text *href, const char *key, struct str value);
void href_add_rank(struct href_text *href, int64_t rank);

// "kernels?q=" and a name.
struct href_text href_of_kernel(struct str name);

// "3-5,9" of ascending numbers, in arena; NULL with ERR_LIMIT.
const char *number_list(const int64_t *numbers, size_t count, struct arena *arena, struct err *err);

// A part of the step in percent, for titles and facts.
double findings_percent(const struct finding_case *the_case, int64_t ns);

// Writes total per steady step as "12" or "1,234.5" and returns text, which has room for 32 bytes.
const char *findings_per_step(const struct finding_case *the_case, int64_t total, char text[32]);

#endif

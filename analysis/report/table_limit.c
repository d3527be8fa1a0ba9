// SPDX-License-Identifier: Apache-2.0
// Tables share the space: each gets what it needs or an equal share of what is left.
#include "analysis/report/table_limit.h"

#include "analysis/report/trust.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"

#define OWN_BYTES ((uint64_t)4096) // for the line of the trust report

static uint64_t table_bytes(const struct table *table)
{
    uint64_t bytes = 0;
    for (size_t row = 0; row < table->row_count; row++)
        bytes += table_row_bytes(table, row);
    return bytes;
}

// The smallest table not counted yet.
static unsigned next_smallest(const uint64_t *bytes, const bool *counted, unsigned count)
{
    unsigned best = count;
    for (unsigned i = 0; i < count; i++)
        if (!counted[i] && (best == count || bytes[i] < bytes[best]))
            best = i;
    return best;
}

// The most that each table may take so that all fit; UINT64_MAX if they fit anyway.
static uint64_t find_share(const uint64_t *bytes, unsigned count, uint64_t left)
{
    bool counted[REPORT_MAX_TABLES] = {false};
    for (unsigned n = count; n > 0; n--) {
        unsigned i = next_smallest(bytes, counted, count);
        if (bytes[i] > left / n)
            return left / n;
        left -= bytes[i];
        counted[i] = true;
    }
    return UINT64_MAX;
}

// The number of rows dropped.
static size_t cut(struct table *table, uint64_t most_bytes)
{
    size_t rows = 0, all = table->row_count;
    for (uint64_t bytes = 0; rows < all; rows++) {
        bytes += table_row_bytes(table, rows);
        if (bytes > most_bytes)
            break;
    }
    table->row_count = rows;
    return all - rows;
}

static bool tell(struct report *report, const struct table_desc *desc, int64_t rows,
                 const struct buf *detail, struct err *err)
{
    unsigned doubt = trust_doubt(desc);
    struct row row = {.desc = desc};
    row_word(&row, doubt + DOUBT_ITEM, TRUST_ROWS_LEFT_OUT);
    row_word(&row, doubt + DOUBT_SEVERITY, "warning");
    row_i64(&row, doubt + DOUBT_COUNT, rows);
    row_text(&row, doubt + DOUBT_DETAIL, (struct str){detail->at, detail->len});
    row_word(&row, doubt + DOUBT_EFFECT,
             "these tables lack their last rows, and so do the run's sums and matches based on "
             "them; other figures of this report count them");
    if (!buf_ok(detail, err) || !row_end(&row, report, err))
        return false;
    const struct table *summary = report_find(report, "summary");
    for (size_t i = 0; summary && i < summary->row_count; i++) {
        unsigned figures =
            summary->desc == &table_run_summary ? RUN_SUMMARY_FIGURES : SUMMARY_FIGURES;
        unsigned place = column_place(summary->desc, figures + FIGURES_TRUST_SEVERITY);
        summary->cells[i * summary->desc->column_count + place] =
            cell_text(str_of(trust_worst(report)));
    }
    return true;
}

static void tell_cut(const struct table *table, struct buf *detail)
{
    buf_printf(detail, "%s%s keeps %zu rows", detail->len ? ", " : "", table->desc->name,
               table->row_count);
}

// Tables of ranges go first: the trace's own say more, and each of them is whole or not there.
// The number of rows dropped.
static size_t drop_range_rows(struct report *report, uint64_t *bytes, struct buf *detail)
{
    unsigned i = 0;
    while (i < report->table_count && report->tables[i].desc != &table_range_rows)
        i++;
    if (i == report->table_count)
        return 0;
    size_t rows = cut(&report->tables[i], 0), later = report->table_count - i - 1;
    tell_cut(&report->tables[i], detail);
    memmove(&report->tables[i], &report->tables[i + 1], later * sizeof *report->tables);
    memmove(&bytes[i], &bytes[i + 1], later * sizeof *bytes);
    report->table_count--;
    return rows;
}

bool table_limit(struct report *report, uint64_t max_bytes, const struct table_desc *trust,
                 struct err *err)
{
    uint64_t bytes[REPORT_MAX_TABLES] = {0}, sum = 0;
    for (unsigned i = 0; i < report->table_count; i++)
        sum += bytes[i] = table_bytes(&report->tables[i]);
    if (max_bytes == 0 || sum <= max_bytes)
        return true;
    uint64_t left = max_bytes > OWN_BYTES ? max_bytes - OWN_BYTES : 0;
    struct buf detail = {0};
    size_t rows = drop_range_rows(report, bytes, &detail);
    uint64_t share = find_share(bytes, report->table_count, left);
    for (unsigned i = 0; i < report->table_count; i++) {
        struct table *table = &report->tables[i];
        if (bytes[i] <= share)
            continue;
        rows += cut(table, share);
        tell_cut(table, &detail);
    }
    buf_printf(&detail, ", as all tables may take %llu bytes (--max-tables)",
               (unsigned long long)max_bytes);
    bool ok = tell(report, trust, (int64_t)rows, &detail, err);
    buf_free(&detail);
    return ok;
}

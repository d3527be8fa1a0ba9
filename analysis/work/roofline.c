// SPDX-License-Identifier: Apache-2.0
// What operators computed and transferred, relative to the device's limits: the table of work.
#include "analysis/trace/analyses.h"
#include "analysis/facts/context.h"
#include "analysis/report/ranked.h"
#include "analysis/names/shape_text.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"
#include "analysis/work/work_roofline.h"

#include <math.h>

#define MAX_ROWS 5000 // those with the most time

// Room for the texts of a row until it is added.
struct texts {
    char dims[SHAPE_TEXT_SIZE], types[SHAPE_TEXT_SIZE], strides[SHAPE_TEXT_SIZE];
};

static void put_identity(const struct facts *facts, const struct work_row *row, struct texts *texts,
                         struct row *cells)
{
    const struct trace *trace = facts->trace;
    const struct work *work = &row->work;
    row_text(cells, ROOFLINE_OP, op_calls_name(facts, row->name));
    row_word(cells, ROOFLINE_KIND, work_kind_word(work->kind));
    row_text_if(cells, ROOFLINE_PROBLEM, work->problem[0] != '\0', str_of(work->problem));
    row_text_if(cells, ROOFLINE_DIMS, row->dims != 0,
                shape_text(trace_text(trace, row->dims), texts->dims));
    row_text_if(cells, ROOFLINE_TYPES, row->types != 0,
                shape_text(trace_text(trace, row->types), texts->types));
    row_text_if(cells, ROOFLINE_STRIDES, row->strides != 0,
                shape_text(trace_text(trace, row->strides), texts->strides));
    row_word(cells, ROOFLINE_PRECISION, work->precision ? precision_word(work->precision) : NULL);
}

static void put_times(const struct work_rows *rows, const struct work_row *row, struct row *cells)
{
    struct quantiles call_ns = stats_quantiles(
        rows->samples + row->first, rows->samples + rows->calls->count, (size_t)row->calls);
    row_i64(cells, ROOFLINE_CALLS, row->calls);
    row_i64(cells, ROOFLINE_KERNELS, row->kernels);
    row_i64(cells, ROOFLINE_BUSY_NS, row->busy_ns);
    row_i64(cells, ROOFLINE_MEDIAN_NS, call_ns.median);
    row_i64(cells, ROOFLINE_P95_NS, call_ns.p95);
}

// Operations or bytes of all calls over their time, in 1e12 per second.
static double rate(int64_t amount, const struct work_row *row)
{
    if (!count_known(amount) || row->busy_ns == 0)
        return NAN;
    return (double)amount * (double)row->calls / (double)row->busy_ns / 1e3;
}

static double known_or_nan(double value)
{
    return value > 0 ? value : NAN;
}

static void put_rates(const struct work_row *row, const struct peak *peak, struct row *cells)
{
    const struct work *work = &row->work;
    bool both = count_known(work->flops) && work->bytes > 0;
    row_i64_if(cells, ROOFLINE_FLOPS, count_known(work->flops), work->flops);
    row_i64_if(cells, ROOFLINE_BYTES, count_known(work->bytes), work->bytes);
    row_f64(cells, ROOFLINE_TFLOPS, rate(work->flops, row));
    row_f64(cells, ROOFLINE_TBPS, rate(work->bytes, row));
    row_f64_if(cells, ROOFLINE_INTENSITY, both,
               (double)work->flops / (double)(both ? work->bytes : 1));
    row_f64(cells, ROOFLINE_PEAK_TFLOPS, peak ? known_or_nan(peak->tflops[work->precision]) : NAN);
    row_f64(cells, ROOFLINE_PEAK_TBPS, peak ? known_or_nan(peak->tbps) : NAN);
}

static void put_roofline(const struct work_row *row, const struct roofline *roof, struct row *cells)
{
    bool known = roof->total_ns < 9e18; // false for NaN
    int64_t roofline_ns = known ? llround(roof->total_ns) : 0;
    row_word(cells, ROOFLINE_BOUND, roof->bound);
    row_i64_if(cells, ROOFLINE_ROOFLINE_NS, known, roofline_ns);
    row_f64_if(cells, ROOFLINE_EFFICIENCY, known && row->busy_ns > 0,
               roof->total_ns / (double)(row->busy_ns ? row->busy_ns : 1));
    row_i64_if(cells, ROOFLINE_LOST_NS, known,
               roofline_ns < row->busy_ns ? row->busy_ns - roofline_ns : 0);
}

static bool put_rest(const struct work_rows *rows, const struct work_row *row,
                     const struct roofline *roof, struct row *cells, struct arena *arena,
                     struct err *err)
{
    const struct facts *facts = rows->facts;
    struct str module = context_module_path(facts, row->module, arena, err);
    const char *model = row->work.note, *note = roof->note;
    if (!module.at)
        return false;
    if (model && note) {
        note = arena_printf(arena, err, "%s; %s", model, note);
        if (!note)
            return false;
    }
    row_i64(cells, ROOFLINE_OWNED_NS, row->owned_ns);
    row_share(cells, ROOFLINE_BUSY_SHARE, row->owned_ns, parts_busy_ns(&facts->whole));
    row_text(cells, ROOFLINE_KERNEL, op_calls_name(facts, row->kernel));
    row_text(cells, ROOFLINE_MODULE, module);
    row_i64(cells, ROOFLINE_RECOMPUTE_CALLS, row->recompute_calls);
    row_word(cells, ROOFLINE_NOTE, note ? note : model);
    return true;
}

static bool add_row(const struct work_rows *rows, const struct work_row *row, struct report *report,
                    struct err *err)
{
    struct arena scratch;
    struct texts texts;
    struct row cells = {.desc = &table_roofline};
    struct roofline roof = work_roofline(row, rows->peak);
    arena_init(&scratch, rows->facts->budget);
    put_identity(rows->facts, row, &texts, &cells);
    put_times(rows, row, &cells);
    put_rates(row, rows->peak, &cells);
    put_roofline(row, &roof, &cells);
    bool ok = put_rest(rows, row, &roof, &cells, &scratch, err) && row_end(&cells, report, err);
    arena_free(&scratch);
    return ok;
}

static bool add_rows(const struct work_rows *rows, struct arena *arena, struct report *report,
                     struct err *err)
{
    struct ranked *ranked = arena_array(arena, rows->count, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t r = 0; r < rows->count; r++) {
        struct str name = trace_text(rows->facts->trace, rows->rows[r].name);
        ranked[r] = (struct ranked){rows->rows[r].busy_ns, name, r};
    }
    ranked_sort(ranked, rows->count);
    for (uint32_t i = 0; i < rows->count && i < MAX_ROWS; i++)
        if (!add_row(rows, &rows->rows[ranked[i].index], report, err))
            return false;
    return true;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct work_rows rows;
    return work_rows_make(facts, scratch, &rows, err) && add_rows(&rows, scratch, report, err) &&
           work_metrics_add(&rows, report, err);
}

const struct analysis roofline_analysis = {"roofline", run};

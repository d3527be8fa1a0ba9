// SPDX-License-Identifier: Apache-2.0
// Reads texts as logs, and says what is wrong with the last step of each.
#ifndef TESTS_UNIT_LOG_HAND_H
#define TESTS_UNIT_LOG_HAND_H

#include "ingest/base/buf.h"
#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct budget budget;
static struct evidence evidence;

// In pieces of that size, 0: as one.
static inline void read_pieces(const char *text, const char *name, size_t bytes)
{
    struct err err = {.pos = ERR_NO_POS};
    struct str whole = str_of(text);
    struct str head = {text, whole.len < FORMAT_HEAD_BYTES ? whole.len : FORMAT_HEAD_BYTES};
    const struct format *format = format_find(head, str_of(name));
    assert_non_null(format);
    if (!format->gather)
        fail_msg("%s is taken for %s: %s", name, format->name, text);
    struct source *source = source_mem_open(text, whole.len, bytes, &err);
    struct format_input input = {
        .source = source, .budget = &budget, .evidence = &evidence, .head = head};
    if (!source || !format->gather(&input, &err))
        fail_msg("%s: %s", text, err.msg);
    source_close(source);
}

struct value {
    enum log_value value;
    double wanted;
};

enum { MOST_FIGURES = 10 };

struct printed {
    const char *text, *source;
    size_t steps;
    int64_t step;                       // the number of the last
    struct value figures[MOST_FIGURES]; // of the last, all that it has
};

static inline void assert_figures(const struct printed *printed, const struct log_step *step)
{
    uint32_t has = 0;
    for (size_t i = 0; i < MOST_FIGURES && printed->figures[i].wanted != 0; i++) {
        const struct value *figure = &printed->figures[i];
        has |= 1u << figure->value;
        double found =
            log_step_has(step, figure->value) ? step->values[figure->value] : (double)NAN;
        if (!(fabs(found - figure->wanted) <= 1e-9 * fabs(figure->wanted)))
            fail_msg("value %d is %.9g, expected %.9g: %s", figure->value, found, figure->wanted,
                     printed->text);
    }
    if (step->has != has)
        fail_msg("has values %x, expected %x: %s", step->has, has, printed->text);
}

static inline void assert_printed(const struct printed *printed, const char *name)
{
    for (size_t bytes = 0; bytes < 8; bytes += 7) {
        evidence_init(&evidence, &budget);
        read_pieces(printed->text, name, bytes);
        if (evidence.log.step_count != printed->steps)
            fail_msg("%zu steps: %s", evidence.log.step_count, printed->text);
        const struct log_step *last = &evidence.log.steps[printed->steps - 1];
        assert_int_equal(last->step, printed->step);
        assert_true(str_equal(evidence.source, str_of(printed->source)));
        assert_figures(printed, last);
        evidence_free(&evidence);
        assert_int_equal(budget.used, 0);
    }
}

static inline void read_whole(const char *text)
{
    evidence_init(&evidence, &budget);
    read_pieces(text, "result_0.txt", 0);
}

static inline void assert_evaluation(double loss, int64_t dur_ns)
{
    assert_int_equal(evidence.log.event_count, 1);
    const struct log_event *event = &evidence.log.events[0];
    assert_int_equal(event->kind, LOG_EVALUATION);
    assert_int_equal(event->dur_ns, dur_ns);
    assert_true(event->loss == loss || (isnan(event->loss) && isnan(loss)));
    evidence_free(&evidence);
}

#define GIB 0x1p30
#define MIB 0x1p20

#endif

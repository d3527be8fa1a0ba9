// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_model_flops.h"

#include "analysis/run/run_model_size.h"
#include "analysis/run/run_stated.h"
#include "analysis/stats/time_text.h"

struct shape {
    double layers, width, tokens; // L, H, S; 0 unknown
};

static double attention(const struct shape *shape)
{
    return 12 * shape->layers * shape->width * shape->tokens;
}

// "L = 32 layers, ...", or that attention is not counted.
static const char *words_of_shape(const struct shape *shape, struct arena *arena, struct err *err)
{
    return attention(shape) > 0
               ? arena_printf(arena, err, ", L = %s layers, H = %s wide, S = %s tokens",
                              mean_text(shape->layers, 0).text, mean_text(shape->width, 0).text,
                              mean_text(shape->tokens, 0).text)
               : "; attention is not counted, as layers, hidden size and sequence length are not "
                 "all stated";
}

// Frozen weights need the gradient of what goes in, not their own.
static const char *words_of_size(const struct model_size *size, const char *more,
                                 struct arena *arena, struct err *err)
{
    if (!size->adapter)
        return arena_printf(arena, err, "6 N%s operations per token: N = %s (%s)", more,
                            mean_text(size->active, 0).text, size->source);
    if (size->trained == 0)
        return arena_printf(arena, err,
                            "4 N%s operations per token: N = %s frozen (%s), the adapter's own "
                            "parameters are not stated and not counted",
                            more, mean_text(size->active, 0).text, size->source);
    return arena_printf(arena, err,
                        "4 N + 6 A%s operations per token: N = %s frozen (%s), A = %s trained",
                        more, mean_text(size->active - size->trained, 0).text, size->source,
                        mean_text(size->trained, 0).text);
}

bool run_model_flops(const struct report *report, struct model_flops *flops, struct err *err)
{
    struct shape shape = {.layers = (double)run_stated_count(report, "layers"),
                          .width = run_attention_width(report),
                          .tokens = (double)run_stated_count(report, "seq_length")};
    struct model_size size;
    *flops = (struct model_flops){0};
    if (!run_model_size(report, &size, err))
        return false;
    flops->why = size.why;
    if (size.active == 0)
        return true;
    const char *what =
        words_of_size(&size, attention(&shape) > 0 ? " + 12 L H S" : "", report->arena, err);
    const char *where = what ? words_of_shape(&shape, report->arena, err) : NULL;
    double frozen = size.adapter ? size.active - size.trained : 0;
    flops->per_token = 6 * size.active - 2 * frozen + attention(&shape);
    flops->basis = where ? arena_printf(report->arena, err, "%s%s", what, where) : NULL;
    return flops->basis;
}

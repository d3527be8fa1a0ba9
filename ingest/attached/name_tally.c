// SPDX-License-Identifier: Apache-2.0
#include "ingest/attached/name_tally.h"

#include <math.h>

enum { LONGEST_NAME = 256, SHOWN_NAMES = 3, SHOWN_BYTES = 48 };

bool name_tally_init(struct name_tally *tally, struct budget *budget, struct err *err)
{
    *tally = (struct name_tally){0};
    return strtab_init(&tally->names, budget, err);
}

void name_tally_free(struct name_tally *tally)
{
    budget_free(tally->names.budget, tally->sums, tally->cap * sizeof *tally->sums);
    strtab_free(&tally->names);
}

static bool make_room(struct name_tally *tally, str_id id, struct err *err)
{
    size_t before = tally->cap;
    double *sums = budget_room(tally->names.budget, tally->sums, &tally->cap, (size_t)id + 1,
                               sizeof *sums, err);
    if (!sums)
        return false;
    tally->sums = sums;
    for (size_t i = before; i < tally->cap; i++)
        sums[i] = 0;
    return true;
}

bool name_tally_id(struct name_tally *tally, struct str name, str_id *id, struct err *err)
{
    name.len = name.len < LONGEST_NAME ? name.len : LONGEST_NAME;
    name.len = str_valid_utf8(name);
    return strtab_intern_outside(&tally->names, name, id, err) && make_room(tally, *id, err);
}

void name_tally_weigh(struct name_tally *tally, str_id id, double weight)
{
    if (id && weight > 0 && isfinite(tally->total + weight)) {
        tally->sums[id] += weight;
        tally->total += weight;
    }
}

bool name_tally_add(struct name_tally *tally, struct str name, struct err *err)
{
    str_id id;
    if (!name_tally_id(tally, name, &id, err))
        return false;
    name_tally_weigh(tally, id, 1);
    return true;
}

int64_t name_tally_count(const struct name_tally *tally)
{
    return (int64_t)tally->names.count - 1;
}

// The name with the largest sum below a given one; the first of equal ones. 0: none.
static str_id next_most(const struct name_tally *tally, const str_id *shown, size_t count)
{
    str_id most = 0;
    for (str_id id = 1; id < tally->names.count && id < tally->cap; id++) {
        bool taken = false;
        for (size_t i = 0; i < count; i++)
            taken = taken || shown[i] == id;
        if (!taken && tally->sums[id] > 0 && (!most || tally->sums[id] > tally->sums[most]))
            most = id;
    }
    return most;
}

void name_tally_report(const struct name_tally *tally, struct figures *figures, const char *path)
{
    str_id shown[SHOWN_NAMES];
    struct buf text = {0};
    for (size_t i = 0; i < SHOWN_NAMES && (shown[i] = next_most(tally, shown, i)); i++) {
        struct str name = strtab_get(&tally->names, shown[i]);
        name.len = name.len < SHOWN_BYTES ? name.len : SHOWN_BYTES;
        buf_printf(&text, "%s%.*s %.0f %%", i ? ", " : "", (int)str_valid_utf8(name), name.at,
                   100 * tally->sums[shown[i]] / tally->total);
    }
    if (text.len && !text.failed)
        figures_text(figures, (struct str){text.at, text.len}, "%s", path);
    buf_free(&text);
}

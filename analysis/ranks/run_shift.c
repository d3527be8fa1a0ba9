// SPDX-License-Identifier: Apache-2.0
// True pairs end together: the differences of their ends are those of the clocks, while those of
// other pairs vary as steps do.
#include "analysis/ranks/run_shift.h"

#include "analysis/ranks/run_comm_stages.h"
#include "analysis/stats/sort.h"

#define SHIFT_REACH 4096               // shifts that are tried either way
#define SAMPLES     64                 // pairs that are looked at, spread over the overlap
#define FEW_SAMPLES 16                 // that show which shifts are not worth more
#define PAIRS_LEAST 4                  // fewer show nothing
#define PAIRS_MOVE  8                  // fewer do not show that the k-th is not the k-th
#define UNLIKE_MOST 20                 // one in so many pairs may be unlike
#define FLOOR_NS    200                // ends never agree better
#define NEARLY      2                  // times as much variation is nearly as good
#define FAR_NS      ((int64_t)1 << 60) // differences beyond that are equal

struct shift {
    int64_t by; // the lane's call i meets the known one i + by
    int64_t apart_ns, spread_ns;
    uint32_t samples;
};

struct shifts {
    struct misfit_lane known, lane;
    struct shift *all;
    uint32_t count;
    int64_t best_ns;
};

// Differences of the ends of up to so many pairs; none if pairs are unlike.
static uint32_t sample(const struct shifts *shifts, int64_t by, uint32_t most, int64_t *apart_ns)
{
    int64_t first = by < 0 ? -by : 0, end = (int64_t)shifts->known.count - by;
    end = end < shifts->lane.count ? end : shifts->lane.count;
    int64_t pairs = end - first, count = pairs < most ? pairs : most, unlike = 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t i = first + k * pairs / count;
        const struct misfit_call *call = &shifts->lane.calls[i];
        const struct misfit_call *known = &shifts->known.calls[i + by];
        int64_t away_ns = known->end_ns - call->end_ns;
        apart_ns[k] = away_ns > FAR_NS ? FAR_NS : away_ns < -FAR_NS ? -FAR_NS : away_ns;
        unlike += call->symbol != known->symbol;
        if (unlike * UNLIKE_MOST > count)
            return 0;
    }
    return count > 0 ? (uint32_t)count : 0;
}

static int64_t magnitude(int64_t ns)
{
    return ns < 0 ? -ns : ns;
}

static int64_t middle_of(const int64_t *apart_ns, uint32_t count)
{
    int64_t values[SAMPLES], scratch[SAMPLES];
    memcpy(values, apart_ns, count * sizeof *values);
    return run_median(values, scratch, count);
}

// How much differences vary from one eighth of the time to the next, beyond a common drift: three
// in four vary by less. The eighth that a clock's jump moves does not count.
static int64_t spread_of(const int64_t *apart_ns, uint32_t count)
{
    int64_t moved_ns[SAMPLES] = {0}, scratch[SAMPLES];
    uint32_t lag = count < 16 ? 1 : count / 8, moves = count - lag;
    for (uint32_t k = 0; k < moves; k++)
        moved_ns[k] = apart_ns[k + lag] - apart_ns[k];
    int64_t drift_ns = middle_of(moved_ns, moves);
    for (uint32_t k = 0; k < moves; k++)
        moved_ns[k] = magnitude(moved_ns[k] - drift_ns);
    sort_i64(moved_ns, scratch, moves);
    int64_t spread_ns = moved_ns[moves * 3 / 4];
    return spread_ns > FLOOR_NS ? spread_ns : FLOOR_NS;
}

// --- by the clocks ------------------------------------------------------------------------------

// The differences at the first shift in that direction whose calls are alike.
static int64_t next_apart(const struct shifts *shifts, int64_t direction)
{
    int64_t apart_ns[SAMPLES], calls = direction < 0 ? shifts->lane.count : shifts->known.count;
    for (int64_t away = 1; away < calls && away <= SHIFT_REACH; away++) {
        uint32_t count = sample(shifts, away * direction, FEW_SAMPLES, apart_ns);
        if (count > 0)
            return magnitude(middle_of(apart_ns, count));
    }
    return FAR_NS;
}

bool run_shift_is_nearest(struct misfit_lane known, struct misfit_lane lane)
{
    int64_t apart_ns[SAMPLES];
    struct shifts shifts = {.known = known, .lane = lane};
    uint32_t count = sample(&shifts, 0, SAMPLES, apart_ns);
    if (count == 0)
        return false;
    int64_t here_ns = magnitude(middle_of(apart_ns, count));
    return here_ns <= next_apart(&shifts, -1) && here_ns <= next_apart(&shifts, 1);
}

// --- by the ends --------------------------------------------------------------------------------

static void try_shift(struct shifts *shifts, int64_t by)
{
    int64_t apart_ns[SAMPLES];
    uint32_t count = sample(shifts, by, FEW_SAMPLES, apart_ns);
    if (count < PAIRS_LEAST || spread_of(apart_ns, count) / (2 * NEARLY) > shifts->best_ns)
        return;
    count = sample(shifts, by, SAMPLES, apart_ns);
    if (count == 0)
        return;
    int64_t spread_ns = spread_of(apart_ns, count);
    shifts->best_ns = spread_ns < shifts->best_ns ? spread_ns : shifts->best_ns;
    shifts->all[shifts->count++] = (struct shift){by, middle_of(apart_ns, count), spread_ns, count};
}

// The shift at which the lane's middle call meets the known one that ends next to it.
static int64_t shift_by_clock(const struct shifts *shifts)
{
    uint32_t middle = shifts->lane.count / 2, low = 0, high = shifts->known.count;
    int64_t end_ns = shifts->lane.calls[middle].end_ns;
    while (low < high) {
        uint32_t half = low + (high - low) / 2;
        if (shifts->known.calls[half].end_ns < end_ns)
            low = half + 1;
        else
            high = half;
    }
    return (int64_t)low - middle;
}

static void try_all(struct shifts *shifts)
{
    int64_t known = shifts->known.count, lane = shifts->lane.count;
    int64_t half = (known < lane ? known : lane) / 2, center = shift_by_clock(shifts);
    int64_t first = half - lane, last = known - half;
    first = first > center - SHIFT_REACH ? first : center - SHIFT_REACH;
    last = last < center + SHIFT_REACH ? last : center + SHIFT_REACH;
    try_shift(shifts, 0);
    for (int64_t by = first; by <= last; by++)
        if (by != 0)
            try_shift(shifts, by);
}

// Those that are nearly as good as the best.
static void choose(const struct shifts *shifts, struct run_shift *found)
{
    uint32_t good = 0, samples = 0;
    bool near = false;
    for (uint32_t i = 0; i < shifts->count; i++) {
        const struct shift *shift = &shifts->all[i];
        if (shift->spread_ns > NEARLY * shifts->best_ns)
            continue;
        near |= shift->spread_ns <= RUN_SHIFT_NEAR_NS;
        found->in_place |= shift->by == 0;
        samples = shift->samples > samples ? shift->samples : samples;
        if (good++ == 0 || magnitude(shift->apart_ns) < magnitude(found->offset_ns))
            found->offset_ns = shift->apart_ns;
    }
    found->known = near && (found->in_place || samples >= PAIRS_MOVE);
    found->clear = found->known && good == 1;
    found->spread_ns = shifts->best_ns;
}

bool run_shift_find(struct misfit_lane known, struct misfit_lane lane, struct arena *scratch,
                    struct run_shift *found, struct err *err)
{
    *found = (struct run_shift){0};
    if (known.count < PAIRS_LEAST || lane.count < PAIRS_LEAST)
        return true;
    struct shifts shifts = {.known = known, .lane = lane, .best_ns = RUN_SHIFT_NEAR_NS};
    size_t room = (size_t)known.count + lane.count;
    room = room < 2 * SHIFT_REACH + 2 ? room : 2 * SHIFT_REACH + 2;
    shifts.all = arena_room(scratch, room, sizeof *shifts.all, err);
    if (!shifts.all)
        return false;
    try_all(&shifts);
    choose(&shifts, found);
    return true;
}

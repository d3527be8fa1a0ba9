// SPDX-License-Identifier: Apache-2.0
// Aligns the calls of ranks first by a common subsequence, then by their ends.
#include "analysis/ranks/run_misfit.h"

#include "analysis/ranks/run_shift.h"
#include "analysis/stats/edit_path.h"
#include "analysis/stats/sort.h"

#include <stdlib.h>

#define NONE         UINT32_MAX
#define VOTES_MIN    3       // how many must agree
#define VOTES_SHARE  10      // and at least one in this many pairs
#define SHIFT_MAX    8       // by how many places a guess may be wrong
#define SHIFT_SHARE  4       // of the calls that a shift must pair, one in so many
#define TOLERANCE_NS 1000000 // ends further apart than this do not belong to one call
#define NEAR_MAX     256     // how many calls are tried for one

// What is known so far, ordered by end on the clock of the first lane; the index is the slot there.
// Calls of a lane get the place of the call they pair with; NONE if there is none.
struct layer {
    struct misfit_call *known, *spare; // room for known_cap each
    uint32_t known_count, known_cap;
    struct misfit_lane lane;
    uint32_t *pairs; // per call of the lane
    uint32_t *slots; // the caller's
    uint32_t slot_count;
    bool aligned; // ends are on one clock
    struct arena *scratch;
};

// --- order --------------------------------------------------------------------------------------

static bool sort_by_end(struct misfit_lane *lane, struct arena *scratch, struct err *err)
{
    bool sorted = true;
    for (uint32_t i = 1; i < lane->count; i++)
        sorted = sorted && lane->calls[i - 1].end_ns <= lane->calls[i].end_ns;
    if (sorted)
        return true;
    struct keyed *keys = arena_room(scratch, 2 * (size_t)lane->count, sizeof *keys, err);
    struct misfit_call *copy = arena_room(scratch, lane->count, sizeof *copy, err);
    if (!keys || !copy)
        return false;
    for (uint32_t i = 0; i < lane->count; i++)
        keys[i] = (struct keyed){lane->calls[i].end_ns, i, 0};
    sort_keyed(keys, keys + lane->count, lane->count);
    memcpy(copy, lane->calls, lane->count * sizeof *copy);
    for (uint32_t i = 0; i < lane->count; i++)
        lane->calls[i] = copy[keys[i].a];
    return true;
}

// --- a common subsequence -----------------------------------------------------------------------

static bool is_same(const struct layer *layer)
{
    bool same = layer->lane.count == layer->known_count;
    for (uint32_t i = 0; same && i < layer->known_count; i++)
        same = layer->lane.calls[i].stepped == layer->known[i].stepped;
    return same;
}

// The symbols with their steps, from the start or from the end.
static const uint64_t *symbols_of(const struct misfit_call *calls, uint32_t count, bool reverse,
                                  struct arena *scratch, struct err *err)
{
    uint64_t *symbols = arena_room(scratch, count, sizeof *symbols, err);
    for (uint32_t i = 0; symbols && i < count; i++)
        symbols[i] = calls[reverse ? count - 1 - i : i].stepped;
    return symbols;
}

static bool find_path(const struct layer *layer, bool reverse, uint32_t *pairs, bool *found,
                      struct err *err)
{
    uint32_t count = layer->lane.count, known_count = layer->known_count;
    struct edit_symbols lane = {symbols_of(layer->lane.calls, count, reverse, layer->scratch, err),
                                count};
    struct edit_symbols known = {
        symbols_of(layer->known, known_count, reverse, layer->scratch, err), known_count};
    if (!lane.at || !known.at || !edit_path_find(lane, known, pairs, layer->scratch, found, err))
        return false;
    for (uint32_t i = 0; reverse && i < (count + 1) / 2; i++) {
        uint32_t first = pairs[i], last = pairs[count - 1 - i];
        pairs[i] = last == NONE ? NONE : known_count - 1 - last;
        pairs[count - 1 - i] = first == NONE ? NONE : known_count - 1 - first;
    }
    return true;
}

static struct keyed *sort_symbols(const struct misfit_call *calls, uint32_t count,
                                  struct arena *scratch, struct err *err)
{
    struct keyed *keys = arena_room(scratch, 2 * (size_t)count, sizeof *keys, err);
    for (uint32_t i = 0; keys && i < count; i++)
        keys[i] = (struct keyed){calls[i].stepped, i, 0};
    if (keys)
        sort_keyed(keys, keys + count, count);
    return keys;
}

// If too many calls differ: pairs the k-th of a kind, size and step with the k-th of the same.
static bool pair_by_count(const struct layer *layer, uint32_t *pairs, struct err *err)
{
    uint32_t count = layer->lane.count, known_count = layer->known_count;
    struct keyed *calls = sort_symbols(layer->lane.calls, count, layer->scratch, err);
    struct keyed *known = sort_symbols(layer->known, known_count, layer->scratch, err);
    if (!calls || !known)
        return false;
    for (uint32_t i = 0, j = 0; i < count; i++) {
        pairs[calls[i].a] = NONE;
        while (j < known_count && known[j].key < calls[i].key)
            j++;
        if (j < known_count && known[j].key == calls[i].key)
            pairs[calls[i].a] = known[j++].a;
    }
    return true;
}

static bool find_pairs(const struct layer *layer, uint32_t *forward, uint32_t *backward,
                       struct err *err)
{
    bool found = is_same(layer);
    for (uint32_t i = 0; found && i < layer->lane.count; i++)
        forward[i] = backward[i] = i;
    if (found)
        return true;
    if (!find_path(layer, false, forward, &found, err))
        return false;
    if (found)
        return find_path(layer, true, backward, &found, err);
    return pair_by_count(layer, forward, err) && pair_by_count(layer, backward, err);
}

// --- the clock ----------------------------------------------------------------------------------

static uint32_t add_votes(const struct layer *layer, const uint32_t *pairs, int64_t *votes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < layer->lane.count; i++)
        if (pairs[i] != NONE)
            votes[count++] = layer->known[pairs[i]].end_ns - layer->lane.calls[i].end_ns;
    return count;
}

// Same for all calls equal to the paired one and at most SHIFT_MAX places before or after
// it.
static uint32_t add_neighbors(const struct layer *layer, const uint32_t *pairs, int64_t *votes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < layer->lane.count; i++) {
        const struct misfit_call *call = &layer->lane.calls[i];
        uint32_t first = pairs[i] > SHIFT_MAX ? pairs[i] - SHIFT_MAX : 0;
        for (uint32_t k = first;
             pairs[i] != NONE && k <= pairs[i] + SHIFT_MAX && k < layer->known_count; k++)
            if (layer->known[k].symbol == call->symbol)
                votes[count++] = layer->known[k].end_ns - call->end_ns;
    }
    return count;
}

// The middle of the densest votes within RUN_SHIFT_NEAR_NS, and how many there are.
static uint32_t count_votes(int64_t *votes, int64_t *scratch, uint32_t count, int64_t *offset_ns)
{
    uint32_t best = 0;
    sort_i64(votes, scratch, count);
    for (uint32_t first = 0, last = 0; last < count; last++) {
        while (votes[last] - votes[first] > RUN_SHIFT_NEAR_NS)
            first++;
        if (last - first + 1 > best) {
            best = last - first + 1;
            *offset_ns = votes[first + (last - first) / 2];
        }
    }
    return best;
}

// The clock difference that most pairs agree on, as true pairs end together; false if too few do.
// If both guesses are mostly wrong, the neighbors of their pairs may be wrong, too.
static bool vote(const struct layer *layer, const uint32_t *forward, const uint32_t *backward,
                 int64_t *offset_ns, bool *agreed, struct err *err)
{
    size_t room = (2 * SHIFT_MAX + 1) * (size_t)layer->lane.count;
    int64_t *votes = arena_room(layer->scratch, 2 * room, sizeof *votes, err);
    if (!votes)
        return false;
    uint32_t pairs = add_votes(layer, forward, votes);
    uint32_t count = pairs + add_votes(layer, backward, votes + pairs);
    uint32_t best = count_votes(votes, votes + room, count, offset_ns) / 2;
    if (best < pairs / 2) {
        count = add_neighbors(layer, forward, votes);
        best = count_votes(votes, votes + room, count, offset_ns);
    }
    *agreed = best >= VOTES_MIN && (uint64_t)best * VOTES_SHARE >= pairs;
    return true;
}

// --- ends ---------------------------------------------------------------------------------------

// How far apart the ends of two calls are; INT64_MAX if they cannot be one collective: different
// kinds or sizes, or less than half of the shorter one is inside the other.
static int64_t distance(const struct layer *layer, uint32_t known, uint32_t call, int64_t offset_ns)
{
    if (known >= layer->known_count || call >= layer->lane.count)
        return INT64_MAX;
    const struct misfit_call *a = &layer->known[known], *b = &layer->lane.calls[call];
    int64_t apart_ns = b->end_ns + offset_ns - a->end_ns;
    int64_t shorter_ns = a->dur_ns < b->dur_ns ? a->dur_ns : b->dur_ns;
    int64_t later_dur_ns = apart_ns < 0 ? a->dur_ns : b->dur_ns;
    apart_ns = apart_ns < 0 ? -apart_ns : apart_ns;
    bool overlap = later_dur_ns - apart_ns >= shorter_ns / 2;
    return a->symbol == b->symbol && overlap ? apart_ns : INT64_MAX;
}

// Pairs each call with the closest end of its kind and size, if the choice is mutual.
static uint32_t pair_by_end(const struct layer *layer, int64_t offset_ns, uint32_t *pairs)
{
    uint32_t paired = 0, known = 0;
    for (uint32_t call = 0; call < layer->lane.count; call++) {
        pairs[call] = NONE;
        int64_t end_ns = layer->lane.calls[call].end_ns + offset_ns;
        while (known < layer->known_count && layer->known[known].end_ns < end_ns - TOLERANCE_NS)
            known++;
        uint32_t best = known;
        uint32_t limit =
            layer->known_count - known < NEAR_MAX ? layer->known_count : known + NEAR_MAX;
        for (uint32_t k = known; k < limit && layer->known[k].end_ns <= end_ns + TOLERANCE_NS; k++)
            if (distance(layer, k, call, offset_ns) < distance(layer, best, call, offset_ns))
                best = k;
        int64_t apart_ns = distance(layer, best, call, offset_ns);
        if (apart_ns > TOLERANCE_NS || distance(layer, best, call + 1, offset_ns) < apart_ns)
            continue;
        pairs[call] = best;
        known = best + 1;
        paired++;
    }
    return paired;
}

// Pairs the calls between two pairs if both sides have equally many candidates.
static void fill_between(const struct layer *layer, int64_t offset_ns, uint32_t *pairs)
{
    uint32_t call = 0, known = 0, count = layer->lane.count;
    while (call < count) {
        uint32_t last = call;
        while (last < count && pairs[last] == NONE)
            last++;
        uint32_t known_last = last < count ? pairs[last] : layer->known_count;
        bool same = last > call && last - call == known_last - known;
        for (uint32_t i = 0; same && i < last - call; i++)
            same = distance(layer, known + i, call + i, offset_ns) < INT64_MAX;
        for (uint32_t i = 0; same && i < last - call; i++)
            pairs[call + i] = known + i;
        call = last + 1;
        known = known_last + 1;
    }
}

static uint32_t count_pairs(const uint32_t *pairs, uint32_t count)
{
    uint32_t paired = 0;
    for (uint32_t i = 0; i < count; i++)
        paired += pairs[i] != NONE;
    return paired;
}

// Pairs by ends on a clock that is known; false if few meet.
static bool pair_by_clock(const struct layer *layer, int64_t offset_ns)
{
    uint32_t shorter =
        layer->lane.count < layer->known_count ? layer->lane.count : layer->known_count;
    if (pair_by_end(layer, offset_ns, layer->pairs) < shorter / SHIFT_SHARE)
        return false;
    fill_between(layer, offset_ns, layer->pairs);
    return true;
}

// Within what three in four pairs end together.
static bool spread_of(const struct layer *layer, int64_t offset_ns, int64_t *spread_ns,
                      struct err *err)
{
    uint32_t count = 0;
    int64_t *apart_ns =
        arena_room(layer->scratch, 2 * (size_t)layer->lane.count, sizeof *apart_ns, err);
    if (!apart_ns)
        return false;
    for (uint32_t i = 0; i < layer->lane.count; i++)
        if (layer->pairs[i] != NONE)
            apart_ns[count++] = llabs(layer->lane.calls[i].end_ns + offset_ns -
                                      layer->known[layer->pairs[i]].end_ns);
    sort_i64(apart_ns, apart_ns + layer->lane.count, count);
    *spread_ns = count > 0 ? apart_ns[(count - 1) * (size_t)3 / 4] : INT64_MAX;
    return true;
}

static bool pair_by_vote(const struct layer *layer, int64_t *offset_ns, struct err *err)
{
    uint32_t count = layer->lane.count;
    uint32_t *forward = arena_room(layer->scratch, 2 * (size_t)count, sizeof *forward, err);
    bool agreed;
    if (!forward || !find_pairs(layer, forward, forward + count, err) ||
        !vote(layer, forward, forward + count, offset_ns, &agreed, err))
        return false;
    uint32_t paired = agreed ? pair_by_end(layer, *offset_ns, layer->pairs) : 0;
    if (agreed && paired >= count_pairs(forward, count) / 2)
        fill_between(layer, *offset_ns, layer->pairs);
    else
        memcpy(layer->pairs, forward, count * sizeof *forward);
    return true;
}

// Whether that is another clock than the shift's.
static bool is_beside(const struct run_shift *shift, int64_t offset_ns)
{
    return llabs(offset_ns - shift->offset_ns) > RUN_SHIFT_NEAR_NS;
}

// By the shift, unless the vote pairs more calls, and their ends agree clearly better: a rank that
// lacks calls here and there meets the others at no shift, but may seem to at one.
static bool pair_by_ends(struct layer *layer, const struct run_shift *shift, int64_t *offset_ns,
                         struct err *err)
{
    uint32_t count = layer->lane.count;
    int64_t spread_ns;
    bool by_shift = shift->clear && pair_by_clock(layer, shift->offset_ns);
    uint32_t paired = by_shift ? count_pairs(layer->pairs, count) : 0;
    layer->lane.sure = by_shift && paired == count;
    *offset_ns = layer->lane.sure ? shift->offset_ns : 0;
    if (layer->lane.sure)
        return true;
    if (!pair_by_vote(layer, offset_ns, err) || !spread_of(layer, *offset_ns, &spread_ns, err))
        return false;
    bool better = count_pairs(layer->pairs, count) > paired && spread_ns < shift->spread_ns / 2;
    layer->lane.open = shift->known && !shift->clear && !better && is_beside(shift, *offset_ns);
    layer->lane.sure = by_shift && !better;
    if (!layer->lane.sure)
        return true;
    *offset_ns = shift->offset_ns;
    return pair_by_clock(layer, *offset_ns);
}

// Pairs of the lane's calls, and by how much its clock differs.
static bool pair_lane(struct layer *layer, int64_t *offset_ns, struct err *err)
{
    struct misfit_lane known = {.calls = layer->known, .count = layer->known_count};
    struct run_shift shift;
    for (uint32_t i = 0; i < layer->lane.count; i++)
        layer->pairs[i] = NONE;
    layer->lane.sure = known.count == 0 || (layer->aligned && pair_by_clock(layer, 0));
    return layer->lane.sure || (run_shift_find(known, layer->lane, layer->scratch, &shift, err) &&
                                pair_by_ends(layer, &shift, offset_ns, err));
}

// --- layers -------------------------------------------------------------------------------------

static bool make_room(struct layer *layer, uint32_t fresh, struct arena *arena, struct err *err)
{
    if (layer->known_count + fresh <= layer->known_cap)
        return true;
    uint32_t cap = 2 * layer->known_cap > layer->known_count + fresh ? 2 * layer->known_cap
                                                                     : layer->known_count + fresh;
    struct misfit_call *room = arena_room(arena, 2 * (size_t)cap, sizeof *room, err);
    if (!room)
        return false;
    if (layer->known_count)
        memcpy(room, layer->known, layer->known_count * sizeof *room);
    layer->known = room;
    layer->spare = room + cap;
    layer->known_cap = cap;
    return true;
}

// Unpaired calls of the lane become known, ordered by end.
static bool learn(struct layer *layer, int64_t offset_ns, struct arena *arena, struct err *err)
{
    uint32_t count = layer->lane.count, at = 0, known = 0;
    uint32_t fresh = count - count_pairs(layer->pairs, count);
    for (uint32_t i = 0; i < count; i++)
        layer->slots[layer->lane.calls[i].index] =
            layer->pairs[i] == NONE ? layer->slot_count++ : layer->known[layer->pairs[i]].index;
    if (fresh == 0)
        return true;
    if (!make_room(layer, fresh, arena, err))
        return false;
    struct misfit_call *merged = layer->spare;
    for (uint32_t i = 0; i < count; i++) {
        if (layer->pairs[i] != NONE)
            continue;
        struct misfit_call call = layer->lane.calls[i];
        call.end_ns += offset_ns;
        call.index = layer->slots[call.index];
        while (known < layer->known_count && layer->known[known].end_ns <= call.end_ns)
            merged[at++] = layer->known[known++];
        merged[at++] = call;
    }
    while (known < layer->known_count)
        merged[at++] = layer->known[known++];
    layer->spare = layer->known;
    layer->known = merged;
    layer->known_count = at;
    return true;
}

static bool add_lane(struct layer *layer, struct misfit_lane *lane, struct arena *arena,
                     struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, arena->budget);
    layer->scratch = &scratch;
    layer->lane = *lane;
    int64_t offset_ns = 0;
    layer->pairs = arena_room(&scratch, lane->count, sizeof *layer->pairs, err);
    bool ok = layer->pairs && sort_by_end(lane, &scratch, err) &&
              pair_lane(layer, &offset_ns, err) && learn(layer, offset_ns, arena, err);
    *lane = layer->lane;
    arena_free(&scratch);
    return ok;
}

static uint32_t longest_of(const struct misfit_lane *lanes, uint32_t lane_count)
{
    uint32_t longest = 0;
    for (uint32_t i = 1; i < lane_count; i++)
        if (lanes[i].count > lanes[longest].count)
            longest = i;
    return longest;
}

// Numbers the slots by their place in time.
static bool number_slots(const struct layer *layer, const struct misfit *misfit,
                         struct arena *arena, struct err *err)
{
    uint32_t *place = arena_room(arena, layer->slot_count, sizeof *place, err);
    if (!place)
        return false;
    for (uint32_t i = 0; i < layer->known_count; i++)
        place[layer->known[i].index] = i;
    for (uint32_t l = 0; l < misfit->lane_count; l++)
        for (uint32_t i = 0; i < misfit->lanes[l].count; i++) {
            uint32_t *slot = &misfit->slots[misfit->lanes[l].calls[i].index];
            *slot = place[*slot];
        }
    return true;
}

static bool match(struct misfit *misfit, struct arena *arena, struct err *err)
{
    struct layer layer = {.slots = misfit->slots, .aligned = misfit->aligned};
    uint32_t first = longest_of(misfit->lanes, misfit->lane_count);
    if (!add_lane(&layer, &misfit->lanes[first], arena, err))
        return false;
    for (uint32_t l = 0; l < misfit->lane_count; l++)
        if (l != first && !add_lane(&layer, &misfit->lanes[l], arena, err))
            return false;
    misfit->slot_count = layer.slot_count;
    return number_slots(&layer, misfit, arena, err);
}

bool run_misfit_match(struct misfit *misfit, struct budget *budget, struct err *err)
{
    struct arena arena;
    arena_init(&arena, budget);
    misfit->slot_count = 0;
    bool ok = misfit->lane_count == 0 || match(misfit, &arena, err);
    arena_free(&arena);
    return ok;
}

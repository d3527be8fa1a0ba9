// SPDX-License-Identifier: Apache-2.0
#include "ingest/base/hash.h"
#include "ingest/evidence/evidence.h"

#include <math.h>
#include <stdlib.h>

enum {
    FEWEST_SLOTS = 64,
    FEWEST_SAMPLES = 16,
    MOST_COMPARED = 4096, // devices, with each new way to name one
};

// --- metrics ------------------------------------------------------------------------------------

static const enum sample_dimension dimensions[SAMPLE_METRICS] = {
    [SAMPLE_UTILIZATION] = SAMPLE_PERCENT,
    [SAMPLE_MEMORY_UTILIZATION] = SAMPLE_PERCENT,
    [SAMPLE_ENGINE_ACTIVITY] = SAMPLE_PERCENT,
    [SAMPLE_SM_ACTIVITY] = SAMPLE_PERCENT,
    [SAMPLE_SM_OCCUPANCY] = SAMPLE_PERCENT,
    [SAMPLE_TENSOR_ACTIVITY] = SAMPLE_PERCENT,
    [SAMPLE_DRAM_ACTIVITY] = SAMPLE_PERCENT,
    [SAMPLE_FP64_ACTIVITY] = SAMPLE_PERCENT,
    [SAMPLE_FP32_ACTIVITY] = SAMPLE_PERCENT,
    [SAMPLE_FP16_ACTIVITY] = SAMPLE_PERCENT,
    [SAMPLE_ENCODER_UTILIZATION] = SAMPLE_PERCENT,
    [SAMPLE_DECODER_UTILIZATION] = SAMPLE_PERCENT,
    [SAMPLE_JPEG_UTILIZATION] = SAMPLE_PERCENT,
    [SAMPLE_OFA_UTILIZATION] = SAMPLE_PERCENT,
    [SAMPLE_MEMORY_USED] = SAMPLE_BYTES,
    [SAMPLE_MEMORY_FREE] = SAMPLE_BYTES,
    [SAMPLE_MEMORY_TOTAL] = SAMPLE_BYTES,
    [SAMPLE_MEMORY_USED_SHARE] = SAMPLE_PERCENT,
    [SAMPLE_BAR1_USED] = SAMPLE_BYTES,
    [SAMPLE_POWER] = SAMPLE_WATTS,
    [SAMPLE_POWER_INSTANT] = SAMPLE_WATTS,
    [SAMPLE_POWER_LIMIT] = SAMPLE_WATTS,
    [SAMPLE_ENERGY] = SAMPLE_JOULES,
    [SAMPLE_TEMPERATURE] = SAMPLE_CELSIUS,
    [SAMPLE_HOTSPOT_TEMPERATURE] = SAMPLE_CELSIUS,
    [SAMPLE_MEMORY_TEMPERATURE] = SAMPLE_CELSIUS,
    [SAMPLE_SM_CLOCK] = SAMPLE_MEGAHERTZ,
    [SAMPLE_GRAPHICS_CLOCK] = SAMPLE_MEGAHERTZ,
    [SAMPLE_MEMORY_CLOCK] = SAMPLE_MEGAHERTZ,
    [SAMPLE_VIDEO_CLOCK] = SAMPLE_MEGAHERTZ,
    [SAMPLE_SM_CLOCK_MAX] = SAMPLE_MEGAHERTZ,
    [SAMPLE_GRAPHICS_CLOCK_MAX] = SAMPLE_MEGAHERTZ,
    [SAMPLE_MEMORY_CLOCK_MAX] = SAMPLE_MEGAHERTZ,
    [SAMPLE_THROTTLE_REASONS] = SAMPLE_BITS,
    [SAMPLE_POWER_VIOLATION] = SAMPLE_PERCENT,
    [SAMPLE_THERMAL_VIOLATION] = SAMPLE_PERCENT,
    [SAMPLE_POWER_VIOLATION_TIME] = SAMPLE_SECONDS,
    [SAMPLE_THERMAL_VIOLATION_TIME] = SAMPLE_SECONDS,
    [SAMPLE_FAN] = SAMPLE_PERCENT,
    [SAMPLE_PCIE_SENT] = SAMPLE_BYTES_PER_S,
    [SAMPLE_PCIE_RECEIVED] = SAMPLE_BYTES_PER_S,
    [SAMPLE_PCIE_TRAFFIC] = SAMPLE_BYTES_PER_S,
    [SAMPLE_LINK_SENT] = SAMPLE_BYTES_PER_S,
    [SAMPLE_LINK_RECEIVED] = SAMPLE_BYTES_PER_S,
    [SAMPLE_LINK_TRAFFIC] = SAMPLE_BYTES_PER_S,
    [SAMPLE_PCIE_GENERATION] = SAMPLE_COUNT,
    [SAMPLE_PCIE_WIDTH] = SAMPLE_COUNT,
    [SAMPLE_PCIE_REPLAYS] = SAMPLE_COUNT,
    [SAMPLE_ECC_CORRECTED] = SAMPLE_COUNT,
    [SAMPLE_ECC_UNCORRECTED] = SAMPLE_COUNT,
    [SAMPLE_XID] = SAMPLE_COUNT,
    [SAMPLE_PERFORMANCE_STATE] = SAMPLE_COUNT,
};

enum sample_dimension sample_metric_dimension(enum sample_metric metric)
{
    return dimensions[metric];
}

// --- devices ------------------------------------------------------------------------------------

static uint64_t add_to_key(uint64_t key, struct str text)
{
    return text.len ? hash_mix(key ^ text.len, hash_bytes(text.at, text.len)) : hash_u64(key);
}

// A name may be cut or reworded, so it tells devices apart only if nothing else does; and with an
// index some lines of a device may have its PCI address and others not.
static uint64_t key_of(const struct sample_identity *is)
{
    uint64_t key = hash_u64((uint64_t)is->index);
    key = add_to_key(key, is->host);
    key = add_to_key(key, is->uuid);
    key = add_to_key(key, is->uuid.len || is->index >= 0 ? STR("") : is->bus_id);
    key = add_to_key(key, is->part);
    bool known = is->index >= 0 || is->uuid.len || is->bus_id.len;
    return known ? key : add_to_key(key, is->name);
}

// The slot of a key, or the free one for it.
static struct sample_slot *slot_of(const struct sample_set *set, uint64_t key)
{
    for (size_t at = key & (set->slot_count - 1);; at = (at + 1) & (set->slot_count - 1))
        if (!set->slots[at].device || set->slots[at].key == key)
            return &set->slots[at];
}

static bool add_slots(struct evidence *evidence, struct err *err)
{
    struct sample_set *set = &evidence->samples;
    struct sample_set larger = {.slot_count = set->slot_count ? 2 * set->slot_count : FEWEST_SLOTS};
    larger.slots = budget_zalloc(evidence->budget, larger.slot_count * sizeof *larger.slots, err);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < set->slot_count; i++)
        if (set->slots[i].device)
            *slot_of(&larger, set->slots[i].key) = set->slots[i];
    budget_free(evidence->budget, set->slots, set->slot_count * sizeof *set->slots);
    set->slots = larger.slots;
    set->slot_count = larger.slot_count;
    return true;
}

static bool keep_text(struct evidence *evidence, struct str text, struct str *kept, struct err *err)
{
    return kept->len || !text.len || evidence_text(evidence, text, kept, err);
}

// Adds what is not known of the device yet.
static bool keep_identity(struct evidence *evidence, const struct sample_identity *is,
                          struct sample_identity *kept, struct err *err)
{
    kept->index = kept->index < 0 ? is->index : kept->index;
    return keep_text(evidence, is->host, &kept->host, err) &&
           keep_text(evidence, is->uuid, &kept->uuid, err) &&
           keep_text(evidence, is->bus_id, &kept->bus_id, err) &&
           keep_text(evidence, is->name, &kept->name, err) &&
           keep_text(evidence, is->part, &kept->part, err);
}

static bool add_device(struct evidence *evidence, const struct sample_identity *is, struct err *err)
{
    struct sample_set *set = &evidence->samples;
    struct sample_device *grown = budget_room(evidence->budget, set->devices, &set->device_cap,
                                              set->device_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    set->devices = grown;
    struct sample_device *device = &grown[set->device_count];
    *device = (struct sample_device){.is = {.host = STR(""),
                                            .uuid = STR(""),
                                            .bus_id = STR(""),
                                            .name = STR(""),
                                            .part = STR(""),
                                            .index = -1}};
    if (!keep_identity(evidence, is, &device->is, err))
        return false;
    set->device_count++;
    return true;
}

static bool agree(struct str a, struct str b)
{
    return !a.len || !b.len || str_equal(a, b);
}

static bool are_same(struct str a, struct str b)
{
    return a.len && str_equal(a, b);
}

// Whether something that tells devices apart is the same, and nothing that both say differs.
static bool is_alike(const struct sample_identity *a, const struct sample_identity *b)
{
    bool index = a->index >= 0 && a->index == b->index;
    if (!index && a->index >= 0 && b->index >= 0)
        return false;
    return (index || are_same(a->uuid, b->uuid) || are_same(a->bus_id, b->bus_id)) &&
           agree(a->host, b->host) && agree(a->uuid, b->uuid) && agree(a->bus_id, b->bus_id) &&
           str_equal(a->part, b->part);
}

// Lines of one device need not identify it equally, as labels of metrics differ. Returns the number
// of devices if none is alike, or several are.
static size_t find_alike(const struct sample_set *set, const struct sample_identity *is)
{
    size_t found = set->device_count, count = 0;
    if (set->device_count > MOST_COMPARED)
        return found;
    for (size_t i = 0; i < set->device_count && count < 2; i++)
        if (is_alike(&set->devices[i].is, is)) {
            found = i;
            count++;
        }
    return count == 1 ? found : set->device_count;
}

bool samples_device(struct evidence *evidence, const struct sample_identity *is, uint32_t *device,
                    struct err *err)
{
    struct sample_set *set = &evidence->samples;
    uint64_t key = key_of(is);
    if (2 * set->slots_used >= set->slot_count && !add_slots(evidence, err))
        return false;
    struct sample_slot *slot = slot_of(set, key);
    *device = slot->device ? slot->device - 1 : SAMPLE_NO_DEVICE;
    if (slot->device || set->device_count >= SAMPLE_MOST_DEVICES)
        return true;
    size_t at = find_alike(set, is);
    bool ok = at < set->device_count ? keep_identity(evidence, is, &set->devices[at].is, err)
                                     : add_device(evidence, is, err);
    if (!ok)
        return false;
    *device = (uint32_t)at;
    *slot = (struct sample_slot){key, (uint32_t)at + 1};
    set->slots_used++;
    return true;
}

// --- series -------------------------------------------------------------------------------------

static struct sample_series *add_series(struct evidence *evidence, uint32_t device,
                                        enum sample_metric metric, struct err *err)
{
    struct sample_set *set = &evidence->samples;
    struct sample_series *grown = budget_room(evidence->budget, set->series, &set->series_cap,
                                              set->series_count + 1, sizeof *grown, err);
    if (!grown)
        return NULL;
    set->series = grown;
    struct sample_series *series = &grown[set->series_count++];
    *series = (struct sample_series){.device = device, .metric = metric};
    set->devices[device].series[metric] = (uint32_t)set->series_count;
    return series;
}

// By a quarter: with twice the room, half of the memory might be unused.
static bool make_room(struct budget *budget, struct sample_series *series, struct err *err)
{
    size_t cap = series->cap + series->cap / 4 + FEWEST_SAMPLES;
    struct sample *at =
        budget_realloc(budget, series->at, series->cap * sizeof *at, cap * sizeof *at, err);
    if (!at)
        return false;
    series->at = at;
    series->cap = cap;
    return true;
}

bool samples_add(struct evidence *evidence, uint32_t device, enum sample_metric metric,
                 struct sample sample, struct err *err)
{
    uint32_t place = evidence->samples.devices[device].series[metric];
    struct sample_series *series =
        place ? &evidence->samples.series[place - 1] : add_series(evidence, device, metric, err);
    if (!series)
        return false;
    if (!isfinite(sample.value)) {
        series->missing++;
        return true;
    }
    if (series->count == series->cap && !make_room(evidence->budget, series, err))
        return false;
    series->at[series->count++] = sample;
    return true;
}

const struct sample_series *samples_of(const struct sample_set *set, uint32_t device,
                                       enum sample_metric metric)
{
    uint32_t place = set->devices[device].series[metric];
    return place ? &set->series[place - 1] : NULL;
}

static int by_time(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static uint64_t count_backward(const struct sample_series *series)
{
    uint64_t count = 0;
    for (size_t i = 1; i < series->count; i++)
        count += series->at[i].time_ns < series->at[i - 1].time_ns;
    return count;
}

static void give_back_room(struct budget *budget, struct sample_series *series)
{
    struct err ignored;
    size_t size = sizeof *series->at;
    struct sample *at = series->count ? budget_realloc(budget, series->at, series->cap * size,
                                                       series->count * size, &ignored)
                                      : NULL;
    if (!at)
        return; // it stays as it is
    series->at = at;
    series->cap = series->count;
}

// Of a series by time: what two answers about one time have in common counts once. How many were
// dropped.
static size_t drop_repeated(struct sample_series *series)
{
    size_t kept = series->count > 0, count = series->count;
    for (size_t i = 1; i < count; i++)
        if (by_time(&series->at[i], &series->at[kept - 1]) != 0)
            series->at[kept++] = series->at[i];
    series->count = kept;
    return count - kept;
}

// A device has no more rows than the series with the most samples.
static void count_rows(struct sample_set *set, uint32_t device)
{
    uint64_t most = 0;
    for (size_t i = 0; i < SAMPLE_METRICS; i++) {
        const struct sample_series *series = samples_of(set, device, (enum sample_metric)i);
        uint64_t rows = series ? series->count + series->missing : 0;
        most = rows > most ? rows : most;
    }
    if (most && most < set->devices[device].rows)
        set->devices[device].rows = (uint32_t)most;
}

void samples_settle(struct evidence *evidence)
{
    struct sample_set *set = &evidence->samples;
    size_t dropped = 0;
    for (size_t i = 0; i < set->series_count; i++) {
        struct sample_series *series = &set->series[i];
        uint64_t backward = count_backward(series);
        set->backward += backward;
        if (backward)
            qsort(series->at, series->count, sizeof *series->at, by_time);
        dropped += set->clock == SAMPLE_CLOCK_UTC ? drop_repeated(series) : 0;
        give_back_room(evidence->budget, series);
    }
    for (uint32_t i = 0; dropped && i < set->device_count; i++)
        count_rows(set, i);
}

// --- the set ------------------------------------------------------------------------------------

static bool is_left_out(const struct sample_set *set, struct str name)
{
    for (size_t i = 0; i < set->left_out_count; i++)
        if (str_equal(set->left_out[i], name))
            return true;
    return false;
}

bool samples_leave_out(struct evidence *evidence, struct str name, struct err *err)
{
    struct sample_set *set = &evidence->samples;
    struct str kept;
    if (is_left_out(set, name))
        return true;
    if (set->left_out_count == SAMPLE_MOST_LEFT_OUT) {
        set->left_out_more++;
        return true;
    }
    if (!evidence_text(evidence, name, &kept, err))
        return false;
    if (!is_left_out(set, kept)) // it may be stored under another name, without a secret
        set->left_out[set->left_out_count++] = kept;
    return true;
}

void samples_bad_row(struct sample_set *set, uint64_t pos)
{
    if (set->bad_rows++ == 0)
        set->bad_pos = pos;
}

void samples_free(struct sample_set *set, struct budget *budget)
{
    for (size_t i = 0; i < set->series_count; i++)
        budget_free(budget, set->series[i].at, set->series[i].cap * sizeof *set->series[i].at);
    budget_free(budget, set->series, set->series_cap * sizeof *set->series);
    budget_free(budget, set->devices, set->device_cap * sizeof *set->devices);
    budget_free(budget, set->slots, set->slot_count * sizeof *set->slots);
    *set = (struct sample_set){0};
}

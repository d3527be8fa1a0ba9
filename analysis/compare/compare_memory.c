// SPDX-License-Identifier: Apache-2.0
// Memory peaks of both sides, device by device.
#include "analysis/compare/compare_pair.h"
#include "analysis/report/tables.h"

#define MAX_DEVICES 64 // of both sides together; a rank has one, seldom more

enum peak { ALLOCATED, RESERVED, CAPACITY, PEAK_COUNT };

struct device {
    struct str name;
    int64_t bytes[SIDES][PEAK_COUNT]; // largest of the runs, -1 if unknown
};

struct devices {
    struct device at[MAX_DEVICES];
    size_t count;
    bool alone; // each run has at most one accelerator, whose number only shows where its rank was
                // placed
};

// The number of an accelerator; no text if it is not one. What vendors call cuda:0 and hip:0 is the
// same place in a job.
static struct str number_of(struct str name)
{
    const struct str prefixes[] = {STR("cuda:"), STR("hip:")};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (str_starts_with(name, prefixes[i]))
            return (struct str){name.at + prefixes[i].len, name.len - prefixes[i].len};
    return (struct str){NULL, 0};
}

static bool has_one_accelerator(const struct compare_side *side)
{
    for (size_t r = 0; r < side->run_count; r++) {
        const struct table *memory = report_find(side->runs[r].rank, "memory");
        size_t accelerators = 0;
        for (size_t i = 0; memory && i < memory->row_count; i++)
            accelerators += number_of(table_cell(memory, i, MEMORY_DEVICE)->s).at != NULL;
        if (accelerators > 1)
            return false;
    }
    return true;
}

static bool is_same(const struct devices *devices, struct str one, struct str other)
{
    struct str number = number_of(one), other_number = number_of(other);
    if (!number.at || !other_number.at)
        return str_equal(one, other);
    return devices->alone || str_equal(number, other_number);
}

static struct device *find_device(struct devices *devices, struct str name)
{
    for (size_t i = 0; i < devices->count; i++)
        if (is_same(devices, devices->at[i].name, name))
            return &devices->at[i];
    if (devices->count == MAX_DEVICES)
        return NULL;
    struct device *device = &devices->at[devices->count++];
    *device = (struct device){.name = name, .bytes = {{-1, -1, -1}, {-1, -1, -1}}};
    return device;
}

static void read_row(struct devices *devices, const struct table *memory, size_t row, int side)
{
    static const unsigned columns[PEAK_COUNT] = {MEMORY_PEAK_ALLOCATED_BYTES,
                                                 MEMORY_PEAK_RESERVED_BYTES, MEMORY_CAPACITY_BYTES};
    struct device *device = find_device(devices, table_cell(memory, row, MEMORY_DEVICE)->s);
    for (int p = 0; device && p < PEAK_COUNT; p++) {
        const struct cell *cell = table_cell(memory, row, columns[p]);
        if (!cell->null && cell->i > device->bytes[side][p])
            device->bytes[side][p] = cell->i;
    }
}

static void read_side(struct devices *devices, const struct compare_side *from, int side)
{
    for (size_t r = 0; r < from->run_count; r++) {
        const struct table *memory = report_find(from->runs[r].rank, "memory");
        for (size_t i = 0; memory && i < memory->row_count; i++)
            read_row(devices, memory, i, side);
    }
}

static bool add_device(const struct pair *pair, const struct device *device, struct err *err)
{
    static const struct {
        unsigned base, cand, delta; // 0: none
    } columns[PEAK_COUNT] = {
        [ALLOCATED] = {COMPARE_MEMORY_BASE_ALLOCATED_BYTES, COMPARE_MEMORY_CAND_ALLOCATED_BYTES,
                       COMPARE_MEMORY_DELTA_ALLOCATED_BYTES},
        [RESERVED] = {COMPARE_MEMORY_BASE_RESERVED_BYTES, COMPARE_MEMORY_CAND_RESERVED_BYTES,
                      COMPARE_MEMORY_DELTA_RESERVED_BYTES},
        [CAPACITY] = {COMPARE_MEMORY_BASE_CAPACITY_BYTES, COMPARE_MEMORY_CAND_CAPACITY_BYTES, 0},
    };
    struct row row = {.desc = &table_compare_memory};
    row_i64(&row, COMPARE_MEMORY_CAND, pair->number);
    row_text(&row, COMPARE_MEMORY_DEVICE, device->name);
    for (int p = 0; p < PEAK_COUNT; p++) {
        int64_t base = device->bytes[BASE][p], cand = device->bytes[CAND][p];
        row_i64_if(&row, columns[p].base, base >= 0, base);
        row_i64_if(&row, columns[p].cand, cand >= 0, cand);
        if (columns[p].delta)
            row_i64_if(&row, columns[p].delta, base >= 0 && cand >= 0, cand - base);
    }
    return row_end(&row, pair->report, err);
}

bool compare_memory_write(const struct pair *pair, struct err *err)
{
    struct devices devices = {.alone = has_one_accelerator(pair->sides[BASE]->side) &&
                                       has_one_accelerator(pair->sides[CAND]->side)};
    for (int side = 0; side < SIDES; side++)
        read_side(&devices, pair->sides[side]->side, side);
    for (size_t i = 0; i < devices.count; i++)
        if (!add_device(pair, &devices.at[i], err))
            return false;
    return true;
}

// SPDX-License-Identifier: Apache-2.0
// The devices of a trace, and what it knows of where they are: a monitor of the host names GPUs by
// index, UUID or PCI address.
#include "analysis/trace/analyses.h"
#include "analysis/trace/platform.h"
#include "analysis/report/tables.h"

struct place {
    int64_t gpu;       // index on the host, -1 unknown
    const char *basis; // NULL: unknown
    struct str uuid, bus_id;
};

#define AROUND_ITEMS " \"'[]"

// A setting of that name, also as a member of the recorded environment: "env.NAME".
static struct str setting_of(const struct trace *trace, const char *name)
{
    size_t len = strlen(name);
    for (uint32_t i = 0; i < trace->setting_count; i++) {
        struct str key = trace_text(trace, trace->settings[i].key);
        bool ends = key.len >= len && memcmp(key.at + key.len - len, name, len) == 0;
        if (ends && (key.len == len || key.at[key.len - len - 1] == '.'))
            return trace_text(trace, trace->settings[i].text);
    }
    return STR("");
}

// The item of a list "4,5,6,7"; empty when it has fewer.
static struct str item_of(struct str list, int64_t index)
{
    for (int64_t i = 0; list.len; i++) {
        const char *comma = memchr(list.at, ',', list.len);
        size_t len = comma ? (size_t)(comma - list.at) : list.len;
        if (i == index)
            return str_trim((struct str){list.at, len}, AROUND_ITEMS);
        len += comma != NULL;
        list = (struct str){list.at + len, list.len - len};
    }
    return STR("");
}

// PyTorch with rocprofiler-sdk writes the GPU's index on the host, whichever the process may see.
static bool numbers_host(const struct facts *facts)
{
    return facts->trace->job.recorder == RECORDER_PYTORCH &&
           trace_setting_find(facts->trace, STR("rocprofiler-sdk_version")) != NULL;
}

// With roctracer it is the number of the agent, which counts CPUs as well: on a host of two, the
// first GPU is 2.
static bool counts_agents(const struct facts *facts)
{
    const char *flavour = platform_flavour(facts);
    return facts->trace->job.recorder == RECORDER_PYTORCH && !numbers_host(facts) && flavour &&
           strcmp(flavour, "rocm") == 0;
}

// Devices of a process are numbered by the list of those that it may see.
static void place_by_list(const struct trace *trace, int64_t device, struct place *place)
{
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                        "ROCR_VISIBLE_DEVICES"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str item = item_of(str_trim(setting_of(trace, names[i]), AROUND_ITEMS), device);
        int64_t gpu;
        if (!item.len)
            continue;
        place->basis = "visible devices";
        place->gpu = str_to_i64(item, &gpu) && gpu >= 0 ? gpu : -1;
        if (place->gpu < 0 && !place->uuid.len)
            place->uuid = item;
        return;
    }
}

static bool local_rank_counts(struct str text, int64_t *local)
{
    return str_to_i64(text, local) && *local >= 0;
}

// If a launcher shows each process one GPU, each of them calls it 0.
static void place_by_rank(const struct facts *facts, int64_t device, struct place *place)
{
    int64_t local;
    struct str text = setting_of(facts->trace, "LOCAL_RANK");
    bool first = device == 0 && local_rank_counts(text, &local) && local > 0;
    bool agent = counts_agents(facts) && local_rank_counts(text, &local);
    if (place->basis || facts->gpu_count != 1 || (!first && !agent))
        return;
    place->basis = "local rank";
    place->gpu = local;
}

// "UUID BUS", "UUID" or "BUS": only a PCI address has colons.
static void read_address(struct str address, struct place *place)
{
    const char *blank = address.len ? memchr(address.at, ' ', address.len) : NULL;
    struct str first = {address.at, blank ? (size_t)(blank - address.at) : address.len};
    if (memchr(first.at, ':', first.len))
        place->bus_id = first;
    else
        place->uuid = first;
    if (blank)
        place->bus_id = (struct str){blank + 1, address.len - first.len - 1};
}

static void place_as_recorded(const struct trace *trace, int64_t device, struct place *place)
{
    for (uint32_t i = 0; i < trace->device_count; i++) {
        struct str address = trace_text(trace, trace->devices[i].address);
        if (trace->devices[i].id == device && address.len)
            read_address(address, place);
    }
}

static int64_t number_of(struct label device, struct str name)
{
    int64_t number;
    if (!device.text)
        return device.number;
    size_t from = str_digits_start(name, name.len);
    return str_to_i64((struct str){name.at + from, name.len - from}, &number) ? number : -1;
}

static struct place place_of(const struct facts *facts, int64_t device)
{
    struct place place = {.gpu = -1};
    if (device < 0)
        return place;
    place_as_recorded(facts->trace, device, &place);
    if (!counts_agents(facts) && !numbers_host(facts))
        place_by_list(facts->trace, device, &place);
    place_by_rank(facts, device, &place);
    if (!place.basis && counts_agents(facts)) {
        place.basis = "agent";
        place.gpu = device;
    } else if (!place.basis) {
        place.basis = facts->trace->device_count == 1 && device == 0 ? "only visible" : "trace";
        place.gpu = device;
    }
    return place;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    (void)scratch;
    for (uint32_t g = 0; g < facts->gpu_count && g < FACTS_DEVICE_ROWS; g++) {
        char text[32];
        struct row row = {.desc = &table_devices};
        struct str name = facts_label(facts->trace, facts->gpus[g], text);
        struct place place = place_of(facts, number_of(facts->gpus[g], name));
        row_text(&row, DEVICES_DEVICE, name);
        row_i64_if(&row, DEVICES_GPU, place.gpu >= 0, place.gpu);
        row_word(&row, DEVICES_GPU_BASIS, place.basis);
        row_text_if(&row, DEVICES_UUID, place.uuid.len, place.uuid);
        row_text_if(&row, DEVICES_BUS_ID, place.bus_id.len, place.bus_id);
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

const struct analysis device_places_analysis = {"device_places", run};

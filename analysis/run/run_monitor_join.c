// SPDX-License-Identifier: Apache-2.0
// Which GPU of a monitor is which rank's: by what both say about it, from the surest to the least.
// What fits several GPUs, or one GPU that several ranks claim by its number, is not guessed.
#include "analysis/run/run_monitors_inner.h"

#include "analysis/report/tables.h"

#include <ctype.h>

struct joining {
    const struct monitor_file *file;
    struct rank_device *devices;
    size_t count;
    bool all_first; // no rank has another device than 0
};

// --- comparing ----------------------------------------------------------------------------------

static struct str without(struct str text, const char *prefix)
{
    struct str start = str_of(prefix);
    bool has = text.len > start.len && str_equal_nocase((struct str){text.at, start.len}, start);
    return has ? (struct str){text.at + start.len, text.len - start.len} : text;
}

// A list of visible devices may have only the first digits of a UUID.
static bool same_uuid(struct str a, struct str b)
{
    a = without(a, "GPU-");
    b = without(b, "GPU-");
    size_t len = a.len < b.len ? a.len : b.len;
    return len >= 6 && str_equal_nocase((struct str){a.at, len}, (struct str){b.at, len});
}

static size_t count_colons(struct str bus)
{
    size_t colons = 0;
    for (size_t i = 0; i < bus.len; i++)
        colons += bus.at[i] == ':';
    return colons;
}

// "00000000:1B:00.0" is "0000:1b:00.0" and "1b:00.0", "00000001:00:00.0" is "0001:00:00.0": domains
// have any number of digits.
static struct str short_bus(struct str bus)
{
    if (count_colons(bus) < 2)
        return bus;
    while (*bus.at == '0')
        bus = (struct str){bus.at + 1, bus.len - 1};
    return *bus.at == ':' ? (struct str){bus.at + 1, bus.len - 1} : bus;
}

static bool same_bus(struct str a, struct str b)
{
    return count_colons(a) > 0 && str_equal_nocase(short_bus(a), short_bus(b));
}

static struct str first_label(struct str host)
{
    const char *dot = host.len ? memchr(host.at, '.', host.len) : NULL;
    return (struct str){host.at, dot ? (size_t)(dot - host.at) : host.len};
}

// "node3:9400" is an address to scrape.
static struct str without_port(struct str host)
{
    const char *colon = host.len ? memrchr(host.at, ':', host.len) : NULL;
    return (struct str){host.at, colon ? (size_t)(colon - host.at) : host.len};
}

static bool is_number(struct str text)
{
    int64_t number;
    return str_to_i64(text, &number);
}

// Names of hosts, of which one may lack the domain. Numbers were inferred, and are no names.
static bool may_be_host(struct str node, struct str host)
{
    host = without_port(host);
    if (!node.len || !host.len || is_number(node))
        return true;
    return str_equal_nocase(node, host) || str_equal_nocase(first_label(node), first_label(host));
}

// Whether a name of a file has that of the node as a word: "smi-node3.csv".
static bool names_node(struct str file, struct str node)
{
    size_t at = node.len && !is_number(node) ? str_find(file, node) : SIZE_MAX;
    if (at == SIZE_MAX)
        return false;
    size_t end = at + node.len;
    return (at == 0 || !isalnum((unsigned char)file.at[at - 1])) &&
           (end == file.len || !isalnum((unsigned char)file.at[end]));
}

// The node that the file's name says, "" without one.
static struct str node_of_file(const struct joining *joining)
{
    struct str found = STR("");
    for (size_t i = 0; i < joining->count; i++) {
        struct str node = first_label(joining->devices[i].node);
        if (node.len > found.len && names_node(joining->file->name, node))
            found = node;
    }
    return found;
}

// --- levels -------------------------------------------------------------------------------------

enum level { BY_UUID, BY_BUS, BY_INDEX, LEVELS };

static bool is_agent(const struct rank_device *device)
{
    return str_equal(device->basis, STR("agent"));
}

static bool fits(const struct rank_device *device, const struct table *monitors, size_t row,
                 enum level level)
{
    struct str uuid = table_text(monitors, row, MONITORS_UUID);
    struct str bus = table_text(monitors, row, MONITORS_BUS_ID);
    switch (level) {
    case BY_UUID: return device->uuid.len && same_uuid(device->uuid, uuid);
    case BY_BUS: return device->bus_id.len && same_bus(device->bus_id, bus);
    case BY_INDEX:
    case LEVELS: break;
    }
    return device->gpu >= 0 && !is_agent(device) &&
           table_i64(monitors, row, MONITORS_GPU, -1) == device->gpu;
}

// Whether both give what the level compares: then another GPU is not it.
static bool both_say(const struct rank_device *device, const struct table *monitors, size_t row,
                     enum level level)
{
    if (level == BY_UUID)
        return device->uuid.len && !table_cell(monitors, row, MONITORS_UUID)->null;
    return level == BY_BUS && device->bus_id.len &&
           !table_cell(monitors, row, MONITORS_BUS_ID)->null;
}

static const char *word_of(const struct rank_device *device, enum level level)
{
    static const char *const words[] = {[BY_UUID] = "UUID", [BY_BUS] = "bus id"};
    if (level != BY_INDEX)
        return words[level];
    if (str_equal(device->basis, STR("visible devices")))
        return "index (visible devices)";
    return str_equal(device->basis, STR("local rank")) ? "index (local rank)" : "index";
}

// A process that sees one GPU calls it 0, whichever it is, unless the ranks have several numbers.
static bool is_numbered(const struct joining *joining, const struct rank_device *device)
{
    return joining->file->monitors->row_count == 1 || !joining->all_first ||
           !str_equal(device->basis, STR("only visible"));
}

static bool is_whole(const struct table *monitors, size_t row)
{
    return table_cell(monitors, row, MONITORS_PART)->null;
}

// Takes the level's only GPU. False: the level says nothing and the next may.
static bool try_level(const struct joining *joining, struct rank_device *device, enum level level)
{
    const struct monitor_file *file = joining->file;
    size_t found = MONITOR_NONE, fitting = 0;
    bool said = false;
    for (size_t i = 0; i < file->monitors->row_count; i++) {
        struct str host = table_text(file->monitors, i, MONITORS_HOST);
        said = said || both_say(device, file->monitors, i, level);
        if (!is_whole(file->monitors, i) || !may_be_host(device->node, host) ||
            !fits(device, file->monitors, i, level))
            continue;
        found = i;
        fitting++;
    }
    if (fitting == 0)
        return said;
    if (level == BY_INDEX && !is_numbered(joining, device)) {
        device->doubt = "the trace sees one GPU, which it calls 0 whichever it is";
        return true;
    }
    if (fitting > 1)
        device->doubt = "several GPUs of the monitor fit: it does not say on which host they are";
    device->monitor = fitting == 1 ? found : MONITOR_NONE;
    device->joined_by = fitting == 1 ? word_of(device, level) : NULL;
    return true;
}

// --- what only all ranks together say -----------------------------------------------------------

// Ranks of a launcher that shows each process one GPU all call it 0; which GPU has which number is
// known only if its address is.
static bool is_by_number(const struct rank_device *device)
{
    return device->joined_by && (strncmp(device->joined_by, "index", 5) == 0 ||
                                 strcmp(device->joined_by, "order of devices") == 0);
}

static void drop_claims(const struct joining *joining)
{
    for (size_t i = 0; i < joining->count; i++) {
        struct rank_device *device = &joining->devices[i];
        bool by_number = is_by_number(device);
        for (size_t k = 0; by_number && k < joining->count; k++)
            if (k != i && joining->devices[k].rank != device->rank &&
                joining->devices[k].monitor == device->monitor)
                device->doubt = "several ranks have a device of this number: their traces do not "
                                "say which GPU or host that is";
    }
    for (size_t i = 0; i < joining->count; i++)
        if (joining->devices[i].doubt) {
            joining->devices[i].monitor = MONITOR_NONE;
            joining->devices[i].joined_by = NULL;
        }
}

// A single GPU and a single rank need no names.
static void join_only(const struct joining *joining)
{
    struct rank_device *device = &joining->devices[0];
    if (joining->count == 1 && joining->file->monitors->row_count == 1 && !device->joined_by &&
        (device->gpu <= 0 || is_agent(device))) {
        device->monitor = 0;
        device->joined_by = "only GPU";
        device->doubt = NULL;
    }
}

// Agents are numbered in the order of the GPUs: with as many of them as GPUs, which is which is
// known.
static void join_agents(const struct joining *joining)
{
    const struct table *monitors = joining->file->monitors;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < joining->count; i++)
        least = joining->devices[i].gpu < least ? joining->devices[i].gpu : least;
    bool complete = joining->count == monitors->row_count;
    for (size_t i = 0; i < joining->count; i++) {
        struct rank_device *device = &joining->devices[i];
        if (!is_agent(device) || device->joined_by || device->doubt)
            continue;
        int64_t place = device->gpu - least;
        bool there = complete && place >= 0 && place < (int64_t)monitors->row_count;
        bool is = there && table_i64(monitors, (size_t)place, MONITORS_GPU, -1) == place;
        device->monitor = is ? (size_t)place : MONITOR_NONE;
        device->joined_by = is ? "order of devices" : NULL;
        device->doubt = is ? NULL
                           : "the trace numbers its GPU together with the CPUs of the host, as "
                             "PyTorch does on ROCm, and not all GPUs have a rank's trace";
    }
}

// As many ranks as GPUs, all with device 0: launchers number them in order.
static void join_in_order(const struct joining *joining)
{
    size_t gpus = joining->file->monitors->row_count;
    if (joining->count != gpus || gpus < 2)
        return;
    for (size_t i = 0; i < gpus; i++) {
        const struct rank_device *device = &joining->devices[i];
        if (device->monitor != MONITOR_NONE || device->gpu != 0 || !device->alone ||
            table_i64(joining->file->monitors, i, MONITORS_GPU, -1) != (int64_t)i)
            return;
    }
    for (size_t i = 0; i < gpus; i++) {
        joining->devices[i].monitor = i;
        joining->devices[i].joined_by = "order of ranks";
        joining->devices[i].doubt = "each rank sees one GPU, which it calls 0: that rank and GPU "
                                    "have the same order is a guess";
    }
}

void monitor_join(const struct monitor_file *file, struct rank_device *devices, size_t count)
{
    struct joining joining = {file, devices, count, true};
    struct str node = node_of_file(&joining);
    for (size_t i = 0; i < count; i++)
        joining.all_first = joining.all_first && devices[i].gpu <= 0;
    for (size_t i = 0; i < count; i++) {
        struct rank_device *device = &devices[i];
        device->monitor = MONITOR_NONE;
        device->joined_by = device->doubt = NULL;
        if (node.len && device->node.len && !str_equal_nocase(first_label(device->node), node))
            continue;
        for (enum level level = BY_UUID; level < LEVELS; level++)
            if (try_level(&joining, device, level))
                break;
    }
    join_agents(&joining);
    drop_claims(&joining);
    if (count)
        join_only(&joining);
    join_in_order(&joining);
}

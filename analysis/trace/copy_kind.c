// SPDX-License-Identifier: Apache-2.0
// Recognizes copies by the names of device events and calls, and by what HIP calls record.
#include "analysis/trace/copy_kind.h"

// The information in a name, packed: direction and host memory of a device event in the low bits,
// whether a call copies and whether it is asynchronous in the high ones.
#define DIRECTION_BITS 7u
#define HOST_SHIFT     3
#define HOST_BITS      3u
#define READ           (1u << 5)
#define CALL           (1u << 6)
#define ASYNC          (1u << 7)

// The first one contained in the name, in any case, counts.
static const struct {
    const char *part;
    enum copy_direction direction;
} directions[] = {
    {"memset", COPY_MEMSET},
    {"fillbuffer", COPY_MEMSET},
    {"htod", COPY_HTOD},
    {"dtoh", COPY_DTOH},
    {"dtod", COPY_DTOD},
    {"ptop", COPY_PTOP},
    {"htoh", COPY_HTOH},
    {"htoa", COPY_HTOD}, // arrays are on the device
    {"atoh", COPY_DTOH},
    {"atod", COPY_DTOD},
    {"dtoa", COPY_DTOD},
    {"atoa", COPY_DTOD},
    {"hosttodevice", COPY_HTOD},
    {"devicetohost", COPY_DTOH},
    {"devicetodevice", COPY_DTOD},
    {"peertopeer", COPY_PTOP},
    {"hosttohost", COPY_HTOH},
    {"host_to_device", COPY_HTOD},
    {"device_to_host", COPY_DTOH},
    {"device_to_device", COPY_DTOD},
    {"peer_to_peer", COPY_PTOP},
    {"host_to_host", COPY_HTOH},
    {"host-to-device", COPY_HTOD},
    {"device-to-host", COPY_DTOH},
    {"device-to-device", COPY_DTOD},
    {"peer-to-peer", COPY_PTOP},
    {"host-to-host", COPY_HTOH},
    {"h2d", COPY_HTOD}, // XLA, as the rest
    {"d2h", COPY_DTOH},
    {"d2d", COPY_DTOD},
    {"p2p", COPY_PTOP},
    {"h2h", COPY_HTOH},
};

static enum copy_direction direction_of(struct str name)
{
    for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
        if (str_contains_nocase(name, str_of(directions[i].part)))
            return directions[i].direction;
    return COPY_UNKNOWN;
}

static enum copy_host host_of(struct str name)
{
    if (str_contains_nocase(name, STR("pageable")))
        return COPY_HOST_PAGEABLE;
    return str_contains_nocase(name, STR("pinned")) ? COPY_HOST_PINNED : COPY_HOST_UNKNOWN;
}

static uint8_t read_name(struct str name)
{
    unsigned calls =
        str_contains_nocase(name, STR("memcpy")) || str_contains_nocase(name, STR("memset"));
    unsigned async = str_contains_nocase(name, STR("async"));
    return (uint8_t)(READ | direction_of(name) | host_of(name) << HOST_SHIFT | calls * CALL |
                     async * ASYNC);
}

static void read_once(const struct copy_names *names, str_id name)
{
    if (!names->names[name])
        names->names[name] = read_name(facts_short_name(names->facts->trace, name));
}

static str_id call_name(const struct facts *facts, uint32_t launch)
{
    return facts->trace->name[facts->launches[launch].event];
}

bool copy_names_make(const struct facts *facts, struct arena *arena, struct copy_names *names,
                     struct err *err)
{
    *names = (struct copy_names){
        facts, arena_array(arena, facts->trace->strings.count, sizeof *names->names, err)};
    if (!names->names)
        return false;
    const uint32_t *first = facts->class_first + CLASS_MEMORY;
    for (uint32_t i = first[0]; i < first[1]; i++) {
        uint32_t launch = facts->devices[facts->class_devices[i]].launch;
        read_once(names, facts_device_name(facts, facts->class_devices[i]));
        if (launch != FACTS_NONE)
            read_once(names, call_name(facts, launch));
    }
    return true;
}

// What the launching call says about the copy, NULL if nothing.
static const struct copy_call *asked(const struct facts *facts, uint32_t launch)
{
    if (launch == FACTS_NONE)
        return NULL;
    const struct trace *trace = facts->trace;
    uint32_t copy = trace->launch_args[trace->args[facts->launches[launch].event]].copy;
    return copy == ARGS_NONE ? NULL : &trace->copy_calls[copy];
}

// A call that launched several copies gives only their total.
static int64_t bytes_of(const struct facts *facts, uint32_t device, const struct copy_call *call)
{
    const struct trace *trace = facts->trace;
    uint32_t args = trace->args[facts->devices[device].event];
    int64_t bytes = trace->shapes[trace->device_args[args].shape].bytes;
    if (bytes >= 0)
        return bytes;
    bool alone = call && facts->launches[facts->devices[device].launch].count == 1;
    return alone && call->bytes > 0 ? call->bytes : VALUE_ABSENT;
}

static enum copy_wait wait_of(const struct copy_names *names, uint32_t device,
                              const struct copy_kind *kind)
{
    const struct facts *facts = names->facts;
    uint32_t launch = facts->devices[device].launch;
    if (launch == FACTS_NONE)
        return COPY_WAIT_UNKNOWN;
    bool host = kind->direction == COPY_HTOD || kind->direction == COPY_DTOH ||
                kind->direction == COPY_HTOH || kind->direction == COPY_UNKNOWN;
    bool async = names->names[call_name(facts, launch)] & ASYNC;
    if (!copy_kind_is_call(names, launch) || (async && (!host || kind->host == COPY_HOST_PINNED)))
        return COPY_WAIT_NO;
    if (!async && kind->direction == COPY_DTOH)
        return COPY_WAIT_YES;
    int64_t end_ns = facts_event_end(facts->trace, facts->launches[launch].event);
    return end_ns >= facts->devices[device].end_ns ? COPY_WAIT_YES : COPY_WAIT_NO;
}

struct copy_kind copy_kind_of(const struct copy_names *names, uint32_t device)
{
    const struct facts *facts = names->facts;
    const struct copy_call *call = asked(facts, facts->devices[device].launch);
    unsigned read = names->names[facts_device_name(facts, device)];
    struct copy_kind kind = {
        .direction = (enum copy_direction)(read & DIRECTION_BITS),
        .host = (enum copy_host)(read >> HOST_SHIFT & HOST_BITS),
        .bytes = bytes_of(facts, device, call),
    };
    if (facts->trace->kind[facts->devices[device].event] == EVENT_MEMSET)
        kind.direction = COPY_MEMSET;
    else if (kind.direction != COPY_MEMSET && kind.direction != COPY_PTOP && call &&
             call->direction != COPY_UNKNOWN)
        kind.direction = (enum copy_direction)call->direction;
    kind.wait = wait_of(names, device, &kind);
    return kind;
}

bool copy_kind_is_call(const struct copy_names *names, uint32_t launch)
{
    return names->names[call_name(names->facts, launch)] & CALL;
}

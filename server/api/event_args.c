// SPDX-License-Identifier: Apache-2.0
#include "server/api/event_args.h"

#include "analysis/names/bandwidth.h"

#include <math.h>

struct writer {
    const struct trace_file *file;
    struct trace_texts texts;
    struct buf *out;
};

// One element of a section.
static bool get_element(const struct writer *writer, enum section_id id, uint64_t index, void *to,
                        struct err *err)
{
    struct trace_blocks blocks = trace_blocks_of(writer->file, id);
    const void *element = trace_blocks_element(&blocks, index, err);
    if (element)
        memcpy(to, element, section_element(id));
    trace_blocks_close(&blocks);
    return element;
}

static void put_member(struct buf *out, const char *name)
{
    bool is_first = out->len && out->at[out->len - 1] == '{';
    buf_printf(out, "%s\"%s\":", is_first ? "" : ",", name);
}

static void put_number(struct buf *out, const char *name, int64_t value)
{
    put_member(out, name);
    if (value == VALUE_ABSENT)
        buf_puts(out, "null");
    else
        buf_i64(out, value);
}

static bool put_text(struct writer *writer, const char *name, str_id id, struct err *err)
{
    struct str text;
    put_member(writer->out, name);
    if (!id) {
        buf_puts(writer->out, "null");
        return true;
    }
    if (!trace_texts_get(&writer->texts, id, &text, err))
        return false;
    buf_json(writer->out, text);
    return true;
}

// --- the launch ---------------------------------------------------------------------------------

static void put_three(struct buf *out, const char *name, const int32_t sizes[3])
{
    put_member(out, name);
    if (sizes[0] || sizes[1] || sizes[2])
        buf_printf(out, "[%d,%d,%d]", sizes[0], sizes[1], sizes[2]);
    else
        buf_puts(out, "null");
}

static int64_t known(int32_t value)
{
    return value < 0 ? VALUE_ABSENT : value;
}

static void put_shape(struct buf *out, const struct launch_shape *shape)
{
    put_three(out, "grid", shape->grid);
    put_three(out, "block", shape->block);
    put_number(out, "registers", known(shape->registers));
    put_number(out, "shared_bytes", shape->shared_bytes);
    put_number(out, "occupancy_percent", known(shape->occupancy_percent));
}

// --- bytes --------------------------------------------------------------------------------------

static void put_rate(struct buf *out, const char *name, double gbps)
{
    put_member(out, name);
    buf_f64(out, gbps);
}

static void put_bytes(struct buf *out, int64_t bytes, int64_t dur_ns, double bus_factor)
{
    double gbps = bytes >= 0 && dur_ns > 0 ? (double)bytes / (double)dur_ns : NAN;
    put_number(out, "bytes", bytes < 0 ? VALUE_ABSENT : bytes);
    put_rate(out, "gbps", gbps);
    put_rate(out, "bus_gbps", gbps * bus_factor);
}

// The bytes and bandwidth of a copy by its launch shape, of a collective by its elements.
static bool put_traffic(struct writer *writer, const struct event_links *links,
                        const struct launch_shape *shape, const struct collective *c,
                        struct err *err)
{
    const struct trace_event *event = &links->event.event;
    int64_t dur_ns = event->end_ns - event->begin_ns;
    struct str name, dtype;
    if (!c) {
        put_bytes(writer->out, shape->bytes == VALUE_ABSENT ? -1 : shape->bytes, dur_ns, NAN);
        return true;
    }
    if (!trace_texts_get(&writer->texts, c->name, &name, err))
        return false;
    enum collective_kind kind = bandwidth_kind(name);
    if (!trace_texts_get(&writer->texts, c->dtype, &dtype, err))
        return false;
    put_bytes(writer->out, bandwidth_bytes(kind, c, bandwidth_element_bytes(dtype)), dur_ns,
              bandwidth_bus_factor(kind, c->group_size));
    return true;
}

static bool put_collective(struct writer *writer, const struct collective *c, struct err *err)
{
    struct buf *out = writer->out;
    put_member(out, "collective");
    buf_puts(out, c ? "{" : "null");
    if (!c)
        return true;
    if (!put_text(writer, "name", c->name, err) || !put_text(writer, "dtype", c->dtype, err) ||
        !put_text(writer, "group", c->group, err) ||
        !put_text(writer, "group_description", c->group_description, err) ||
        !put_text(writer, "group_ranks", c->group_ranks, err))
        return false;
    put_number(out, "group_size", c->group_size);
    put_number(out, "in_elems", c->in_elems);
    put_number(out, "out_elems", c->out_elems);
    put_number(out, "peer", c->peer);
    buf_putc(out, '}');
    return true;
}

// --- the operator -------------------------------------------------------------------------------

static bool read_inputs(const struct writer *writer, const struct trace_event *event,
                        uint32_t *inputs, struct err *err)
{
    struct op_args args = {.inputs = ARGS_NONE};
    bool has_args = event->kind == EVENT_CPU_OP && event->args != ARGS_NONE;
    bool ok = !has_args || get_element(writer, SECTION_OP_ARGS, event->args, &args, err);
    *inputs = args.inputs;
    return ok;
}

// The innermost operator with recorded inputs: the event itself, else one that encloses it.
static bool find_inputs(const struct writer *writer, const struct event_links *links,
                        const struct trace_event **of, uint32_t *inputs, struct err *err)
{
    *of = &links->event.event;
    bool ok = read_inputs(writer, *of, inputs, err);
    for (unsigned i = links->stack_count; ok && *inputs == ARGS_NONE && i-- > 0;) {
        *of = &links->stack[i].event;
        ok = read_inputs(writer, *of, inputs, err);
    }
    return ok;
}

static bool put_inputs(struct writer *writer, const struct event_links *links, struct err *err)
{
    const struct trace_event *of = NULL;
    struct op_inputs inputs;
    uint32_t index;
    if (!find_inputs(writer, links, &of, &index, err))
        return false;
    put_member(writer->out, "inputs");
    buf_puts(writer->out, index == ARGS_NONE ? "null" : "{");
    if (index == ARGS_NONE)
        return true;
    bool ok = get_element(writer, SECTION_OP_INPUTS, index, &inputs, err) &&
              put_text(writer, "of", of->name, err) && put_text(writer, "dims", inputs.dims, err) &&
              put_text(writer, "types", inputs.types, err) &&
              put_text(writer, "strides", inputs.strides, err) &&
              put_text(writer, "concrete", inputs.concrete, err) &&
              put_text(writer, "module", inputs.module, err);
    buf_putc(writer->out, '}');
    return ok;
}

// --- all together -------------------------------------------------------------------------------

static bool put_device(struct writer *writer, const struct event_links *links, struct err *err)
{
    struct launch_shape shape = {.registers = -1,
                                 .occupancy_percent = -1,
                                 .shared_bytes = VALUE_ABSENT,
                                 .bytes = VALUE_ABSENT};
    struct collective collective, *known_collective = NULL;
    const struct trace_event *event = &links->event.event;
    struct device_args args;
    if (event_kind_is_device(event->kind) && event->args != ARGS_NONE) {
        if (!get_element(writer, SECTION_DEVICE_ARGS, event->args, &args, err) ||
            !get_element(writer, SECTION_SHAPES, args.shape, &shape, err))
            return false;
        if (args.collective != ARGS_NONE) {
            known_collective = &collective;
            if (!get_element(writer, SECTION_COLLECTIVES, args.collective, &collective, err))
                return false;
        }
    }
    put_shape(writer->out, &shape);
    return put_traffic(writer, links, &shape, known_collective, err) &&
           put_collective(writer, known_collective, err);
}

bool event_args_json(const struct trace_file *file, const struct event_links *links,
                     struct buf *out, struct err *err)
{
    struct writer writer = {.file = file, .texts = trace_texts_of(file), .out = out};
    buf_putc(out, '{');
    put_number(out, "correlation", links->correlation);
    bool ok = put_device(&writer, links, err) && put_inputs(&writer, links, err);
    buf_putc(out, '}');
    trace_texts_close(&writer.texts);
    return ok && buf_ok(out, err);
}

// SPDX-License-Identifier: Apache-2.0
// Reads the fields that our reader reads, in the way simdjson's documentation calls fastest.
#include "tests/bench/simdjson_pass.h"

#include <cstring>
#include <new>
#include <simdjson.h>

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

struct simdjson_pass {
    ondemand::parser parser;
};

namespace
{

// What our reader keeps of an event's args: ingest/kineto/kineto_event.c, fill_args.
enum class args_kind { none, device, launch, op, memory, metadata };

// Whether a key or text, terminated by its closing quote, is the literal.
template <size_t n> bool is(const char *raw, const char (&literal)[n])
{
    return std::memcmp(raw, literal, n - 1) == 0 && raw[n - 1] == '"';
}

args_kind kind_of(const char *category)
{
    switch (*category) {
    case 'c':
        if (is(category, "cpu_op"))
            return args_kind::op;
        if (is(category, "cuda_runtime") || is(category, "cuda_driver"))
            return args_kind::launch;
        return is(category, "cpu_instant_event") ? args_kind::memory : args_kind::none;
    case 'k': return is(category, "kernel") ? args_kind::device : args_kind::none;
    case 'g':
        return is(category, "gpu_memcpy") || is(category, "gpu_memset") ? args_kind::device
                                                                        : args_kind::none;
    default: return args_kind::none;
    }
}

// ---- values; those of an unexpected type are skipped
// ---------------------------------------------

void read_time(ondemand::value value, simdjson_sums &sums)
{
    double number;
    if (!value.get_double().get(number))
        sums.time_us += number;
}

// HIP writes some numbers in quotes.
void read_integer(ondemand::value value, simdjson_sums &sums)
{
    int64_t number;
    if (!value.get_int64().get(number) || !value.get_int64_in_string().get(number))
        sums.numbers += static_cast<uint64_t>(number);
}

// The raw text, which is faster than resolving its escapes, by 2 to 8 % of the pass.
void read_text(ondemand::value value, simdjson_sums &sums)
{
    sums.text_bytes += value.raw_json_token().size();
}

// Processes, threads, devices and streams are numbers or texts.
void read_label(ondemand::value value, simdjson_sums &sums)
{
    int64_t number;
    if (!value.get_int64().get(number))
        sums.numbers += static_cast<uint64_t>(number);
    else
        read_text(value, sums);
}

void read_raw_list(ondemand::value value, simdjson_sums &sums)
{
    ondemand::array list;
    std::string_view text;
    if (!value.get_array().get(list)) {
        if (!list.raw_json().get(text))
            sums.text_bytes += text.size();
    } else {
        read_text(value, sums);
    }
}

void read_triple(ondemand::value value, simdjson_sums &sums)
{
    ondemand::array list;
    if (value.get_array().get(list))
        return;
    for (auto item : list) {
        int64_t number;
        if (!item.get_int64().get(number))
            sums.numbers += static_cast<uint64_t>(number);
    }
}

// ---- args by category
// ----------------------------------------------------------------------------

void read_collective_arg(const char *key, ondemand::value value, simdjson_sums &sums)
{
    switch (*key) {
    case 'C':
        if (is(key, "Collective name"))
            read_text(value, sums);
        break;
    case 'd':
        if (is(key, "dtype"))
            read_text(value, sums);
        break;
    case 'I':
        if (is(key, "In msg nelems"))
            read_integer(value, sums);
        else if (is(key, "In split size"))
            read_raw_list(value, sums);
        break;
    case 'O':
        if (is(key, "Out msg nelems"))
            read_integer(value, sums);
        else if (is(key, "Out split size"))
            read_raw_list(value, sums);
        break;
    case 'G':
        if (is(key, "Group size") || is(key, "Global rank start") || is(key, "Global rank stride"))
            read_integer(value, sums);
        break;
    case 'P':
        if (is(key, "Process Group Name") || is(key, "Process Group Description") ||
            is(key, "Process Group Ranks"))
            read_raw_list(value, sums);
        break;
    }
}

void read_device_arg(const char *key, ondemand::value value, simdjson_sums &sums)
{
    switch (*key) {
    case 'b':
        if (is(key, "block"))
            read_triple(value, sums);
        else if (is(key, "bytes"))
            read_integer(value, sums);
        break;
    case 'c':
        if (is(key, "correlation"))
            read_integer(value, sums);
        break;
    case 'd':
        if (is(key, "device"))
            read_label(value, sums);
        else
            read_collective_arg(key, value, sums);
        break;
    case 'e':
        if (is(key, "est. achieved occupancy %"))
            read_integer(value, sums);
        break;
    case 'g':
        if (is(key, "grid"))
            read_triple(value, sums);
        break;
    case 'r':
        if (is(key, "registers per thread"))
            read_integer(value, sums);
        break;
    case 's':
        if (is(key, "stream"))
            read_label(value, sums);
        else if (is(key, "shared memory"))
            read_integer(value, sums);
        break;
    case 'S':
        if (is(key, "Seq"))
            read_integer(value, sums);
        break;
    default: read_collective_arg(key, value, sums);
    }
}

void read_launch_arg(const char *key, ondemand::value value, simdjson_sums &sums)
{
    if (is(key, "correlation") || is(key, "kind") || is(key, "bytes") || is(key, "size"))
        read_integer(value, sums);
}

void read_op_arg(const char *key, ondemand::value value, simdjson_sums &sums)
{
    switch (*key) {
    case 'I':
        if (is(key, "Input Dims") || is(key, "Input type") || is(key, "Input Strides"))
            read_raw_list(value, sums);
        else
            read_collective_arg(key, value, sums);
        break;
    case 'C':
        if (is(key, "Concrete Inputs"))
            read_raw_list(value, sums);
        else
            read_collective_arg(key, value, sums);
        break;
    case 'M':
        if (is(key, "Module Hierarchy"))
            read_text(value, sums);
        break;
    case 'S':
        if (is(key, "Sequence number"))
            read_integer(value, sums);
        break;
    default: read_collective_arg(key, value, sums);
    }
}

void read_memory_arg(const char *key, ondemand::value value, simdjson_sums &sums)
{
    if (is(key, "Addr") || is(key, "Bytes") || is(key, "Total Allocated") ||
        is(key, "Total Reserved") || is(key, "Device Type") || is(key, "Device Id"))
        read_integer(value, sums);
}

void read_arg(args_kind kind, const char *key, ondemand::value value, simdjson_sums &sums)
{
    switch (kind) {
    case args_kind::none: break;
    case args_kind::device: read_device_arg(key, value, sums); break;
    case args_kind::launch: read_launch_arg(key, value, sums); break;
    case args_kind::op: read_op_arg(key, value, sums); break;
    case args_kind::memory: read_memory_arg(key, value, sums); break;
    case args_kind::metadata:
        if (is(key, "name"))
            read_text(value, sums);
        break;
    }
}

void read_few_arg(const char *key, ondemand::value value, simdjson_sums &sums)
{
    if (is(key, "correlation") || is(key, "stream") || is(key, "device"))
        read_integer(value, sums);
}

// ---- events
// --------------------------------------------------------------------------------------

struct event_state {
    args_kind kind = args_kind::none;
    bool is_passed_over = false; // a flow or similar, by its phase
};

template <simdjson_fields fields>
error_code read_args(ondemand::value value, const event_state &state, simdjson_sums &sums)
{
    ondemand::object args;
    if (value.get_object().get(args))
        return simdjson::SUCCESS; // args of another shape are skipped
    for (auto item : args) {
        ondemand::field field;
        if (error_code error = std::move(item).get(field))
            return error;
        if (fields == SIMDJSON_FEW)
            read_few_arg(field.key().raw(), field.value(), sums);
        else
            read_arg(state.kind, field.key().raw(), field.value(), sums);
    }
    return simdjson::SUCCESS;
}

void read_phase(ondemand::value value, event_state &state, simdjson_sums &sums)
{
    ondemand::raw_json_string text;
    if (value.get_raw_json_string().get(text))
        return;
    char phase = *text.raw();
    sums.numbers += static_cast<unsigned char>(phase);
    state.is_passed_over = !std::strchr("XBEiM", phase);
    if (phase == 'M')
        state.kind = args_kind::metadata;
}

void read_category(ondemand::value value, event_state &state)
{
    ondemand::raw_json_string category;
    if (!value.get_raw_json_string().get(category))
        state.kind = kind_of(category.raw());
}

template <simdjson_fields fields>
error_code read_field(ondemand::field &field, event_state &state, simdjson_sums &sums)
{
    const char *key = field.key().raw();
    if (fields == SIMDJSON_SAME && is(key, "ph"))
        read_phase(field.value(), state, sums);
    else if (state.is_passed_over)
        return simdjson::SUCCESS;
    else if (is(key, "ts") || is(key, "dur"))
        read_time(field.value(), sums);
    else if (is(key, "name"))
        read_text(field.value(), sums);
    else if (is(key, "cat"))
        read_category(field.value(), state);
    else if (fields == SIMDJSON_SAME && (is(key, "pid") || is(key, "tid")))
        read_label(field.value(), sums);
    else if (is(key, "args") && (fields == SIMDJSON_FEW || state.kind != args_kind::none))
        return read_args<fields>(field.value(), state, sums);
    return simdjson::SUCCESS;
}

template <simdjson_fields fields> error_code read_event(ondemand::value value, simdjson_sums &sums)
{
    event_state state;
    ondemand::object event;
    sums.events++;
    if (value.get_object().get(event))
        return simdjson::SUCCESS;
    for (auto item : event) {
        ondemand::field field;
        error_code error = std::move(item).get(field);
        if (!error)
            error = read_field<fields>(field, state, sums);
        if (error)
            return error;
    }
    return simdjson::SUCCESS;
}

template <simdjson_fields fields>
error_code read_events(ondemand::array events, simdjson_sums &sums)
{
    for (auto item : events) {
        ondemand::value value;
        error_code error = std::move(item).get(value);
        if (!error)
            error = read_event<fields>(value, sums);
        if (error)
            return error;
    }
    return simdjson::SUCCESS;
}

error_code read_document(ondemand::document &document, simdjson_fields fields, simdjson_sums &sums)
{
    ondemand::json_type type;
    ondemand::array events;
    error_code error = document.type().get(type);
    if (!error)
        error = type == ondemand::json_type::array
                    ? document.get_array().get(events)
                    : document.find_field_unordered("traceEvents").get_array().get(events);
    if (error)
        return error;
    return fields == SIMDJSON_FEW ? read_events<SIMDJSON_FEW>(events, sums)
                                  : read_events<SIMDJSON_SAME>(events, sums);
}

} // namespace

struct simdjson_pass *simdjson_pass_new(void)
{
    return new (std::nothrow) simdjson_pass;
}

void simdjson_pass_free(struct simdjson_pass *pass)
{
    delete pass;
}

bool simdjson_pass_run(struct simdjson_pass *pass, const char *text, size_t len,
                       enum simdjson_fields fields, struct simdjson_sums *sums, const char **why)
{
    *sums = simdjson_sums{};
    ondemand::document document;
    simdjson::padded_string_view view(text, len, len + SIMDJSON_PASS_PADDING);
    error_code error = pass->parser.iterate(view).get(document);
    if (!error)
        error = read_document(document, fields, *sums);
    *why = simdjson::error_message(error);
    return !error;
}

const char *simdjson_pass_variant(void)
{
    static const std::string name = simdjson::get_active_implementation()->name();
    return name.c_str();
}

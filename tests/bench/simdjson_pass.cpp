// SPDX-License-Identifier: Apache-2.0
// Reads the fields that our reader reads, in the way that simdjson's documentation calls fastest.
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

// Whether a key or text, which its closing quote ends, is the literal.
template <size_t n> bool is(const char *raw, const char (&literal)[n])
{
    return std::memcmp(raw, literal, n - 1) == 0 && raw[n - 1] == '"';
}

// The categories whose args our reader reads.
bool wants_args(const char *category)
{
    return is(category, "kernel") || is(category, "gpu_memcpy") || is(category, "gpu_memset") ||
           is(category, "cuda_runtime") || is(category, "cuda_driver");
}

error_code read_args(ondemand::value value, simdjson_sums &sums)
{
    ondemand::object args;
    if (value.get_object().get(args))
        return simdjson::SUCCESS; // args of another shape are passed over
    for (auto item : args) {
        ondemand::field field;
        if (error_code error = std::move(item).get(field))
            return error;
        const char *key = field.key().raw();
        int64_t number;
        bool wanted = is(key, "correlation") || is(key, "stream") || is(key, "device");
        if (wanted && !field.value().get_int64().get(number))
            sums.numbers += static_cast<uint64_t>(number);
    }
    return simdjson::SUCCESS;
}

struct event_state {
    bool all_args, wants_args;
    simdjson_sums &sums;
};

error_code read_field(ondemand::field &field, event_state &state)
{
    const char *key = field.key().raw();
    double number;
    if (is(key, "ts") || is(key, "dur")) {
        if (!field.value().get_double().get(number))
            state.sums.time_us += number;
    } else if (is(key, "name")) {
        std::string_view name;
        if (!field.value().get_string().get(name))
            state.sums.text_bytes += name.size();
    } else if (is(key, "cat")) {
        ondemand::raw_json_string category;
        if (!field.value().get_raw_json_string().get(category))
            state.wants_args = wants_args(category.raw());
    } else if (is(key, "args") && (state.all_args || state.wants_args)) {
        return read_args(field.value(), state.sums);
    }
    return simdjson::SUCCESS;
}

error_code read_event(ondemand::value value, bool all_args, simdjson_sums &sums)
{
    event_state state = {all_args, false, sums};
    ondemand::object event;
    sums.events++;
    if (value.get_object().get(event))
        return simdjson::SUCCESS;
    for (auto item : event) {
        ondemand::field field;
        error_code error = std::move(item).get(field);
        if (!error)
            error = read_field(field, state);
        if (error)
            return error;
    }
    return simdjson::SUCCESS;
}

error_code read_events(ondemand::array events, bool all_args, simdjson_sums &sums)
{
    for (auto item : events) {
        ondemand::value value;
        error_code error = std::move(item).get(value);
        if (!error)
            error = read_event(value, all_args, sums);
        if (error)
            return error;
    }
    return simdjson::SUCCESS;
}

error_code read_document(ondemand::document &document, bool all_args, simdjson_sums &sums)
{
    ondemand::json_type type;
    ondemand::array events;
    error_code error = document.type().get(type);
    if (!error)
        error = type == ondemand::json_type::array
                    ? document.get_array().get(events)
                    : document.find_field_unordered("traceEvents").get_array().get(events);
    return error ? error : read_events(events, all_args, sums);
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

bool simdjson_pass_run(struct simdjson_pass *pass, const char *text, size_t len, bool all_args,
                       struct simdjson_sums *sums, const char **why)
{
    *sums = simdjson_sums{};
    ondemand::document document;
    simdjson::padded_string_view view(text, len, len + SIMDJSON_PASS_PADDING);
    error_code error = pass->parser.iterate(view).get(document);
    if (!error)
        error = read_document(document, all_args, *sums);
    *why = simdjson::error_message(error);
    return !error;
}

const char *simdjson_pass_variant(void)
{
    static const std::string name = simdjson::get_active_implementation()->name();
    return name.c_str();
}

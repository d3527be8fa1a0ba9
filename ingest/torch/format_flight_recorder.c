// SPDX-License-Identifier: Apache-2.0
// Dumps of PyTorch's Flight Recorder as each rank writes them when a collective times out: a pickle
// (TORCH_FR_BUFFER_SIZE, before TORCH_NCCL_TRACE_BUFFER_SIZE).
#include "ingest/pickle/pickle.h"
#include "ingest/torch/flight_dump.h"

struct reader {
    struct flight_dump dump;
    const struct pickle *pickle;
    uint64_t visited;
};

// --- values -------------------------------------------------------------------------------------

static bool is_fresh(const struct reader *reader)
{
    return reader->visited <= pickle_size(reader->pickle);
}

// The next item of a list, or pair of a dict. A real dump takes fewer visits than it has bytes,
// even if texts that it repeats count by their length.
static bool next(struct reader *reader, struct pickle_walk *walk, pickle_value *key,
                 pickle_value *item)
{
    reader->visited++;
    return is_fresh(reader) && pickle_walk_next(walk, key, item);
}

static struct str text_of(struct reader *reader, pickle_value value)
{
    struct str text = pickle_text(reader->pickle, value);
    reader->visited += text.len / 16;
    return text;
}

static struct flight_value value_of(struct reader *reader, pickle_value value)
{
    struct flight_value found = {.is_text = pickle_kind_of(value) == PICKLE_TEXT};
    if (found.is_text)
        found.text = text_of(reader, value);
    found.is_number = pickle_int(reader->pickle, value, &found.number);
    return found;
}

// --- lists --------------------------------------------------------------------------------------

static void take_tensor(struct reader *reader, pickle_value sizes)
{
    pickle_value key, item;
    int64_t size;
    struct pickle_walk walk = pickle_walk(reader->pickle, sizes);
    flight_tensor_open(&reader->dump);
    while (next(reader, &walk, &key, &item))
        if (pickle_int(reader->pickle, item, &size))
            flight_tensor_size(&reader->dump, size);
    flight_tensor_close(&reader->dump);
}

static bool take_frame(struct reader *reader, pickle_value dict)
{
    struct call_frame frame = {0};
    pickle_value key, value;
    struct pickle_walk walk = pickle_walk(reader->pickle, dict);
    while (next(reader, &walk, &key, &value)) {
        struct str name = pickle_text(reader->pickle, key);
        if (str_equal(name, STR("name")))
            frame.name = text_of(reader, value);
        else if (str_equal(name, STR("filename")))
            frame.filename = text_of(reader, value);
        else if (str_equal(name, STR("line")))
            (void)pickle_int(reader->pickle, value, &frame.line);
    }
    return flight_list_frame(&reader->dump, &frame);
}

static bool take_list(struct reader *reader, const struct flight_field *field, pickle_value list,
                      struct err *err)
{
    pickle_value key, item;
    struct pickle_walk walk = pickle_walk(reader->pickle, list);
    flight_list_open(&reader->dump);
    while (next(reader, &walk, &key, &item)) {
        if (field->kind == FLIGHT_SIZES)
            take_tensor(reader, item);
        else if (field->kind == FLIGHT_FRAMES && !take_frame(reader, item))
            break;
        else if (field->kind != FLIGHT_FRAMES &&
                 !flight_list_text(&reader->dump, field, text_of(reader, item), err))
            return false;
    }
    return flight_list_close(&reader->dump, field, err);
}

// --- records ------------------------------------------------------------------------------------

static bool take_member(struct reader *reader, enum flight_record record, pickle_value key,
                        pickle_value value, struct err *err)
{
    const struct flight_field *field = flight_field_of(record, pickle_text(reader->pickle, key));
    if (!field)
        return true;
    if (field->kind >= FLIGHT_PAIR && pickle_kind_of(value) != PICKLE_TEXT)
        return take_list(reader, field, value, err);
    struct flight_value found = value_of(reader, value);
    return flight_dump_set(&reader->dump, record, field, &found, err);
}

static bool take_record(struct reader *reader, enum flight_record record, pickle_value name,
                        pickle_value dict, struct err *err)
{
    pickle_value key, value;
    struct pickle_walk walk = pickle_walk(reader->pickle, dict);
    bool ok = flight_dump_open(&reader->dump, record, text_of(reader, name), err);
    while (ok && next(reader, &walk, &key, &value))
        ok = take_member(reader, record, key, value, err);
    return ok && flight_dump_close(&reader->dump, record, err);
}

// All dicts in a list or dict.
static bool take_records(struct reader *reader, enum flight_record record, pickle_value container,
                         struct err *err)
{
    pickle_value key, item;
    struct pickle_walk walk = pickle_walk(reader->pickle, container);
    while (next(reader, &walk, &key, &item))
        if (pickle_kind_of(item) == PICKLE_DICT && !take_record(reader, record, key, item, err))
            return false;
    return true;
}

// --- the file -----------------------------------------------------------------------------------

static pickle_value member(const struct reader *reader, const char *name)
{
    const struct pickle *pickle = reader->pickle;
    return pickle_member(pickle, pickle_root(pickle), pickle_find_text(pickle, str_of(name)));
}

static bool take_dump(struct reader *reader, struct err *err)
{
    pickle_value groups = member(reader, "pg_config"), entries = member(reader, "entries");
    if (pickle_kind_of(groups) != PICKLE_DICT && pickle_kind_of(entries) != PICKLE_LIST)
        return err_set(err, ERR_FORMAT,
                       "found a pickle without process groups or entries, expected a Flight "
                       "Recorder dump");
    return take_record(reader, FLIGHT_ROOT, PICKLE_ABSENT, pickle_root(reader->pickle), err) &&
           take_records(reader, FLIGHT_GROUP, groups, err) &&
           take_records(reader, FLIGHT_STATUS, member(reader, "pg_status"), err) &&
           take_records(reader, FLIGHT_ENTRY, entries, err) &&
           (is_fresh(reader) ||
            err_set(err, ERR_FORMAT, "found the same entries of the dump many times")) &&
           flight_dump_finish(&reader->dump, err);
}

static bool gather_dump(const struct format_input *input, struct err *err)
{
    struct pickle_input pickled = {input->source, input->budget, NULL, NULL, NULL};
    struct reader reader;
    struct pickle *pickle = pickle_load(&pickled, err);
    if (!pickle)
        return false;
    reader = (struct reader){.pickle = pickle};
    bool ok = flight_dump_start(&reader.dump, input, err) && take_dump(&reader, err);
    flight_dump_end(&reader.dump);
    pickle_free(pickle);
    return ok;
}

static bool count_dump(const struct format_input *input, struct err *err)
{
    return flight_dump_count(input, gather_dump, err);
}

// A pickle whose first bytes have the names of members.
static enum format_likeness probe_dump(const struct format_sample *sample)
{
    static const char *const names[] = {"pg_config", "pg_status", "collective_seq_id",
                                        "profiling_name"};
    bool pickle = sample->head.len > 2 && sample->head.at[0] == '\x80' && sample->head.at[1] >= 2 &&
                  sample->head.at[1] <= 5;
    for (size_t i = 0; pickle && i < sizeof names / sizeof *names; i++)
        if (str_find(sample->head, str_of(names[i])) != SIZE_MAX)
            return FORMAT_SURE;
    return FORMAT_UNLIKE;
}

const struct format format_flight_recorder = {
    .name = "flight-recorder",
    .what = "a Flight Recorder dump",
    .kind = FORMAT_RECORDS,
    .probe = probe_dump,
    .count = count_dump,
    .gather = gather_dump,
};

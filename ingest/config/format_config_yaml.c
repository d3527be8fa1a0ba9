// SPDX-License-Identifier: Apache-2.0
// Settings in YAML: Primus, NeMo, axolotl, accelerate, MaxText and others. Read as a stream of
// events and bounded in depth and size; aliases of containers are not followed, so that a short
// text cannot stand for a huge one.
#include "ingest/config/config_settings.h"
#include "ingest/source/source.h"

#include <yaml.h>

enum { MOST_BYTES = 4 << 20, MOST_ANCHORS = 64 };

// An open mapping or sequence.
struct level {
    bool is_list, has_key;
    bool is_flat;  // a list without containers so far
    size_t outer;  // length of the path outside this level
    size_t before; // the same before the key whose value follows
    size_t index;  // of the next container in a list
};

// A named scalar, which may stand elsewhere under that name.
struct anchor {
    struct str name, value;
};

struct yaml {
    struct config_settings settings;
    struct source *source;
    struct arena arena; // of anchors
    struct level levels[CONFIG_MOST_DEPTH];
    size_t depth;
    struct anchor anchors[MOST_ANCHORS];
    size_t anchor_count;
    size_t bytes; // read so far
    struct err err;
};

// --- bytes --------------------------------------------------------------------------------------

// What libyaml calls; the first failure stays in yaml->err. It checks everything it receives for
// valid UTF-8 at once, so it always gets as much as it asks for: how far a file is read must not
// depend on how its bytes arrive.
static int read_bytes(void *context, unsigned char *bytes, size_t cap, size_t *got)
{
    struct yaml *yaml = context;
    *got = 0;
    if (yaml->bytes >= MOST_BYTES)
        return err_set(&yaml->err, ERR_FORMAT, "found YAML of more than 4 MiB");
    size_t room = MOST_BYTES - yaml->bytes;
    if (!source_fill(yaml->source, bytes, cap < room ? cap : room, got, &yaml->err))
        return 0;
    yaml->bytes += *got;
    return 1;
}

// --- values -------------------------------------------------------------------------------------

static struct level *top(struct yaml *yaml)
{
    return yaml->depth ? &yaml->levels[yaml->depth - 1] : NULL;
}

// After a value, a key may follow.
static void end_value(struct yaml *yaml)
{
    struct level *level = top(yaml);
    if (!level)
        return;
    if (!level->is_list)
        config_leave(&yaml->settings, level->before);
    level->has_key = false;
}

static bool take_value(struct yaml *yaml, struct str value, struct err *err)
{
    struct level *level = top(yaml);
    bool ok = true;
    if (!level)
        return true;
    if (level->is_list && level->is_flat)
        config_list_add(&yaml->settings, value);
    else if (!level->is_list)
        ok = config_set_here(&yaml->settings, value, err);
    end_value(yaml);
    return ok;
}

static bool is_key(const struct level *level)
{
    return level && !level->is_list && !level->has_key;
}

static void take_key(struct yaml *yaml, struct str key)
{
    struct level *level = top(yaml);
    level->before = config_enter(&yaml->settings, key);
    level->has_key = true;
}

// --- anchors ------------------------------------------------------------------------------------

static bool keep_anchor(struct yaml *yaml, const yaml_char_t *name, struct str value,
                        struct err *err)
{
    if (!name || yaml->anchor_count == MOST_ANCHORS || value.len > CONFIG_MOST_LIST)
        return true;
    struct anchor *anchor = &yaml->anchors[yaml->anchor_count];
    struct str raw = str_of((const char *)name);
    anchor->name = (struct str){arena_strdup(&yaml->arena, raw, err), raw.len};
    anchor->value = (struct str){arena_strdup(&yaml->arena, value, err), value.len};
    yaml->anchor_count++;
    return anchor->name.at && anchor->value.at;
}

// "" for that of a container.
static struct str anchored(const struct yaml *yaml, struct str name)
{
    for (size_t i = yaml->anchor_count; i-- > 0;)
        if (str_equal(yaml->anchors[i].name, name))
            return yaml->anchors[i].value;
    return STR("");
}

// --- events -------------------------------------------------------------------------------------

static bool open_level(struct yaml *yaml, bool is_list, struct err *err)
{
    struct level *outer = top(yaml);
    if (yaml->depth == CONFIG_MOST_DEPTH)
        return err_set(err, ERR_FORMAT, "found YAML nested more than %d levels deep",
                       CONFIG_MOST_DEPTH);
    if (is_key(outer))
        return err_set(err, ERR_FORMAT, "found YAML with a key that is not text");
    struct level level = {.is_list = is_list, .is_flat = true, .outer = yaml->settings.path.len};
    if (outer && outer->is_list) {
        outer->is_flat = false;
        buf_clear(&yaml->settings.list);
        level.outer = config_enter_item(&yaml->settings, outer->index++);
    }
    yaml->levels[yaml->depth++] = level;
    return true;
}

static bool close_level(struct yaml *yaml, struct err *err)
{
    struct level level = yaml->levels[--yaml->depth];
    bool ok = !level.is_list || !level.is_flat || config_list_end(&yaml->settings, err);
    config_leave(&yaml->settings, level.outer);
    end_value(yaml);
    return ok;
}

static bool take_scalar(struct yaml *yaml, const yaml_event_t *event, struct err *err)
{
    struct str value = {(const char *)event->data.scalar.value, event->data.scalar.length};
    if (!keep_anchor(yaml, event->data.scalar.anchor, value, err))
        return false;
    if (!is_key(top(yaml)))
        return take_value(yaml, value, err);
    take_key(yaml, value);
    return true;
}

static bool take_alias(struct yaml *yaml, const yaml_event_t *event, struct err *err)
{
    if (is_key(top(yaml)))
        return err_set(err, ERR_FORMAT, "found YAML with a key that is an alias");
    struct str name = str_of((const char *)event->data.alias.anchor);
    return take_value(yaml, anchored(yaml, name), err);
}

static bool take_event(struct yaml *yaml, const yaml_event_t *event, struct err *err)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT: return take_scalar(yaml, event, err);
    case YAML_ALIAS_EVENT: return take_alias(yaml, event, err);
    case YAML_MAPPING_START_EVENT: return open_level(yaml, false, err);
    case YAML_SEQUENCE_START_EVENT: return open_level(yaml, true, err);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT: return close_level(yaml, err);
    default: return true;
    }
}

// A document that ends early gives what came before.
static bool refuse(const struct yaml *yaml, const yaml_parser_t *parser, struct err *err)
{
    if (yaml->err.code != ERR_NONE) {
        *err = yaml->err;
        return false;
    }
    if (parser->error == YAML_MEMORY_ERROR)
        return err_set(err, ERR_MEMORY, "out of memory");
    return yaml->settings.evidence->setting_count > 0 ||
           err_set_at(err, ERR_FORMAT, parser->problem_offset, "found text that is not YAML");
}

static bool read_all(struct yaml *yaml, yaml_parser_t *parser, struct err *err)
{
    yaml_event_t event;
    for (bool ended = false; !ended;) {
        if (!yaml_parser_parse(parser, &event))
            return refuse(yaml, parser, err);
        ended = event.type == YAML_STREAM_END_EVENT;
        bool ok = take_event(yaml, &event, err);
        yaml_event_delete(&event);
        if (!ok)
            return false;
    }
    return true;
}

static bool parse(struct yaml *yaml, struct err *err)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return err_set(err, ERR_MEMORY, "out of memory");
    yaml_parser_set_input(&parser, read_bytes, yaml);
    bool ok = read_all(yaml, &parser, err);
    yaml_parser_delete(&parser);
    return ok && config_settings_ended(&yaml->settings, CONFIG_LEAST, "YAML", err);
}

static bool gather_yaml(const struct format_input *input, struct err *err)
{
    struct yaml *yaml = budget_zalloc(input->budget, sizeof *yaml, err);
    if (!yaml)
        return false;
    yaml->settings.evidence = input->evidence;
    yaml->source = input->source;
    arena_init(&yaml->arena, input->budget);
    bool ok = parse(yaml, err);
    config_settings_free(&yaml->settings);
    arena_free(&yaml->arena);
    budget_free(input->budget, yaml, sizeof *yaml);
    return ok;
}

extern const struct format format_config_yaml;

static bool count_yaml(const struct format_input *input, struct err *err)
{
    return config_count(input, &format_config_yaml, err);
}

static enum format_likeness probe_yaml(const struct format_sample *sample)
{
    static const char *const endings[] = {".yaml", ".yml", NULL};
    return config_is_text_named(sample, endings) ? FORMAT_PERHAPS : FORMAT_UNLIKE;
}

const struct format format_config_yaml = {
    .name = "config-yaml",
    .what = "settings in YAML",
    .kind = FORMAT_RECORDS,
    .probe = probe_yaml,
    .count = count_yaml,
    .gather = gather_yaml,
};

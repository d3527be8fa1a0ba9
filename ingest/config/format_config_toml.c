// SPDX-License-Identifier: Apache-2.0
// Settings in TOML, as torchtitan has them: sections and values, of which lists may span several
// lines. Other texts of several lines are left out.
#include "ingest/config/config_lines.h"
#include "ingest/logs/log_text.h"

enum { MOST_PENDING = 64 << 10 };

// Without the comment at the end.
static struct str uncommented(struct str line)
{
    char quote = '\0';
    for (size_t i = 0; i < line.len; i++) {
        char c = line.at[i];
        if (quote && c == '\\' && quote == '"')
            i++;
        else if (quote && c == quote)
            quote = '\0';
        else if (!quote && (c == '"' || c == '\''))
            quote = c;
        else if (!quote && c == '#')
            return log_trim((struct str){line.at, i});
    }
    return line;
}

// Brackets that are open after the text.
static int open_brackets(struct str text)
{
    int depth = 0;
    char quote = '\0';
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else
            depth += (c == '[') - (c == ']');
    }
    return depth;
}

static bool take_section(struct config_lines *lines, struct str line)
{
    size_t brackets = str_starts_with(line, STR("[[")) ? 2 : 1;
    config_leave(&lines->settings, 0);
    if (line.len > 2 * brackets)
        config_enter(&lines->settings,
                     log_trim((struct str){line.at + brackets, line.len - 2 * brackets}));
    return true;
}

static bool take_pair(struct config_lines *lines, struct str line, struct err *err)
{
    struct str name, value;
    if (!config_split(line, STR("="), &name, &value))
        return true;
    return config_set(&lines->settings, config_unquoted(name), config_unquoted(value), err);
}

// The lines of a list, until its brackets are closed; part: how many are open.
static bool take_more(struct config_lines *lines, struct str line, struct err *err)
{
    struct buf *pending = &lines->pending;
    int depth = (int)lines->part + open_brackets(line);
    lines->part = depth > 0 ? (unsigned)depth : 0;
    if (pending->len + line.len < MOST_PENDING)
        buf_add_str(pending, line);
    if (!buf_ok(pending, err) || lines->part)
        return !pending->failed;
    bool ok = take_pair(lines, (struct str){pending->at, pending->len}, err);
    buf_clear(pending);
    return ok;
}

static bool take_toml(struct config_lines *lines, struct str line, struct err *err)
{
    line = uncommented(line);
    if (line.len == 0)
        return true;
    if (lines->part == 0 && *line.at == '[')
        return take_section(lines, line);
    return take_more(lines, line, err);
}

static bool gather_toml(const struct format_input *input, struct err *err)
{
    static const struct config_dialect dialect = {"", "TOML", CONFIG_LEAST, take_toml};
    return config_read_lines(&dialect, input, err);
}

extern const struct format format_config_toml;

static bool count_toml(const struct format_input *input, struct err *err)
{
    return config_count(input, &format_config_toml, err);
}

static enum format_likeness probe_toml(const struct format_sample *sample)
{
    static const char *const endings[] = {".toml", NULL};
    return config_is_text_named(sample, endings) ? FORMAT_PERHAPS : FORMAT_UNLIKE;
}

const struct format format_config_toml = {
    .name = "config-toml",
    .what = "settings in TOML",
    .kind = FORMAT_RECORDS,
    .probe = probe_toml,
    .count = count_toml,
    .gather = gather_toml,
};

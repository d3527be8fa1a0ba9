// SPDX-License-Identifier: Apache-2.0
#include "ingest/config/config_settings.h"

#include "ingest/evidence/standard_settings.h"
#include "ingest/json/json_outline.h"

void config_settings_free(struct config_settings *settings)
{
    buf_free(&settings->path);
    buf_free(&settings->list);
}

// --- levels -------------------------------------------------------------------------------------

size_t config_enter(struct config_settings *settings, struct str name)
{
    size_t outer = settings->path.len;
    if (outer)
        buf_putc(&settings->path, '.');
    buf_add_str(&settings->path, name);
    return outer;
}

size_t config_enter_item(struct config_settings *settings, size_t index)
{
    size_t outer = settings->path.len;
    buf_printf(&settings->path, "%s%zu", outer ? "." : "", index);
    return outer;
}

void config_leave(struct config_settings *settings, size_t outer)
{
    settings->path.len = outer;
}

// --- values -------------------------------------------------------------------------------------

bool config_set_here(struct config_settings *settings, struct str value, struct err *err)
{
    struct str name = {settings->path.at, settings->path.len};
    return buf_ok(&settings->path, err) && (value.len == 0 || name.len > CONFIG_MOST_NAME ||
                                            evidence_set(settings->evidence, name, value, err));
}

bool config_set(struct config_settings *settings, struct str name, struct str value,
                struct err *err)
{
    size_t outer = config_enter(settings, name);
    bool ok = config_set_here(settings, value, err);
    config_leave(settings, outer);
    return ok;
}

void config_list_add(struct config_settings *settings, struct str value)
{
    struct buf *list = &settings->list;
    if (list->len + value.len > CONFIG_MOST_LIST)
        return;
    buf_puts(list, list->len ? ", " : "[");
    buf_add_str(list, value);
}

bool config_list_end(struct config_settings *settings, struct err *err)
{
    struct buf *list = &settings->list;
    if (list->len == 0)
        return buf_ok(list, err);
    buf_putc(list, ']');
    bool ok =
        buf_ok(list, err) && config_set_here(settings, (struct str){list->at, list->len}, err);
    buf_clear(list);
    return ok;
}

// --- what they say ------------------------------------------------------------------------------

// How many different standard names the settings have.
static size_t count_standards(const struct evidence *evidence)
{
    bool has[STANDARD_MOST] = {false};
    size_t count = 0;
    for (size_t i = 0; i < evidence->setting_count; i++) {
        const struct evidence_setting *setting = &evidence->settings[i];
        struct standard_setting found =
            standard_setting_of(evidence->source, setting->name, setting->value);
        count += found.name && !has[found.place];
        has[found.place] |= found.name != NULL;
    }
    return count;
}

bool config_settings_ended(const struct config_settings *settings, size_t least, const char *what,
                           struct err *err)
{
    const struct evidence *evidence = settings->evidence;
    return (evidence->setting_count > 0 && count_standards(evidence) >= least) ||
           err_set(err, ERR_FORMAT, "found %s without settings of a training job", what);
}

// --- recognition --------------------------------------------------------------------------------

static bool ends_with(struct str text, struct str end)
{
    return text.len > end.len &&
           str_equal_nocase((struct str){text.at + text.len - end.len, end.len}, end);
}

bool config_is_text_named(const struct format_sample *sample, const char *const *endings)
{
    struct str head = sample->head;
    while (*endings && !ends_with(sample->filename, str_of(*endings)))
        endings++;
    if (!*endings)
        return false;
    for (size_t i = 0; i < head.len; i++)
        if ((unsigned char)head.at[i] < ' ' && !memchr("\t\n\r", head.at[i], 3))
            return false;
    return head.len > 0 && !sample->outline->json;
}

bool config_is_named_like_log(struct str filename)
{
    static const char *const words[] = {"log", ".out", ".err", "stdout", "stderr"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_contains_nocase(filename, str_of(words[i])))
            return true;
    return false;
}

bool config_is_listed(struct str name, const char *const *names)
{
    for (; *names; names++) {
        struct str listed = str_of(*names);
        bool open = listed.at[listed.len - 1] == '*';
        if (open ? str_starts_with(name, (struct str){listed.at, listed.len - 1})
                 : str_equal(name, listed))
            return true;
    }
    return false;
}

bool config_count(const struct format_input *input, const struct format *format, struct err *err)
{
    struct evidence evidence;
    struct format_input gathering = *input;
    evidence_init(&evidence, input->budget);
    gathering.evidence = &evidence;
    bool ok = format->gather(&gathering, err);
    if (ok) {
        figures_add(input->figures, (int64_t)evidence.setting_count, "settings");
        figures_add(input->figures, (int64_t)count_standards(&evidence), "standard_settings");
        figures_add(input->figures, (int64_t)evidence.result_count, "results");
        figures_add(input->figures, (int64_t)evidence.log.step_count, "steps");
    }
    evidence_free(&evidence);
    return ok;
}

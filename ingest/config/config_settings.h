// SPDX-License-Identifier: Apache-2.0
// Settings of a job as its files nest them: names of levels are joined by dots.
#ifndef INGEST_CONFIG_SETTINGS_H
#define INGEST_CONFIG_SETTINGS_H

#include "ingest/base/buf.h"
#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"

// CONFIG_LEAST: how many different standard names make a file the settings of a training job, if
// its form alone does not.
enum { CONFIG_LEAST = 2, CONFIG_MOST_DEPTH = 32, CONFIG_MOST_LIST = 1024, CONFIG_MOST_NAME = 512 };

struct config_settings {
    struct evidence *evidence;
    struct buf path; // of the level, "trainer.strategy"
    struct buf list; // of a list's values so far, "[0, 1"; empty: none
};

void config_settings_free(struct config_settings *settings);

// Goes into a level; to return, config_leave with the result.
size_t config_enter(struct config_settings *settings, struct str name);
size_t config_enter_item(struct config_settings *settings, size_t index);
void config_leave(struct config_settings *settings, size_t outer);

// Sets a value of the level; nothing if it is empty, or the names are longer than
// CONFIG_MOST_NAME. ERR_LIMIT past the budget.
MUST_CHECK bool config_set(struct config_settings *settings, struct str name, struct str value,
                           struct err *err);
// The value of the level itself.
MUST_CHECK bool config_set_here(struct config_settings *settings, struct str value,
                                struct err *err);

// Values of a list, which become one: "[0, 1]". What is longer than CONFIG_MOST_LIST is left out.
void config_list_add(struct config_settings *settings, struct str value);
MUST_CHECK bool config_list_end(struct config_settings *settings, struct err *err);

// ERR_FORMAT unless there are settings, at least `least` of them with a standard name: what was
// found says nothing about a training job. what: "YAML".
MUST_CHECK bool config_settings_ended(const struct config_settings *settings, size_t least,
                                      const char *what, struct err *err);

// Whether it is text that is not JSON and whose name ends with one of `endings`.
bool config_is_text_named(const struct format_sample *sample, const char *const *endings);

// Whether a file is named like something that is printed: a log may start with such text.
bool config_is_named_like_log(struct str filename);

// A name in `names`, which ends with NULL; a * at the end of one stands for anything.
bool config_is_listed(struct str name, const char *const *names);

// For inspect: how many settings there are, and those with a standard name.
MUST_CHECK bool config_count(const struct format_input *input, const struct format *format,
                             struct err *err);

#endif

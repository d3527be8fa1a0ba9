// SPDX-License-Identifier: Apache-2.0
// What container runtimes make of the output of a program: each line in JSON (Docker), or after a
// time and a stream (CRI, so Kubernetes). What the program wrote is read as if it were a file, each
// line after the time of the runtime, which says its zone.
#include "ingest/json/json_number.h"
#include "ingest/logs/json_line.h"
#include "ingest/logs/log_rewriter.h"
#include "ingest/logs/log_text.h"
#include "ingest/source/format.h"

// Docker cuts longer lines into pieces of this size.
#define PIECE_BYTES ((size_t)16 << 10)

struct written {
    struct str time;  // "" unknown
    struct str text;  // as JSON has it, with escapes, if it is
    bool json, ended; // its line ends with it
};

static bool is_newline(struct str raw)
{
    return raw.len >= 2 && memcmp(raw.at + raw.len - 2, "\\n", 2) == 0;
}

// {"log":"step: 1\n","stream":"stdout","time":"2026-01-16T07:32:01.2Z"}, in any order.
static bool read_json(struct str line, struct written *written)
{
    struct json_line members;
    struct json_line_value value;
    struct str key;
    bool has_log = false, has_stream = false;
    *written = (struct written){.json = true, .time = STR("")};
    if (!json_line_open(&members, line))
        return false;
    while (json_line_next(&members, &key, &value)) {
        if (value.kind != JSON_LINE_TEXT)
            continue;
        if (str_equal(key, STR("log"))) {
            written->text = value.text;
            has_log = true;
        } else if (str_equal(key, STR("time"))) {
            written->time = value.text;
        }
        has_stream = has_stream || str_equal(key, STR("stream"));
    }
    written->ended = is_newline(written->text) || written->text.len < PIECE_BYTES;
    return has_log && has_stream;
}

// "2026-01-16T07:32:01.223456789Z stdout F step: 1"; of a line in pieces all but the last have P.
static bool read_cri(struct str line, struct written *written)
{
    static const char *const marks[] = {" stdout F ", " stdout P ", " stderr F ", " stderr P "};
    struct str start = {line.at, line.len < 48 ? line.len : 48};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t at = str_find(start, str_of(marks[i]));
        *written = (struct written){.time = {line.at, at}, .ended = i % 2 == 0};
        if (at == SIZE_MAX || log_stamp_length(line) != at + 1)
            continue;
        written->text = log_from(line, at + strlen(marks[i]));
        return true;
    }
    return false;
}

// --- the source ---------------------------------------------------------------------------------

// The text of a line; true if it ends with it.
static bool add_line(struct log_rewriter *rewriter, struct str line)
{
    struct written written;
    if (!read_cri(line, &written) && !read_json(line, &written))
        written = (struct written){.time = STR(""), .text = line, .ended = true};
    if (!rewriter->in_line && written.time.len) {
        buf_add_str(&rewriter->text, written.time);
        buf_putc(&rewriter->text, ' ');
    }
    if (written.json)
        (void)json_text_decode(written.text, &rewriter->text);
    else
        buf_add_str(&rewriter->text, written.text);
    return written.ended;
}

static struct source *open_container_log(struct source *below, struct err *err)
{
    return log_rewritten_open(below, add_line, 0, err);
}

// --- the format ---------------------------------------------------------------------------------

// By the first line, or by its start if it is long.
static enum format_likeness probe_container_log(const struct format_sample *sample)
{
    struct written written;
    const char *end = sample->head.len ? memchr(sample->head.at, '\n', sample->head.len) : NULL;
    struct str line = {sample->head.at, end ? (size_t)(end - sample->head.at) : sample->head.len};
    bool is_docker =
        read_json(line, &written) || (sample->head.len == FORMAT_HEAD_BYTES && !end &&
                                      str_starts_with(sample->head, STR("{\"log\":\"")));
    return is_docker || read_cri(line, &written) ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_container_log = {
    .name = "container-log",
    .what = "the output of a container",
    .kind = FORMAT_TEXT,
    .probe = probe_container_log,
    .decode = open_container_log,
};

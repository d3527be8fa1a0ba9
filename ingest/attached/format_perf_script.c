// SPDX-License-Identifier: Apache-2.0
// Samples of the host as `perf script` prints them. Counted and kept.
#include "ingest/attached/name_tally.h"
#include "ingest/format.h"
#include "ingest/source/lines.h"

struct perf {
    int64_t samples, frames;
    bool fresh; // the next frame is the one that ran
    struct name_tally commands, top, events;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// "python 4242/4243 [003] 1234.567890:     10101 cycles:u: "
struct sample_line {
    struct str command, event;
};

// The digits of a time before a colon: "1234.567890:". SIZE_MAX if there are none.
static size_t end_of_time(struct str text)
{
    for (size_t at = 1; at + 7 < text.len; at++) {
        size_t end = at + 1;
        if (text.at[at] != '.' || !is_digit(text.at[at - 1]))
            continue;
        while (end < text.len && is_digit(text.at[end]))
            end++;
        if (end >= at + 7 && end < text.len && text.at[end] == ':')
            return end + 1;
    }
    return SIZE_MAX;
}

// The command may have blanks in it; the process's number follows it.
static struct str command_of(struct str text)
{
    for (size_t at = 1; at + 1 < text.len; at++)
        if (text.at[at] == ' ' && is_digit(text.at[at + 1]))
            return (struct str){text.at, at};
    return STR("");
}

static bool parse_sample(struct str text, struct sample_line *sample)
{
    size_t at = end_of_time(text), end;
    if (text.len == 0 || text.at[0] == '#' || text.at[0] == '\t' || at == SIZE_MAX)
        return false;
    while (at < text.len && (text.at[at] == ' ' || is_digit(text.at[at])))
        at++;
    for (end = at; end < text.len && text.at[end] != ' ';)
        end++;
    while (end > at && text.at[end - 1] == ':')
        end--;
    sample->command = command_of(text);
    while (sample->command.len && sample->command.at[0] == ' ') {
        sample->command.at++;
        sample->command.len--;
    }
    sample->event = (struct str){text.at + at, end - at};
    return sample->command.len && sample->event.len;
}

// "\t    7f1c2d3e4f50 forward+0x1a (/usr/lib/libtorch.so)": the symbol, "" if it is no frame.
static struct str symbol_of(struct str text)
{
    size_t at = 0, digits;
    while (at < text.len && (text.at[at] == ' ' || text.at[at] == '\t'))
        at++;
    for (digits = at; digits < text.len && strchr("0123456789abcdef", text.at[digits]);)
        digits++;
    if (at == 0 || digits == at || digits >= text.len || text.at[digits] != ' ')
        return STR("");
    struct str symbol = {text.at + digits + 1, text.len - digits - 1};
    size_t end = str_find(symbol, STR("+0x"));
    end = end == SIZE_MAX ? str_find(symbol, STR(" (")) : end;
    symbol.len = end == SIZE_MAX ? symbol.len : end;
    return symbol;
}

static bool take_line(struct perf *perf, struct str text, struct err *err)
{
    struct sample_line sample;
    struct str symbol = symbol_of(text);
    if (symbol.len) {
        bool top = perf->fresh;
        perf->frames++;
        perf->fresh = false;
        return !top || name_tally_add(&perf->top, symbol, 1, err);
    }
    if (!parse_sample(text, &sample))
        return true;
    perf->samples++;
    perf->fresh = true;
    return name_tally_add(&perf->commands, sample.command, 1, err) &&
           name_tally_add(&perf->events, sample.event, 1, err);
}

static bool count_lines(struct perf *perf, const struct format_input *input, struct err *err)
{
    struct lines lines;
    struct line line = {0};
    bool ok = lines_open(&lines, input->source, input->budget, err);
    *err = ok ? (struct err){.pos = ERR_NO_POS} : *err;
    while (ok && lines_next(&lines, &line, err))
        ok = take_line(perf, line.text, err);
    lines_close(&lines);
    return ok && err->code == ERR_NONE;
}

static bool count_perf(const struct format_input *input, struct err *err)
{
    struct perf perf = {0};
    struct name_tally *const tallies[] = {&perf.commands, &perf.top, &perf.events};
    size_t ready = 0;
    while (ready < 3 && name_tally_init(tallies[ready], input->budget, err))
        ready++;
    bool ok = ready == 3 && count_lines(&perf, input, err);
    if (ok && !perf.samples)
        ok = err_set(err, ERR_FORMAT, "found no sample in it, expected output of perf script");
    if (ok) {
        figures_add(input->figures, perf.samples, "samples");
        figures_add(input->figures, perf.frames, "frames");
        name_tally_report(&perf.events, input->figures, "events");
        name_tally_report(&perf.commands, input->figures, "commands");
        name_tally_report(&perf.top, input->figures, "top_frames");
    }
    while (ready > 0)
        name_tally_free(tallies[--ready]);
    return ok;
}

// The next line of a text, without its end; shortens the text.
static struct str cut_line(struct str *text)
{
    const char *end = text->len ? memchr(text->at, '\n', text->len) : NULL;
    struct str line = {text->at, end ? (size_t)(end - text->at) : text->len};
    size_t taken = line.len + (end ? 1 : 0);
    *text = (struct str){text->at + taken, text->len - taken};
    return line;
}

// A sample, and a frame of its stack in the next line.
static enum format_likeness probe_perf(struct str head, struct str filename)
{
    struct sample_line sample;
    (void)filename;
    while (head.len) {
        struct str line = cut_line(&head);
        if (line.len == 0 || line.at[0] == '#')
            continue;
        if (!parse_sample(line, &sample))
            return FORMAT_UNLIKE;
        return symbol_of(cut_line(&head)).len ? FORMAT_SURE : FORMAT_UNLIKE;
    }
    return FORMAT_UNLIKE;
}

const struct format format_perf_script = {
    .name = "perf-script",
    .what = "output of perf script",
    .kind = FORMAT_RECORDS,
    .probe = probe_perf,
    .count = count_perf,
    .advice = "it has no device work; upload a profiler's trace beside it",
};

// SPDX-License-Identifier: Apache-2.0
// Samples of the host as `perf script` prints them. Counted and kept.
#include "ingest/attached/name_tally.h"
#include "ingest/source/format.h"
#include "ingest/source/lines.h"

struct perf {
    int64_t samples, frames;
    double period; // of the last sample
    bool fresh;    // the next frame is the one that ran
    struct name_tally commands, top, events;
};

// "python 4242/4243 [003] 1234.567890:     10101 cycles:u: "
struct sample_line {
    struct str command, event;
    int64_t period; // how many events it stands for; 1: not printed
};

static size_t skip_blanks(struct str text, size_t at)
{
    while (at < text.len && text.at[at] == ' ')
        at++;
    return at;
}

// After "4242/4243 [003] 1234.567890:", of which the second and third number may be missing.
// SIZE_MAX if it is not there.
static size_t end_of_time(struct str text, size_t at)
{
    at = str_digits_end(text, at);
    if (at < text.len && text.at[at] == '/')
        at = str_digits_end(text, at + 1);
    if (at == text.len || text.at[at] != ' ')
        return SIZE_MAX;
    at = skip_blanks(text, at);
    if (at < text.len && text.at[at] == '[') {
        at = str_digits_end(text, at + 1);
        if (at == text.len || text.at[at] != ']')
            return SIZE_MAX;
        at = skip_blanks(text, at + 1);
    }
    size_t point = str_digits_end(text, at), end = str_digits_end(text, point + 1);
    bool is = point > at && point < text.len && text.at[point] == '.' && end >= point + 7 &&
              end < text.len && text.at[end] == ':';
    return is ? end + 1 : SIZE_MAX;
}

// The command may have blanks in it; the process's number follows it.
static bool parse_sample(struct str text, struct sample_line *sample)
{
    size_t from = skip_blanks(text, 0), at = SIZE_MAX, end, command = from;
    if (from == text.len || text.at[from] == '#' || text.at[from] == '\t')
        return false;
    while (at == SIZE_MAX && ++command + 1 < text.len)
        if (text.at[command] == ' ' && str_is_digit(text.at[command + 1]))
            at = end_of_time(text, command + 1);
    if (at == SIZE_MAX)
        return false;
    size_t period = skip_blanks(text, at);
    at = str_digits_end(text, period);
    if (!str_to_i64((struct str){text.at + period, at - period}, &sample->period))
        sample->period = 1;
    at = skip_blanks(text, at);
    for (end = at; end < text.len && text.at[end] != ' ';)
        end++;
    while (end > at && text.at[end - 1] == ':')
        end--;
    sample->command = (struct str){text.at + from, command - from};
    sample->event = (struct str){text.at + at, end - at};
    return sample->event.len;
}

// "\t    7f1c2d3e4f50 forward+0x1a (/usr/lib/libtorch.so)": the symbol, "" if it is no frame.
static struct str symbol_of(struct str text)
{
    size_t at = 0, digits;
    while (at < text.len && (text.at[at] == ' ' || text.at[at] == '\t'))
        at++;
    for (digits = at; digits < text.len && memchr("0123456789abcdef", text.at[digits], 16);)
        digits++;
    if (at == 0 || digits == at || digits >= text.len || text.at[digits] != ' ')
        return STR("");
    struct str symbol = {text.at + digits + 1, text.len - digits - 1};
    size_t end = str_find(symbol, STR("+0x"));
    end = end == SIZE_MAX ? str_find(symbol, STR(" (")) : end;
    symbol.len = end == SIZE_MAX ? symbol.len : end;
    return symbol;
}

static bool weigh(struct name_tally *tally, struct str name, double weight, struct err *err)
{
    str_id id;
    if (!name_tally_id(tally, name, &id, err))
        return false;
    name_tally_weigh(tally, id, weight);
    return true;
}

static bool take_line(struct perf *perf, struct str text, struct err *err)
{
    struct sample_line sample;
    struct str symbol = symbol_of(text);
    if (symbol.len) {
        bool top = perf->fresh;
        perf->frames++;
        perf->fresh = false;
        return !top || weigh(&perf->top, symbol, perf->period, err);
    }
    if (!parse_sample(text, &sample))
        return true;
    perf->samples++;
    perf->fresh = true;
    perf->period = (double)sample.period;
    return weigh(&perf->commands, sample.command, perf->period, err) &&
           name_tally_add(&perf->events, sample.event, err);
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

// Whether a line starts with a tab and a whole address; programs without PIE are at 0x400000.
static bool is_frame(struct str text)
{
    enum { SHORTEST_ADDRESS = 6 };
    size_t at = skip_blanks(text, 1), digits = at;
    while (digits < text.len && memchr("0123456789abcdef", text.at[digits], 16))
        digits++;
    return text.len && text.at[0] == '\t' && digits >= at + SHORTEST_ADDRESS && symbol_of(text).len;
}

// Two samples, each followed by a line with a frame of its stack. The second may be beyond the
// head.
static enum format_likeness probe_perf(const struct format_sample *sample)
{
    enum { ENOUGH = 2 };
    struct str head = sample->head;
    struct sample_line line_of_sample;
    int samples = 0;
    while (head.len && samples < ENOUGH) {
        struct str line = cut_line(&head);
        if (line.len == 0 || line.at[0] == '#' || (samples && symbol_of(line).len))
            continue;
        if (!parse_sample(line, &line_of_sample) || !is_frame(cut_line(&head)))
            break;
        samples++;
    }
    return samples == ENOUGH ? FORMAT_SURE : samples ? FORMAT_PERHAPS : FORMAT_UNLIKE;
}

const struct format format_perf_script = {
    .name = "perf-script",
    .what = "output of perf script",
    .kind = FORMAT_RECORDS,
    .probe = probe_perf,
    .count = count_perf,
    .advice = "it has no device work; upload a profiler's trace beside it",
};

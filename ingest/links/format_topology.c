// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi topo -m prints: a matrix of GPUs and network cards with the kind of path between
// each two, the CPUs near them, and a legend. The header is underlined by escape sequences, cells
// may be empty, and copies from a terminal have blanks for tabs.
#include "ingest/links/link_figures.h"
#include "ingest/links/link_settle.h"
#include "ingest/links/link_text.h"
#include "ingest/source/lines.h"

struct topology {
    const struct format_input *input;
    size_t first, columns; // places of the current matrix
};

static struct link_tests *links_of(const struct topology *topology)
{
    return &topology->input->evidence->links;
}

static bool keep(struct topology *topology, struct str raw, struct str *kept, struct err *err)
{
    return evidence_text(topology->input->evidence, raw, kept, err);
}

// --- the header ---------------------------------------------------------------------------------

// Without "\x1b[4m" and "\x1b[0m" at its ends, and the blanks around them.
static struct str unstyled(struct str line)
{
    struct str text = link_after(line, 0);
    while (text.len > 2 && text.at[0] == '\x1b') {
        const char *end = memchr(text.at, 'm', text.len);
        if (!end)
            return text;
        text = link_after(text, (size_t)(end + 1 - text.at));
    }
    size_t tail = str_find(text, STR("\x1b["));
    return (struct str){text.at, tail < text.len ? tail : text.len};
}

// "GPU0", "NIC12", "mlx5_0"
static bool is_name(struct str word)
{
    char first = word.at[0], last = word.at[word.len - 1];
    return (first | 0x20) >= 'a' && (first | 0x20) <= 'z' && str_is_digit(last);
}

// How many words are names of the matrix's columns; 0: it is no header.
static size_t count_columns(const struct link_words *words)
{
    size_t count = 0;
    while (count < words->count && is_name(words->at[count]))
        count++;
    bool named = str_equal(link_word(words, 0), STR("GPU0")) && !words->more;
    bool ends = str_equal(link_word(words, count), STR("CPU")) &&
                str_equal(link_word(words, count + 1), STR("Affinity"));
    return named && ends ? count : 0;
}

static bool take_header(struct topology *topology, const struct link_words *words, struct err *err)
{
    const struct str none = STR("");
    topology->first = links_of(topology)->parts[LINK_PLACES].count;
    topology->columns = count_columns(words);
    for (size_t i = 0; i < topology->columns; i++) {
        struct link_place place = {none, none, none, none};
        if (!keep(topology, words->at[i], &place.name, err) ||
            !link_tests_add(topology->input->evidence, LINK_PLACES, &place, err))
            return false;
    }
    return true;
}

// --- rows ---------------------------------------------------------------------------------------

// NULL if there is none of that name.
static struct link_place *find_place(const struct topology *topology, struct str name)
{
    struct link_place *places = links_of(topology)->parts[LINK_PLACES].items;
    for (size_t i = 0; i < topology->columns; i++)
        if (str_equal(places[topology->first + i].name, name))
            return &places[topology->first + i];
    return NULL;
}

// Cells between tabs, if there are any; empty ones count.
static void split_cells(struct str line, struct link_words *cells)
{
    *cells = (struct link_words){0};
    if (!memchr(line.at, '\t', line.len)) {
        link_split(line, cells);
        return;
    }
    for (size_t at = 0; at <= line.len && cells->count < LINK_MOST_WORDS;) {
        const char *tab = memchr(line.at + at, '\t', line.len - at);
        size_t end = tab ? (size_t)(tab - line.at) : line.len;
        struct link_words word;
        link_split((struct str){line.at + at, end - at}, &word);
        cells->at[cells->count++] = link_word(&word, 0);
        at = end + 1;
    }
}

static bool is_kind(struct str cell)
{
    static const char *const kinds[] = {"X", "SYS", "NODE", "PHB", "PXB", "PIX", "PSB", "C2C"};
    return str_is_one_of(cell, kinds, sizeof kinds / sizeof *kinds) ||
           (str_starts_with(cell, STR("NV")) && cell.len <= 5 &&
            link_whole((struct str){cell.at + 2, cell.len - 2}) >= 0);
}

static bool fits(const struct topology *topology, const struct link_words *cells)
{
    for (size_t i = 0; i < topology->columns; i++)
        if (!is_kind(link_word(cells, i + 1)))
            return false;
    return true;
}

static bool take_row(struct topology *topology, struct link_place *place,
                     const struct link_words *cells, struct err *err)
{
    size_t from =
        (size_t)(place - (struct link_place *)links_of(topology)->parts[LINK_PLACES].items);
    for (size_t i = 0; i < topology->columns; i++) {
        struct str kind = cells->at[i + 1];
        struct link_path path = {(uint32_t)from, (uint32_t)(topology->first + i), STR("")};
        if (str_equal(kind, STR("X")))
            continue;
        if (!keep(topology, kind, &path.kind, err) ||
            !link_tests_add(topology->input->evidence, LINK_PATHS, &path, err))
            return false;
    }
    return keep(topology, link_word(cells, topology->columns + 1), &place->cpus, err) &&
           keep(topology, link_word(cells, topology->columns + 2), &place->numa, err);
}

// --- the file -----------------------------------------------------------------------------------

// "NIC0: mlx5_0"
static bool take_legend(struct topology *topology, const struct link_words *words, struct err *err)
{
    struct str name = link_word(words, 0);
    struct link_place *place = NULL;
    if (words->count == 2 && name.at[name.len - 1] == ':')
        place = find_place(topology, (struct str){name.at, name.len - 1});
    return !place || keep(topology, words->at[1], &place->device, err);
}

static bool take_line(struct topology *topology, const struct line *line, struct err *err)
{
    struct link_words words, cells;
    struct str tag, text = unstyled(link_unprefixed(line->text, &tag));
    link_split(text, &words);
    if (count_columns(&words))
        return take_header(topology, &words, err);
    struct link_place *place = words.count > 1 ? find_place(topology, words.at[0]) : NULL;
    if (!place)
        return words.count == 0 || take_legend(topology, &words, err);
    split_cells(text, &cells);
    if (fits(topology, &cells))
        return take_row(topology, place, &cells, err);
    link_tests_warn(topology->input->evidence, LINK_BAD_ROW, line->pos);
    return true;
}

static bool gather_topology(const struct format_input *input, struct err *err)
{
    struct lines lines;
    struct line line = {0};
    struct topology topology = {.input = input};
    input->evidence->source = STR("nvidia-smi");
    bool ok = lines_open(&lines, input->source, input->budget, err);
    while (ok && lines_next(&lines, &line, err))
        ok = take_line(&topology, &line, err) &&
             progress_report(input->progress, source_consumed(input->source), err);
    lines_close(&lines);
    if (!ok || err->code != ERR_NONE)
        return false;
    return input->evidence->links.parts[LINK_PATHS].count ||
           input->evidence->links.parts[LINK_PLACES].count == 1 ||
           err_set(err, ERR_FORMAT, "found a matrix of nvidia-smi topo without a single row");
}

static bool count_topology(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_topology, link_report_topology}, input,
                          err);
}

static bool says_topology(struct str line)
{
    struct link_words words;
    link_split(unstyled(line), &words);
    return count_columns(&words) > 0;
}

static enum format_likeness probe_topology(const struct format_sample *sample)
{
    return link_any_line(sample->head, "GPU0", says_topology) ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_topology = {
    .name = "nvidia-smi-topo",
    .what = "a matrix of nvidia-smi topo",
    .kind = FORMAT_RECORDS,
    .probe = probe_topology,
    .count = count_topology,
    .gather = gather_topology,
};

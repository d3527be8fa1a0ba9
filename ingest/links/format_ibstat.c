// SPDX-License-Identifier: Apache-2.0
// What ibstat prints: a block for each network card, in it one for each port.
#include "ingest/links/link_figures.h"
#include "ingest/links/link_settle.h"
#include "ingest/links/link_text.h"
#include "ingest/source/lines.h"

#include <math.h>

struct ibstat {
    const struct format_input *input;
    struct link_port port; // the current one
    bool open;
};

static bool keep(struct ibstat *ibstat, struct str raw, struct str *kept, struct err *err)
{
    return evidence_text(ibstat->input->evidence, raw, kept, err);
}

static bool end_port(struct ibstat *ibstat, struct err *err)
{
    bool open = ibstat->open;
    ibstat->open = false;
    return !open || link_tests_add(ibstat->input->evidence, LINK_PORTS, &ibstat->port, err);
}

// What follows a name; false if the line does not start with it.
static bool value_of(struct str text, const char *name, struct str *value)
{
    struct str start = str_of(name);
    if (!str_starts_with(text, start))
        return false;
    *value = link_after(text, start.len);
    return true;
}

// "mlx5_0" of "CA 'mlx5_0'"; "" if it is no such line.
static struct str card_of(struct str text)
{
    struct str name;
    bool quoted = value_of(text, "CA '", &name) && name.len > 1 && name.at[name.len - 1] == '\'';
    return quoted ? (struct str){name.at, name.len - 1} : STR("");
}

static bool start_port(struct ibstat *ibstat, struct str number, struct err *err)
{
    if (!end_port(ibstat, err))
        return false;
    size_t colon = str_find(number, STR(":"));
    struct str digits = {number.at, colon < number.len ? colon : number.len};
    ibstat->port.number = link_whole(digits);
    ibstat->port.state = ibstat->port.layer = STR("");
    ibstat->port.rate_bps = NAN;
    ibstat->open = ibstat->port.device.len;
    return true;
}

static bool take_line(struct ibstat *ibstat, struct str line, struct err *err)
{
    static const double GBIT = 1e9 / 8;
    struct str tag, value, text = link_after(link_unprefixed(line, &tag), 0), card = card_of(text);
    if (card.len)
        return end_port(ibstat, err) && keep(ibstat, card, &ibstat->port.device, err);
    if (value_of(text, "Port ", &value) && !str_starts_with(value, STR("GUID")))
        return start_port(ibstat, value, err);
    if (value_of(text, "State:", &value))
        return keep(ibstat, value, &ibstat->port.state, err);
    if (value_of(text, "Link layer:", &value))
        return keep(ibstat, value, &ibstat->port.layer, err);
    if (value_of(text, "Rate:", &value))
        ibstat->port.rate_bps = link_number(value) * GBIT;
    return true;
}

static bool gather_ibstat(const struct format_input *input, struct err *err)
{
    struct lines lines;
    struct line line = {0};
    struct ibstat ibstat = {.input = input};
    input->evidence->source = STR("ibstat");
    bool ok = lines_open(&lines, input->source, input->budget, err);
    while (ok && lines_next(&lines, &line, err))
        ok = take_line(&ibstat, line.text, err) &&
             progress_report(input->progress, source_consumed(input->source), err);
    lines_close(&lines);
    if (!ok || err->code != ERR_NONE || !end_port(&ibstat, err))
        return false;
    return input->evidence->links.parts[LINK_PORTS].count ||
           err_set(err, ERR_FORMAT, "found output of ibstat without a single port");
}

static bool count_ibstat(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_ibstat, link_report_ports}, input, err);
}

static bool says_card(struct str line)
{
    return card_of(line).len;
}

static bool says_type(struct str line)
{
    return str_starts_with(link_after(line, 0), STR("CA type:"));
}

static enum format_likeness probe_ibstat(const struct format_sample *sample)
{
    bool both = link_any_line(sample->head, "CA '", says_card) &&
                link_any_line(sample->head, "CA type:", says_type);
    return both ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_ibstat = {
    .name = "ibstat",
    .what = "output of ibstat",
    .kind = FORMAT_RECORDS,
    .probe = probe_ibstat,
    .count = count_ibstat,
    .gather = gather_ibstat,
};

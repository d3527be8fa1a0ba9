// SPDX-License-Identifier: Apache-2.0
// The mean of a counter over time: each value counts for as long as it held.
#include "analysis/trace/counter_steps.h"
#include "analysis/stats/stats.h"

#include <math.h>

static struct counter_pace pace_of(const struct trace *trace, const struct counter *counter,
                                   int64_t *scratch)
{
    const struct counter_sample *samples = trace->counter_samples + counter->first;
    uint32_t spacings = counter->count - 1, usual = 0;
    if (spacings == 0)
        return (struct counter_pace){0, false};
    for (uint32_t i = 0; i < spacings; i++)
        scratch[i] = samples[i + 1].time_ns - samples[i].time_ns;
    int64_t median_ns = stats_quantiles(scratch, scratch + counter->count, spacings).median;
    for (uint32_t i = 0; i < spacings; i++) {
        int64_t spacing_ns = samples[i + 1].time_ns - samples[i].time_ns;
        usual += spacing_ns >= median_ns - median_ns / 2 && spacing_ns / 2 <= median_ns;
    }
    bool sampled = spacings >= 3 && usual >= spacings - spacings / 4;
    return (struct counter_pace){median_ns, sampled};
}

struct counter_reader counter_read(const struct trace *trace, const struct counter *counter,
                                   int64_t *scratch)
{
    return (struct counter_reader){trace, counter, pace_of(trace, counter, scratch),
                                   counter->first};
}

// When the value of a sample stops holding.
static int64_t end_of(const struct counter_reader *reader, uint32_t sample)
{
    const struct counter_sample *samples = reader->trace->counter_samples;
    int64_t begin_ns = samples[sample].time_ns, median_ns = reader->pace.median_ns;
    if (sample + 1 == reader->counter->first + reader->counter->count)
        return begin_ns + median_ns;
    int64_t next_ns = samples[sample + 1].time_ns;
    bool missing = reader->pace.sampled && (next_ns - begin_ns) / 2 > median_ns;
    return missing ? begin_ns + median_ns : next_ns;
}

static void hold(struct counter_mean *mean, double value, int64_t held_ns)
{
    mean->least = mean->covered_ns == 0 || value < mean->least ? value : mean->least;
    mean->most = mean->covered_ns == 0 || value > mean->most ? value : mean->most;
    mean->weighted += value * (double)held_ns;
    mean->covered_ns += held_ns;
}

void counter_mean_add(struct counter_reader *reader, const struct step *step,
                      struct counter_mean *mean)
{
    const struct counter_sample *samples = reader->trace->counter_samples;
    uint32_t end = reader->counter->first + reader->counter->count;
    while (reader->next < end && end_of(reader, reader->next) <= step->begin_ns)
        reader->next++;
    for (uint32_t i = reader->next; i < end && samples[i].time_ns < step->end_ns; i++) {
        int64_t begin_ns = samples[i].time_ns, end_ns = end_of(reader, i);
        begin_ns = begin_ns > step->begin_ns ? begin_ns : step->begin_ns;
        end_ns = end_ns < step->end_ns ? end_ns : step->end_ns;
        if (end_ns > begin_ns)
            hold(mean, samples[i].value, end_ns - begin_ns);
    }
}

double counter_mean_value(const struct counter_mean *mean)
{
    return mean->covered_ns ? mean->weighted / (double)mean->covered_ns : NAN;
}

const char *counter_unit(struct str name)
{
    // The first one contained in the name.
    static const struct {
        const char *part, *unit;
    } units[] = {
        {"pct_of", "percent"},
        {".pct", "percent"},
        {"percent", "percent"},
        {"%", "percent"},
        {"gb/s", "GB/s"},
        {"bytes.sum.per_second", "bytes/s"},
        {"bytes/s", "bytes/s"},
        {"packets/s", "packets/s"},
        {"ticks/s", "ticks/s"},
        {"per cycle", "per cycle"},
        {"per_cycle", "per cycle"},
        {"cycle", "cycles"},
        {"utilization", "share"},
        {"est. sm efficiency", "share"},
        {"(w)", "W"},
        {"(c)", "C"},
        {"mhz", "MHz"},
    };
    bool bytes = str_contains_nocase(name, STR("bytes"));
    if (bytes && str_contains_nocase(name, STR("per_second")))
        return "bytes/s";
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_contains_nocase(name, str_of(units[i].part)))
            return units[i].unit;
    return bytes ? "bytes" : str_contains_nocase(name, STR("per_second")) ? "1/s" : "";
}

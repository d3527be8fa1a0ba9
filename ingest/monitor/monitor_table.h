// SPDX-License-Identifier: Apache-2.0
// Tables that monitors write: a header that names the columns, and a row per device and moment.
// What a tool calls its columns is its own table (struct monitor_dialect).
#ifndef INGEST_MONITOR_MONITOR_TABLE_H
#define INGEST_MONITOR_MONITOR_TABLE_H

#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/monitor/monitor_text.h"

enum monitor_role {
    MONITOR_METRIC,
    MONITOR_HEAT,   // a share of the time in which heat limited the clocks; a row's greatest counts
    MONITOR_REASON, // a throttle reason: "Active", "THROTTLED"
    MONITOR_TIME,   // with its date, unless there is a column of that
    MONITOR_DATE,
    MONITOR_INDEX,
    MONITOR_ENTITY,   // "GPU 0", "card0", or a part such as "GPU-I 0"
    MONITOR_XCP,      // a partition's number; 0 is the whole, too
    MONITOR_INSTANCE, // a part's number
    MONITOR_PROCESS,  // of whose use the row is: a GPU's is the sum
    MONITOR_NO_GPU,   // only in tables of something else, whose rows are left out
    MONITOR_UUID,
    MONITOR_BUS_ID,
    MONITOR_NAME,
    MONITOR_HOST,
    MONITOR_ROLES
};

// Adding what a newer version of a tool writes is a line of this.
struct monitor_column {
    struct str name; // in any case, without its unit
    enum monitor_role role;
    enum sample_metric metric; // of MONITOR_METRIC and MONITOR_HEAT
    const char *unit;          // of numbers without one; NULL: as SAMPLE_... counts
    unsigned bit;              // of MONITOR_REASON
};
#define MONITOR_COLUMN(name, role, metric, unit, bit)      \
    {                                                      \
        {name, sizeof(name) - 1}, role, metric, unit, bit, \
    }
#define MONITOR_IS(name, metric, unit) \
    MONITOR_COLUMN(name, MONITOR_METRIC, SAMPLE_##metric, unit, 0)
#define MONITOR_SAYS(name, role) MONITOR_COLUMN(name, MONITOR_##role, SAMPLE_METRICS, NULL, 0)

struct monitor_table;

enum { MONITOR_MOST_PROCESSES = 256 }; // of one moment; the sums of more are too small

struct monitor_dialect {
    const char *source; // who wrote it
    const struct monitor_column *columns;
    size_t count;
    // Takes a line that is not blank: its header or row. NULL: the file has no lines.
    bool (*take)(struct monitor_table *table, const struct str *text, struct err *err);
    // Picks, of a tool's dialects, the one that a header is in. NULL: there is only this one.
    const struct monitor_dialect *(*pick)(const struct monitor_cells *header);
};
#define MONITOR_DIALECT(source, columns, take)                            \
    {                                                                     \
        source, columns, sizeof(columns) / sizeof *(columns), take, NULL, \
    }

// A column of the current header.
struct monitor_place {
    size_t cell;
    const struct monitor_column *column;
    struct monitor_scale scale;
};

struct monitor_table {
    const struct format_input *input;
    const struct monitor_dialect *dialect;
    uint64_t pos;    // of the current line
    bool open;       // it has no end, so that its last number may be half of one
    uint64_t header; // a hash of the current one; 0: there was none
    char separator;  // of its columns and of its rows
    size_t width;    // its cells
    struct monitor_place places[MONITOR_MOST_CELLS];
    size_t place_count;
    bool has[MONITOR_ROLES];
    struct monitor_cells cells;
    // rows that do not say of which device they are: at one moment, each is of another
    int64_t same_time_ns, same_count;
    int64_t day_ns, last_ns; // of times without a date
    // files of several nodes, joined: the rows of each start after a header, with earlier times
    bool after_header;
    int64_t node_first_ns, before_ns;
    uint32_t node;   // from 0
    struct str host; // its name; "" for the first
    // rows of processes: those of the moment, and which it is if there are no times
    struct monitor_process {
        int64_t gpu;
        uint64_t process; // a hash
    } processes[MONITOR_MOST_PROCESSES];
    size_t process_count;
    int64_t process_moment;
    // text without rows: the moment, and hashes of what says that another starts
    uint64_t moment, first_name, first_key, last_name;
    int64_t stamp_ns; // of a line before it that is a time; of that clock, SAMPLE_NO_CLOCK: none
    enum sample_clock stamp_clock;
};

// Lines among which a header is expected; what comes before is shell output.
enum { MONITOR_FIRST_LINES = 5 };

// The column of that name; NULL: none.
const struct monitor_column *monitor_column_of(const struct monitor_dialect *dialect,
                                               struct str name);

// Between rows of a device, if they have no times.
#define MONITOR_PERIOD_NS INT64_C(1000000000)

// What numbers of a column count. unit: what its header says, or "".
struct monitor_scale monitor_scale_of(const struct monitor_column *column, struct str unit);
// Notes the name under which a metric was found, and its scale.
MUST_CHECK bool monitor_note_column(struct evidence *evidence, const struct monitor_column *column,
                                    struct str name, struct monitor_scale scale, struct err *err);

// What a row says about itself.
struct monitor_row {
    struct sample_identity is;
    struct str date, time;
    struct str process; // "" unless the table has processes; "-" none
    int64_t time_ns;
    unsigned reasons; // bits
    bool any_reason;
    double heat; // percent of MONITOR_HEAT, NAN without
    bool no_gpu; // the row is of something else
};

void monitor_row_start(struct monitor_row *row);
// What a cell or label of that role says. False if it makes no sense.
bool monitor_row_says(struct monitor_row *row, enum monitor_role role, struct str cell);

// Splits a line of CSV into table->cells, as the header was.
void monitor_split_line(struct monitor_table *table, struct str text);
// Takes table->cells as a header, whose columns are found by their names. text: of the line.
MUST_CHECK bool monitor_take_header(struct monitor_table *table, struct str text, struct err *err);
// Takes table->cells as a row, or counts it as a bad one.
MUST_CHECK bool monitor_take_row(struct monitor_table *table, struct err *err);

// Reads all lines. ERR_FORMAT if there is no sample.
MUST_CHECK bool monitor_gather(const struct format_input *input,
                               const struct monitor_dialect *dialect, struct err *err);

// Ends the reading of samples: false with ERR_FORMAT if there is none.
MUST_CHECK bool monitor_end(struct evidence *evidence, const char *source, struct err *err);

// Whether `is` holds for one of the first `most` lines of a head that are not blank. A byte order
// mark is left out; the last line may be cut.
bool monitor_any_line(struct str head, size_t most, bool (*is)(struct str line));

#endif

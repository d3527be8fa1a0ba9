// SPDX-License-Identifier: Apache-2.0
// The service's durable state: runs, traces, uploads, jobs and the tables of reports. Plain structs
// in and out; no database type is visible. Any function may be called from any thread at any time.
// Every change is one transaction and durable (fsynced) once true is returned. Strings in results
// live in the arena passed in; absent strings are "" unless NULL is mentioned.
#ifndef SERVER_STORE_H
#define SERVER_STORE_H

#include "analysis/run/run_figures.h"
#include "analysis/analysis.h"
#include "server/store/table_query.h"

struct store;

#define STORE_ID_SIZE     16 // "r_7q2k9d0x" and its NUL; runs r_, traces t_, uploads u_
#define STORE_SHA256_SIZE 65 // lower-case hex and its NUL
#define STORE_NO_RANK     (-1)
#define STORE_LOG_METRIC  "log."  // followed by a column of logs
#define STORE_META_METRIC "meta." // followed by the key of metadata that is a number
#define STORE_ANY         (-1)    // expected revision: any

#define STORE_NAME_MAX_BYTES  ((size_t)200)  // run names, projects, tag keys and values
#define STORE_NOTE_MAX_BYTES  ((size_t)4000) // notes, comments
#define STORE_WORD_MAX_BYTES  ((size_t)64)   // names of baselines, keys of metadata
#define STORE_BASELINE_PREFIX "@baseline:"
#define STORE_MAX_META        ((size_t)64)  // settings of a run
#define STORE_MAX_TAGS        ((size_t)256) // of a run
#define STORE_MAX_BASELINES   ((size_t)1000)
#define STORE_MAX_EMPTY_RUNS  1000 // of one owner

// Opens or creates the database at path and updates its schema. ERR_UNSUPPORTED if a newer version
// wrote it.
MUST_CHECK struct store *store_open(const char *path, struct err *err);

// The same as one of several services that share the database. owner: its name, which must be the
// same after a restart.
MUST_CHECK struct store *store_open_as(const char *path, const char *owner, struct err *err);
// A random name for a service.
MUST_CHECK bool store_new_name(char name[STORE_ID_SIZE], struct err *err);
void store_close(struct store *store); // NULL is allowed

// --- runs ---------------------------------------------------------------------------------------

enum run_status {
    RUN_EMPTY,   // no trace yet
    RUN_PENDING, // traces are waiting, none was started
    RUN_RUNNING, // some work is done or under way and some is left
    RUN_DONE,
    RUN_FAILED,  // no trace could be read, or joining them failed
    RUN_PARTIAL, // some traces are done, some failed
};
const char *run_status_word(enum run_status status); // "empty", "pending", ...

struct run_tag {
    struct str key, value;
};

// The eight parts of a step, in the order bars show them.
enum run_part {
    PART_GEMM,
    PART_ATTENTION,
    PART_OTHER_COMPUTE,
    PART_EXPOSED_COMM,
    PART_EXPOSED_MEMORY,
    PART_IDLE_HOST_WAIT,
    PART_IDLE_OTHER,
    PART_UNRECORDED,
    PART_COUNT
};
extern const char *const run_part_columns[PART_COUNT]; // "gemm_ns", ...

struct run {
    struct str id, name, project, series, note; // series: name up to '@'
    int64_t created_ns;                         // wall clock
    int64_t revision;                           // grows with every change of the run or its results
    enum run_status status;
    int64_t world_size;           // as set, else as in the traces; -1 unknown
    bool finalized;               // no more ranks will come
    struct str owner;             // who created it; "" unknown
    int64_t received;             // traces
    int64_t evidence;             // other files that say something about the run
    int64_t done, failed, active; // of those; active: queued or running
    struct str step_pattern;      // annotation that marks a step, "" detected
    int64_t warmup_steps;         // left out at the start, -1 by the warm-up rule
    struct run_tag *tags;         // by key
    size_t tag_count;
    struct run_tag *meta; // settings that people entered, by key; they take precedence over those
                          // in traces
    size_t meta_count;
    struct str *baselines; // names that are pinned to it, ascending
    size_t baseline_count;
    struct str error; // why the first failed trace or the run failed; "" none

    // From the run's tables; null cells until the run was analyzed.
    struct cell gpu, step_median_ns, busy_share, exposed_comm_share, findings, trust_severity;
    struct cell no_steps;             // 1: no step is marked, and the recording counts as one
    struct cell parts[PART_COUNT];    // per step of the headline rank (integers)
    double figures[RUN_FIGURE_COUNT]; // NAN unknown
    struct str figure_sources[RUN_FIGURE_COUNT]; // "log", "trace", ...; "" unknown
};

// What a client may set. NULL members stay as they are. Tags and settings are merged into the
// existing ones; one whose value is NULL is removed.
struct run_patch {
    const struct str *name, *project, *note;
    const struct run_tag *tags, *meta;
    size_t tag_count, meta_count;
    bool forgets_tags;         // removes all existing tags
    const int64_t *world_size; // -1 clears it
    // Changing these queues the run's traces again.
    const struct str *step_pattern; // "" clears it
    const int64_t *warmup_steps;    // -1 clears it
};

struct run_query {
    struct str search;          // substring of name, project, note, a tag or the GPU; "" all
    struct str project, gpu;    // equal; substring of its name, in any case; "" all
    struct str status;          // its word; "" all
    struct str series;          // equal; "" all
    const struct run_tag *tags; // all of them must be present; an empty value: any value
    size_t tag_count;
    struct str metric; // that figure is known and within these bounds; "" all
    double least, most;
    int64_t since_ns;  // created at or after; 0 all
    int64_t before_ns; // created before; 0 all
    // created, name, project, status, received, world_size, gpu, trust_severity or a figure (see
    // store_figures.c); none: newest first.
    struct sort_key sorts[TABLE_QUERY_MAX_SORTS];
    unsigned sort_count;
    uint64_t limit, offset;
};

struct run_list {
    struct run *runs;
    size_t count;
    uint64_t total;      // that match, on all pages
    bool total_is_least; // not all were counted
    int64_t oldest_ns; // when the first of all runs since the query's since_ns was created; 0: none
};

// The run of that name in that project, created if it does not exist. Tags, meta and note are added
// if given; world_size if >= 0. ERR_USAGE for an invalid name.
struct run_request {
    struct str name;    // "": generated from the date and time
    struct str project; // "": "default"
    struct str note;
    const struct run_tag *tags, *meta;
    size_t tag_count, meta_count;
    int64_t world_size; // STORE_ANY: unknown
    // As in run_patch; "" and NULL: unchanged.
    struct str step_pattern;
    const int64_t *warmup_steps;
    struct str owner;   // who creates it, or adds to it; "" unknown
    int64_t created_ns; // its place in its series; 0: now
    bool adds_only; // a change to a run that others created, that is complete or a baseline fails
                    // with ERR_DENIED; repeating what is there does not
};

// Whether a run could be created this way, as far as can be checked without the database.
// ERR_USAGE.
MUST_CHECK bool store_check_run(const struct run_request *request, struct err *err);

// The same check before files for the run arrive: a name in the form of an id must exist.
MUST_CHECK bool store_check_target(struct store *store, const struct run_request *request,
                                   struct err *err);

// Creates an empty run. ERR_CONFLICT if the name is taken in the project, ERR_BUSY if its owner has
// too many empty runs.
MUST_CHECK bool store_create_run(struct store *store, const struct run_request *request,
                                 struct arena *arena, struct run *run, struct err *err);

// Finds a run by id, by name ("project/name" too), by "series~latest" (the newest of a series, in
// any project, or "project/series~latest") or by "@baseline:name". ERR_NOT_FOUND; ERR_CONFLICT if a
// bare name exists in several projects.
MUST_CHECK bool store_find_run(struct store *store, struct str key, struct arena *arena,
                               struct run *run, struct err *err);

// Whether runs can have a figure of that name, and be sorted by it.
bool store_knows_figure(struct str metric);
MUST_CHECK bool store_list_runs(struct store *store, const struct run_query *query,
                                struct arena *arena, struct run_list *list, struct err *err);

// expected: the revision the client saw, or STORE_ANY. ERR_CONFLICT if it has changed since or the
// new name is taken; ERR_NOT_FOUND.
MUST_CHECK bool store_patch_run(struct store *store, struct str id, const struct run_patch *patch,
                                int64_t expected, struct err *err);

// Deletes all rows of a run, whether in the bin (store_bin.h) or not, and lists its files as
// garbage. Call intake_delete_run instead: it removes the files, too.
MUST_CHECK bool store_delete_run(struct store *store, struct str id, int64_t expected,
                                 struct err *err);

// No more ranks are expected: the run is complete with those it has. More are still accepted.
MUST_CHECK bool store_finalize_run(struct store *store, struct str id, struct err *err);

// A finding that someone dismissed, with a reason, until that is undone.
struct dismissal {
    struct str finding, reason; // its id in the run's table of findings
    int64_t created_ns;
};
MUST_CHECK bool store_list_dismissals(struct store *store, struct str run_id, struct arena *arena,
                                      struct dismissal **dismissals, size_t *count,
                                      struct err *err);
// ERR_NOT_FOUND if the run has no such finding; ERR_USAGE for an invalid reason.
MUST_CHECK bool store_dismiss(struct store *store, struct str run_id, struct str finding,
                              struct str reason, struct err *err);
// ERR_NOT_FOUND if it is not dismissed.
MUST_CHECK bool store_take_back_dismissal(struct store *store, struct str run_id,
                                          struct str finding, struct err *err);

// --- traces and uploads -------------------------------------------------------------------------

enum trace_state { TRACE_QUEUED, TRACE_RUNNING, TRACE_DONE, TRACE_FAILED };
const char *trace_state_word(enum trace_state state); // "queued", "running", "done", "failed"

struct trace_row {
    struct str id, run_id, filename, sha256;
    int64_t rank;         // STORE_NO_RANK while pending
    struct str rank_from; // field, metadata, filename, next, pending
    int64_t bytes;
    int64_t uploaded_ns;
    enum trace_state state;
    struct str error;   // why it failed
    struct str warning; // what a user should know, such as a rank that was taken
    bool existing;      // in an upload: these bytes were already stored
    int64_t secrets;    // strings in it that look like secrets, -1 until it was read
    struct str damage;  // what is wrong with its stored bytes, "" nothing known
    struct str role;    // as its upload gave it, "" or NULL unknown
};

#define TRACE_ROLE_MAX 64 // bytes

// One stored file of an upload: its blob is in place, its rows are not.
struct trace_part {
    const char *sha256;
    int64_t bytes;
    struct str filename; // display only
    int64_t rank;        // from a field, or STORE_NO_RANK
    int64_t process;     // of the file, as its format numbers them; 0: it has one
    struct str role;     // in a reinforcement learning job, "" or NULL unknown
    struct str archive;  // the format word of what becomes an input (store_inputs.h), "": a trace
};

struct input_row;

struct upload {
    struct str id, run_id;
    int64_t created_ns;
    struct trace_row *traces; // in the order of the parts
    size_t count;
    struct input_row *inputs; // archives, each followed by its members
    size_t input_count;
    bool all_existing; // nothing new was uploaded
};

// A client's key for an upload, so that it can send it again and get the same answer.
struct upload_key {
    struct str text; // "" none
    int64_t request; // a hash of the whole request: a different one means a different upload
};

// Finds or creates the run and adds rows for all parts, the upload and the jobs, in one
// transaction; after that the upload is acknowledged. Same bytes for the same run and rank: the
// existing trace. Different bytes for a rank: ERR_CONFLICT, unless the older trace failed or with
// replace; then it is removed. Call intake_accept instead: it puts the blobs in place, too.
struct upload_request {
    struct run_request run;
    const struct trace_part *parts;
    size_t count;
    bool replace;
    struct str owner;        // who owns the traces and bytes; "" nobody
    uint64_t sent_bytes;     // to count as sent by the owner today
    struct upload_key key;   // one that the owner used already is ERR_CONFLICT
    struct str resumable_id; // "" none; the resumable upload that becomes this one
};
MUST_CHECK bool store_add_upload(struct store *store, const struct upload_request *request,
                                 struct arena *arena, struct upload *upload, struct err *err);

MUST_CHECK bool store_find_upload(struct store *store, struct str id, struct arena *arena,
                                  struct upload *upload, struct err *err);

// Traces of a run by rank, those without a rank last.
MUST_CHECK bool store_list_traces(struct store *store, struct str run_id, struct arena *arena,
                                  struct trace_row **traces, size_t *count, struct err *err);

// ERR_NOT_FOUND if the run has no such rank.
MUST_CHECK bool store_find_rank(struct store *store, struct str run_id, int64_t rank,
                                struct arena *arena, struct trace_row *trace, struct err *err);

// --- results ------------------------------------------------------------------------------------

// All run tables, as analyze_compare needs them. The caller sets report->arena.
MUST_CHECK bool store_load_run_report(struct store *store, struct str run_id, struct report *report,
                                      struct err *err);

// Like store_load_run_report, for some of the run tables (NULL-terminated).
MUST_CHECK bool store_load_run_tables(struct store *store, struct str run_id,
                                      const struct table_desc *const *known, struct report *report,
                                      struct err *err);

// The report of one trace. ERR_NOT_FOUND if there is none yet.
MUST_CHECK bool store_load_trace_report(struct store *store, struct str trace_id,
                                        struct report *report, struct err *err);

// Like store_load_trace_report, for some of the trace tables (NULL-terminated); only those are
// read.
MUST_CHECK bool store_load_trace_tables(struct store *store, struct str trace_id,
                                        const struct table_desc *const *known,
                                        struct report *report, struct err *err);

// Appends the known tables of a trace to a file of parts, as they are stored.
MUST_CHECK bool store_copy_trace_parts(struct store *store, struct str trace_id,
                                       const struct table_desc *const *known, int fd,
                                       struct err *err);

// Locates the rows of a table.
struct table_place {
    struct str run_id;
    int64_t revision;    // of the run that the rows belong to; STORE_ANY: the current one
    struct str trace_id; // "": a table of the run, one of run_tables
    const struct table_desc *desc;
};

// Reads a table part by part. Starts with only the place set.
struct table_cursor {
    struct table_place place; // its revision is set by the first part
    uint64_t next;            // number of the next part
    bool more;                // whether there is one
};

// Adds the rows of the next part to the report, if there are any. ERR_BUSY when the run is no
// longer at that revision.
MUST_CHECK bool store_read_part(struct store *store, struct table_cursor *cursor,
                                struct report *report, struct err *err);

// The rows of the next part that match the query's filters and search, in their order.
MUST_CHECK bool store_read_matches(struct store *store, struct table_cursor *cursor,
                                   const struct table_query *query, struct arena *arena,
                                   struct table_page *matches, struct err *err);

// The rows of a table that a query selects; none for a run that is not analyzed yet. Takes the
// memory of the page and one part. ERR_BUSY as above; ERR_LIMIT if that exceeds the arena's budget.
MUST_CHECK bool store_read_table(struct store *store, const struct table_place *place,
                                 const struct table_query *query, struct arena *arena,
                                 struct table_page *page, struct err *err);

// The result of a trace job.
struct trace_result {
    int tables;               // a file of parts, stored as they are
    int64_t secrets;          // for the trust report
    int64_t kept_bytes;       // of the trace that is kept for later
    int64_t join_bytes;       // unpacked size of the tables that joining the ranks reads
    int64_t rank, world_size; // from the file, -1 if it has none
    int64_t events, text_bytes, parse_ns, analyze_ns;
};

// --- jobs (used by jobs.c) ----------------------------------------------------------------------

enum job_kind { JOB_TRACE, JOB_RUN, JOB_UNPACK, JOB_EVIDENCE };

struct job {
    int64_t id;
    enum job_kind kind;
    struct str run_id;
    struct str trace_id; // JOB_TRACE
    struct str input_id; // JOB_UNPACK: the archive; JOB_EVIDENCE: the attachment
    struct str filename; // of the input
    struct str sha256;   // not JOB_RUN: the blob
    int64_t bytes;       // of the blob
    int64_t attempt;     // 1, 2, 3, ...

    int64_t process;         // JOB_TRACE: of the blob; 0: it has one
    struct str step_pattern; // JOB_TRACE: of its run, "" none
    int64_t warmup_steps;    // JOB_TRACE: of its run, -1 by the rule
};

// After this many crashes of the service with the job running, or of the job's own process, the job
// fails. Being killed from outside is forgiven a few times only: the kernel kills what takes too
// much memory.
#define STORE_MAX_FAULTS   3
#define STORE_MAX_ATTEMPTS 30

// How long a worker owns a job; renewing the lease extends it.
#define STORE_LEASE_NS INT64_C(60000000000)

// Files up to this size are read in a second or two, so others can wait for them.
#define STORE_SMALL_BYTES ((int64_t)64 << 20)

// Takes the queued job that is due first. A job that joins a run is due at once (so that a run is
// done before other runs' files are read); a file is due one second after it arrived plus one
// second per megabyte, after those of its run. Counts the attempt and commits that. *found false:
// nothing can start now. A run's job waits while another of the same run is running; a job that was
// running during a crash runs alone, so that no other shares the blame.
MUST_CHECK bool store_claim_job(struct store *store, struct arena *arena, struct job *job,
                                bool *found, struct err *err);

// Like store_claim_job, among jobs with small files only.
MUST_CHECK bool store_claim_small_job(struct store *store, struct arena *arena, struct job *job,
                                      bool *found, struct err *err);

// Writes a trace's results, settles its rank and queues the run's job if it was the last trace, or
// if the number of ranks has doubled since the last join. ERR_NOT_FOUND if the run was deleted
// meanwhile.
MUST_CHECK bool store_finish_trace(struct store *store, const struct job *job,
                                   const struct trace_result *result, struct err *err);

// Replaces a run's tables by those of a file of parts.
MUST_CHECK bool store_finish_run(struct store *store, const struct job *job, int tables,
                                 struct err *err);

// Ends a job as failed, with a sentence for the user. Like every function that ends a job:
// ERR_NOT_FOUND if the caller no longer owns it.
MUST_CHECK bool store_fail_job(struct store *store, const struct job *job, const char *reason,
                               struct err *err);

// Puts a job back because we are stopping; the attempt does not count. ERR_NOT_FOUND if it is gone.
MUST_CHECK bool store_requeue_job(struct store *store, const struct job *job, struct err *err);

// The job's process died: the job is queued again with the reason, or failed if that was its last
// attempt (*again false).
struct job_strike {
    const char *verb;   // "crashed"
    const char *detail; // "SIGSEGV"
};
MUST_CHECK bool store_strike_job(struct store *store, const struct job *job,
                                 const struct job_strike *why, bool *again, struct err *err);

// Renews the leases of running jobs, and sets the ids of those that are no longer this service's to
// 0; *lost others had expired and are queued again.
MUST_CHECK bool store_keep_leases(struct store *store, int64_t *job_ids, size_t count, size_t *lost,
                                  struct err *err);

// Takes a role that one of the services sharing the database has at a time, or keeps it for another
// STORE_LEASE_NS. *leads: whether it has the role now.
MUST_CHECK bool store_take_role(struct store *store, const char *role, bool *leads,
                                struct err *err);
// The mark of the place where the services' files are (blob_store.h); mark if none was kept yet.
MUST_CHECK bool store_keep_mark(struct store *store, const char *mark, char kept[STORE_ID_SIZE],
                                struct err *err);
bool store_is_shared(const struct store *store);   // whether there may be other services
struct str store_owner(const struct store *store); // the name of this one

// If two calls return the same version, whatever was read between them is the same. With a shared
// database this asks the database. 0: unknown, because it does not answer or a transaction is being
// committed.
uint64_t store_version(struct store *store);

// All waiting and working jobs of a run end as failed, "cancelled"; a worker finds out when it ends
// its job. A run without any stays as it is.
MUST_CHECK bool store_cancel_run(struct store *store, struct str run_id, struct err *err);

// At start: running jobs of this service, and those whose lease has run out, are queued again, or
// failed if they are to blame (crashed: this service's last process crashed by itself); traces with
// results of an older ANALYSIS_VERSION are queued.
MUST_CHECK bool store_recover_jobs(struct store *store, bool crashed, struct err *err);

// Queues all traces of a run again. ERR_NOT_FOUND.
MUST_CHECK bool store_reanalyze_run(struct store *store, struct str run_id, struct err *err);

// The finished ranks of a run, ascending, with their trace ids.
struct rank_trace {
    int64_t rank;
    struct str trace_id;
    struct str role;         // as its upload gave it, "" unknown
    int64_t join_bytes;      // as in its trace_result; -1 if an older program stored it
    struct str process_name; // one of several processes of a file that does not say its rank: the
                             // names of both; else ""
    bool by_order;           // of a file with one process: the rank was free, nothing said it
};
MUST_CHECK bool store_done_ranks(struct store *store, struct str run_id, struct arena *arena,
                                 struct rank_trace **ranks, size_t *count, struct err *err);

// Ranks of such processes are in the order of their names; whether they are already.
bool store_processes_are_ordered(const struct rank_trace *ranks, size_t count);
MUST_CHECK bool store_order_processes(struct store *store, struct str run_id, struct arena *arena,
                                      struct err *err);

// Queued and running jobs, for readiness and back-pressure.
MUST_CHECK bool store_count_jobs(struct store *store, uint64_t *open, struct err *err);

// True in *open while a trace or an archive of the upload, or the joining of a run that it has
// traces in, waits or works.
MUST_CHECK bool store_upload_open(struct store *store, struct str upload_id, bool *open,
                                  struct err *err);

// --- files without rows (used by intake.c) ------------------------------------------------------

enum garbage_kind { GARBAGE_BLOB, GARBAGE_TRACE_FILE };

struct garbage {
    enum garbage_kind kind;
    struct str name; // sha256, or trace id
};

// Files whose rows were deleted; removed from the list by store_forget_garbage.
MUST_CHECK bool store_list_garbage(struct store *store, struct arena *arena, struct garbage **items,
                                   size_t *count, struct err *err);
// Lists a file that no row ever named, too.
MUST_CHECK bool store_note_garbage(struct store *store, const struct garbage *item,
                                   struct err *err);
MUST_CHECK bool store_forget_garbage(struct store *store, const struct garbage *item,
                                     struct err *err);

// Whether a row names this blob, or this trace file.
MUST_CHECK bool store_names_blob(struct store *store, const char *sha256, bool *named,
                                 struct err *err);

// A blob that is removed from another machine, which may do that late.
struct store_removal {
    const char *sha256;
    bool begun; // no row names it
    bool alone; // no removal of it that was begun before may still be done
};
// Longer than S3 accepts a request of a service whose clock is ahead as far as S3 allows.
#define STORE_REMOVAL_NS ((int64_t)35 * 60 * 1000000000)
// Unless a row names the blob, its bytes are refused (ERR_BUSY) until the end, or for
// STORE_REMOVAL_NS.
MUST_CHECK bool store_begin_removal(struct store *store, struct store_removal *removal,
                                    struct err *err);
// After it was done.
MUST_CHECK bool store_end_removal(struct store *store, const struct store_removal *removal,
                                  struct err *err);
MUST_CHECK bool store_names_trace(struct store *store, const char *trace_id, bool *named,
                                  struct err *err);

#endif

// SPDX-License-Identifier: Apache-2.0
// Writes request bodies to one file, and turns the complete file into an upload.
#include "server/access/audit.h"
#include "server/base/metrics.h"
#include "server/uploads/tus.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"
#include "server/access/quota.h"
#include "server/files/pieces.h"
#include "server/uploads/sniff.h"
#include "server/uploads/tus_checksum.h"
#include "server/uploads/upload_form.h"
#include "server/uploads/upload_gate.h"

#include <stdlib.h>

// One request to an upload.
struct turn {
    struct request *request;
    struct response *response;
    struct resumable resumable; // as it was when the request started
    struct pieces *pieces;
    uint64_t begin;                // offset of its piece
    uint64_t counted;              // bytes up to here are counted for their sender
    struct tus_checksum *checksum; // of the piece, NULL none
    bool refused;                  // for good, and its bytes are gone
};

// What another request did to the upload before it released the file.
static bool look_again(struct turn *turn, struct err *err)
{
    struct resumable *now = &turn->resumable;
    if (!store_find_resumable(turn->request->services->intake->store, now->id, turn->request->arena,
                              now, err))
        return false;
    if (now->upload_id.len == 0 && now->refused.len == 0)
        return true;
    return response_refuse(turn->response, err, (struct refusal){423, "busy"},
                           "another request just completed this upload; ask again");
}

static bool open_pieces(struct turn *turn, struct err *err)
{
    struct blobs *blobs = turn->request->services->intake->blobs;
    turn->pieces = pieces_open(blobs, turn->resumable.id.at, turn->resumable.bytes, err);
    struct err why = *err;
    if (!turn->pieces && why.code != ERR_NOT_FOUND) {
        if (why.code == ERR_BUSY)
            turn->response->status = 423;
        return false;
    }
    if (!look_again(turn, err))
        return false;
    if (turn->pieces)
        return pieces_find_end(turn->pieces, turn->resumable.flushed, err);
    *err = why;
    turn->response->status = 410;
    return false;
}

// --- the end of an upload -----------------------------------------------------------------------

// Nothing sent later can fix it. The reason is kept for anyone who asks.
static void refuse(struct turn *turn, const struct err *err)
{
    const struct intake *intake = turn->request->services->intake;
    struct err ignored;
    turn->refused = true;
    if (!store_refuse_resumable(intake->store, turn->resumable.id, err->msg, &ignored) ||
        !pieces_remove(intake->blobs, turn->resumable.id.at, &ignored))
        log_warn("a refused resumable upload remains: %s", ignored.msg);
}

static bool check_head(struct turn *turn, struct str filename, struct str *archive, struct err *err)
{
    char head[SNIFF_BYTES];
    size_t len = 0;
    return pieces_read_head(turn->pieces, head, sizeof head, &len, err) &&
           sniff_upload((struct str){head, len}, filename, archive, err);
}

static bool accept_form(struct turn *turn, const struct upload_form *form, struct upload *upload,
                        struct err *err)
{
    struct intake_request wanted = {.run = form->run,
                                    .parts = form->parts,
                                    .count = form->part_count,
                                    .replace = form->replace,
                                    .owner = turn->resumable.owner,
                                    .resumable_id = turn->resumable.id};
    wanted.run.owner = turn->resumable.owner;
    const struct intake *intake = turn->request->services->intake;
    if (intake_accept(intake, &wanted, turn->request->arena, upload, err))
        return true;
    if (err->code == ERR_DENIED)
        upload_form_explain_denial(turn->response);
    if (err->code == ERR_CONFLICT) {
        turn->response->word = "rank-conflict";
        turn->response->fix = STR("start again with replace true in Upload-Metadata to replace the "
                                  "existing trace, or use another run name");
    }
    return false;
}

static bool accept_file(struct turn *turn, struct upload *upload, struct err *err)
{
    struct str filename = STR(""), archive = STR("");
    struct upload_form *form = tus_form(turn->request, turn->resumable.metadata, &filename, err);
    if (!form || !check_head(turn, filename, &archive, err))
        return false;
    struct spool *spool = pieces_seal(turn->pieces, err);
    bool ok = spool && upload_form_take(form, spool, filename, archive, err) &&
              accept_form(turn, form, upload, err);
    upload_form_close(form);
    return ok;
}

static bool accept(struct turn *turn, struct err *err)
{
    const struct services *services = turn->request->services;
    struct upload upload;
    struct err ignored;
    if (!accept_file(turn, &upload, err)) {
        if (err->code == ERR_CONFLICT || err->code == ERR_FORMAT || err->code == ERR_USAGE ||
            err->code == ERR_DENIED)
            refuse(turn, err);
        return false;
    }
    metrics_add(services->metrics, METRIC_UPLOADS, 1);
    if (turn->begin > 0)
        metrics_add(services->metrics, METRIC_UPLOADS_RESUMED, 1);
    if (!pieces_remove_open(turn->pieces, &ignored))
        log_warn("the file of an accepted upload remains: %s", ignored.msg);
    audit_name_upload(turn->request, &upload);
    return tus_show_result(turn->request, turn->response, upload.id, err);
}

// --- what is there ------------------------------------------------------------------------------

static bool is_complete(const struct turn *turn)
{
    return pieces_offset(turn->pieces) == turn->resumable.bytes;
}

// Makes the received bytes durable. A complete file is stored as such at once: no other service
// will continue it.
static bool save(struct turn *turn, struct err *err)
{
    struct resumable *resumable = &turn->resumable;
    uint64_t offset = pieces_offset(turn->pieces);
    bool shares = pieces_unshared(turn->pieces) > 0 && !is_complete(turn);
    if (offset == resumable->flushed && !shares)
        return true;
    int64_t expires_ns = tus_expiry(turn->request);
    if (!pieces_flush(turn->pieces, err) || (shares && !pieces_publish(turn->pieces, err)) ||
        !store_extend_resumable(turn->request->services->intake->store, resumable, offset,
                                expires_ns, err) ||
        (shares && !pieces_note_published(turn->pieces, err)))
        return false;
    resumable->flushed = offset;
    resumable->expires_ns = expires_ns;
    if (offset > turn->counted) // bytes left by an earlier request are not part of its body
        quota_settle(turn->request, offset - turn->counted);
    turn->counted = offset;
    return true;
}

// The same, and reports how many there are.
static bool keep(struct turn *turn, struct err *err)
{
    if (!save(turn, err))
        return false;
    tus_show_offset(turn->request, turn->response, turn->resumable.flushed);
    tus_show_expiry(turn->request, turn->response, turn->resumable.expires_ns);
    return true;
}

bool tus_settle(struct request *request, struct response *response,
                const struct resumable *resumable, struct err *err)
{
    struct turn turn = {.request = request, .response = response, .resumable = *resumable};
    bool ok = open_pieces(&turn, err);
    turn.begin = turn.counted = ok ? pieces_offset(turn.pieces) : 0;
    ok = ok && keep(&turn, err) && (!is_complete(&turn) || accept(&turn, err));
    pieces_close(turn.pieces);
    return ok;
}

// --- receiving ----------------------------------------------------------------------------------

static bool check_stopping(struct turn *turn, struct err *err)
{
    return !atomic_load(turn->request->services->draining) ||
           response_stopping(turn->response, turn->request, "; received bytes are kept", err);
}

// A file that cannot be a trace is refused before the rest is sent, when its first bytes have come
// with what began at `from`.
static bool check_first(struct turn *turn, uint64_t from, struct err *err)
{
    struct str filename, archive;
    if (from >= SNIFF_BYTES || pieces_offset(turn->pieces) < SNIFF_BYTES)
        return true;
    if (!tus_filename(turn->request, turn->resumable.metadata, &filename, err))
        return false;
    if (check_head(turn, filename, &archive, err))
        return true;
    if (err->code == ERR_FORMAT)
        refuse(turn, err);
    return false;
}

// An upload does not expire while its bytes arrive, however slowly.
static bool prolong(struct turn *turn, struct err *err)
{
    const struct services *services = turn->request->services;
    struct resumable *resumable = &turn->resumable;
    if (resumable->expires_ns - clock_wall_ns() > services->resume_ns / 2)
        return true;
    resumable->expires_ns = tus_expiry(turn->request);
    return store_extend_resumable(services->intake->store, resumable, resumable->flushed,
                                  resumable->expires_ns, err);
}

static bool take_block(struct turn *turn, const char *block, size_t size, struct err *err)
{
    uint64_t from = pieces_offset(turn->pieces);
    metrics_add(turn->request->services->metrics, METRIC_UPLOAD_BYTES, size);
    return prolong(turn, err) &&
           (!turn->checksum || tus_checksum_add(turn->checksum, block, size, err)) &&
           pieces_write(turn->pieces, block, size, !turn->checksum, err) &&
           (turn->checksum || check_first(turn, from, err));
}

// Publishes a large piece bit by bit, so that little is lost if the service dies in the middle.
static bool share_some(struct turn *turn, struct err *err)
{
    return turn->checksum || pieces_unshared(turn->pieces) < PIECES_SHARED_BYTES || save(turn, err);
}

static bool read_piece(struct turn *turn, struct err *err)
{
    char *block = malloc(PIECES_BLOCK_BYTES);
    size_t got = 1;
    if (!block)
        return err_set(err, ERR_MEMORY, "out of memory for an upload");
    bool ok = true;
    while (ok && got)
        ok = check_stopping(turn, err) &&
             body_read(turn->request->body, block, PIECES_BLOCK_BYTES, &got, err) &&
             (got == 0 || (take_block(turn, block, got, err) && share_some(turn, err)));
    free(block);
    return ok;
}

// Bytes with a checksum prove nothing before it matches.
static bool check_piece(struct turn *turn, struct err *err)
{
    if (!turn->checksum)
        return true;
    if (tus_checksum_agrees(turn->checksum))
        return check_first(turn, turn->begin, err);
    return response_refuse(turn->response, err, (struct refusal){460, "checksum"},
                           "the piece does not match its Upload-Checksum; it was discarded");
}

// Bytes with a checksum count all together or not at all, others as far as they arrived.
static bool receive_piece(struct turn *turn, struct err *err)
{
    struct err trouble;
    bool ok = read_piece(turn, err) && check_piece(turn, err);
    if (turn->refused)
        return false;
    bool cut = ok || !turn->checksum || pieces_rewind(turn->pieces, turn->begin, &trouble);
    if (cut && keep(turn, &trouble))
        return ok;
    if (ok)
        *err = trouble;
    else
        log_warn("a piece of an upload is lost: %s", trouble.msg);
    return false;
}

static bool check_offset(struct turn *turn, uint64_t announced, struct err *err)
{
    turn->begin = turn->counted = pieces_offset(turn->pieces);
    struct body *body = turn->request->body;
    uint64_t left = turn->resumable.bytes - turn->begin;
    if (turn->begin == announced)
        return body_limit(body, left < body->limit ? left : body->limit, err);
    tus_show_offset(turn->request, turn->response, turn->begin);
    return response_refuse(turn->response, err, (struct refusal){409, "offset"},
                           "found Upload-Offset %llu, expected %llu", (unsigned long long)announced,
                           (unsigned long long)turn->begin);
}

static bool take_turn(struct turn *turn, uint64_t offset, struct err *err)
{
    bool ok = tus_checksum_begin(turn->request, &turn->checksum, err) && open_pieces(turn, err) &&
              check_offset(turn, offset, err) && receive_piece(turn, err) &&
              (!is_complete(turn) || accept(turn, err));
    pieces_close(turn->pieces);
    tus_checksum_free(turn->checksum);
    return ok;
}

bool tus_receive(struct request *request, struct response *response,
                 const struct resumable *resumable, uint64_t offset, struct err *err)
{
    struct turn turn = {.request = request, .response = response, .resumable = *resumable};
    if (!upload_gate_enter_piece(request, response, err))
        return false;
    bool ok = take_turn(&turn, offset, err);
    upload_gate_leave(request);
    return ok;
}

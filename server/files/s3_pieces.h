// SPDX-License-Identifier: Apache-2.0
// Pieces of resumable uploads as objects of S3: pieces/<upload>/<from>-<bytes>.<service>. The name
// says what is inside, so that another service needs only a list of names to continue.
#ifndef SERVER_FILES_S3_PIECES_H
#define SERVER_FILES_S3_PIECES_H

#include "server/files/blob_store.h"
#include "server/files/s3_client.h"

extern const struct blob_piece_ops s3_pieces;

// How its objects are reached (blob_s3.c).
struct s3_client *blob_s3_client(struct blob_store *store);

// Reads a key below the prefix of the place. False if it is not one of a piece.
bool s3_piece_parse(struct str key, struct blob_piece *piece);

#endif

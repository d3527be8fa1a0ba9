-- SPDX-License-Identifier: Apache-2.0
-- The last transaction that each connection has committed, by the connection's own count: who lost
-- the answer to a COMMIT looks here. The number that PostgreSQL gives a transaction is on no disk
-- before something that it wrote is: after a crash, or by the server that takes over, it is given
-- again, to another one.
CREATE TABLE last_commit (
    connection BIGINT PRIMARY KEY,
    number BIGINT NOT NULL,
    written_ns BIGINT NOT NULL
) WITH (fillfactor = 50);

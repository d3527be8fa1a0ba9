-- SPDX-License-Identifier: Apache-2.0
-- Refused requests of the same kind are counted in one entry of the audit log for each hour.
ALTER TABLE audit ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
ALTER TABLE audit ADD COLUMN last_ns INTEGER; -- of the last one that was counted; NULL: it is alone
DROP TRIGGER audit_keeps_words;
CREATE TRIGGER audit_keeps_words BEFORE UPDATE ON audit
    WHEN old.status < 400 OR new.count <= old.count OR new.last_ns < old.at_ns OR new.id <> old.id
    OR new.at_ns <> old.at_ns OR new.who <> old.who OR new.peer <> old.peer
    OR new.action <> old.action OR new.object <> old.object OR new.status <> old.status
    OR new.request_id <> old.request_id BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

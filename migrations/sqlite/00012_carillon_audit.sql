-- Who did what, when and from where. Times are epoch milliseconds.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_audit (
  id          INTEGER      NOT NULL PRIMARY KEY AUTOINCREMENT,
  at          BIGINT       NOT NULL,
  user_id     INT          NOT NULL,
  user_name   VARCHAR(100) NOT NULL,
  came_from   VARCHAR(64)  NOT NULL,
  action      VARCHAR(40)  NOT NULL,
  kind        VARCHAR(20)  NOT NULL,
  object_id   BIGINT       NOT NULL,
  object_name VARCHAR(255) NOT NULL,
  outcome     VARCHAR(10)  NOT NULL,
  changes     TEXT         NULL
);
CREATE INDEX IF NOT EXISTS carillon_audit_at ON carillon_audit (at);
CREATE INDEX IF NOT EXISTS carillon_audit_object ON carillon_audit (kind, object_id, id);

-- Our side tables. Times are epoch milliseconds unless a name says otherwise.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_node (
  name       VARCHAR(100) NOT NULL PRIMARY KEY,
  epoch      BIGINT       NOT NULL,
  started_at BIGINT       NOT NULL,
  beat_at    BIGINT       NOT NULL,
  version    VARCHAR(50)  NOT NULL
);

CREATE TABLE IF NOT EXISTS carillon_user (
  user_id       INT          NOT NULL PRIMARY KEY,
  password_hash VARCHAR(100) NULL,
  language      VARCHAR(16)  NULL,
  theme         VARCHAR(16)  NULL
);

CREATE TABLE IF NOT EXISTS carillon_session (
  token  VARCHAR(64) NOT NULL PRIMARY KEY,
  data   BLOB        NOT NULL,
  expiry BIGINT      NOT NULL
);
CREATE INDEX IF NOT EXISTS carillon_session_expiry ON carillon_session (expiry);

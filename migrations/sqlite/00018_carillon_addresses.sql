-- Addresses of executors: those that get no new runs, and what came of the last call to
-- each. Times are epoch milliseconds.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_drain (
  group_id INT          NOT NULL,
  address  VARCHAR(255) NOT NULL,
  since_at BIGINT       NOT NULL,
  by_name  VARCHAR(100) NOT NULL,
  PRIMARY KEY (group_id, address)
);

CREATE TABLE IF NOT EXISTS carillon_call (
  address     VARCHAR(255)  NOT NULL PRIMARY KEY,
  called_at   BIGINT        NOT NULL,
  asked       VARCHAR(20)   NOT NULL,
  reason      VARCHAR(32)   NOT NULL,
  answer_code INT           NOT NULL,
  answer_text VARCHAR(1000) NOT NULL,
  took_ms     BIGINT        NOT NULL
);

-- What missed and why, per day; how often and when an address was picked.
-- Times are epoch milliseconds unless a name says otherwise.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_ledger (
  trigger_day DATETIME    NOT NULL,
  reason      VARCHAR(32) NOT NULL,
  fires       BIGINT      NOT NULL,
  PRIMARY KEY (trigger_day, reason)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS carillon_route (
  job_id  INT          NOT NULL,
  address VARCHAR(255) NOT NULL,
  picks   BIGINT       NOT NULL,
  used_at BIGINT       NOT NULL,
  PRIMARY KEY (job_id, address)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

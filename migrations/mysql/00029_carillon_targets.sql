-- Targets of reports: how many fires, or how many days, must be good; and the days of
-- those that have a time. Times are epoch milliseconds.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_target (
  id         INT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name       VARCHAR(100) NOT NULL,
  settings   TEXT         NOT NULL,
  judged_day DATE         NOT NULL,
  early_day  DATE         NOT NULL,
  next_job   INT          NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;
CREATE TABLE IF NOT EXISTS carillon_target_day (
  target_id INT     NOT NULL,
  first_day DATE    NOT NULL,
  job_id    INT     NOT NULL,
  met       TINYINT NOT NULL,
  done_at   BIGINT  NULL,
  PRIMARY KEY (target_id, first_day, job_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

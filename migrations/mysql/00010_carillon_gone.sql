-- Jobs that were deleted while runs of theirs are kept: a run says whose it was.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_gone (
  job_id     INT          NOT NULL PRIMARY KEY,
  name       VARCHAR(255) NOT NULL,
  deleted_at BIGINT       NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin;

-- Which jobs are failing: the fire of theirs that ended last has failed.

-- +goose Up
CREATE TABLE IF NOT EXISTS carillon_failing (
  job_id    INT    NOT NULL PRIMARY KEY,
  since_at  BIGINT NOT NULL,
  first_run BIGINT NOT NULL
);

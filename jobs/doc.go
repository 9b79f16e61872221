// Package jobs holds the use cases that the console and the machine API share:
// jobs, runs, executors and users, with the permission and the validation that
// needs data. It knows neither the web framework nor SQL.
package jobs

// Package alarm decides what people are told about trouble: when an incident opens, what
// belongs together, who is told when, and when it is over. It gets the time as a parameter
// and knows neither SQL nor SMTP; what it decides is written in one transaction (Store) and
// delivered from the outbox (Deliverer).
package alarm

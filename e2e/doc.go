// Package e2e walks through the console in a real browser, as the people who
// use it do. Each test boots a center of its own with an embedded database and
// the sample executor; "make setup" gets the browser and its driver.
//
// Steps are a small vocabulary of do… and verify… methods. Nothing here sleeps:
// the browser's expectations wait. A request that leaves the test server, an
// error in the browser's console or an exception in a script fails the test.
package e2e

// Package interop lets an executor that is not ours, the npm package
// xxl-job-nodejs, work for a center: what people have in the field must go on
// working when they change the center behind it.
package interop

// Package ocsf writes findings of the Open Cybersecurity Schema Framework, version 1.1.0:
// one object of the class Detection Finding for each result and incident.
//
// What has a place in the schema moves there. Everything else stands under unmapped with
// the key and value that it has in the native line, so nothing is lost. Keys without a
// value are absent. Records that are no findings stay native lines.
package ocsf

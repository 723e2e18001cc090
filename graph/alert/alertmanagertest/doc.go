// Package alertmanagertest has Alertmanager run the timelines of the alert pipeline, and
// writes what both did into the page about alerts. It is a module of its own, because
// Alertmanager needs many others.
package alertmanagertest

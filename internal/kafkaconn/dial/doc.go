// Package dial connects to Kafka: it makes clients from settings, logs what becomes of
// their connections, and says which flag may mend what failed.
package dial

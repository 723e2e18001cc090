// Package export sends log records to a receiver of OTLP, over gRPC or HTTP.
//
// A Client connects when it first sends, and again whenever it has no connection: no
// pause of a library lies between two attempts, since whoever tries again has pauses of
// his own. An error is a *Failure, which says whether another attempt may help, or a
// *Partial, with which the request was taken. Of an answer no more is read than an honest
// one may have.
package export

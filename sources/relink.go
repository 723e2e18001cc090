package sources

// Again makes the acknowledgements due again that are not confirmed: those on their way
// may be lost, because the connection broke.
func (l *Ledger[M]) Again() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acks = nil
	for _, m := range l.messages {
		if m.standing == due && !m.awaited {
			l.send(m)
		}
	}
}

// Renew forgets all messages, because the stream was made anew or another one took its
// place: none of them is delivered again, and what ends of them is not acknowledged.
func (l *Ledger[M]) Renew(o LedgerOptions) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.messages {
		m.gone = true
	}
	l.o, l.open, l.asked = o, 0, false
	l.acks, l.restored, l.seen = nil, nil, nil
	clear(l.messages)
	clear(l.behind)
}

// Adjust has the ledger know how many unacknowledged messages the server lets the consumer
// have now.
func (l *Ledger[M]) Adjust(limit int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.o.Limit = limit
}

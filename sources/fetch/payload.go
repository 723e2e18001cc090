package fetch

// maxPayload is how many bytes a message of NATS may have.
const maxPayload = 10 << 20

// payload is what a message brought.
type payload struct {
	data     []byte
	tooLarge bool // and therefore not kept
}

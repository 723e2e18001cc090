package dial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/internal/natsconn"
)

// invalidStream is the code of the error by which servers refuse to make a stream.
const invalidStream = 10052

// mostNames is how many streams a message lists.
const mostNames = 10

// Target finds the stream that takes whatever is published to a subject, and makes one when
// there is none, which takes batches if its server does. A stream of the name that it would
// get, but with other subjects, is an error.
func (c *Conn) Target(ctx context.Context, subject string) (*jetstream.StreamInfo, error) {
	return c.ensure(ctx, jetstream.StreamConfig{Subjects: []string{subject}, AllowBatchPublish: true}, func(_ jetstream.JetStream, name string) {
		c.log.Info("stream created", "stream", name, "subjects", subject)
	})
}

// Source finds or makes the stream that takes whatever filter matches, for those who read. It
// warns of a stream that it makes, since nothing may ever come there, and names others.
func (c *Conn) Source(ctx context.Context, filter string) (*jetstream.StreamInfo, error) {
	return c.ensure(ctx, jetstream.StreamConfig{Subjects: []string{filter}}, func(js jetstream.JetStream, name string) {
		c.log.Warn("no stream takes the subject, so one was created: if the subject is misspelt, delete the stream",
			"stream", name, "subjects", filter, "other_streams", others(ctx, js, name))
	})
}

// others lists streams beside the one of the name, in the order of the server.
func others(ctx context.Context, js jetstream.JetStream, but string) string {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var names []string
	for name := range js.StreamNames(ctx).Name() {
		switch {
		case name == but:
		case len(names) == mostNames:
			return strings.Join(names, ", ") + " and more"
		default:
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// ensure finds the stream of a subject, or makes it with the settings of wanted. It calls made
// with the name of one that it made.
func (c *Conn) ensure(ctx context.Context, wanted jetstream.StreamConfig, made func(js jetstream.JetStream, name string)) (*jetstream.StreamInfo, error) {
	filter := wanted.Subjects[0]
	js, err := jetstream.New(c.Conn)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c.asking.Store(&end)
	defer c.asking.Store(nil)
	info, err := c.stream(ctx, js, wanted, made)
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, nats.ErrPermissionViolation):
		err = fmt.Errorf("%w (the user needs to publish to $JS.API.> and to subscribe to _INBOX.>)", cause)
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		err = errors.New("JetStream is not enabled there")
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("the JetStream API does not answer")
	}
	if err != nil {
		return nil, fmt.Errorf("stream for subject '%s' on %s: %w", filter, c.server, err)
	}
	return info, nil
}

func (c *Conn) stream(ctx context.Context, js jetstream.JetStream, wanted jetstream.StreamConfig, made func(js jetstream.JetStream, name string)) (*jetstream.StreamInfo, error) {
	filter := wanted.Subjects[0]
	if info, err := find(ctx, js, filter); info != nil || err != nil {
		return info, err
	}
	name := natsconn.StreamName(filter)
	there, err := js.Stream(ctx, name)
	if err == nil {
		return nil, takesOthers(there.CachedInfo(), filter)
	}
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, err
	}
	wanted.Name = name
	created, err := js.CreateStream(ctx, wanted)
	if refused := (*jetstream.APIError)(nil); errors.As(err, &refused) && wanted.AllowBatchPublish {
		wanted.AllowBatchPublish = false // which servers before 2.14 may refuse to read
		created, err = js.CreateStream(ctx, wanted)
	}
	if err != nil {
		if info, _ := find(ctx, js, filter); info != nil { // somebody else was faster
			return info, nil
		}
		if refused := (*jetstream.APIError)(nil); errors.As(err, &refused) && refused.ErrorCode == invalidStream && natsconn.Reserved(filter) {
			what := "the whole subject"
			if filter == ">" {
				what = "every subject"
			}
			return nil, fmt.Errorf("no stream takes %s, and none can be made that does, since the server keeps some for itself: name a subject (nats://host:port/subject), or make a stream yourself", what)
		}
		return nil, fmt.Errorf("create stream %s: %w", name, err)
	}
	made(js, name)
	return created.CachedInfo(), nil
}

// find returns the first stream by name that takes whatever filter matches, nil when
// none does.
func find(ctx context.Context, js jetstream.JetStream, filter string) (*jetstream.StreamInfo, error) {
	var fit []*jetstream.StreamInfo
	list := js.ListStreams(ctx, jetstream.WithStreamListSubject(filter))
	for info := range list.Info() {
		if natsconn.Covers(info.Config.Subjects, filter) {
			fit = append(fit, info)
		}
	}
	if err := list.Err(); err != nil {
		return nil, err
	}
	if len(fit) == 0 {
		return nil, nil
	}
	return slices.MinFunc(fit, func(a, b *jetstream.StreamInfo) int { return cmp.Compare(a.Config.Name, b.Config.Name) }), nil
}

func takesOthers(info *jetstream.StreamInfo, filter string) error {
	return fmt.Errorf("stream %s exists and takes '%s', not '%s'", info.Config.Name, strings.Join(info.Config.Subjects, "', '"), filter)
}

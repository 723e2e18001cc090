package dial

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Topic is what brokers say of a topic.
type Topic struct {
	Name       string
	ID         [16]byte // zero when the brokers know none
	Cluster    string
	Partitions int
}

// Topic asks for a topic. An error says what failed, and what may mend it.
func (c *Client) Topic(ctx context.Context, name string) (Topic, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	if err := c.Ping(ctx); err != nil {
		return Topic{}, fmt.Errorf("connect to Kafka: %w", Explain(err))
	}
	req := kmsg.NewPtrMetadataRequest()
	of := kmsg.NewMetadataRequestTopic()
	of.Topic = kmsg.StringPtr(name)
	req.Topics = []kmsg.MetadataRequestTopic{of}
	resp, err := req.RequestWith(ctx, c.Client)
	if err != nil {
		return Topic{}, fmt.Errorf("connect to Kafka: %w", Explain(err))
	}
	t := Topic{Name: name}
	if resp.ClusterID != nil {
		t.Cluster = *resp.ClusterID
	}
	for _, of := range resp.Topics {
		if of.Topic == nil || *of.Topic != name {
			continue
		}
		if err := About(kerr.ErrorForCode(of.ErrorCode), name, ""); err != nil {
			return Topic{}, err
		}
		t.ID, t.Partitions = of.TopicID, len(of.Partitions)
	}
	if t.Partitions == 0 {
		return Topic{}, fmt.Errorf("topic %s has no partitions", name)
	}
	return t, nil
}

// Group reports a consumer group that the user may not read with.
func (c *Client) Group(ctx context.Context, group, topic string) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group
	of := kmsg.NewOffsetFetchRequestTopic()
	of.Topic, of.Partitions = topic, []int32{0}
	req.Topics = []kmsg.OffsetFetchRequestTopic{of}
	resp, err := req.RequestWith(ctx, c.Client)
	if err == nil {
		err = kerr.ErrorForCode(resp.ErrorCode)
	}
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) { // nobody has joined it yet
		return fmt.Errorf("consumer group %s: %w", group, Explain(About(err, topic, group)))
	}
	return nil
}

// Ends asks where partitions of a topic end, for readers of what is committed by
// transactions. Partitions that nobody leads at the moment are left out.
func (c *Client) Ends(ctx context.Context, topic string, partitions []int32) (map[int32]int64, error) {
	return c.offsets(ctx, topic, partitions, -1)
}

// Starts asks where partitions of a topic begin.
func (c *Client) Starts(ctx context.Context, topic string, partitions []int32) (map[int32]int64, error) {
	return c.offsets(ctx, topic, partitions, -2)
}

func (c *Client) offsets(ctx context.Context, topic string, partitions []int32, at int64) (map[int32]int64, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.IsolationLevel = 1
	of := kmsg.NewListOffsetsRequestTopic()
	of.Topic = topic
	for _, number := range partitions {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = number, at
		of.Partitions = append(of.Partitions, p)
	}
	req.Topics = []kmsg.ListOffsetsRequestTopic{of}
	resp, err := req.RequestWith(ctx, c.Client)
	if err != nil {
		return nil, err
	}
	ends := make(map[int32]int64)
	for _, of := range resp.Topics {
		for _, p := range of.Partitions {
			if fault := kerr.ErrorForCode(p.ErrorCode); fault != nil {
				err = About(fault, topic, "")
			} else {
				ends[p.Partition] = p.Offset
			}
		}
	}
	return ends, err
}

// Commit commits offsets of a group, and returns the partitions whose offset is.
func (c *Client) Commit(ctx context.Context, topic, group string, offsets map[int32]kgo.EpochOffset) (done []int32, err error) {
	c.CommitOffsetsSync(ctx, map[string]map[int32]kgo.EpochOffset{topic: offsets},
		func(_ *kgo.Client, _ *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, failed error) {
			if failed != nil {
				err = failed
				return
			}
			for _, of := range resp.Topics {
				for _, p := range of.Partitions {
					if fault := kerr.ErrorForCode(p.ErrorCode); fault != nil {
						err = About(fault, topic, group)
					} else {
						done = append(done, p.Partition)
					}
				}
			}
		})
	return done, err
}

// LargestBatch asks how many bytes of records a topic takes at once. It is false when the
// brokers do not tell.
func (c *Client) LargestBatch(ctx context.Context, topic string) (bytes int32, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	const name = "max.message.bytes"
	req := kmsg.NewPtrDescribeConfigsRequest()
	of := kmsg.NewDescribeConfigsRequestResource()
	of.ResourceType, of.ResourceName, of.ConfigNames = kmsg.ConfigResourceTypeTopic, topic, []string{name}
	req.Resources = []kmsg.DescribeConfigsRequestResource{of}
	resp, err := req.RequestWith(ctx, c.Client)
	if err != nil {
		return 0, false
	}
	for _, of := range resp.Resources {
		for _, config := range of.Configs {
			if config.Name == name && config.Value != nil {
				n, err := strconv.ParseInt(*config.Value, 10, 32)
				return int32(n), err == nil && n > 0
			}
		}
	}
	return 0, false
}

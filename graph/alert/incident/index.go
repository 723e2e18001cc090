package incident

type index struct{}

package ast

// Filter is a filter rule as a document of its own: the rules it is aimed at fire
// only where one of its conditions holds as well.
type Filter struct {
	Meta
	Version    int         `json:"version"`
	Logsource  Logsource   `json:"logsource"`
	Any        bool        `json:"any,omitempty"`   // aimed at all rules of the log source
	Rules      []string    `json:"rules,omitempty"` // otherwise at these: ids, names or titles
	Detections []Detection `json:"detections"`
	Conditions []Condition `json:"conditions"`
}

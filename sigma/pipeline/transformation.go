package pipeline

import (
	"fmt"
	"strings"
)

// constructors has a reader for every transformation type and alias.
func constructor(typ string) (func(*params) (transformation, error), bool) {
	switch typ {
	case "field_name_mapping":
		return readMapping, true
	case "field_name_prefix_mapping":
		return readPrefixMapping, true
	case "field_name_prefix", "field_name_suffix":
		return func(p *params) (transformation, error) { return readAffix(typ, p) }, true
	case "field_name_transform":
		return readNameTransform, true
	case "drop_detection_item":
		return func(*params) (transformation, error) { return dropItem{}, nil }, true
	case "add_condition":
		return readAddCondition, true
	case "change_logsource":
		return readChangeLogsource, true
	case "add_field", "remove_field", "set_field":
		return func(p *params) (transformation, error) { return readOutputFields(typ, p) }, true
	case "set_custom_attribute":
		return readSetAttribute, true
	case "set_state":
		return readSetState, true
	case "nest":
		return readNest, true
	case "replace_string":
		return readReplaceString, true
	case "map_string":
		return readMapString, true
	case "set_value":
		return readSetValue, true
	case "convert_type":
		return readConvertType, true
	case "case_transformation", "case":
		return readCase, true
	case "regex":
		return func(p *params) (transformation, error) {
			p.has("method")
			return nothing{}, nil
		}, true
	case "hashes_fields":
		return readHashes, true
	case "value_placeholders", "wildcard_placeholders":
		return func(p *params) (transformation, error) { return readPlaceholders(typ, p) }, true
	case "query_expression_placeholders":
		return readQueryExpression, true
	case "rule_failure":
		return readRuleFailure, true
	case "detection_item_failure":
		return readItemFailure, true
	}
	return nil, false
}

func readTransformation(typ string, p *params) (transformation, error) {
	read, ok := constructor(typ)
	if !ok {
		hint := ""
		if strings.HasSuffix(typ, "_placeholders") {
			hint = " (values from files, commands and HTTP come from dynamic sources)"
		}
		return nil, fmt.Errorf("unknown transformation type: %s%s", typ, hint)
	}
	return read(p)
}

// nothing counts as applied and changes nothing.
type nothing struct{}

func (nothing) apply(*call) error { return nil }

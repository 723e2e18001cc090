package ruleset

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
)

// LogsourceRouting skips rules whose log source contradicts the event's.
type LogsourceRouting struct {
	Enabled        bool       `yaml:"enabled" flag:"logsource-routing" mode:"on" help:"Skip rules whose log source contradicts the event's"`
	FieldMap       Dimensions `yaml:"field_map" flag:"logsource-field-map" word:"DIMENSIONS" help:"Fields that hold the log source: product=.. service=.. category=.. custom.NAME=.., with commas between them"`
	EventLogsource Dimensions `yaml:"event_logsource" flag:"event-logsource" word:"DIMENSIONS" help:"Log source of events that state none, in the same form"`
	Derive         string     `yaml:"derive" flag:"logsource-derive" oneof:"windows off" help:"Derive the log source of Windows records from channel, provider and event id"`
	Strict         bool       `yaml:"strict" help:"Accepted, without effect"`
}

// DeriveWindows is the value of Derive that reads what Windows records say.
const DeriveWindows = "windows"

// DefaultLogsourceRouting gives the values of absent keys.
func DefaultLogsourceRouting() LogsourceRouting { return LogsourceRouting{Derive: DeriveWindows} }

// Dimensions holds one text per dimension of a log source.
type Dimensions struct {
	Product  string            `yaml:"product" json:"product,omitempty"`
	Service  string            `yaml:"service" json:"service,omitempty"`
	Category string            `yaml:"category" json:"category,omitempty"`
	Custom   map[string]string `yaml:"custom" json:"custom,omitempty" mode:"whole"`
}

// Set reads the form that flags have:
// product=..,service=..,category=..,custom.NAME=... Empty parts and empty values
// say nothing.
func (d *Dimensions) Set(text string) error {
	*d = Dimensions{}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		key, val, ok := strings.Cut(part, "=")
		if !ok {
			return fmt.Errorf("%q: want DIMENSION=VALUE", part)
		}
		if err := d.set(strings.TrimSpace(key), strings.TrimSpace(val)); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dimensions) set(key, val string) error {
	custom, isCustom := strings.CutPrefix(key, "custom.")
	switch {
	case isCustom && custom == "":
		return fmt.Errorf("%q: the custom dimension needs a name", key)
	case !isCustom && key != "product" && key != "service" && key != "category":
		return fmt.Errorf("unknown dimension %q (product, service, category, custom.NAME)", key)
	case val == "":
	case isCustom:
		if d.Custom == nil {
			d.Custom = make(map[string]string)
		}
		d.Custom[custom] = val
	case key == "product":
		d.Product = val
	case key == "service":
		d.Service = val
	default:
		d.Category = val
	}
	return nil
}

// Routing gives the engine's form of the setting; nil when routing is off.
func Routing(c *LogsourceRouting) *engine.Routing {
	if !c.Enabled {
		return nil
	}
	return &engine.Routing{
		Fields: c.FieldMap.logsource(), Static: c.EventLogsource.logsource(), Windows: c.Derive == DeriveWindows,
	}
}

func (d *Dimensions) logsource() ast.Logsource {
	return ast.Logsource{Product: d.Product, Service: d.Service, Category: d.Category, Custom: d.Custom}
}

// unknownProduct tells when no rule is for the product that events are said to have,
// although rules name products: all of these are skipped.
func unknownProduct(set *engine.Set, c *LogsourceRouting) []string {
	names, _ := set.Products()
	product := c.EventLogsource.Product
	if !c.Enabled || product == "" || len(names) == 1 || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, product) }) {
		return nil
	}
	const most = 6 // that a message names
	known := slices.Sorted(slices.Values(names[1:]))
	text := suggest.Behind(product, known)
	if text == "" && len(known) <= most {
		text = " (they have " + strings.Join(known, ", ") + ")"
	}
	return []string{fmt.Sprintf("event_logsource (--event-logsource): no loaded rule has product %q%s", product, text)}
}

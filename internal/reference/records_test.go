package reference

import (
	_ "embed"
	"strconv"
	"strings"
)

// windowsRecords lists what channels, providers and event ids stand for.
//
//go:embed testdata/windows_records.tsv
var windowsRecords string

// windowsRecord returns the dimensions that an event implies as a Windows record.
func windowsRecord(ev *Event) map[string][]string {
	id := firstText(ev, "EventID", "Event.System.EventID", "Event.System.EventID.#text", "winlog.event_id")
	channel := firstText(ev, "Channel", "Event.System.Channel", "winlog.channel")
	provider := firstText(ev, "Provider_Name", "SourceName", "Provider.Name", "Event.System.Provider.#attributes.Name", "winlog.provider_name")
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil
	}
	id = strconv.FormatInt(n, 10)
	const prefix = "microsoft-windows-"
	windows := strings.HasPrefix(lowerASCII(channel), prefix) || strings.HasPrefix(lowerASCII(provider), prefix)
	var service, category []string
	for row := range strings.Lines(windowsRecords) {
		f := strings.Split(strings.TrimSpace(row), "\t")
		isChannel := f[0] == "channel" && lowerASCII(f[1]) == lowerASCII(channel)
		isProvider := f[0] == "provider" && lowerASCII(f[1]) == lowerASCII(provider)
		windows = windows || isChannel || isProvider
		if isChannel || isProvider && channel == "" {
			service = strings.Split(f[2], ",")
		}
		if f[0] == "category" && len(service) == 1 && f[1] == service[0] && f[2] == id {
			category = strings.Split(f[3], ",")
		}
	}
	if !windows {
		return nil
	}
	return map[string][]string{"product": {"windows"}, "service": service, "category": category}
}

// firstText returns the first text or number that is not blank.
func firstText(ev *Event, names ...string) string {
	for _, name := range names {
		v := ev.look(parsePath(name, 2))
		if v == nil || v.kind != text && v.kind != number {
			continue
		}
		if s, ok := v.textForm(); ok && strings.TrimSpace(s) != "" {
			return strings.TrimSpace(s)
		}
	}
	return ""
}

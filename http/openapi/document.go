package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Info tells what the document is about.
type Info struct {
	Title, Version, Description string
	// Package is a value of the package whose types give their names to components. Those
	// of other packages have the name of their package in front.
	Package any
	// Words are the values of string types, by type.
	Words map[reflect.Type][]string
}

// bearer names the security scheme.
const bearer = "bearer"

// Document is the indented JSON of the OpenAPI 3.1 document of all operations. An error
// names everything that cannot be described.
func Document(info Info, all []Operation) ([]byte, error) {
	m := &maker{
		schemas: schemas{
			home: reflect.TypeOf(info.Package).PkgPath(), words: info.Words,
			components: make(map[string]*Schema), types: make(map[string]reflect.Type),
		},
		responses: make(map[string]*response), shared: make(map[string]Answer), paths: make(map[string]map[string]*operation),
	}
	for i := range all {
		m.add(&all[i])
	}
	if err := errors.Join(m.errs...); err != nil {
		return nil, err
	}
	d := document{
		OpenAPI: "3.1.0", Info: infoObject{info.Title, info.Description, info.Version}, Servers: []server{{"/"}}, Tags: m.tags, Paths: m.paths,
		Components: components{Schemas: m.components, Responses: m.responses, SecuritySchemes: map[string]securityScheme{
			bearer: {"http", bearer, "The token of a caller. Needed only where authentication is configured."},
		}},
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(d)
	return b.Bytes(), err
}

type document struct {
	OpenAPI    string                           `json:"openapi"`
	Info       infoObject                       `json:"info"`
	Servers    []server                         `json:"servers"`
	Tags       []tag                            `json:"tags"`
	Paths      map[string]map[string]*operation `json:"paths"`
	Components components                       `json:"components"`
}

type infoObject struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Version     string `json:"version"`
}

type server struct {
	URL string `json:"url"`
}

type tag struct {
	Name string `json:"name"`
}

type components struct {
	Schemas         map[string]*Schema        `json:"schemas"`
	Responses       map[string]*response      `json:"responses"`
	SecuritySchemes map[string]securityScheme `json:"securitySchemes"`
}

type securityScheme struct {
	Type        string `json:"type"`
	Scheme      string `json:"scheme"`
	Description string `json:"description"`
}

type operation struct {
	OperationID string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Description string                `json:"description,omitempty"`
	Tags        []string              `json:"tags"`
	Security    []map[string][]string `json:"security"`
	Permission  string                `json:"x-sluice-permission,omitempty"`
	Also        string                `json:"x-sluice-permission-also,omitempty"`
	Audited     bool                  `json:"x-sluice-audited,omitempty"`
	Parameters  []parameter           `json:"parameters,omitempty"`
	RequestBody *requestBody          `json:"requestBody,omitempty"`
	Responses   map[string]*response  `json:"responses"`
}

type parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description"`
	Required    bool    `json:"required,omitempty"`
	Schema      *Schema `json:"schema"`
}

type requestBody struct {
	Description string               `json:"description,omitempty"`
	Required    bool                 `json:"required,omitempty"`
	Content     map[string]mediaType `json:"content"`
}

type mediaType struct {
	Schema *Schema `json:"schema"`
}

type response struct {
	Ref         string               `json:"$ref,omitempty"`
	Description string               `json:"description,omitempty"`
	Headers     map[string]header    `json:"headers,omitempty"`
	Content     map[string]mediaType `json:"content,omitempty"`
}

type header struct {
	Description string  `json:"description"`
	Required    bool    `json:"required,omitempty"`
	Schema      *Schema `json:"schema"`
}

// maker collects the parts of a document.
type maker struct {
	schemas
	tags      []tag
	ids       []string
	paths     map[string]map[string]*operation
	responses map[string]*response
	shared    map[string]Answer
}

func (m *maker) add(o *Operation) {
	where := o.Method + " " + o.Path
	switch {
	case o.ID == "" || o.Summary == "" || len(o.Answers) == 0:
		m.errorf("%s is not described", where)
		return
	case slices.Contains(m.ids, o.ID):
		m.errorf("%s: the operation %s exists already", where, o.ID)
	}
	m.ids = append(m.ids, o.ID)
	if !slices.Contains(m.tags, tag{o.Tag}) {
		m.tags = append(m.tags, tag{o.Tag})
		slices.SortFunc(m.tags, func(a, b tag) int { return strings.Compare(a.Name, b.Name) })
	}
	out := &operation{
		OperationID: o.ID, Summary: o.Summary, Description: o.Description, Tags: []string{o.Tag}, Permission: o.Permission, Also: o.Also,
		Security: []map[string][]string{}, Audited: o.Audited, Responses: m.answers(where, o.Answers),
	}
	if o.Permission != "" {
		out.Security = append(out.Security, map[string][]string{bearer: {}})
		out.Description = strings.TrimSpace(out.Description + " Needs the permission `" + o.Permission + "`.")
	}
	if o.Also != "" {
		out.Description += " Under some configurations, it needs `" + o.Also + "`, too."
	}
	for _, p := range o.Parameters {
		if p.Description == "" || p.Schema == nil {
			m.errorf("%s: parameter %s is not described", where, p.Name)
		}
		out.Parameters = append(out.Parameters, parameter(p))
	}
	if o.Request != nil {
		out.RequestBody = &requestBody{o.Request.Description, o.Request.Required, m.content(o.Request.Content, nil)}
	}
	if m.paths[o.Path] == nil {
		m.paths[o.Path] = make(map[string]*operation)
	}
	m.paths[o.Path][strings.ToLower(o.Method)] = out
}

// answers joins the answers of each status.
func (m *maker) answers(where string, all []Answer) map[string]*response {
	byStatus := make(map[string][]Answer)
	for _, a := range all {
		if a.Description == "" {
			m.errorf("%s: an answer %d is not described", where, a.Status)
		}
		status := strconv.Itoa(a.Status)
		byStatus[status] = append(byStatus[status], a)
	}
	out := make(map[string]*response, len(byStatus))
	for status, some := range byStatus {
		if name := some[0].Shared; name != "" && len(some) == 1 {
			out[status] = m.share(name, some[0])
			continue
		}
		out[status] = m.response(some)
	}
	return out
}

// share refers to an answer that many operations give.
func (m *maker) share(name string, a Answer) *response {
	if known, ok := m.shared[name]; ok && !reflect.DeepEqual(known, a) {
		m.errorf("two answers are named %s", name)
	}
	if _, ok := m.shared[name]; !ok {
		m.shared[name] = a
		m.responses[name] = m.response([]Answer{a})
	}
	return &response{Ref: "#/components/responses/" + name}
}

func (m *maker) response(some []Answer) *response {
	r := new(response)
	var bodies []Content
	errs := make(map[reflect.Type][]string)
	for _, a := range some {
		r.Description = strings.TrimSpace(r.Description + " " + a.Description)
		for _, h := range a.Headers {
			if r.Headers == nil {
				r.Headers = make(map[string]header)
			}
			r.Headers[h.Name] = header{h.Description, h.Required && len(some) == 1, h.Schema}
		}
		for _, c := range a.Content {
			texts, known := errs[reflect.TypeOf(c.Body)]
			switch {
			case len(a.Errors) == 0, known && texts == nil:
				texts = nil // any
			default:
				for _, text := range a.Errors {
					if !slices.Contains(texts, text) {
						texts = append(texts, text)
					}
				}
			}
			errs[reflect.TypeOf(c.Body)] = texts
			same := func(known Content) bool {
				return known.Type == c.Type && reflect.TypeOf(known.Body) == reflect.TypeOf(c.Body)
			}
			if !slices.ContainsFunc(bodies, same) {
				bodies = append(bodies, c)
			}
		}
	}
	r.Content = m.content(bodies, errs)
	return r
}

// content are the schemas of bodies by media type. errs are the texts that errors of a
// type may have.
func (m *maker) content(bodies []Content, errs map[reflect.Type][]string) map[string]mediaType {
	if len(bodies) == 0 {
		return nil
	}
	out := make(map[string]mediaType)
	for _, c := range bodies {
		t := reflect.TypeOf(c.Body)
		schema := m.of(t)
		if texts := errs[t]; len(texts) > 0 {
			schema.Properties = Properties{{"error", &Schema{Enum: texts}}}
		}
		switch known := out[c.Type].Schema; {
		case known == nil:
		case known.AnyOf == nil:
			schema = &Schema{AnyOf: []*Schema{known, schema}}
		default:
			schema = &Schema{AnyOf: append(known.AnyOf, schema)}
		}
		out[c.Type] = mediaType{schema}
	}
	return out
}

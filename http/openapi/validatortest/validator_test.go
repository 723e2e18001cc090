package validatortest

import (
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"github.com/sluicehq/sluice/http/api"
)

// The document is one of OpenAPI 3.1, with every reference resolved.
func TestTheDocumentIsOpenAPI(t *testing.T) {
	for _, profiling := range []bool{false, true} {
		raw, err := api.Document(profiling)
		if err != nil {
			t.Fatal(err)
		}
		document, err := libopenapi.NewDocument(raw)
		if err != nil {
			t.Fatal(err)
		}
		model, err := document.BuildV3Model()
		if err != nil {
			t.Fatal(err)
		}
		if n := model.Model.Paths.PathItems.Len(); n < 20 {
			t.Errorf("got %d paths, want all of them", n)
		}
		v, errs := validator.NewValidator(document)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		if ok, problems := v.ValidateDocument(); !ok {
			for _, p := range problems {
				t.Errorf("%s: %s", p.Message, p.Reason)
				for _, s := range p.SchemaValidationErrors {
					t.Errorf("  %s: %s", s.KeywordLocation, s.Reason)
				}
			}
		}
	}
}

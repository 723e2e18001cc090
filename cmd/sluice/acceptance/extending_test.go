package acceptance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	inlineCode  = regexp.MustCompile("`([^`\n]+)`")
	mentionPath = regexp.MustCompile(`^(?:\./)?(?:actors|cmd|docs|examples|graph|http|internal|sigma|sources|state)/[\w./-]+$`)
	mentionName = regexp.MustCompile(`^(\w+)\.([A-Z]\w*)`)
	mentionTest = regexp.MustCompile(`^Test\w+$`)
	// Such as: `query` and `readBody` in `http/api/request.go`.
	mentionWithin = regexp.MustCompile("((?:`\\w+`(?:, | and ))*`\\w+`)\\s+(?:in|of)\\s+`([\\w/]+\\.go)`")
)

// The recipes name files, types, functions and fields of the code, and those are there.
func TestTheRecipesNameWhatIsThere(t *testing.T) {
	const page = "docs/extending.md"
	raw, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	text := outsideFences(string(raw))
	declared, paths, names, within := declarations(t), 0, 0, 0
	for _, m := range inlineCode.FindAllStringSubmatch(text, -1) {
		for word := range strings.FieldsSeq(m[1]) {
			path := strings.TrimSuffix(word, "/...")
			if !mentionPath.MatchString(path) {
				continue
			}
			paths++
			if _, err := os.Stat(filepath.Join(root, path)); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
		if name := mentionName.FindStringSubmatch(m[1]); name != nil && name[1] != "io" && name[1] != "context" && name[1] != "s" {
			names++
			if !declared[name[1]][name[2]] {
				t.Errorf("%s: there is no %s in %s", page, name[2], name[1])
			}
		}
		if mentionTest.MatchString(m[1]) && !declared[""][m[1]] {
			t.Errorf("%s: there is no test %s", page, m[1])
		}
	}
	for _, m := range mentionWithin.FindAllStringSubmatch(text, -1) {
		source, err := os.ReadFile(filepath.Join(root, m[2]))
		if err != nil {
			continue // told above
		}
		for _, name := range inlineCode.FindAllStringSubmatch(m[1], -1) {
			within++
			if !regexp.MustCompile(`\b` + name[1] + `\b`).Match(source) {
				t.Errorf("%s: there is no %s in %s", page, name[1], m[2])
			}
		}
	}
	if paths < 40 || names < 30 || within < 20 {
		t.Errorf("found %d paths, %d names and %d names within files: the page has more", paths, names, within)
	}
}

// declarations are the names that packages, types and, under "", all packages together
// declare: functions, types, variables, methods and fields. Packages and types of one
// name count as one.
func declarations(t *testing.T) map[string]map[string]bool {
	t.Helper()
	all := make(map[string]map[string]bool)
	add := func(in, name string) {
		for _, key := range []string{in, ""} {
			if all[key] == nil {
				all[key] = make(map[string]bool)
			}
			all[key][name] = true
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		declare(f, add)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func declare(f *ast.File, add func(in, name string)) {
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			in := f.Name.Name
			if decl.Recv != nil {
				in = receiver(decl.Recv.List[0].Type)
			}
			add(in, decl.Name.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(f.Name.Name, name.Name)
					}
				case *ast.TypeSpec:
					add(f.Name.Name, spec.Name.Name)
					for _, name := range membersOf(spec.Type) {
						add(spec.Name.Name, name)
					}
				}
			}
		}
	}
}

// membersOf are the fields of a struct, or the methods of an interface.
func membersOf(typ ast.Expr) (names []string) {
	var list *ast.FieldList
	switch typ := typ.(type) {
	case *ast.StructType:
		list = typ.Fields
	case *ast.InterfaceType:
		list = typ.Methods
	default:
		return nil
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// receiver is the name of a method's type.
func receiver(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return receiver(typ.X)
	case *ast.IndexExpr:
		return receiver(typ.X)
	case *ast.Ident:
		return typ.Name
	}
	return ""
}

package ruleset

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// passedOver tells of files below roots that nobody reads since their names end in
// capitals.
func passedOver(roots []string) []string {
	var first string
	more := 0
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error { // loading tells of errors
			switch {
			case err != nil || path == root:
				return nil
			case strings.HasPrefix(e.Name(), "."):
				if e.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			ending := filepath.Ext(path)
			lower := strings.ToLower(ending)
			if e.IsDir() || ending == lower || !slices.Contains([]string{".yml", ".yaml"}, lower) {
				return nil
			}
			if first == "" {
				first = path
			} else {
				more++
			}
			return nil
		})
	}
	if first == "" {
		return nil
	}
	text := fmt.Sprintf("%s is passed over: the names of rule files end in .yml or .yaml, in lower case", first)
	if more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return []string{text}
}

package command

import "slices"

// Environ is the environment of programs that are to know the variables of these names
// alone. What is not set stays unset. lookup is os.LookupEnv.
func Environ(allowed []string, lookup func(name string) (string, bool)) []string {
	env := []string{} // not nil, which would be everything
	for i, name := range allowed {
		if value, ok := lookup(name); ok && !slices.Contains(allowed[:i], name) {
			env = append(env, name+"="+value)
		}
	}
	return env
}

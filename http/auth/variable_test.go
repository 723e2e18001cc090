package auth

import "testing"

func TestATokenIsNotTakenForTheNameOfAVariable(t *testing.T) {
	const mistaken = "it takes the name of the variable that holds the token, not the token itself"
	const dollar = "it takes the name of the variable that holds the token, written without $"
	for name, want := range map[string]string{
		"SLUICE_API_TOKEN": "", "_t1": "",
		"": "the name of the variable is empty", "1T": mistaken, "A=B": mistaken, "$TOKEN": dollar, "${TOKEN}": dollar, "$eyJ.J9": mistaken, "eyJhbGciOi.J9": mistaken, "A B": mistaken, "T\n": mistaken,
	} {
		got := ""
		if err := CheckVariable(name); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

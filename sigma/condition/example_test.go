package condition_test

import (
	"fmt"

	"github.com/sluicehq/sluice/sigma/condition"
)

func ExampleParse() {
	e, err := condition.Parse("selection and not 1 of filter_*")
	fmt.Println(e.Op, len(e.Args), e.Text(), err)

	_, err = condition.Parse("selection AND other")
	fmt.Println(err)
	// Output:
	// and 2 selection and not 1 of filter_* <nil>
	// invalid condition: unexpected "AND", expected 'and', 'or' or the end (line 1, column 11)
}

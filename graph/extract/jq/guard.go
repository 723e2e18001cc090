package jq

// guard says what stands in front of a function of the library: the guard of its input,
// and that of its arguments. A guard returns its input, so that it disturbs neither
// values nor paths; only a number that is too long becomes a double.
type guard struct{ input, args string }

// The guards, as programs name them.
const (
	none      = ""
	byText    = "__text"    // the input, if it is a string
	bySize    = "__size"    // the input, without what is in its elements
	byPieces  = "__pieces"  // the pieces of a string
	byDepth   = "__depth"   // all of the input
	bySum     = "__sum"     // the elements of the input, put together
	byRows    = "__rows"    // the rows of the input, turned to columns
	byIndex   = "__index"   // an index, which may not be large
	byPath    = "__path"    // a path, likewise
	byFormat  = "__format"  // a time in a format
	byProduct = "__product" // each part of the input with each of the argument
	byJoint   = "__joint"   // the argument between the elements of the input
	byOrder   = "__order"   // the parts of the input, compared with each other

	// Those that make doubles of numbers with more digits than there may be.
	byNumeral    = "__numeral"  // a text that is to be a number
	byLimit      = "__limit"    // a limit of a range
	byOperand    = "__operand"  // an operand
	byComparison = "__compared" // what is compared with another value
	toShort      = "__short"    // a sum
	allShort     = "__shorten"  // all of what was made of a text
)

// guards are the functions that programs may use, by name and number of arguments.
var guards = ofNumbers(map[string]guard{
	"empty/0": {}, "path/1": {}, "error/0": {byDepth, none}, "error/1": {none, byDepth}, "env/0": {}, "$ENV/0": {}, "not/0": {}, "type/0": {}, "has/1": {none, byText},
	"length/0": {byText, none}, "utf8bytelength/0": {}, "keys/0": {bySize, none}, "add/0": {bySum, none},
	"toboolean/0": {}, "tonumber/0": {byNumeral, none}, "tostring/0": {byDepth, none}, "reverse/0": {bySize, none},
	"contains/1": {byProduct, none}, "inside/1": {byProduct, none}, "indices/1": {byProduct, none}, "index/1": {byProduct, none}, "rindex/1": {byProduct, none},
	"startswith/1": {byText, byText}, "endswith/1": {byText, byText},
	"ltrimstr/1": {byText, byText}, "rtrimstr/1": {byText, byText}, "trimstr/1": {byText, byText},
	"ltrim/0": {byText, none}, "rtrim/0": {byText, none}, "trim/0": {byText, none},
	"explode/0": {byPieces, none}, "implode/0": {byDepth, none}, "split/1": {byPieces, byText}, "join/1": {byJoint, none},
	"ascii_downcase/0": {byText, none}, "ascii_upcase/0": {byText, none},
	"tojson/0": {byDepth, none}, "fromjson/0": {byPieces, none}, "format/1": {byDepth, byText},
	"_tohtml/0": {byDepth, none}, "_touri/0": {byDepth, none}, "_tourid/0": {byDepth, none}, "_tocsv/0": {byDepth, none},
	"_totsv/0": {byDepth, none}, "_tosh/0": {byDepth, none}, "_tobase64/0": {byDepth, none}, "_tobase64d/0": {byDepth, none},
	"flatten/0": {byDepth, none}, "flatten/1": {byDepth, none}, "_range/3": {none, byLimit},
	"min/0": {byOrder, none}, "max/0": {byOrder, none}, "sort/0": {byOrder, none}, "unique/0": {byOrder, none},
	"_min_by/1": {bySize, byOrder}, "_max_by/1": {bySize, byOrder}, "_sort_by/1": {bySize, byOrder}, "_group_by/1": {bySize, byOrder}, "_unique_by/1": {bySize, byOrder},
	"infinite/0": {}, "isfinite/0": {byText, none}, "isinfinite/0": {byText, none}, "nan/0": {}, "isnan/0": {byText, none}, "isnormal/0": {byText, none},
	"setpath/2": {byDepth, byPath}, "delpaths/1": {byDepth, byDepth}, "getpath/1": {none, byPath},
	"transpose/0": {byRows, none}, "bsearch/1": {byDepth, byDepth},
	"gmtime/0": {byText, none}, "localtime/0": {byText, none}, "mktime/0": {byText, none}, "now/0": {},
	"strftime/1": {byText, byFormat}, "strflocaltime/1": {byText, byFormat}, "strptime/1": {byText, byText},
	"_captures/0": {bySize, none}, "_last/1": {}, "__match/3": {},
})

// mathematics are the functions of numbers alone, by their number of arguments.
var mathematics = [...][]string{
	0: {
		"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "floor", "round",
		"nearbyint", "rint", "ceil", "trunc", "significand", "fabs", "sqrt", "cbrt", "exp", "exp10", "exp2", "expm1", "frexp",
		"modf", "log", "log10", "log1p", "log2", "logb", "gamma", "tgamma", "lgamma", "erf", "erfc", "j0", "j1", "y0", "y1",
	},
	2: {"atan2", "copysign", "drem", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter", "nexttoward", "remainder", "ldexp", "scalb", "scalbln", "pow"},
	3: {"fma"},
}

// ofNumbers adds the functions of numbers.
func ofNumbers(all map[string]guard) map[string]guard {
	for n, names := range mathematics {
		for _, name := range names {
			if n == 0 {
				all[key(name, n)] = guard{byText, none}
			} else {
				all[key(name, n)] = guard{none, byText}
			}
		}
	}
	return all
}

// missing are functions of jq that programs may not use, with the reason.
var missing = map[string]string{
	"input": "there is one value", "inputs": "there is one value", "debug": "nothing is written", "stderr": "nothing is written",
	"halt": "the process goes on", "halt_error": "the process goes on", "input_filename": "there is one value", "input_line_number": "there is one value",
	"modulemeta": "there are no modules", "get_search_list": "there are no modules", "builtins": "it is of no use here", "jn": "it may take for ever", "yn": "it may take for ever",
}

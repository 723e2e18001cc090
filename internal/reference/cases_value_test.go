package reference_test

func valueCases() []situation {
	return []situation{
		{
			Name: "strings compare without case, whole, under the exact field name", Rules: rule(`{Cmd: whoami}`),
			Events: both(yes(`{"Cmd":"WhoAmI"}`), no(`{"cmd":"whoami"}`, `{"Cmd":"whoami "}`)),
		},
		{
			Name: "a number equals numeric text", Rules: rule(`{Id: 4624}`),
			Events: both(yes(`{"Id":4624}`, `{"Id":"4624"}`, `{"Id":"4624.0"}`, `{"Id":4624.0}`), no(`{"Id":true}`, `{"Id":" 4624"}`, `{"Id":"0x1210"}`)),
		},
		{
			Name: "text equals the text form of a number", Rules: rule(`{Id: '4624'}`),
			Events: both(yes(`{"Id":4624}`, `{"Id":4624.0}`), no(`{"Id":"4624.0"}`)),
		},
		{
			Name: "booleans read words but not the numbers 1 and 0", Rules: rule(`{On: true}`),
			Events: both(yes(`{"On":"YES"}`, `{"On":"1"}`, `{"On":[false,true]}`, `{"On":true}`), no(`{"On":1}`, `{"On":false}`, `{"On":"on"}`)),
		},
		{
			Name: "an escaped star is a star", Rules: rule(`{P: 'C:\Win\*'}`),
			Events: both(yes(`{"P":"C:\\Win*"}`), no(`{"P":"C:\\Win\\x"}`)),
		},
		{
			Name: "an escaped backslash leaves the star a wildcard", Rules: rule(`{P: 'C:\Win\\*'}`),
			Events: both(yes(`{"P":"c:\\win\\x"}`, `{"P":"C:\\Win\\"}`), no(`{"P":"C:\\Winx"}`)),
		},
		{
			Name: "endswith anchors a wildcard value at the end", Rules: rule(`{I|endswith: '\7z*.exe'}`),
			Events: both(yes(`{"I":"C:\\T\\7z2301.exe"}`), no(`{"I":"C:\\T\\7z2301.exe.bak"}`)),
		},
		{
			Name: "startswith anchors a wildcard value at the start", Rules: rule(`{U|startswith: '/dl?f'}`),
			Events: both(yes(`{"U":"/dlxf=1"}`), no(`{"U":"x/dlxf"}`, `{"U":"/dlf"}`)),
		},
		{Name: "a wildcard spans line breaks", Rules: rule(`{M: 'a*z'}`), Events: yes(`{"M":"a\nz"}`)},
		{
			Name: "a question mark is one character of any width", Rules: rule(`{M: 'a?z'}`),
			Events: both(yes(`{"M":"a\nz"}`, `{"M":"aéz"}`, `{"M":"a\ud83d\ude00z"}`), no(`{"M":"az"}`, `{"M":"axyz"}`)),
		},
		{
			Name: "the empty text matches only empty text", Rules: rule(`{F: ''}`),
			Events: both(yes(`{"F":""}`), no(`{"F":null}`, `{}`, `{"F":[]}`)),
		},
		{
			Name: "null is absent or null, not empty and not inside an array", Rules: rule(`{F: null}`),
			Events: both(yes(`{}`, `{"F":null}`), no(`{"F":""}`, `{"F":[null]}`)),
		},
		{
			Name: "null in a list is one alternative", Rules: rule(`{F: [null, x]}`),
			Events: both(yes(`{}`, `{"F":"X"}`, `{"F":null}`), no(`{"F":"y"}`)),
		},
		{
			Name: "neq holds when nothing matches, never for an absent field", Rules: rule(`{F|neq: [a, b]}`),
			Events: both(yes(`{"F":"c"}`, `{"F":null}`, `{"F":{}}`), no(`{"F":"a"}`, `{"F":["c","a"]}`, `{}`)),
		},
		{
			Name: "exists wants a value that is not null", Rules: rule(`{F|exists: true}`),
			Events: both(yes(`{"F":""}`, `{"F":[]}`), no(`{"F":null}`, `{}`)),
		},
		{
			Name: "all may be satisfied by different elements", Rules: rule(`{F|contains|all: [aa, bb]}`),
			Events: both(yes(`{"F":"xaabb"}`, `{"F":["xaa","xbb"]}`), no(`{"F":"aa"}`)),
		},
		{
			Name: "case folding is per code point and takes the long s and the Kelvin sign in", Rules: rule(`{F: 'task'}`),
			Events: both(yes(`{"F":"TASK"}`, `{"F":"taſk"}`, `{"F":"ta\u017f\u212a"}`), no(`{"F":"taßk"}`, `{"F":"ta\ufb06k"}`)),
		},
		{
			Name: "case folding knows the three forms of sigma but no final-position rule", Rules: rule(`{F|contains: 'ΟΔΟΣ'}`),
			Events: yes(`{"F":"οδος"}`, `{"F":"οδοσx"}`, `{"F":"ΟΔΟΣ"}`),
		},
		{Name: "a sharp s does not equal ss", Rules: rule(`{F: strasse}`), Events: no(`{"F":"straße"}`)},
		{
			Name: "cased compares exactly, numbers by their text", Rules: rule(`{F|cased: [Ab, 10]}`),
			Events: both(yes(`{"F":"Ab"}`, `{"F":10}`, `{"F":"10"}`, `{"F":10.0}`), no(`{"F":"ab"}`, `{"F":"10.0"}`)),
		},
		{
			Name: "integers keep every digit as text and become doubles as numbers", Rules: rule(`{N: '100000000000000000000001'}`),
			Events: with(yes(`{"N":100000000000000000000001}`), ``, `[{"field":"N","value":100000000000000000000001}]`),
		},
		{Name: "a wildcard sees every digit", Rules: rule(`{N: '1*1'}`), Events: yes(`{"N":100000000000000000000001}`)},
		{Name: "a long integer is greater than five", Rules: rule(`{N|gt: 5}`), Events: yes(`{"N":100000000000000000000001}`)},
		{Name: "beyond 64 bits numbers compare as doubles", Rules: rule(`{N: 1e23}`), Events: yes(`{"N":100000000000000000000001}`)},
		{
			Name: "another text of the same double does not match", Rules: rule(`{N: '100000000000000000000000'}`),
			Events: no(`{"N":100000000000000000000001}`),
		},
		{
			Name: "64-bit integers compare exactly", Rules: rule(`{N: 9007199254740993}`),
			Events: both(yes(`{"N":9007199254740993}`, `{"N":"9007199254740993"}`), no(`{"N":9007199254740992}`, `{"N":9007199254740994}`)),
		},
		{
			Name: "unsigned and signed 64-bit integers compare exactly", Rules: rule(`{N|lt: 18446744073709551615}`),
			Events: both(yes(`{"N":18446744073709551614}`, `{"N":-9223372036854775808}`), no(`{"N":18446744073709551615}`)),
		},
		{
			Name: "a float is compared as its shortest decimal", Rules: rule(`{N: '1000000000000000000000'}`),
			Events: both(yes(`{"N":1e21}`, `{"N":"1000000000000000000000"}`), no(`{"N":"1e21"}`)),
		},
		{
			Name: "an empty list never matches, and holds under neq when present", Rules: rule(`{F|neq: []}`),
			Events: both(yes(`{"F":"x"}`, `{"F":null}`), no(`{}`)),
		},
	}
}

func operatorCases() []situation {
	return []situation{
		{
			Name: "networks take addresses alone, mapped ones included", Rules: rule(`{Ip|cidr: '10.1.2.3/8'}`),
			Events: both(yes(`{"Ip":["8.8.8.8","10.9.9.9"]}`, `{"Ip":"::ffff:10.0.0.1"}`), no(`{"Ip":"10.9.9.9:80"}`, `{"Ip":"11.0.0.1"}`, `{"Ip":10}`)),
		},
		{
			Name: "regular expressions are unanchored and respect case", Rules: rule(`{C|re: 'fo+\d'}`),
			Events: both(yes(`{"C":"xxfoo7yy"}`), no(`{"C":"FOO7"}`)),
		},
		{Name: "unless i is given", Rules: rule(`{C|re|i: 'fo+\d'}`), Events: yes(`{"C":"xxfoo7yy"}`, `{"C":"FOO7"}`)},
		{Name: "re|i folds like everything else", Rules: rule(`{C|re|i: '^task$'}`), Events: yes(`{"C":"ta\u017f\u212a"}`)},
		{
			Name: "windash takes any dash", Rules: rule(`{C|contains|windash: ' -enc '}`),
			Events: both(yes(`{"C":"ps /enc x"}`, `{"C":"ps \u2013enc x"}`, `{"C":"ps \u2015ENC x"}`, `{"C":"ps -enc x"}`), no(`{"C":"ps enc x"}`)),
		},
		{
			Name: "windash takes a slash that begins a word, but not one inside", Rules: rule(`{C|windash: 'x /a b/c / d'}`),
			Events: both(yes(`{"C":"x -a b/c / d"}`, `{"C":"x /a b/c / d"}`), no(`{"C":"x -a b-c / d"}`, `{"C":"x -a b/c - d"}`)),
		},
		{
			Name: "windash keeps wildcards", Rules: rule(`{C|windash: '*-a?b'}`),
			Events: both(yes(`{"C":"x/axb"}`, `{"C":"\u2014a\nb"}`), no(`{"C":"x/ab"}`)),
		},
		{
			Name: "base64offset finds all three alignments", Rules: rule(`{D|base64offset: Test}`),
			Events: both(yes(`{"D":"x VGVzdGluZw=="}`, `{"D":"YVRlc3Rpbmc="}`, `{"D":"YWFUZXN0aW5n"}`), no(`{"D":"nope"}`)),
		},
		{
			Name: "base64 of UTF-16 compares the whole value", Rules: rule(`{D|wide|base64: Test}`),
			Events: both(yes(`{"D":"VABlAHMAdAA="}`), no(`{"D":"xVABlAHMAdAA="}`)),
		},
		{
			Name: "utf16 prepends the byte order mark, utf16be turns the bytes", Rules: rule(`[{D|utf16|base64: A}, {D|utf16be|base64: A}]`),
			Events: both(yes(`{"D":"//5BAA=="}`, `{"D":"AEE="}`), no(`{"D":"QQA="}`)),
		},
		{
			Name: "the hour of a time is taken in UTC", Rules: rule(`{T|hour: 3}`),
			Events: both(yes(`{"T":"2024-07-10T03:45:00Z"}`, `{"T":1720583100}`, `{"T":1720583100000}`, `{"T":1720583100000000}`, `{"T":1720583100000000000}`,
				`{"T":"2024-07-10 03:45:00"}`, `{"T":"2024-07-10T03:45:00.123456"}`, `{"T":1720583100.5}`),
				no(`{"T":"2024-07-10T03:45:00+02:00"}`, `{"T":"1720583100"}`, `{"T":"2024-07-10T25:45:00Z"}`, `{"T":true}`, `{"T":"03:45"}`)),
		},
		{
			Name: "the week is that of ISO 8601", Rules: rule(`{T|week: 53}`),
			Events: both(yes(`{"T":"2021-01-01T00:00:00Z"}`), no(`{"T":"2021-01-04T00:00:00Z"}`)),
		},
		{
			Name: "a field may be compared with another", Rules: rule(`{A|fieldref: B}`),
			Events: both(yes(`{"A":"X","B":"x"}`, `{"A":1,"B":"1"}`, `{"A":["q","x"],"B":"x"}`, `{"A":"x","B":["q","x"]}`, `{"A":null,"B":null}`, `{"A":{"x":1},"B":{"x":1}}`),
				no(`{"A":"x"}`, `{"B":"x"}`, `{"A":{"x":1},"B":{"x":2}}`, `{"A":null,"B":""}`)),
		},
		{
			Name: "fieldref takes a string operator and cased", Rules: rule(`{A|fieldref|startswith|cased: B}`),
			Events: both(yes(`{"A":"Xyz","B":"Xy"}`), no(`{"A":"xyz","B":"Xy"}`, `{"A":"Xy","B":"Xyz"}`, `{"A":null,"B":null}`)),
		},
		{
			Name: "fieldref under neq wants both fields", Rules: rule(`{A|fieldref|neq: B}`),
			Events: both(yes(`{"A":"x","B":"y"}`), no(`{"A":"x","B":"X"}`, `{"A":"x"}`)),
		},
		{
			Name: "placeholders are filled from the event", Rules: rule(`{P|expand: 'C:\Users\%u%\x'}`),
			Events: both(yes(`{"P":"c:\\users\\bob\\X","u":"Bob"}`, `{"P":"c:\\users\\bob\\X","u":["al","Bob"]}`), no(`{"P":"C:\\Users\\\\x"}`, `{"P":"C:\\Users\\\\x","u":null}`, `{"P":"x","u":{}}`)),
		},
		{
			Name: "expand under neq wants the fields it names", Rules: rule(`{P|expand|neq: '%u%'}`),
			Events: both(yes(`{"P":"a","u":"b"}`), no(`{"P":"a"}`, `{"P":"a","u":null}`, `{"P":"B","u":"b"}`)),
		},
		{
			Name: "expand with contains takes an unclosed percent sign as text", Rules: rule(`{P|expand|contains: '%u%5%'}`),
			Events: both(yes(`{"P":"xb5%y","u":"b"}`), no(`{"P":"xb5y","u":"b"}`)),
		},
		{
			Name: "order compares numbers and numeric text", Rules: rule(`{N|gt: 5}`),
			Events: both(yes(`{"N":6}`, `{"N":"5.5"}`, `{"N":[1,9]}`), no(`{"N":5}`, `{"N":true}`, `{"N":" 6"}`)),
		},
		{
			Name: "a boolean stays a boolean under contains", Rules: rule(`{B|contains: true}`),
			Events: both(yes(`{"B":true}`, `{"B":"Yes"}`), no(`{"B":"xtruex"}`)),
		},
		{Name: "a number under contains is used by its text", Rules: rule(`{N|contains: 46}`), Events: both(yes(`{"N":14624}`, `{"N":"x46"}`), no(`{"N":45}`))},
	}
}

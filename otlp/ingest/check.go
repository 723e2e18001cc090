package ingest

import "fmt"

// maxDepth is how deep values are looked into. An event that is nested deeper than 128 is
// a parse error, so nothing is lost when what lies below is left out.
const maxDepth = 132

// checker finds out whether a request is what it should be, and counts its records.
type checker struct {
	whole   []byte
	records int
}

// check returns the number of records of a request. An error says where the request is
// malformed; without one, each message of it can be read to its end.
func check(request []byte) (records int, err error) {
	c := checker{whole: request[:len(request):len(request)]}
	err = c.fields(c.whole, "ExportLogsServiceRequest", func(f field) error {
		if f.tag == resourceLogs {
			return c.resource(f.content)
		}
		return nil
	})
	return c.records, err
}

func (c *checker) fields(b []byte, message string, each func(f field) error) error {
	for len(b) > 0 {
		f, n := next(b)
		if n < 0 {
			return c.fault(b, message, n)
		}
		if err := each(f); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

func (c *checker) fault(b []byte, message string, n int) error {
	what := "malformed field"
	if n == truncated {
		what = "truncated field"
	}
	// All that is read ends where its message does, so what lies behind the
	// beginning of b is known.
	return fmt.Errorf("%s at byte %d of %d, in %s", what, cap(c.whole)-cap(b), len(c.whole), message)
}

func (c *checker) resource(b []byte) error {
	return c.fields(b, "ResourceLogs", func(f field) error {
		switch f.tag {
		case resourceField:
			return c.pairs(f.content, "Resource", resourceAttr)
		case scopeLogs:
			return c.scope(f.content)
		}
		return nil
	})
}

func (c *checker) scope(b []byte) error {
	return c.fields(b, "ScopeLogs", func(f field) error {
		switch f.tag {
		case scopeField:
			return c.pairs(f.content, "InstrumentationScope", scopeAttr)
		case logRecord:
			c.records++
			return c.record(f.content)
		}
		return nil
	})
}

func (c *checker) pairs(b []byte, message string, attribute uint64) error {
	return c.fields(b, message, func(f field) error {
		if f.tag == attribute {
			return c.pair(f.content, 0)
		}
		return nil
	})
}

// record and what it calls are written out, since most of a request is records.
func (c *checker) record(b []byte) error {
	for len(b) > 0 {
		if b[0] == recordAttr {
			if from, end := span(b, 1); end > 0 {
				if _, tag, _ := plainPair(b[from:end]); tag != 0 {
					b = b[end:]
					continue
				}
			}
		}
		f, n := next(b)
		if n < 0 {
			return c.fault(b, "LogRecord", n)
		}
		b = b[n:]
		var err error
		switch f.tag {
		case recordBody:
			err = c.value(f.content, 0)
		case recordAttr:
			err = c.pair(f.content, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) pair(b []byte, depth int) error {
	for len(b) > 0 {
		f, n := next(b)
		if n < 0 {
			return c.fault(b, "KeyValue", n)
		}
		b = b[n:]
		if f.tag == pairValue {
			if err := c.value(f.content, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) value(b []byte, depth int) error {
	for len(b) > 0 {
		f, n := next(b)
		if n < 0 {
			return c.fault(b, "AnyValue", n)
		}
		b = b[n:]
		if (f.tag == valueArray || f.tag == valueList) && depth < maxDepth {
			if err := c.list(f.content, f.tag, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) list(b []byte, kind uint64, depth int) error {
	for len(b) > 0 {
		f, n := next(b)
		if n < 0 {
			return c.fault(b, "a list", n)
		}
		b = b[n:]
		if f.tag != listElement {
			continue
		}
		var err error
		if kind == valueArray {
			err = c.value(f.content, depth)
		} else {
			err = c.pair(f.content, depth)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

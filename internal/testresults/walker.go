package testresults

import "encoding/json"

// A walker reads JSON value by value, so that nothing is kept that nobody asked
// for. What is not of the wanted kind is skipped.
type walker struct {
	d     *json.Decoder
	depth int
}

// object calls field with the name of each field, which reads its value.
func (w *walker) object(field func(name string) error) error {
	return w.inside('{', func() error {
		name, err := w.d.Token()
		if err != nil {
			return err
		}
		return field(name.(string)) // the decoder takes nothing else for a key
	})
}

// array calls each for each element, which reads it.
func (w *walker) array(each func() error) error {
	return w.inside('[', each)
}

// inside reads what an object or an array holds. Any other value is skipped.
func (w *walker) inside(open json.Delim, each func() error) error {
	token, err := w.d.Token()
	if err != nil {
		return err
	}
	if token != open {
		return w.skipRest(token)
	}
	if w.depth++; w.depth > maxElements {
		return errTooDeep
	}
	for w.d.More() {
		if err := each(); err != nil {
			return err
		}
	}
	w.depth--
	_, err = w.d.Token()
	return err
}

// skip reads a value of any kind.
func (w *walker) skip() error {
	token, err := w.d.Token()
	if err != nil {
		return err
	}
	return w.skipRest(token)
}

// skipRest skips what follows a value's first token.
func (w *walker) skipRest(first json.Token) error {
	depth := 0
	for token := first; ; {
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		if w.depth+depth > maxElements {
			return errTooDeep
		}
		var err error
		if token, err = w.d.Token(); err != nil {
			return err
		}
	}
}

// text reads a string.
func (w *walker) text(into *string) error {
	token, err := w.d.Token()
	if err != nil {
		return err
	}
	if text, ok := token.(string); ok {
		*into = text
		return nil
	}
	return w.skipRest(token)
}

// number reads a number.
func (w *walker) number(into *float64) error {
	token, err := w.d.Token()
	if err != nil {
		return err
	}
	if n, ok := token.(float64); ok {
		*into = n
		return nil
	}
	return w.skipRest(token)
}

package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sandgate/sandboxclient"
)

// DecodeJSON reads a body that is one JSON object into a struct whose fields have
// names in JSON. A field that is not known is refused: one that is misspelt must
// not be ignored. What is wrong is told in words that are not Go's.
func DecodeJSON(body []byte, into any) error {
	err := decodeFields(body, "", reflect.ValueOf(into).Elem())
	if errors.Is(err, errNoObject) {
		return sandboxclient.Errorf(sandboxclient.CodeInvalid, "The body is %s; its fields are %s",
			insteadOfOne(body), strings.Join(fieldNames("", reflect.TypeOf(into).Elem()), ", "))
	}
	return err
}

// insteadOfOne says what a body is that is not one object.
func insteadOfOne(body []byte) string {
	var first json.RawMessage
	wrong, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(body, &first))
	switch {
	case ok && json.NewDecoder(bytes.NewReader(body)).Decode(&first) == nil:
		return "more than one JSON object"
	case ok && wrong.Offset > 1:
		return fmt.Sprintf("not a JSON object: it goes wrong at byte %d", wrong.Offset)
	}
	return "not a JSON object"
}

// errNoObject means that a value is not one object of JSON.
var errNoObject = errors.New("no object")

// decodeFields reads an object into a struct; prefix is where in the body it is.
func decodeFields(data []byte, prefix string, into reflect.Value) error {
	var given map[string]json.RawMessage
	if json.Unmarshal(data, &given) != nil {
		return errNoObject
	}
	known := fieldNames(prefix, into.Type())
	for i, name := range known {
		value, ok := given[strings.TrimPrefix(name, prefix)]
		if !ok {
			continue
		}
		delete(given, strings.TrimPrefix(name, prefix))
		if err := decodeField(value, name, into.Field(i)); err != nil {
			return err
		}
	}
	if len(given) == 0 {
		return nil
	}
	return sandboxclient.Errorf(sandboxclient.CodeInvalid, "There is no field %.200s; there are %s",
		prefix+strings.Join(slices.Sorted(maps.Keys(given)), ", "+prefix), strings.Join(known, ", "))
}

// fieldNames gives the names of a struct's fields in the body, in their order.
func fieldNames(prefix string, t reflect.Type) []string {
	var names []string
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, prefix+name)
	}
	return names
}

// decodeField reads the value of one field; null is as if it were not there.
func decodeField(value json.RawMessage, name string, into reflect.Value) error {
	var err error
	if t := into.Type(); isObject(t) && string(value) != "null" {
		into.Set(reflect.New(t.Elem()))
		err = decodeFields(value, name+".", into.Elem())
	} else if json.Unmarshal(value, into.Addr().Interface()) != nil {
		err = errNoObject
	}
	if errors.Is(err, errNoObject) {
		return sandboxclient.Errorf(sandboxclient.CodeInvalid, "%s is %s", name, wanted(into.Type()))
	}
	return err
}

func isObject(t reflect.Type) bool {
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// wanted says what a field should have been.
func wanted(t reflect.Type) string {
	if t == reflect.TypeFor[Duration]() {
		return durationWords
	}
	if isObject(t) {
		return "an object with fields of " + strings.Join(fieldNames("", t.Elem()), ", ")
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list of texts"
	case reflect.Map:
		return "an object of texts"
	}
	return "text"
}

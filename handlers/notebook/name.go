package notebook

import "sandgate/sandboxclient"

// Name gives the name of a notebook that somebody typed, the usual one when that
// is empty, or refuses it.
func Name(typed string) (string, error) {
	if typed == "" {
		return defaultName, nil
	}
	if !validName(typed) {
		return "", sandboxclient.Errorf(sandboxclient.CodeInvalid,
			"A notebook's name has 1 to %d characters, none of them a control character", maxName)
	}
	return typed, nil
}

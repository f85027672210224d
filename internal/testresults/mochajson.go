package testresults

// stat reads a field of Mocha's totals.
func (j *jsonReport) stat(name string) error {
	var n float64
	if err := j.number(&n); err != nil {
		return err
	}
	count := int(min(max(n, 0), 1e9))
	switch name {
	case "passes":
		j.sum.count(passed, count)
	case "pending":
		j.sum.count(skipped, count)
	case "failures":
		j.sum.count(failed, count)
	case "duration":
		j.sum.DurationMS = max(n, 0)
	}
	return nil
}

// mochaFailure reads an element of the list of failures.
func (j *jsonReport) mochaFailure() error {
	var name, file, message, stack string
	err := j.object(func(field string) error {
		switch field {
		case "fullTitle":
			return j.text(&name)
		case "file":
			return j.text(&file)
		case "err":
			return j.object(func(field string) error {
				switch field {
				case "message":
					return j.text(&message)
				case "stack":
					return j.text(&stack)
				}
				return j.skip()
			})
		}
		return j.skip()
	})
	if err != nil {
		return err
	}
	c := &capture{name: cleanName(name), told: ownPlace(cleanName(file), 0)}
	clean(cut(message, 2*maxMessage), c.say)
	clean(cut(stack, 2*maxMessage), c.trace)
	j.sum.fail(c.failure())
	return nil
}

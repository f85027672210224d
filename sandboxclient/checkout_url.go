package sandboxclient

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxRepository  = 2048
	repositoryName = "repository" // of a directory, when the URL has none
	maxName        = 255          // of a directory
)

// A remote is a repository's URL, looked at and taken apart.
type remote struct {
	url            string // for git and everybody else: without credentials
	scheme         string // "ssh" for user@host:path as well
	host           string // with the port, if one is named
	path           string
	user, password string // percent-decoded; of ssh neither
}

func (r remote) hasCredentials() bool { return r.user != "" }

// origin is what git scopes credentials by.
func (r remote) origin() string { return r.scheme + "://" + r.host }

// name is what git would call the directory, unless that makes none.
func (r remote) name() string {
	trimmed := strings.TrimRight(r.path, "/")
	name := strings.TrimSuffix(trimmed[strings.LastIndexAny(trimmed, "/:")+1:], ".git")
	if name == "" || name == "." || name == ".." || len(name) > maxName {
		return repositoryName
	}
	return name
}

// Public is the URL without credentials: the only form that may be kept or
// shown. Of what is no URL it gives what can hold none.
func (c Checkout) Public() string {
	if r, err := parseRemote(c.Repository); err == nil {
		return r.url
	}
	rest, _, _ := strings.Cut(strings.TrimSpace(c.Repository), "?")
	rest, _, _ = strings.Cut(rest, "#")
	return plain(rest[strings.LastIndex(rest, "@")+1:])
}

// defaultPorts are those of the schemes that can be allowed.
var defaultPorts = map[string]int{"https": 443, "http": 80, "ssh": 22, "git": 9418}

// Address is where the repository's URL leads to, whether its scheme is allowed
// or not; the error is Command's.
func (c Checkout) Address() (host string, port int, err error) {
	r, err := parseRemote(c.Repository)
	if err != nil {
		return "", 0, err
	}
	u := url.URL{Host: r.host}
	if u.Port() == "" {
		return u.Hostname(), defaultPorts[r.scheme], nil
	}
	port, err = strconv.Atoi(u.Port())
	return u.Hostname(), port, err
}

// remote is the repository, if its scheme is an allowed one.
func (c Checkout) remote() (remote, error) {
	r, err := parseRemote(c.Repository)
	switch {
	case err != nil:
		return remote{}, err
	case r.scheme == "https", c.allows(r.scheme):
		return r, nil
	case r.scheme == "http":
		return remote{}, Errorf(CodeForbidden, "Repositories are cloned over https; over http only from hosts that --egress-allow-private names")
	}
	return remote{}, Errorf(CodeForbidden, "Repositories are cloned over https; %s is not allowed here", r.scheme)
}

// otherSchemes can be allowed; all those that are not named at all never are.
var otherSchemes = []string{"ssh", "git"}

func (c Checkout) allows(scheme string) bool {
	return scheme == "http" && c.AllowHTTP || slices.Contains(otherSchemes, scheme) && slices.Contains(c.Schemes, scheme)
}

// scpLike is git's short form of an ssh URL. What holds a second colon or @ may
// as well be a password and is not taken for one.
var scpLike = regexp.MustCompile(`^(?:([A-Za-z0-9_][A-Za-z0-9_.-]*)@)?([A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)+):([^-:@/][^:@]*)$`)

// parseRemote takes a URL apart and puts it together again from parts of plain
// form, so that git cannot read it in another way than we do.
func parseRemote(text string) (remote, error) {
	text = strings.TrimSpace(text)
	if err := checkRepository(text); err != nil {
		return remote{}, err
	}
	if m := scpLike.FindStringSubmatch(text); m != nil {
		return remote{url: text, scheme: "ssh", host: m[2], path: m[3]}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.Scheme == "" {
		return remote{}, notURL()
	}
	return fromURL(u)
}

func checkRepository(text string) error {
	switch {
	case text == "":
		return Errorf(CodeInvalid, "The URL of a repository is missing")
	case len(text) > maxRepository:
		return Errorf(CodeInvalid, "The URL of a repository has at most %d bytes", maxRepository)
	case !utf8.ValidString(text), strings.ContainsFunc(text, isControl), strings.ContainsAny(text, " \\"),
		strings.HasPrefix(text, "-"), namesHelper(text):
		return notURL()
	}
	return nil
}

// namesHelper knows git's form for a program that is to fetch: ext::sh -c, say.
func namesHelper(text string) bool {
	before, _, found := strings.Cut(text, "::")
	return found && !strings.Contains(before, "/")
}

func notURL() error {
	return Errorf(CodeInvalid, "The URL of a repository has the form https://host/path")
}

// fromURL checks the parts of a URL.
func fromURL(u *url.URL) (remote, error) {
	r := remote{scheme: strings.ToLower(u.Scheme), path: u.Path}
	host, ok := plainHost(u)
	user, password, known := userinfo(u, r.scheme)
	switch {
	case defaultPorts[r.scheme] == 0:
		return remote{}, Errorf(CodeForbidden, "Repositories are cloned over https")
	case !ok, strings.Trim(u.Path, "/") == "", strings.ContainsFunc(u.Path, isControl):
		return remote{}, notURL()
	case u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return remote{}, Errorf(CodeInvalid, "The URL of a repository has no query and no fragment")
	case !known:
		return remote{}, Errorf(CodeInvalid, "What the URL of a repository says before its host is no user and password that git can use")
	}
	r.host, r.user, r.password = host, user, password
	r.url = r.scheme + "://" + r.host + u.EscapedPath()
	if r.scheme == "ssh" && user != "" { // which account it is, and no secret
		r.url = r.scheme + "://" + user + "@" + r.host + u.EscapedPath()
		r.user = ""
	}
	return r, nil
}

// hostName is a name, or an IPv4 address in whatever form.
var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9_-]*[a-z0-9])?)*\.?$`)

// plainHost gives a URL's host and port, if there is only one way to read them.
func plainHost(u *url.URL) (string, bool) {
	host := strings.ToLower(u.Hostname())
	if strings.Contains(host, ":") {
		address, err := netip.ParseAddr(host)
		if err != nil || address.Zone() != "" {
			return "", false
		}
		host = "[" + host + "]"
	} else if !hostName.MatchString(host) || len(host) > maxName {
		return "", false
	}
	if u.Port() == "" {
		return host, !strings.HasSuffix(u.Host, ":")
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return "", false
	}
	return host + ":" + strconv.FormatUint(port, 10), true
}

// sshUser is an account's name that no program takes for an option.
var sshUser = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// userinfo gives what a URL says before its host. What goes to git's helper is
// one line each, and git sends no password without a user; ssh takes a name
// alone, and git's own protocol nothing.
func userinfo(u *url.URL, scheme string) (user, password string, ok bool) {
	user = u.User.Username()
	password, _ = u.User.Password()
	switch scheme {
	case "http", "https":
		plain := utf8.ValidString(user+password) && !strings.ContainsFunc(user+password, isControl)
		return user, password, plain && (user != "" || password == "")
	case "ssh":
		return user, "", password == "" && (user == "" || sshUser.MatchString(user))
	}
	return "", "", u.User == nil
}

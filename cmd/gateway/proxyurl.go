package main

import (
	"errors"
	"net/url"
	"strings"
)

// A proxyURL is the address of a proxy, which may hold a password: it is not
// shown with it.
type proxyURL string

// Set implements pflag.Value. What is wrong is told by check, without the text.
func (p *proxyURL) Set(text string) error {
	*p = proxyURL(text)
	return nil
}

// String implements pflag.Value.
func (p *proxyURL) String() string {
	u, err := p.parse()
	if err != nil {
		return "…"
	}
	if u == nil {
		return ""
	}
	return u.Redacted()
}

// Type implements pflag.Value.
func (p *proxyURL) Type() string { return "proxy" }

// parse reads it as the environment's proxies are read: a scheme may be
// missing. It is nil without an error when there is none.
func (p proxyURL) parse() (*url.URL, error) {
	text := string(p)
	if text == "" {
		return nil, nil
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("this is no URL of a proxy such as http://proxy.example.org:3128")
	}
	return u, nil
}

package proxy

// local is what programs reach without the proxy: the servers of their own tests.
const local = "localhost,127.0.0.1,::1"

// Settings are what programs must know besides the proxy; what is empty leaves
// them to what they know.
type Settings struct {
	Bundle   string // file of all authorities to trust
	Extra    string // file of those that are not trusted everywhere
	Registry string // URL of the npm registry
}

// Environment gives the variables by which npm, git, pip, curl, Go and their
// like find a proxy and the rest.
func Environment(addr string, s Settings) map[string]string {
	url := "http://" + addr
	env := map[string]string{
		"HTTP_PROXY": url, "http_proxy": url, // curl reads the lower case alone
		"HTTPS_PROXY": url, "https_proxy": url,
		"NO_PROXY": local, "no_proxy": local,
		"NODE_USE_ENV_PROXY": "1", // fetch, from Node 24 on
		// Whether there is a newer npm is for this machine's owner to know.
		"npm_config_update_notifier": "false",
	}
	for name, value := range map[string]string{
		"SSL_CERT_FILE":      s.Bundle, // OpenSSL, Go
		"CURL_CA_BUNDLE":     s.Bundle,
		"GIT_SSL_CAINFO":     s.Bundle,
		"PIP_CERT":           s.Bundle,
		"REQUESTS_CA_BUNDLE": s.Bundle,
		"npm_config_cafile":  s.Bundle,
		// Every Node process parses this at its start, which takes a tenth of a
		// second for a whole bundle. Node knows the common ones.
		"NODE_EXTRA_CA_CERTS": s.Extra,
		"npm_config_registry": s.Registry,
	} {
		if value != "" {
			env[name] = value
		}
	}
	return env
}

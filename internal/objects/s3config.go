package objects

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// S3Config says where a store on an S3 server is.
type S3Config struct {
	Endpoint string // host and port
	Secure   bool   // by TLS
	Region   string
	Bucket   string
	Prefix   string // of all keys, without a slash at its end; may be empty

	AccessKey string
	SecretKey string
	Session   string // of credentials that pass
}

const (
	s3Scheme        = "s3://"
	defaultEndpoint = "https://s3.amazonaws.com"
	defaultRegion   = "us-east-1"
)

// IsS3 says whether a place for objects is one on an S3 server.
func IsS3(place string) bool { return strings.HasPrefix(place, s3Scheme) }

// ParseS3 reads s3://BUCKET/PREFIX?endpoint=URL&region=NAME. Credentials come
// from the environment, in the usual variables; in the address, where logs and
// lists of processes show them, they are refused.
func ParseS3(place string, getenv func(string) string) (S3Config, error) {
	u, err := url.Parse(place)
	if err != nil {
		return S3Config{}, errors.New("objects: the address is no s3://BUCKET/PREFIX") // the cause would repeat it
	}
	if u.User != nil {
		return S3Config{}, errCredentials
	}
	c := S3Config{
		Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), Region: defaultRegion,
		AccessKey: getenv("AWS_ACCESS_KEY_ID"), SecretKey: getenv("AWS_SECRET_ACCESS_KEY"), Session: getenv("AWS_SESSION_TOKEN"),
	}
	if c.Bucket == "" || u.Fragment != "" {
		return S3Config{}, errors.New("objects: the address names no bucket: s3://BUCKET/PREFIX")
	}
	if c.Prefix != "" && CheckKey(c.Prefix) != nil {
		return S3Config{}, errors.New("objects: the prefix holds characters that keys may not")
	}
	if err := c.setQuery(u.Query()); err != nil {
		return S3Config{}, err
	}
	if c.AccessKey == "" || c.SecretKey == "" {
		return S3Config{}, errors.New("objects: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
	}
	return c, nil
}

var errCredentials = errors.New("objects: credentials do not belong into the address; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")

// setQuery takes where the server is. Names that are not known may be misspelt
// credentials, so that values are never repeated.
func (c *S3Config) setQuery(query url.Values) error {
	endpoint := defaultEndpoint
	for name, values := range query {
		switch name {
		case "endpoint":
			endpoint = values[0]
		case "region":
			c.Region = values[0]
		default:
			if strings.Contains(strings.ToLower(name), "key") || strings.Contains(strings.ToLower(name), "secret") {
				return errCredentials
			}
			return fmt.Errorf("objects: the address has a parameter %.40q; it takes endpoint and region", name)
		}
	}
	server, err := url.Parse(endpoint)
	if err != nil || server.Host == "" || (server.Scheme != "http" && server.Scheme != "https") || strings.Trim(server.Path, "/") != "" {
		return errors.New("objects: endpoint is no address such as https://s3.example.org")
	}
	if server.User != nil {
		return errCredentials
	}
	c.Endpoint, c.Secure = server.Host, server.Scheme == "https"
	return nil
}

package httpapi

import (
	"mime"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
)

// maxAccept bounds how many media ranges of an Accept header are looked at.
const maxAccept = 32

// AcceptsJSON says whether the client would rather have JSON than text. A
// client that does not care gets text.
func AcceptsJSON(c echo.Context) bool { return Prefers(c, "application/json", "text/plain") }

// AcceptsEvents says whether the client asks for a stream of events.
func AcceptsEvents(c echo.Context) bool { return Prefers(c, "text/event-stream", "application/json") }

// AcceptsHTML says whether the client is a browser that goes to a page.
func AcceptsHTML(c echo.Context) bool {
	accept := strings.Join(c.Request().Header.Values("Accept"), ",")
	return preferred(accept, "text/plain", "text/html") == "text/html"
}

// Prefers says whether the client would rather have one media type than another.
// A client that does not care gets the other.
func Prefers(c echo.Context, one, other string) bool {
	accept := strings.Join(c.Request().Header.Values("Accept"), ",")
	return preferred(accept, other, one) == one
}

// preferred picks the offer that an Accept header likes best: by weight, then
// by its place in the header, then by its place among the offers. It is the
// first offer if the header says nothing, or likes none.
func preferred(accept string, offers ...string) string {
	best, bestRank := offers[0], rank{}
	for _, offer := range offers {
		if r := rankOf(accept, offer); r.better(bestRank) {
			best, bestRank = offer, r
		}
	}
	return best
}

// A rank says how much an Accept header likes one offer.
type rank struct {
	weight      float64
	place       int // of the range that matched, counting down
	specificity int
}

func (r rank) better(than rank) bool {
	if r.weight != than.weight {
		return r.weight > than.weight
	}
	return r.weight > 0 && r.place > than.place
}

// rankOf finds the most specific range that covers the offer.
func rankOf(accept, offer string) rank {
	var found rank
	ranges := strings.SplitN(accept, ",", maxAccept+1)
	for i, field := range ranges[:min(len(ranges), maxAccept)] {
		name, params, err := mime.ParseMediaType(field)
		if err != nil {
			continue
		}
		if s := covers(name, offer); s > found.specificity {
			found = rank{weight: weight(params["q"]), place: maxAccept - i, specificity: s}
		}
	}
	return found
}

// covers says how closely a media range names the offer, 0 if it does not.
func covers(name, offer string) int {
	major, _, _ := strings.Cut(offer, "/")
	switch name {
	case offer:
		return 3
	case major + "/*":
		return 2
	case "*/*":
		return 1
	}
	return 0
}

func weight(q string) float64 {
	if q == "" {
		return 1
	}
	w, err := strconv.ParseFloat(q, 64)
	if err != nil || !(w >= 0 && w <= 1) {
		return 0
	}
	return w
}

package httpapi

import (
	"net"
	"net/http"
	"net/netip"

	"github.com/labstack/echo/v4"
)

// clientBehind says where a request comes from whose proxy is one of those: the
// last address of X-Forwarded-For that is no such proxy's. What others say of
// themselves is not believed. Without proxies it is nil.
func clientBehind(proxies []netip.Prefix) echo.IPExtractor {
	if len(proxies) == 0 {
		return nil
	}
	trust := []echo.TrustOption{echo.TrustLoopback(false), echo.TrustLinkLocal(false), echo.TrustPrivateNet(false)}
	for _, p := range proxies {
		address := p.Addr()
		trust = append(trust, echo.TrustIPRange(&net.IPNet{IP: address.AsSlice(), Mask: net.CIDRMask(p.Bits(), address.BitLen())}))
	}
	return echo.ExtractIPFromXFFHeader(trust...)
}

// locate has a request come from the client rather than from its proxy, for all
// who ask later.
func (a *API) locate(c echo.Context) {
	if a.client == nil {
		return
	}
	r := c.Request().WithContext(c.Request().Context()) // the server keeps its own
	r.RemoteAddr = net.JoinHostPort(a.client(r), "0")   // nobody tells the port
	c.SetRequest(r)
}

// remote is the address that a request comes from.
func remote(r *http.Request) string {
	host, _, _ := net.SplitHostPort(r.RemoteAddr)
	return host
}

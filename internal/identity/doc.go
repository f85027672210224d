// Package identity says who a request comes from and what that one may do.
//
// There are modes. Anybody is the one owner of a gateway that asks nobody. A
// Keyring knows keys, which an operator makes with `gateway keys`, and the
// sessions of browsers that showed one. Handlers know no mode: httpapi asks the
// mode before every route and tells them an owner.
//
// # Keys
//
// A key reads sg_IDENTIFIER_SECRETCHECK: eight characters under which the
// database knows it, 160 random bits, and a checksum, so that a typing error is
// told from a wrong key without looking anywhere, and a scanner of texts can be
// sure of what it found. The database holds the SHA-256 of the secret. A slow
// hash would add nothing: nobody guesses 160 bits.
//
// What the database says of a key is kept for Lifetime, one second. So a key
// that was revoked, by whichever process, is refused one second later at most,
// and a key in use costs one look into the database a second.
//
// # Sessions
//
// A browser shows a key once and gets a cookie, HttpOnly and SameSite=Strict,
// with a random name for the session. The database holds the SHA-256 of that.
// A name is always made by the gateway and never taken from a request, so nobody
// can be given a session that somebody else knows. The session is as good as its
// key: revoked or expired, the key takes its sessions along. A cookie counts for
// nothing in a request that another site or port made a browser send.
//
// # Floods
//
// Whoever shows wrong keys is counted by address, and after Burst of them waits:
// then the database is not asked for keys that were not right a while ago.
package identity

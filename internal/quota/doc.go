// Package quota bounds what one owner takes of a gateway that several share.
//
// Limits come in classes, by name; a key names its class, and who names none has
// the class "default". A Book keeps the account of each owner: how fast requests
// come, and how many cells and runs are at work. What sandboxes there are is
// counted by sandboxclient, which the Book tells the owner's share.
//
// Turns are the other half: where all owners wait for the same places, those who
// hold fewer go first, so that a burst of one delays the others by one turn at most.
package quota

package wire

// ArchiveTrailer is the trailer after an archive: an [ArchiveEnd] as JSON. An
// archive without one is not whole.
const ArchiveTrailer = "Sandgate-Archive"

// ContentTypeZstd and ContentTypeTar are what archives are.
const (
	ContentTypeZstd = "application/zstd"
	ContentTypeTar  = "application/x-tar"
)

// ArchiveInfo counts what an archive holds.
type ArchiveInfo struct {
	Files   int64 `json:"files"`             // with links, without directories
	Bytes   int64 `json:"bytes"`             // of content, before it is compressed
	Skipped int64 `json:"skipped,omitempty"` // sockets, FIFOs and devices, which are left out
	Changed int64 `json:"changed,omitempty"` // entries that changed or went while they were read
}

// ArchiveEnd ends an archive: it is whole, or the reason why it is not.
type ArchiveEnd struct {
	Info  ArchiveInfo `json:"info"`
	Error *Error      `json:"error,omitempty"`
}

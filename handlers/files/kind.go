package files

import (
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// sandboxPolicy keeps a page out of a workspace from doing anything: it is
// whoever's, and shown under the gateway's own address.
const sandboxPolicy = "sandbox; default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; font-src data:"

const plainText = "text/plain; charset=utf-8"

// kinds are the content types of extensions, alike on every host. Program
// text is plain text: a browser shall show it.
var kinds = map[string]string{
	"txt": plainText, "text": plainText, "log": plainText, "ini": plainText, "cfg": plainText, "conf": plainText,
	"env": plainText, "diff": plainText, "patch": plainText, "rst": plainText, "tex": plainText,
	"py": plainText, "pyi": plainText, "ts": plainText, "tsx": plainText, "jsx": plainText, "mts": plainText,
	"go": plainText, "rs": plainText, "c": plainText, "h": plainText, "cc": plainText, "cpp": plainText,
	"hpp": plainText, "java": plainText, "kt": plainText, "swift": plainText, "rb": plainText, "php": plainText,
	"pl": plainText, "lua": plainText, "r": plainText, "jl": plainText, "sh": plainText, "bash": plainText,
	"sql": plainText, "fs": plainText, "cs": plainText, "hs": plainText, "scala": plainText, "vue": plainText,
	"md": "text/markdown; charset=utf-8", "markdown": "text/markdown; charset=utf-8",
	"csv": "text/csv; charset=utf-8", "tsv": "text/tab-separated-values; charset=utf-8",
	"html": "text/html; charset=utf-8", "htm": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
	"js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8", "cjs": "text/javascript; charset=utf-8",
	"xml": "text/xml; charset=utf-8", "ics": "text/calendar; charset=utf-8", "vtt": "text/vtt; charset=utf-8",

	"json": "application/json", "map": "application/json", "jsonl": "application/x-ndjson", "ndjson": "application/x-ndjson",
	"ipynb": "application/x-ipynb+json", "geojson": "application/geo+json", "webmanifest": "application/manifest+json",
	"yaml": "application/yaml", "yml": "application/yaml", "toml": "application/toml",
	"xhtml": "application/xhtml+xml", "wasm": "application/wasm", "pdf": "application/pdf",
	"zip": "application/zip", "gz": "application/gzip", "tgz": "application/gzip", "tar": "application/x-tar",
	"bz2": "application/x-bzip2", "xz": "application/x-xz", "zst": "application/zstd", "7z": "application/x-7z-compressed",
	"whl": "application/zip", "jar": "application/java-archive", "sqlite": "application/vnd.sqlite3",
	"parquet": "application/vnd.apache.parquet", "npy": "application/octet-stream", "npz": "application/octet-stream",
	"pkl": "application/octet-stream", "bin": "application/octet-stream", "exe": "application/octet-stream",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"odt":  "application/vnd.oasis.opendocument.text", "ods": "application/vnd.oasis.opendocument.spreadsheet",

	"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
	"avif": "image/avif", "bmp": "image/bmp", "ico": "image/x-icon", "tif": "image/tiff", "tiff": "image/tiff",
	"svg": "image/svg+xml",
	"mp3": "audio/mpeg", "wav": "audio/wav", "ogg": "audio/ogg", "flac": "audio/flac", "m4a": "audio/mp4",
	"mp4": "video/mp4", "webm": "video/webm", "mov": "video/quicktime", "mkv": "video/matroska",
	"woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
}

func kindByExtension(name string) (string, bool) {
	extension := strings.TrimPrefix(path.Ext(path.Base(name)), ".")
	kind, ok := kinds[strings.ToLower(extension)]
	return kind, ok
}

// sniffed is how many bytes tell a type.
const sniffed = 512

// sniff tells a type by a file's first bytes.
func sniff(start []byte) string {
	kind := http.DetectContentType(start)
	if kind == plainText && !validStart(start) {
		return "text/plain" // text, in who knows what encoding
	}
	return kind
}

// validStart says whether bytes are UTF-8 but for a rune that is cut at their end.
func validStart(start []byte) bool {
	for cut := range min(utf8.UTFMax, len(start)+1) {
		if utf8.Valid(start[:len(start)-cut]) {
			return cut == 0 || len(start) == sniffed
		}
	}
	return false
}

// active says whether a browser runs what such a file holds.
func active(kind string) bool {
	name, _, _ := strings.Cut(kind, ";")
	return name == "text/html" || name == "text/xml" || strings.HasSuffix(name, "+xml") || strings.HasSuffix(name, "/xml")
}

package archtest

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// homePath finds folders of somebody's own machine, at the start of a path.
// The sandbox user's home is the same everywhere.
var (
	homePath    = regexp.MustCompile(`(?:^|[^\w./~-])(/(?:root|work|Users|home/[\w.-]+)/)`)
	sandboxHome = "/home/sandbox/"
)

func TestFiles_nameNoDevelopersFolder(t *testing.T) {
	eachTextFile(t, func(name string, content []byte) {
		if found := foldersOfAHome(content); len(found) > 0 {
			t.Errorf("%s names %s", name, strings.Join(found, ", "))
		}
	})
}

func foldersOfAHome(content []byte) []string {
	var found []string
	for _, match := range homePath.FindAllSubmatch(content, -1) {
		if folder := string(match[1]); folder != sandboxHome {
			found = append(found, folder)
		}
	}
	return found
}

func TestFoldersOfAHome(t *testing.T) {
	slash := func(elements ...string) string { return "/" + strings.Join(elements, "/") }
	for text, want := range map[string]string{
		"cd " + slash("root", "src"):              slash("root", ""),
		`dir = "` + slash("work", "main") + `"`:   slash("work", ""),
		"HOME=" + slash("home", "ada", "go"):      slash("home", "ada", ""),
		"HOME=" + slash("home", "sandbox", "go"):  "",
		"ProtectHome hides /home and /root":       "",
		"/workspace/img/pic.png":                  "",
		"https://example.org" + slash("work", ""): "",
		"bundle" + slash("root", "etc"):           "",
	} {
		if got := strings.Join(foldersOfAHome([]byte(text)), ","); got != want {
			t.Errorf("foldersOfAHome(%q) = %q, want %q", text, got, want)
		}
	}
}

// Where packages come from is the business of the machine that builds: its
// proxy or mirror is configured there, and a file that names one gets around it.
func TestFiles_nameNoRegistry(t *testing.T) {
	hosts := registryHosts()
	if len(hosts) == 0 {
		t.Skip("this machine has no registry configured by name")
	}
	eachTextFile(t, func(name string, content []byte) {
		for _, host := range hosts {
			if bytes.Contains(content, []byte(host)) {
				t.Errorf("%s names %s", name, host)
			}
		}
	})
}

// registryHosts gives the hosts that this machine's package managers ask.
func registryHosts() []string {
	settings := slices.Concat(
		outputOf("go", "env", "GOPROXY", "GOSUMDB"),
		outputOf("npm", "config", "get", "registry"),
		contentOf("/etc/apt/sources.list", "/etc/apt/sources.list.d/*"),
	)
	var hosts []string
	for _, match := range regexp.MustCompile(`https?://(?:[^/@\s]*@)?([\w.-]+)`).FindAllSubmatch(settings, -1) {
		host := string(match[1])
		// A bare name or a number is too common a word to look for.
		if named := regexp.MustCompile(`\.[a-z]+$`); named.MatchString(host) {
			hosts = append(hosts, host)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// outputOf gives nothing where the program is not installed.
func outputOf(program string, args ...string) []byte {
	out, _ := exec.Command(program, args...).Output()
	return out
}

func contentOf(patterns ...string) []byte {
	var all []byte
	for _, pattern := range patterns {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			content, _ := os.ReadFile(name)
			all = append(all, content...)
		}
	}
	return all
}

// eachTextFile visits what is, or could be, committed.
func eachTextFile(t *testing.T, visit func(name string, content []byte)) {
	t.Helper()
	files := 0
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", "bin", "node_modules"}, entry.Name()) {
			return fs.SkipDir
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if isText := !bytes.Contains(content, []byte{0}); isText {
			files++
			visit(name, content)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Error("there are no files to look at")
	}
}

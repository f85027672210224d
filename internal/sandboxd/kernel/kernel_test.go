package kernel

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandgate/internal/sandboxd/awake"
	"sandgate/internal/sandboxd/shim"
	"sandgate/sandboxclient/wire"
)

func TestStart(t *testing.T) {
	p := newProgram(t)
	k := startKernel(t, p)
	if k.Engine() != "played" || k.Died() != "" {
		t.Errorf("engine %q, died %q", k.Engine(), k.Died())
	}
	argv := p.command.Argv
	if len(argv) != 2 || argv[0] != "/usr/bin/python3" || filepath.Base(argv[1]) != "main.py" {
		t.Errorf("argv is %q", argv)
	}
	if !slices.Contains(p.command.Env, "PYTHONUTF8=1") || p.command.Dir != "/" || len(p.command.Files) != 5 {
		t.Errorf("command is %+v", p.command)
	}
	k.Close()
	if k.Died() != "ended with its code context" {
		t.Errorf("closed, it died of %q", k.Died())
	}
}

func TestStart_fails(t *testing.T) {
	spec := Spec{Language: wire.Python}
	refuses := starterFunc(func(context.Context, shim.Command) (shim.Tree, error) { return nil, io.ErrUnexpectedEOF })
	if _, err := startIn(t.Context(), t.TempDir(), refuses, new(awake.Clock), spec); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a starter's error: %v", err)
	}
	_, err := startIn(t.Context(), t.TempDir(), refuses, new(awake.Clock), Spec{Language: "cobol"})
	if e, ok := errors.AsType[*wire.Error](err); !ok || e.Code != wire.CodeUnsupported {
		t.Errorf("an unknown language: %v", err)
	}

	p := newProgram(t)
	breaks := starterFunc(func(ctx context.Context, cmd shim.Command) (shim.Tree, error) {
		tree, err := p.Start(ctx, cmd)
		_, _ = io.WriteString(p.stderr, "no module named site\n")
		p.end(exited(1))
		return tree, err
	})
	if _, err := startIn(t.Context(), t.TempDir(), breaks, new(awake.Clock), spec); err == nil || !strings.Contains(err.Error(), "no module named site") {
		t.Errorf("an interpreter that breaks: %v", err)
	}

	p = newProgram(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := startIn(ctx, t.TempDir(), p, new(awake.Clock), spec); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an interpreter that says nothing: %v", err)
	}
	await(t, p.Done())
}

func TestRun(t *testing.T) {
	p := newProgram(t)
	k := startKernel(t, p)
	go func() {
		id, code := p.read()
		_, _ = io.WriteString(p.stdout, "out "+code)
		p.reply(`{"id":%d,"pid":%d,"type":"result","result":{"text":"shown"}}`, id, programPid)
		p.reply(`{"id":%d,"pid":1,"type":"result","result":{"text":"foreign"}}`, id)
		p.reply(`{"id":%d,"pid":1,"type":"done"}`, id)
		p.reply(`{"id":%d,"pid":%d,"type":"done"}`, id+1, programPid)
		_, _ = io.WriteString(p.stderr, "err")
		p.reply(`{"id":%d,"pid":%d,"type":"done","error":{"name":"E","message":"m","traceback":["a","b"]}}`, id, programPid)
	}()
	ended, events := runCell(t.Context(), t, k)
	if ended.Status != wire.StatusExited || ended.ExitCode != 1 || ended.ExecutionCount != 1 || ended.Error.Name != "E" {
		t.Errorf("exit is %+v", ended)
	}
	got := map[string]string{}
	for _, e := range events {
		got[e.Type] += string(e.Data)
		if e.Result != nil {
			got[e.Type] += e.Result.Text
		}
	}
	if got["stdout"] != "out code" || got["stderr"] != "erra\nb\n" || got["result"] != "shown" {
		t.Errorf("events are %q", got)
	}
}

func TestRun_contextEndedBefore(t *testing.T) {
	k := startKernel(t, newProgram(t))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(wire.StatusOutputLimited)
	if ended, _ := runCell(ctx, t, k); ended.Status != wire.StatusOutputLimited || ended.ExitCode == 0 {
		t.Errorf("exit is %+v", ended)
	}
}

// The signal is repeated until the program says that it has arrived.
func TestRun_insists(t *testing.T) {
	p := newProgram(t)
	k := startKernel(t, p)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		id, _ := p.read()
		cancel(wire.StatusTimedOut)
		waitFor(t, func() bool { signals, _ := p.counts(); return signals >= 3 })
		p.reply(`{"id":%d,"pid":%d,"type":"interrupted"}`, id, programPid)
		p.reply(`{"id":%d,"pid":%d,"type":"done","interrupted":true,"error":{"name":"KeyboardInterrupt"}}`, id, programPid)
	}()
	ended, events := runCell(ctx, t, k)
	if ended.Status != wire.StatusTimedOut || ended.ExitCode != 130 || ended.Error != nil || ended.KernelDied != "" || len(events) != 0 {
		t.Errorf("exit is %+v, events %+v", ended, events)
	}
	if signals, killings := p.counts(); signals < 3 || killings < 1 {
		t.Errorf("%d signals, children killed %d times", signals, killings)
	}
}

func TestRun_killsAfterGrace(t *testing.T) {
	p := newProgram(t)
	k := startKernel(t, p)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		p.read()
		cancel(errors.New("somebody left"))
	}()
	ended, _ := runCell(ctx, t, k)
	if ended.Status != wire.StatusCanceled || ended.ExitCode != 137 || ended.KernelDied != reasonHeedless {
		t.Errorf("exit is %+v", ended)
	}
	if ended.DurationMS < 2000 {
		t.Errorf("it was given %v ms", ended.DurationMS)
	}
}

// Whatever breaks the channel, no cell waits for what cannot come.
func TestRun_channelBreaks(t *testing.T) {
	for name, breakIt := range map[string]func(*program){
		"closed":  func(p *program) { p.replies.Close() },
		"garbage": func(p *program) { p.reply("garbage") },
		"deep":    func(p *program) { p.reply(`{"x":` + strings.Repeat("[", 20000)) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProgram(t)
			k := startKernel(t, p)
			go func() {
				p.read()
				breakIt(p)
			}()
			ended, _ := runCell(t.Context(), t, k)
			if ended.Status != wire.StatusSignaled || ended.KernelDied != reasonChannel {
				t.Errorf("exit is %+v", ended)
			}
		})
	}
}

func TestRun_dies(t *testing.T) {
	p := newProgram(t)
	k := startKernel(t, p)
	go func() {
		id, _ := p.read()
		p.reply(`{"id":%d,"pid":%d,"type":"result","result":{"text":"shown"}}`, id, programPid)
		_, _ = io.WriteString(p.stdout, "last words")
		p.end(exited(3))
	}()
	ended, events := runCell(t.Context(), t, k)
	if ended.Status != wire.StatusExited || ended.ExitCode != 3 || ended.KernelDied != "exited with status 3" {
		t.Errorf("exit is %+v", ended)
	}
	if output(events, false) != "last words" || len(events) != 2 {
		t.Errorf("events are %+v", events)
	}
	if ended, _ := runCell(t.Context(), t, k); ended.KernelDied != "exited with status 3" {
		t.Errorf("the next cell: %+v", ended)
	}
}

// A cell that has ended has ended well, even if its process follows it.
func TestRun_diesAfterTheCell(t *testing.T) {
	p := newProgram(t)
	k := startKernel(t, p)
	go func() {
		p.answer(1)
		p.end(exited(3))
	}()
	if ended, _ := runCell(t.Context(), t, k); ended.Status != wire.StatusExited || ended.ExitCode != 0 || ended.KernelDied != "" {
		t.Errorf("exit is %+v", ended)
	}
	await(t, k.Done())
	if k.Died() != "exited with status 3" {
		t.Errorf("it died of %q", k.Died())
	}
}

func TestRun_background(t *testing.T) {
	p := newProgram(t)
	k := startKernel(t, p)
	go p.answer(2)
	runCell(t.Context(), t, k)
	_, _ = io.WriteString(p.stdout, "late")
	waitFor(t, func() bool { return unread(p.stdout) == 0 })
	_, events := runCell(t.Context(), t, k)
	if output(events, true) != "late" || output(events, false) != "" {
		t.Errorf("events are %+v", events)
	}
}

// A kernel that loses its channel while it is idle is ended.
func TestKernel_losesChannelWhileIdle(t *testing.T) {
	p := newProgram(t)
	k := startKernel(t, p)
	p.replies.Close()
	await(t, k.Done())
	if k.Died() != reasonChannel {
		t.Errorf("it died of %q", k.Died())
	}
}

func TestInstall(t *testing.T) {
	root := filepath.Join(t.TempDir(), "kernels")
	lang, err := lookup(wire.Python)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := install(root, lang)
	if err != nil {
		t.Fatal(err)
	}
	again, err := install(root, lang)
	if err != nil || again != dir {
		t.Errorf("installed again: %q, %v", again, err)
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	for name, want := range map[string]os.FileMode{"": 0o755, "main.py": 0o644, "sandgate_kernel": 0o755, "sandgate_kernel/__init__.py": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v: %v", name, info.Mode(), want, err)
		}
	}
}

func TestWithDefaults(t *testing.T) {
	got := withDefaults([]string{"A=1", "B="}, []string{"A=2", "B=3", "C=4"})
	if want := []string{"A=1", "B=", "C=4"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

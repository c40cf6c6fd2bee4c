//go:build !js

package play

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"iter"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// pictures is a folder for the pictures that the tests of the page take.
var pictures = flag.String("pictures", "", "`folder` for pictures of the page")

// pagePath is the page to test.
var pagePath = flag.String("page", "", "`file` of the page to test; empty: it is made")

// scratch is the folder of the page that tests make; empty: no test has made it.
var scratch string

// built makes the page once for all tests, and returns its path.
var built = sync.OnceValues(func() (string, error) {
	if *pagePath != "" {
		return *pagePath, nil
	}
	var err error
	if scratch, err = os.MkdirTemp("", "play"); err != nil {
		return "", err
	}
	wasm, page := filepath.Join(scratch, "play.wasm"), filepath.Join(scratch, "play.html")
	for _, args := range [][]string{{"build", "-ldflags", "-s -w", "-o", wasm, "turnstile/cmd/play"},
		{"run", "./play/assemble", "-wasm", wasm, "-out", page}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = ".."
		if args[0] == "build" {
			cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return page, nil
})

const chromium = "chromium"

// closeBrowser ends the browser of the tests.
var closeBrowser = func() {}

// browsing starts one browser for all tests.
var browsing = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath(chromium))
	all, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(all) // ends with all
	closeBrowser = cancel
	return ctx, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
})

func TestMain(m *testing.M) {
	status := m.Run()
	closeBrowser()
	os.RemoveAll(scratch)
	os.Exit(status)
}

// A tab is the page in a browser.
type tab struct {
	*testing.T
	ctx context.Context
}

// Whatever a browser takes as an action without a value.
type act = chromedp.Action[chromedp.Void]

// pageFile returns the path of the page, unless there is nothing to open it with.
func pageFile(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("make play-test tests the page in a browser")
	}
	if _, err := exec.LookPath(chromium); err != nil {
		t.Skip("SKIPPED: Chromium is not installed, so the page is not tested")
	}
	page, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// browse opens the page, with what follows # in its address.
func browse(t *testing.T, hash string, before ...act) *tab {
	t.Helper()
	return browseFile(t, pageFile(t)+hash, before...)
}

// load loads a page from its file. At the end of the test its console must be empty.
func load(t *testing.T, page string, before ...act) *tab {
	t.Helper()
	browser, err := browsing()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{t, ctx}
	messages := chromedp.Console(ctx)
	t.Cleanup(func() { b.checkConsole(messages) })
	b.do(before...)
	b.do(chromedp.Navigate("file://" + page))
	return b
}

// browseFile opens a page from its file, and waits until it is ready.
func browseFile(t *testing.T, page string, before ...act) *tab {
	t.Helper()
	b := load(t, page, before...)
	b.until(`!document.body.classList.contains("loading") && document.querySelector("[data-node]")`)
	return b
}

// checkConsole fails the test if the page has written to its console.
func (b *tab) checkConsole(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	const last = "this is the end"
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("console.log(%q)", last)))
	for m, err := range messages {
		switch {
		case err != nil:
			b.Error(err)
			return
		case m.Text == last:
			return
		}
		b.Errorf("the console says: %s", m)
	}
}

func (b *tab) do(actions ...act) {
	b.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.Fatal(err)
	}
}

// until waits until an expression is true.
func (b *tab) until(expression string) {
	b.Helper()
	poll := chromedp.Poll[bool]("!!("+expression+")", chromedp.WithPollingTimeout(time.Minute))
	_, err := chromedp.Run(b.ctx, poll)
	if err != nil {
		b.Fatalf("%s never came: %v; the page says %q", expression, err, b.text("document.body.innerText"))
	}
}

// text returns the value of an expression.
func (b *tab) text(expression string) string {
	b.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](expression))
	if err != nil {
		b.Fatal(err)
	}
	return value
}

// click clicks an element, and waits until the play stands after a number of steps.
func (b *tab) click(selector string, step int) {
	b.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
	b.stands(step)
}

// stands waits until the play stands after a number of steps.
func (b *tab) stands(step int) {
	b.Helper()
	b.until(fmt.Sprintf(`document.querySelector("#where").textContent.startsWith("step %d of ")`, step))
}

// picture writes a picture of the page, if the flag asks for it.
func (b *tab) picture(name string) {
	b.Helper()
	if *pictures == "" {
		return
	}
	b.do(chromedp.Sleep(time.Second))
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.Fatal(err)
	}
	if shot, err = fewColors(shot); err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name+".png"), shot, 0o644)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// fewColors returns a picture with 16 shades of each primary color, which takes two thirds of the space.
func fewColors(shot []byte) ([]byte, error) {
	full, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return nil, err
	}
	few := image.NewNRGBA(full.Bounds())
	draw.Draw(few, few.Rect, full, few.Rect.Min, draw.Src)
	const shades = 16
	for i, v := range few.Pix {
		few.Pix[i] = uint8((int(v)*(shades-1) + 127) / 255 * 255 / (shades - 1))
	}
	var b bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, few)
	return b.Bytes(), err
}

// link returns what follows # in the address of a page that opens a schedule.
func link(schedule string) string {
	return "#schedule=" + url.PathEscape(schedule)
}

// Two enter together by six clicks; the page says which promise broke, and goes back from it.
func TestPageByClicks(t *testing.T) {
	b := browse(t, link(naive))
	for i, step := range []string{"req 0", "req 1"} {
		b.click(fmt.Sprintf(`#stages [data-step="%s"]`, step), i+1)
	}
	for i, message := range []string{"request from node 0", "request from node 1", "reply from node 1",
		"reply from node 0"} {
		b.click(fmt.Sprintf(`#stages .message[aria-label^="%s"]`, message), i+3)
	}
	b.until(`!document.querySelector("#banner").hidden`)
	if says := b.text(`document.querySelector("#banner").innerText`); !strings.Contains(says, "inside") {
		t.Errorf("the banner says %q", says)
	}
	b.picture("violation")
	b.click("#back", 5)
	b.until(`document.querySelector("#banner").hidden`)
	for _, wants := range []string{"naive_broadcast.go", "Receive"} {
		if code := b.text(`document.querySelector("#code").innerText`); !strings.Contains(code, wants) {
			t.Errorf("the code that ran lacks %s: %.200s", wants, code)
		}
	}
	b.until(`document.querySelector("#diagram svg")`)
}

// The keyboard alone plays, too: numbers take what is listed, arrows go back and forward.
func TestPageByKeys(t *testing.T) {
	b := browse(t, link(naive))
	b.do(chromedp.KeyEvent("a"))
	b.stands(2)
	b.do(chromedp.KeyEvent("1"))
	b.stands(3)
	b.do(chromedp.KeyEvent(kb.ArrowLeft))
	b.stands(2)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.stands(3)
	b.do(chromedp.KeyEvent(kb.Home))
	b.stands(0)
	b.do(chromedp.KeyEvent("s"))
	b.stands(1)
}

// A schedule that does not fit is refused in a sentence, and the play before it stays.
func TestPageRefuses(t *testing.T) {
	b := browse(t, link(naive+"req 0\n"))
	for text, want := range map[string]string{
		naive + "req 7\n": "ine 5, req 7: there is no node 7",
		"hello":           "one begins with a line turnstile schedule 1",
		strings.Replace(naive, "n 2", "n 1000", 1): "the page shows up to 64",
	} {
		b.do(chromedp.Click(chromedp.CSS("#open-schedule")))
		b.until(`document.querySelector("#schedule").open`) // before that, the page writes its own schedule there
		b.do(chromedp.SetValue(chromedp.CSS("#text"), text), chromedp.Click(chromedp.CSS("#play-text")))
		b.until(fmt.Sprintf(`document.querySelector("#trouble").innerText.includes(%q)`, want))
		b.do(chromedp.KeyEvent(kb.Escape))
		b.stands(1)
	}
}

// A browser without WebAssembly is told what it lacks.
func TestPageWithoutWebAssembly(t *testing.T) {
	b := load(t, pageFile(t), func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: "delete window.WebAssembly"})
		return chromedp.Void{}, err
	})
	b.until(`document.querySelector("#trouble").innerText.includes("This browser has no WebAssembly")`)
}

// A scene opens by its name, at its start. It says what to look at, and a question hides what can happen
// until it is answered. README shows how this one ends.
func TestPageOfAScene(t *testing.T) {
	b := browse(t, "#play=everybody-permits", chromedp.EmulateViewport(1280, 860), preferring("light"))
	b.stands(0)
	b.until(`document.querySelector("#question").innerText.startsWith("A node asks all others")`)
	for at := 1; at <= 10; at++ {
		b.do(chromedp.KeyEvent(kb.ArrowRight))
		b.stands(at)
		if at != 6 && at != 9 {
			continue
		}
		if next := b.text(`document.querySelector("#next").innerText`); !strings.Contains(next, "Hidden until") {
			t.Errorf("at the question after step %d, this can happen: %s", at, next)
		}
		b.do(chromedp.Click(chromedp.CSS("#question button")))
		b.until(`!document.body.classList.contains("asking")`)
	}
	b.until(`document.querySelector("#banner").innerText.includes("The checks judge the run violated")`)
	b.picture("play")
}

// A recorded run is watched from its start. All of its steps are listed, and its verdict is that of the run.
func TestPageOfAFilm(t *testing.T) {
	page, err := os.ReadFile(pageFile(t))
	if err != nil {
		t.Fatal(err)
	}
	_, text := filmedRun(t, "naive-broadcast", 2)
	film := &Film{}
	if err := json.Unmarshal(text, film); err != nil {
		t.Fatal(err)
	}
	film.Verdict = Verdict{"violated", "two were inside"}
	if page, err = WithStart(page, Start{Film: film}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "film.html")
	if err := os.WriteFile(path, page, 0o600); err != nil {
		t.Fatal(err)
	}
	b := browseFile(t, path)
	b.stands(0)
	b.until(`document.querySelector("#algorithm").value === "naive-broadcast"`)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.stands(1)
	b.do(chromedp.KeyEvent(kb.End))
	b.until(`document.querySelector("#banner").innerText.includes("judged the run violated: two were inside.")`)
	b.until(`document.querySelector("#diagram svg")`)
	for what, says := range map[string]string{"#banner": "itself is broken", "#steps": "not yet seen",
		"#trouble:not([hidden])": ""} {
		got := b.text(fmt.Sprintf(`(document.querySelector(%q) || {innerText: "none"}).innerText`, what))
		if got != "none" && strings.Contains(got, says) {
			t.Errorf("%s says %q", what, got)
		}
	}
}

// Keys that are held down lose no step, and a second drag widens a cut.
func TestPageByManyKeysAndDrags(t *testing.T) {
	b := browse(t, link("turnstile schedule 1\nalgorithm bully\nn 4\n"))
	body := func(id int) chromedp.CSS { return chromedp.CSS(fmt.Sprintf(`[data-node="%d"] .body`, id)) }
	for id := range 2 {
		b.do(chromedp.DragAndDrop(body(id), body(3)))
		b.stands(id + 1)
	}
	b.until(`document.querySelector("#say").innerText.includes("the sides 0-1/3 are lost")`)
	b.do(chromedp.KeyEvent("a"))
	b.stands(6)
	for range 4 {
		b.do(chromedp.KeyEvent(kb.ArrowLeft))
	}
	b.stands(2)
}

// At every width, in every colour scheme and in a hall, nothing is wider than the page, on a desk nothing is
// higher, and no console complains.
func TestPageFits(t *testing.T) {
	text := "turnstile schedule 1\nalgorithm maekawa-textbook\nn 3\n\nreq 0; req 1; req 2\n"
	for _, c := range []struct {
		name          string
		width, height int64
		scheme        string
		hall          bool
	}{{"narrow", 360, 740, "light", false}, {"laptop", 1280, 800, "dark", false},
		{"hall", 1280, 800, "light", true}, {"wide", 3840, 2160, "light", false}} {
		t.Run(c.name, func(t *testing.T) {
			b := browse(t, link(text), chromedp.EmulateViewport(c.width, c.height), preferring(c.scheme))
			b.stands(3)
			if c.hall {
				b.do(chromedp.KeyEvent("h"))
			}
			b.picture(c.name)
			high := b.text(`String(document.documentElement.scrollHeight)`)
			if c.width > 1000 && high != fmt.Sprint(c.height) {
				t.Errorf("the page is %s pixels high in a window of %d", high, c.height)
			}
			if wide := b.text(`String(document.documentElement.scrollWidth)`); wide != fmt.Sprint(c.width) {
				t.Errorf("the page is %s pixels wide in a window of %d", wide, c.width)
			}
		})
	}
}

// preferring has a browser ask for a colour scheme, and for little motion.
func preferring(scheme string) act {
	return func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme},
				{Name: "prefers-reduced-motion", Value: "reduce"}}})
		return chromedp.Void{}, err
	}
}

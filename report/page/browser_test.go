package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A seen is what a browser says of a page.
type seen struct {
	Inner, Scroll int // widths
	Pictures      int // that are there and have a size
	Clipped       int // texts of pictures that stand over an edge
	Covered       int // number of texts that overlap another text; rotated texts do not count
	Cut           int // tables that are wider than their place
	Lit, Faded    int // curves, and other curves, that look as they should while one has the focus
	Curves        int
	Dark          bool
	Background    string
}

// probe is a script that sends a seen of its page, as JSON, to the page that has its page in a frame.
const probe = `<script>addEventListener("load", () => {
let all = [...document.querySelectorAll("figure svg")];
let curves = [...document.querySelectorAll(".series")], lit = 0, faded = 0;
let opaque = c => getComputedStyle(c).opacity == 1;
for (let c of curves) {
c.focus();
let others = [...c.closest("svg").querySelectorAll(".series")].filter(o => o != c);
let band = c.querySelector(".band");
if (opaque(c) && (!band || getComputedStyle(band).fillOpacity == 0.3)) lit++;
if (!others.some(opaque)) faded++;
}
parent.postMessage(JSON.stringify({Lit: lit, Faded: faded, Curves: curves.length,
Inner: innerWidth, Scroll: document.documentElement.scrollWidth,
Pictures: all.filter(s => s.getBoundingClientRect().height > 20).length,
Clipped: all.flatMap(s => { let b = s.getBoundingClientRect();
return [...s.querySelectorAll("text")].filter(t => { let r = t.getBoundingClientRect();
return r.left < b.left - 1 || r.right > b.right + 1 ||
r.top < b.top - 1 || r.bottom > b.bottom + 1 }) }).length,
Covered: all.flatMap(s => {
let texts = [...s.querySelectorAll("text")].filter(t => !t.closest("[transform*=rotate]"));
let boxes = texts.map(t => t.getBoundingClientRect());
return boxes.filter((a, i) => boxes.slice(0, i).some(b => a.left < b.right - 1 && b.left < a.right - 1 &&
a.top < b.bottom - 2 && b.top < a.bottom - 2)) }).length,
Cut: [...document.querySelectorAll(".scroll:has(table)")]
.filter(s => s.scrollWidth > s.clientWidth + 1).length,
Dark: matchMedia("(prefers-color-scheme: dark)").matches,
Background: getComputedStyle(document.querySelector("figure")).backgroundColor}), "*")})</script>`

// look opens a page in Chromium, in a frame of the given width, and returns what probe reports.
func look(t *testing.T, browser, html string, width int, dark bool) (s seen) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("page.html", strings.Replace(html, "</body>", probe+"</body>", 1))
	// Chromium has windows of 500 pixels at least, so the page is in a frame.
	around := write("around.html", fmt.Sprintf(`<!DOCTYPE html><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><pre></pre>
<script>onmessage = e => document.querySelector("pre").textContent = e.data</script>
<iframe style="border:0;width:%dpx;height:800px" src="page.html"></iframe>`, width))
	scheme := map[bool]int{true: 0, false: 1}[dark]
	cmd := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--virtual-time-budget=5000",
		fmt.Sprintf("--blink-settings=preferredColorScheme=%d", scheme), "--dump-dom", "file://"+around)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	err := cmd.Wait()
	late.Stop()
	if err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, &log)
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the console says %s", line)
		}
	}
	said := regexp.MustCompile(`(?s)<pre>(.*)</pre>`).FindStringSubmatch(out.String())
	if said == nil || json.Unmarshal([]byte(said[1]), &s) != nil {
		t.Fatalf("the page said nothing in %s\n%s", &out, &log)
	}
	return s
}

// In a browser every picture is there, nothing is wider than the window of a phone, no text stands over the
// edge of its picture or on another, no table is cut off on a desktop, and the colors are as the reader likes
// them.
func TestReportInABrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless_shell"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("NOT TESTED: there is no chromium on the PATH, so no browser has opened a report")
	}
	p := fabricated(t)
	var html bytes.Buffer
	if err := p.HTML(&html); err != nil {
		t.Fatal(err)
	}
	backgrounds := map[bool]string{false: "rgb(255, 255, 255)", true: "rgb(30, 30, 30)"}
	widths := []int{360}
	if !testing.Short() {
		widths = append(widths, 1280)
	}
	for _, width := range widths {
		for _, dark := range []bool{false, true} {
			s := look(t, browser, html.String(), width, dark)
			if s.Inner != width || s.Scroll > s.Inner {
				t.Errorf("a window of %d pixels is %d wide, and the page %d", width, s.Inner, s.Scroll)
			}
			if s.Pictures != p.Figures() || s.Pictures == 0 {
				t.Errorf("%d of %d pictures are there", s.Pictures, p.Figures())
			}
			if s.Clipped > 0 || s.Covered > 0 {
				t.Errorf("%d texts stand over the edge of their picture, %d on another", s.Clipped, s.Covered)
			}
			if s.Cut > 0 && width >= 1280 {
				t.Errorf("%d tables are cut off in a window of %d pixels", s.Cut, width)
			}
			if s.Lit != s.Curves || s.Faded != s.Curves || s.Curves < 10 {
				t.Errorf("of %d curves, %d are lit up with the focus, and fade the others for %d", s.Curves, s.Lit,
					s.Faded)
			}
			if s.Dark != dark || s.Background != backgrounds[dark] {
				t.Errorf("dark %t: the page is %t, and pictures are on %s", dark, s.Dark, s.Background)
			}
		}
	}
}

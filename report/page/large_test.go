package page

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// However large a set is, its HTML file can be sent by mail: pictures that do not fit into it are only in
// separate files, and the page says so.
func TestPagesAreBounded(t *testing.T) {
	p, out := fabricated(t), t.TempDir()
	if p.most != 5_000_000 {
		t.Errorf("a page may have %d bytes", p.most)
	}
	for _, most := range []int{p.most, 80_000, 50_000} {
		p.most = most
		if err := p.Write(out); err != nil {
			t.Fatal(err)
		}
		html, err := os.ReadFile(filepath.Join(out, HTMLFile))
		if err != nil {
			t.Fatal(err)
		}
		inside, linked := bytes.Count(html, []byte("<svg")), bytes.Count(html, []byte("look at the file"))
		t.Logf("%d bytes, %d pictures inside and %d beside it", len(html), inside, linked)
		if len(html) > most || inside == 0 || inside+linked != p.Figures() || linked == 0 && most < 5_000_000 {
			t.Errorf("of %d bytes at most: %d, with %d of %d pictures, and %d linked", most, len(html), inside,
				p.Figures(), linked)
		}
		last := p.Pictures()[p.Figures()-1]
		_, err = os.Stat(filepath.Join(out, FiguresDir, last+".svg"))
		if says := bytes.Contains(html, []byte(`with it: <a href="report/`+last+`.svg">`)); err != nil ||
			says != (linked > 0) {
			t.Errorf("of %d bytes at most: the page says that %s is a file: %t, %v", most, last, says, err)
		}
	}
}

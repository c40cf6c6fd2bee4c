package main

import (
	"strings"
	"testing"
	"time"
)

// Of a package that fails it prints what its tests printed that did not pass, and of others the result alone.
func TestReport(t *testing.T) {
	const lines = `{"ImportPath":"m/broken","Action":"build-output","Output":"a_test.go:3:27: undefined: x\n"}
{"ImportPath":"m/broken","Action":"build-fail"}
{"Action":"start","Package":"m/good"}
{"Action":"start","Package":"m/bad"}
{"Action":"run","Package":"m/bad","Test":"TestA"}
{"Action":"output","Package":"m/bad","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"m/bad","Test":"TestA","Output":"all is well\n"}
{"Action":"pass","Package":"m/bad","Test":"TestA"}
{"Action":"run","Package":"m/bad","Test":"TestB"}
{"Action":"run","Package":"m/bad","Test":"TestB/one"}
{"Action":"run","Package":"m/bad","Test":"TestB/two"}
{"Action":"pause","Package":"m/bad","Test":"TestB/two"}
{"Action":"output","Package":"m/good","Output":"PASS\n"}
{"Action":"output","Package":"m/good","Output":"ok  \tm/good\t0.002s\n"}
{"Action":"run","Package":"m/good","Test":"TestC"}
{"Action":"output","Package":"m/good","Test":"TestC","Output":"    c_test.go:7: make soak runs it\n"}
{"Action":"output","Package":"m/good","Test":"TestC","Output":"--- SKIP: TestC (0.00s)\n"}
{"Action":"skip","Package":"m/good","Test":"TestC"}
{"Action":"output","Package":"m/good","Test":"TestD/one","Output":"    d_test.go:7: make soak runs it\n"}
{"Action":"skip","Package":"m/good","Test":"TestD/one"}
{"Action":"output","Package":"m/good","Test":"TestD/two","Output":"    d_test.go:7: make soak runs it\n"}
{"Action":"skip","Package":"m/good","Test":"TestD/two"}
{"Action":"pass","Package":"m/good","Elapsed":1.5}
?{"Action":"output","Package":"m/bad","Test":"TestB/one","Output":"    no good\n"}
{"Action":"fail","Package":"m/bad","Test":"TestB/one"}
{"Action":"output","Package":"m/bad","Test":"TestB/two","Output":"panic: oh\n"}
{"Action":"output","Package":"m/bad","Output":"FAIL\tm/bad\t0.004s\n"}
{"Action":"fail","Package":"m/bad"}
`
	var b strings.Builder
	r := report{out: &b}
	for line := range strings.Lines(lines) {
		if line, ok := strings.CutPrefix(line, "?"); ok {
			b.WriteString(r.progress() + "\n")
			r.take(line)
			continue
		}
		r.take(line)
	}
	const want = `a_test.go:3:27: undefined: x
ok  	m/good	0.002s
m/bad: 1 done, running TestB/one
    no good
panic: oh
FAIL	m/bad	0.004s
`
	if b.String() != want {
		t.Errorf("it prints\n%s\nand not\n%s", b.String(), want)
	}
	b.Reset()
	r.over[0].cpu = 2 * time.Second
	r.printTimes(3 * time.Second)
	r.printSkipped()
	const end = `
package                                took      CPU
m/good                                1.5 s    2.0 s
all, with what was built              3.0 s    2.0 s
skipped, since make soak runs it:
  m/good TestC
  m/good TestD: 2 cases
`
	if b.String() != end {
		t.Errorf("at the end it prints\n%s\nand not\n%s", b.String(), end)
	}
	if r.progress() != "building" {
		t.Errorf("before tests run, it says that it is %s", r.progress())
	}
}

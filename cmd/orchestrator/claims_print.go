package main

import (
	"fmt"
	"io"
	"strings"

	"turnstile/bench/claims"
	"turnstile/internal/english"
	"turnstile/internal/terminal"
)

// claimsWidth is how wide the text about a claim is.
const claimsWidth = 100

// printClaimed prints a claim, what its text says, what came of its calls, and what was seen.
func (a *app) printClaimed(c *claimsCall, m *claimed) {
	colors := terminal.PaletteFor(a.stdout)
	wrapped(a.stdout, colors.Paint(terminal.Bold, fmt.Sprintf("%-4s", m.ID)), m.Says)
	wrapped(a.stdout, "  the text says  ", m.Text)
	if ran, _ := m.ran(); ran > 0 || len(m.calls) == 0 {
		wrapped(a.stdout, "  verdict        ", paintVerdict(colors, m.Claim)+mendedBy(m.Claim))
	} else {
		wrapped(a.stdout, "  not shown here ", "no call could be made that shows it")
	}
	for _, call := range m.calls {
		printCall(a.stdout, colors, c, &call)
	}
	for _, rule := range m.Rules() {
		wrapped(a.stdout, "  changed rule   ", fmt.Sprintf("%s: %s", rule.Changed, rule.Ends))
	}
	ran, wrong := m.ran()
	if m.Seen != "" && !wrong && (ran > 0 || len(m.calls) == 0) {
		label := "  seen           "
		if c.real && ran > 0 {
			label = "  seen simulated "
		}
		wrapped(a.stdout, label, m.Seen)
	}
	if m.Lacks != "" {
		wrapped(a.stdout, "  not shown      ", m.Lacks)
	}
	if c.verbose || len(m.calls) == 0 {
		for _, cell := range m.Held {
			fmt.Fprintf(a.stdout, "  test           %s\n", claims.Spans(cell)[0])
		}
	}
	fmt.Fprintln(a.stdout)
}

// paintVerdict returns the verdict on a claim, in its colour.
func paintVerdict(colors terminal.Palette, c *claims.Claim) string {
	says := strings.ToUpper(verdictOf(c))
	switch c.Verdict {
	case claims.Holds:
		return colors.Paint(terminal.Green, says)
	case claims.Wrong:
		return colors.Paint(terminal.Red, says)
	}
	return colors.Paint(terminal.Yellow, says)
}

// mendedBy says what mends a claim that is wrong, or when one holds that does so in part.
func mendedBy(c *claims.Claim) string {
	switch {
	case c.Verdict == claims.Wrong:
		return ": mended by this: " + c.Mends
	case c.Mends != "":
		return ": " + c.Mends
	}
	return ""
}

// printCall prints a call and the lines of it that decide.
func printCall(out io.Writer, colors terminal.Palette, c *claimsCall, call *claimCall) {
	fmt.Fprintf(out, "  $ %s\n", typed(call.args))
	switch {
	case call.skipped != "":
		wrapped(out, "      shows nothing: ", call.skipped)
	case call.wrong != nil:
		said, _, _ := strings.Cut(call.wrong.Error(), "\n")
		fmt.Fprintf(out, "      %s %s\n", colors.Paint(terminal.Red, "NOT AS SAID:"), said)
		indented(out, strings.Split(strings.TrimSpace(call.printed), "\n"))
	case c.verbose:
		indented(out, strings.Split(strings.TrimSpace(call.printed), "\n"))
	default:
		indented(out, call.lines)
	}
}

// indented prints the lines of a call.
func indented(out io.Writer, lines []string) {
	for _, line := range lines {
		fmt.Fprintln(out, strings.TrimRight("      "+line, " "))
	}
}

// wrapped prints a text behind its label, in as many lines as it takes.
func wrapped(out io.Writer, label, text string) {
	indent := strings.Repeat(" ", len(label))
	if strings.HasPrefix(label, "\x1b") {
		indent = strings.Repeat(" ", len("J27 "))
	}
	for _, line := range english.Wrap(text, claimsWidth-len(indent)) {
		fmt.Fprintf(out, "%s %s\n", strings.TrimSuffix(label, " "), line)
		label = indent
	}
}

package commands

import "turnstile/algorithms/catalog"

// The groups in which the help of the program lists commands.
const (
	makesRun     = "A run:"
	makesMany    = "Many runs:"
	readsStored  = "Stored runs:"
	saysWhatIs   = "What there is:"
	hiddenInHelp = "" // commands that are started by runs
)

// Commands returns all commands, in the order in which help lists them. The commands about stored runs are
// subcommands of runs; the common ones are also commands of the program.
func Commands(table catalog.Table) []Command {
	k := known{table}
	show, verify := showCommand(k), verifyCommand(k)
	report, diagram, compare := reportCommand(k), diagramCommand(k), compareCommand(k)
	runs, hosts := runsCommand(k), hostsCommand()
	runs.Below = []Command{listOf(runs, "list [SET]"), show, verify, report, diagram, compare,
		historyCommand(), exportCommand(k), publishCommand(k), cleanCommand()}
	hosts.Below = []Command{listOf(hosts, "list"), joinCommand(), controlCommand(), keysCommand()}
	var all []Command
	for _, group := range []struct {
		name string
		of   []Command
	}{
		{makesRun, []Command{benchCommand(k), electCommand(k), simulateCommand(k), exploreCommand(k),
			playCommand(k), injectCommand()}},
		{makesMany, []Command{sweepCommand(k), matrixCommand(k), chaosCommand(k), splitBrainCommand(k),
			tryCommand(k), validateCommand(k), claimsCommand()}},
		{readsStored, []Command{runs, show, verify, report, diagram, compare}},
		{saysWhatIs, []Command{listCommand(k), plansCommand(k), hosts}},
		{hiddenInHelp, []Command{brokerCommand(), proxyCommand(), resourceCommand(), serviceCommand()}},
	} {
		for _, c := range group.of {
			c.Group = group.name
			c.Ends = c.Ends || group.name == makesRun || group.name == makesMany
			all = append(all, c)
		}
	}
	return all
}

// listOf returns a copy of a command under another name. As a subcommand, the copy does the same as the
// command: hosts list is hosts.
func listOf(c Command, name string) Command {
	c.Name = name
	return c
}

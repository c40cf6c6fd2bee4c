package option

// spare is an option of runs.
var spare = &Option{Name: "spare", Group: Running, For: Exclusion, Usage: "how many are spare",
	Of:      func(r *Run) any { return &r.Workload.Campaigns },
	Columns: []Column{{Name: "spare", Unit: "pieces", Is: "how many were spare"}}}

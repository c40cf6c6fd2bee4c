package play

import (
	"embed"
	"strings"

	"turnstile/nodes/replay"
)

// sceneFiles has the scenes for a lecture: schedules with notes, which say what to look at and ask questions.
//
//go:embed scenes/*.txt
var sceneFiles embed.FS

// Scenes are the names of the scenes, in the order of docs/teaching.md.
var Scenes = []string{"lost-update", "everybody-permits", "lamport-queue", "stale-reply",
	"stale-reply-tagged", "deadlock", "deadlock-mended", "lost-token", "raymonds-tree", "two-leaders",
	"stale-vote", "paused-holder", "paused-holder-fenced"}

// Scene returns the schedule of a scene by its name, if there is such a scene.
func Scene(name string) (text string, found bool) {
	all, err := sceneFiles.ReadFile("scenes/" + name + ".txt")
	return string(all), err == nil
}

// readScenes reads all scenes.
func readScenes() (all []Story, err error) {
	for _, name := range Scenes {
		text, _ := Scene(name)
		schedule, err := replay.Parse(strings.NewReader(text), table.Find)
		if err != nil {
			return nil, err
		}
		all = append(all, Story{Path: name, Algorithm: schedule.Spec.Name, Title: titleIn(text), Scene: true,
			text: text})
	}
	return all, nil
}

// Package needs_test tests what `make run` says of missing tools.
package needs_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs the script where only some tools exist, which say what is given.
func run(t *testing.T, says map[string]string, env ...string) (string, error) {
	t.Helper()
	bin := t.TempDir()
	for _, tool := range []string{"bash", "sed", "sort", "head", "ls"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	for tool, said := range says {
		script := "#!" + filepath.Join(bin, "bash") + "\necho '" + said + "' >&2\necho '" + said + "'\n"
		if err := os.WriteFile(filepath.Join(bin, tool), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs("needs.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(bin, "bash"), script, "1.26.5")
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=" + bin}, env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	whole := map[string]string{"go": "go1.26.5", "java": `openjdk version "17.0.9"`, "mvn": "", "node": "v20.19.0", "npm": ""}
	without := func(tool, said string) map[string]string {
		all := map[string]string{}
		for name, says := range whole {
			all[name] = says
		}
		if delete(all, tool); said != "" {
			all[tool] = said
		}
		return all
	}
	const least = 9
	cases := map[string]struct {
		tools map[string]string
		env   string
		stops bool
		want  string
	}{
		"everything is there":                 {tools: whole, want: "building"},
		"without Go":                          {tools: without("go", ""), stops: true, want: "Go 1.26.5"},
		"with an old Go":                      {tools: without("go", "go1.20"), stops: true, want: "not 1.20"},
		"without Java":                        {tools: without("java", ""), stops: true, want: "Java 17"},
		"with an old Java":                    {tools: without("java", `java version "11.0.2"`), stops: true, want: "not 11"},
		"with an old Java and another engine": {tools: without("java", `java version "11.0.2"`), env: "DYNAMODB_ENDPOINT=http://127.0.0.1:1", want: "building"},
		"without Maven":                       {tools: without("mvn", ""), stops: true, want: "Maven"},
		"without Node.js":                     {tools: without("node", ""), want: "except the console"},
		"with an old Node.js":                 {tools: without("node", "v18.2.0"), want: "not 18.2.0"},
	}
	if len(cases) < least {
		t.Errorf("%d cases", len(cases))
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := run(t, c.tools, c.env)
			if (err != nil) != c.stops || !strings.Contains(out, c.want) {
				t.Errorf("%v, want %q\n%s", err, c.want, out)
			}
			if c.stops && !strings.Contains(out, "https://") {
				t.Errorf("it does not say how to install that\n%s", out)
			}
		})
	}
}

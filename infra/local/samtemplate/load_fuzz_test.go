package samtemplate_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// FuzzParse checks that any input is parsed or refused, without a panic.
func FuzzParse(f *testing.F) {
	whole, err := os.ReadFile(filepath.Join("..", "..", "..", "template.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	for _, seed := range []string{
		"Transform: AWS::Serverless-2016-10-31\nResources:\n  F:\n    Type: AWS::Serverless::Function\n    Properties: {Handler: b, Runtime: provided.al2023, CodeUri: .}\n",
		"Resources: {T: {Type: AWS::DynamoDB::Table, Properties: {TableName: !Ref P}}}\nParameters: {P: {Type: String, Default: x}}\n",
		"Resources: {A: {Type: X, Properties: {V: !Sub '${A}${B.Arn}', W: !If [C, 1, !GetAtt A.Arn]}}}\nConditions: {C: !Not [!Equals [1, 2]]}\n",
		"Resources: &r {a: *r}", "a: &a [*a]", "{}", "[]", "Resources: {A: !Ref A}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		template, err := samtemplate.Parse(text, samtemplate.Options{Parameters: map[string]string{"JwtIssuer": "https://i", "JwtAudience": "a"}})
		if (template == nil) == (err == nil) {
			t.Errorf("got %v and %v", template, err)
		}
	})
}

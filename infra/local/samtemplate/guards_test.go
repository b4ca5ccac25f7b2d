package samtemplate_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/local/repo"
	"github.com/rethread/rethread/infra/local/samtemplate"
)

// TestSigningKeysAreGuarded checks template.yaml: no function can read the keys that
// sign notifications (the partition SIGN), the webhooks' secrets (HS#…) or the
// credentials of push notifications (NS#…) but those that need them.
func TestSigningKeysAreGuarded(t *testing.T) {
	root, err := repo.Root("")
	if err != nil {
		t.Fatal(err)
	}
	got, err := samtemplate.Load(filepath.Join(root, "template.yaml"), samtemplate.Options{Parameters: map[string]string{
		"JwtIssuer": "https://issuer.example", "JwtAudience": "rethread",
	}})
	if err != nil {
		t.Fatal(err)
	}
	readers := map[string][]string{}
	for _, f := range got.Functions {
		for _, partition := range []string{"SIGN", "HS#*", "NS#*"} {
			if opens(f.Permissions, partition) {
				readers[f.LogicalID] = append(readers[f.LogicalID], partition)
			}
		}
	}
	want := map[string][]string{
		"A2AFunction":      {"SIGN", "NS#*"}, // publishes the public keys; stores push configurations
		"DeliverFunction":  {"SIGN", "HS#*", "NS#*"},
		"WebhooksFunction": {"HS#*"},
		"ErasureFunction":  {"HS#*"}, // deletes a user's webhooks
		"SweeperFunction":  {"HS#*"},
	}
	if diff := cmp.Diff(want, readers); diff != "" {
		t.Errorf("functions that can read keys or secrets (-want +got):\n%s", diff)
	}
}

// opens reports whether permissions allow to read a partition of the table.
func opens(all []samtemplate.Permission, partition string) bool {
	allowed := false
	for _, p := range all {
		if !slices.ContainsFunc(p.Resources, func(r string) bool { return r == "*" || strings.HasSuffix(r, "table/Table") }) {
			continue
		}
		keys, limited := leadingKeys(p)
		covers := !limited || slices.Contains(keys, partition)
		if p.Deny && covers {
			return false
		}
		reads := slices.ContainsFunc(p.Actions, func(a string) bool {
			return slices.Contains([]string{"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:*"}, a)
		})
		allowed = allowed || !p.Deny && covers && reads
	}
	return allowed
}

// leadingKeys returns the partitions that a statement is limited to, and whether it is
// limited.
func leadingKeys(p samtemplate.Permission) (keys []string, limited bool) {
	for _, c := range p.Conditions {
		keys = append(keys, c.Values...)
	}
	return keys, len(p.Conditions) > 0
}

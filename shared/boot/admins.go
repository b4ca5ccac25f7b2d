package boot

import (
	"cmp"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/client/tokens"
)

// Environment variables that say whose tokens make admins: the word of a scope, and a
// claim with its value (name=value). Both may be empty.
const (
	adminVariable      = "ADMIN_SCOPE"
	adminClaimVariable = "ADMIN_CLAIM"
)

// claimWord stands for the claim in a scope if the deployment has no scope for admins.
const claimWord = "rethread:admin-by-claim"

// adminScope returns the word that admins have in their scope once Admins.Scope has
// read their token; "" if there are no admins.
func adminScope() string {
	if os.Getenv(adminClaimVariable) == "" {
		return os.Getenv(adminVariable)
	}
	return cmp.Or(os.Getenv(adminVariable), claimWord)
}

// Admins finds the admins whose tokens have a claim instead of a scope, which some
// identity providers grant to whole clients.
type Admins struct{ word, claim, value string }

// NewAdmins reads the environment variable ADMIN_CLAIM.
func NewAdmins() Admins {
	claim, value, _ := strings.Cut(os.Getenv(adminClaimVariable), "=")
	return Admins{word: adminScope(), claim: claim, value: value}
}

// Scope returns the scope of a verified token, with the word for admins if the token has
// the claim. If the deployment names no claim, the scope is as the token has it.
func (a Admins) Scope(scope string, claims func() map[string]any) string {
	if a.claim == "" {
		return scope
	}
	words := strings.Fields(scope)
	if a.word == claimWord { // no token can claim it by its scope
		words = slices.DeleteFunc(words, func(w string) bool { return w == claimWord })
	}
	if tokens.HasClaim(claims(), a.claim, a.value) {
		words = append(words, a.word)
	}
	return strings.Join(words, " ")
}

// claimsOf reads the claims of the token in a request, which the gateway has verified.
func claimsOf(headers map[string]string) map[string]any {
	header := http.Header{}
	for name, value := range headers {
		header.Set(name, value)
	}
	token, err := tokens.Carried(header, nil)
	if err != nil {
		return nil
	}
	return tokens.Claims(token)
}

package adk_test

import (
	"testing"

	adksession "google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/session/sessiontestsuite"
)

// ADK's own test suite for session services.
func TestADKSuite(t *testing.T) {
	t.Parallel()
	options := sessiontestsuite.SuiteOptions{SupportsUserProvidedSessionID: true}
	sessiontestsuite.RunServiceTests(t, options, func(t *testing.T) adksession.Service {
		t.Helper()
		return newSystem(t).Sessions
	})
}

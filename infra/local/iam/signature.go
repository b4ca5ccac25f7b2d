package iam

import (
	"encoding/json"
	"net/http"
	"strings"
)

// caller is the identity in a request's signature.
type caller struct{ key, service string }

// callerOf parses the credential of a version 4 signature:
// key/date/region/service/aws4_request.
func callerOf(r *http.Request) (caller, bool) {
	signature, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ")
	if !ok {
		return caller{}, false
	}
	for part := range strings.SplitSeq(signature, ",") {
		credential, ok := strings.CutPrefix(strings.TrimSpace(part), "Credential=")
		if scope := strings.Split(credential, "/"); ok && len(scope) == 5 {
			return caller{scope[0], scope[3]}, true
		}
	}
	return caller{}, false
}

// signAs replaces the access key in a request's signature, which is not valid then.
func signAs(r *http.Request, accessKey string) {
	from, ok := callerOf(r)
	if !ok {
		return
	}
	signature := r.Header.Get("Authorization")
	r.Header.Set("Authorization", strings.Replace(signature, "Credential="+from.key+"/", "Credential="+accessKey+"/", 1))
}

// answerDenied writes an error that the SDK client of every service understands.
func answerDenied(rw http.ResponseWriter, service, message string) {
	const kind = "AccessDeniedException"
	status := http.StatusForbidden
	if service == dynamodb {
		status = http.StatusBadRequest
	}
	rw.Header().Set("Content-Type", "application/x-amz-json-1.0")
	rw.Header().Set("X-Amzn-Errortype", kind)
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(map[string]string{ // the caller may have disconnected
		"__type": "com.amazon.coral.service#" + kind, "Message": message,
	})
}

package iam

import (
	"encoding/json"
	"net/http"
	"strings"
)

// caller is what a request's signature says of it.
type caller struct{ key, service string }

// signer reads the credential of a version 4 signature, which is
// key/date/region/service/aws4_request.
func signer(r *http.Request) (caller, bool) {
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

// signAs puts another access key into a request's signature, which is no longer valid.
func signAs(r *http.Request, accessKey string) {
	from, ok := signer(r)
	if !ok {
		return
	}
	signature := r.Header.Get("Authorization")
	r.Header.Set("Authorization", strings.Replace(signature, "Credential="+from.key+"/", "Credential="+accessKey+"/", 1))
}

// answerDenied is an error that every SDK's client reads as its service's own.
func answerDenied(rw http.ResponseWriter, service, message string) {
	const kind = "AccessDeniedException"
	status := http.StatusForbidden
	if service == dynamodb {
		status = http.StatusBadRequest
	}
	rw.Header().Set("Content-Type", "application/x-amz-json-1.0")
	rw.Header().Set("X-Amzn-Errortype", kind)
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(map[string]string{ // a caller that is gone needs no answer
		"__type": "com.amazon.coral.service#" + kind, "Message": message,
	})
}

package sessions

// Continued says how often a run has been continued. It names the run, so that it
// means nothing for another one.
type Continued struct {
	Run    string `dynamodbav:"r"`
	Number int    `dynamodbav:"n"`
}

package rethread

// Task is an interaction as a user interface showed it.
type Task struct {
	TaskID         string         `json:"task_id"`
	SessionID      string         `json:"session_id,omitempty"` // only of Tasks.Get
	UserMessage    *string        `json:"user_message"`
	MessageBubbles []Bubble       `json:"message_bubbles"`
	TaskMetadata   map[string]any `json:"task_metadata"`
	CreatedTime    Time           `json:"created_time"`
	UpdatedTime    Time           `json:"updated_time"`
}

// TaskSave is a task to create or replace.
type TaskSave struct {
	TaskID         string         `json:"task_id"`
	UserMessage    *string        `json:"user_message,omitempty"`
	MessageBubbles []Bubble       `json:"message_bubbles"`
	TaskMetadata   map[string]any `json:"task_metadata,omitempty"`
}

// TaskSaved holds the ids and times of a saved task.
type TaskSaved struct {
	TaskID      string `json:"task_id"`
	SessionID   string `json:"session_id"`
	CreatedTime Time   `json:"created_time"`
	UpdatedTime Time   `json:"updated_time"`
}

// Bubble is one element of the chat window.
type Bubble struct {
	ID                   string                `json:"id"`
	Type                 string                `json:"type"` // user, agent or artifact_notification
	Text                 string                `json:"text,omitempty"`
	Parts                []any                 `json:"parts,omitempty"`
	Files                []any                 `json:"files,omitempty"`
	UploadedFiles        []any                 `json:"uploadedFiles,omitempty"`
	ArtifactNotification *ArtifactNotification `json:"artifactNotification,omitempty"`
	IsError              bool                  `json:"isError,omitempty"`
	IsStatusBubble       bool                  `json:"isStatusBubble,omitempty"` // must be false
	More                 More                  `json:"-"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *Bubble) UnmarshalJSON(raw []byte) error {
	type plain Bubble
	return decodeMore(raw, (*plain)(b), &b.More)
}

// MarshalJSON implements json.Marshaler.
func (b Bubble) MarshalJSON() ([]byte, error) {
	type plain Bubble
	return encodeMore(plain(b), b.More)
}

// ArtifactNotification names an artifact that was created.
type ArtifactNotification struct {
	Name    string `json:"name,omitempty"`
	Version int64  `json:"version,omitempty"`
}

// Message is one bubble of a task.
type Message struct {
	ID          string `json:"id"`
	SessionID   string `json:"session_id"`
	Message     string `json:"message"`
	SenderType  string `json:"sender_type"` // user, agent or artifact_notification
	CreatedTime Time   `json:"created_time"`
}

// FeedbackRequest is a user's opinion of a task. Type is up or down.
type FeedbackRequest struct {
	TaskID    string `json:"taskId"`
	Type      string `json:"feedbackType"`
	Text      string `json:"feedbackText,omitempty"`
	SessionID string `json:"sessionId,omitempty"`
}

// FeedbackAccepted is the answer to feedback.
type FeedbackAccepted struct {
	Status     string `json:"status"`
	FeedbackID string `json:"feedback_id"`
}

// Feedback is stored feedback.
type Feedback struct {
	TaskID      string `json:"task_id"`
	SessionID   string `json:"session_id"` // "" if none was given
	Type        string `json:"type"`       // up or down
	Text        string `json:"text"`
	CreatedTime Time   `json:"created_time"`
}

// ArtifactVersion is a version of a file.
type ArtifactVersion struct {
	Name        string `json:"name"`
	Version     int64  `json:"version"` // from 0
	MIMEType    string `json:"mime_type"`
	Size        int64  `json:"size"` // bytes
	CreatedTime Time   `json:"created_time"`
	Reference   string `json:"reference,omitempty"` // the version that this one refers to
}

package e2e_test

// saleTask is the interaction of a person who had sales data analyzed, with an
// upload, an answer in parts, a file, an artifact and feedback.
const saleTask = `{
  "task_id": "gdk-task-abc123",
  "user_message": "Can you analyze this sales data?",
  "message_bubbles": [
    {
      "id": "msg-user-001",
      "type": "user",
      "text": "Can you analyze this sales data?",
      "uploadedFiles": [
        {"name": "sales_q4.csv", "type": "text/csv"}
      ]
    },
    {
      "id": "msg-agent-001",
      "type": "agent",
      "text": "I'll analyze the sales data for you. Let me process the CSV file...",
      "parts": [
        {"kind": "text", "text": "I'll analyze the sales data for you. Let me process the CSV file..."}
      ]
    },
    {
      "id": "msg-agent-002",
      "type": "agent",
      "text": "Here's my analysis:\n\n- Total revenue: $1.2M\n- Top product: Widget A\n- Growth: +15% YoY",
      "parts": [
        {"kind": "text", "text": "Here's my analysis:\n\n- Total revenue: $1.2M\n- Top product: Widget A\n- Growth: +15% YoY"}
      ],
      "files": [
        {
          "name": "analysis_report.pdf",
          "mime_type": "application/pdf",
          "content": "JVBERi0xLjQKJeLjz9MK..."
        }
      ]
    },
    {
      "id": "msg-artifact-001",
      "type": "artifact_notification",
      "artifactNotification": {
        "name": "sales_analysis_q4.pdf",
        "version": 1
      }
    }
  ],
  "task_metadata": {
    "status": "completed",
    "feedback": {
      "type": "up",
      "text": "Very helpful analysis!",
      "submitted": true
    },
    "agent_name": "data_analyst",
    "duration_ms": 8420
  }
}`

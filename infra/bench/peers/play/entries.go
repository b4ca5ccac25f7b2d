package play

import (
	"context"
	"path/filepath"

	"github.com/rethread/rethread/infra/bench/peers/record"
)

// Entries are the peers, in the order of the tables.
func Entries() []Entry {
	return []Entry{
		{
			Key: "rethread", Name: "Rethread, whole HTTP requests", Short: "Rethread, HTTP", Packages: own, Start: startHTTP, Timed: true,
			How: record.How{
				Write:  "`POST …/events`, one batch a turn, with ids that make it safe to resend",
				Load:   "`GET …/thread`, pages of 1,000",
				Rewind: "`POST …/rewind`", Fork: "`POST …/fork`",
				Stream: "`POST …/runs`: the worker stores at its default pace",
			},
		},
		{
			Key: "rethread-store", Name: "Rethread, at the store", Short: "Rethread, store", Packages: own, Start: startStore,
			How: record.How{
				Write:  "`Append`, one batch a turn, with ids that make it safe to resend",
				Load:   "`Events`, pages of 1,000",
				Rewind: "`Rewind`", Fork: "`Fork`",
				Stream: "`Flush` every 250 ms",
			},
		},
		saved("rethread-langgraph", record.RethreadSaver+byDefault, "RethreadSaver",
			"`graph.invoke`, durability `async`", writesByDefault),
		python("langgraph", record.DynamoDBSaver+byDefault, "DynamoDBSaver", shared, howLangGraph(
			"`graph.invoke`, durability `async`; no S3 bucket, into which it can put checkpoints over 350 KB"),
			[]string{"langgraph", "langgraph-checkpoint-aws"}, "langgraph_saver.py"),
		saved("rethread-langgraph-best", record.RethreadSaver+atBest, "RethreadSaver, exit",
			"`graph.invoke`, durability `exit`", writesAtExit, "best"),
		python("langgraph-best", record.DynamoDBSaver+atBest, "DynamoDBSaver, exit", shared, howLangGraph(
			"`graph.invoke`, durability `exit`, compressed checkpoints; no S3 bucket"),
			[]string{"langgraph", "langgraph-checkpoint-aws"}, "langgraph_saver.py", "best"),
		python("langchain", "LangChain, DynamoDBChatMessageHistory", "LangChain", shared, record.How{
			Write:  "`add_messages`, both messages of a turn",
			Load:   "`messages`",
			Rewind: "no function: `clear`, then `add_messages` of the rest",
			Fork:   "no function: `add_messages` of the rest to another history",
			Stream: "no update of a message: each part is added as a chunk, joined when loaded",
		}, []string{"langchain-community", "langchain-core"}, "langchain_history.py"),
		python("llamaindex", "LlamaIndex, DynamoDBChatStore", "LlamaIndex", ofLlamaIndex, record.How{
			Write:  "`add_message`, twice a turn, as its memory does",
			Load:   "`get_messages`",
			Rewind: "`delete_last_message`, twice",
			Fork:   "no function: `set_messages` of the rest under another key",
			Stream: "no update of a message: `set_messages` with all messages",
		}, []string{"llama-index-core", "llama-index-storage-chat-store-dynamodb"}, "llamaindex_chat.py"),
		python("strands", "Strands Agents, strands-session-dynamodb", "Strands", shared, record.How{
			Write:  "an agent with a session manager, called once a turn, all in one process",
			Load:   "a new agent, which restores its messages",
			Rewind: "no function: the items of two messages are deleted with its storage class",
			Fork:   "no function: a new session's agent, given the messages of the other",
			Stream: "not by its agent: `create_message`, then `update_message` for each part",
		}, []string{"strands-agents", "strands-session-dynamodb"}, "strands_sessions.py"),
		{
			Key: "mastra", Name: "Mastra, DynamoDBStore", Short: "Mastra", Packages: packagesOfNode, Start: startMastra,
			How: record.How{
				Write:  "`saveMessages`, both messages of a turn; they have their text twice, as Mastra's `MessageList` makes them",
				Load:   "`listMessages` of all, which reads a single page, of at most 1 MB",
				Rewind: "`deleteMessages` of the two, after `listMessages` for their ids",
				Fork:   "no function: `saveThread`, `saveMessages` of all with new ids",
				Stream: "`saveMessages` of the same message, longer each time",
			},
		},
	}
}

// How LangGraph's savers are used.
const (
	byDefault = "as it is by default"
	atBest    = "at its best"
)

// RethreadSaver is to need at most 2,000 write units for 100 turns with all checkpoints, and
// 500 with the last one of each turn.
const (
	writesByDefault = 20
	writesAtExit    = 5
)

func saved(key, name, short, write string, most float64, args ...string) Entry {
	how := howLangGraph(write)
	how.Fork = "`GET …/thread` for the newest invocation, then `POST …/fork`: a fork of the session is a thread"
	return Entry{Key: key, Name: name, Short: short, How: how, MaxWrites: most, Packages: ownWith(shared, "langgraph"), Start: startSaver(key, args...)}
}

func howLangGraph(write string) record.How {
	return record.How{
		Write:  write,
		Load:   "`get_state` with a new saver",
		Rewind: "`get_state_history` with a new saver, then `update_state` at the checkpoint before the turn",
		Fork:   "no function: `get_state_history`, then `update_state` of another thread",
		Stream: "not by its graph: `update_state` of the same message, longer each time",
	}
}

func python(key, name, short, environment string, how record.How, packages []string, args ...string) Entry {
	return Entry{
		Key: key, Name: name, Short: short, How: how, Packages: pinnedIn(environment, packages...),
		Start: func(ctx context.Context, b Bench) (Peer, error) {
			return startLibrary(ctx, b, key, "python", interpreter(b, environment), args...)
		},
	}
}

// What the names of Python's environments end with, and those of their lists of packages.
const (
	shared       = ""
	ofLlamaIndex = "-llamaindex" // it needs an older boto3
)

// interpreter returns the Python of one of the benchmark's environments.
func interpreter(b Bench, environment string) string {
	return filepath.Join(b.Root, Folder, "python", ".venv"+environment, "bin", "python")
}

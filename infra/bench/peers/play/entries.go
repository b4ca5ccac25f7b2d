package play

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rethread/rethread/infra/bench/peers/record"
)

// Entries are the peers, in the order of the tables.
func Entries() []Entry {
	return []Entry{
		{
			Key: "rethread", Name: "Rethread, whole HTTP requests", Short: "Rethread, HTTP", Packages: own, Start: startSystem, Timed: true,
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
		python("langgraph", "LangGraph, DynamoDBSaver, as it is by default", "LangGraph, default", "langgraph", howLangGraph(
			"`graph.invoke`, durability `async`; no S3 bucket, into which it can put checkpoints over 350 KB"), []string{"langgraph", "langgraph-checkpoint-aws"}, "langgraph_saver.py"),
		python("langgraph-best", "LangGraph, DynamoDBSaver, at its best", "LangGraph, best", "langgraph", howLangGraph(
			"`graph.invoke`, durability `exit`, compressed checkpoints; no S3 bucket"), []string{"langgraph", "langgraph-checkpoint-aws"}, "langgraph_saver.py", "best"),
		python("langchain", "LangChain, DynamoDBChatMessageHistory", "LangChain", "langchain", record.How{
			Write:  "`add_messages`, both messages of a turn",
			Load:   "`messages`",
			Rewind: "no function: `clear`, then `add_messages` of the rest",
			Fork:   "no function: `add_messages` of the rest to another history",
			Stream: "no update of a message: each part is added as a chunk, joined when loaded",
		}, []string{"langchain-community", "langchain-core"}, "langchain_history.py"),
		python("llamaindex", "LlamaIndex, DynamoDBChatStore", "LlamaIndex", "llamaindex", record.How{
			Write:  "`add_message`, twice a turn, as its memory does",
			Load:   "`get_messages`",
			Rewind: "`delete_last_message`, twice",
			Fork:   "no function: `set_messages` of the rest under another key",
			Stream: "no update of a message: `set_messages` with all messages",
		}, []string{"llama-index-core", "llama-index-storage-chat-store-dynamodb"}, "llamaindex_chat.py"),
		python("strands", "Strands Agents, strands-session-dynamodb", "Strands", "strands", record.How{
			Write:  "an agent with a session manager, called once a turn, all in one process",
			Load:   "a new agent, which restores its messages",
			Rewind: "no function: the items of two messages are deleted with its storage class",
			Fork:   "no function: a new session's agent, given the messages of the other",
			Stream: "not by its agent: `create_message`, then `update_message` for each part",
		}, []string{"strands-agents", "strands-session-dynamodb"}, "strands_sessions.py"),
		{
			Key: "mastra", Name: "Mastra, DynamoDBStore", Short: "Mastra", Packages: packagesOfNode, Start: startMastra,
			How: record.How{
				Write:  "`saveMessages`, both messages of a turn",
				Load:   "`listMessages` of all",
				Rewind: "`deleteMessages` of the two, after `listMessages` for their ids",
				Fork:   "no function: `saveThread`, `saveMessages` of all with new ids",
				Stream: "`saveMessages` of the same message, longer each time",
			},
		},
	}
}

func howLangGraph(write string) record.How {
	return record.How{
		Write:  write,
		Load:   "`get_state`",
		Rewind: "`get_state_history`, then `update_state` at the checkpoint before the turn",
		Fork:   "no function: `get_state_history`, then `update_state` of another thread",
		Stream: "not by its graph: `update_state` of the same message, longer each time",
	}
}

func python(key, name, short, environment string, how record.How, packages []string, args ...string) Entry {
	return Entry{
		Key: key, Name: name, Short: short, How: how,
		Packages: func(root string) ([]string, error) {
			return pinned(filepath.Join(root, Folder, "python", "requirements-"+environment+".txt"), packages)
		},
		Start: func(ctx context.Context, b Bench) (Peer, error) {
			interpreter := filepath.Join(b.Root, Folder, "python", ".venv-"+environment, "bin", "python")
			return startProgram(ctx, b, key, "python", interpreter, args...)
		},
	}
}

// own returns no packages: Rethread is what the benchmark is part of.
func own(string) ([]string, error) { return []string{"this repository"}, nil }

var errUnpinned = errors.New("it is not pinned")

// pinned returns the lines of a requirements file for some packages.
func pinned(file string, packages []string) ([]string, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the repository's own
	if err != nil {
		return nil, fmt.Errorf("read the requirements: %w", err)
	}
	var found []string
	for _, name := range packages {
		line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `==\S+$`).FindString(string(text))
		if line == "" {
			return nil, fmt.Errorf("%s in %s: %w", name, filepath.Base(file), errUnpinned)
		}
		found = append(found, line)
	}
	return found, nil
}

// packagesOfNode returns the packages of package.json, without Node.js itself.
func packagesOfNode(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, Folder, "js", "package.json")) //nolint:gosec // the repository's own
	if err != nil {
		return nil, fmt.Errorf("read the packages: %w", err)
	}
	var list struct {
		Dependencies map[string]string `json:"devDependencies"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("read the packages: %w", err)
	}
	var found []string
	for name, version := range list.Dependencies {
		if strings.HasPrefix(name, "@mastra/") {
			found = append(found, name+"=="+version)
		}
	}
	slices.Sort(found)
	return found, nil
}

// startMastra uses the Node.js among the packages where there is one for this machine:
// Mastra wants a newer one than the rest of the repository.
func startMastra(ctx context.Context, b Bench) (Peer, error) {
	found, err := filepath.Glob(filepath.Join(b.Root, Folder, "js", "node_modules", "node-*", "bin", "node"))
	if err != nil {
		return nil, err
	}
	return startProgram(ctx, b, "mastra", "js", append(found, "node")[0], "mastra.mjs")
}

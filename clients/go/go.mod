module github.com/rethread/rethread/clients/go

go 1.26.5

require github.com/coder/websocket v1.8.15

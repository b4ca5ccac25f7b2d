// Package toolbox lists the generators of clients that infra/openapi.yaml works with,
// each with the command that docs/clients.md shows. Versions are pinned beside the
// stories: in go.mod, requirements.txt, package.json and pom.xml.
package toolbox

// Language is the clients that are compiled together.
type Language struct {
	Name    string   // also the folder of the stories
	Bin     string   // the folder of installed programs, seen from the folder of the stories
	Linked  []string // files among the stories that are linked instead of copied
	Check   string   // the command that compiles everything strictly
	Clients []Client
}

// Client is a generator and the story that uses its client. Commands run in a folder
// with the stories, openapi.yaml and openapi-generator-cli.jar.
type Client struct {
	Name     string
	Folder   string // for the generated code
	Generate string
	Story    string
	PinnedIn string // the file with the version, seen from the folder of the languages
	Version  string // a regular expression that finds the version in it
}

const openAPIGenerator = "java -jar openapi-generator-cli.jar generate -i openapi.yaml" +
	" --global-property apiTests=false,modelTests=false,apiDocs=false,modelDocs=false"

// Languages returns all clients.
func Languages() []Language {
	return []Language{
		{
			Name: "go", Check: "go vet ./...",
			Clients: []Client{
				{
					Name: "oapi-codegen", Folder: "oapicodegen/rethread",
					Generate: "go tool oapi-codegen -generate types,client -package rethread" +
						" -o oapicodegen/rethread/client.go openapi.yaml",
					Story:    "go run ./oapicodegen",
					PinnedIn: "go/go.mod", Version: `oapi-codegen/oapi-codegen/v2 v(\S+)`,
				},
				{
					Name: "openapi-generator, Go", Folder: "openapigenerator/rethread",
					Generate: openAPIGenerator + " -g go -o openapigenerator/rethread" +
						" --additional-properties packageName=rethread,withGoMod=false,enumClassPrefix=true" +
						",disallowAdditionalPropertiesIfNotPresent=false",
					Story:    "go run ./openapigenerator",
					PinnedIn: "java/pom.xml", Version: `<artifactId>openapi-generator-cli</artifactId>\s+<version>(.+)</version>`,
				},
			},
		},
		{
			Name: "python", Bin: "../../python/.venv/bin", Check: "ruff check && ruff format --check && mypy",
			Clients: []Client{
				{
					Name: "openapi-generator, Python", Folder: "rethread_openapi_generator",
					Generate: openAPIGenerator + " -g python -o ." +
						" --additional-properties packageName=rethread_openapi_generator" +
						",generateSourceCodeOnly=true,disallowAdditionalPropertiesIfNotPresent=false",
					Story:    "python story_openapi_generator.py",
					PinnedIn: "java/pom.xml", Version: `<artifactId>openapi-generator-cli</artifactId>\s+<version>(.+)</version>`,
				},
				{
					Name: "openapi-python-client", Folder: "rethread_openapi_python_client",
					Generate: "openapi-python-client generate --path openapi.yaml --meta none --overwrite" +
						" --output-path rethread_openapi_python_client --config openapi-python-client.yaml" +
						" --fail-on-warning",
					Story:    "python story_openapi_python_client.py",
					PinnedIn: "../python/requirements.txt", Version: `openapi-python-client==(\S+)`,
				},
			},
		},
		{
			Name: "typescript", Bin: "node_modules/.bin", Linked: []string{"node_modules"}, Check: "tsc",
			Clients: []Client{
				{
					Name: "openapi-generator, TypeScript", Folder: "openapi-generator",
					Generate: openAPIGenerator + " -g typescript-fetch -o openapi-generator" +
						" --additional-properties importFileExtension=.js" +
						",disallowAdditionalPropertiesIfNotPresent=false",
					Story:    "node out/story-openapi-generator.js",
					PinnedIn: "java/pom.xml", Version: `<artifactId>openapi-generator-cli</artifactId>\s+<version>(.+)</version>`,
				},
				{
					Name: "openapi-typescript and openapi-fetch", Folder: "openapi-typescript",
					Generate: "openapi-typescript openapi.yaml -o openapi-typescript/schema.d.ts" +
						" --default-non-nullable=false",
					Story:    "node out/story-openapi-typescript.js",
					PinnedIn: "typescript/package.json", Version: `"openapi-typescript": "(.+)"`,
				},
				{
					Name: "@hey-api/openapi-ts", Folder: "hey-api",
					Generate: "openapi-ts -i openapi.yaml -o hey-api",
					Story:    "node out/story-hey-api.js",
					PinnedIn: "typescript/package.json", Version: `"@hey-api/openapi-ts": "(.+)"`,
				},
			},
		},
	}
}

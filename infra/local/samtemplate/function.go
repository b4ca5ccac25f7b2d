package samtemplate

import (
	"strconv"
	"time"

	"gopkg.in/yaml.v3"
)

// Lambda's defaults of a function.
const (
	defaultTimeoutSeconds = 3
	defaultMemoryMB       = 128
)

type functionProperties struct {
	CodeURI     string `yaml:"CodeUri"`
	Handler     string `yaml:"Handler"`
	Runtime     string `yaml:"Runtime"`
	Timeout     int    `yaml:"Timeout"`
	MemorySize  int    `yaml:"MemorySize"`
	Environment struct {
		Variables map[string]string `yaml:"Variables"`
	} `yaml:"Environment"`
	Reserved *wholeNumber         `yaml:"ReservedConcurrentExecutions"`
	Events   map[string]yaml.Node `yaml:"Events"`
	Logging  struct {
		Format      string `yaml:"LogFormat"`
		Level       string `yaml:"ApplicationLogLevel"`
		SystemLevel string `yaml:"SystemLogLevel"`
		Group       string `yaml:"LogGroup"`
	} `yaml:"LoggingConfig"`
	Async    *asyncProperties `yaml:"EventInvokeConfig"`
	Policies yaml.Node        `yaml:"Policies"`

	Architectures any `yaml:"Architectures"`
	Description   any `yaml:"Description"`
	Tags          any `yaml:"Tags"`
	Tracing       any `yaml:"Tracing"`
}

// wholeNumber also accepts a string, such as the value of a parameter that may be
// empty.
type wholeNumber int

// UnmarshalYAML implements yaml.Unmarshaler.
func (n *wholeNumber) UnmarshalYAML(node *yaml.Node) error {
	value, err := strconv.Atoi(node.Value)
	*n = wholeNumber(value)
	return err
}

func buildFunction(r *resolver, id string, entry resource) (Function, error) {
	p := functionProperties{Timeout: defaultTimeoutSeconds, MemorySize: defaultMemoryMB}
	if err := r.properties(id, entry, "Function", &p); err != nil {
		return Function{}, err
	}
	if p.CodeURI == "" {
		return Function{}, at(entry.node, "function %s has no CodeUri", id)
	}
	f := Function{
		LogicalID: id, Name: id, CodeURI: p.CodeURI, Handler: p.Handler, Runtime: p.Runtime,
		Timeout: time.Duration(p.Timeout) * time.Second, MemoryMB: p.MemorySize,
		Environment: p.Environment.Variables, Reserved: (*int)(p.Reserved),
		LogFormat: p.Logging.Format, LogLevel: p.Logging.Level,
	}
	if p.Async != nil {
		async, err := r.buildAsync(id, entry.node, *p.Async)
		if err != nil {
			return Function{}, err
		}
		f.Async = &async
	}
	permissions, err := r.buildPermissions(id, &p.Policies)
	if err != nil {
		return Function{}, err
	}
	f.Permissions = permissions
	return f, r.addEvents(&f, entry)
}

// addEvents reads the function's event sources, in the template's order.
func (r *resolver) addEvents(f *Function, entry resource) error {
	events := field(entry.properties, "Events")
	for key, node := range pairs(events) {
		event, err := r.eval(node)
		if err != nil {
			return err
		}
		typ := field(event, "Type")
		if typ == nil {
			return at(key, "event %s has no Type", key.Value)
		}
		properties := field(event, "Properties")
		if properties == nil {
			properties = mapping(key, nil)
		}
		if err := r.addEvent(f, key, typ, properties); err != nil {
			return err
		}
	}
	return nil
}

func (r *resolver) addEvent(f *Function, key, typ, properties *yaml.Node) error {
	what := f.LogicalID + "." + key.Value
	add, ok := r.events(f)[typ.Value]
	if !ok {
		return at(typ, "%s: event type %s is not supported", what, typ.Value)
	}
	return add(what, key.Value, properties)
}

// events are the supported types of event sources.
func (r *resolver) events(f *Function) map[string]func(what, name string, properties *yaml.Node) error {
	return map[string]func(string, string, *yaml.Node) error{
		"HttpApi": func(what, _ string, properties *yaml.Node) error {
			route, err := r.buildRoute(what, properties)
			f.Routes = append(f.Routes, route)
			return err
		},
		"Api": func(what, _ string, properties *yaml.Node) error {
			route, err := r.buildRESTRoute(what, properties)
			f.Routes = append(f.Routes, route)
			return err
		},
		"Schedule": func(what, name string, properties *yaml.Node) error {
			schedule, err := buildSchedule(what, name, properties)
			f.Schedules = append(f.Schedules, schedule)
			return err
		},
		"DynamoDB": func(what, name string, properties *yaml.Node) error {
			stream, err := r.buildStream(what, name, properties)
			f.Streams = append(f.Streams, stream)
			return err
		},
		"SQS": func(what, name string, properties *yaml.Node) error {
			mapping, err := r.buildQueueMapping(what, name, properties)
			f.Queues = append(f.Queues, mapping)
			return err
		},
	}
}

package price

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// Monitored is what a template has that is billed by number.
type Monitored struct {
	// AlarmMetrics is the number of metrics that its alarms watch.
	AlarmMetrics int `json:"alarm_metrics"`
	// Dashboards is the number of dashboards that a deployment has by default: those
	// without a condition.
	Dashboards int `json:"dashboards"`
	// Answering is the number of functions that answer requests, and so have a latency.
	Answering int `json:"answering_functions"`
}

// background reports whether a function answers no caller of the API. A function that is
// not named here counts as one that answers.
func background(id string) bool {
	switch id {
	case "RunnerFunction", "AuthorizerFunction", "FanoutFunction", "PostFunction", "AutomationsFunction", "DeliverFunction", "SweeperFunction":
		return true
	}
	return false
}

// Monitoring counts what a template has that is billed by number.
func Monitoring(template []byte) (Monitored, error) {
	var m Monitored
	var t struct {
		Resources map[string]struct {
			Type       string    `yaml:"Type"`
			Condition  string    `yaml:"Condition"`
			Properties yaml.Node `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(template, &t); err != nil {
		return m, fmt.Errorf("count the metrics of alarms: %w", err)
	}
	for id, r := range t.Resources {
		switch {
		case r.Type == "AWS::Serverless::Function" && !background(id):
			m.Answering++
		case r.Type == "AWS::CloudWatch::Dashboard" && r.Condition == "":
			m.Dashboards++
		case r.Type == "AWS::CloudWatch::Alarm":
			var alarm struct {
				MetricName string `yaml:"MetricName"`
				Metrics    []struct {
					MetricStat any `yaml:"MetricStat"`
				} `yaml:"Metrics"`
			}
			if err := r.Properties.Decode(&alarm); err != nil {
				return m, fmt.Errorf("count the metrics of %s: %w", id, err)
			}
			if alarm.MetricName != "" {
				m.AlarmMetrics++
			}
			for _, metric := range alarm.Metrics {
				if metric.MetricStat != nil {
					m.AlarmMetrics++
				}
			}
		}
	}
	return m, nil
}

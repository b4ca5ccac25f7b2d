package price

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// Monitoring counts what the alarms of a template watch, as it is billed, and the
// dashboards that a deployment has by default: those without a condition.
func Monitoring(template []byte) (alarmMetrics, dashboards int, err error) {
	var t struct {
		Resources map[string]struct {
			Type       string    `yaml:"Type"`
			Condition  string    `yaml:"Condition"`
			Properties yaml.Node `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal(template, &t); err != nil {
		return 0, 0, fmt.Errorf("count the metrics of alarms: %w", err)
	}
	for id, r := range t.Resources {
		switch {
		case r.Type == "AWS::CloudWatch::Dashboard" && r.Condition == "":
			dashboards++
		case r.Type == "AWS::CloudWatch::Alarm":
			var alarm struct {
				MetricName string `yaml:"MetricName"`
				Metrics    []struct {
					MetricStat any `yaml:"MetricStat"`
				} `yaml:"Metrics"`
			}
			if err := r.Properties.Decode(&alarm); err != nil {
				return 0, 0, fmt.Errorf("count the metrics of %s: %w", id, err)
			}
			if alarm.MetricName != "" {
				alarmMetrics++
			}
			for _, m := range alarm.Metrics {
				if m.MetricStat != nil {
					alarmMetrics++
				}
			}
		}
	}
	return alarmMetrics, dashboards, nil
}

// Package automationtest holds no code but tests: automations that act on what the
// real store keeps.
package automationtest

package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// price is what a million tokens cost, in dollars.
type price struct {
	Input  *float64 `json:"input"`
	Output *float64 `json:"output"`
	// Cached is the price of input that the provider had cached, by default that of
	// other input.
	Cached *float64 `json:"cached,omitempty"`
}

// parsePrices parses the prices of models and agents, a JSON object by name; "" is none.
func parsePrices(text string) (map[string]price, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no prices
	}
	in := json.NewDecoder(bytes.NewReader([]byte(text)))
	in.DisallowUnknownFields()
	var prices map[string]price
	if err := in.Decode(&prices); err != nil {
		return nil, fmt.Errorf("the prices: %w", err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the prices: more than one JSON value")
	}
	for _, name := range slices.Sorted(maps.Keys(prices)) {
		if err := prices[name].check(); err != nil {
			return nil, fmt.Errorf("the price of %q: %w", name, err)
		}
	}
	return prices, nil
}

func (p price) check() error {
	if p.Input == nil || p.Output == nil {
		return errors.New("input and output are required")
	}
	for _, amount := range []*float64{p.Input, p.Output, p.Cached} {
		if amount != nil && *amount < 0 {
			return errors.New("an amount is negative")
		}
	}
	return nil
}

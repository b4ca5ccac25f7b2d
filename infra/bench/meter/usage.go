package meter

// Usage is the cost of some requests to the table.
type Usage struct {
	Requests int     `json:"requests"`
	Reads    float64 `json:"reads"`  // read units
	Writes   float64 `json:"writes"` // write units
}

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Requests + v.Requests, u.Reads + v.Reads, u.Writes + v.Writes}
}

// Call is the function that makes requests, by its logical id, and the operation.
// Requests that no function has made have no function.
type Call struct{ Function, Operation string }

// Counts are the usage of each call.
type Counts map[Call]Usage

// Sub returns the counts since earlier ones.
func (c Counts) Sub(earlier Counts) Counts {
	out := Counts{}
	for call, u := range c {
		e := earlier[call]
		if n := u.Requests - e.Requests; n > 0 {
			out[call] = Usage{n, u.Reads - e.Reads, u.Writes - e.Writes}
		}
	}
	return out
}

// Total returns the sum of all calls.
func (c Counts) Total() Usage {
	var sum Usage
	for _, u := range c {
		sum = sum.Plus(u)
	}
	return sum
}

package sessions

// Taken returns the last seq that the session took over as a fork, or had taken
// over as one before it was imported.
func (h *Header) Taken() int64 { return max(h.Base(), h.ImportedBase) }

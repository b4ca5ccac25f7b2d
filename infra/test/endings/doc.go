// Package endings has the table of endings: however a run ends, each protocol tells the
// same end, whether it is streamed, polled, resumed in the middle or read after a reload.
package endings

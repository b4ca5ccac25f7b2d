// Package bundle packs what is deployed to AWS into one file: the template, and an
// archive for each function, which sam deploy uploads as it is. The same programs,
// template and time give the same bytes.
package bundle

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// ErrFunctions means that the template's functions are not those that were built.
var ErrFunctions = errors.New("the template does not name the same functions")

var codeURI = regexp.MustCompile(`(?m)^( +CodeUri: functions/)([a-z0-9]+)/$`)

// Options say what to pack.
type Options struct {
	Template string    // path of the template
	Programs string    // folder with a program for each function, for Lambda
	Others   []string  // paths of more files to add
	Folder   string    // the folder into which the result is unpacked
	Time     time.Time // of all files
}

// Write writes the archive (tar) to out.
func Write(out io.Writer, o Options) error {
	text, err := os.ReadFile(o.Template)
	if err != nil {
		return fmt.Errorf("pack the template: %w", err)
	}
	names, err := functions(text, o.Programs)
	if err != nil {
		return err
	}
	archives := make([][]byte, len(names))
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i, name := range names {
		group.Go(func() (err error) {
			archives[i], err = archive(filepath.Join(o.Programs, name), o.Time)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	w := writer{tar.NewWriter(out), o.Folder, o.Time}
	w.must(&err, "template.yaml", codeURI.ReplaceAll(text, []byte("${1}${2}.zip")))
	for i, name := range names {
		w.must(&err, "functions/"+name+".zip", archives[i])
	}
	for _, path := range o.Others {
		other, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr)
		w.must(&err, filepath.Base(path), other)
	}
	return errors.Join(err, w.to.Close())
}

// functions returns the names of the functions in the template, sorted.
func functions(template []byte, programs string) ([]string, error) {
	var named, built []string
	for _, found := range codeURI.FindAllSubmatch(template, -1) {
		named = append(named, string(found[2]))
	}
	entries, err := os.ReadDir(programs)
	if err != nil {
		return nil, fmt.Errorf("pack the functions: %w", err)
	}
	for _, e := range entries {
		built = append(built, e.Name())
	}
	slices.Sort(named)
	if !slices.Equal(named, built) {
		return nil, fmt.Errorf("%w: %v are built, %v named", ErrFunctions, built, named)
	}
	return named, nil
}

// archive returns a function's archive: its program, under the name that Lambda starts.
func archive(program string, at time.Time) ([]byte, error) {
	text, err := os.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("pack a function: %w", err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(to io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(to, flate.DefaultCompression)
	})
	header := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate, Modified: at}
	header.SetMode(0o755)
	entry, err := w.CreateHeader(header)
	if err == nil {
		_, err = entry.Write(text)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("pack %s: %w", filepath.Base(program), err)
	}
	return out.Bytes(), nil
}

type writer struct {
	to     *tar.Writer
	folder string
	at     time.Time
}

// must adds a file, unless an error happened before.
func (w writer) must(err *error, name string, text []byte) {
	if *err != nil {
		return
	}
	header := &tar.Header{Name: w.folder + "/" + name, Mode: 0o644, Size: int64(len(text)), ModTime: w.at, Format: tar.FormatUSTAR}
	if *err = w.to.WriteHeader(header); *err == nil {
		_, *err = w.to.Write(text)
	}
}

// Package site writes the documents of the repository as pages that any static host can
// serve, with their pictures and the code that they link to. Pages stand where the
// documents stand, so that links between them stay as they are.
package site

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Site is the files of a site by their names.
type Site struct {
	files   map[string][]byte
	sources fs.FS
	todo    []string // what a page links to, and is not there yet
	seen    map[string]bool
}

// New are the documents of the repository, from its README on in both languages, and
// whatever they link to. sources is the repository's own folder.
func New(sources fs.FS) (*Site, error) {
	s := &Site{files: map[string][]byte{}, sources: sources, seen: map[string]bool{}}
	s.want("README.md")
	s.want("docs/zh-CN/README.md")
	for len(s.todo) > 0 {
		name := s.todo[0]
		s.todo = s.todo[1:]
		if err := s.add(name); err != nil {
			return nil, fmt.Errorf("site: %w", err)
		}
	}
	return s, nil
}

// Add puts a file into the site that is made elsewhere.
func (s *Site) Add(name string, content []byte) { s.files[name] = content }

// Names are the names of its files, sorted.
func (s *Site) Names() (names []string) {
	for name := range s.files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Content is a file of the site, nil if there is none of that name.
func (s *Site) Content(name string) []byte { return s.files[name] }

// want notes that a page links to a file of the repository, and says where the site has it.
func (s *Site) want(name string) string {
	if !s.seen[name] {
		s.seen[name] = true
		s.todo = append(s.todo, name)
	}
	return s.place(name)
}

// place is where the site has a file of the repository.
func (s *Site) place(name string) string {
	switch ext := path.Ext(name); {
	case isAsItIs(ext):
		return name
	case path.Base(name) == "README.md":
		return path.Join(path.Dir(name), "index.html")
	case ext == ".md":
		return strings.TrimSuffix(name, ext) + ".html"
	case s.isFolder(name):
		return path.Join(name, "index.html")
	}
	return name + ".html"
}

// isAsItIs tells whether a browser shows such a file by itself.
func isAsItIs(ext string) bool { return ext == ".svg" || ext == ".html" }

func (s *Site) isFolder(name string) bool {
	info, err := fs.Stat(s.sources, name)
	return err == nil && info.IsDir()
}

// add makes the page of a file or a folder.
func (s *Site) add(name string) error {
	to := s.place(name)
	if s.isFolder(name) {
		readme := path.Join(name, "README.md")
		if _, err := fs.Stat(s.sources, readme); err == nil {
			s.want(readme)
			return nil
		}
		return s.list(name, to)
	}
	raw, err := fs.ReadFile(s.sources, name)
	switch {
	case err != nil:
		return err
	case isAsItIs(path.Ext(name)):
		s.files[to] = raw
	case path.Ext(name) == ".md":
		return s.document(name, to, raw)
	default:
		s.files[to] = s.code(name, to, string(raw))
	}
	return nil
}

// Write writes the site into a folder, and beside each file one that is compressed by gzip,
// for hosts that serve such. It takes nothing away that is there.
func (s *Site) Write(folder string) error {
	for _, name := range s.Names() {
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, s.files[name], 0o644); err != nil {
			return err
		}
		if path.Ext(name) == ".gz" {
			continue
		}
		packed, err := Compress(s.files[name])
		if err != nil {
			return err
		}
		if err := os.WriteFile(file+".gz", packed, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Compress compresses by gzip, as small as it can.
func Compress(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

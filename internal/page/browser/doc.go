// Package browser drives the page in a real browser: a headless Chromium. It is
// a module of its own, so that the locks do not depend on what drives browsers.
package browser

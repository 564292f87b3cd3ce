// Package browser tests the page in a real browser: a headless Chromium. It is a separate module,
// so that the locks do not depend on browser drivers.
package browser

package svg

// svgStyle is the style of every picture. It names each colour in the place where
// it is used: custom properties are not known everywhere that draws SVG.
//
// b background, v verdict, h heading, m command, d dim, u time, c centred, e on a
// colour, r g o bad, good and fair; i0–i3 a client's own colour, k0–k3 the tint of
// its block, s0–s3 its colour in a gradient; ov ob two inside, ex eb excused,
// gb good, z
// stands still, y on hatching, q request, a reply, x lost, w waits, f finding.
const svgStyle = `.tl{font:13px ui-sans-serif,system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
.tl text{fill:#1f2328}
.tl .b,.tl .ts{fill:#fff}
.tl .h,.tl .r{font-weight:700}
.tl .v{font-size:19px;font-weight:700}
.tl .m,.tl .u{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.tl .d,.tl .u{fill:#59636e}
.tl .k{font-size:12px}
.tl .u{text-anchor:end}
.tl .c{text-anchor:middle}
.tl .r{fill:#cf222e}
.tl .g{fill:#1a7f37;font-weight:700}
.tl .o{fill:#9a6700}
.tl .e,.tl .xt{fill:#fff}
.tl .y{paint-order:stroke;stroke:#fff;stroke-width:4px}
.tl .n{fill:#eaeef2}
.tl .i0,.tl .k0{fill:#0969da}.tl .i1,.tl .k1{fill:#9a6700}.tl .i2,.tl .k2{fill:#0f766e}.tl .i3,.tl .k3{fill:#8250df}
.tl .s0{stop-color:#0969da}.tl .s1{stop-color:#9a6700}.tl .s2{stop-color:#0f766e}.tl .s3{stop-color:#8250df}
.tl .k0,.tl .k1,.tl .k2,.tl .k3{fill-opacity:.13}
.tl .ov{fill:#cf222e;fill-opacity:.27}
.tl .ob,.tl .xm{fill:#cf222e}
.tl .gb{fill:#1a7f37}
.tl .ex{fill:#cf222e;fill-opacity:.07}
.tl .eb{fill:#cf222e;fill-opacity:.5}
.tl .z{fill:url(#hatch)}
.tl .f{fill:#ffebe9;stroke:#cf222e}
.tl .ax,.tl .l,.tl .q,.tl .a,.tl .x,.tl .w,.tl .t,.tl .hl,.tl .ct{fill:none;stroke:#818b98}
.tl .l{stroke-dasharray:1 3}
.tl .q{stroke:#1f2328;stroke-width:1.4;marker-end:url(#head)}
.tl .a{stroke:#59636e;stroke-width:1.4;marker-end:url(#tail);stroke-dasharray:5 3}
.tl .x{stroke:#cf222e;stroke-width:1.6;stroke-dasharray:5 3}
.tl .xx{fill:none;stroke:#cf222e;stroke-width:2.6}
.tl .late{stroke-width:2.2}
.tl .w{stroke-width:3;stroke-dasharray:2 3}
.tl .ct{stroke:#cf222e;stroke-width:3;stroke-dasharray:8 5}
.tl .hl{stroke:#818b98;stroke-width:2.2}
.tl .hd{fill:#1f2328}.tl .ht{fill:#59636e}
@media (prefers-color-scheme:dark){
.tl text{fill:#e6edf3}
.tl .b,.tl .ts{fill:#0d1117}
.tl .d,.tl .u{fill:#9198a1}
.tl .r{fill:#ff7b72}.tl .g{fill:#56d364}.tl .o{fill:#e3b341}
.tl .e,.tl .xt{fill:#0d1117}
.tl .y{stroke:#0d1117}
.tl .n{fill:#262c36}
.tl .i0,.tl .k0{fill:#58a6ff}.tl .i1,.tl .k1{fill:#e3b341}.tl .i2,.tl .k2{fill:#3fc7bb}.tl .i3,.tl .k3{fill:#bc8cff}
.tl .s0{stop-color:#58a6ff}.tl .s1{stop-color:#e3b341}.tl .s2{stop-color:#3fc7bb}.tl .s3{stop-color:#bc8cff}
.tl .k0,.tl .k1,.tl .k2,.tl .k3{fill-opacity:.17}
.tl .ov{fill:#f85149;fill-opacity:.38}
.tl .ob,.tl .xm,.tl .ex,.tl .eb{fill:#f85149}
.tl .gb{fill:#56d364}
.tl .f{fill:#3c1618;stroke:#f85149}
.tl .q{stroke:#e6edf3}.tl .a{stroke:#9198a1}
.tl .x,.tl .xx,.tl .ct{stroke:#f85149}
.tl .hd{fill:#e6edf3}.tl .ht{fill:#9198a1}
}
`

// svgShapes are the heads of arrows, the hatching of those who stand still, and
// the sample of a key that fades.
const svgShapes = `<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path class="hd" d="M0 0L8 4L0 8z"/></marker>
<marker id="tail" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="10" markerHeight="10" markerUnits="userSpaceOnUse" orient="auto"><path class="ht" d="M0 0L8 4L0 8z"/></marker>
<pattern id="hatch" width="9" height="9" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hl" d="M0 0V9"/></pattern>
<linearGradient id="fade"><stop class="s0"/><stop offset="1" class="s0" stop-opacity=".1"/></linearGradient>
`

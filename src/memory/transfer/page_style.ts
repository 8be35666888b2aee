/**
 * The style of exported HTML pages.
 *
 * @module
 */

/** The style sheet, for light and dark mode, print and small screens. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, CanvasText 18%, Canvas); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 52rem; margin: 0 auto; padding: 1rem; }
header { border-bottom: 1px solid var(--line); }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
header ul { display: flex; flex-wrap: wrap; gap: 0 1.5rem; padding: 0; list-style: none; }
header ul, small, time { font-size: 0.85rem; font-weight: normal; opacity: 0.7; }
article, aside { margin: 1.25rem 0; padding: 0.25rem 1rem; border-left: 4px solid var(--line); }
article.user { border-color: #2f6fde; }
article.assistant { border-color: #2a9d5c; }
aside { font-size: 0.9rem; opacity: 0.8; }
h2 { display: flex; gap: 0.75rem; align-items: baseline; font-size: 1rem; }
h3 { font-size: 0.85rem; margin: 0.5rem 0 0; }
time { margin-left: auto; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.5rem 0; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40rem; overflow-y: auto;
  padding: 0.5rem; border: 1px solid var(--line); font-size: 0.85rem; }
details { margin: 0.5rem 0; padding: 0.25rem 0.75rem; border: 1px solid var(--line); }
summary { cursor: pointer; font-family: ui-monospace, monospace; font-size: 0.9rem; }
.error, details.error summary { color: #c8372d; }
.diff .file { opacity: 0.7; } .diff .hunk { color: #7c5cc4; }
.diff .added { background: color-mix(in srgb, #2a9d5c 22%, Canvas); }
.diff .removed { background: color-mix(in srgb, #c8372d 22%, Canvas); }
img { max-width: 100%; }
.charts figure { margin: 1rem 0; overflow-x: auto; }
.charts figcaption { font-size: 0.85rem; opacity: 0.7; }
.charts svg { display: block; border-bottom: 1px solid var(--line); }
.column { fill: transparent; } g:hover .column { fill: var(--line); }
.input { fill: #2f6fde; } .cached { fill: #8fb3f0; } .output { fill: #2a9d5c; }
.cost { fill: #b7791f; } .time { fill: #7c5cc4; }
@media print { pre { max-height: none; } }
`;

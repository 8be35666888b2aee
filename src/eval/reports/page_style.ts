/**
 * The style of the page of an evaluation.
 *
 * @module
 */

/** The style sheet, for light and dark mode, print and small screens. The filter of cases needs no script. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, CanvasText 18%, Canvas);
  --passed: #2a9d5c; --failed: #c8372d; --skipped: #8a8f98; --accent: #2f6fde; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; margin-bottom: 0.25rem; }
h2 { font-size: 1.1rem; margin: 2rem 0 0.5rem; }
h3 { font-size: 0.85rem; margin: 0.75rem 0 0.25rem; }
small, figcaption, .facts { font-size: 0.85rem; opacity: 0.75; }
.facts, .totals { display: flex; flex-wrap: wrap; gap: 0 1.5rem; padding: 0; list-style: none; }
.totals li { margin: 0.5rem 0; } .totals b { display: block; font-size: 1.3rem; line-height: 1.2; }
table { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0;
  border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.scores td:first-child { white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; }
.passed > b, .passed.mark, .fixed { color: var(--passed); }
.failed > b, .failed.mark, .regressed, .removed { color: var(--failed); }
.skipped.mark { color: var(--skipped); }
details { border: 1px solid var(--line); margin: 0.4rem 0; padding: 0 0.75rem; }
details.case { border-left: 4px solid var(--skipped); }
details.case.passed { border-left-color: var(--passed); }
details.case.failed { border-left-color: var(--failed); }
details.call { border-left: 4px solid var(--line); }
details.call.failed, details.call.denied, details.call.unfinished { border-left-color: var(--failed); }
summary { cursor: pointer; padding: 0.35rem 0; overflow-wrap: anywhere; }
.case > summary { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; }
.case > summary .name { flex: 1 1 20rem; } .case > summary .measures { opacity: 0.75; font-size: 0.85rem; }
.call > summary { font-family: ui-monospace, monospace; font-size: 0.85rem; }
.user, .reply { margin: 0.5rem 0; padding: 0.1rem 0.75rem; border-left: 4px solid var(--accent); }
.reply { border-left-color: var(--passed); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 30rem; overflow-y: auto;
  padding: 0.5rem; border: 1px solid var(--line); font-size: 0.85rem; margin: 0.25rem 0 0.75rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(14rem, 1fr)); gap: 1rem; }
figure { margin: 0; } svg { display: block; width: 100%; height: 4.5rem; border-bottom: 1px solid var(--line); }
.bar { fill: var(--accent); opacity: 0.45; } .bar.current { opacity: 1; }
.column { fill: transparent; } g:hover .column { fill: var(--line); }
.filter { display: flex; gap: 1rem; margin: 0.5rem 0; }
body:has(#show-failed:checked) .case:not(.failed) { display: none; }
body:has(#show-passed:checked) .case:not(.passed) { display: none; }
.damage { color: var(--failed); }
@media print { pre { max-height: none; } .filter { display: none; } }
`;

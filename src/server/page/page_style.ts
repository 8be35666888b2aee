/**
 * The style of the built-in page.
 *
 * @module
 */

/** The style sheet, for light and dark mode and small screens. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, CanvasText 18%, Canvas);
  --soft: color-mix(in srgb, CanvasText 5%, Canvas); --accent: #2f6fde; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.1rem; margin: 0; }
h2 { font-size: 1.1rem; margin: 0; overflow-wrap: anywhere; flex: 1; }
h3 { font-size: 0.95rem; margin: 0 0 0.5rem; }
button { font: inherit; padding: 0.3rem 0.8rem; border: 1px solid var(--line); border-radius: 6px;
  background: var(--soft); color: inherit; cursor: pointer; }
button:hover { border-color: var(--accent); }
button:focus-visible, a:focus-visible, textarea:focus-visible { outline: 2px solid var(--accent); }
#send, #login button, #approvals > button { background: var(--accent); color: white; }
input, textarea { font: inherit; padding: 0.4rem; border: 1px solid var(--line);
  border-radius: 6px; background: Canvas; color: inherit; }
#login { max-width: 24rem; margin: 15vh auto; padding: 1rem; display: grid; gap: 0.75rem; }
#app { display: grid; grid-template-columns: 17rem 1fr; height: 100dvh; }
nav { border-right: 1px solid var(--line); overflow-y: auto; padding: 0.75rem; display: flex;
  flex-direction: column; gap: 0.5rem; background: var(--soft); }
nav header { display: flex; justify-content: space-between; align-items: center; }
nav ul { list-style: none; margin: 0; padding: 0; flex: 1; }
nav li button { width: 100%; text-align: left; border-color: transparent; background: none;
  display: flex; gap: 0.5rem; justify-content: space-between; }
nav li button span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
nav li button[aria-current] { background: Canvas; border-color: var(--line); }
main { min-width: 0; min-height: 0; }
#empty { padding: 2rem; opacity: 0.7; }
#session { display: flex; flex-direction: column; height: 100dvh; padding: 0.75rem 1rem; gap: 0.6rem; }
#session > header { display: flex; gap: 0.6rem; align-items: center; flex-wrap: wrap; }
#status { font-size: 0.85rem; padding: 0.1rem 0.6rem; border: 1px solid var(--line);
  border-radius: 1rem; }
#status[data-status="running"] { border-color: #2a9d5c; color: #2a9d5c; }
#status[data-status="awaiting_approval"] { border-color: #b7791f; color: #b7791f; }
#status[data-status="interrupted"] { border-color: #c0392b; color: #c0392b; }
#connection { font-size: 0.85rem; opacity: 0.7; }
#transcript { flex: 1; overflow-y: auto; min-height: 6rem; }
article { margin: 0.6rem 0; padding: 0.1rem 0.9rem; border-left: 3px solid var(--line); }
article.user { border-color: var(--accent); }
article.assistant { border-color: #2a9d5c; }
article.error { border-color: #c0392b; }
article h4 { margin: 0; font-size: 0.8rem; font-weight: normal; opacity: 0.7; }
article p { margin: 0.2rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
pre { margin: 0.3rem 0; padding: 0.5rem; background: var(--soft); border-radius: 6px;
  white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.4 ui-monospace, monospace;
  max-height: 20rem; overflow-y: auto; }
summary { cursor: pointer; font-size: 0.9rem; }
#approvals { border: 1px solid #b7791f; border-radius: 8px; padding: 0.75rem; overflow-y: auto;
  max-height: 45dvh; }
fieldset { border: 0; border-top: 1px solid var(--line); margin: 0 0 0.5rem; padding: 0.5rem 0; }
fieldset label { margin-right: 1rem; }
#compose { display: grid; gap: 0.4rem; }
#compose label { font-size: 0.85rem; opacity: 0.7; }
#compose div { display: flex; gap: 0.5rem; }
#problem, #login-problem { color: #c0392b; margin: 0; min-height: 1.4em; }
@media (max-width: 700px) { #app { grid-template-columns: 1fr; height: auto; }
  nav { border-right: 0; max-height: 30dvh; } #session { height: 70dvh; } }
`;

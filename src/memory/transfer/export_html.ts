/**
 * Exports a session as a self-contained HTML page without scripts, fonts or network requests.
 *
 * @module
 */

import type { ImageSource } from "../../core/messages/content.ts";
import type { Session } from "../../core/sessions/session.ts";
import { escapeHtml } from "../../core/text/escape_html.ts";
import { formatTime } from "../store/format_time.ts";
import { PAGE_STYLE } from "./page_style.ts";
import {
  type ExportOptions,
  readTranscript,
  SPEAKER_LABELS,
  type Transcript,
  type TranscriptItem,
  type TranscriptPart,
  type TranscriptTool,
} from "./transcript.ts";
import { renderTurnCharts } from "./turn_charts.ts";

/** Image types that a page may embed; other types, such as SVG, could contain scripts. */
const IMAGE_TYPE = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

/** Exports the path to a session's leaf as an HTML page with charts of its turns and collapsible tool calls. */
export async function exportHtml(session: Session, options?: ExportOptions): Promise<string> {
  const transcript = await readTranscript(session, options);
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>${escapeHtml(transcript.title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
${renderHeader(transcript)}
${renderTurnCharts(transcript.turns)}
<main>
${transcript.items.map(renderItem).join("\n")}
</main>
</body>
</html>
`;
}

function renderHeader({ title, header, usage, cost }: Transcript): string {
  const facts = [
    header.id,
    formatTime(header.created),
    ...(header.cwd === undefined ? [] : [header.cwd]),
    `${usage.total} tokens`,
    ...(cost.total ? [`$${cost.total.toFixed(4)}`] : []),
  ];
  const list = facts.map((fact) => `<li>${escapeHtml(fact)}</li>`).join("");
  return `<header><h1>${escapeHtml(title)}</h1><ul>${list}</ul></header>`;
}

function renderItem(item: TranscriptItem): string {
  const time = `<time>${formatTime(item.timestamp)}</time>`;
  if (item.type === "note") return `<aside>${time}${renderText(item.text)}</aside>`;
  const { speaker, model = "", error, parts } = item;
  const failure = error === undefined ? "" : `<p class="error">${escapeHtml(error)}</p>`;
  const heading = `<h2>${SPEAKER_LABELS[speaker]} <small>${escapeHtml(model)}</small>${time}</h2>`;
  return `<article class="${speaker}">${heading}${
    parts.map(renderPart).join("")
  }${failure}</article>`;
}

function renderPart(part: TranscriptPart): string {
  switch (part.type) {
    case "text":
      return renderText(part.text);
    case "thinking":
      return renderDetails("Thinking", renderText(part.text), { kind: "thinking" });
    case "image":
      return renderImage(part.source);
    case "data":
      return renderDetails(part.name, renderCode(part.json), { kind: "data" });
    case "tool":
      return renderTool(part);
  }
}

function renderTool({ name, arguments: args, result }: TranscriptTool): string {
  const state = !result ? "no result" : result.isError ? "failed" : "done";
  const parts = (result?.parts ?? []).map((part) =>
    part.type === "text" ? renderCode(part.text) : renderPart(part)
  );
  const changes = (result?.diffs ?? []).map((diff) => `<h3>Change</h3>${renderDiff(diff)}`);
  const body = `<h3>Arguments</h3>${renderCode(args)}<h3>Result</h3>${parts.join("")}`;
  return renderDetails(`${name}: ${state}`, changes.join("") + body, {
    kind: result?.isError ? "tool error" : "tool",
    // Changes are what readers look for.
    isOpen: changes.length > 0,
  });
}

/** Renders a diff with a color for each kind of line. */
function renderDiff(diff: string): string {
  const rows = diff.replace(/\n$/, "").split("\n");
  const start = rows.findIndex((row) => row.startsWith("@@"));
  const lines = rows.map((line, index) => {
    const kind = index < start ? "file" : getLineKind(line);
    const text = escapeHtml(line);
    return kind === undefined ? text : `<span class="${kind}">${text}</span>`;
  });
  return `<pre class="diff">${lines.join("\n")}</pre>`;
}

function getLineKind(line: string): "hunk" | "added" | "removed" | undefined {
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : undefined;
}

function renderImage(source: ImageSource): string {
  switch (source.type) {
    case "base64": {
      const { mediaType, data } = source;
      if (!IMAGE_TYPE.test(mediaType) || !BASE64.test(data)) {
        return renderText(`(an image, ${mediaType})`);
      }
      return `<img alt="" src="data:${mediaType};base64,${data}">`;
    }
    case "url":
      return renderText(`(an image: ${source.url})`);
    case "file":
      return renderText(`(an image: ${source.path})`);
    case "provider_file":
      return renderText(`(an image: ${source.id})`);
  }
}

function renderDetails(
  summary: string,
  body: string,
  { kind, isOpen = false }: { readonly kind: string; readonly isOpen?: boolean },
): string {
  const open = isOpen ? " open" : "";
  return `<details class="${kind}"${open}><summary>${
    escapeHtml(summary)
  }</summary>${body}</details>`;
}

function renderText(content: string): string {
  return `<div class="text">${escapeHtml(content.trim())}</div>`;
}

function renderCode(content: string): string {
  return `<pre>${escapeHtml(content)}</pre>`;
}

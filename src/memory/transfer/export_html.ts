/**
 * A session as one page that needs nothing else: no script, no font, no request to anywhere.
 *
 * @module
 */

import type { ImageSource } from "../../core/content.ts";
import type { Session } from "../../core/session.ts";
import { PAGE_STYLE } from "./page_style.ts";
import {
  type ExportOptions,
  readTranscript,
  type Transcript,
  type TranscriptItem,
  type TranscriptPart,
  type TranscriptTool,
} from "./transcript.ts";

/** Images that a page may carry; anything else could be more than an image. */
const IMAGE_TYPE = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;
const ROLE_LABELS = { user: "User", assistant: "Assistant", application: "Application" };

/** Writes what a session's leaf leads to as an HTML page with collapsible tool calls. */
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
    new Date(header.created).toISOString(),
    ...(header.cwd === undefined ? [] : [header.cwd]),
    `${usage.total} tokens`,
    ...(cost.total === 0 ? [] : [`$${cost.total.toFixed(4)}`]),
  ];
  const list = facts.map((fact) => `<li>${escapeHtml(fact)}</li>`).join("");
  return `<header><h1>${escapeHtml(title)}</h1><ul>${list}</ul></header>`;
}

function renderItem(entry: TranscriptItem): string {
  const time = `<time>${new Date(entry.timestamp).toISOString()}</time>`;
  if (entry.type === "note") return `<aside>${time}${renderText(entry.text)}</aside>`;
  const { speaker, model = "", error, parts } = entry;
  const failure = error === undefined ? "" : `<p class="error">${escapeHtml(error)}</p>`;
  const heading = `<h2>${ROLE_LABELS[speaker]} <small>${escapeHtml(model)}</small>${time}</h2>`;
  return `<article class="${speaker}">${heading}${
    parts.map(renderPart).join("")
  }${failure}</article>`;
}

function renderPart(content: TranscriptPart): string {
  switch (content.type) {
    case "text":
      return renderText(content.text);
    case "thinking":
      return renderDetails("Thinking", renderText(content.text), "thinking");
    case "image":
      return renderImage(content.source);
    case "data":
      return renderDetails(content.name, renderCode(content.json), "data");
    case "tool":
      return renderTool(content);
  }
}

function renderTool({ name, arguments: args, result }: TranscriptTool): string {
  const state = !result ? "no answer" : result.isError ? "failed" : "done";
  const answer = (result?.parts ?? []).map((content) =>
    content.type === "text" ? renderCode(content.text) : renderPart(content)
  );
  const body = `<h3>Arguments</h3>${renderCode(args)}<h3>Result</h3>${answer.join("")}`;
  return renderDetails(`${name}: ${state}`, body, result?.isError ? "tool error" : "tool");
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
  }
}

function renderDetails(summary: string, body: string, kind: string): string {
  return `<details class="${kind}"><summary>${escapeHtml(summary)}</summary>${body}</details>`;
}

function renderText(content: string): string {
  return `<div class="text">${escapeHtml(content.trim())}</div>`;
}

function renderCode(content: string): string {
  return `<pre>${escapeHtml(content)}</pre>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text that HTML takes for text, without control characters that no page may hold. */
function escapeHtml(content: string): string {
  return content.toWellFormed()
    .replaceAll(/(?![\t\n\r])\p{Cc}/gu, "\ufffd")
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

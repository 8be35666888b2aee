/**
 * Exports a session as Markdown.
 *
 * @module
 */

import type { ImageSource } from "../../core/messages/content.ts";
import type { Session } from "../../core/sessions/session.ts";
import { formatTime } from "../store/format_time.ts";
import {
  type ExportOptions,
  readTranscript,
  SPEAKER_LABELS,
  type Transcript,
  type TranscriptItem,
  type TranscriptPart,
  type TranscriptTool,
} from "./transcript.ts";

/** Exports the path to a session's leaf as Markdown. */
export async function exportMarkdown(session: Session, options?: ExportOptions): Promise<string> {
  const transcript = await readTranscript(session, options);
  const parts = [renderHeader(transcript), ...transcript.items.map(renderItem)];
  return parts.filter((part) => part !== "").join("\n\n") + "\n";
}

function renderHeader({ title, header, usage, cost }: Transcript): string {
  const facts = [
    `Session \`${header.id}\``,
    formatTime(header.created),
    ...(header.cwd === undefined ? [] : [`in \`${header.cwd}\``]),
    `${usage.total} tokens`,
    ...(cost.total ? [`$${cost.total.toFixed(4)}`] : []),
  ];
  return `# ${toSingleLine(title)}\n\n${facts.join(" · ")}`;
}

function renderItem(item: TranscriptItem): string {
  if (item.type === "note") return renderQuote(item.text);
  const { speaker, model, error, parts } = item;
  const heading = `## ${SPEAKER_LABELS[speaker]}${
    model === undefined ? "" : ` (${toSingleLine(model)})`
  }`;
  const failure = error === undefined ? [] : [`**Error:** ${toSingleLine(error)}`];
  return [heading, ...parts.map(renderPart), ...failure].join("\n\n");
}

function renderPart(part: TranscriptPart): string {
  switch (part.type) {
    case "text":
      return closeCodeBlock(part.text.trim());
    case "thinking":
      return renderQuote(part.text);
    case "image":
      return renderImage(part.source);
    case "data":
      return `\`${part.name}\`\n\n${renderCodeBlock(part.json, "json")}`;
    case "tool":
      return renderTool(part);
  }
}

function renderTool({ name, arguments: args, result }: TranscriptTool): string {
  const call = `### Tool: ${toSingleLine(name)}\n\n${renderCodeBlock(args, "json")}`;
  if (!result) return `${call}\n\nNo result`;
  const parts = result.parts.map((part) =>
    part.type === "text" ? renderCodeBlock(part.text) : renderPart(part)
  );
  const changes = result.diffs.flatMap((diff) => ["Change:", renderCodeBlock(diff, "diff")]);
  return [call, result.isError ? "Error:" : "Result:", ...parts, ...changes].join("\n\n");
}

function renderImage(source: ImageSource): string {
  switch (source.type) {
    case "base64":
      return `*(an image, ${source.mediaType})*`;
    case "url":
      return `*(an image: <${toSingleLine(source.url)}>)*`;
    case "file":
      return `*(an image: \`${source.path}\`)*`;
    case "provider_file":
      return `*(an image: \`${source.id}\`)*`;
  }
}

function renderQuote(text: string): string {
  return text.trim().split("\n").map((line) => `> ${line}`.trimEnd()).join("\n");
}

/** Closes a code block that a text leaves open, as a reply that was aborted does, since it would contain the rest of the page. */
function closeCodeBlock(text: string): string {
  let fence = "";
  for (const line of text.split("\n")) {
    const [, marker = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    const isClosing = fence !== "" && marker.startsWith(fence) && rest.trim() === "";
    const isOpening = fence === "" && !(marker.startsWith("`") && rest.includes("`"));
    if (isClosing) fence = "";
    else if (isOpening) fence = marker;
  }
  return fence === "" ? text : `${text}\n${fence}`;
}

/** Renders a code block with a fence that is longer than any in the text. */
function renderCodeBlock(text: string, language = ""): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

function toSingleLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

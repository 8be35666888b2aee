/**
 * A session as Markdown.
 *
 * @module
 */

import type { ImageSource } from "../../core/content.ts";
import type { Session } from "../../core/session.ts";
import {
  type ExportOptions,
  readTranscript,
  type Transcript,
  type TranscriptItem,
  type TranscriptPart,
  type TranscriptTool,
} from "./transcript.ts";

const SPEAKERS = { user: "User", assistant: "Assistant", application: "Application" };

/** Writes what a session's leaf leads to as Markdown. */
export async function exportMarkdown(session: Session, options?: ExportOptions): Promise<string> {
  const transcript = await readTranscript(session, options);
  const parts = [head(transcript), ...transcript.items.map(item)];
  return parts.filter((part) => part !== "").join("\n\n") + "\n";
}

function head({ title, header, usage, cost }: Transcript): string {
  const facts = [
    `Session \`${header.id}\``,
    new Date(header.created).toISOString(),
    ...(header.cwd === undefined ? [] : [`in \`${header.cwd}\``]),
    `${usage.total} tokens`,
    ...(cost.total === 0 ? [] : [`$${cost.total.toFixed(4)}`]),
  ];
  return `# ${oneLine(title)}\n\n${facts.join(" · ")}`;
}

function item(entry: TranscriptItem): string {
  if (entry.type === "note") return quoted(entry.text);
  const { speaker, model, error, parts } = entry;
  const heading = `## ${SPEAKERS[speaker]}${model === undefined ? "" : ` (${oneLine(model)})`}`;
  const failure = error === undefined ? [] : [`**Error:** ${oneLine(error)}`];
  return [heading, ...parts.map(part), ...failure].join("\n\n");
}

function part(content: TranscriptPart): string {
  switch (content.type) {
    case "text":
      return content.text.trim();
    case "thinking":
      return quoted(content.text);
    case "image":
      return image(content.source);
    case "data":
      return `\`${content.name}\`\n\n${fenced(content.json, "json")}`;
    case "tool":
      return tool(content);
  }
}

function tool({ name, arguments: args, result }: TranscriptTool): string {
  const call = `### Tool: ${oneLine(name)}\n\n${fenced(args, "json")}`;
  if (!result) return `${call}\n\nIt never answered.`;
  const answer = result.parts.map((content) =>
    content.type === "text" ? fenced(content.text) : part(content)
  );
  return [call, result.isError ? "It failed:" : "It answered:", ...answer].join("\n\n");
}

function image(source: ImageSource): string {
  switch (source.type) {
    case "base64":
      return `*(an image, ${source.mediaType})*`;
    case "url":
      return `*(an image: <${oneLine(source.url)}>)*`;
    case "file":
      return `*(an image: \`${source.path}\`)*`;
  }
}

function quoted(text: string): string {
  return text.trim().split("\n").map((line) => `> ${line}`.trimEnd()).join("\n");
}

/** A code block whose fence is longer than any in the text. */
function fenced(text: string, language = ""): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

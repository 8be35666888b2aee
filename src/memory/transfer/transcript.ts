/**
 * A session as somebody would read it: what every export that people read is made from.
 *
 * @module
 */

import { type ContentBlock, extractText, type ImageSource } from "../../core/content.ts";
import type { AgentMessage } from "../../core/message.ts";
import type { ModelSpec } from "../../core/model.ts";
import type { PathOptions, Session } from "../../core/session.ts";
import type { SessionEntry, SessionHeader } from "../../core/session_entry.ts";
import { addCost, addUsage, type Cost, type Usage, zeroCost, zeroUsage } from "../../core/usage.ts";
import { safeStringify } from "../store/safe_stringify.ts";

/** Options of exports. */
export interface ExportOptions extends Pick<PathOptions, "leaf"> {
  /** Changes every text before it is written, to leave out what nobody else should read. */
  readonly redact?: (text: string) => string;
}

/** A tool call and its result. */
export interface TranscriptTool {
  /** Discriminant. */
  readonly type: "tool";
  /** Name of the tool. */
  readonly name: string;
  /** The arguments, as indented JSON. */
  readonly arguments: string;
  /** What it answered; missing when it never did. */
  readonly result?: { readonly parts: readonly TranscriptPart[]; readonly isError: boolean };
}

/** A part of a message. */
export type TranscriptPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "image"; readonly source: ImageSource }
  | { readonly type: "data"; readonly name: string; readonly json: string }
  | TranscriptTool;

/** Something that was said, or happened. */
export type TranscriptItem =
  | {
    readonly type: "message";
    readonly speaker: "user" | "assistant" | "application";
    readonly timestamp: number;
    readonly model?: string;
    readonly error?: string;
    readonly parts: readonly TranscriptPart[];
  }
  | { readonly type: "note"; readonly timestamp: number; readonly text: string };

/** A session as somebody would read it. */
export interface Transcript {
  /** Its title, or the beginning of the first prompt. */
  readonly title: string;
  /** The header. */
  readonly header: SessionHeader;
  /** Tokens of the replies in it. */
  readonly usage: Usage;
  /** Cost of the replies in it. */
  readonly cost: Cost;
  /** What was said and what happened, in order. */
  readonly items: readonly TranscriptItem[];
}

/** Reads a session's path as a transcript. */
export async function readTranscript(
  session: Session,
  { leaf, redact }: ExportOptions = {},
): Promise<Transcript> {
  const path = await session.path(leaf === undefined ? {} : { leaf });
  const entries = redact ? path.map((entry) => redactTexts(entry, redact)) : path;
  const answers = new Map<string, TranscriptTool["result"]>();
  for (const entry of entries) addToolResult(answers, entry);
  const messages = entries.flatMap((entry) => entry.type === "message" ? [entry.message] : []);
  return {
    title: getTitle(entries, messages, session.id),
    header: redact ? redactTexts(session.header, redact) : session.header,
    ...sumUsage(messages),
    items: entries.flatMap((entry) => createItems(entry, answers)),
  };
}

/** Members that hold the shape of an entry together. */
const STRUCTURAL_KEYS = new Set([
  "type",
  "role",
  "id",
  "parentId",
  "toolCallId",
  "messageId",
  "mediaType",
]);
/** Members that hold anything. */
const FREE_FORM_KEYS = new Set(["arguments", "details", "data"]);

/** An entry or header with every text in it changed; what holds its shape together stays. */
export function redactTexts<Value>(value: Value, redact: (text: string) => string): Value {
  const visit = (member: unknown, name: string, isShape: boolean): unknown => {
    if (typeof member === "string") {
      return isShape && STRUCTURAL_KEYS.has(name) ? member : redact(member);
    }
    if (Array.isArray(member)) return member.map((item) => visit(item, "", isShape));
    if (typeof member !== "object" || member === null) return member;
    const members = Object.entries(member);
    return Object.fromEntries(
      members.map(([key, inner]) => [key, visit(inner, key, isShape && !FREE_FORM_KEYS.has(key))]),
    );
  };
  return visit(JSON.parse(safeStringify(value)), "", true) as Value;
}

function addToolResult(answers: Map<string, TranscriptTool["result"]>, entry: SessionEntry): void {
  if (entry.type === "tool_finished") {
    const { toolCallId, result, isError } = entry;
    answers.set(toolCallId, { parts: createParts(result.content, answers), isError });
  } else if (entry.type === "message" && entry.message.role === "tool_result") {
    const { toolCallId, content, isError } = entry.message;
    answers.set(toolCallId, { parts: createParts(content, answers), isError });
  }
}

function createItems(
  entry: SessionEntry,
  answers: ReadonlyMap<string, TranscriptTool["result"]>,
): TranscriptItem[] {
  if (entry.type === "message") return createMessageItems(entry.message, answers);
  const text = formatNote(entry);
  return text === undefined ? [] : [{ type: "note", timestamp: entry.timestamp, text }];
}

function createMessageItems(
  message: AgentMessage,
  answers: ReadonlyMap<string, TranscriptTool["result"]>,
): TranscriptItem[] {
  const { timestamp } = message;
  switch (message.role) {
    case "tool_result":
      return []; // shown with its call
    case "user":
      return [{
        type: "message",
        speaker: "user",
        timestamp,
        parts: createParts(message.content, answers),
      }];
    case "assistant":
      return [{
        type: "message",
        speaker: "assistant",
        timestamp,
        model: `${message.provider}/${message.modelId}`,
        ...(message.errorMessage !== undefined && { error: message.errorMessage }),
        parts: createParts(message.content, answers),
      }];
    case "custom": {
      const part = { type: "data", name: message.type, json: formatJson(message.data) } as const;
      return [{ type: "message", speaker: "application", timestamp, parts: [part] }];
    }
  }
}

function createParts(
  blocks: readonly ContentBlock[],
  answers: ReadonlyMap<string, TranscriptTool["result"]>,
): TranscriptPart[] {
  return blocks.flatMap((block): TranscriptPart[] => {
    switch (block.type) {
      case "text":
        return block.text === "" ? [] : [{ type: "text", text: block.text }];
      case "thinking":
        return block.thinking === "" ? [] : [{ type: "thinking", text: block.thinking }];
      case "image":
        return [{ type: "image", source: block.source }];
      case "extension":
        return []; // for a provider's eyes
      case "tool_call": {
        const result = answers.get(block.id);
        const args = formatJson(block.arguments);
        return [{ type: "tool", name: block.name, arguments: args, ...(result && { result }) }];
      }
    }
  });
}

function formatNote(entry: Exclude<SessionEntry, { type: "message" }>): string | undefined {
  switch (entry.type) {
    case "model_changed":
      return `Model: ${formatModel(entry.model)}`;
    case "compaction": {
      const left = `${entry.droppedCount} earlier messages were left out of requests from here on`;
      return entry.summary === undefined ? left : `${left}; in their place:\n\n${entry.summary}`;
    }
    case "sub_agent_spawned":
      return `Sub-agent ${entry.name ?? entry.subAgentId}: ${entry.prompt}`;
    case "sub_agent_result":
      return `Sub-agent ${entry.subAgentId} ${
        entry.isError ? "failed" : "answered"
      }: ${entry.result}`;
    case "plan_created":
      return `Plan:\n\n${entry.plan}`;
    case "plan_step":
      return `Step ${entry.step + 1} of the plan: ${entry.state.replace("_", " ")}`;
    case "plan_mode":
      return entry.active ? "Plan mode: read-only tools" : "Execute mode: all tools";
    case "approval":
      return formatApprovalNote(entry);
    case "run_ended":
      return entry.error && `The run ended with an error: ${entry.error.message}`;
    case "label":
      return entry.label === null ? undefined : `Label: ${entry.label}`;
    case "tool_started":
    case "tool_finished":
    case "tools_changed":
    case "queue_changed":
    case "approval_mode":
    case "title":
    case "leaf_moved":
    case "custom":
    case "opaque":
      return undefined;
  }
}

function formatApprovalNote(
  { name, decision }: Extract<SessionEntry, { type: "approval" }>,
): string {
  if (decision.type === "denied") {
    return decision.reason === undefined
      ? `Denied: ${name}`
      : `Denied: ${name} (${decision.reason})`;
  }
  const { scope = "once", prefix } = decision;
  if (scope === "once") return `Approved: ${name}`;
  return `Approved for the session: ${name}${prefix === undefined ? "" : ` ${prefix}…`}`;
}

function getTitle(
  entries: readonly SessionEntry[],
  messages: readonly AgentMessage[],
  id: string,
): string {
  const title = entries.findLast((entry) => entry.type === "title");
  if (title?.type === "title") return title.title;
  const first = messages.find((message) => message.role === "user");
  const [line = ""] = first?.role === "user" ? extractText(first.content).trim().split("\n") : [];
  return line === "" ? id : Array.from(line).slice(0, 80).join("");
}

function sumUsage(messages: readonly AgentMessage[]): { usage: Usage; cost: Cost } {
  let [usage, cost] = [zeroUsage(), zeroCost()];
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    usage = addUsage(usage, message.usage);
    cost = addCost(cost, message.cost);
  }
  return { usage, cost };
}

function formatModel({ provider, modelId, thinkingLevel }: ModelSpec): string {
  return `${provider}/${modelId}${thinkingLevel === "off" ? "" : `:${thinkingLevel}`}`;
}

function formatJson(value: unknown): string {
  return JSON.stringify(JSON.parse(safeStringify(value)), null, 2);
}

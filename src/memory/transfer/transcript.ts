/**
 * The readable form of a session, from which HTML and Markdown exports are made.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { checkNames } from "../../core/checks/check_names.ts";
import { isDeeperThan, isJsonObject, MAX_JSON_DEPTH } from "../../core/json/json.ts";
import {
  type ContentBlock,
  type DocumentBlock,
  extractText,
  extractToolCalls,
  type ImageSource,
} from "../../core/messages/content.ts";
import type { AgentMessage, ToolResultMessage } from "../../core/messages/message.ts";
import {
  addCost,
  addUsage,
  type Cost,
  type Usage,
  zeroCost,
  zeroUsage,
} from "../../core/models/usage.ts";
import type { PathOptions, Session } from "../../core/sessions/session.ts";
import type { SessionEntry, SessionHeader } from "../../core/sessions/session_entry.ts";
import { safeStringify } from "../store/safe_stringify.ts";
import { redactHeader, redactTexts } from "./redact_texts.ts";
import { measureTurns, type TurnMeasures } from "./turn_measures.ts";

/** Options for `exportHtml()` and `exportMarkdown()`. */
export interface ExportOptions extends Pick<PathOptions, "leaf"> {
  /** Called with every text before it is exported; returns the text without private parts. Default: no change. */
  readonly redact?: ((text: string) => string) | undefined;
}

const OPTION_NAMES: Readonly<Record<keyof ExportOptions, true>> = { leaf: true, redact: true };

/**
 * Checks the names of the options of an export: with a misspelt `redact`, it would have private texts.
 *
 * @throws {BadRequestError} If an option is unknown.
 */
function checkExportOptions(options: ExportOptions): void {
  checkNames(options, Object.keys(OPTION_NAMES), "an export");
}

/** A tool call and its result. */
export interface TranscriptTool {
  readonly type: "tool";
  /** Name of the tool. */
  readonly name: string;
  /** The arguments as indented JSON. */
  readonly arguments: string;
  /** The result; missing if the call has none. */
  readonly result?: TranscriptResult;
}

/** The result of a tool call. */
export interface TranscriptResult {
  /** The content that the model reads. */
  readonly parts: readonly TranscriptPart[];
  /** Whether the call failed. */
  readonly isError: boolean;
  /** The changes of files as unified diffs. */
  readonly diffs: readonly string[];
}

/** A part of a message. */
export type TranscriptPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "image"; readonly source: ImageSource }
  | { readonly type: "data"; readonly name: string; readonly json: string }
  | TranscriptTool;

/** The names of the speakers in exports. */
export const SPEAKER_LABELS = { user: "User", assistant: "Assistant", application: "Application" };

/** A message or a note about another event. */
export type TranscriptItem =
  | {
    readonly type: "message";
    readonly speaker: keyof typeof SPEAKER_LABELS;
    readonly timestamp: number;
    readonly model?: string;
    readonly error?: string;
    readonly parts: readonly TranscriptPart[];
  }
  | { readonly type: "note"; readonly timestamp: number; readonly text: string };

/** The readable form of a session. */
export interface Transcript {
  /** Title of the session, or the beginning of the first prompt. */
  readonly title: string;
  /** The header. */
  readonly header: SessionHeader;
  /** Usage of the replies. */
  readonly usage: Usage;
  /** Cost of the replies. */
  readonly cost: Cost;
  /** Tokens, cost and time of the turns. */
  readonly turns: readonly TurnMeasures[];
  /** Messages and notes, in order. */
  readonly items: readonly TranscriptItem[];
}

/** Reads a session's path as a transcript. */
export async function readTranscript(
  session: Session,
  options: ExportOptions = {},
): Promise<Transcript> {
  checkExportOptions(options);
  const { leaf, redact } = options;
  const path = await session.path(leaf === undefined ? {} : { leaf });
  const entries = redact ? path.map((entry) => redactTexts(entry, redact)) : path;
  const results = collectResults(entries);
  const messages = entries.flatMap((entry) => entry.type === "message" ? [entry.message] : []);
  const header = redact ? redactHeader(session.header, redact) : session.header;
  return {
    title: getTitle(entries, messages, header.id),
    header,
    ...sumUsage(messages),
    turns: measureTurns(entries),
    items: entries.flatMap((entry) => createItems(entry, results)),
  };
}

/** The results of tool calls. Calls are not found by their ids, which other programs give to one call of each reply. */
type CallResults = ReadonlyMap<ContentBlock, TranscriptResult>;

function collectResults(entries: readonly SessionEntry[]): CallResults {
  const results = new Map<ContentBlock, TranscriptResult>();
  const calls = new Map<string, ContentBlock>();
  for (const entry of entries) {
    if (entry.type === "message" && entry.message.role === "assistant") {
      for (const call of extractToolCalls(entry.message.content)) calls.set(call.id, call);
    }
    const found = findResult(entry);
    const call = found && calls.get(found.toolCallId);
    if (call) results.set(call, createResult(found, found.isError, results));
  }
  return results;
}

function findResult(
  entry: SessionEntry,
): Pick<ToolResultMessage, "toolCallId" | "content" | "details" | "isError"> | undefined {
  if (entry.type === "message") {
    return entry.message.role === "tool_result" ? entry.message : undefined;
  }
  if (entry.type !== "tool_finished") return undefined;
  const { toolCallId, result: { content, details }, isError } = entry;
  return { toolCallId, content, details, isError };
}

function createResult(
  { content, details }: { readonly content: readonly ContentBlock[]; readonly details?: unknown },
  isError: boolean,
  results: CallResults,
): TranscriptResult {
  return { parts: createParts(content, results), isError, diffs: findDiffs(details) };
}

/** Returns the diff of the change that a tool of files describes in the details of its result. */
function findDiffs(details: unknown): string[] {
  const change = isJsonObject(details) ? details.change : undefined;
  const diff = isJsonObject(change) ? change.diff : undefined;
  return typeof diff === "string" && diff !== "" ? [diff] : [];
}

function createItems(
  entry: SessionEntry,
  results: CallResults,
): TranscriptItem[] {
  if (entry.type === "message") return createMessageItems(entry.message, results);
  const text = formatNote(entry);
  return text === undefined ? [] : [{ type: "note", timestamp: entry.timestamp, text }];
}

function createMessageItems(
  message: AgentMessage,
  results: CallResults,
): TranscriptItem[] {
  const { timestamp } = message;
  switch (message.role) {
    case "tool_result":
      return []; // Shown with its call.
    case "user":
      return [{
        type: "message",
        speaker: "user",
        timestamp,
        parts: createParts(message.content, results),
      }];
    case "assistant":
      return [{
        type: "message",
        speaker: "assistant",
        timestamp,
        model: `${message.provider}/${message.modelId}`,
        ...(message.errorMessage !== undefined && { error: message.errorMessage }),
        parts: createParts(message.content, results),
      }];
    case "custom": {
      const part = { type: "data", name: message.type, json: formatJson(message.data) } as const;
      return [{ type: "message", speaker: "application", timestamp, parts: [part] }];
    }
  }
}

function createParts(
  blocks: readonly ContentBlock[],
  results: CallResults,
): TranscriptPart[] {
  return blocks.flatMap((block): TranscriptPart[] => {
    switch (block.type) {
      case "text":
        return block.text === "" ? [] : [{ type: "text", text: block.text }];
      case "thinking":
        return block.thinking === "" ? [] : [{ type: "thinking", text: block.thinking }];
      case "image":
        return [{ type: "image", source: block.source }];
      case "document":
        return [{ type: "text", text: `(document: ${getDocumentName(block)})` }];
      case "audio":
        return [{ type: "text", text: `(audio: ${block.mediaType})` }];
      case "tool_call": {
        const result = results.get(block);
        const args = formatJson(block.arguments);
        return [{ type: "tool", name: block.name, arguments: args, ...(result && { result }) }];
      }
      case "extension":
        return []; // For the provider only.
      default:
        return createUnknownPart(block);
    }
  });
}

/** Another program may have written a name that is not a text. */
function getDocumentName({ name, mediaType }: DocumentBlock): string {
  return typeof name === "string" ? name : mediaType;
}

/** A later version may have types of blocks that this one does not know. */
function createUnknownPart(block: never): TranscriptPart[] {
  const { type } = block as ContentBlock;
  return [{ type: "data", name: String(type), json: formatJson(block) }];
}

function formatNote(entry: Exclude<SessionEntry, { type: "message" }>): string | undefined {
  switch (entry.type) {
    case "model_changed": {
      const { provider, modelId, thinkingLevel } = entry.model;
      return `Model: ${provider}/${modelId}${thinkingLevel === "off" ? "" : `:${thinkingLevel}`}`;
    }
    case "compaction": {
      const text = `Later requests omit ${entry.droppedCount} earlier messages`;
      return entry.summary === undefined ? text : `${text}. Summary:\n\n${entry.summary}`;
    }
    case "sub_agent_spawned":
      return `Sub-agent ${entry.name ?? entry.subAgentId}: ${entry.prompt}`;
    case "sub_agent_result":
      return `Sub-agent ${entry.subAgentId} ${
        entry.status ?? (entry.isError ? "failed" : "finished")
      }: ${entry.result}`;
    case "plan_created":
      return `Plan:\n\n${entry.plan}`;
    case "plan_step":
      return `Step ${entry.step + 1} of the plan: ${entry.state.replace("_", " ")}`;
    case "plan_mode":
      return entry.active ? "Plan mode: read-only tools" : "Execute mode: all tools";
    case "approval":
      return formatApprovalNote(entry);
    case "approvals_pending": {
      const names = entry.pendingApprovals.map(({ name }) => name).join(", ");
      return names === "" ? undefined : `Approvals pending: ${names}`;
    }
    case "reply_failed":
      return `No reply: ${entry.message.errorMessage ?? entry.message.stopReason}`;
    case "run_ended":
      return entry.error && `The run ended with an error: ${entry.error.message}`;
    case "label":
      return entry.label === null ? undefined : `Label: ${entry.label}`;
    case "tool_started":
    case "tool_finished":
    case "tools_changed":
    case "system_prompt_changed":
    case "sub_agent_message":
    case "grants_changed":
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
  const ground = formatGround(decision);
  if (decision.type === "denied") {
    const reason = decision.reason === undefined ? "" : ` (${decision.reason})`;
    return `Denied: ${name}${reason}${ground}`;
  }
  const { scope = "once", prefix } = decision;
  if (scope === "once") return `Approved: ${name}${ground}`;
  const grant = prefix === undefined ? "" : ` ${prefix}…`;
  return `Approved for the session: ${name}${grant}${ground}`;
}

/** Formats who or what decided, as far as that is recorded. */
function formatGround({ rule, ruleSource, origin }: ApprovalDecision): string {
  const source = ruleSource === undefined ? "" : ` of ${ruleSource}`;
  if (rule !== undefined) return `, by the rule ${rule}${source}`;
  return origin === undefined ? "" : `, by ${ORIGINS.get(origin) ?? origin}`;
}

const ORIGINS = new Map<string, string>([
  ["person", "a person"],
  ["rule", "a rule"],
  ["mode", "the approval mode"],
  ["policy", "a policy"],
]);

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

/** Formats a value as indented JSON; one that is nested too deeply for that, on one line. */
function formatJson(value: unknown): string {
  const text = safeStringify(value);
  const parsed: unknown = JSON.parse(text);
  return isDeeperThan(parsed, MAX_JSON_DEPTH) ? text : JSON.stringify(parsed, null, 2);
}

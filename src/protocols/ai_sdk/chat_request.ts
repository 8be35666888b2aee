/**
 * The request of a page with `useChat()`.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { BadRequestError } from "../../core/errors/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { parseObject, readText } from "../web_client/client_json.ts";
import type { ContinuedMessage } from "./chunk_mapper.ts";
import { fromUiMessage } from "./from_ui_message.ts";

/** The request of a page. Everything in it is written by its user. */
export interface UiChatRequest {
  /** Id of the conversation. */
  readonly id: string;
  /** The requested answer: one to the last message, or another one. */
  readonly trigger: "submit-message" | "regenerate-message";
  /** The conversation as the page has it, without messages of the role `system`. */
  readonly messages: readonly AgentMessage[];
  /** The decisions of the user on pending approvals, by the id of the tool call. */
  readonly approvals: Readonly<Record<string, ApprovalDecision>>;
  /** The message that the answer continues, such as one with answered approvals; `undefined` for a new one. */
  readonly continued: ContinuedMessage | undefined;
  /** The whole body, with the additional properties of the page. */
  readonly body: JsonObject;
}

/**
 * Parses the body of a request.
 *
 * @throws {BadRequestError} If it is invalid.
 */
export function parseChatRequest(text: string, now: number): UiChatRequest {
  const body = parseObject(text);
  const { trigger = "submit-message", messageId } = body;
  const list = readMessages(body);
  if (trigger !== "submit-message" && trigger !== "regenerate-message") {
    throw new BadRequestError("trigger must be submit-message or regenerate-message");
  }
  const continued = trigger === "submit-message"
    ? findContinued(list, messageId ?? undefined)
    : undefined;
  return {
    id: readText(body, "id"),
    trigger,
    messages: list.flatMap((message, index) =>
      fromUiMessage(message, { path: `messages[${index}]`, now })
    ),
    approvals: continued ? readDecisions(continued) : {},
    continued: continued && toContinued(continued),
    body,
  };
}

/** Returns the messages; a page may send only its last one, as `message`. */
function readMessages({ message, messages = [message] }: JsonObject): readonly JsonObject[] {
  if (Array.isArray(messages) && messages.every((message) => isJsonObject(message))) {
    return messages;
  }
  throw new BadRequestError("messages must be a list of objects, or message an object");
}

/** Returns the message to which a page adds the answer: that of the id, or the last one, unless its user has written it. */
function findContinued(messages: readonly JsonObject[], id: unknown): JsonObject | undefined {
  const message = messages.find((message) => message["id"] === id) ?? messages.at(-1);
  return message?.["role"] === "assistant" ? message : undefined;
}

function toContinued(message: JsonObject): ContinuedMessage {
  const toolCallIds = listToolParts(message).map(({ toolCallId }) => toolCallId);
  return { id: readText(message, "id"), toolCallIds };
}

function readDecisions(message: JsonObject): Record<string, ApprovalDecision> {
  const decisions = new Map<string, ApprovalDecision>();
  for (const { toolCallId, state, approval } of listToolParts(message)) {
    if (state !== "approval-responded" || !isJsonObject(approval)) continue;
    // The agent has decided this one, not the user.
    if (approval["isAutomatic"] === true) continue;
    decisions.set(toolCallId, toDecision(approval));
  }
  return Object.fromEntries(decisions);
}

/** An answer that is not an approval is a refusal. */
function toDecision({ approved, reason }: JsonObject): ApprovalDecision {
  if (approved === true) return { type: "approved", origin: "person" };
  return { type: "denied", origin: "person", ...(typeof reason === "string" && { reason }) };
}

/** A part of a tool call. */
interface ToolPart {
  readonly toolCallId: string;
  readonly state: unknown;
  readonly approval: unknown;
}

function listToolParts({ parts }: JsonObject): ToolPart[] {
  if (!Array.isArray(parts)) return [];
  return parts.flatMap((part: unknown) => {
    if (!isJsonObject(part) || typeof part["toolCallId"] !== "string") return [];
    const { toolCallId, state, approval } = part;
    return [{ toolCallId, state, approval }];
  });
}

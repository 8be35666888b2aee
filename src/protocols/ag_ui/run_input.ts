/**
 * The input of a run, as a client sends it.
 *
 * @module
 */

import type { ApprovalDecision } from "../../core/approval/approval.ts";
import { isJsonObject } from "../../core/json/json.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import type { ClientTool } from "../web_client/client_input.ts";
import { checkReadable, parseObject, readList, readText } from "../web_client/client_json.ts";
import type { AgUiMessage } from "./ag_ui_event.ts";
import { toHistory } from "./from_client_message.ts";
import { readDecisions } from "./read_decisions.ts";

/** A tool that the client runs. */
export type AgUiTool = ClientTool;

/** The input of a run. Everything in it is written by the client. */
export interface AgUiRunInput {
  /** Id of the conversation. */
  readonly threadId: string;
  /** Id of the run. */
  readonly runId: string;
  /**
   * The conversation as the client has it; messages of the roles `system`, `developer` and `activity` are left out, and so
   * are those of sub-agents, which are not part of the history.
   */
  readonly messages: readonly AgentMessage[];
  /** The same messages as the client wrote them. */
  readonly clientMessages: readonly AgUiMessage[];
  /** The tools of the client. */
  readonly tools: readonly AgUiTool[];
  /** Facts about what the user sees. */
  readonly context: readonly { readonly description: string; readonly value: string }[];
  /** The decisions on pending approvals, by the id of the tool call. */
  readonly approvals: Readonly<Record<string, ApprovalDecision>>;
  /** State of the client, any JSON value. */
  readonly state: unknown;
  /** Properties for the application, any JSON value. */
  readonly forwardedProps: unknown;
}

/**
 * Parses the JSON of a run input.
 *
 * @throws {BadRequestError} If it is invalid.
 */
export function parseRunInput(text: string, now: number): AgUiRunInput {
  const input = parseObject(text);
  const clientMessages = readList(input, "messages");
  checkReadable(input["state"], "state");
  return {
    threadId: readText(input, "threadId"),
    runId: readText(input, "runId"),
    clientMessages: clientMessages as unknown as AgUiMessage[],
    messages: toHistory(clientMessages, now),
    tools: readList(input, "tools").map((tool, index) => ({
      name: readText(tool, "name", `tools[${index}].`),
      description: readText(tool, "description", `tools[${index}].`),
      parameters: isJsonObject(tool["parameters"])
        ? tool["parameters"]
        : { type: "object", properties: {} },
    })),
    context: readList(input, "context").map((entry, index) => ({
      description: readText(entry, "description", `context[${index}].`),
      value: readText(entry, "value", `context[${index}].`),
    })),
    approvals: readDecisions(input, text),
    state: input["state"],
    forwardedProps: input["forwardedProps"],
  };
}

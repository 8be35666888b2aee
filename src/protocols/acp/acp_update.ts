/**
 * The part of the Agent Client Protocol that the library writes and reads.
 *
 * @module
 */

import type { JsonObject } from "../../core/json/json.ts";

/** A part of a text, or a medium. */
export type AcpContent =
  | { type: "text"; text: string }
  | { type: "image" | "audio"; data: string; mimeType: string }
  | { type: "resource_link"; uri: string; name: string };

/** Content of a tool call: output, the change of a file, or a terminal. */
export type AcpToolContent =
  | { type: "content"; content: AcpContent }
  | { type: "diff"; path: string; oldText: string | null; newText: string }
  | { type: "terminal"; terminalId: string };

/** Kind of a tool, by which clients choose an icon. */
export type AcpToolKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "switch_mode"
  | "other";

/** A place in a file that a tool call works on. */
export interface AcpLocation {
  /** Absolute path of the file. */
  path: string;
  /** Line, from 1. */
  line?: number;
}

/** A tool call, or a change of it: members that are missing do not change. */
export interface AcpToolCallFields {
  /** Id of the call. */
  toolCallId: string;
  /** Description for the user. */
  title?: string;
  /** Kind of the tool. */
  kind?: AcpToolKind;
  /** Progress. */
  status?: "pending" | "in_progress" | "completed" | "failed";
  /** Output and changes so far. */
  content?: AcpToolContent[];
  /** The files that the call works on. */
  locations?: AcpLocation[];
  /** The arguments. */
  rawInput?: unknown;
  /** The result. */
  rawOutput?: unknown;
  /** Data that the protocol does not define, by keys with a prefix. */
  _meta?: JsonObject;
}

/** A step of a plan. */
export interface AcpPlanEntry {
  /** Description of the step. */
  content: string;
  /** Importance of the step. */
  priority: "high" | "medium" | "low";
  /** Progress of the step. */
  status: "pending" | "in_progress" | "completed";
}

/** A command that the user can type. */
export interface AcpCommand {
  /** Name, without a slash. */
  name: string;
  /** Description for the user. */
  description: string;
  /** Hint about the text behind the name. Default: the command takes no text. */
  input?: { hint: string } | null;
}

/** A mode of a session. */
export interface AcpMode {
  /** Id of the mode. */
  id: string;
  /** Name for the user. */
  name: string;
  /** Description for the user. */
  description?: string;
}

/** A setting of a session with a list of values. */
export interface AcpConfigOption {
  /** Kind of setting. */
  type: "select";
  /** Id of the setting. */
  id: string;
  /** Name for the user. */
  name: string;
  /** Purpose of the setting, by which clients place it. */
  category?: "mode" | "model" | "thought_level";
  /** The current value. */
  currentValue: string;
  /** The values. */
  options: { value: string; name: string; description?: string }[];
}

/** A message about a session to the client. */
export type AcpUpdate =
  | {
    sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";
    content: AcpContent;
    messageId?: string;
  }
  | (AcpToolCallFields & { sessionUpdate: "tool_call"; title: string })
  | (AcpToolCallFields & { sessionUpdate: "tool_call_update" })
  | { sessionUpdate: "plan"; entries: AcpPlanEntry[] }
  | { sessionUpdate: "available_commands_update"; availableCommands: AcpCommand[] }
  | { sessionUpdate: "current_mode_update"; currentModeId: string }
  | { sessionUpdate: "config_option_update"; configOptions: AcpConfigOption[] }
  | { sessionUpdate: "session_info_update"; title?: string }
  | {
    sessionUpdate: "usage_update";
    used: number;
    size: number;
    cost?: { amount: number; currency: string };
  };

/** The reason why a prompt has ended. */
export type AcpStopReason =
  | "end_turn"
  | "max_tokens"
  | "max_turn_requests"
  | "refusal"
  | "cancelled";

/** A server of the Model Context Protocol that the client names. */
export type AcpMcpServer = JsonObject & { readonly name: string };

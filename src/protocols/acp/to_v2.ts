/**
 * Messages of version 1 in the form of the draft of version 2.
 *
 * @module
 */

import { createUnifiedDiff } from "../../core/diff/unified_diff.ts";
import type {
  AcpCommand,
  AcpConfigOption,
  AcpToolCallFields,
  AcpToolContent,
  AcpUpdate,
} from "./acp_update.ts";

/** Id of the plan of a session, which has one at a time. */
const PLAN_ID = "plan";

/** Returns the updates for one of version 1; modes exist only as a setting. */
export function toV2Update(update: AcpUpdate, newId: () => string): object[] {
  switch (update.sessionUpdate) {
    case "user_message_chunk":
    case "agent_message_chunk":
    case "agent_thought_chunk":
      return [{ ...update, messageId: update.messageId || newId() }];
    case "tool_call":
    case "tool_call_update":
      return [{ ...toV2Call(update), sessionUpdate: "tool_call_update" }];
    case "plan": {
      const plan = { type: "items", planId: PLAN_ID, entries: update.entries };
      return [{ sessionUpdate: "plan_update", plan }];
    }
    case "available_commands_update":
      return [{ ...update, availableCommands: toV2Commands(update.availableCommands) }];
    case "config_option_update":
      return [{ ...update, configOptions: toV2Config(update.configOptions) }];
    case "current_mode_update":
      return [];
    case "session_info_update":
    case "usage_update":
      return [update];
    default:
      return update satisfies never;
  }
}

/** Returns the fields of a call. */
export function toV2Call({ content, ...fields }: AcpToolCallFields): object {
  return { ...fields, ...(content && { content: content.map(toV2Content) }) };
}

/** A difference is a list of operations with a patch. */
function toV2Content(content: AcpToolContent): object {
  if (content.type !== "diff") return content;
  const { path, oldText, newText } = content;
  const patch = createUnifiedDiff({
    path: path.replace(/^\/+/, ""),
    before: oldText,
    after: newText,
  });
  return {
    type: "diff",
    changes: [{ operation: oldText === null ? "add" : "modify", path }],
    ...(patch !== "" && { patch: { format: "git_patch", text: patch } }),
  };
}

/** Returns the commands. */
export function toV2Commands(commands: readonly AcpCommand[]): object[] {
  return commands.map(({ input, ...command }) => ({
    type: "command",
    ...command,
    ...(input && { input: { type: "text", hint: input.hint } }),
  }));
}

/** Returns the settings. */
export function toV2Config(options: readonly AcpConfigOption[]): object[] {
  return options.map(({ id: configId, ...option }) => ({ configId, ...option }));
}

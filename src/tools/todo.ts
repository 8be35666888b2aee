/**
 * The `todo` tool, the agent's own list of steps.
 *
 * @module
 */

import { textResult } from "../core/messages/tool_result.ts";
import { type AgentTool, defineTool } from "../core/tools/tool.ts";

/** One step of the list. */
export interface TodoItem {
  /** Description of the step. */
  readonly text: string;
  /** Progress of the step. */
  readonly status: "pending" | "in_progress" | "done";
}

const MARKS: Readonly<Record<TodoItem["status"], string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  done: "[x]",
};

/** Creates `todo`. Each result holds the complete list as `details.items`, of type `TodoItem[]`. */
export function todoTool(): AgentTool {
  return defineTool({
    name: "todo",
    label: "Plan",
    description:
      "Keeps your plan for a task of several steps. Pass the complete list each time; keep one step in progress.",
    parameters: {
      type: "object",
      properties: {
        items: {
          type: "array",
          maxItems: 100,
          items: {
            type: "object",
            properties: {
              text: { type: "string" },
              status: { enum: ["pending", "in_progress", "done"] },
            },
            required: ["text", "status"],
            additionalProperties: false,
          },
        },
      },
      required: ["items"],
      additionalProperties: false,
    },
    readOnly: true,
    sequential: true,
    execute: ({ items }) => {
      const done = items.filter(({ status }) => status === "done").length;
      const lines = items.map(({ text, status }) => `${MARKS[status]} ${text}`);
      return textResult([`${done} of ${items.length} done`, ...lines].join("\n"), { items });
    },
  });
}

/**
 * The tool with which an agent keeps its own list of steps.
 *
 * @module
 */

import { type AgentTool, defineTool, textResult } from "../core/tool.ts";

/** One step. */
export interface TodoItem {
  /** What is to be done. */
  readonly text: string;
  /** How far it is. */
  readonly status: "pending" | "in_progress" | "done";
}

const MARKS: Readonly<Record<TodoItem["status"], string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  done: "[x]",
};

/** Makes `todo`. The list is in `details.items` of every result. */
export function todoTool(): AgentTool {
  return defineTool({
    name: "todo",
    label: "Plan",
    description:
      "Keeps your plan for a task of several steps. Pass the whole list each time; have one step in progress.",
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

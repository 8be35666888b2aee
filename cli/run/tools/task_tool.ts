/**
 * The tool that gives a part of the work to another agent.
 *
 * @module
 */

import type { AgentTool, Policy } from "../../../mod.ts";
import { importLate } from "../../host/import_late.ts";

/** Name of the tool. */
export const TASK_TOOL = "task";

/** Options for `createTaskTool()`. */
export interface TaskToolOptions {
  /** System prompt of the agents. */
  readonly systemPrompt: string;
  /** Policies of the agents, in addition to those of the run. */
  readonly policies: readonly Policy[];
  /** Whether they get only tools that change nothing; the tool then changes nothing either. */
  readonly readOnly: boolean;
}

/**
 * Creates the tool. Its agents have the tools and the rights of the run that calls it, except for what a user would be
 * asked about, and cannot start others. Their code is loaded for the first call, since most runs have none.
 */
export function createTaskTool(options: TaskToolOptions): AgentTool {
  const { readOnly } = options;
  let loading: Promise<AgentTool> | undefined;
  return {
    name: TASK_TOOL,
    description: DESCRIPTION,
    parameters: PARAMETERS,
    readOnly,
    // The calls of the agent are decided one by one.
    requiresApproval: false,
    risk: "read",
    countedBy: "all",
    async execute(args, context) {
      loading ??= loadTool(options);
      return await (await loading).execute(args, context);
    },
  };
}

const DESCRIPTION =
  "Gives a task to another agent, which has these tools and an empty conversation, and returns its report. " +
  "For searches and reviews that read a lot; several at once for independent parts.";

const PARAMETERS = {
  type: "object",
  properties: {
    prompt: {
      type: "string",
      description: "The task, with everything that the agent must know and report",
    },
  },
  required: ["prompt"],
  additionalProperties: false,
} as const;

async function loadTool({ systemPrompt, policies, readOnly }: TaskToolOptions): Promise<AgentTool> {
  const { subAgentTool } = await importLate<
    typeof import("../../../src/sub_agents/mod.ts")
  >("../../../src/sub_agents/mod.ts", import.meta.url);
  return subAgentTool({
    name: TASK_TOOL,
    description: DESCRIPTION,
    systemPrompt,
    readOnly,
    policies: [...policies, ONE_LEVEL],
  });
}

/** Agents of this tool do not start others. */
const ONE_LEVEL: Policy = {
  name: "one_level",
  canUseTool: ({ type, tool }) => type !== "tool" || tool.name !== TASK_TOOL,
};

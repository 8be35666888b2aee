/**
 * The search for tools, if the servers have too many to describe all of them in every request.
 *
 * @module
 */

import type { RunHandle } from "../../core/events/run_handle.ts";
import type { Policy, PreRequestContext } from "../../core/hooks/policy.ts";
import type { AgentMessage } from "../../core/messages/message.ts";
import { type AgentToolResult, textResult } from "../../core/messages/tool_result.ts";
import { estimateToolTokens } from "../../core/streams/tokens.ts";
import { type AgentTool, defineTool } from "../../core/tools/tool.ts";
import { ParentRun } from "../../loop/run/parent_run.ts";

/** Name of the tool that searches. */
const SEARCH_TOOL_NAME = "mcp_search_tools";

/** Part of the context window that the tools of servers may fill. */
const WINDOW_PART = 0.1;
/** The context window of models whose own is unknown, in tokens. */
const DEFAULT_WINDOW = 128_000;
/** Maximum number of words of a query; the others are ignored. */
const MAX_WORDS = 50;
/** Maximum number of tools in a result of the search. */
const MAX_FOUND = 10;
/** Maximum number of characters of a description in a result of the search. */
const MAX_DESCRIPTION = 300;

/** Creates the tool that searches the tools of servers. */
export function createSearchTool(
  tools: readonly AgentTool[],
  servers: readonly string[],
): AgentTool {
  return defineTool({
    name: SEARCH_TOOL_NAME,
    label: "Search tools",
    description: `Finds tools among the ${tools.length} of these servers: ${servers.join(", ")}. ` +
      "Found tools can be called from the next turn on.",
    parameters: {
      type: "object",
      properties: {
        query: { type: "string", description: "Words in the name or the description of the tool." },
      },
      required: ["query"],
    },
    readOnly: true,
    execute: ({ query }, { run }) => formatFound(findTools(selectUsable(tools, run), query)),
  });
}

/** Returns the tools that the run has: an agent below another one, or one in plan mode, may have less of them. */
function selectUsable(tools: readonly AgentTool[], run: RunHandle): readonly AgentTool[] {
  if (!(run instanceof ParentRun)) return tools;
  const usable = new Set(run.tools);
  return tools.filter((tool) => usable.has(tool));
}

/**
 * Returns the tools with the most words of a query, best first. A word in the name counts more, and so does one that few
 * tools have: those such as "the" and "file" are in most descriptions.
 */
function findTools(tools: readonly AgentTool[], query: string): readonly AgentTool[] {
  const words = new Set(query.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean));
  const texts = tools.map((tool) => ({
    tool,
    name: tool.name.toLowerCase(),
    description: tool.description.toLowerCase(),
  }));
  const scores = new Map<AgentTool, number>();
  for (const word of [...words].slice(0, MAX_WORDS)) {
    const matching = texts.filter((text) => matchWord(text, word) > 0);
    const weight = Math.log(1 + tools.length / matching.length);
    for (const text of matching) {
      scores.set(text.tool, (scores.get(text.tool) ?? 0) + matchWord(text, word) * weight);
    }
  }
  const found = tools.filter((tool) => scores.has(tool));
  // Stable: tools with equal scores stay sorted by name.
  found.sort((left, right) => (scores.get(right) ?? 0) - (scores.get(left) ?? 0));
  return found.slice(0, MAX_FOUND);
}

function matchWord(
  { name, description }: Pick<AgentTool, "name" | "description">,
  word: string,
): number {
  return (name.includes(word) ? 3 : 0) + (description.includes(word) ? 1 : 0);
}

function formatFound(tools: readonly AgentTool[]): AgentToolResult {
  if (tools.length === 0) return textResult("No tool found. Search with other words.");
  const lines = tools.map(({ name, description }) => `- ${name}: ${shorten(description)}`);
  const names = tools.map(({ name }) => name);
  return textResult(`Found these tools, which can be called now:\n${lines.join("\n")}`, {
    tools: names,
  });
}

function shorten(description: string): string {
  const line = description.replaceAll(/\s+/g, " ");
  return line.length > MAX_DESCRIPTION ? `${line.slice(0, MAX_DESCRIPTION)}…` : line;
}

/**
 * Creates the policy that describes the tools of servers to the model: all of them if they take up at most a tenth of the
 * context window, otherwise the search tool, and those that were found or called last. It only leaves tools out of a
 * request, so that an agent never has more than its own, and applies to agents below it as well.
 */
export function createToolSearchPolicy(isServerTool: (tool: AgentTool) => boolean): Policy {
  return {
    name: "mcp",
    preRequest({ tools, messages, contextWindow = DEFAULT_WINDOW }: PreRequestContext) {
      const own = tools.filter(isServerTool);
      const search = own.find(({ name }) => name === SEARCH_TOOL_NAME);
      // Without the search, such as that of another connection with the same name, no tool could be found.
      if (!search) return undefined;
      const candidates = own.filter((tool) => tool !== search);
      const budget = contextWindow * WINDOW_PART;
      if (countTokens(candidates) <= budget) return { type: "hide", tools: [search] };
      const names = listRecentNames(messages);
      const offered = new Set(selectRecent(candidates, { names, budget }));
      return { type: "hide", tools: candidates.filter((tool) => !offered.has(tool)) };
    },
  };
}

const tokensByTool = new WeakMap<AgentTool, number>();

function countTokens(tools: readonly AgentTool[]): number {
  return tools.reduce((tokens, tool) => {
    const known = tokensByTool.get(tool) ?? estimateToolTokens([tool]);
    tokensByTool.set(tool, known);
    return tokens + known;
  }, 0);
}

/** Returns the tools with these names, in this order, as far as they fit; at least the first. */
function selectRecent(
  tools: readonly AgentTool[],
  { names, budget }: { readonly names: Iterable<string>; readonly budget: number },
): readonly AgentTool[] {
  const toolsByName = new Map(tools.map((tool) => [tool.name, tool]));
  const selected: AgentTool[] = [];
  let remaining = budget;
  for (const name of names) {
    const tool = toolsByName.get(name);
    if (!tool) continue;
    remaining -= countTokens([tool]);
    if (remaining < 0 && selected.length > 0) break;
    selected.push(tool);
  }
  return selected;
}

/** Returns the names of the tools that were found or called, latest first. */
function listRecentNames(messages: readonly AgentMessage[]): ReadonlySet<string> {
  return new Set(messages.toReversed().flatMap(listNames));
}

function listNames(message: AgentMessage): readonly string[] {
  if (message.role === "assistant") {
    return message.content.flatMap((block) => block.type === "tool_call" ? [block.name] : []);
  }
  if (message.role !== "tool_result" || message.toolName !== SEARCH_TOOL_NAME) return [];
  const { tools = [] } = (message.details ?? {}) as { readonly tools?: readonly string[] };
  return tools;
}

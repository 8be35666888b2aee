/**
 * `/mcp`: shows the MCP servers, starts one again, and sends their prompts and resources to the model.
 *
 * @module
 */

import type { PromptInput } from "../../../mod.ts";
import type { McpConnection, McpServerStatus } from "../../../src/mcp/mod.ts";
import { didYouMean } from "../../command_line/suggestion.ts";
import { UsageError } from "../../host/cli_error.ts";
import type { Line } from "../../render/line/line.ts";
import { toOneLine, toPlainText } from "../../render/plain_text.ts";
import { pluralize } from "../../render/tool_line.ts";
import { type ArgumentChoice, defineCommand } from "../command/conversation_command.ts";
import { formatPrompt, requestPrompt, requestResource } from "../command/server_inputs.ts";
import { toLine, toLines } from "../view/lines.ts";

/** `/mcp`. */
export const mcp = defineCommand({
  names: ["/mcp"],
  argument: "[restart SERVER|prompt …|read …]",
  summary: "Shows the MCP servers with their tools, prompts and resources, or uses one",
  worksDuringRuns: true,
  complete: async ({ setup: { controls: { tools: { servers } } } }, signal) =>
    servers ? await listChoices(servers, signal) : [],
  async run(argument, { view, host, runs, setup: { controls } }) {
    const { servers: connection } = controls.tools;
    if (!connection) {
      return await view.print(toLines("No MCP server; swink mcp add configures one", "faint"));
    }
    const [, word = "", rest = ""] = /^(\S*)\s*([\s\S]*)$/.exec(argument) ?? [];
    switch (word) {
      case "prompt":
      case "read": {
        if (runs.isRunning) throw new UsageError(`/mcp ${word} works when no run is active`);
        const request = word === "prompt" ? requestPrompt : requestResource;
        let input: PromptInput | undefined;
        // The user can abort it when the server does not answer.
        runs.startTask(`/mcp ${word}`, async (signal) => {
          input = await request(connection, rest, { signal, now: host.now() });
        });
        await runs.untilIdle();
        if (input !== undefined) runs.prompt(input);
        return;
      }
      case "restart":
        await restart(connection, rest);
        break;
      case "":
        break;
      default:
        throw new UsageError(
          `/mcp takes restart SERVER, prompt SERVER NAME or read SERVER ADDRESS, not ${word}`,
        );
    }
    await view.print([
      ...connection.servers.flatMap(formatServer),
      ...await formatInputs(connection),
    ]);
  },
});

async function restart(connection: McpConnection, name: string): Promise<void> {
  const names = connection.servers.map((server) => server.name);
  if (names.includes(name)) return await connection.restart(name);
  throw new UsageError(`There is no server ${JSON.stringify(name)}${didYouMean(name, names)}`);
}

/** Maximum time for the lists of the servers, in milliseconds. */
const LIST_MS = 5_000;

/** The prompts and the resources of the servers; none if a server does not answer in time. */
async function listInputs(connection: McpConnection, stop?: AbortSignal) {
  const timeout = AbortSignal.timeout(LIST_MS);
  const signal = stop ? AbortSignal.any([stop, timeout]) : timeout;
  const [prompts, resources] = await Promise.all([
    connection.listPrompts({ signal }).catch(() => []),
    connection.listResources({ signal }).catch(() => []),
  ]);
  return { prompts, resources };
}

async function listChoices(
  connection: McpConnection,
  signal: AbortSignal,
): Promise<readonly ArgumentChoice[]> {
  const { prompts, resources } = await listInputs(connection, signal);
  return [
    ...connection.servers.map(({ name }) => ({ text: `restart ${name}` })),
    ...prompts.map(({ server, name, description }) => ({
      text: `prompt ${server} ${name}`,
      detail: description,
    })),
    ...resources.map(({ server, uri, title, name }) => ({
      text: `read ${server} ${uri}`,
      detail: title ?? name,
    })),
  ];
}

/** Formats the commands for the prompts and the resources of the servers. */
async function formatInputs(connection: McpConnection): Promise<Line[]> {
  const { prompts, resources } = await listInputs(connection);
  return [
    ...prompts.map((prompt) => formatInput(`/mcp prompt ${formatPrompt(prompt)}`, prompt)),
    ...resources.map((resource) =>
      formatInput(`/mcp read ${resource.server} ${resource.uri}`, resource)
    ),
  ];
}

function formatInput(
  command: string,
  { description = "" }: { readonly description?: string },
): Line {
  const text = toOneLine(toPlainText(description));
  return [
    { text: toOneLine(toPlainText(command)) },
    ...(text === "" ? [] : [{ text: `  ${text}`, role: "faint" } as const]),
  ];
}

function formatServer({ name, state, tools }: McpServerStatus): Line[] {
  const reason = "reason" in state ? `: ${state.reason}` : "";
  return [
    [
      { text: name, role: "name" },
      { text: ` ${state.type}${reason}`, role: state.type === "ready" ? "success" : "warning" },
      { text: ` · ${pluralize(tools.length, "tool")}`, role: "faint" },
    ],
    ...tools.map((tool) => toLine(`  ${tool}`, "faint")),
  ];
}

/**
 * `swink mcp`: the MCP servers of the user.
 *
 * @module
 */

import { type ArgumentDefinition, defineCommand } from "../command_line/definition.ts";
import { ExitCode } from "../host/exit_code.ts";
import { importLate } from "../host/import_late.ts";

const { ok, failed, usage, configuration } = ExitCode;

const NAME: ArgumentDefinition = {
  name: "name",
  description: "Name of the server: letters, digits, hyphens and underscores.",
};

const add = defineCommand({
  name: "add",
  summary: "Adds a server for all projects: a program, or a URL",
  arguments: [NAME, {
    name: "command",
    description: "The command of the program with its arguments, after --, or a URL.",
    variadic: true,
    isFile: true,
  }],
  options: {
    env: {
      type: "string",
      value: "variable",
      description: "Variable of the program, as NAME=VALUE; ${NAME} is a variable of this process.",
      repeatable: true,
    },
    header: {
      type: "string",
      value: "header",
      description: "Header of the requests, as NAME: VALUE.",
      repeatable: true,
    },
  },
  examples: [
    ["swink mcp add files -- mcp-server-filesystem .", "a program"],
    [
      "swink mcp add github https://mcp.example --header 'Authorization: Bearer ${GITHUB_TOKEN}'",
      "a server over HTTP",
    ],
  ],
  exitCodes: [ok, usage, configuration],
  async action({ options, arguments: [name = "", ...command] }, host) {
    const { addServer } = await loadActions();
    return await addServer({ name, command, ...options }, host);
  },
});

const list = defineCommand({
  name: "list",
  summary: "Lists the servers of the user and of the project",
  examples: [["swink mcp list", "those of the user and of the project"]],
  exitCodes: [ok, configuration],
  async action(_invocation, host) {
    const { listServers } = await loadActions();
    return await listServers(host);
  },
});

const remove = defineCommand({
  name: "remove",
  summary: "Removes a server of the user",
  arguments: [NAME],
  examples: [["swink mcp remove github", "a server of the user"]],
  exitCodes: [ok, usage, configuration],
  async action({ arguments: [name = ""] }, host) {
    const { removeServer } = await loadActions();
    return await removeServer(name, host);
  },
});

const test = defineCommand({
  name: "test",
  summary: "Starts the servers, and prints their tools or why they do not start",
  arguments: [{ ...NAME, optional: true }],
  examples: [["swink mcp test github", "starts it, and prints its tools"]],
  exitCodes: [ok, failed, usage, configuration],
  async action({ arguments: [name] }, host) {
    const { loadCurrentConfig, parseConfiguredSettings } = await importLate<
      typeof import("../run/settings/configured_settings.ts")
    >("../run/settings/configured_settings.ts", import.meta.url);
    const settings = parseConfiguredSettings(await loadCurrentConfig(host));
    const { testServers } = await loadActions();
    return await testServers(name, settings, host);
  },
});

/** `swink mcp`. */
export const mcp = defineCommand({
  name: "mcp",
  summary: "Adds, lists, removes and tests MCP servers, whose tools every run has",
  synonyms: { ls: "list", get: "list", rm: "remove", delete: "remove" },
  commands: [add, list, remove, test],
  exitCodes: [ok, failed, usage, configuration],
});

function loadActions(): Promise<typeof import("../mcp/server_actions.ts")> {
  return importLate("../mcp/server_actions.ts", import.meta.url);
}

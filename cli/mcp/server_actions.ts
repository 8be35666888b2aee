/**
 * The actions of `swink mcp`.
 *
 * @module
 */

import { redact } from "../../src/core/text/redact.ts";
import { getArgumentSecrets } from "../../src/mcp/config/argument_secrets.ts";
import type { McpConfig } from "../../src/mcp/mod.ts";
import type { SandboxOptions } from "../../src/tools/mod.ts";
import { createSandbox } from "../../src/tools/sandbox/local_sandbox.ts";
import { changeConfigFile } from "../config/config_file.ts";
import { ConfigurationError, UsageError } from "../host/cli_error.ts";
import { ExitCode } from "../host/exit_code.ts";
import type { Host } from "../host/host.ts";
import { InterruptHandler } from "../host/interrupt.ts";
import { requireProgramDirectories } from "../host/program_directories.ts";
import { findCurrentSources } from "../project/open_project.ts";
import { toPlainText } from "../render/plain_text.ts";
import { toShownUrl } from "../render/shown_url.ts";
import { formatTable, getTableOptions } from "../render/table.ts";
import { describeMissingClient } from "./client_check.ts";
import { connectServers } from "./connect_servers.ts";
import { readServers, type ServerSources } from "./server_files.ts";
import { getUserServersPath } from "./server_paths.ts";

type Server = NonNullable<McpConfig["mcpServers"]>[string];

/** A server to add. */
export interface ServerDefinition {
  /** Name of the server. */
  readonly name: string;
  /** A command with its arguments, or a URL. */
  readonly command: readonly string[];
  /** Variables, as `NAME=VALUE`. */
  readonly env: readonly string[] | undefined;
  /** Headers, as `NAME: VALUE`. */
  readonly header: readonly string[] | undefined;
}

/** Adds a server to the user's file. */
export async function addServer(definition: ServerDefinition, host: Host): Promise<ExitCode> {
  const { name } = definition;
  if (!/^[\w-]{1,64}$/.test(name)) {
    throw new UsageError(
      `Invalid name ${JSON.stringify(name)}: it may have letters, digits, hyphens and underscores`,
    );
  }
  const server = createServer(definition);
  let isReplaced = false;
  await changeServers(host, (servers) => {
    isReplaced = Object.hasOwn(servers, name);
    return { ...servers, [name]: server };
  });
  const done = `${isReplaced ? "Replaced" : "Added"} ${name}`;
  await host.terminal.messages.write(`${done}; try it with: swink mcp test ${name}\n`);
  return ExitCode.ok;
}

function createServer({ command: [first = "", ...args], env, header }: ServerDefinition): Server {
  if (/^https?:\/\//.test(first)) {
    if (args.length > 0 || env) throw new UsageError("A URL takes neither arguments nor --env");
    return { url: first, ...(header && { headers: parsePairs(header, ":", "--header") }) };
  }
  if (header) throw new UsageError("--header needs a URL");
  return { command: first, args, ...(env && { env: parsePairs(env, "=", "--env") }) };
}

function parsePairs(
  texts: readonly string[],
  separator: string,
  flag: string,
): Record<string, string> {
  return Object.fromEntries(texts.map((text) => {
    const end = text.indexOf(separator);
    if (end > 0) return [text.slice(0, end).trim(), text.slice(end + 1).trim()];
    throw new UsageError(`Invalid value for ${flag}: write it as NAME${separator}VALUE`);
  }));
}

/** Removes a server from the user's file. */
export async function removeServer(name: string, host: Host): Promise<ExitCode> {
  await changeServers(host, (servers) => {
    const { [name]: _removed, ...others } = servers;
    if (Object.hasOwn(servers, name)) return others;
    throw new UsageError(
      `You have no server ${JSON.stringify(name)}`,
      "List the servers with: swink mcp list",
    );
  });
  await host.terminal.messages.write(`Removed ${toPlainText(name)}\n`);
  return ExitCode.ok;
}

/** Changes the servers of the user's file; its other content remains. */
async function changeServers(
  host: Host,
  change: (servers: Readonly<Record<string, Server>>) => Readonly<Record<string, Server>>,
): Promise<void> {
  const directories = requireProgramDirectories("the configuration", host.env);
  // An invalid file is reported, and not replaced.
  await readServers({ directories, files: [], passEnvironment: [] }, host.env);
  await changeConfigFile(getUserServersPath(directories), (content) => {
    const json = content.replace(/^\ufeff/, "");
    const file = json === "" ? {} : JSON.parse(json);
    const mcpServers = change(file.mcpServers ?? {});
    return `${JSON.stringify({ ...file, mcpServers }, null, 2)}\n`;
  });
}

/** Lists the servers, without the values of variables and headers, and without keys in arguments and URLs. */
export async function listServers(host: Host): Promise<ExitCode> {
  const { config, disabled } = await readServers(await getSources(host), host.env);
  const rows = [
    ...Object.entries(config.mcpServers).map(([name, server]) => [name, describeServer(server)]),
    ...disabled.map((name) => [name, "disabled"]),
  ];
  await host.terminal.output.write(formatTable(rows, getTableOptions(host)));
  if (rows.length === 0) {
    await host.terminal.messages.write("No server: add one with swink mcp add\n");
  }
  return ExitCode.ok;
}

function describeServer(server: Server): string {
  if ("command" in server && server.command !== undefined) {
    const { command, args = [] } = server;
    // The name of a variable is no secret.
    const secrets = getArgumentSecrets(args).filter((text) => !text.includes("${"));
    return redact([command, ...args].join(" "), secrets);
  }
  return "url" in server ? redact(toShownUrl(String(server.url))) : "";
}

/** The settings of a run on which the start of its servers depends. */
export interface ServerTestSettings extends Pick<SandboxOptions, "cwd" | "net" | "environment"> {
  /** Names of variables of this process that programs get. */
  readonly passEnvironment: readonly string[];
  /** Absolute paths of further directories in which programs may read and write. */
  readonly addedDirectories: readonly string[];
  /** Confinement of programs. */
  readonly sandbox: SandboxOptions["confinement"];
}

/** Starts servers in the sandbox of a run and prints their tools; ends with 1 if one does not start. */
export async function testServers(
  name: string | undefined,
  settings: ServerTestSettings,
  host: Host,
): Promise<ExitCode> {
  const missing = describeMissingClient();
  if (missing !== undefined) throw new ConfigurationError(missing);
  // A signal ends the servers, too.
  using interrupt = new InterruptHandler(host);
  const { signal } = interrupt;
  const { cwd, net, environment, passEnvironment } = settings;
  await using sandbox = createSandbox({
    cwd,
    net,
    environment,
    passEnvironment,
    confinement: settings.sandbox,
    writeRoots: settings.addedDirectories,
    homeAccess: "allow",
  });
  const sources = { ...await getSources(host), passEnvironment };
  await using connected = await connectServers({ ...sources, sandbox, signal }, host);
  if (interrupt.exitCode !== undefined) return interrupt.exitCode;
  const servers =
    connected?.connection.servers.filter((server) => name === undefined || server.name === name) ??
      [];
  if (servers.length === 0) {
    const subject = name === undefined
      ? "There is no server"
      : `There is no server ${JSON.stringify(name)}`;
    throw new UsageError(subject, "Add one with: swink mcp add");
  }
  for (const { name, state, tools } of servers) {
    // The test ends before a server that did not start is started again.
    const status = "reason" in state ? `failed: ${state.reason}` : state.type;
    const lines = [`${name}: ${status}`, ...tools.map((tool) => `  ${tool}`)];
    await host.terminal.output.write(toPlainText(`${lines.join("\n")}\n`));
  }
  return servers.every(({ state }) => state.type === "ready") ? ExitCode.ok : ExitCode.failed;
}

/** Returns the sources of the servers of a run in the current directory. */
async function getSources(host: Host): Promise<ServerSources> {
  return { ...await findCurrentSources(host), files: [], passEnvironment: [] };
}

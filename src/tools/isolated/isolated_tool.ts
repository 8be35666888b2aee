/**
 * Tools that run in their own process with the permissions that they declare and no others.
 *
 * @module
 */

import { checkNames } from "../../core/checks/check_names.ts";
import { checkObject } from "../../core/checks/check_object.ts";
import { BadRequestError, getErrorMessage } from "../../core/errors/errors.ts";
import type { ToolUpdate } from "../../core/messages/tool_result.ts";
import type { AgentTool } from "../../core/tools/tool.ts";
import { isAbsolute, toFileUrl } from "../../platform/paths.ts";
import { isDeno, system } from "../../platform/system.ts";
import { findTrustedProgram } from "../../platform/trusted_path.ts";
import { getPackageFlags } from "../process/child_program.ts";
import {
  createCommandEnvironment,
  DOWNLOAD_VARIABLES,
  readEnvironmentVariable,
} from "../process/command_environment.ts";
import { startProcess } from "../process/running_process.ts";
import { type ProcessOutcome, watchProcess } from "../process/watch_process.ts";
import type {
  IsolatedDescription,
  IsolatedRequest,
  IsolatedResponse,
} from "./isolated_protocol.ts";
import { ResponseParser } from "./response_parser.ts";

/** Permissions of a tool. A list grants its items, `true` grants all. Default: none. */
export interface IsolatedPermissions {
  /** Files and directories that it may read. */
  readonly read?: boolean | readonly string[];
  /** Files and directories that it may write. */
  readonly write?: boolean | readonly string[];
  /** Hosts that it may connect to, as `host` or `host:port`. */
  readonly net?: boolean | readonly string[];
  /** Programs that it may start. They are not limited by these permissions: list only trusted programs. */
  readonly run?: boolean | readonly string[];
  /** Environment variables that are passed to it. */
  readonly env?: readonly string[];
}

/** Options for {@linkcode isolatedTool}. */
export interface IsolatedToolOptions {
  /** URL or path of the module; its default export is the result of `defineTool()`. */
  readonly module: URL | string;
  /** Permissions of the tool. Default: none. */
  readonly permissions?: IsolatedPermissions | undefined;
  /**
   * Path of a `deno.json` with an import map for the module. Default: none. With the npm package, a module in a file
   * then imports the packages that npm has installed.
   */
  readonly config?: string | undefined;
  /** Timeout of a call in milliseconds. Default: the timeout of the agent. */
  readonly timeoutMs?: number | undefined;
}

/** The module of the process. */
const MAIN_MODULE = new URL("./isolated_main.ts", import.meta.url);

/** Hosts from which Deno imports modules without `--allow-import`, which replaces them. */
const IMPORT_HOSTS: readonly string[] = [
  ...["deno.land", "jsr.io", "esm.sh", "raw.esm.sh", "cdn.jsdelivr.net"],
  ...["raw.githubusercontent.com", "gist.githubusercontent.com"],
];

/** Timeout for loading a module. */
const DESCRIBE_TIMEOUT_MS = 30_000;

/**
 * Creates a tool whose code runs in its own `deno run` process, one per call. Access without a permission becomes an
 * error result. The module is never loaded into this program.
 *
 * @throws {BadRequestError} When an option is unknown, the module does not load or does not export a tool, or when a compiled program or
 * another runtime finds no `deno` in `PATH`.
 *
 * @example
 * ```ts ignore
 * import { isolatedTool } from "@swink/agent/tools";
 *
 * const weather = await isolatedTool({
 *   module: new URL("./weather.ts", import.meta.url),
 *   permissions: { net: ["api.weather.example"] },
 * });
 * ```
 */
export async function isolatedTool(options: IsolatedToolOptions): Promise<AgentTool> {
  checkObject(options, "Pass options of isolatedTool() such as { module }");
  const { permissions, timeoutMs } = options;
  checkNames(options, ["module", "permissions", "config", "timeoutMs"], "isolatedTool()");
  checkNames(permissions, ["read", "write", "net", "run", "env"], "permissions of isolatedTool()");
  const description = await loadDescription(options);
  return {
    ...description,
    ...(timeoutMs !== undefined && { timeoutMs }),
    async execute(args, { signal, onUpdate, toolCallId, idempotencyKey }) {
      const request = { type: "execute", arguments: args, toolCallId, idempotencyKey } as const;
      const response = await sendRequest(options, request, { signal, onUpdate });
      if (response.type === "result") return response.result;
      throw new BadRequestError(
        response.type === "error" ? response.message : "The tool returned no result",
      );
    },
  };
}

async function loadDescription(options: IsolatedToolOptions): Promise<IsolatedDescription> {
  const signal = AbortSignal.timeout(DESCRIBE_TIMEOUT_MS);
  const response = await sendRequest(options, { type: "describe" }, { signal, onUpdate: () => {} });
  if (response.type === "description") return response.description;
  const reason = response.type === "error" ? response.message : "it returned no description";
  throw new BadRequestError(`Cannot load an isolated tool from ${options.module}: ${reason}`);
}

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly onUpdate: (update: ToolUpdate) => void;
}

/** Starts a process for one request and returns its answer. */
async function sendRequest(
  options: IsolatedToolOptions,
  request: IsolatedRequest,
  { signal, onUpdate }: RequestOptions,
): Promise<IsolatedResponse> {
  const directory = system.makeTempDirSync({ prefix: "swink_tool_" });
  try {
    const entry = `${directory}/tool.ts`;
    await system.writeTextFile(entry, createEntryModule(options.module));
    const process = startProcess({
      program: findDenoProgram(),
      args: ["run", ...createDenoFlags(options), entry],
      cwd: system.cwd(),
      env: createCommandEnvironment({
        passEnvironment: [...DOWNLOAD_VARIABLES, ...(options.permissions?.env ?? [])],
      }),
      input: JSON.stringify(request),
    });
    let answer: IsolatedResponse | undefined;
    const parser = new ResponseParser({
      onResponse(response) {
        if (response.type === "update") onUpdate(response.update);
        else answer ??= response;
      },
    });
    const onOutput = (chunk: Uint8Array) => parser.push(chunk);
    const outcome = await watchProcess(process, { signal, onOutput });
    return answer ?? { type: "error", message: describeMissingAnswer(outcome) };
  } catch (error) {
    return { type: "error", message: getErrorMessage(error) };
  } finally {
    await system.remove(directory, { recursive: true });
  }
}

function describeMissingAnswer(outcome: ProcessOutcome): string {
  if (outcome.type !== "exited") return "The call was cancelled";
  const { code, signal } = outcome.exit;
  const end = signal === null ? `exit code ${code}` : `ended by ${signal}`;
  return `The process of the tool ended without a response (${end})`;
}

/** Creates a main module that imports the tool: imports of the main module need no read permission. */
function createEntryModule(module: URL | string): string {
  const { href } = isPath(module) ? toFileUrl(system.realPathSync(module)) : new URL(module);
  return `import { serveIsolatedTool } from ${JSON.stringify(MAIN_MODULE.href)};\n` +
    `await serveIsolatedTool(() => import(${JSON.stringify(href)}));\n`;
}

function createDenoFlags({ module, permissions = {}, config }: IsolatedToolOptions): string[] {
  const { read, write, net, run, env } = permissions;
  const settings = config === undefined
    ? ["--no-config", ...(isLocal(module) ? getPackageFlags() : [])]
    : [`--config=${config}`];
  return [
    ...["--quiet", "--no-prompt", "--no-lock", "--no-check", ...settings],
    ...createImportFlags(),
    ...createAllowFlags("read", read),
    ...createAllowFlags("write", write),
    ...createAllowFlags("net", net),
    ...createAllowFlags("run", run),
    ...createAllowFlags("env", env),
  ];
}

/** Whether a module is a file, which can import packages that are installed next to it. */
function isLocal(module: URL | string): boolean {
  return isPath(module) || new URL(module).protocol === "file:";
}

/** Whether a module is named by a path. One of Windows, such as `C:\tool.ts`, could be parsed as a URL, too. */
function isPath(module: URL | string): module is string {
  return typeof module === "string" && (isAbsolute(module) || !URL.canParse(module));
}

/** Allows imports from the host of the library, which may be another registry than JSR. */
function createImportFlags(): string[] {
  const { protocol, host } = MAIN_MODULE;
  if (protocol === "file:" || IMPORT_HOSTS.includes(host)) return [];
  return [`--allow-import=${[...IMPORT_HOSTS, host].join(",")}`];
}

function createAllowFlags(
  kind: string,
  granted: boolean | readonly string[] | undefined,
): string[] {
  if (granted === true) return [`--allow-${kind}`];
  if (!granted || granted.length === 0) return [];
  // A comma in an item is escaped by a second one.
  return [`--allow-${kind}=${granted.map((item) => item.replaceAll(",", ",,")).join(",")}`];
}

function findDenoProgram(): string {
  if (isDeno && !system.build.standalone) return system.execPath();
  const program = findTrustedProgram("deno", readEnvironmentVariable("PATH") ?? "");
  if (program) return program;
  throw new BadRequestError(
    "Isolated tools need the deno program, which is not in PATH, or only in a directory that commands can write: install Deno",
  );
}

/**
 * Tools that run in a process of their own, with the permissions that they declare and no others.
 *
 * @module
 */

import { BadRequestError, getErrorMessage } from "../../core/errors.ts";
import type { AgentTool, ToolUpdate } from "../../core/tool.ts";
import {
  createCommandEnvironment,
  readEnvironmentVariable,
} from "../process/command_environment.ts";
import {
  type IsolatedDescription,
  type IsolatedRequest,
  type IsolatedResponse,
  RESPONSE_PREFIX,
} from "./isolated_protocol.ts";
import { startProcess } from "../process/running_process.ts";
import { watchProcess } from "../process/watch_process.ts";

/** What a tool may use: nothing by default, the named things, or with `true` everything of a kind. */
export interface IsolatedPermissions {
  /** Files and folders that it may read. */
  readonly read?: boolean | readonly string[];
  /** Files and folders that it may write. */
  readonly write?: boolean | readonly string[];
  /** Hosts that it may reach, each with `:port` or without. */
  readonly net?: boolean | readonly string[];
  /** Programs that it may start. They are not bound by its permissions: name none that you do not trust. */
  readonly run?: boolean | readonly string[];
  /** Variables of the environment that it may read, and gets. */
  readonly env?: readonly string[];
}

/** What {@linkcode isolatedTool} is told. */
export interface IsolatedToolOptions {
  /** The module; its default export is a tool made with `defineTool`. */
  readonly module: URL | string;
  /** What the tool may use. Default: nothing. */
  readonly permissions?: IsolatedPermissions;
  /** A `deno.json` with the import map that the module needs. Default: none. */
  readonly config?: string;
  /** Longest time of a call in milliseconds. Default: the agent's. */
  readonly timeoutMs?: number;
}

/** How long a module may take to say what it is. */
const DESCRIBE_TIMEOUT_MS = 30_000;

/**
 * Makes a tool whose code runs in its own `deno run` process. What it did not declare fails as an error that the model
 * reads. This program never loads the module itself.
 *
 * @throws {BadRequestError} When the module does not load or exports no tool, or when a compiled program finds no
 * `deno` to run it with.
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
  const description = await loadDescription(options);
  const { timeoutMs } = options;
  return {
    ...description,
    ...(timeoutMs !== undefined && { timeoutMs }),
    async execute(args, { signal, onUpdate, toolCallId, idempotencyKey }) {
      const request = { type: "execute", arguments: args, toolCallId, idempotencyKey } as const;
      const answer = await sendRequest(options, request, { signal, onUpdate });
      if (answer.type === "result") return answer.result;
      throw new BadRequestError(
        answer.type === "error" ? answer.message : "The tool gave no result",
      );
    },
  };
}

async function loadDescription(options: IsolatedToolOptions): Promise<IsolatedDescription> {
  const signal = AbortSignal.timeout(DESCRIBE_TIMEOUT_MS);
  const answer = await sendRequest(options, { type: "describe" }, { signal, onUpdate: () => {} });
  if (answer.type === "description") return answer.description;
  const why = answer.type === "error" ? answer.message : "it did not say what it is";
  throw new BadRequestError(`The module ${options.module} makes no isolated tool: ${why}`);
}

interface RequestOptions {
  readonly signal: AbortSignal;
  readonly onUpdate: (update: ToolUpdate) => void;
}

/** One process, one request, its last answer. */
async function sendRequest(
  options: IsolatedToolOptions,
  request: IsolatedRequest,
  { signal, onUpdate }: RequestOptions,
): Promise<IsolatedResponse> {
  const folder = await Deno.makeTempDir({ prefix: "swink_tool_" });
  try {
    const entry = `${folder}/tool.ts`;
    await Deno.writeTextFile(entry, createEntryModule(options.module));
    const process = startProcess({
      program: findDenoProgram(),
      args: ["run", ...createDenoFlags(options), entry],
      cwd: Deno.cwd(),
      env: createCommandEnvironment({ passEnvironment: options.permissions?.env ?? [] }),
      input: JSON.stringify(request),
    });
    let last: IsolatedResponse = { type: "error", message: "The tool ended without an answer" };
    const lines = new ResponseParser((answer) => {
      if (answer.type === "update") onUpdate(answer.update);
      else last = answer;
    });
    const outcome = await watchProcess(process, { signal, onOutput: (chunk) => lines.push(chunk) });
    if (outcome.type === "cancelled") return { type: "error", message: "The call was cancelled" };
    return last;
  } catch (error) {
    return { type: "error", message: getErrorMessage(error) };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** What a main module names is imported without a permission; nothing else is. */
function createEntryModule(module: URL | string): string {
  const main = new URL("./isolated_main.ts", import.meta.url).href;
  const address = typeof module === "string" && !URL.canParse(module)
    ? new URL(`file://${Deno.realPathSync(module)}`).href
    : String(module);
  return `import { serveIsolatedTool } from ${JSON.stringify(main)};\n` +
    `await serveIsolatedTool(() => import(${JSON.stringify(address)}));\n`;
}

function createDenoFlags({ permissions = {}, config }: IsolatedToolOptions): string[] {
  const { read, write, net, run, env } = permissions;
  const settings = config === undefined ? ["--no-config"] : [`--config=${config}`];
  return [
    ...["--quiet", "--no-prompt", "--no-lock", "--no-check", ...settings],
    ...createAllowFlags("read", read),
    ...createAllowFlags("write", write),
    ...createAllowFlags("net", net),
    ...createAllowFlags("run", run),
    ...createAllowFlags("env", env),
  ];
}

function createAllowFlags(
  kind: string,
  granted: boolean | readonly string[] | undefined,
): string[] {
  if (granted === true) return [`--allow-${kind}`];
  if (!granted || granted.length === 0) return [];
  // In a list of paths a comma is written twice.
  return [`--allow-${kind}=${granted.map((item) => item.replaceAll(",", ",,")).join(",")}`];
}

function findDenoProgram(): string {
  if (!Deno.build.standalone) return Deno.execPath();
  const paths = (readEnvironmentVariable("PATH") ?? "").split(":").map((folder) =>
    `${folder}/deno`
  );
  const found = paths.find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
  if (found) return found;
  throw new BadRequestError(
    "Isolated tools need a deno program: install Deno, so that it is found in PATH",
  );
}

/** Takes the answers out of what a process prints; the rest is of no interest. */
class ResponseParser {
  readonly #onResponse: (answer: IsolatedResponse) => void;
  readonly #decoder = new TextDecoder();
  #line = "";

  constructor(onAnswer: (answer: IsolatedResponse) => void) {
    this.#onResponse = onAnswer;
  }

  push(chunk: Uint8Array): void {
    const lines = (this.#line + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith(RESPONSE_PREFIX)) {
        this.#onResponse(JSON.parse(line.slice(RESPONSE_PREFIX.length)));
      }
    }
  }
}

/**
 * The tools of a coding agent.
 *
 * @module
 */

import { checkNames } from "../core/checks/check_names.ts";
import { checkObject } from "../core/checks/check_object.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import type { AgentTool } from "../core/tools/tool.ts";
import { createBasicTools, createToolKit } from "./basic_tools.ts";
import type { ChangeLog } from "./changes/change_log.ts";
import { CommandChanges } from "./changes/command_changes.ts";
import { BackgroundJobs } from "./commands/background_jobs.ts";
import { jobTools } from "./commands/job_tools.ts";
import { type FetchUrlOptions, fetchUrlTool } from "./fetch_url.ts";
import type { ToolKit } from "./kit/tool_kit.ts";
import { SANDBOX_OPTIONS } from "./sandbox/check_options.ts";
import { createSandbox } from "./sandbox/local_sandbox.ts";
import type { Sandbox } from "./sandbox/sandbox.ts";
import type { SandboxOptions } from "./sandbox/sandbox_options.ts";
import { todoTool } from "./todo.ts";

/** Options for {@linkcode codingTools}. */
export interface CodingToolsOptions {
  /** Working directory. Ignored with a `Sandbox`, which has its own. Default: that of the process. */
  readonly cwd?: string | undefined;
  /** The sandbox of all tools, or options to create one. Default: a sandbox whose root is the working directory. */
  readonly sandbox?: Sandbox | SandboxOptions | undefined;
  /** Whether `bash` can start background jobs; adds `job_output` and `job_stop`. Default: `false`. */
  readonly jobs?: boolean | undefined;
  /** Whether to add `todo`, the agent's own list of steps. Default: `false`. */
  readonly todo?: boolean | undefined;
  /** Whether to add `fetch_url`, or its options. Default: `false`. */
  readonly fetchUrl?: boolean | FetchUrlOptions | undefined;
  /** Records every file change, also by commands, so that turns can be undone. Default: changes are not recorded. */
  readonly changeLog?: ChangeLog | undefined;
}

/** The names of the options: a misspelt sandbox would be another one, with other rights. */
const OPTION_NAMES: Readonly<Record<keyof CodingToolsOptions, true>> = {
  cwd: true,
  sandbox: true,
  jobs: true,
  todo: true,
  fetchUrl: true,
  changeLog: true,
};

/**
 * Creates `read_file`, `write_file`, `edit_file`, `list_directory`, `search_files` and `bash`, which share one sandbox,
 * and the optional tools that `options` selects.
 *
 * @throws {BadRequestError} When the working directory is not a directory, or an option is unknown.
 *
 * @example
 * ```ts
 * import { codingTools } from "@swink/agent/tools";
 *
 * const tools = codingTools({ cwd: Deno.cwd() });
 * tools.map((tool) => tool.name); // ["read_file", "write_file", "edit_file", …]
 * ```
 */
export function codingTools(options: CodingToolsOptions = {}): AgentTool[] {
  checkOptions(options);
  const sandbox = resolveSandbox(options);
  const { changeLog } = options;
  const kit: ToolKit = {
    ...createToolKit(sandbox),
    ...(changeLog && { changeLog }),
    // The changes of other programs are not those of a command that can make none.
    ...(changeLog && !sandbox.readOnly &&
      { commandChanges: new CommandChanges(sandbox, changeLog) }),
  };
  const jobs = options.jobs ? new BackgroundJobs(kit.sandbox) : undefined;
  const { fetchUrl = false } = options;
  return [
    ...createBasicTools(kit, jobs),
    ...(jobs ? jobTools(jobs) : []),
    ...(fetchUrl ? [fetchUrlTool(fetchUrl === true ? {} : fetchUrl)] : []),
    ...(options.todo ? [todoTool()] : []),
  ];
}

function checkOptions(options: CodingToolsOptions): void {
  checkObject(options, "The options of codingTools() must be an object, such as { sandbox }");
  const { sandbox = {} } = options;
  checkObject(sandbox, "The option sandbox must be a sandbox, or the options of one");
  const known = Object.keys(OPTION_NAMES);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || known.includes(name) || !SANDBOX_OPTIONS.includes(name)) continue;
    throw new BadRequestError(
      `Unknown option "${name}" of codingTools(): pass it as sandbox: { ${name} }`,
    );
  }
  checkNames(options, known, "codingTools()");
}

function resolveSandbox({ cwd, sandbox = {} }: CodingToolsOptions): Sandbox {
  if ("startCommand" in sandbox) return sandbox;
  return createSandbox({ ...sandbox, cwd: sandbox.cwd ?? cwd });
}

/**
 * Commands of the user that run at points of a run.
 *
 * @module
 */

/**
 * The points at which hooks run.
 *
 * `SessionStart`: before the first request. `UserPromptSubmit`: before the prompt is sent. `PreToolUse`: before a tool call.
 * `PostToolUse`: after a tool call. `PreCompact`: before the request for a summary of a long conversation. `Stop`: when the
 * agent would end the run. `SubagentStop`: when an agent of the tool `task` would end. `SessionEnd`: after the run.
 */
export const HOOK_EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "PreToolUse",
  "PostToolUse",
  "PreCompact",
  "Stop",
  "SubagentStop",
  "SessionEnd",
] as const;

/** A point at which hooks run. */
export type HookEvent = (typeof HOOK_EVENTS)[number];

/** A hook. */
export interface Hook {
  /** When it runs. */
  readonly event: HookEvent;
  /** Names of tools, or patterns such as `mcp__*`, separated by `|`. Default: all tools. */
  readonly matcher?: string;
  /** The command, which a shell runs. */
  readonly command: string;
  /** Time after which it is killed, in milliseconds. */
  readonly timeoutMs: number;
  /** Absolute path of the directory in which it runs. Default: the working directory of the run. */
  readonly directory?: string;
}

/**
 * A tool call as it is shown.
 *
 * @module
 */

import type { AgentToolResult, FileChange, JsonObject } from "../../../mod.ts";

/** The result of a call. */
export interface CallEnd {
  /** End of the call, in milliseconds since the epoch. */
  readonly endedAt: number;
  /** The result. */
  readonly result: AgentToolResult;
  /** Whether the call failed, was refused or was cancelled. */
  readonly isError: boolean;
}

/** A tool call. */
export interface CallView {
  /** Number in the conversation, from 1, for `/expand N`. */
  readonly number: number;
  /** Name of the tool. */
  readonly name: string;
  /** The arguments. */
  readonly arguments: JsonObject;
  /** Start of the call, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Whether it waits for other calls of its reply. Default: `false`. */
  readonly isWaiting?: boolean | undefined;
  /** Its output so far, of which the last line is shown while the call runs. Default: none. */
  readonly output?: string | undefined;
  /** Its end; missing while the call runs. */
  readonly end?: CallEnd | undefined;
  /** The files that it has changed. Default: none. */
  readonly changes?: readonly FileChange[] | undefined;
}

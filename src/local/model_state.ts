/**
 * The states of a model on this device.
 *
 * @module
 */

import type { AgentError } from "../core/errors/errors.ts";

/** The state of a model. */
export type LocalModelState =
  /** It takes no memory. */
  | { readonly type: "unloaded" }
  | {
    readonly type: "downloading";
    /** Number of bytes that are present. */
    readonly receivedBytes: number;
    /** Size of the file in bytes, if it is known. */
    readonly totalBytes?: number;
  }
  | {
    readonly type: "loading";
    /** Progress from 0 to 1. */
    readonly progress: number;
  }
  | {
    readonly type: "ready";
    /** Number of tokens of a prompt and its reply. */
    readonly contextSize: number;
    /** Estimated memory in bytes. */
    readonly memory: number;
  }
  | {
    readonly type: "failed";
    /** The reason. The next use tries again. */
    readonly error: AgentError;
  };

/**
 * The messages of a program that drives a run, one line of JSON each.
 *
 * @module
 */

import type { ApprovalDecision } from "../../mod.ts";

/** An image of a prompt. */
export interface InputImage {
  /** Media type, such as `image/png`. */
  readonly mediaType: string;
  /** The bytes in Base64. */
  readonly data: string;
}

/** A message of the program. */
export type InputMessage =
  | {
    /** Starts a run, after those that are active or waiting. */
    readonly type: "prompt";
    readonly text: string;
    readonly images?: readonly InputImage[];
  }
  /** Adds a message to the active run: `steer` after the calls that run, `follow_up` at its end. */
  | { readonly type: "steer" | "follow_up"; readonly text: string }
  /** Ends the active run. */
  | { readonly type: "interrupt" }
  /** Decides about a tool call that waits for approval. */
  | {
    readonly type: "approval";
    readonly toolCallId: string;
    readonly decision: ApprovalDecision;
  };

/**
 * Whether a rule concerns a call.
 *
 * @module
 */

/** Whether a rule concerns a part of a call, for sure or possibly; `below` for a file in a directory that the call is for. */
export type Concern = "none" | "possible" | "certain" | "below";

/**
 * Runs in which the agent did nothing.
 *
 * @module
 */

import type { Trajectory } from "./trajectory.ts";

/** Whether an agent did something; otherwise limits, and files that must not exist, would be met. */
export function hasWorked({ calls, replies }: Pick<Trajectory, "calls" | "replies">): boolean {
  return calls.length > 0 || replies.some(({ text }) => text.trim() !== "");
}

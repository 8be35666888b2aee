/**
 * Runs in which the agent did nothing.
 *
 * @module
 */

import type { Trajectory } from "./trajectory.ts";

/**
 * Whether an agent called a tool or replied with a text. One that did nothing would pass checks of limits, and of files that
 * must not exist.
 */
export function hasWorked({ calls, replies }: Pick<Trajectory, "calls" | "replies">): boolean {
  return calls.length > 0 || replies.some(({ text }) => text.trim() !== "");
}

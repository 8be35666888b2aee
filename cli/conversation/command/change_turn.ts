/**
 * The turns of the log of file changes: one for each prompt, and one for each command of the user and each plan that is
 * carried out. A turn has the time of its start, from the clock of the entries of the session.
 *
 * @module
 */

/** Cause of changes of files. */
export type ChangeSource = "prompt" | "task";

/** Creates the id of a turn that begins at a time. */
export function createTurnId(source: ChangeSource, time: number): string {
  return `${time} ${source} ${crypto.randomUUID()}`;
}

/** Returns what changes files in a turn. */
export function getChangeSource(turn: string): ChangeSource {
  return turn.split(" ")[1] === "task" ? "task" : "prompt";
}

/** Returns the time at which a turn begins. */
export function getTurnTime(turn: string): number {
  return parseInt(turn, 10);
}

/** A prompt to which the conversation returns. */
export interface RewoundPrompt {
  /** Time of the message before it; 0 for the first one. */
  readonly previousTimestamp: number;
  /** Time at which its message was added to the session. */
  readonly timestamp: number;
}

/** Whether a turn is that of a prompt, or a later one. */
export function isTurnSince(
  turn: string,
  { previousTimestamp, timestamp }: RewoundPrompt,
): boolean {
  const time = getTurnTime(turn);
  // The turn of a prompt begins before its message.
  return time > (getChangeSource(turn) === "task" ? timestamp : previousTimestamp);
}

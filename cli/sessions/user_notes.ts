/**
 * The beginnings of the texts that the program adds to the history, so that the model knows of actions of the user. They
 * are no prompts: the conversation does not return to them.
 *
 * @module
 */

import type { Cost, JsonObject, Usage } from "../../mod.ts";
import { isJsonObject } from "../../src/core/json/json.ts";
import { extractText } from "../../src/core/messages/content.ts";
import type { SessionEntry } from "../../src/memory/mod.ts";

/** Beginning of the text about a command that the user has run. */
export const COMMAND_NOTE = "I have run a command:\n\n<command>\n";

/** The text between the command and its output. */
const COMMAND_OUTPUT = "\n</command>\n\n<output>\n";

/** The end of the text about a command that the user has run. */
const COMMAND_END = "\n</output>";

/** A command that the user has run. */
export interface UserCommand {
  readonly command: string;
  /** Its exit code and output, or why it failed. */
  readonly output: string;
}

/** Formats the text about a command that the user has run. */
export function formatCommandNote({ command, output }: UserCommand): string {
  return `${COMMAND_NOTE}${command}${COMMAND_OUTPUT}${output}${COMMAND_END}`;
}

/** Parses the text about a command that the user has run. Returns `undefined` for another text. */
export function parseCommandNote(text: string): UserCommand | undefined {
  if (!text.startsWith(COMMAND_NOTE) || !text.endsWith(COMMAND_END)) return undefined;
  const content = text.slice(COMMAND_NOTE.length, -COMMAND_END.length);
  const end = content.indexOf(COMMAND_OUTPUT);
  if (end < 0) return undefined;
  return { command: content.slice(0, end), output: content.slice(end + COMMAND_OUTPUT.length) };
}

/** Beginning of the text about changes of the model that the user has undone. */
export const UNDO_NOTE = "I have undone your changes of these files: ";

/** Beginning of the text about other changes that the user has undone: those of a command of the user, or of a plan. */
export const TASK_UNDO_NOTE = "I have undone the changes of these files: ";

/** Beginning of the text about undone changes of the model that the user has made again. */
export const REDO_NOTE = "I have made your changes of these files again: ";

/** Beginning of the text about other undone changes that the user has made again. */
export const TASK_REDO_NOTE = "I have made the changes of these files again: ";

/** Beginning of the text about a plan that was carried out. */
export const PLAN_NOTE = "Another agent has carried out the plan ";

const NOTES = [
  COMMAND_NOTE,
  UNDO_NOTE,
  TASK_UNDO_NOTE,
  REDO_NOTE,
  TASK_REDO_NOTE,
  PLAN_NOTE,
];

/** Whether the changes of a turn are undone, or were made again. */
export type UndoState = "undone" | "redone";

/** A text about changes that the user has undone or made again. */
export interface UndoNote {
  readonly text: string;
  /** The turn that made the changes. */
  readonly turn: string;
  readonly state: UndoState;
  readonly metadata: JsonObject;
}

/** Creates the data of a text about changes that the user has undone or made again: the turn that made them. */
export function createUndoMetadata(
  turn: string | undefined,
  state: UndoState,
): JsonObject | undefined {
  return turn === undefined ? undefined : { [STATE_KEYS[state]]: turn };
}

const STATE_KEYS = { undone: "undoneTurn", redone: "redoneTurn" } as const;

/** Returns the text about changes that the user has undone or made again, if an entry is one. */
export function parseUndoNote(entry: SessionEntry): UndoNote | undefined {
  if (entry.type !== "message" || entry.message.role !== "user") return undefined;
  const { content, metadata } = entry.message;
  const { undoneTurn, redoneTurn } = metadata ?? {};
  const turn = undoneTurn ?? redoneTurn;
  if (!metadata || typeof turn !== "string") return undefined;
  const state = turn === undoneTurn ? "undone" : "redone";
  return { text: extractText(content), turn, state, metadata };
}

/** Tokens, cost and duration of a plan that was carried out. */
export interface PlanSpending {
  readonly usage: Usage;
  readonly cost: Cost;
  /** Duration in milliseconds. */
  readonly durationMs: number;
}

/** Creates the data of a text about a plan that was carried out. */
export function createPlanMetadata({ usage, cost, durationMs }: PlanSpending): JsonObject {
  return { planSpending: { usage: { ...usage }, cost: { ...cost }, durationMs } };
}

/** Returns what the plan has used that a text with these data is about; `undefined` for another text. */
export function parsePlanMetadata(metadata: JsonObject | undefined): PlanSpending | undefined {
  const spending = metadata?.planSpending;
  if (!isJsonObject(spending)) return undefined;
  const { usage, cost, durationMs } = spending;
  const isValid = isUsage(usage) && isCost(cost) && typeof durationMs === "number";
  return isValid ? { usage, cost, durationMs } : undefined;
}

const AMOUNTS = ["input", "output", "cacheRead", "cacheWrite", "total"] as const;

function isUsage(value: unknown): value is Usage {
  return isJsonObject(value) && AMOUNTS.every((name) => typeof value[name] === "number");
}

/** Whether a value is a cost; an amount that is not known is `null`. */
function isCost(value: unknown): value is Cost {
  return isJsonObject(value) &&
    AMOUNTS.every((name) => value[name] === null || typeof value[name] === "number");
}

/** Whether a text of the history is not a prompt of the user, but such a note. */
export function isNote(text: string): boolean {
  return NOTES.some((beginning) => text.startsWith(beginning));
}

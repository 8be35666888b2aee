/**
 * Checks stored summaries of sessions, which another program may have changed.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../core/json/json.ts";
import type { SessionSummary } from "../../core/sessions/session.ts";
import { hasSums } from "./amounts.ts";

const NUMBERS = ["created", "updated", "entries", "messages", "bytes"] as const;
const OPTIONAL_TEXTS = ["cwd", "tenant", "user", "title", "firstPrompt", "problem"] as const;
const OPTIONAL_OBJECTS = ["metadata", "parent", "model"] as const;

/** Whether a value is the summary of a session. */
export function isSummary(value: unknown): value is SessionSummary & JsonObject {
  if (!isJsonObject(value)) return false;
  const isOptional = (name: string, isValid: (member: unknown) => boolean) =>
    value[name] === undefined || isValid(value[name]);
  return typeof value["id"] === "string" && isTextOrNull(value["leafId"]) &&
    NUMBERS.every((name) => Number.isFinite(value[name])) &&
    OPTIONAL_TEXTS.every((name) => isOptional(name, (member) => typeof member === "string")) &&
    OPTIONAL_OBJECTS.every((name) => isOptional(name, isJsonObject)) &&
    hasSums(value);
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === "string";
}

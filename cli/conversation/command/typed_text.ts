/**
 * The typed part of a prompt to which files and the output of hooks were added.
 *
 * @module
 */

import type { AgentMessage } from "../../../mod.ts";
import { getTextWithoutHooks } from "../../hooks/hook_output.ts";

/** The beginning of a file that `addAttachments()` has added to a prompt. */
const FILE = /\n\n<file path=("(?:[^"\\\n]|\\(?:["\\bfnrt]|u[0-9a-f]{4}))*")>\n/g;

/**
 * Returns a prompt without the texts of the files that it names as `@path`, which a prompt that is sent again would have
 * twice. The same in a text that does not name the file, or in front of other text, was typed, and stays.
 */
export function getTypedText(prompt: string): string {
  if (!prompt.endsWith("\n</file>")) return prompt;
  for (const { 1: path = "", index } of prompt.matchAll(FILE)) {
    const typed = prompt.slice(0, index);
    if (isNamed(path, typed)) return typed;
  }
  return prompt;
}

/** Returns the typed part of a message of the user; empty for other messages. */
export function getTypedPrompt(message: AgentMessage): string {
  return message.role === "user" ? getTypedText(getTextWithoutHooks(message)) : "";
}

/** Whether a text names the file of a path, which is a string in JSON. */
function isNamed(path: string, text: string): boolean {
  const name: unknown = JSON.parse(path);
  return text.includes(`@${name}`) || text.includes(`@"${name}"`);
}
